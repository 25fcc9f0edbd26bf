use domain::Timestamp;
use storage::{FilePosition, FileTimes, LocatedFile, NewFile, RecentFiles};

use crate::{
    Seed,
    file_tree::{Files, junk_file, path, transfer},
    queries::second,
};

const ALL: (Timestamp, FilePosition) = (Timestamp::MIN, FilePosition::after(Timestamp::MAX));

/// Puts a file with this modification time.
async fn put(files: &Files, at: &str, modified_at: Option<i64>) {
    let times = FileTimes { modified_at: modified_at.map(second), created_at: None };
    files.put(NewFile { times, ..junk_file(at, 1) }).await.unwrap();
}

async fn page(files: &Files, since: Timestamp, before: FilePosition, max: u32) -> RecentFiles {
    files.store().recent_files(files.account(), since, before, max).await.unwrap()
}

fn paths(files: &[LocatedFile]) -> Vec<String> {
    files.iter().map(|file| file.path.to_string()).collect()
}

/// All paths, read in pages of this length.
async fn all(files: &Files, max: u32) -> Vec<String> {
    let (since, mut before) = ALL;
    let mut found = Vec::new();
    loop {
        let page = page(files, since, before, max).await;
        found.extend(paths(&page.files));
        let Some(next) = page.next else { return found };
        assert!(next < before);
        before = next;
    }
}

pub(crate) async fn files_are_paged_from_the_newest_to_the_oldest(seed: &Seed) {
    let ann = Files::new(seed).await;
    ann.at(7).folders(&["a", "a/b"]).await;
    put(&ann, "a/b/middle", Some(5)).await;
    put(&ann, "newest", Some(9)).await;
    put(&ann, "a/oldest", Some(-9)).await;
    put(&ann, "second", Some(5)).await;
    // A file that was sent without a modification time has the time of its arrival.
    put(&ann.at(6), "a/arrived", None).await;
    let expected = ["/newest", "/a/b", "/a", "/a/arrived", "/second", "/a/b/middle", "/a/oldest"];
    for max in [1, 2, 3, 100] {
        assert_eq!(all(&ann, max).await, expected, "in pages of {max}");
    }
    let whole = page(&ann, ALL.0, ALL.1, 100).await.files;
    for file in whole {
        assert_eq!(ann.entry(&file.path.to_string()).await, file.entry);
    }
}

pub(crate) async fn recent_files_are_between_two_times(seed: &Seed) {
    let ann = Files::new(seed).await;
    for at in 1..=5 {
        put(&ann, &at.to_string(), Some(at)).await;
    }
    let between = async |since, until| {
        let page = page(&ann, since, FilePosition::after(until), 100).await;
        assert_eq!(page.next, None);
        paths(&page.files)
    };
    assert_eq!(between(second(2), second(4)).await, ["/4", "/3", "/2"]);
    let just_outside = between(second(2).plus_millis(1), second(4).plus_millis(-1)).await;
    assert_eq!(just_outside, ["/3"]);
    assert_eq!(between(second(4), second(2)).await, [""; 0]);
    let newest = page(&ann, second(2), ALL.1, 1).await;
    assert_eq!(
        (paths(&newest.files), newest.next.map(|next| next.modified_at)),
        (vec!["/5".to_owned()], Some(second(5)))
    );
}

pub(crate) async fn files_that_left_the_tree_are_not_recent(seed: &Seed) {
    let ann = Files::new(seed).await;
    let ben = Files::new(seed).await;
    put(&ben, "other", Some(9)).await;
    ann.at(0).folders(&["kept", "gone", "gone/deep"]).await;
    put(&ann, "kept/x", Some(1)).await;
    put(&ann, "gone/deep/y", Some(2)).await;
    put(&ann, "z", Some(3)).await;
    ann.delete("gone").await.unwrap();
    ann.delete("z").await.unwrap();
    for max in [1, 100] {
        assert_eq!(all(&ann, max).await, ["/kept/x", "/kept"]);
    }
    ann.sweep().await;
    assert_eq!(all(&ann, 100).await, ["/kept/x", "/kept"]);
    assert_eq!(all(&ben, 100).await, ["/other"]);
    ann.store().delete_account(ann.account(), ann.at).await.unwrap();
    assert_eq!(all(&ann, 100).await, [""; 0]);
}

pub(crate) async fn a_change_of_times_and_a_move_are_seen_at_once(seed: &Seed) {
    let ann = Files::new(seed).await;
    ann.at(0).folders(&["a", "b"]).await;
    put(&ann, "a/x", Some(1)).await;
    put(&ann, "a/y", Some(2)).await;
    ann.set_times("a/x", FileTimes { modified_at: Some(second(3)), created_at: None }).await.unwrap();
    ann.rename(transfer("a", "b/c")).await.unwrap();
    assert_eq!(all(&ann, 100).await[..2], ["/b/c/x", "/b/c/y"]);
}

pub(crate) async fn a_file_is_located_by_its_id(seed: &Seed) {
    let ann = Files::new(seed).await;
    let ben = Files::new(seed).await;
    ann.folders(&["a", "a/b"]).await;
    put(&ann, "a/b/x", None).await;
    for at in ["", "a", "a/b/x"] {
        let entry = ann.entry(at).await;
        let id = entry.id;
        let located = ann.store().located_file(ann.account(), id).await.unwrap();
        assert_eq!(located, Some(LocatedFile { path: path(at), entry }));
        assert_eq!(ben.store().located_file(ben.account(), id).await.unwrap(), None);
    }
    let id = ann.entry("a/b/x").await.id;
    ann.delete("a").await.unwrap();
    assert_eq!(ann.store().located_file(ann.account(), id).await.unwrap(), None);
}
