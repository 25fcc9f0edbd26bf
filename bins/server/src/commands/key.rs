use domain::{Email, KeyName, SecurityEventKind, Timestamp};
use library::Library;

use super::{CommandError, Report};
use crate::{
    cli::KeyCommand,
    config::Config,
    stores::{IfMissing, open_library},
    table::table,
};

pub(super) async fn run(command: KeyCommand, config: &Config) -> Result<Report, CommandError> {
    let library = open_library(config, IfMissing::Fail).await?;
    let text = match command {
        KeyCommand::Create { email, name } => {
            let key = library.accounts.create_key(&email, name.clone()).await?;
            record_event(&library, &email, SecurityEventKind::KeyCreated, &name).await;
            format!("API key {name} of {email}, shown only now:\n{key}\n")
        }
        KeyCommand::List { email } => {
            let rows = library.accounts.keys(&email).await?.into_iter().map(|key| {
                let (created, used, revoked) = (Some(key.created_at), key.last_used_at, key.revoked_at);
                [key.name.to_string(), format_time(created), format_time(used), format_time(revoked)]
            });
            table(["NAME", "CREATED", "LAST USED", "REVOKED"], rows)
        }
        KeyCommand::Revoke { email, name } => {
            if !library.accounts.revoke_key(&email, &name).await? {
                return Err(CommandError::NoKey { email, name });
            }
            record_event(&library, &email, SecurityEventKind::KeyRevoked, &name).await;
            format!("Revoked the key {name} of {email}.\n")
        }
    };
    Ok(text.into())
}

/// Records the change in the activity that the owner sees on the account page.
async fn record_event(library: &Library, email: &Email, kind: SecurityEventKind, name: &KeyName) {
    // The key is changed already, so a failure here does not fail the command.
    match library.accounts.account(email).await {
        Ok(account) => {
            library.accounts.record_security_event(account.id, kind, None, Some(name.as_str())).await;
        }
        Err(error) => tracing::warn!(%error, "security event not recorded"),
    }
}

fn format_time(at: Option<Timestamp>) -> String {
    at.map_or_else(|| "-".to_owned(), |at| at.to_string())
}
