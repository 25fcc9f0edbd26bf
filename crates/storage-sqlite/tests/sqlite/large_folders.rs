use std::{cmp::Reverse, path::Path, sync::Arc, time::Instant};

use diesel::{Connection, SqliteConnection, connection::SimpleConnection};
use domain::{FilePath, Plan, Timestamp};
use storage::{
    FileChange, FileCondition, FileContent, FileKind, FileMove, FilePosition, FileRefusal, FileStore,
    ImageStore, MAX_COPIED_FILES,
};
use storage_conformance::{NOW, Photo, Seed};

use crate::fresh_store;

fn run(path: &Path, sql: &str) {
    let mut connection = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
    connection.batch_execute("PRAGMA busy_timeout = 10000").unwrap();
    connection.batch_execute(sql).unwrap();
}

/// Several photos, because a photo may have only a limited number of files.
const PHOTOS: i64 = 30;

/// Inserts this many files of the images into a folder. This is faster than through the store.
fn fill(path: &Path, folder: &str, count: u32) {
    run(
        path,
        &format!(
            "WITH RECURSIVE numbers (number) AS (
                SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < {count}
            )
            INSERT INTO files (
                account_id, parent_id, name, kind, bytes, version, received_at_ms, original, image_seq
            )
            SELECT f.account_id, f.id, printf('IMG_%06d.jpg', number), 'photo', 5, 1, 0, i.original, i.seq
            FROM numbers, files AS f, images AS i
            WHERE f.name = '{folder}' AND i.seq = (SELECT min(seq) FROM images) + number % {PHOTOS};
            UPDATE files SET bytes = 5 * {count} WHERE name IN ('', '{folder}')"
        ),
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_folder_is_listed_moved_copied_and_swept() {
    const COUNT: u32 = MAX_COPIED_FILES - 1;
    let (store, guard) = fresh_store().await;
    let file = guard.path().join("library.sqlite");
    let seed = Seed::new(Arc::new(store.clone()));
    let ann = seed.account(Plan::Paid).await;
    let ids = seed.images(ann.account, (0..PHOTOS).map(Photo::at_second).collect()).await;
    let path = |path| FilePath::parse(path).unwrap();
    let change = || FileChange { account: ann.account, lock_tokens: Vec::new(), at: NOW, quota_bytes: None };
    store.create_folder(change(), &path("a"), false).await.unwrap().unwrap();
    fill(&file, "a", COUNT);

    let started = Instant::now();
    let listing = store.list_files(ann.account, &path("a")).await.unwrap().unwrap();
    println!("listed {COUNT} files in {:?}", started.elapsed());
    assert_eq!(listing.members.len(), COUNT as usize);
    let is_live = |kind: &FileKind| matches!(kind, FileKind::File(FileContent::Photo { image: Some(image), .. }) if image.is_live);
    assert!(listing.members.iter().all(|member| is_live(&member.kind)));
    assert!(listing.members.is_sorted_by_key(|member| member.name.clone()));

    // All files have the same modification time, so the pages need a second key.
    let started = Instant::now();
    let mut next = Some(FilePosition::after(NOW));
    let mut visited = 0;
    while let Some(before) = next {
        let page = store.recent_files(ann.account, Timestamp::MIN, before, 500).await.unwrap();
        assert!(page.files.is_sorted_by_key(|file| Reverse(FilePosition::of(&file.entry))));
        visited += page.files.len();
        next = page.next;
    }
    println!("visited {visited} files by time in {:?}", started.elapsed());
    assert_eq!(visited, COUNT as usize + 1, "the files and their folder");

    let to = |from, to| FileMove {
        from: path(from),
        to: path(to),
        overwrite: false,
        create_folders: true,
        condition: FileCondition::Any,
        image: None,
    };
    let started = Instant::now();
    store.move_file(change(), to("a", "x/y/b")).await.unwrap().unwrap();
    println!("moved them in {:?}", started.elapsed());
    let started = Instant::now();
    store.copy_file(change(), to("x/y/b", "c")).await.unwrap().unwrap();
    println!("copied them in {:?}", started.elapsed());
    store.delete_file(change(), &path("x"), FileCondition::Any).await.unwrap().unwrap();
    assert_eq!(store.sweep_deleted_files(None, NOW, 2 * COUNT).await.unwrap(), COUNT + 3);
    assert!(matches!(store.image(ann, &ids[0]).await.unwrap(), storage::Lookup::Found(_)));
    store.delete_file(change(), &path("c"), FileCondition::Any).await.unwrap().unwrap();
    let started = Instant::now();
    assert_eq!(store.sweep_deleted_files(None, NOW, 2 * COUNT).await.unwrap(), COUNT + 1);
    println!("swept them in {:?}", started.elapsed());
    assert_eq!(store.image(ann, &ids[0]).await.unwrap(), storage::Lookup::Missing);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_with_too_many_files_is_not_copied() {
    let (store, guard) = fresh_store().await;
    let file = guard.path().join("library.sqlite");
    let seed = Seed::new(Arc::new(store.clone()));
    let ann = seed.account(Plan::Paid).await;
    seed.images(ann.account, (0..PHOTOS).map(Photo::at_second).collect()).await;
    let path = |path| FilePath::parse(path).unwrap();
    let change = || FileChange { account: ann.account, lock_tokens: Vec::new(), at: NOW, quota_bytes: None };
    store.create_folder(change(), &path("a"), false).await.unwrap().unwrap();
    fill(&file, "a", MAX_COPIED_FILES);
    let to = FileMove {
        from: path("a"),
        to: path("b"),
        overwrite: false,
        create_folders: false,
        condition: FileCondition::Any,
        image: None,
    };
    let copied = store.copy_file(change(), to.clone()).await.unwrap();
    assert_eq!(copied, Err(FileRefusal::TooMany), "the folder counts, too");
    assert_eq!(store.file(ann.account, &path("b")).await.unwrap(), None);
    store.delete_file(change(), &path("a/IMG_000007.jpg"), FileCondition::Any).await.unwrap().unwrap();
    store.copy_file(change(), to).await.unwrap().unwrap();
    let copied = store.file(ann.account, &path("b")).await.unwrap().unwrap();
    assert_eq!(copied.bytes, 5 * u64::from(MAX_COPIED_FILES - 1));
}
