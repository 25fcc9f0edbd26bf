use std::{ffi::OsString, fs};

use blobs::BlobStore;
use domain::{Account, Email};
use keys::SystemRandom;
use storage::SchemaStore as _;
use storage_sqlite::{SqliteOptions, SqliteStore};

use super::*;
use crate::{Settings, SystemClock, WorkerCommand};

/// A library that indexes nothing.
async fn library(dir: &Path) -> (Library, Account) {
    let store = SqliteStore::open(&dir.join("library.sqlite"), SqliteOptions::default()).await.unwrap();
    store.migrate().await.unwrap();
    let blobs = BlobStore::open_folder(&dir.join("blobs")).unwrap();
    let no_decoder =
        WorkerCommand { program: PathBuf::new(), args: Vec::<OsString>::new(), environment: Vec::new() };
    let random = Arc::new(SystemRandom::new());
    let settings = Settings::new(no_decoder);
    let library = Library::new(Arc::new(store), blobs, Arc::new(SystemClock), random, settings).unwrap();
    let email = Email::parse("ann@example.org").unwrap();
    let account = library.create_account(email, domain::Plan::Paid, None).await.unwrap().0;
    (library, account)
}

fn archive(dir: &Path, content: &[u8]) -> PathBuf {
    let path = dir.join("x.tar");
    let mut archive = tar::Builder::new(fs::File::create(&path).unwrap());
    let mut header = tar::Header::new_gnu();
    header.set_size(content.len() as u64);
    archive.append_data(&mut header, "x.jpg", content).unwrap();
    archive.finish().unwrap();
    path
}

#[tokio::test]
async fn a_photo_whose_archive_is_not_read_to_its_end_is_not_imported() {
    let dir = tempfile::tempdir().unwrap();
    let (library, ann) = library(dir.path()).await;
    let photo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/media/grey.jpg");
    let photo = fs::read(photo).unwrap();
    let path = archive(dir.path(), &photo);
    let mut listed = Vec::new();
    let plan = plan(vec![path], &mut |progress| listed.push(progress)).await.unwrap();
    assert!(matches!(listed.last(), None | Some(ImportProgress::Listing { .. })));
    let import = async |bytes: &[u8]| {
        let (sender, chunks) = mpsc::channel(1);
        sender.send(Ok(Bytes::copy_from_slice(bytes))).await.unwrap();
        drop(sender);
        import_one(&library, ann.id, &plan.photos[0], Content::Archived(chunks), Upload::default()).await
    };
    let cut = import(&photo[..photo.len() / 2]).await;
    assert!(matches!(cut, Err(ImportError::Entry(EntryError::Missing))), "{cut:?}");
    assert!(matches!(import(&photo).await, Ok(ImportOutcome::Queued(_))));
}
