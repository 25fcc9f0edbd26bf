//! Rows of files, uploads and the quota that are broken on purpose are found. Values that can be derived are repaired.

use std::sync::Arc;

use domain::{AccountId, FilePath, Plan};
use storage::{
    BeginUpload, FileChange, FileCondition, FileStore as _, FileTimes, IntegrityStore as _, NewFile,
    NewFileContent, NewUpload, StoreRule, UploadPart, UploadProtocol, UploadStore as _,
};
use storage_conformance::{NOW, Photo, Seed, original_blob};
use storage_sqlite::SqliteStore;
use tempfile::TempDir;

use crate::{
    broken_rows::{break_rows, broken, repair, violations},
    fresh_store,
};

/// A store with files of two accounts: photos, partial files and an upload.
async fn seeded() -> (SqliteStore, TempDir) {
    let (store, folder) = fresh_store().await;
    let seed = Seed::new(Arc::new(store.clone()));
    for _ in 0..2 {
        let account = seed.account(Plan::Paid).await.account;
        for at in ["a/1.jpg", "a/b/2.jpg", "a/b/c/3.jpg", "d/4.jpg"] {
            let image = seed.new_image(account, &Photo::at_second(1));
            seed.announce(&[original_blob(&image.original)]).await;
            put(&store, account, at, NewFileContent::Photo(image)).await;
        }
        let original = seed.hash();
        seed.announce(&[original_blob(&original)]).await;
        let partial = NewFileContent::Partial { original, media_type: "image/jpeg" };
        put(&store, account, "d/5.jpg.part", partial).await;
        upload(&store, account).await;
    }
    (store, folder)
}

async fn put(store: &SqliteStore, account: AccountId, at: &str, content: NewFileContent) {
    let file = NewFile {
        path: FilePath::parse(at).unwrap(),
        content,
        bytes: storage_conformance::ORIGINAL_BYTES,
        times: FileTimes::default(),
        sha1: None,
        create_folders: true,
        condition: FileCondition::Any,
    };
    let change = FileChange { account, lock_tokens: Vec::new(), at: NOW, quota_bytes: None };
    store.put_file(change, file).await.unwrap().unwrap();
}

async fn upload(store: &SqliteStore, account: AccountId) {
    let upload = NewUpload {
        account,
        protocol: UploadProtocol::Tus,
        name: "u".to_owned(),
        total_bytes: None,
        metadata: String::new(),
        at: NOW,
    };
    let BeginUpload::Begun(id) = store.begin_upload(upload).await.unwrap() else { panic!("it begins") };
    let file = format!("part-{}", account.0);
    let part = UploadPart { number: 0, name: String::new(), bytes: 100, file, received_at: NOW };
    store.add_part(id, part, None).await.unwrap();
}

/// SQL for the id of a file of the first account.
fn file(name: &str) -> String {
    format!("(SELECT min(id) FROM files WHERE name = '{name}')")
}

#[tokio::test(flavor = "multi_thread")]
async fn sound_files_break_no_rule() {
    let (store, _folder) = seeded().await;
    assert_eq!(broken(&store).await, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn derived_values_are_repaired() {
    let original = format!("(SELECT original FROM files WHERE id = {})", file("5.jpg.part"));
    for (rule, found, sql) in [
        (StoreRule::FolderBytes, 2, format!("UPDATE files SET bytes = bytes + 1 WHERE id = {}", file("b"))),
        (StoreRule::FolderBytes, 10, "UPDATE files SET bytes = id * id WHERE kind = 'folder'".to_owned()),
        (StoreRule::StoredBytes, 2, "UPDATE accounts SET stored_bytes = stored_bytes + id".to_owned()),
        (StoreRule::StoredBytes, 1, "DELETE FROM upload_parts WHERE file = 'part-1'".to_owned()),
        (
            StoreRule::PartialOriginalIsKept,
            1,
            format!("UPDATE blobs SET state = 'pending' WHERE hash = {original}"),
        ),
        (
            StoreRule::PhotoFileHasImage,
            1,
            format!("UPDATE files SET image_seq = NULL WHERE id = {}", file("1.jpg")),
        ),
        (
            StoreRule::DeletedWithFiles,
            1,
            format!(
                "UPDATE images SET deleted_with_files = 1 WHERE seq = (SELECT image_seq FROM files WHERE id = {})",
                file("1.jpg")
            ),
        ),
        (StoreRule::RootFolder, 1, "DELETE FROM files WHERE account_id = 1".to_owned()),
    ] {
        let (store, folder) = seeded().await;
        break_rows(&folder, &sql);
        if rule == StoreRule::RootFolder {
            // The deletion of the files also changes the sum of stored bytes.
            repair(&store, StoreRule::StoredBytes).await;
        }
        assert_eq!(broken(&store).await, [(rule, found)], "{sql}");
        repair(&store, rule).await;
        assert_eq!(broken(&store).await, [], "{sql}");
        assert_eq!(store.check_references(10).await.unwrap(), [""; 0], "{sql}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_that_cannot_be_derived_are_reported() {
    let other = "(SELECT max(id) FROM files WHERE name = 'a')";
    for (rule, found, sql) in [
        (
            StoreRule::FileParent,
            1,
            format!("UPDATE files SET parent_id = {} WHERE id = {}", file("4.jpg"), file("1.jpg")),
        ),
        (StoreRule::FileParent, 1, format!("UPDATE files SET parent_id = {other} WHERE id = {}", file("d"))),
        // A cycle: the folder b is moved into its subfolder c.
        (
            StoreRule::FileParent,
            2,
            format!("UPDATE files SET parent_id = {} WHERE id = {}", file("c"), file("b")),
        ),
        (
            StoreRule::FileImage,
            1,
            format!(
                "UPDATE files SET image_seq = (SELECT image_seq FROM files WHERE id = {}) WHERE id = {}",
                file("4.jpg"),
                file("1.jpg")
            ),
        ),
        (
            StoreRule::DeletedWithFiles,
            1,
            format!(
                "UPDATE images SET deleted_with_files = 1, deleted_at_ms = 5
                WHERE seq = (SELECT image_seq FROM files WHERE id = {})",
                file("1.jpg")
            ),
        ),
    ] {
        let (store, folder) = seeded().await;
        break_rows(&folder, &sql);
        let broken_rows = violations(&store, rule).await;
        assert_eq!(broken_rows.len(), found, "{sql}");
        let (account, image) = (&broken_rows[0].detail, &broken_rows[0].image);
        assert!(
            account.as_ref().is_some_and(|text| text.contains('@')) || image.is_some(),
            "{broken_rows:?}"
        );
        repair(&store, rule).await;
        assert_eq!(violations(&store, rule).await, broken_rows, "{sql}");
        // The sums of bytes in folders can be repaired after the change.
        repair(&store, StoreRule::FolderBytes).await;
        assert_eq!(violations(&store, StoreRule::FolderBytes).await, [], "{sql}");
    }
}
