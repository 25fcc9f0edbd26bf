use std::io::stdin;

use domain::Plan;
use library::Library;

use super::{CommandError, Report, password_input::read_password};
use crate::{
    cli::{AccountCommand, PasswordOptions},
    config::Config,
    stores::{IfMissing, open_library},
    table::table,
};

pub(super) async fn run(command: AccountCommand, config: &Config) -> Result<Report, CommandError> {
    if matches!(command, AccountCommand::Delete { yes: false, .. }) {
        return Err(CommandError::NotConfirmed);
    }
    // The first account may be created in an empty data folder.
    let if_missing = if matches!(command, AccountCommand::Create { .. }) {
        IfMissing::CreateLibrary
    } else {
        IfMissing::Fail
    };
    let library = open_library(config, if_missing).await?;
    let text = match command {
        AccountCommand::Create { email, plan, password } => {
            let (account, generated) =
                library.accounts.create_account(email, plan, given_password(password)?).await?;
            let plan = if plan == Plan::Free { " on the free plan" } else { "" };
            format!("Created the account {}{plan}.\n{}", account.email, password_line(generated))
        }
        AccountCommand::List => list(&library).await?,
        AccountCommand::SetPlan { email, plan } => {
            library.accounts.set_plan(&email, plan).await?;
            format!("The account {email} is on the {plan} plan.\n")
        }
        AccountCommand::SetPassword { email, password } => {
            let generated = library.accounts.set_password(&email, given_password(password)?).await?;
            format!("Changed the password of {email}.\n{}", password_line(generated))
        }
        AccountCommand::Delete { email, .. } => {
            let account = library.accounts.account(&email).await?;
            library.accounts.delete_account(account.id).await?;
            if let Err(error) = library.upkeep.purge_deleted().await {
                tracing::warn!(
                    error,
                    "some files of the account are not deleted yet; a running server deletes them"
                );
            }
            format!("Deleted the account {email}.\n")
        }
    };
    Ok(text.into())
}

/// The password on stdin; `None` means that one is generated.
fn given_password(options: PasswordOptions) -> Result<Option<String>, CommandError> {
    Ok(options.password_stdin.then(|| read_password(stdin().lock())).transpose()?)
}

fn password_line(generated: Option<String>) -> String {
    generated.map(|password| format!("Password, shown only now: {password}\n")).unwrap_or_default()
}

async fn list(library: &Library) -> Result<String, CommandError> {
    let rows = library.accounts.accounts().await?.into_iter().map(|account| {
        let sync = if account.synced_at.is_some() { "yes" } else { "no" };
        [account.email.to_string(), account.plan.to_string(), sync.to_owned(), account.created_at.to_string()]
    });
    Ok(table(["EMAIL", "PLAN", "SYNC", "CREATED"], rows))
}
