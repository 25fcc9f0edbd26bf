//! Blobs in a local folder.
#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use std::{io, path::Path};

use blobs::{BlobError, BlobStore, PutError, StageError, fingerprint};
use bytes::Bytes;
use domain::BlobKind::{Original, Rendition};
use futures_util::{TryStreamExt as _, stream};

fn store() -> (tempfile::TempDir, BlobStore) {
    let dir = tempfile::tempdir().unwrap();
    let store = BlobStore::open_folder(dir.path()).unwrap();
    (dir, store)
}

fn chunks(parts: &[&'static [u8]]) -> impl futures_util::Stream<Item = io::Result<Bytes>> + use<> {
    stream::iter(parts.iter().map(|part| Ok(Bytes::from_static(part))).collect::<Vec<_>>())
}

fn files(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else if entry.file_name() != ".lock" && entry.file_name() != ".sweeper" {
                found.push(entry.path().strip_prefix(root).unwrap().to_string_lossy().into_owned());
            }
        }
    }
    found.sort();
    found
}

#[tokio::test]
async fn an_upload_is_staged_stored_and_read_back() {
    let (dir, store) = store();
    let staged = store.stage(chunks(&[b"hello ", b"world"]), 11).await.unwrap();
    assert_eq!(staged.fingerprint.bytes, 11);
    assert_eq!(staged.fingerprint.head, b"hello world");
    assert_eq!(staged.fingerprint.hash, BlobStore::content_hash(b"hello world"));
    let hash = staged.fingerprint.hash;
    store.put_file(Original, hash, staged.path()).await.unwrap();
    drop(staged);

    assert_eq!(files(dir.path()), [format!("originals/{}/{hash}", &hash.to_string()[..2])]);
    let all = store.open(Original, hash, None).await.unwrap();
    assert_eq!(all.blob_bytes(), 11);
    assert_eq!(all.into_bytes().await.unwrap(), "hello world");
    let part = store.open(Original, hash, Some(6..100)).await.unwrap();
    assert_eq!(part.range(), 6..11);
    assert_eq!(part.into_stream().try_collect::<Vec<_>>().await.unwrap().concat(), b"world");
    assert!(matches!(store.open(Rendition, hash, None).await, Err(BlobError::Missing { .. })));
}

#[tokio::test]
async fn too_large_or_broken_uploads_leave_nothing() {
    let (dir, store) = store();
    let large = store.stage(chunks(&[b"hello ", b"world"]), 10).await;
    assert!(matches!(large, Err(StageError::TooLarge { max_bytes: 10 })));
    let broken =
        stream::iter([Ok(Bytes::from_static(b"hel")), Err(io::Error::from(io::ErrorKind::ConnectionReset))]);
    assert!(matches!(store.stage(broken, 10).await, Err(StageError::Source(_))));
    assert_eq!(files(dir.path()), Vec::<String>::new());
}

#[tokio::test]
async fn a_file_that_changed_is_not_stored() {
    let (dir, store) = store();
    let other = tempfile::tempdir().unwrap();
    for bytes in [vec![1; 100], vec![1; 20_000_000]] {
        let path = other.path().join("photo.jpg");
        std::fs::write(&path, &bytes).unwrap();
        let seen = fingerprint(&path).unwrap();
        std::fs::write(&path, vec![2; bytes.len()]).unwrap();
        assert!(matches!(store.put_file(Original, seen.hash, &path).await, Err(PutError::Changed)));
        assert_eq!(files(dir.path()), Vec::<String>::new());
        std::fs::write(&path, &bytes).unwrap();
        store.put_file(Original, seen.hash, &path).await.unwrap();
        assert_eq!(store.open(Original, seen.hash, None).await.unwrap().into_bytes().await.unwrap(), bytes);
        store.delete(Original, seen.hash).await.unwrap();
        store.delete(Original, seen.hash).await.unwrap();
    }
}

#[tokio::test]
async fn the_same_bytes_stand_once_even_when_written_at_once() {
    let (dir, store) = store();
    let writes = (0..16).map(|_| {
        let store = store.clone();
        tokio::spawn(async move { store.put_bytes(Rendition, Bytes::from_static(b"webp")).await.unwrap() })
    });
    for write in writes.collect::<Vec<_>>() {
        write.await.unwrap();
    }
    assert_eq!(files(dir.path()).len(), 1);
    let listed: Vec<_> = store.list(Rendition).try_collect().await.unwrap();
    assert_eq!(listed, [(BlobStore::content_hash(b"webp"), 4)]);
    assert_eq!(store.list(Original).try_collect::<Vec<_>>().await.unwrap(), []);
}

#[tokio::test]
async fn what_a_killed_process_left_goes_when_another_is_alone() {
    let dir = tempfile::tempdir().unwrap();
    let store = BlobStore::open_folder(dir.path()).unwrap();
    let hash = store.put_bytes(Original, Bytes::from_static(b"whole")).await.unwrap();
    let ours = format!("originals/{}", &hash.to_string()[..2]);
    // Things that other people may put there.
    for stray in ["IMG #1.jpg", &format!("{ours}/IMG #1.jpg"), "originals/.DS_Store", "staging/notes#1"] {
        std::fs::write(dir.path().join(stray), b"not ours").unwrap();
    }
    std::fs::create_dir_all(dir.path().join("2024/Trip")).unwrap();
    std::fs::write(dir.path().join("2024/Trip/IMG #1.jpg"), b"not ours").unwrap();
    let whole = files(dir.path());
    std::fs::write(dir.path().join(format!("{ours}/{hash}#1")), b"wh").unwrap();
    std::fs::write(dir.path().join("staging/upload-x"), b"up").unwrap();

    let second = BlobStore::open_folder(dir.path()).unwrap();
    assert_eq!(second.while_alone(async {}).await.unwrap(), None, "somebody else may be writing");
    assert_eq!(files(dir.path()).len(), whole.len() + 2);
    drop(store);
    assert_eq!(second.while_alone(async { 7 }).await.unwrap(), Some(7));
    assert_eq!(files(dir.path()), whole);
    let third = BlobStore::open_folder(dir.path()).unwrap();
    assert_eq!(second.while_alone(async {}).await.unwrap(), None);
    drop(second);
    assert_eq!(third.while_alone(async {}).await.unwrap(), Some(()));
}

#[tokio::test]
async fn one_process_at_a_time_may_remove_blobs() {
    let (dir, store) = store();
    let other = BlobStore::open_folder(dir.path()).unwrap();
    let sweeper = store.sweeper().unwrap();
    assert!(sweeper.is_some());
    assert!(other.sweeper().unwrap().is_none());
    drop(sweeper);
    assert!(other.sweeper().unwrap().is_some());
}

#[cfg(unix)]
#[tokio::test]
async fn other_users_of_the_machine_are_kept_out() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("originals")).unwrap();
    std::fs::set_permissions(dir.path().join("originals"), PermissionsExt::from_mode(0o755)).unwrap();
    BlobStore::open_folder(dir.path()).unwrap();
    for folder in ["originals", "renditions", "staging"] {
        let mode = std::fs::metadata(dir.path().join(folder)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "{folder}");
    }
}
