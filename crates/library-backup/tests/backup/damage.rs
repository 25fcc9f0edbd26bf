//! Damaged backups are refused, and nothing is written.

use std::fs;

use library_backup::BackupError;
use storage::LibraryState;

use crate::places::{Side, Target};

/// A backup of a library.
async fn backup() -> (Side, Target) {
    let (side, target) = (Side::sqlite().await, Target::new());
    side.fill(0, 3).await;
    target.back_up(&side, "one").await.unwrap();
    (side, target)
}

/// Checks that a backup is refused with these words, and that the target of the restore stays empty.
async fn assert_refused(target: &Target, words: &[&str]) -> BackupError {
    let to = Side::sqlite().await;
    let before = to.tables().await;
    let Err(error) = target.restore(&to).await else { panic!("a damaged backup was restored") };
    let text = error.to_string();
    for word in words {
        assert!(text.contains(word), "{word}: {text}");
    }
    assert_eq!(to.tables().await, before);
    assert_eq!(to.place.store.library_state().await.unwrap(), LibraryState::Open);
    error
}

#[tokio::test(flavor = "multi_thread")]
async fn each_missing_truncated_or_changed_file_is_refused() {
    let (side, target) = backup().await;
    let original = side.place.store.kept_blobs(domain::BlobKind::Original, None, 1).await.unwrap()[0];
    let rendition = side.place.store.kept_blobs(domain::BlobKind::Rendition, None, 1).await.unwrap()[0];
    let blob = |folder: &str, hash: domain::ContentHash| {
        let name = hash.to_string();
        format!("blobs/{folder}/{}/{name}", &name[..2])
    };
    let files = [
        "backup.json".to_owned(),
        "rows-one".to_owned(),
        "secret-one".to_owned(),
        blob("originals", original.hash),
        blob("renditions", rendition.hash),
    ];
    for name in files {
        let path = target.file(&name);
        let whole = fs::read(&path).unwrap();
        let short = name.rsplit('/').next().unwrap();
        fs::remove_file(&path).unwrap();
        assert_refused(&target, &[short, if name == "backup.json" { "no complete" } else { "is missing" }])
            .await;
        // Without the last line feed, a manifest is still complete.
        for cut in [0, whole.len() / 2, whole.trim_ascii_end().len() - 1] {
            fs::write(&path, &whole[..cut]).unwrap();
            assert_refused(&target, &[short]).await;
        }
        for at in [0, whole.len() / 3, whole.len() / 2, whole.len() - 3] {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            fs::write(&path, &changed).unwrap();
            assert_refused(&target, &[short]).await;
        }
        let mut longer = whole.clone();
        longer.extend(b"more");
        fs::write(&path, &longer).unwrap();
        assert_refused(&target, &[short]).await;
        fs::write(&path, &whole).unwrap();
    }
    target.verify().await.unwrap();
    fs::remove_dir_all(target.file("blobs")).unwrap();
    assert_refused(&target, &["blobs"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_damaged_table_is_named() {
    let (_, target) = backup().await;
    let path = target.file("rows-one");
    let mut rows = fs::read(&path).unwrap();
    let at = rows.windows(6).position(|window| window == b"a lake").unwrap();
    rows[at] = b'b';
    fs::write(&path, &rows).unwrap();
    let error =
        assert_refused(&target, &["rows-one: its SHA-256 differs", "table images: its checksum differs"]);
    assert!(matches!(error.await, BackupError::Damaged { count: 2, .. }));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_that_is_in_use_is_left_alone() {
    let (side, target) = backup().await;
    let verified = target.verify().await.unwrap();
    assert!(matches!(target.back_up(&side, "two").await, Err(BackupError::InUse(_))));
    target.verify().await.unwrap();
    drop(verified);
    target.back_up(&side, "two").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_without_a_backup_is_refused() {
    let target = Target::new();
    assert!(matches!(target.verify().await, Err(BackupError::NoBackup(_))));
    fs::create_dir(target.path()).unwrap();
    assert!(matches!(target.verify().await, Err(BackupError::NoBackup(_))));
}
