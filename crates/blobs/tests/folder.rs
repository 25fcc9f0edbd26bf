//! Blobs in a local folder and on another backend.
#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::{path::Path, sync::Arc};

use blobs::{
    BlobError, BlobStore, Checksum, PartsFolder, PutError, StagedFile, StagingError, StagingFolder,
    content_hash, fingerprint,
};
use bytes::Bytes;
use domain::BlobKind::{Original, Rendition};
use futures_util::TryStreamExt as _;
use object_store::memory::InMemory;

fn store() -> (tempfile::TempDir, BlobStore) {
    let dir = tempfile::tempdir().unwrap();
    let store = BlobStore::open_folder(dir.path()).unwrap();
    (dir, store)
}

async fn staged(staging: &StagingFolder, bytes: &[u8]) -> StagedFile {
    let mut writer = staging.create(None).await.unwrap();
    writer.write(bytes).await.unwrap();
    writer.finish().await.unwrap()
}

/// The paths of all files but the locks.
fn files(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else if entry.file_name() != ".lock" {
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
    let mut writer = store.staging.create(None).await.unwrap();
    writer.write(b"hello ").await.unwrap();
    writer.write(b"world").await.unwrap();
    assert_eq!((writer.bytes(), writer.head()), (11, &b"hello world"[..]));
    let staged = writer.finish().await.unwrap();
    let hash = staged.fingerprint().hash;
    assert_eq!((staged.fingerprint().bytes, hash), (11, content_hash(b"hello world")));
    store.content.put_staged(Original, staged).await.unwrap();

    assert_eq!(files(dir.path()), [format!("originals/{}/{hash}", &hash.to_string()[..2])]);
    let all = store.content.open(Original, hash, None).await.unwrap();
    assert_eq!(all.blob_bytes(), 11);
    assert_eq!(all.into_bytes().await.unwrap(), "hello world");
    let part = store.content.open(Original, hash, Some(6..100)).await.unwrap();
    assert_eq!(part.range(), 6..11);
    assert_eq!(part.into_stream().try_collect::<Vec<_>>().await.unwrap().concat(), b"world");
    assert!(matches!(store.content.open(Rendition, hash, None).await, Err(BlobError::Missing { .. })));
}

#[cfg(unix)]
#[tokio::test]
async fn a_staged_file_is_renamed_and_not_copied() {
    use std::os::unix::fs::MetadataExt as _;
    let (dir, store) = store();
    let staged = staged(&store.staging, b"photo").await;
    let (inode, hash) = (staged.path().metadata().unwrap().ino(), staged.fingerprint().hash);
    store.content.put_staged(Original, staged).await.unwrap();
    let [stored] = &files(dir.path())[..] else { panic!("not one file") };
    assert_eq!(dir.path().join(stored).metadata().unwrap().ino(), inode);
    // The same bytes again leave the stored file as it is.
    let again = self::staged(&store.staging, b"photo").await;
    store.content.put_staged(Original, again).await.unwrap();
    assert_eq!(files(dir.path()), std::slice::from_ref(stored));
    assert_eq!(dir.path().join(stored).metadata().unwrap().ino(), inode);
    assert!(store.content.contains(Original, hash).await.unwrap());
}

#[cfg(unix)]
#[tokio::test]
async fn a_staged_file_is_renamed_in_a_folder_with_a_relative_path() {
    use std::os::unix::fs::MetadataExt as _;
    let dir = tempfile::tempdir().unwrap();
    let to_root = "../".repeat(std::env::current_dir().unwrap().components().count());
    let relative = Path::new(&to_root).join(dir.path().strip_prefix("/").unwrap());
    let store = BlobStore::open_folder(&relative).unwrap();
    let staged = staged(&store.staging, b"photo").await;
    let inode = staged.path().metadata().unwrap().ino();
    store.content.put_staged(Original, staged).await.unwrap();
    let [stored] = &files(dir.path())[..] else { panic!("not one file") };
    assert_eq!(dir.path().join(stored).metadata().unwrap().ino(), inode);
}

#[tokio::test]
async fn an_unfinished_upload_leaves_nothing() {
    let (dir, store) = store();
    let mut writer = store.staging.create(None).await.unwrap();
    writer.write(b"hel").await.unwrap();
    assert_eq!(files(dir.path()).len(), 1);
    drop(writer);
    drop(staged(&store.staging, b"hello").await);
    assert_eq!(files(dir.path()), Vec::<String>::new());
}

#[tokio::test]
async fn an_upload_must_match_its_checksum() {
    let (dir, store) = store();
    let sha1 = |last| {
        let mut sha1 = *b"\xaa\xf4\xc6\x1d\xdc\xc5\xe8\xa2\xda\xbe\xde\x0f\x3b\x48\x2c\xd9\xae\xa9\x43\x00";
        sha1[19] = last;
        Checksum::Sha1(sha1)
    };
    for (checksum, matches) in [
        (sha1(0x4d), true),
        (sha1(0x4e), false),
        (Checksum::Sha256(content_hash(b"hello")), true),
        (Checksum::Sha256(content_hash(b"other")), false),
    ] {
        let mut writer = store.staging.create(Some(checksum)).await.unwrap();
        writer.write(b"he").await.unwrap();
        writer.write(b"llo").await.unwrap();
        match writer.finish().await {
            Ok(_) => assert!(matches, "{checksum:?}"),
            Err(error) => {
                assert!(matches!(error, StagingError::ChecksumMismatch) && !matches, "{checksum:?}: {error}");
            }
        }
    }
    assert_eq!(files(dir.path()), Vec::<String>::new());
}

#[tokio::test]
async fn a_changed_file_is_not_stored() {
    let (dir, store) = store();
    let other = tempfile::tempdir().unwrap();
    for bytes in [vec![1; 100], vec![1; 20_000_000]] {
        let path = other.path().join("photo.jpg");
        std::fs::write(&path, &bytes).unwrap();
        let hash = fingerprint(&path).unwrap().hash;
        std::fs::write(&path, vec![2; bytes.len()]).unwrap();
        assert!(matches!(store.content.put_file(Original, hash, &path).await, Err(PutError::Changed)));
        assert_eq!(files(dir.path()), Vec::<String>::new());
        std::fs::write(&path, &bytes).unwrap();
        store.content.put_file(Original, hash, &path).await.unwrap();
        let stored = store.content.open(Original, hash, None).await.unwrap();
        assert_eq!(stored.into_bytes().await.unwrap(), bytes);
        store.content.delete(Original, hash).await.unwrap();
        store.content.delete(Original, hash).await.unwrap();
    }
}

#[tokio::test]
async fn concurrent_writes_of_the_same_bytes_store_one_blob() {
    let (dir, store) = store();
    let writes = (0..16).map(|_| {
        let content = store.content.clone();
        tokio::spawn(async move { content.put_bytes(Rendition, Bytes::from_static(b"webp")).await.unwrap() })
    });
    for write in writes.collect::<Vec<_>>() {
        write.await.unwrap();
    }
    assert_eq!(files(dir.path()).len(), 1);
    let listed: Vec<_> = store.content.list(Rendition).try_collect().await.unwrap();
    assert_eq!(listed, [(content_hash(b"webp"), 4)]);
    assert_eq!(store.content.list(Original).try_collect::<Vec<_>>().await.unwrap(), []);
}

#[tokio::test]
async fn another_backend_stores_the_same_blobs() {
    let dir = tempfile::tempdir().unwrap();
    let store = BlobStore::open_remote(Arc::new(InMemory::new()), dir.path()).unwrap();
    let staged = staged(&store.staging, b"hello").await;
    let hash = staged.fingerprint().hash;
    store.content.put_staged(Original, staged).await.unwrap();
    store.content.put_bytes(Rendition, Bytes::from_static(b"webp")).await.unwrap();
    assert_eq!(files(dir.path()), Vec::<String>::new(), "the folder has locks and staged files only");
    let stored = store.content.open(Original, hash, None).await.unwrap();
    assert_eq!(stored.into_bytes().await.unwrap(), "hello");
    let listed: Vec<_> = store.content.list(Original).try_collect().await.unwrap();
    assert_eq!(listed, [(hash, 5)]);
    store.content.delete(Original, hash).await.unwrap();
    assert!(!store.content.contains(Original, hash).await.unwrap());
    assert_eq!(store.temporary_files().await.unwrap(), []);
}

#[tokio::test]
async fn temporary_files_of_killed_processes_are_deleted_by_a_process_that_is_alone() {
    let dir = tempfile::tempdir().unwrap();
    let store = BlobStore::open_folder(dir.path()).unwrap();
    let hash = store.content.put_bytes(Original, Bytes::from_static(b"whole")).await.unwrap();
    let ours = format!("originals/{}", &hash.to_string()[..2]);
    // Files of other people are kept.
    for stray in ["IMG #1.jpg", &format!("{ours}/IMG #1.jpg"), "originals/.DS_Store", "staging/notes#1"] {
        std::fs::write(dir.path().join(stray), b"not ours").unwrap();
    }
    std::fs::create_dir_all(dir.path().join("2024/Trip")).unwrap();
    std::fs::write(dir.path().join("2024/Trip/IMG #1.jpg"), b"not ours").unwrap();
    let whole = files(dir.path());
    std::fs::write(dir.path().join(format!("{ours}/{hash}#1")), b"wh").unwrap();
    std::fs::write(dir.path().join("staging/upload-x"), b"up").unwrap();

    let second = BlobStore::open_folder(dir.path()).unwrap();
    assert_eq!(second.run_exclusively(async {}).await.unwrap(), None, "another process may be writing");
    assert_eq!(files(dir.path()).len(), whole.len() + 2);
    assert_eq!(second.temporary_files().await.unwrap().len(), 2);
    drop(store);
    assert_eq!(second.run_exclusively(async { 7 }).await.unwrap(), Some(7));
    assert_eq!(files(dir.path()), whole);
    let third = BlobStore::open_folder(dir.path()).unwrap();
    assert_eq!(second.run_exclusively(async {}).await.unwrap(), None);
    drop(second);
    assert_eq!(third.run_exclusively(async {}).await.unwrap(), Some(()));
}

#[cfg(unix)]
#[tokio::test]
async fn other_users_have_no_access() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("originals")).unwrap();
    std::fs::set_permissions(dir.path().join("originals"), PermissionsExt::from_mode(0o755)).unwrap();
    BlobStore::open_folder(dir.path()).unwrap();
    for folder in ["originals", "renditions", "staging", "uploads"] {
        let mode = std::fs::metadata(dir.path().join(folder)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "{folder}");
    }
}

/// Writes and keeps a part; returns its name.
async fn part(parts: &PartsFolder, bytes: &[u8]) -> String {
    let mut writer = parts.create(None).await.unwrap();
    writer.write(bytes).await.unwrap();
    assert_eq!(writer.bytes(), bytes.len() as u64);
    writer.finish().await.unwrap()
}

async fn read(parts: &PartsFolder, names: &[(&String, u64)]) -> std::io::Result<Vec<u8>> {
    let names = names.iter().map(|(name, bytes)| ((*name).clone(), *bytes)).collect();
    let chunks: Vec<Bytes> = parts.read(names).try_collect().await?;
    Ok(chunks.concat())
}

#[tokio::test]
async fn parts_are_read_in_the_given_order() {
    let (_dir, store) = store();
    let long = vec![7; 700_000];
    let (one, two) = (part(&store.parts, b"hello ").await, part(&store.parts, &long).await);
    let all = read(&store.parts, &[(&two, 700_000), (&one, 6)]).await.unwrap();
    assert_eq!(all, [&long[..], b"hello "].concat());
    assert_eq!(read(&store.parts, &[]).await.unwrap(), b"");
}

#[tokio::test]
async fn a_lost_or_shortened_part_is_an_error() {
    let (dir, store) = store();
    let (whole, short) = (part(&store.parts, b"whole").await, part(&store.parts, b"short").await);
    std::fs::write(dir.path().join("uploads").join(&short), b"shor").unwrap();
    assert!(read(&store.parts, &[(&whole, 5), (&short, 5)]).await.is_err());
    store.parts.delete(vec![whole.clone(), "part-unknown".to_owned()]).await.unwrap();
    assert!(read(&store.parts, &[(&whole, 5)]).await.is_err());
    let outside = "../originals".to_owned();
    assert!(read(&store.parts, &[(&outside, 0)]).await.is_err());
    assert!(store.parts.delete(vec![outside]).await.is_err());
}

#[tokio::test]
async fn kept_parts_survive_a_restart_and_dropped_ones_are_gone() {
    let dir = tempfile::tempdir().unwrap();
    let store = BlobStore::open_folder(dir.path()).unwrap();
    let kept = part(&store.parts, b"kept").await;
    let mut dropped = store.parts.create(None).await.unwrap();
    dropped.write(b"dropped").await.unwrap();
    assert_eq!(store.parts.files().await.unwrap().len(), 2);
    drop(dropped);
    assert_eq!(store.temporary_files().await.unwrap(), [], "parts are not temporary");
    drop(store);
    let store = BlobStore::open_folder(dir.path()).unwrap();
    assert_eq!(store.run_exclusively(async {}).await.unwrap(), Some(()));
    let names: Vec<String> = store.parts.files().await.unwrap().into_iter().map(|file| file.name).collect();
    assert_eq!(names, [kept]);
}

#[tokio::test]
async fn a_part_must_match_its_checksum() {
    let (dir, store) = store();
    let right = Checksum::Sha256(content_hash(b"hello"));
    for (checksum, is_right) in [(right, true), (Checksum::Sha1([0; 20]), false)] {
        let mut writer = store.parts.create(Some(checksum)).await.unwrap();
        writer.write(b"hello").await.unwrap();
        match writer.finish().await {
            Ok(_) => assert!(is_right),
            Err(error) => assert!(!is_right && matches!(error, StagingError::ChecksumMismatch)),
        }
    }
    assert_eq!(files(dir.path()).len(), 1, "the other one is deleted");
}
