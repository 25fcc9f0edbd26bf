use domain::{AccountId, ContentHash, FilePath, SidecarKind};
use storage::{
    FileChange, FileCondition, FileContent, FileEntry, FileId, FileKind, FileRefusal, FileTimes, NewFile,
    NewFileContent, NewImage, PairedKind,
};

use super::concurrently;
use crate::{
    ORIGINAL_BYTES, Seed,
    file_tree::{Files, etag, junk_file, new_file, overwrite, path, transfer},
    queries::second,
};

pub(crate) async fn an_account_has_a_root_folder(seed: &Seed) {
    let ann = Files::new(seed).await;
    let root = ann.entry("").await;
    assert_eq!((root.name, root.kind, root.bytes), (None, FileKind::Folder, 0));
    assert_eq!(ann.list("").await.members, []);
    assert_eq!(ann.folder("").await, Err(FileRefusal::Exists));
    assert_eq!(ann.put(junk_file("", 1)).await, Err(FileRefusal::IsFolder));
}

pub(crate) async fn a_file_is_returned_as_it_was_put(seed: &Seed) {
    let ann = Files::new(seed).await;
    let original = ann.original().await;
    let times = FileTimes { modified_at: Some(second(-9)), created_at: Some(second(-99)) };
    let contents = [
        NewFileContent::Photo(ann.new_image(original)),
        NewFileContent::Partial { original, media_type: "image/jpeg" },
        NewFileContent::Sidecar(SidecarKind::Xmp, b"<x/>".to_vec()),
        NewFileContent::Junk,
        NewFileContent::Placeholder,
    ];
    for (number, content) in contents.into_iter().enumerate() {
        let name = format!("file {number}");
        let file = NewFile { bytes: 9, times, sha1: Some([7; 20]), ..new_file(&name, content) };
        let written = ann.put(file).await.unwrap();
        assert!(written.is_new);
        let entry = ann.entry(&name).await;
        assert_eq!(entry, written.entry);
        assert_eq!((entry.bytes, entry.times, entry.sha1), (9, times, Some([7; 20])));
        assert_eq!((entry.name.unwrap().as_str(), entry.received_at), (name.as_str(), second(1)));
        let by_id = ann.store().file_by_id(ann.account(), entry.id).await.unwrap();
        assert_eq!(by_id, Some(written.entry));
    }
    let kinds: Vec<FileKind> = ann.list("").await.members.into_iter().map(|member| member.kind).collect();
    let image = ann.image("file 0").await;
    assert!(image.as_ref().is_some_and(|image| !image.is_live), "it is not indexed yet");
    let media_type = "image/jpeg".to_owned();
    let expected = [
        FileContent::Photo { original, image },
        FileContent::Partial { original, media_type },
        FileContent::Sidecar(SidecarKind::Xmp),
        FileContent::Junk,
        FileContent::Placeholder,
    ];
    assert_eq!(kinds, expected.map(FileKind::File));
    ann.index().await;
    assert!(ann.image("file 0").await.unwrap().is_live);
}

pub(crate) async fn members_are_listed_by_name(seed: &Seed) {
    let ann = Files::new(seed).await;
    ann.folders(&["b", "b/a", "b/a/x"]).await;
    for name in ["b/z", "b/Z", "b/ä", "b/10", "b/9"] {
        ann.junk(name, 1).await;
    }
    assert_eq!(ann.names("b").await, ["10", "9", "Z", "a", "z", "ä"]);
    let listing = ann.list("b").await;
    assert_eq!(listing.entry, ann.entry("b").await);
    let inner = ann.entry("b/a").await;
    assert!(listing.members.contains(&inner));
    assert_eq!(ann.list("b/z").await.members, [], "a file has no members");
    for nothing in ["c", "b/c", "b/z/c"] {
        assert_eq!(ann.find(nothing).await, None);
        assert_eq!(ann.store().list_files(ann.account(), &path(nothing)).await.unwrap(), None);
    }
}

pub(crate) async fn a_folder_is_created_once(seed: &Seed) {
    let ann = Files::new(seed).await;
    let folder = ann.folder("a").await.unwrap();
    assert_eq!(folder, ann.entry("a").await);
    assert_eq!((folder.kind, folder.bytes), (FileKind::Folder, 0));
    ann.junk("b", 1).await;
    assert_eq!(ann.folder("a").await, Err(FileRefusal::Exists));
    assert_eq!(ann.folder("b").await, Err(FileRefusal::Exists));
    for orphan in ["b/c", "c/d", "a/b/c"] {
        assert_eq!(ann.folder(orphan).await, Err(FileRefusal::NoParent));
    }
    let deep = path("a/x/y/z");
    let made = ann.store().create_folder(ann.change(), &deep, true).await.unwrap().unwrap();
    assert_eq!(made, ann.entry("a/x/y/z").await);
    let below_file = ann.store().create_folder(ann.change(), &path("b/c/d"), true).await.unwrap();
    assert_eq!(below_file, Err(FileRefusal::NoParent));
}

pub(crate) async fn a_file_needs_its_folder(seed: &Seed) {
    let ann = Files::new(seed).await;
    ann.junk("b", 1).await;
    for orphan in ["a/x", "b/x", "b/c/x"] {
        assert_eq!(ann.put(junk_file(orphan, 1)).await, Err(FileRefusal::NoParent));
    }
    let create = |at| NewFile { create_folders: true, ..junk_file(at, 5) };
    assert_eq!(ann.put(create("b/c/x")).await, Err(FileRefusal::NoParent));
    assert!(ann.put(create("c/d/e")).await.unwrap().is_new);
    assert_eq!(ann.names("c").await, ["d"]);
    assert_eq!(ann.entry("c").await.bytes, 5);
    assert_eq!(ann.put(junk_file("c/d", 1)).await, Err(FileRefusal::IsFolder));
}

pub(crate) async fn a_put_obeys_its_condition(seed: &Seed) {
    let ann = Files::new(seed).await;
    let put = async |condition| ann.put(NewFile { condition, ..junk_file("a", 1) }).await;
    for unmet in [FileCondition::Present, FileCondition::Version(vec![(FileId(1), 1)])] {
        assert_eq!(put(unmet).await, Err(FileRefusal::Condition));
    }
    let first = put(FileCondition::Absent).await.unwrap().entry;
    assert_eq!(put(FileCondition::Absent).await, Err(FileRefusal::Condition));
    let second = put(FileCondition::Version(vec![(FileId(0), 9), etag(&first)])).await.unwrap().entry;
    assert_eq!(put(FileCondition::Version(vec![etag(&first)])).await, Err(FileRefusal::Condition));
    assert_eq!(ann.entry("a").await, second);
    assert!(!put(FileCondition::Present).await.unwrap().is_new);
}

pub(crate) async fn content_is_replaced_under_the_same_id(seed: &Seed) {
    let ann = Files::new(seed).await;
    let times = FileTimes { modified_at: Some(second(-5)), created_at: Some(second(-6)) };
    let sha1 = Some([1; 20]);
    let first = ann.put(NewFile { times, sha1, ..junk_file("a", 10) }).await.unwrap().entry;
    let sidecar = NewFileContent::Sidecar(SidecarKind::Takeout, b"{}".to_vec());
    let written = ann.at(2).put(NewFile { bytes: 2, ..new_file("a", sidecar) }).await.unwrap();
    assert!(!written.is_new);
    assert_eq!(written.entry.id, first.id);
    assert!(written.entry.version > first.version);
    assert_eq!(written.entry, ann.entry("a").await);
    assert_eq!((written.entry.times, written.entry.sha1), (FileTimes::default(), None));
    assert_eq!(written.entry.received_at, second(2));
    ann.at(3).photo("a").await;
    let content = ann.store().sidecar_content(ann.account(), first.id).await.unwrap();
    assert_eq!(content, None, "nothing of the sidecar is left");
    ann.delete("a").await.unwrap();
    assert_ne!(ann.junk("a", 10).await.entry.id, first.id, "ids are never reused");
}

/// The versions of these folders.
async fn versions(files: &Files, folders: &[&str]) -> Vec<u64> {
    let mut versions = Vec::new();
    for folder in folders {
        versions.push(files.entry(folder).await.version);
    }
    versions
}

pub(crate) async fn a_change_reaches_every_folder_above(seed: &Seed) {
    let ann = Files::new(seed).await;
    ann.folders(&["a", "a/b", "a/b/c", "other"]).await;
    let above = ["", "a", "a/b"];
    let beside = versions(&ann, &["a/b/c", "other"]).await;
    let mut before = versions(&ann, &above).await;
    let mut check = async |sum: u64| {
        let now = versions(&ann, &above).await;
        assert!(now.iter().zip(&before).all(|(now, before)| now > before), "{now:?} after {before:?}");
        for folder in above {
            assert_eq!(ann.entry(folder).await.bytes, sum, "{folder}");
        }
        before = now;
    };
    ann.junk("a/b/x", 10).await;
    check(10).await;
    ann.junk("a/b/x", 4).await;
    check(4).await;
    ann.set_times("a/b/x", FileTimes { modified_at: Some(second(1)), created_at: None }).await.unwrap();
    check(4).await;
    ann.folder("a/b/d").await.unwrap();
    check(4).await;
    ann.junk("a/b/y", 100).await;
    check(104).await;
    ann.delete("a/b/x").await.unwrap();
    check(100).await;
    ann.rename(transfer("a/b/y", "a/b/z")).await.unwrap();
    check(100).await;
    ann.copy(transfer("a/b/z", "a/b/d/z")).await.unwrap();
    check(200).await;
    ann.rename(transfer("a/b/d", "a/b/e")).await.unwrap();
    check(200).await;
    ann.delete("a/b/e").await.unwrap();
    check(100).await;
    ann.lock("a/b/new", "token", false).await.unwrap();
    check(100).await;
    assert_eq!(versions(&ann, &["a/b/c", "other"]).await, beside);
}

pub(crate) async fn times_are_changed_one_by_one(seed: &Seed) {
    let ann = Files::new(seed).await;
    let unknown = ann.set_times("a", FileTimes::default()).await;
    assert_eq!(unknown, Err(FileRefusal::NotFound));
    let created_at = Some(second(-6));
    let times = FileTimes { modified_at: Some(second(-5)), created_at };
    let first = ann.put(NewFile { times, ..junk_file("a", 1) }).await.unwrap().entry;
    let modified_at = Some(second(-4));
    let changed = ann.set_times("a", FileTimes { modified_at, created_at: None }).await.unwrap();
    assert_eq!(changed.times, FileTimes { modified_at, created_at });
    assert!(changed.version > first.version);
    assert_eq!(changed, ann.entry("a").await);
    let root = ann.entry("").await;
    assert_eq!(ann.set_times("a", changed.times).await.unwrap(), changed, "they are the same");
    assert_eq!(ann.entry("").await, root);
    let folder = ann.folder("b").await.unwrap();
    assert!(ann.set_times("b", times).await.unwrap().version > folder.version);
    assert_eq!(ann.set_times("", times).await.unwrap().times, times);
}

pub(crate) async fn refusals_come_in_order(seed: &Seed) {
    let ann = Files::new(seed).await;
    ann.folders(&["locked"]).await;
    ann.junk("file", 1).await;
    ann.lock("locked", "token", true).await.unwrap();
    let condition = FileCondition::Absent;
    let put = async |at: &str, condition: &FileCondition| {
        // Its original is not announced.
        let file = ann.photo_file(at, ann.seed.hash());
        ann.put(NewFile { condition: condition.clone(), ..file }).await.unwrap_err()
    };
    assert_eq!(put("none/x", &FileCondition::Present).await, FileRefusal::NoParent);
    assert_eq!(put("locked", &condition).await, FileRefusal::IsFolder);
    assert_eq!(put("locked/x", &FileCondition::Present).await, FileRefusal::Condition);
    assert_eq!(put("locked/x", &condition).await, FileRefusal::Locked);
    assert_eq!(put("x", &condition).await, FileRefusal::OriginalGone);

    let moving = async |from: &str, to: &str| {
        let condition = FileCondition::Version(Vec::new());
        ann.rename(storage::FileMove { condition, ..transfer(from, to) }).await.unwrap_err()
    };
    assert_eq!(moving("x", "x").await, FileRefusal::NotFound);
    assert_eq!(moving("locked", "locked/none/x").await, FileRefusal::IntoItself);
    assert_eq!(moving("locked", "none/x").await, FileRefusal::NoParent);
    assert_eq!(moving("locked", "file").await, FileRefusal::Exists);
    assert_eq!(moving("locked", "x").await, FileRefusal::Condition);
    assert_eq!(ann.rename(transfer("locked", "x")).await, Err(FileRefusal::Locked));

    let delete = async |at: &str| ann.store().delete_file(ann.change(), &path(at), condition.clone()).await;
    assert_eq!(delete("x").await.unwrap(), Err(FileRefusal::NotFound));
    assert_eq!(delete("").await.unwrap(), Err(FileRefusal::IsFolder));
    assert_eq!(delete("locked").await.unwrap(), Err(FileRefusal::Condition));
    assert_eq!(ann.delete("locked").await, Err(FileRefusal::Locked));
}

pub(crate) async fn a_refused_change_changes_nothing(seed: &Seed) {
    let ann = Files::new(seed).await;
    let before = ann.entry("").await;
    let gone = NewFile { create_folders: true, ..ann.photo_file("a/b/c", seed.hash()) };
    assert_eq!(ann.put(gone).await, Err(FileRefusal::OriginalGone));
    let image = NewImage { quota_bytes: Some(1), ..ann.new_image(ann.original().await) };
    let too_much = NewFile { create_folders: true, ..new_file("a/b", NewFileContent::Photo(image)) };
    assert_eq!(ann.put(too_much).await, Err(FileRefusal::QuotaExceeded));
    assert_eq!(ann.entry("").await, before);
    assert_eq!(ann.names("").await, [""; 0]);
}

/// Everything that a client of a deleted account could do.
async fn refusals(files: &Files) -> Vec<Option<FileRefusal>> {
    let times = FileTimes { modified_at: Some(second(1)), created_at: None };
    let original = files.original().await;
    vec![
        files.put(junk_file("x", 1)).await.err(),
        files.put_photo("x", original).await.err(),
        files.folder("x").await.err(),
        files.rename(transfer("a", "x")).await.err(),
        files.copy(transfer("a", "x")).await.err(),
        files.delete("a").await.err(),
        files.set_times("a", times).await.err(),
        files.lock("a", "token", true).await.err(),
    ]
}

pub(crate) async fn a_deleted_account_has_no_files(seed: &Seed) {
    let ann = Files::new(seed).await;
    let sidecar = NewFileContent::Sidecar(SidecarKind::Xmp, b"<x/>".to_vec());
    let id = ann.put(new_file("a", sidecar)).await.unwrap().entry.id;
    ann.lock("a", "old", true).await.unwrap();
    ann.store().delete_account(ann.account(), second(2)).await.unwrap();
    assert_eq!(ann.find("").await, None);
    assert_eq!(ann.find("a").await, None);
    assert_eq!(ann.store().list_files(ann.account(), &FilePath::ROOT).await.unwrap(), None);
    assert_eq!(ann.store().file_by_id(ann.account(), id).await.unwrap(), None);
    assert_eq!(ann.store().sidecar_content(ann.account(), id).await.unwrap(), None);
    for kind in [PairedKind::Photo, PairedKind::Sidecar] {
        let root = FilePath::ROOT;
        let found = ann.store().files_with_prefix(ann.account(), &root, kind, "", 9).await;
        assert_eq!(found.unwrap(), []);
    }
    assert_eq!(ann.locks("a").await, [""; 0]);
    assert!(!ann.store().unlock_file(ann.change(), &path("a"), "old").await.unwrap());
    assert_eq!(refusals(&ann).await, [Some(FileRefusal::AccountGone); 8]);
    let unknown = FileChange { account: AccountId(9_999_999), ..ann.change() };
    let refused = ann.store().put_file(unknown, junk_file("x", 1)).await.unwrap();
    assert_eq!(refused, Err(FileRefusal::AccountGone));
}

pub(crate) async fn accounts_have_separate_files(seed: &Seed) {
    let (ann, ben) = (Files::new(seed).await, Files::new(seed).await);
    let original = ann.photo("a.jpg").await;
    let sidecar = NewFileContent::Sidecar(SidecarKind::Xmp, b"<x/>".to_vec());
    let id = ann.put(new_file("a.xmp", sidecar)).await.unwrap().entry.id;
    assert_eq!(ben.names("").await, [""; 0]);
    assert_eq!(ben.store().file_by_id(ben.account(), id).await.unwrap(), None);
    assert_eq!(ben.store().sidecar_content(ben.account(), id).await.unwrap(), None);
    assert_eq!(ben.put_photo("a.jpg", original).await.map(|written| written.is_new), Ok(true));
    assert_ne!(ben.image_id("a.jpg").await, ann.image_id("a.jpg").await);
    ann.lock("a.jpg", "token", true).await.unwrap();
    ben.delete("a.jpg").await.unwrap();
    assert_eq!(ann.is_deleted(&original).await, Some(false));
    assert_eq!(ann.names("").await, ["a.jpg", "a.xmp"]);
}

pub(crate) async fn photos_and_sidecars_are_found_by_prefix(seed: &Seed) {
    let ann = Files::new(seed).await;
    ann.folders(&["a", "a/IMG_1"]).await;
    for name in ["a/IMG_1.jpg", "a/IMG_10.jpg", "a/IMG_2.jpg", "a/img_1.jpg", "IMG_1.jpg"] {
        ann.photo(name).await;
    }
    for name in ["a/IMG_1.jpg.xmp", "a/IMG_1.xmp", "a/IMG_2.xmp"] {
        ann.put(new_file(name, NewFileContent::Sidecar(SidecarKind::Xmp, vec![]))).await.unwrap();
    }
    ann.junk("a/IMG_1.tmp", 1).await;
    let find = async |kind, folder: &str, prefix: &str, max| {
        let folder = path(folder);
        let found = ann.store().files_with_prefix(ann.account(), &folder, kind, prefix, max).await.unwrap();
        let names = found.into_iter().filter_map(|entry| entry.name);
        names.map(|name| name.as_str().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(find(PairedKind::Photo, "a", "IMG_1", 9).await, ["IMG_1.jpg", "IMG_10.jpg"]);
    assert_eq!(find(PairedKind::Photo, "a", "IMG_1", 1).await, ["IMG_1.jpg"]);
    assert_eq!(find(PairedKind::Photo, "a", "IMG_1.", 9).await, ["IMG_1.jpg"]);
    assert_eq!(find(PairedKind::Photo, "a", "", 9).await.len(), 4);
    assert_eq!(find(PairedKind::Sidecar, "a", "IMG_1", 9).await, ["IMG_1.jpg.xmp", "IMG_1.xmp"]);
    assert_eq!(find(PairedKind::Sidecar, "a", "IMG_1", 1).await, ["IMG_1.jpg.xmp"]);
    assert_eq!(find(PairedKind::Sidecar, "a", "", 9).await.len(), 3);
    for kind in [PairedKind::Photo, PairedKind::Sidecar] {
        for (folder, prefix) in [("a", "x"), ("none", "IMG"), ("IMG_1.jpg", "")] {
            assert_eq!(find(kind, folder, prefix, 9).await, [""; 0]);
        }
    }
}

pub(crate) async fn a_sidecar_is_stored_whole(seed: &Seed) {
    let ann = Files::new(seed).await;
    let content: Vec<u8> = (0..200_000_u32).flat_map(u32::to_le_bytes).collect();
    let sidecar = NewFileContent::Sidecar(SidecarKind::Takeout, content.clone());
    let id = ann.put(new_file("a.json", sidecar)).await.unwrap().entry.id;
    let read = async |id| ann.store().sidecar_content(ann.account(), id).await.unwrap();
    assert_eq!(read(id).await, Some(content));
    assert_eq!(read(ann.junk("b", 1).await.entry.id).await, None);
    assert_eq!(read(FileId(9_999_999)).await, None);
    ann.folder("c").await.unwrap();
    ann.rename(transfer("a.json", "c/a.json")).await.unwrap();
    ann.delete("c").await.unwrap();
    assert_eq!(read(id).await, None, "its folder is deleted");
    assert_eq!(ann.store().file_by_id(ann.account(), id).await.unwrap(), None);
}

pub(crate) async fn an_etag_never_names_two_states(seed: &Seed) {
    let ann = Files::new(seed).await;
    let mut seen: Vec<FileEntry> = Vec::new();
    let mut collect = async || {
        let entries = [ann.find("").await, ann.find("a").await, ann.find("b").await, ann.find("b/a").await];
        for entry in entries.into_iter().flatten() {
            let of_state = |entry: &FileEntry| FileEntry { name: None, ..entry.clone() };
            for other in seen.iter().filter(|other| etag(other) == etag(&entry)) {
                assert_eq!(of_state(other), of_state(&entry));
            }
            seen.push(entry);
        }
    };
    for bytes in [1, 2] {
        ann.junk("a", bytes).await;
        collect().await;
        ann.junk("a", bytes + 1).await;
        collect().await;
        ann.folder("b").await.unwrap();
        ann.rename(transfer("a", "b/a")).await.unwrap();
        collect().await;
        ann.copy(transfer("b/a", "a")).await.unwrap();
        collect().await;
        ann.rename(overwrite("b/a", "a")).await.unwrap();
        collect().await;
        ann.set_times("a", FileTimes { modified_at: Some(ann.at), created_at: None }).await.unwrap();
        collect().await;
        ann.delete("a").await.unwrap();
        ann.delete("b").await.unwrap();
        collect().await;
    }
    assert!(seen.len() > 20);
}

pub(crate) async fn only_one_concurrent_put_creates_the_file(seed: &Seed) {
    let ann = Files::new(seed).await;
    let outcomes = concurrently((0..16).map(|_| {
        let ann = ann.clone();
        async move {
            let original = ann.original().await;
            let condition = FileCondition::Absent;
            ann.put(NewFile { condition, ..ann.photo_file("a.jpg", original) }).await
        }
    }))
    .await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
    assert!(outcomes.iter().all(|outcome| outcome.is_ok() || *outcome == Err(FileRefusal::Condition)));

    let originals = concurrently((0..16).map(|_| {
        let ann = ann.clone();
        async move { ann.photo("b.jpg").await }
    }))
    .await;
    let entry = ann.entry("b.jpg").await;
    assert_eq!(entry.version, 16);
    let mut alive = Vec::new();
    for original in originals {
        alive.extend((ann.is_deleted(&original).await == Some(false)).then_some(original));
    }
    let FileKind::File(FileContent::Photo { original, .. }) = entry.kind else { panic!("{entry:?}") };
    assert_eq!(alive, [original], "only the image of the last one is left");
    assert_eq!(ann.entry("").await.bytes, 2 * ORIGINAL_BYTES);
}

/// The original of a photo.
fn original_of(entry: &FileEntry) -> Option<ContentHash> {
    match &entry.kind {
        FileKind::File(FileContent::Photo { original, .. }) => Some(*original),
        _ => None,
    }
}

pub(crate) async fn a_put_racing_the_deletion_of_its_folder_is_atomic(seed: &Seed) {
    let ann = Files::new(seed).await;
    ann.folder("a").await.unwrap();
    let tasks = (0..24).map(|number| {
        let ann = ann.clone();
        async move {
            if number % 8 == 7 {
                // Another deletion may have been first.
                let _outcome = ann.delete("a").await;
                return None;
            }
            let original = ann.original().await;
            let file = NewFile { create_folders: true, ..ann.photo_file(&format!("a/{number}"), original) };
            ann.put(file).await.unwrap();
            Some(original)
        }
    });
    let originals: Vec<_> = concurrently(tasks).await.into_iter().flatten().collect();
    ann.sweep().await;
    let mut listed = Vec::new();
    if ann.find("a").await.is_some() {
        listed = ann.list("a").await.members.iter().filter_map(original_of).collect();
    }
    for original in &originals {
        assert_eq!(ann.is_deleted(original).await, Some(!listed.contains(original)));
    }
    assert_eq!(ann.entry("").await.bytes, u64::try_from(listed.len()).unwrap() * ORIGINAL_BYTES);
}
