use std::io::stdin;

use domain::Plan;
use library::Library;

use super::{CommandError, Report, password_input::read_password};
use crate::{
    cli::{AccountCommand, PasswordOptions},
    config::Config,
    stores::{Absent, open_library},
    table::table,
};

pub(super) async fn run(command: AccountCommand, config: &Config) -> Result<Report, CommandError> {
    if matches!(command, AccountCommand::Delete { yes: false, .. }) {
        return Err(CommandError::NotConfirmed);
    }
    // The first account may be the first thing in a folder.
    let absent = if matches!(command, AccountCommand::Create { .. }) {
        Absent::CreateInFolder
    } else {
        Absent::Refuse
    };
    let library = open_library(config, absent).await?;
    let text = match command {
        AccountCommand::Create { email, plan, password } => {
            let (account, made) = library.create_account(email, plan, chosen(password)?).await?;
            let plan = if plan == Plan::Free { " on the free plan" } else { "" };
            format!("Created the account {}{plan}.\n{}", account.email, shown_once(made))
        }
        AccountCommand::List => list(&library).await?,
        AccountCommand::SetPlan { email, plan } => {
            library.set_plan(&email, plan).await?;
            format!("The account {email} is on the {plan} plan.\n")
        }
        AccountCommand::SetPassword { email, password } => {
            let made = library.set_password(&email, chosen(password)?).await?;
            format!("Changed the password of {email}.\n{}", shown_once(made))
        }
        AccountCommand::Delete { email, .. } => {
            let account = library.account(&email).await?;
            library.delete_account(account.id).await?;
            if let Err(error) = library.purge_deleted().await {
                tracing::warn!(error, "files of the account are still there; a running server removes them");
            }
            format!("Deleted the account {email}.\n")
        }
    };
    Ok(text.into())
}

/// The password on stdin, or none: one is to be made.
fn chosen(options: PasswordOptions) -> Result<Option<String>, CommandError> {
    Ok(options.password_stdin.then(|| read_password(stdin().lock())).transpose()?)
}

fn shown_once(made: Option<String>) -> String {
    made.map(|password| format!("Password, shown only now: {password}\n")).unwrap_or_default()
}

async fn list(library: &Library) -> Result<String, CommandError> {
    let rows = library.accounts().await?.into_iter().map(|account| {
        let sync = if account.synced_at.is_some() { "yes" } else { "no" };
        [account.email.to_string(), account.plan.to_string(), sync.to_owned(), account.created_at.to_string()]
    });
    Ok(table(["EMAIL", "PLAN", "SYNC", "CREATED"], rows))
}
