use domain::SidecarKind;
use storage::{
    FileMove, FileRefusal, MAX_COPIED_SIDECAR_BYTES, MAX_EMPTY_FILES, MAX_FILES_PER_PHOTO, NewFile,
    NewFileContent,
};

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

pub(crate) async fn the_sidecar_bytes_of_a_copy_are_limited(seed: &Seed) {
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

pub(crate) async fn entries_that_store_nothing_are_limited(seed: &Seed) {
    let ann = Files::new(seed).await;
    ann.folders(&["a", "a/0"]).await;
    for number in 0..99 {
        ann.junk(&format!("a/0/{number}"), 1).await;
    }
    // Each of these folders is a hundred entries with its members, and `a` is a thousand and one.
    for number in 1..10 {
        ann.copy(transfer("a/0", &format!("a/{number}"))).await.unwrap();
    }
    let copies = async |from: &str, to: &str| {
        let mut number = 0;
        loop {
            match ann.copy(transfer(from, &format!("{to}{number}"))).await {
                Ok(_) => number += 1,
                Err(refusal) => return (number, refusal),
            }
        }
    };
    let limit = usize::try_from(MAX_EMPTY_FILES).unwrap();
    let (of_a, refusal) = copies("a", "copy ").await;
    // The root folder counts, too.
    assert_eq!((1 + (of_a + 1) * 1001) / 1001, limit / 1001);
    assert_eq!(refusal, FileRefusal::TooManyEntries);
    assert_eq!(copies("a/0", "hundred ").await.1, FileRefusal::TooManyEntries);
    assert_eq!(copies("a/0/0", "single ").await.1, FileRefusal::TooManyEntries);
    // Every change that adds an entry without content is refused. Replacing an entry is allowed, because it adds none.
    assert_eq!(ann.put(junk_file("more", 1)).await.err(), Some(FileRefusal::TooManyEntries));
    let empty = new_file("more", NewFileContent::Placeholder);
    assert_eq!(ann.put(empty).await.err(), Some(FileRefusal::TooManyEntries));
    assert_eq!(ann.folder("more").await.err(), Some(FileRefusal::TooManyEntries));
    assert_eq!(ann.lock("more", "token", false).await.err(), Some(FileRefusal::TooManyEntries));
    let deep = NewFile { create_folders: true, ..sidecar("more/x.xmp", 1) };
    assert_eq!(ann.put(deep).await.err(), Some(FileRefusal::TooManyEntries));
    let deep = FileMove { create_folders: true, ..transfer("a/0/1", "more/x") };
    assert_eq!(ann.rename(deep).await.err(), Some(FileRefusal::TooManyEntries));
    ann.put(new_file("a/0/1", NewFileContent::Placeholder)).await.unwrap();
    ann.rename(transfer("a/0/1", "a/0/moved")).await.unwrap();
    put(&ann, "x.xmp", 1).await.unwrap();
    // Each visible photo allows one more entry, and a deleted entry makes room.
    ann.photo("x.jpg").await;
    ann.index().await;
    ann.junk("._x.jpg", 1).await;
    assert_eq!(ann.folder("more").await.err(), Some(FileRefusal::TooManyEntries));
    ann.delete("._x.jpg").await.unwrap();
    ann.folder("more").await.unwrap();
    Files::new(seed).await.folder("more").await.unwrap();
}

pub(crate) async fn a_photo_has_a_limited_number_of_files(seed: &Seed) {
    let ann = Files::new(seed).await;
    ann.folders(&["a"]).await;
    let original = ann.photo("a/0.jpg").await;
    ann.put_partial("a/1.part", original).await.unwrap();
    for number in 2..10 {
        ann.put_photo(&format!("a/{number}.jpg"), original).await.unwrap();
    }
    let limit = MAX_FILES_PER_PHOTO / 10;
    for number in 1..limit {
        ann.copy(transfer("a", &format!("copy {number}"))).await.unwrap();
    }
    let refused = Some(FileRefusal::TooManyEntries);
    assert_eq!(ann.copy(transfer("a", "more")).await.err(), refused);
    assert_eq!(ann.copy(transfer("a/0.jpg", "more.jpg")).await.err(), refused);
    assert_eq!(ann.put_photo("more.jpg", original).await.err(), refused);
    assert_eq!(ann.put_partial("more.part", original).await.err(), refused);
    ann.put_photo("a/0.jpg", original).await.unwrap();
    ann.photo("other.jpg").await;
    Files::new(seed).await.put_photo("x.jpg", original).await.unwrap();
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
