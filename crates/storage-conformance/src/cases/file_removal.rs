use domain::BlobKind;
use storage::{FileCondition, FileRefusal};

use super::concurrently;
use crate::{
    ORIGINAL_BYTES, Seed,
    file_tree::{Files, etag, path, transfer},
    queries::second,
};

pub(crate) async fn a_deleted_file_is_gone(seed: &Seed) {
    let ann = Files::new(seed).await;
    let entry = ann.junk("a", 1).await.entry;
    let delete =
        async |condition| ann.store().delete_file(ann.change(), &path("a"), condition).await.unwrap();
    let unmet = [FileCondition::Absent, FileCondition::Version(vec![(entry.id, entry.version + 1)])];
    for condition in unmet {
        assert_eq!(delete(condition).await, Err(FileRefusal::Condition));
    }
    assert_eq!(delete(FileCondition::Version(vec![etag(&entry)])).await, Ok(()));
    assert_eq!(ann.find("a").await, None);
    assert_eq!(ann.delete("a").await, Err(FileRefusal::NotFound));
    assert_eq!(ann.delete("").await, Err(FileRefusal::IsFolder));
    assert_eq!(ann.store().sweep_deleted_files(None, second(1), 9).await.unwrap(), 0);
}

pub(crate) async fn a_deleted_folder_is_gone_at_once(seed: &Seed) {
    let ann = Files::new(seed).await;
    ann.folders(&["a", "a/b"]).await;
    let id = ann.junk("a/b/c", 7).await.entry.id;
    ann.delete("a").await.unwrap();
    for gone in ["a", "a/b", "a/b/c"] {
        assert_eq!(ann.find(gone).await, None);
    }
    assert_eq!(ann.store().file_by_id(ann.account(), id).await.unwrap(), None);
    assert_eq!(ann.entry("").await.bytes, 0);
    ann.folder("a").await.unwrap();
    ann.sweep().await;
    assert_eq!(ann.names("").await, ["a"], "its name can be used again");
}

pub(crate) async fn deleted_folders_are_swept_in_batches(seed: &Seed) {
    let (ann, ben) = (Files::new(seed).await, Files::new(seed).await);
    for files in [&ann, &ben] {
        files.folders(&["a", "a/b", "a/b/c", "a/d", "kept"]).await;
        for file in ["a/1", "a/2", "a/b/3", "a/b/c/4", "kept/5"] {
            files.junk(file, 1).await;
        }
        files.delete("a").await.unwrap();
    }
    let sweep = async |account, max| ann.store().sweep_deleted_files(account, second(9), max).await.unwrap();
    assert_eq!(sweep(None, 0).await, 0);
    for expected in [3, 3, 2, 0] {
        assert_eq!(sweep(Some(ann.account()), 3).await, expected);
    }
    assert_eq!(sweep(None, 100).await, 8, "those of the other account");
    assert_eq!(ann.names("kept").await, ["5"]);
}

pub(crate) async fn the_sweep_deletes_images_whose_last_file_is_gone(seed: &Seed) {
    let ann = Files::new(seed).await;
    ann.folders(&["a", "a/b"]).await;
    let (only, both) = (ann.photo("a/only.jpg").await, ann.photo("a/b/both.jpg").await);
    ann.put_photo("a/again.jpg", both).await.unwrap();
    ann.put_photo("both.jpg", both).await.unwrap();
    let put_again = ann.photo("a/b/put_again.jpg").await;
    let partial = ann.original().await;
    ann.put_partial("a/b/x.tmp", partial).await.unwrap();
    ann.delete("a").await.unwrap();
    ann.put_photo("put_again.jpg", put_again).await.unwrap();
    ann.sweep().await;
    assert_eq!(ann.is_deleted(&only).await, Some(true));
    assert_eq!(ann.is_deleted(&both).await, Some(false));
    assert_eq!(ann.is_deleted(&put_again).await, Some(false), "it was put again before the sweep");
    let kept = ann.store().kept_blobs(BlobKind::Original, None, 99).await.unwrap();
    assert!(kept.iter().all(|blob| blob.hash != partial), "its original is released");
    ann.put_photo("only.jpg", only).await.unwrap();
    assert_eq!(ann.is_deleted(&only).await, Some(false), "it can be restored");
}

pub(crate) async fn the_last_file_may_be_deleted_before_the_sweep(seed: &Seed) {
    let ann = Files::new(seed).await;
    ann.folders(&["a", "b"]).await;
    let original = ann.photo("a/x.jpg").await;
    ann.put_photo("b/x.jpg", original).await.unwrap();
    ann.put_photo("x.jpg", original).await.unwrap();
    ann.delete("a").await.unwrap();
    ann.delete("b").await.unwrap();
    ann.delete("x.jpg").await.unwrap();
    ann.sweep().await;
    assert_eq!(ann.is_deleted(&original).await, Some(true));
}

pub(crate) async fn a_deep_tree_is_swept(seed: &Seed) {
    let ann = Files::new(seed).await;
    let names: Vec<String> = (0..63).map(|level| level.to_string()).collect();
    let deepest = path(&names.join("/"));
    ann.store().create_folder(ann.change(), &deepest, true).await.unwrap().unwrap();
    let original = ann.photo(&format!("{}/x.jpg", names.join("/"))).await;
    assert_eq!(ann.entry("0").await.bytes, ORIGINAL_BYTES);
    ann.delete("0").await.unwrap();
    ann.sweep().await;
    assert_eq!(ann.is_deleted(&original).await, Some(true));
}

pub(crate) async fn concurrent_sweeps_delete_each_file_once(seed: &Seed) {
    let ann = Files::new(seed).await;
    ann.folder("a").await.unwrap();
    for number in 0..40 {
        ann.junk(&format!("a/{number}"), 1).await;
    }
    ann.delete("a").await.unwrap();
    let swept = concurrently((0..8).map(|_| {
        let ann = ann.clone();
        async move { ann.store().sweep_deleted_files(None, ann.at, 7).await.unwrap() }
    }))
    .await;
    assert_eq!(swept.iter().sum::<u32>(), 41);
}

pub(crate) async fn files_of_a_deleted_account_are_purged_in_batches(seed: &Seed) {
    let (ann, ben) = (Files::new(seed).await, Files::new(seed).await);
    ann.folders(&["a", "a/b", "c"]).await;
    for file in ["a/1", "a/b/2", "c/3"] {
        ann.junk(file, 1).await;
    }
    let original = ann.photo("a/b/x.jpg").await;
    let partial = ann.original().await;
    ann.put_partial("x.tmp", partial).await.unwrap();
    ben.put_photo("x.jpg", original).await.unwrap();
    ann.delete("c").await.unwrap();
    ann.store().delete_account(ann.account(), second(2)).await.unwrap();
    let purge = async |max| ann.store().purge_images(second(-9), max).await.unwrap();
    assert_eq!(purge(4).await, 1, "first the image");
    // Nine files and folders are left.
    assert_eq!([purge(4).await, purge(4).await, purge(4).await], [4, 4, 0]);
    let kept = ann.store().kept_blobs(BlobKind::Original, None, 9).await.unwrap();
    assert_eq!(kept.into_iter().map(|blob| blob.hash).collect::<Vec<_>>(), [original]);
    assert_eq!(ben.names("").await, ["x.jpg"]);
    assert_eq!(ann.store().sweep_deleted_files(None, second(3), 9).await.unwrap(), 0);
}

pub(crate) async fn a_file_deleted_after_its_folder_was_moved_is_gone(seed: &Seed) {
    let ann = Files::new(seed).await;
    ann.folders(&["a", "b"]).await;
    let original = ann.photo("a/x.jpg").await;
    ann.rename(transfer("a", "b/a")).await.unwrap();
    ann.delete("b").await.unwrap();
    ann.sweep().await;
    assert_eq!(ann.is_deleted(&original).await, Some(true));
}
