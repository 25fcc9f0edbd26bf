//! Rules of local folders.

use std::path::Path;

use blobs::BlobStore;
use bytes::Bytes;
use domain::BlobKind::Original;

use crate::backing::{files, staged};

fn store() -> (tempfile::TempDir, BlobStore) {
    let dir = tempfile::tempdir().unwrap();
    let store = BlobStore::open_folder(dir.path()).unwrap();
    (dir, store)
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
    // Storing the same bytes again leaves the stored file as it is.
    let again = crate::backing::staged(&store.staging, b"photo").await;
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
async fn temporary_files_of_killed_processes_are_deleted_when_no_other_process_runs() {
    let dir = tempfile::tempdir().unwrap();
    let store = BlobStore::open_folder(dir.path()).unwrap();
    let hash = store.content.put_bytes(Original, Bytes::from_static(b"whole")).await.unwrap();
    let ours = format!("originals/{}", &hash.to_string()[..2]);
    // Files that the store did not create are kept.
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
