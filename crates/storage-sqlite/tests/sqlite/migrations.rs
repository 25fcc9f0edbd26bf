use std::path::Path;

use diesel::{
    Connection, QueryableByName, RunQueryDsl, SqliteConnection, sql_query,
    sql_types::{BigInt, Binary, Nullable, Text},
};
use domain::{BlobKind, FilePath, Filter, MapArea, Plan, Rendition};
use storage::{
    AccountStore, BlobRegistry, FileChange, FileCondition, FileStore, FileTimes, ImageStore, IndexQueue,
    IntegrityStore, Lookup, MapStore, NameKind, NewFile, NewFileContent, SchemaStore, StoreRule, UploadStore,
};
use storage_conformance::{NOW, ORIGINAL_BYTES, Photo, Seed, original_blob, random_photos, rendition_blob};
use storage_sqlite::SqliteStore;
use tempfile::TempDir;

use crate::{broken_rows::break_rows, fresh_store, open};

#[derive(Debug, PartialEq, QueryableByName)]
struct Object {
    #[diesel(sql_type = Text)]
    name: String,
    #[diesel(sql_type = Nullable<Text>)]
    sql: Option<String>,
}

/// The schema, without the tables that diesel and SQLite manage.
fn schema(path: &Path) -> Vec<Object> {
    let mut connection = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
    sql_query(
        "SELECT name, sql FROM sqlite_master
        WHERE tbl_name <> '__diesel_schema_migrations' AND name NOT LIKE 'sqlite\\_sequence' ESCAPE '\\'
        ORDER BY name",
    )
    .load(&mut connection)
    .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn reverting_and_migrating_again_restores_the_schema() {
    let (store, folder) = fresh_store().await;
    let path = folder.path().join("library.sqlite");
    let up = schema(&path);
    assert!(up.iter().any(|object| object.name == "images"));
    let seed = Seed::new(std::sync::Arc::new(store.clone()));
    let ann = seed.account(Plan::Paid).await;
    seed.images(ann.account, random_photos(20, NOW, 1)).await;

    let mut reverted = Vec::new();
    while let Some(name) = store.revert_migration().await.unwrap() {
        reverted.push(name);
    }
    assert_eq!(schema(&path), [], "nothing is left, even of a filled library");
    let pending = store.pending_migrations().await.unwrap();
    reverted.reverse();
    assert_eq!(reverted, pending);
    assert_eq!(store.migrate().await.unwrap(), pending);
    assert_eq!(schema(&path), up);
    assert_eq!(store.pending_migrations().await.unwrap(), Vec::<String>::new());
    assert_eq!(store.migrate().await.unwrap(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn images_survive_reverted_and_repeated_migrations() {
    let (store, folder) = fresh_store().await;
    let path = folder.path().join("library.sqlite");
    let up = schema(&path);
    let seed = Seed::new(std::sync::Arc::new(store.clone()));
    let ann = seed.account(Plan::Paid).await;
    let ids = seed.images(ann.account, random_photos(20, NOW, 1)).await;
    let waiting = seed.waiting(ann.account, 1).await;
    store.requeue_outdated(9, NOW, 5).await.unwrap();
    for _ in 1..count_migrations(&store).await {
        store.revert_migration().await.unwrap().unwrap();
    }
    store.migrate().await.unwrap();
    assert_eq!(schema(&path), up);
    for id in &ids {
        assert!(matches!(store.image(ann, id).await.unwrap(), Lookup::Found(_)));
    }
    let jobs = seed.lease("w", NOW).await;
    let images: Vec<_> = jobs.into_iter().map(|job| job.image).collect();
    assert_eq!(images, waiting, "an older version expects no jobs of ready images");
}

#[tokio::test(flavor = "multi_thread")]
async fn existing_images_are_added_to_the_map() {
    let (store, _folder) = fresh_store().await;
    let seed = Seed::new(std::sync::Arc::new(store.clone()));
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let ids = seed.images(ann.account, random_photos(300, NOW, 1)).await;
    seed.images(ben.account, random_photos(30, NOW, 2)).await;
    store.delete_image(ann, &ids[4], NOW).await.unwrap();
    let before = store.map_clusters(ann, MapArea::WORLD, 5).await.unwrap();
    while !store.pending_migrations().await.unwrap().iter().any(|name| name.ends_with("_map")) {
        store.revert_migration().await.unwrap().unwrap();
    }
    store.migrate().await.unwrap();
    assert_eq!(store.map_clusters(ann, MapArea::WORLD, 5).await.unwrap(), []);
    let late = seed.image(ben.account, Photo::at_second(1).position(1.0, 2.0)).await;
    let mut batches = Vec::new();
    for _ in 0..4 {
        batches.push(store.fill_map(150).await.unwrap());
        for rule in [StoreRule::MapPoint, StoreRule::MapCells] {
            assert_eq!(store.check_rule(rule, None, 1000).await.unwrap().violations, [], "{rule:?}");
        }
    }
    assert_eq!(batches, [150, 150, 30, 0]);
    assert_eq!(store.map_clusters(ann, MapArea::WORLD, 5).await.unwrap(), before);
    store.delete_image(ben, &late, NOW).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn photos_from_before_the_migration_get_their_cameras() {
    let (store, _folder) = fresh_store().await;
    let seed = Seed::new(std::sync::Arc::new(store.clone()));
    let ann = seed.account(Plan::Paid).await;
    seed.images(ann.account, random_photos(20, NOW, 1)).await;
    let cameras = store.names(ann, NameKind::Camera, 10).await.unwrap();
    assert_eq!(cameras.len(), 4, "{cameras:?}");
    while !store.pending_migrations().await.unwrap().iter().any(|name| name.ends_with("_cameras")) {
        store.revert_migration().await.unwrap().unwrap();
    }
    store.migrate().await.unwrap();
    assert_eq!(store.names(ann, NameKind::Camera, 10).await.unwrap(), cameras);
}

/// The number of migrations. Checks that all of them are applied.
async fn count_migrations(store: &SqliteStore) -> usize {
    assert!(store.pending_migrations().await.unwrap().is_empty());
    let folder = TempDir::new().unwrap();
    open(&folder.path().join("library.sqlite")).await.pending_migrations().await.unwrap().len()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_migration_queues_full_renditions_of_existing_images() {
    let (store, _folder) = fresh_store().await;
    let seed = Seed::new(std::sync::Arc::new(store.clone()));
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let photos: Vec<Photo> = (0..6).map(|at| Photo::at_second(at).original(seed.hash())).collect();
    let ids = seed.images(ann.account, photos.clone()).await;
    // The third image already has a full rendition, the fifth is deleted, and another account also has the first.
    let full = seed.rendition(Rendition::Full, photos[2].size);
    seed.announce(&[rendition_blob(&full)]).await;
    let original = |at: usize| photos[at].original.unwrap();
    assert!(store.add_rendition(&original(2), full).await.unwrap());
    store.delete_image(ann, &ids[4], NOW).await.unwrap();
    seed.image(ben.account, photos[0].clone()).await;
    seed.waiting(ann.account, 1).await;
    let gone = seed.account(Plan::Paid).await;
    seed.image(gone.account, Photo::at_second(1)).await;
    store.delete_account(gone.account, NOW).await.unwrap();

    while !store.pending_migrations().await.unwrap().iter().any(|name| name.contains("full_renditions")) {
        store.revert_migration().await.unwrap().unwrap();
    }
    store.migrate().await.unwrap();
    let jobs = seed.lease_renditions("w", NOW).await;
    let originals: Vec<_> = jobs.into_iter().map(|job| job.original).collect();
    assert_eq!(originals, [0, 5, 3, 1].map(original));
}

#[derive(Debug, PartialEq, QueryableByName)]
struct RenditionColumns {
    #[diesel(sql_type = Binary)]
    original: Vec<u8>,
    #[diesel(sql_type = Text)]
    name: String,
    #[diesel(sql_type = Binary)]
    blob: Vec<u8>,
    #[diesel(sql_type = BigInt)]
    bytes: i64,
    #[diesel(sql_type = BigInt)]
    width: i64,
    #[diesel(sql_type = BigInt)]
    height: i64,
}

fn renditions(path: &Path) -> Vec<RenditionColumns> {
    let mut connection = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
    sql_query("SELECT * FROM renditions ORDER BY original, name").load(&mut connection).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn renditions_survive_the_rebuild_of_their_table() {
    let (store, folder) = fresh_store().await;
    let path = folder.path().join("library.sqlite");
    let seed = Seed::new(std::sync::Arc::new(store.clone()));
    let ann = seed.account(Plan::Paid).await;
    seed.images(ann.account, random_photos(20, NOW, 1)).await;
    let mut stored = renditions(&path);
    assert_eq!(stored.len(), 60);
    // The older schema cannot store previews.
    stored.retain(|rendition| rendition.name != Rendition::Preview.name());

    let is_rebuild = |name: &String| name.contains("rendition_names");
    while !store.pending_migrations().await.unwrap().iter().any(is_rebuild) {
        store.revert_migration().await.unwrap().unwrap();
    }
    assert_eq!(renditions(&path), stored);
    let mut connection = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
    let mut rename = || {
        sql_query("UPDATE renditions SET name = 'webp-tiny' WHERE name = 'webp-thumb'")
            .execute(&mut connection)
    };
    assert!(rename().is_err(), "an older schema restricts the names");
    store.migrate().await.unwrap();
    assert_eq!(renditions(&path), stored);
    assert_eq!(rename().unwrap(), 20);
}

#[tokio::test(flavor = "multi_thread")]
async fn accounts_from_before_photo_sync_get_a_root_folder_and_their_bytes() {
    let (store, folder) = fresh_store().await;
    let path = folder.path().join("library.sqlite");
    let seed = Seed::new(std::sync::Arc::new(store.clone()));
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    seed.images(ann.account, random_photos(3, NOW, 1)).await;
    let put = async |at: &str, content| {
        let file = NewFile {
            path: FilePath::parse(at).unwrap(),
            content,
            bytes: ORIGINAL_BYTES,
            times: FileTimes::default(),
            sha1: None,
            create_folders: true,
            condition: FileCondition::Any,
        };
        let change = FileChange { account: ann.account, lock_tokens: Vec::new(), at: NOW, quota_bytes: None };
        store.put_file(change, file).await.unwrap().unwrap()
    };
    let (photo, original) = (seed.new_image(ann.account, &Photo::at_second(9)), seed.hash());
    seed.announce(&[original_blob(&photo.original), original_blob(&original)]).await;
    put("a/b/x.jpg", NewFileContent::Photo(photo)).await;
    let media_type = "image/jpeg";
    put("a/x.tmp", NewFileContent::Partial { original, media_type }).await;
    assert_eq!(store.stored_bytes(ann.account).await.unwrap(), 5 * ORIGINAL_BYTES);
    assert_eq!(store.kept_blobs(BlobKind::Original, None, 9).await.unwrap().len(), 5);

    while !store.pending_migrations().await.unwrap().iter().any(|name| name.contains("photo_sync")) {
        store.revert_migration().await.unwrap().unwrap();
    }
    let mut connection = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
    assert!(sql_query("SELECT 1 FROM files").execute(&mut connection).is_err(), "the table is gone");
    store.migrate().await.unwrap();
    assert_eq!(store.kept_blobs(BlobKind::Original, None, 9).await.unwrap().len(), 4);
    for (account, bytes) in [(ann.account, 4 * ORIGINAL_BYTES), (ben.account, 0)] {
        assert_eq!(store.stored_bytes(account).await.unwrap(), bytes);
        let root = store.list_files(account, &FilePath::ROOT).await.unwrap().unwrap();
        assert_eq!((root.entry.bytes, root.members), (0, Vec::new()));
    }
    put("a/b/x.jpg", NewFileContent::Junk).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_stores_can_migrate_a_new_file() {
    for _ in 0..3 {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("library.sqlite");
        let migrating: Vec<_> = (0..8)
            .map(|_| {
                let path = path.clone();
                tokio::spawn(async move { open(&path).await.migrate().await.unwrap().len() })
            })
            .collect();
        let mut applied = Vec::new();
        for task in migrating {
            applied.push(task.await.unwrap());
        }
        assert_eq!(
            applied.iter().filter(|count| **count > 0).count(),
            1,
            "one store applied all: {applied:?}"
        );
        assert_eq!(open(&path).await.pending_migrations().await.unwrap(), Vec::<String>::new());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_store_reports_all_migrations_as_pending() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder.path().join("library.sqlite")).await;
    let pending = store.pending_migrations().await.unwrap();
    assert_eq!(pending.first().map(String::as_str), Some("2026-11-21-000001_create_library"));
    assert_eq!(store.revert_migration().await.unwrap(), None);
    assert_eq!(store.migrate().await.unwrap(), pending);
}

#[tokio::test(flavor = "multi_thread")]
async fn photos_from_before_the_migration_get_their_places_and_regions() {
    let (store, _folder) = fresh_store().await;
    let seed = Seed::new(std::sync::Arc::new(store.clone()));
    let ann = seed.account(Plan::Paid).await;
    let munich = |at| Photo::at_second(at).place("Munich, Germany").position(48.137, 11.575);
    let ids = seed.images(ann.account, (0..5).map(munich).collect()).await;
    store.delete_image(ann, &ids[4], NOW).await.unwrap();
    let regions = async |name: &str| {
        let filter = Filter { regions: Some(vec![name.to_owned()]), ..Filter::default() };
        store.filter_images(ann, &filter, domain::Limit::default()).await.unwrap().len()
    };
    while !store.pending_migrations().await.unwrap().iter().any(|name| name.ends_with("_marks")) {
        store.revert_migration().await.unwrap().unwrap();
    }
    store.migrate().await.unwrap();
    let places = async || {
        let names =
            store.names_like(ann.account, &[NameKind::Place], &["munich".to_owned()], 9).await.unwrap();
        names.into_iter().map(|(_, name)| name).collect::<Vec<_>>()
    };
    assert_eq!(places().await, [""; 0]);
    assert_eq!((regions("Germany").await, regions("Bavaria, Germany").await), (4, 0));
    let mut batches = Vec::new();
    for expected in [1, 3, 4, 4] {
        batches.push(store.fill_regions(2).await.unwrap());
        assert_eq!((regions("Germany").await, regions("Bavaria, Germany").await), (4, expected));
        assert_eq!(places().await, ["Munich, Germany"]);
    }
    assert_eq!(batches, [2, 2, 1, 0]);
    assert_eq!(store.check_rule(StoreRule::AlbumCopies, None, 1000).await.unwrap().violations, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn images_that_an_older_program_adds_to_an_album_come_last() {
    let (store, folder) = fresh_store().await;
    let forget = async || break_rows(&folder, "UPDATE album_images SET position = 0");
    let seed = Seed::new(std::sync::Arc::new(store));
    storage_conformance::images_of_an_older_program_come_last(&seed, forget).await;
}
