use storage::{FileContent, FileKind, FileLock, FileRefusal, FileTimes, MAX_FILE_LOCKS};

use crate::{
    Seed,
    file_tree::{Files, junk_file, overwrite, path, transfer},
    queries::second,
};

/// The outcomes of every change of a file and of its neighbourhood, each without effect on the next.
async fn changes(files: &Files, at: &str) -> Vec<Option<FileRefusal>> {
    let times = FileTimes { modified_at: Some(files.at), created_at: None };
    let aside = |at: &str| format!("{at} aside");
    vec![
        files.put(junk_file(at, 1)).await.err(),
        files.set_times(at, times).await.err(),
        files.rename(transfer(at, &aside(at))).await.err(),
        files.delete(at).await.err(),
    ]
}

const LOCKED: Option<FileRefusal> = Some(FileRefusal::Locked);

pub(crate) async fn a_locked_file_is_changed_only_with_its_token(seed: &Seed) {
    let ann = Files::new(seed).await;
    ann.folder("a").await.unwrap();
    ann.junk("a/x", 1).await;
    ann.junk("a/y", 1).await;
    assert!(!ann.lock("a/x", "token", false).await.unwrap().is_new);
    assert_eq!(changes(&ann, "a/x").await, [LOCKED; 4]);
    assert_eq!(ann.rename(overwrite("a/y", "a/x")).await.err(), LOCKED);
    assert_eq!(ann.copy(overwrite("a/y", "a/x")).await.err(), LOCKED);
    assert_eq!(ann.delete("a").await.err(), LOCKED, "it is below the folder");
    assert_eq!(ann.rename(transfer("a", "b")).await.err(), LOCKED);
    assert_eq!(changes(&ann.with_token("wrong"), "a/x").await, [LOCKED; 4]);
    ann.copy(transfer("a", "copy")).await.unwrap();
    assert_eq!(ann.locks("copy/x").await, [""; 0], "a lock is not copied");
    let holder = ann.with_token("token");
    holder.junk("a/x", 5).await;
    assert_eq!(ann.locks("a/x").await, ["token"], "it survives new content");
    holder.delete("a").await.unwrap();
    ann.folder("a").await.unwrap();
    assert!(ann.junk("a/x", 1).await.is_new);
}

pub(crate) async fn a_deep_lock_covers_everything_below(seed: &Seed) {
    let ann = Files::new(seed).await;
    ann.folders(&["a", "a/b"]).await;
    ann.junk("a/b/x", 1).await;
    ann.lock("a", "token", true).await.unwrap();
    assert_eq!(changes(&ann, "a/b/x").await, [LOCKED; 4]);
    assert_eq!(ann.put(junk_file("a/b/new", 1)).await.err(), LOCKED);
    assert_eq!(ann.folder("a/b/new").await.err(), LOCKED);
    assert_eq!(
        ann.set_times("a", FileTimes { modified_at: Some(ann.at), created_at: None }).await.err(),
        LOCKED
    );
    assert_eq!(
        (ann.locks("a/b/x").await, ann.locks("a/b/new/x").await),
        (vec!["token".to_owned()], vec!["token".to_owned()])
    );
    assert_eq!(changes(&ann.with_token("token"), "a/b/x").await[..2], [None, None]);
    ann.junk("beside", 1).await;
}

pub(crate) async fn a_shallow_lock_of_a_folder_covers_its_list_of_members(seed: &Seed) {
    let ann = Files::new(seed).await;
    ann.folders(&["a", "a/b"]).await;
    ann.junk("a/x", 1).await;
    ann.junk("a/b/y", 1).await;
    ann.lock("a", "token", false).await.unwrap();
    assert_eq!(changes(&ann, "a/x").await, [None, None, LOCKED, LOCKED]);
    for new in ["a/new", "a/b/c/d"] {
        let file = storage::NewFile { create_folders: true, ..junk_file(new, 1) };
        let expected = if new == "a/new" { LOCKED } else { None };
        assert_eq!(ann.put(file).await.err(), expected, "{new}");
    }
    let deep = storage::NewFile { create_folders: true, ..junk_file("a/new/x", 1) };
    assert_eq!(ann.put(deep).await.err(), LOCKED, "a folder would be added");
    assert_eq!(ann.copy(transfer("a/x", "a/z")).await.err(), LOCKED);
    ann.rename(transfer("a/b/y", "a/b/z")).await.unwrap();
    assert_eq!(ann.locks("a/x").await, [""; 0]);
    ann.with_token("token").delete("a/x").await.unwrap();
}

pub(crate) async fn locks_exclude_each_other(seed: &Seed) {
    let ann = Files::new(seed).await;
    ann.folders(&["a", "a/b"]).await;
    ann.junk("a/b/x", 1).await;
    ann.lock("a/b", "middle", false).await.unwrap();
    for files in [ann.clone(), ann.with_token("middle")] {
        assert_eq!(files.lock("a/b", "again", false).await.err(), LOCKED);
        assert_eq!(files.lock("a", "above", true).await.err(), LOCKED);
    }
    ann.lock("a", "above", false).await.unwrap();
    ann.lock("a/b/x", "below", true).await.unwrap();
    ann.folder("c").await.unwrap();
    ann.lock("c", "deep", true).await.unwrap();
    for files in [ann.clone(), ann.with_token("deep")] {
        assert_eq!(files.lock("c/new", "below", false).await.err(), LOCKED);
        assert_eq!(files.find("c/new").await, None);
    }
}

pub(crate) async fn locking_nothing_creates_a_placeholder(seed: &Seed) {
    let ann = Files::new(seed).await;
    let locked = ann.lock("new.jpg", "token", false).await.unwrap();
    assert!(locked.is_new);
    assert_eq!(locked.entry, ann.entry("new.jpg").await);
    assert_eq!(locked.entry.kind, FileKind::File(FileContent::Placeholder));
    assert_eq!(ann.lock("none/x", "other", false).await, Err(FileRefusal::NoParent));
    let original = ann.original().await;
    let written = ann.with_token("token").put_photo("new.jpg", original).await.unwrap();
    assert_eq!((written.entry.id, written.is_new), (locked.entry.id, false));
    ann.folder("a").await.unwrap();
    ann.lock("a", "folder", false).await.unwrap();
    assert_eq!(ann.lock("a/x", "inner", false).await.err(), LOCKED, "it would be added to a locked folder");
    assert!(ann.with_token("folder").lock("a/x", "inner", false).await.unwrap().is_new);
}

pub(crate) async fn a_lock_applies_until_it_expires(seed: &Seed) {
    let ann = Files::new(seed).await;
    ann.junk("a", 1).await;
    ann.lock("a", "token", false).await.unwrap();
    let expected = ann.new_lock("a", "token", false);
    let found = ann.store().file_locks(ann.account(), &path("a"), second(10)).await.unwrap();
    assert_eq!(found, std::slice::from_ref(&expected));
    let later = ann.at(10);
    assert_eq!(later.put(junk_file("a", 1)).await.err(), LOCKED);
    let refresh = async |files: &Files, at: &str, token: &str, until| {
        files.store().refresh_lock(files.change(), &path(at), token, second(until)).await.unwrap()
    };
    assert_eq!(refresh(&later, "a", "other", 20).await, None);
    assert_eq!(refresh(&later, "b", "token", 20).await, None);
    let extended = FileLock { expires_at: second(20), ..expected };
    assert_eq!(refresh(&later, "a", "token", 20).await, Some(extended));
    assert_eq!(ann.at(19).put(junk_file("a", 1)).await.err(), LOCKED);
    let expired = ann.at(20);
    assert_eq!(refresh(&expired, "a", "token", 30).await, None);
    assert_eq!(expired.locks("a").await, [""; 0]);
    let unlocked = expired.store().unlock_file(expired.change(), &path("a"), "token").await.unwrap();
    assert!(!unlocked);
    expired.junk("a", 1).await;
    expired.lock("a", "next", false).await.unwrap();
}

pub(crate) async fn a_lock_ends_by_its_token(seed: &Seed) {
    let ann = Files::new(seed).await;
    ann.folder("a").await.unwrap();
    ann.junk("a/x", 1).await;
    ann.lock("a", "deep", true).await.unwrap();
    let unlock =
        async |at: &str, token: &str| ann.store().unlock_file(ann.change(), &path(at), token).await.unwrap();
    assert!(!unlock("a/x", "other").await);
    assert!(!unlock("", "deep").await, "it does not apply there");
    let found = ann.store().file_locks(ann.account(), &path("a/x"), ann.at).await.unwrap();
    assert_eq!(found, [ann.new_lock("a", "deep", true)], "the path is that of the locked folder");
    assert!(unlock("a/x", "deep").await);
    assert!(!unlock("a/x", "deep").await);
    ann.junk("a/x", 2).await;
}

pub(crate) async fn locks_end_when_their_file_is_moved(seed: &Seed) {
    let ann = Files::new(seed).await;
    ann.folders(&["a", "a/b", "c"]).await;
    ann.junk("a/b/x", 1).await;
    ann.lock("a/b/x", "token", false).await.unwrap();
    ann.lock("c", "target", true).await.unwrap();
    let mut both = ann.with_token("token");
    both.lock_tokens.push("target".to_owned());
    assert_eq!(ann.with_token("token").rename(transfer("a", "c/a")).await.err(), LOCKED);
    assert_eq!(ann.with_token("target").rename(transfer("a", "c/a")).await.err(), LOCKED);
    both.rename(transfer("a", "c/a")).await.unwrap();
    assert_eq!(ann.locks("c/a/b/x").await, ["target"]);
}

pub(crate) async fn all_locks_are_listed_with_their_paths(seed: &Seed) {
    let (ann, ben) = (Files::new(seed).await, Files::new(seed).await);
    ann.folders(&["a", "a/b"]).await;
    let expected = [ann.new_lock("", "root", false), ann.new_lock("a/b/x", "file", true)];
    for lock in &expected {
        let root = lock.root.clone();
        ann.store().lock_file(ann.change(), lock.clone()).await.unwrap().unwrap();
        let held = ann.store().file_locks(ann.account(), &root, ann.at).await.unwrap();
        assert_eq!(held, std::slice::from_ref(lock));
    }
    ben.lock("x", "ben", false).await.unwrap();
    let mut listed = ann.store().account_locks(ann.account(), ann.at).await.unwrap();
    listed.sort_by_key(|lock| lock.root.clone());
    assert_eq!(listed, expected);
    assert_eq!(ann.store().account_locks(ann.account(), second(99)).await.unwrap(), []);
    ann.store().delete_account(ann.account(), second(2)).await.unwrap();
    assert_eq!(ann.store().account_locks(ann.account(), ann.at).await.unwrap(), []);
}

pub(crate) async fn an_account_has_a_limited_number_of_locks(seed: &Seed) {
    let ann = Files::new(seed).await;
    for number in 0..MAX_FILE_LOCKS {
        ann.lock(&number.to_string(), &format!("token {number}"), false).await.unwrap();
    }
    assert_eq!(ann.lock("more", "more", false).await, Err(FileRefusal::TooMany));
    assert_eq!(ann.find("more").await, None);
    let ben = Files::new(seed).await;
    ben.lock("0", "ben", false).await.unwrap();
    ann.at(99).lock("more", "more", false).await.unwrap();
}
