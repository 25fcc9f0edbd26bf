use std::{fs, path::Path, time::Duration};

use domain::{BlobKind, Rendition};
use library::{ImportReport, IndexingScope, RenditionContent, SystemClock};
use storage::{BlobRegistry as _, RoleRequest, RoleStore as _};
use storage_sqlite::SqliteStore;

use crate::{Process, blob_path, fixture, process};

#[tokio::test(flavor = "multi_thread")]
async fn blob_store_outage_delays_photos() {
    let dir = tempfile::tempdir().unwrap();
    let it = process(dir.path()).await;
    let ann = it.account("ann").await;
    let (renditions, away) = (dir.path().join("blobs/renditions"), dir.path().join("away"));
    fs::rename(&renditions, &away).unwrap();
    // A file replaces the folder, so that all writes fail, even for root.
    fs::write(&renditions, b"").unwrap();
    let indexing = it.library.indexer.start_indexing(IndexingScope::Search).unwrap();
    let importing = {
        let (library, ann) = (it.library.clone(), ann.clone());
        tokio::spawn(async move {
            library
                .ingest
                .import_folder(ann.id, &[fixture("media/grey.jpg")], IndexingScope::Search, |_| {})
                .await
        })
    };
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(!importing.is_finished(), "the import waits for the store");
    fs::remove_file(&renditions).unwrap();
    fs::rename(&away, &renditions).unwrap();
    let report = importing.await.unwrap();
    indexing.stop().await;
    assert_eq!(report, ImportReport { imported: 1, ..ImportReport::default() });
}

#[tokio::test(flavor = "multi_thread")]
async fn lost_original_is_restored_by_another_import() {
    let dir = tempfile::tempdir().unwrap();
    let it = process(dir.path()).await;
    let ann = it.account("ann").await;
    let photo = [fixture("media/grey.jpg")];
    it.import(&ann, &photo).await;
    let original = it.stored(BlobKind::Original).await[0];
    fs::remove_file(blob_path(dir.path(), "originals", original)).unwrap();
    let report = it.import(&ann, &photo).await;
    assert_eq!((report.imported, report.duplicates), (0, 1));
    assert!(it.blobs.content.contains(BlobKind::Original, original).await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn lost_rendition_is_made_again() {
    let dir = tempfile::tempdir().unwrap();
    let it = process(dir.path()).await;
    let ann = it.account("ann").await;
    it.import(&ann, &[fixture("media/landscape-6.jpg")]).await;
    let id = it.first_image(&ann).await;
    let read = async |it: &Process| {
        let served = it.library.catalogue.rendition(&id, Rendition::Medium).await.unwrap();
        match served.content(None).await.unwrap() {
            RenditionContent::InMemory(bytes) => bytes,
            RenditionContent::Reader(reader) => reader.into_bytes().await.unwrap(),
        }
    };
    let before = read(&it).await;
    for hash in it.stored(BlobKind::Rendition).await {
        fs::remove_file(blob_path(dir.path(), "renditions", hash)).unwrap();
    }
    // A new process has no cached renditions.
    let it = process(dir.path()).await;
    assert_eq!(read(&it).await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn damaged_rendition_is_never_sent_from_memory() {
    let dir = tempfile::tempdir().unwrap();
    let it = process(dir.path()).await;
    let ann = it.account("ann").await;
    it.import(&ann, &[fixture("media/landscape-6.jpg")]).await;
    let id = it.first_image(&ann).await;
    let served = it.library.catalogue.rendition(&id, Rendition::Thumb).await.unwrap();
    let file = blob_path(dir.path(), "renditions", served.hash());
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    // A response from memory would be shorter than its declared length, and the client would wait for the rest.
    for range in [None, Some(10..20)] {
        assert!(matches!(served.content(range).await.unwrap(), RenditionContent::Reader(_)));
    }
    fs::write(&file, &whole).unwrap();
    assert!(
        matches!(served.content(None).await.unwrap(), RenditionContent::InMemory(bytes) if bytes == whole)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_photo_is_retried_by_another_import() {
    let dir = tempfile::tempdir().unwrap();
    let it = process(dir.path()).await;
    let ann = it.account("ann").await;
    let broken = dir.path().join("broken.jpg");
    fs::write(&broken, [&[0xff, 0xd8, 0xff, 0xe0][..], &[0; 100]].concat()).unwrap();
    let first = it.import(&ann, std::slice::from_ref(&broken)).await;
    assert_eq!((first.imported, first.failed.len()), (0, 1));
    let second = it.import(&ann, &[broken, fixture("media/grey.jpg")]).await;
    assert_eq!((second.imported, second.duplicates), (1, 0), "the next photo is imported");
    assert_eq!(second.failed, first.failed);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_one_sweeper_removes_blobs() {
    let dir = tempfile::tempdir().unwrap();
    let (slow, quick) = (process(dir.path()).await, process(dir.path()).await);
    let (ann, bob) = (slow.account("ann").await, slow.account("bob").await);
    let photo = [fixture("media/grey.jpg")];
    slow.import(&ann, &photo).await;
    let original = slow.stored(BlobKind::Original).await[0];

    // The slow sweeper stops after it has taken ann's blobs.
    let request =
        RoleRequest { role: "sweeper", holder: "slow", at: now(), until: now().plus_millis(3_600_000) };
    let sweeper = slow.store.take_role(request).await.unwrap().unwrap();
    slow.store.delete_account(ann.id).await;
    let taken = slow
        .store
        .take_unreferenced_blobs(domain::Timestamp::from_millis(1).unwrap(), now(), 100)
        .await
        .unwrap();
    assert!(taken.iter().any(|blob| blob.hash == original));
    quick.library.upkeep.purge_deleted().await.unwrap();
    assert!(
        slow.blobs.content.contains(BlobKind::Original, original).await.unwrap(),
        "only the slow sweeper may remove it"
    );

    // After the slow sweeper has released its role, an import of the same bytes finishes the removal first.
    slow.store.release_role("sweeper", sweeper).await.unwrap();
    let report = quick.import(&bob, &photo).await;
    assert_eq!(report, ImportReport { imported: 1, ..ImportReport::default() });
    assert!(quick.blobs.content.contains(BlobKind::Original, original).await.unwrap());
    assert_eq!(quick.store.taken_blobs(10).await.unwrap(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn import_into_a_deleted_account_fails() {
    let dir = tempfile::tempdir().unwrap();
    let it = process(dir.path()).await;
    let ann = it.account("ann").await;
    it.library.accounts.delete_account(ann.id).await.unwrap();
    let report = it.import(&ann, &[fixture("media/grey.jpg")]).await;
    assert_eq!(report.stopped.as_deref(), Some("the account was deleted"));
    it.library.upkeep.purge_deleted().await.unwrap();
    assert_eq!(it.stored(BlobKind::Original).await, []);
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn unreadable_paths_are_reported() {
    let dir = tempfile::tempdir().unwrap();
    let it = process(dir.path()).await;
    let ann = it.account("ann").await;
    let photos = dir.path().join("photos");
    fs::create_dir_all(photos.join("inner")).unwrap();
    fs::write(photos.join(".DS_Store"), b"junk").unwrap();
    std::os::unix::fs::symlink("nowhere", photos.join("broken-link")).unwrap();
    std::os::unix::fs::symlink("inner", photos.join("folder-link")).unwrap();
    let report = it.import(&ann, &[photos.clone(), photos.join("absent")]).await;
    let failed: Vec<&Path> =
        report.failed.iter().map(|file| file.path.strip_prefix(&photos).unwrap()).collect();
    assert_eq!(failed, [Path::new("broken-link"), Path::new("folder-link"), Path::new("absent")]);
}

fn now() -> domain::Timestamp {
    use library::Clock as _;
    SystemClock.now()
}

/// Deletes an account and its rows, but not its files.
trait Deletion {
    async fn delete_account(&self, account: domain::AccountId);
}

impl Deletion for SqliteStore {
    async fn delete_account(&self, account: domain::AccountId) {
        storage::AccountStore::delete_account(self, account, now()).await.unwrap();
        while storage::ImageStore::purge_images(self, domain::Timestamp::MIN, 100).await.unwrap() > 0 {}
    }
}
