//! `migrate`: creates the files of a migration, or runs, reverts or lists migrations through the `server` program.

use std::path::{Path, PathBuf};
use std::process::Command;

use clap::{Args, Subcommand};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::process::{ProcessError, Runner};
use crate::system::{self, SystemError, Tools};
use crate::workspace;

/// The server's default.
const DATA_DIR: &str = "data";

#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Create up.sql and down.sql of a new migration for every kind of store
    New {
        /// Name in lower case with `_` between words, such as add_album_cover
        name: String,
    },
    /// Apply pending migrations
    Run(Store),
    /// Revert the latest migration
    Revert(Store),
    /// List applied and pending migrations
    Status(Store),
}

#[derive(Args, Debug)]
struct Store {
    /// Metadata store [default: the embedded store in the data folder]
    #[arg(long)]
    database_url: Option<String>,
    /// Data folder
    #[arg(long)]
    data_dir: Option<PathBuf>,
}

/// Why migrations were not created or run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MigrateError {
    #[error(transparent)]
    System(#[from] SystemError),
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error("`{name}` is not a valid name: use lower-case letters, digits and _, and start with a letter")]
    Name { name: String },
    #[error("cannot read or write {}: {source}", path.display())]
    Files { path: PathBuf, source: std::io::Error },
}

pub(crate) fn run(runner: &Runner, options: &Options) -> Result<(), MigrateError> {
    match &options.action {
        Action::New { name } => {
            for file in create(&workspace::path("migrations"), &today(), name)? {
                println!("{}", file.display());
            }
            Ok(())
        }
        Action::Run(store) => run_server(runner, &[], store),
        Action::Revert(store) => run_server(runner, &["--revert"], store),
        Action::Status(store) => run_server(runner, &["--status"], store),
    }
}

fn run_server(runner: &Runner, flags: &[&str], store: &Store) -> Result<(), MigrateError> {
    system::ensure(runner, Tools::Build)?;
    workspace::build_programs(runner, &["server"])?;
    let mut command = Command::new(workspace::target("debug/server"));
    command.arg("migrate").args(flags);
    if let Some(url) = &store.database_url {
        command.arg("--database-url").arg(url);
    }
    if let Some(dir) = &store.data_dir {
        command.arg("--data-dir").arg(dir);
    }
    if store.database_url.is_none() {
        // `server migrate` does not create the folder.
        let of_environment = || std::env::var_os("PHOTOS_DATA_DIR").filter(|dir| !dir.is_empty());
        let dir = store.data_dir.clone().or_else(|| Some(of_environment()?.into()));
        let dir = dir.unwrap_or_else(|| DATA_DIR.into());
        make(&dir, std::fs::create_dir_all(&dir))?;
    }
    Ok(runner.run(&mut command)?)
}

/// Today in UTC, as `2026-03-09`.
#[expect(clippy::disallowed_methods, reason = "a developer's tool has no library clock")]
fn today() -> String {
    Timestamp::now().to_zoned(TimeZone::UTC).date().to_string()
}

/// Creates `{store}/{date}-{number}_{name}/up.sql` and `down.sql` for each store's folder under `migrations`.
fn create(migrations: &Path, date: &str, name: &str) -> Result<Vec<PathBuf>, MigrateError> {
    if !is_name(name) {
        return Err(MigrateError::Name { name: name.to_owned() });
    }
    let stores = folders(migrations)?;
    let mut number = 1;
    for store in &stores {
        for folder in folders(store)? {
            number = number.max(number_of(&folder, date).map_or(1, |taken| taken + 1));
        }
    }
    let mut files = Vec::new();
    for store in stores {
        let folder = store.join(format!("{date}-{number:06}_{name}"));
        make(&folder, std::fs::create_dir(&folder))?;
        for file in ["up.sql", "down.sql"] {
            let path = folder.join(file);
            make(&path, std::fs::write(&path, ""))?;
            files.push(path);
        }
    }
    Ok(files)
}

fn make(path: &Path, outcome: std::io::Result<()>) -> Result<(), MigrateError> {
    outcome.map_err(|source| MigrateError::Files { path: path.to_owned(), source })
}

fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(|char| matches!(char, 'a'..='z' | '0'..='9' | '_'))
}

/// The number of a migration of that date.
fn number_of(folder: &Path, date: &str) -> Option<u32> {
    let name = folder.file_name()?.to_str()?;
    let (number, _) = name.strip_prefix(date)?.strip_prefix('-')?.split_once('_')?;
    number.parse().ok()
}

fn folders(parent: &Path) -> Result<Vec<PathBuf>, MigrateError> {
    let unreadable = |source| MigrateError::Files { path: parent.to_owned(), source };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(parent).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_dir() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_stores_get_the_same_next_number() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("sqlite/2026-03-09-000004_albums")).unwrap();
        std::fs::create_dir_all(dir.path().join("sqlite/2026-03-08-000009_images")).unwrap();
        std::fs::create_dir_all(dir.path().join("postgres")).unwrap();
        let made = create(dir.path(), "2026-03-09", "add_cover").unwrap();
        let made: Vec<_> =
            made.iter().map(|path| path.strip_prefix(dir.path()).unwrap().to_str().unwrap()).collect();
        assert_eq!(
            made,
            [
                "postgres/2026-03-09-000005_add_cover/up.sql",
                "postgres/2026-03-09-000005_add_cover/down.sql",
                "sqlite/2026-03-09-000005_add_cover/up.sql",
                "sqlite/2026-03-09-000005_add_cover/down.sql",
            ]
        );
    }

    #[test]
    fn the_first_migration_of_a_day_is_number_one() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("sqlite")).unwrap();
        let made = create(dir.path(), "2026-03-09", "first").unwrap();
        assert!(made.first().unwrap().ends_with("sqlite/2026-03-09-000001_first/up.sql"), "{made:?}");
    }

    #[test]
    fn names_are_checked() {
        for (name, expect) in [
            ("add_cover2", true),
            ("", false),
            ("Add", false),
            ("a-b", false),
            ("../x", false),
            ("_a", false),
            ("é", false),
        ] {
            assert_eq!(is_name(name), expect, "{name:?}");
        }
    }
}
