use domain::SidecarKind;
use storage::{FileRefusal, MAX_COPIED_SIDECAR_BYTES, NewFile, NewFileContent};

use crate::{
    Seed,
    file_tree::{Changed, Files, junk_file, new_file, overwrite, transfer},
};

/// A sidecar of this length.
fn sidecar(at: &str, bytes: u64) -> NewFile {
    NewFile { bytes, ..new_file(at, NewFileContent::Sidecar(SidecarKind::Xmp, b"<x/>".to_vec())) }
}

async fn put(files: &Files, at: &str, bytes: u64) -> Changed<()> {
    files.put(sidecar(at, bytes)).await.map(|_| ())
}

pub(crate) async fn sidecars_count_as_stored(seed: &Seed) {
    let ann = Files::new(seed).await;
    ann.folders(&["a", "a/b"]).await;
    put(&ann, "a/x.xmp", 10).await.unwrap();
    put(&ann, "a/b/y.xmp", 5).await.unwrap();
    assert_eq!(ann.stored_bytes().await, 15);
    put(&ann, "a/x.xmp", 7).await.unwrap();
    assert_eq!(ann.stored_bytes().await, 12, "it is replaced");
    ann.rename(transfer("a/x.xmp", "a/z.xmp")).await.unwrap();
    assert_eq!(ann.stored_bytes().await, 12);
    ann.copy(transfer("a", "c")).await.unwrap();
    ann.copy(transfer("a/z.xmp", "d.xmp")).await.unwrap();
    assert_eq!(ann.stored_bytes().await, 31);
    ann.rename(overwrite("a/b/y.xmp", "d.xmp")).await.unwrap();
    assert_eq!(ann.stored_bytes().await, 24);
    ann.put(junk_file("d.xmp", 99)).await.unwrap();
    assert_eq!(ann.stored_bytes().await, 19, "it has other content");
    ann.delete("c").await.unwrap();
    ann.sweep().await;
    assert_eq!(ann.stored_bytes().await, 7);
    ann.delete("a/z.xmp").await.unwrap();
    assert_eq!(ann.stored_bytes().await, 0);
}

pub(crate) async fn a_full_account_stores_no_more_sidecars(seed: &Seed) {
    let ann = Files::new(seed).await.with_quota(20);
    ann.folders(&["a"]).await;
    put(&ann, "a/x.xmp", 12).await.unwrap();
    assert_eq!(put(&ann, "y.xmp", 9).await, Err(FileRefusal::QuotaExceeded));
    assert_eq!(ann.copy(transfer("a", "b")).await, Err(FileRefusal::QuotaExceeded));
    assert_eq!(ann.copy(transfer("a/x.xmp", "y.xmp")).await, Err(FileRefusal::QuotaExceeded));
    assert_eq!((ann.stored_bytes().await, ann.names("").await), (12, vec!["a".to_owned()]));
    put(&ann, "a/x.xmp", 20).await.unwrap();
    put(&ann, "a/x.xmp", 20).await.unwrap();
    assert_eq!(put(&ann, "a/x.xmp", 21).await, Err(FileRefusal::QuotaExceeded));
    assert_eq!(ann.stored_bytes().await, 20);
    ann.copy(overwrite("a/x.xmp", "a/x2.xmp")).await.unwrap_err();
    ann.rename(transfer("a/x.xmp", "x.xmp")).await.unwrap();
}

pub(crate) async fn a_copy_has_few_bytes_of_sidecars(seed: &Seed) {
    let ann = Files::new(seed).await;
    ann.folders(&["a", "a/b"]).await;
    put(&ann, "a/x.xmp", MAX_COPIED_SIDECAR_BYTES / 2).await.unwrap();
    put(&ann, "a/b/y.xmp", MAX_COPIED_SIDECAR_BYTES / 2).await.unwrap();
    ann.copy(transfer("a", "c")).await.unwrap();
    put(&ann, "a/b/z.xmp", 1).await.unwrap();
    assert_eq!(ann.copy(transfer("a", "d")).await, Err(FileRefusal::TooMany));
    assert_eq!(ann.find("d").await, None);
    assert_eq!(ann.stored_bytes().await, 2 * MAX_COPIED_SIDECAR_BYTES + 1);
}

pub(crate) async fn an_original_is_stored_while_an_image_or_a_partial_file_has_it(seed: &Seed) {
    let (ann, ben) = (Files::new(seed).await, Files::new(seed).await);
    let stores = async |files: &Files, original| {
        files.store().stores_original(files.account(), original).await.unwrap()
    };
    let (photo, partial) = (ann.photo("a.jpg").await, ann.original().await);
    assert!(!stores(&ann, &partial).await, "it is only announced");
    ann.put_partial("b.tmp", partial).await.unwrap();
    for original in [&photo, &partial] {
        assert!(stores(&ann, original).await);
        assert!(!stores(&ben, original).await);
    }
    ann.delete("a.jpg").await.unwrap();
    assert!(stores(&ann, &photo).await, "a deleted image counts until it is purged");
    ann.delete("b.tmp").await.unwrap();
    assert!(!stores(&ann, &partial).await);
}
