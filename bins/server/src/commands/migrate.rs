use std::collections::BTreeSet;

use library::StorageError;
use storage::{SchemaStore as _, SharedStore};
use storage_sqlite::{SqliteOptions, SqliteStore};

use super::{CommandError, Report};
use crate::{
    cli::MigrateOptions,
    config::Config,
    stores::{Absent, open_store},
};

pub(super) async fn run(options: &MigrateOptions, config: &Config) -> Result<Report, CommandError> {
    let store = open_store(config, Absent::CreateInFolder).await?;
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
    let is_pending: BTreeSet<&String> = pending.iter().collect();
    let known = known_migrations().await?;
    let applied: Vec<String> = known.into_iter().filter(|name| !is_pending.contains(name)).collect();
    Ok(lines("applied", &applied) + &lines("pending", &pending))
}

/// All migrations there are: those that an empty store needs.
async fn known_migrations() -> Result<Vec<String>, StorageError> {
    let unavailable = |error: std::io::Error| StorageError::Unavailable(error.to_string());
    let folder = tempfile::tempdir().map_err(unavailable)?;
    let empty = SqliteStore::open(&folder.path().join("empty.sqlite"), SqliteOptions::default()).await?;
    empty.pending_migrations().await
}

fn lines(what: &str, names: &[String]) -> String {
    names.iter().map(|name| format!("{what} {name}\n")).collect()
}
