use domain::{Email, KeyName, SecurityEventKind, Timestamp};
use library::Library;

use super::{CommandError, Report};
use crate::{
    cli::KeyCommand,
    config::Config,
    stores::{Absent, open_library},
    table::table,
};

pub(super) async fn run(command: KeyCommand, config: &Config) -> Result<Report, CommandError> {
    let library = open_library(config, Absent::Refuse).await?;
    let text = match command {
        KeyCommand::Create { email, name } => {
            let key = library.create_key(&email, name.clone()).await?;
            tell(&library, &email, SecurityEventKind::KeyCreated, &name).await;
            format!("API key {name} of {email}, shown only now:\n{key}\n")
        }
        KeyCommand::List { email } => {
            let rows = library.keys(&email).await?.into_iter().map(|key| {
                let (created, used, revoked) = (Some(key.created_at), key.last_used_at, key.revoked_at);
                [key.name.to_string(), moment(created), moment(used), moment(revoked)]
            });
            table(["NAME", "CREATED", "LAST USED", "REVOKED"], rows)
        }
        KeyCommand::Revoke { email, name } => {
            if !library.revoke_key(&email, &name).await? {
                return Err(CommandError::NoKey { email, name });
            }
            tell(&library, &email, SecurityEventKind::KeyRevoked, &name).await;
            format!("Revoked the key {name} of {email}.\n")
        }
    };
    Ok(text.into())
}

/// Has the owner see on their account page what was done here.
async fn tell(library: &Library, email: &Email, kind: SecurityEventKind, name: &KeyName) {
    // It is done already, whatever comes of this.
    match library.account(email).await {
        Ok(account) => library.record_security_event(account.id, kind, None, Some(name.as_str())).await,
        Err(error) => tracing::warn!(%error, "the owner is not told on their account page"),
    }
}

fn moment(at: Option<Timestamp>) -> String {
    at.map_or_else(|| "-".to_owned(), |at| at.to_string())
}
