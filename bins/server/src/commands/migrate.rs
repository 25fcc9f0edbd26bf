use storage::SharedStore;

use super::{CommandError, Report};
use crate::{
    cli::MigrateOptions,
    config::Config,
    stores::{IfMissing, open_store},
};

pub(super) async fn run(options: &MigrateOptions, config: &Config) -> Result<Report, CommandError> {
    let store = open_store(config, IfMissing::CreateLibrary).await?;
    let text = if options.status {
        status(&store).await?
    } else if options.revert {
        match store.revert_migration().await? {
            Some(name) => format!("reverted {name}\n"),
            None => "nothing to revert\n".to_owned(),
        }
    } else {
        let applied = store.migrate().await?;
        if applied.is_empty() { "nothing to apply\n".to_owned() } else { lines("applied", &applied) }
    };
    Ok(text.into())
}

async fn status(store: &SharedStore) -> Result<String, CommandError> {
    let pending = store.pending_migrations().await?;
    let mut applied = store.known_migrations()?;
    applied.retain(|name| !pending.contains(name));
    let newer = store.newer_migrations().await?;
    Ok(lines("applied", &applied)
        + &lines("pending", &pending)
        + &lines("applied by a newer program", &newer))
}

fn lines(state: &str, names: &[String]) -> String {
    names.iter().map(|name| format!("{state} {name}\n")).collect()
}
