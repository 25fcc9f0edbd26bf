//! Rows that are broken on purpose are found, and no others. Repairs restore the rules.

use std::sync::Arc;

use diesel::{Connection as _, RunQueryDsl as _, SqliteConnection, connection::SimpleConnection as _};
use domain::Plan;
use storage::{CheckDepth, ImageStore as _, IntegrityStore as _, NewVector, RuleRow, StoreRule, Violation};
use storage_conformance::{NOW, Photo, Seed, random_photos};
use storage_sqlite::SqliteStore;
use tempfile::TempDir;

use crate::fresh_store;

/// A store with images of two accounts, an album, deleted and pending images, and vectors.
async fn seeded() -> (SqliteStore, Seed, TempDir) {
    let (store, folder) = fresh_store().await;
    let seed = Seed::new(Arc::new(store.clone()));
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Free).await);
    seed.images(ben.account, random_photos(20, NOW, 3)).await;
    let mut photos = random_photos(30, NOW, 1);
    photos.push(Photo::at_second(1).position(-89.9, 179.99).description("a lighthouse").file_name("one.jpg"));
    let ids = seed.images(ann.account, photos).await;
    seed.album(ann, "Album", &ids[5..25]).await;
    for id in &ids[..10] {
        store.delete_image(ann, id, NOW).await.unwrap();
    }
    seed.waiting(ann.account, 2).await;
    embed(&seed).await;
    (store, seed, folder)
}

/// Stores a vector of every ready image.
async fn embed(seed: &Seed) {
    let store = seed.store();
    let stage = store.open_stage("look", "v1", 1, storage::VersionPolicy::Replace).await.unwrap();
    while store.backfill_stage(stage.id, storage::BackfillFilter::All, 100).await.unwrap() {}
    for job in store.lease_stage_jobs(stage.id, storage_conformance::lease("w", NOW)).await.unwrap() {
        let vector = NewVector { encoder: "e".to_owned(), vector: vec![0; 4] };
        let outcome = storage::StageOutcome::Vectors(vec![vector]);
        assert!(store.complete_stage_job(job.id, "w", "v1", outcome).await.unwrap());
    }
}

/// Changes rows in a way in which no operation does.
pub(crate) fn break_rows(folder: &TempDir, sql: &str) {
    let path = folder.path().join("library.sqlite");
    let mut connection = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
    connection.batch_execute("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON").unwrap();
    connection.batch_execute(sql).unwrap();
}

/// All violations of a rule, read in small batches.
pub(crate) async fn violations(store: &SqliteStore, rule: StoreRule) -> Vec<Violation> {
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let page = store.check_rule(rule, after, 7).await.unwrap();
        assert!(page.checked <= 7);
        all.extend(page.violations);
        let Some(last) = page.last else { return all };
        assert!(after < Some(last), "the walk advances");
        after = Some(last);
    }
}

/// The rules that are broken, with the number of rows.
pub(crate) async fn broken(store: &SqliteStore) -> Vec<(StoreRule, usize)> {
    let mut broken = Vec::new();
    for rule in StoreRule::ALL {
        let found = violations(store, rule).await.len();
        if found > 0 {
            broken.push((rule, found));
        }
    }
    broken
}

pub(crate) async fn repair(store: &SqliteStore, rule: StoreRule) {
    let rows: Vec<RuleRow> = violations(store, rule).await.iter().map(|found| found.row).collect();
    store.repair_rule(rule, &rows, NOW).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sound_store_breaks_no_rule() {
    let (store, _seed, _folder) = seeded().await;
    assert_eq!(broken(&store).await, []);
    assert_eq!(violations(&store, StoreRule::RenditionsExist).await, []);
    for depth in [CheckDepth::Quick, CheckDepth::Full] {
        assert_eq!(store.check_structure(depth, 10).await.unwrap(), [""; 0]);
    }
    assert_eq!(store.check_references(10).await.unwrap(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn each_broken_rule_is_found_and_repaired() {
    let one = "(SELECT seq FROM images WHERE file_name = 'one.jpg')";
    let original = format!("(SELECT original FROM images WHERE seq = {one})");
    let medium = "name = 'webp-medium'";
    for (rule, found, sql) in [
        (
            StoreRule::OriginalIsKept,
            1,
            format!("DELETE FROM blobs WHERE kind = 'original' AND hash = {original}"),
        ),
        (StoreRule::OriginalIsKept, 1, format!("UPDATE blobs SET state = 'pending' WHERE hash = {original}")),
        (
            StoreRule::OriginalIsKept,
            1,
            format!("UPDATE blobs SET state = 'removing' WHERE hash = {original}"),
        ),
        (StoreRule::OriginalIsKept, 1, format!("UPDATE blobs SET bytes = 7 WHERE hash = {original}")),
        (
            StoreRule::RenditionsAreKept,
            1,
            format!(
                "DELETE FROM blobs WHERE kind = 'rendition'
                    AND hash = (SELECT blob FROM renditions WHERE original = {original} AND {medium})"
            ),
        ),
        (
            StoreRule::RenditionsExistOrQueued,
            1,
            format!("DELETE FROM renditions WHERE original = {original} AND {medium}"),
        ),
        (StoreRule::PendingImageHasJob, 2, "DELETE FROM index_jobs".to_owned()),
        (StoreRule::ImageCount, 2, "UPDATE accounts SET live_images = live_images + id".to_owned()),
        (StoreRule::AlbumCopies, 15, "UPDATE album_images SET captured_at_ms = 5 WHERE live = 1".to_owned()),
        (StoreRule::AlbumCopies, 5, "UPDATE album_images SET live = 1".to_owned()),
        (
            StoreRule::Regions,
            1,
            format!(
                "INSERT INTO facets (account_id, kind, key, name)
                    SELECT account_id, 'region', 'Atlantis', 'Atlantis' FROM images WHERE seq = {one};
                INSERT INTO image_facets SELECT f.id, i.seq, i.captured_at_ms, i.live FROM facets AS f
                    JOIN images AS i ON f.key = 'Atlantis' AND i.seq = {one}"
            ),
        ),
        (StoreRule::PlaceIndex, 1, format!("DELETE FROM image_places WHERE seq = {one}")),
        (
            StoreRule::PlaceIndex,
            1,
            format!("UPDATE image_places SET min_latitude = -89.8, max_latitude = -89.8 WHERE seq = {one}"),
        ),
        (
            StoreRule::PlaceIndex,
            1,
            format!("UPDATE image_places SET min_account = 9, max_account = 9 WHERE seq = {one}"),
        ),
        (StoreRule::MapPoint, 1, format!("UPDATE map_points SET code = 9 WHERE image_seq = {one}")),
        (StoreRule::MapPoint, 1, format!("DELETE FROM map_points WHERE image_seq = {one}")),
        (
            StoreRule::MapCells,
            1,
            "INSERT INTO map_cells SELECT min(id), 1, 70, 5, 5, 5 FROM accounts".to_owned(),
        ),
        (StoreRule::WordIndex, 1, format!("DELETE FROM indexed_words WHERE image_seq = {one}")),
        (StoreRule::WordIndex, 1, format!("UPDATE images SET description = 'a boat' WHERE seq = {one}")),
        (
            StoreRule::WordIndex,
            1,
            format!(
                "DELETE FROM image_words WHERE rowid = (SELECT key FROM indexed_words WHERE image_seq = {one})"
            ),
        ),
        (
            StoreRule::WordsHaveImage,
            1,
            format!(
                "UPDATE indexed_words SET image_seq = 999 WHERE image_seq = {one}; UPDATE images
                SET description = NULL, file_name = NULL, place = NULL, ocr_text = NULL WHERE seq = {one}"
            ),
        ),
        (
            StoreRule::VectorsHaveImage,
            1,
            format!("UPDATE image_vectors SET image_seq = 999 WHERE image_seq = {one}"),
        ),
        (
            StoreRule::VectorsHaveImage,
            1,
            format!("UPDATE image_vectors SET account_id = 9 WHERE image_seq = {one}"),
        ),
    ] {
        let (store, _seed, folder) = seeded().await;
        break_rows(&folder, &sql);
        assert_eq!(broken(&store).await, [(rule, found)], "{sql}");
        repair(&store, rule).await;
        assert_eq!(broken(&store).await, [], "{sql}");
        assert_eq!(store.check_references(10).await.unwrap(), [""; 0], "{sql}");
        assert_eq!(store.check_structure(CheckDepth::Full, 10).await.unwrap(), [""; 0], "{sql}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_violation_names_the_photo() {
    let (store, _seed, folder) = seeded().await;
    break_rows(
        &folder,
        "DELETE FROM image_places WHERE seq = (SELECT seq FROM images WHERE file_name = 'one.jpg')",
    );
    let found = violations(&store, StoreRule::PlaceIndex).await;
    let image = found[0].image.as_ref().unwrap();
    assert_eq!(image.file_name.as_deref(), Some("one.jpg"));
    assert!(image.account.as_deref().unwrap().ends_with("@example.org"));
}

#[tokio::test(flavor = "multi_thread")]
async fn references_to_missing_rows_are_found() {
    let (store, _seed, folder) = seeded().await;
    break_rows(&folder, "DELETE FROM albums");
    let messages = store.check_references(3).await.unwrap();
    assert_eq!(messages.len(), 3);
    assert!(messages[0].contains("album_images"), "{messages:?}");
}

#[derive(diesel::QueryableByName)]
struct Page {
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    number: i64,
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    bytes: i64,
}

/// The number and the length of the root page of the table `images`.
fn first_page_of_images(path: &std::path::Path) -> (usize, usize) {
    let mut connection = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
    let page: Page = diesel::sql_query(
        "SELECT rootpage AS number, page_size AS bytes FROM sqlite_schema, pragma_page_size WHERE name = 'images'",
    )
    .get_result(&mut connection)
    .unwrap();
    (page.number.try_into().unwrap(), page.bytes.try_into().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_file_is_found() {
    let (store, _seed, folder) = seeded().await;
    drop(store);
    let path = folder.path().join("library.sqlite");
    // After a checkpoint, all data is in the file itself and not in the WAL.
    break_rows(&folder, "PRAGMA wal_checkpoint(TRUNCATE)");
    let (page, page_bytes) = first_page_of_images(&path);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[(page - 1) * page_bytes..page * page_bytes].fill(0x55);
    std::fs::write(&path, bytes).unwrap();
    let store = crate::open(&path).await;
    assert!(!store.check_structure(CheckDepth::Quick, 10).await.unwrap().is_empty());
}
