use std::{ffi::OsString, fs};

use blobs::BlobStore;
use catalogue::SearchSettings;
use clock::{Clock, SystemClock};
use domain::Plan;
use indexer::{Indexer, IndexerSettings, WorkerCommand};
use keys::{Random, SystemRandom};
use roles::Roles;
use storage::{SchemaStore as _, SharedStore};
use storage_conformance::Seed;
use storage_sqlite::{SqliteOptions, SqliteStore};

use super::*;
use crate::{Catalogue, IngestLimits, IngestPorts};

/// An `Ingest` whose indexer is not started.
async fn ingest(dir: &Path) -> (Ingest, AccountId) {
    let store = SqliteStore::open(&dir.join("library.sqlite"), SqliteOptions::default()).await.unwrap();
    store.migrate().await.unwrap();
    let (store, blobs): (SharedStore, _) =
        (Arc::new(store), BlobStore::open_folder(&dir.join("blobs")).unwrap());
    let no_decoder =
        WorkerCommand { program: PathBuf::new(), args: Vec::<OsString>::new(), environment: Vec::new() };
    let (clock, random): (Arc<dyn Clock>, Arc<dyn Random>) =
        (Arc::new(SystemClock), Arc::new(SystemRandom::new()));
    let roles = Roles::new(store.clone(), blobs.clone(), clock.clone(), random.clone());
    let indexer = Indexer::new(
        store.clone(),
        blobs.clone(),
        clock.clone(),
        random.clone(),
        roles.clone(),
        &IndexerSettings::new(no_decoder),
    )
    .unwrap();
    let catalogue = Catalogue::new(
        store.clone(),
        blobs.clone(),
        clock.clone(),
        random.clone(),
        indexer.clone(),
        1000,
        SearchSettings::default(),
    );
    let account = Seed::new(store.clone()).account(Plan::Paid).await.account;
    let ports = IngestPorts { store, blobs, clock, random, roles, indexer, catalogue };
    (Ingest::new(ports, IngestLimits::default()), account)
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
    let (ingest, ann) = ingest(dir.path()).await;
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
        import_one(&ingest, ann, &plan.photos[0], Content::Archived(chunks), Upload::default()).await
    };
    let cut = import(&photo[..photo.len() / 2]).await;
    assert!(matches!(cut, Err(ImportError::Entry(EntryError::Missing))), "{cut:?}");
    assert!(matches!(import(&photo).await, Ok(ImportOutcome::Queued(_))));
}
