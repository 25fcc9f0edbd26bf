use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

use ::tests::black_box::AnyError;
use blobs::BlobStore;
use domain::Timestamp;
use library_copy::{CopyOptions, Place};
use storage::SharedStore;
use storage_sqlite::{SqliteOptions, SqliteStore};
use tempfile::TempDir;

use super::postgres::Server;
use crate::search::seeding;

/// A generated library on SQLite.
pub(crate) struct Seeded {
    /// The name of the library, which its Postgres database gets, too.
    name: String,
    /// An API key of the first account.
    pub(crate) key: String,
    /// The data folder.
    pub(crate) folder: PathBuf,
    /// Deletes the data folder when dropped; `None` if the folder is kept.
    temporary: Option<TempDir>,
}

impl Seeded {
    /// Builds the library, or reuses the one of an earlier run that was kept in `keep`.
    pub(crate) async fn build(images: u32, accounts: u32, keep: Option<&Path>) -> Result<Self, AnyError> {
        let name = format!("scale-{}-{accounts}", images * accounts);
        let temporary = keep.is_none().then(tempfile::tempdir).transpose()?;
        let folder = match (&temporary, keep) {
            (Some(temporary), _) => temporary.path().to_owned(),
            (None, kept) => kept.unwrap_or(Path::new(".")).join(&name),
        };
        std::fs::create_dir_all(&folder)?;
        let key = seeding::libraries(&folder, images, accounts).await?;
        Ok(Self { name: name.replace('-', "_"), key, folder, temporary })
    }
}

/// A library on SQLite and on Postgres, built once and copied row by row, so that both have the same rows.
pub(crate) struct Twins {
    pub(crate) seeded: Seeded,
    pub(crate) sqlite: SharedStore,
    pub(crate) postgres: SharedStore,
    /// The URL of the Postgres database.
    pub(crate) database_url: String,
    server: Server,
}

impl Twins {
    /// Copies the library, or reuses the copy of an earlier run if it is kept.
    pub(crate) async fn build(seeded: Seeded, images: u32, postgres_url: &str) -> Result<Self, AnyError> {
        let file = seeded.folder.join("library.sqlite");
        let sqlite: SharedStore = Arc::new(SqliteStore::open(&file, SqliteOptions::default()).await?);
        let server = Server::new(postgres_url)?;
        let began = Instant::now();
        let (postgres, is_new) = server.library(&seeded.name, &sqlite, seeded.temporary.is_none()).await?;
        if is_new {
            let seconds = began.elapsed().as_secs_f64();
            let per_second = f64::from(images) / seconds;
            println!("copied to Postgres in {seconds:.0} s: {per_second:.0} images/s");
        }
        println!(
            "database: {} MB in SQLite, {} MB in Postgres",
            file.metadata()?.len() / 1_000_000,
            server.database_bytes(&seeded.name).await? / 1_000_000
        );
        let database_url = server.url_of(&seeded.name);
        Ok(Self { seeded, sqlite, postgres, database_url, server })
    }

    /// Deletes both libraries, unless they are kept.
    pub(crate) async fn remove(self) -> Result<(), AnyError> {
        drop(self.postgres);
        match self.seeded.temporary {
            Some(_) => self.server.delete(&self.seeded.name).await,
            None => Ok(()),
        }
    }
}

/// Copies all rows to an empty store. The source may be used again afterwards.
pub(super) async fn copy(from: &SharedStore, to: &SharedStore) -> Result<(), AnyError> {
    let folder = tempfile::tempdir()?;
    let blobs = BlobStore::open_folder(folder.path())?;
    let place = |store: &SharedStore, name: &str| Place {
        store: store.clone(),
        blobs: blobs.clone(),
        name: name.to_owned(),
    };
    let options = CopyOptions {
        same_files: true,
        ..CopyOptions::new(format!("measured-{}", fastrand::u64(..)), Timestamp::MIN)
    };
    library_copy::copy(&place(from, "SQLite"), &place(to, "Postgres"), &options, |_| {}).await?;
    library_copy::reopen(from).await?;
    Ok(())
}
