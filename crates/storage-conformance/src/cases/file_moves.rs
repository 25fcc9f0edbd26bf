use storage::{FileCondition, FileMove, FileRefusal};

use crate::{
    ORIGINAL_BYTES, Seed,
    file_tree::{Files, etag, overwrite, path, transfer},
};

pub(crate) async fn a_moved_folder_keeps_everything_below_it(seed: &Seed) {
    let ann = Files::new(seed).await;
    ann.folders(&["a", "a/b", "c"]).await;
    let original = ann.photo("a/b/x.jpg").await;
    ann.index().await;
    let (folder, file) = (ann.entry("a/b").await, ann.entry("a/b/x.jpg").await);
    let moved = ann.rename(transfer("a/b", "c/d")).await.unwrap();
    assert!(moved.is_new);
    assert_eq!((etag(&moved.entry), moved.entry.name.unwrap().as_str()), (etag(&folder), "d"));
    assert_eq!(ann.entry("c/d/x.jpg").await, file);
    assert_eq!(ann.find("a/b").await, None);
    assert_eq!((ann.entry("a").await.bytes, ann.entry("c").await.bytes), (0, ORIGINAL_BYTES));
    assert!(ann.image("c/d/x.jpg").await.unwrap().is_live);
    assert_eq!(ann.is_deleted(&original).await, Some(false));
}

pub(crate) async fn nothing_is_moved_into_itself(seed: &Seed) {
    let ann = Files::new(seed).await;
    ann.folders(&["a", "a/b", "ab"]).await;
    ann.junk("a/b/x", 1).await;
    for (from, to) in [("a", "a"), ("a", "a/b"), ("a", "a/b/c"), ("a/b", "a"), ("", "a"), ("a", "")] {
        assert_eq!(ann.rename(overwrite(from, to)).await, Err(FileRefusal::IntoItself), "{from} to {to}");
        assert_eq!(ann.copy(overwrite(from, to)).await, Err(FileRefusal::IntoItself), "{from} to {to}");
    }
    ann.rename(transfer("a", "ab/a")).await.unwrap();
    assert_eq!(ann.names("ab/a/b").await, ["x"]);
}

pub(crate) async fn a_destination_needs_its_folder(seed: &Seed) {
    let ann = Files::new(seed).await;
    ann.junk("a", 3).await;
    ann.junk("b", 1).await;
    let create = |to| FileMove { create_folders: true, ..transfer("a", to) };
    for to in ["c/a", "b/a"] {
        assert_eq!(ann.rename(transfer("a", to)).await, Err(FileRefusal::NoParent));
        assert_eq!(ann.copy(transfer("a", to)).await, Err(FileRefusal::NoParent));
    }
    assert_eq!(ann.rename(create("b/c/a")).await, Err(FileRefusal::NoParent));
    ann.copy(create("c/d/a")).await.unwrap();
    ann.rename(create("c/e/a")).await.unwrap();
    assert_eq!(ann.names("c").await, ["d", "e"]);
    assert_eq!(ann.entry("c").await.bytes, 6);
}

pub(crate) async fn a_destination_is_replaced_only_on_request(seed: &Seed) {
    let ann = Files::new(seed).await;
    ann.folders(&["folder", "folder/inner"]).await;
    let (a, b) = (ann.photo("a.jpg").await, ann.photo("b.jpg").await);
    for to in ["b.jpg", "folder"] {
        assert_eq!(ann.rename(transfer("a.jpg", to)).await, Err(FileRefusal::Exists));
        assert_eq!(ann.copy(transfer("a.jpg", to)).await, Err(FileRefusal::Exists));
    }
    let replaced = ann.entry("b.jpg").await;
    let other = (replaced.id, replaced.version + 1);
    let on = |condition| FileMove { condition, ..overwrite("a.jpg", "b.jpg") };
    for condition in [FileCondition::Absent, FileCondition::Version(vec![other])] {
        assert_eq!(ann.rename(on(condition.clone())).await, Err(FileRefusal::Condition));
        assert_eq!(ann.copy(on(condition)).await, Err(FileRefusal::Condition));
    }
    let id = ann.entry("a.jpg").await.id;
    let moved = ann.rename(on(FileCondition::Version(vec![etag(&replaced)]))).await.unwrap();
    assert_eq!((moved.entry.id, moved.is_new), (id, false));
    assert_eq!((ann.is_deleted(&a).await, ann.is_deleted(&b).await), (Some(false), Some(true)));
    assert_eq!(ann.rename(overwrite("b.jpg", "folder")).await.map(|moved| moved.is_new), Ok(false));
    ann.sweep().await;
    assert_eq!(ann.names("").await, ["folder"]);
    assert_eq!(ann.entry("").await.bytes, ORIGINAL_BYTES);
    let file_gone = ann.find("folder/inner").await;
    assert_eq!(file_gone, None);
}

pub(crate) async fn a_replaced_folder_loses_all_its_members(seed: &Seed) {
    let ann = Files::new(seed).await;
    ann.folders(&["a", "b"]).await;
    let (kept, lost) = (ann.photo("a/kept.jpg").await, ann.photo("b/lost.jpg").await);
    ann.put_photo("b/kept.jpg", kept).await.unwrap();
    ann.rename(overwrite("a", "b")).await.unwrap();
    ann.sweep().await;
    assert_eq!(ann.names("b").await, ["kept.jpg"]);
    assert_eq!((ann.is_deleted(&kept).await, ann.is_deleted(&lost).await), (Some(false), Some(true)));
    ann.folder("a").await.unwrap();
    ann.copy(overwrite("b", "a")).await.unwrap();
    ann.sweep().await;
    assert_eq!(
        (ann.names("a").await, ann.names("b").await),
        (vec!["kept.jpg".to_owned()], vec!["kept.jpg".to_owned()])
    );
}

pub(crate) async fn a_copy_is_a_new_tree(seed: &Seed) {
    let ann = Files::new(seed).await;
    ann.folders(&["a", "a/b", "a/b/c", "a/d"]).await;
    let original = ann.photo("a/b/x.jpg").await;
    for (file, bytes) in [("a/1", 1), ("a/b/2", 20), ("a/b/c/3", 300)] {
        ann.junk(file, bytes).await;
    }
    ann.put_partial("a/b/c/y.tmp", original).await.unwrap();
    let copy = ann.at(5).copy(transfer("a", "z")).await.unwrap();
    assert!(copy.is_new);
    assert_eq!(copy.entry.version, 1);
    for (folder, names) in [("", vec!["1", "b", "d"]), ("/b", vec!["2", "c", "x.jpg"]), ("/d", vec![])] {
        assert_eq!(ann.names(&format!("a{folder}")).await, names);
        assert_eq!(ann.names(&format!("z{folder}")).await, names);
        let (from, to) = (ann.entry(&format!("a{folder}")).await, ann.entry(&format!("z{folder}")).await);
        assert_eq!(from.bytes, to.bytes);
    }
    let (from, to) = (ann.entry("a/b/x.jpg").await, ann.entry("z/b/x.jpg").await);
    assert_ne!(from.id, to.id);
    assert_eq!((from.kind, from.bytes, from.times), (to.kind, to.bytes, to.times));
    assert_eq!(ann.entry("").await.bytes, 2 * (2 * ORIGINAL_BYTES + 321));
    ann.delete("a").await.unwrap();
    ann.sweep().await;
    assert_eq!(ann.is_deleted(&original).await, Some(false), "the copy has it");
    assert_eq!(ann.entry("z/b/c").await.bytes, ORIGINAL_BYTES + 300);
}

pub(crate) async fn no_entry_is_deeper_than_a_path_may_be(seed: &Seed) {
    let ann = Files::new(seed).await;
    let names: Vec<String> = (0..62).map(|level| level.to_string()).collect();
    let deep = names.join("/");
    ann.store().create_folder(ann.change(), &path(&deep), true).await.unwrap().unwrap();
    ann.folders(&["a", "a/b", "c"]).await;
    ann.junk("a/x", 1).await;
    ann.junk("a/b/y", 1).await;
    let to = format!("{deep}/a");
    assert_eq!(ann.rename(transfer("a", &to)).await, Err(FileRefusal::TooMany));
    assert_eq!(ann.copy(transfer("a", &to)).await, Err(FileRefusal::TooMany));
    assert_eq!(ann.find(&to).await, None);
    ann.delete("a/b/y").await.unwrap();
    ann.copy(transfer("a", &to)).await.unwrap();
    ann.delete(&to).await.unwrap();
    ann.rename(transfer("a", &to)).await.unwrap();
    assert_eq!(ann.names(&to).await, ["b", "x"]);
}
