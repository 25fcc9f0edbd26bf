use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use diesel::{
    Connection, QueryableByName, RunQueryDsl, SqliteConnection,
    connection::SimpleConnection,
    sql_query,
    sql_types::{BigInt, Nullable, Text},
};
use domain::{Filter, Plan, QueryText};
use storage::{
    AccountStore, ImageStore, IndexQueue, IndexedImage, SchemaStore, TextColumns, Viewer, WordIndex,
};
use storage_conformance::{DECODERS, NOW, Photo, Seed, indexed, random_photos};
use storage_sqlite::SqliteStore;
use words::{Fields, stem_keys, words_of};

use crate::fresh_store;

fn connection(folder: &tempfile::TempDir) -> SqliteConnection {
    let path = folder.path().join("library.sqlite");
    SqliteConnection::establish(path.to_str().unwrap()).unwrap()
}

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = BigInt)]
    account_id: i64,
    #[diesel(sql_type = Nullable<Text>)]
    description: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    ocr_text: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    place: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    file_name: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    keywords: Option<String>,
}

#[derive(QueryableByName)]
struct Word {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = BigInt)]
    account_id: i64,
    #[diesel(sql_type = Text)]
    word: String,
    #[diesel(sql_type = BigInt)]
    images: i64,
}

#[derive(QueryableByName)]
struct Stem {
    #[diesel(sql_type = BigInt)]
    word_id: i64,
    #[diesel(sql_type = Text)]
    stem: String,
}

/// Compares the vocabulary, its stems and the postings with the texts of the images.
fn check_index(c: &mut SqliteConnection) {
    c.batch_execute("INSERT INTO image_words (image_words) VALUES ('integrity-check')").unwrap();
    let rows: Vec<Row> = sql_query(
        "SELECT account_id, description, ocr_text, place, file_name, m.keywords AS keywords
            FROM images LEFT JOIN image_marks AS m ON m.image_seq = images.seq WHERE live = 1",
    )
    .load(c)
    .unwrap();
    let mut expected: BTreeMap<(i64, String), i64> = BTreeMap::new();
    for row in &rows {
        let fields = Fields {
            description: row.description.as_deref(),
            ocr_text: row.ocr_text.as_deref(),
            place: row.place.as_deref(),
            file_name: row.file_name.as_deref(),
            keywords: row.keywords.as_deref(),
        };
        for word in words_of(&fields).into_keys() {
            *expected.entry((row.account_id, word)).or_default() += 1;
        }
    }
    let words: Vec<Word> = sql_query("SELECT id, account_id, word, images FROM words").load(c).unwrap();
    let stems: Vec<Stem> = sql_query("SELECT word_id, stem FROM word_stems").load(c).unwrap();
    let expected_stems: BTreeSet<(i64, String)> =
        words.iter().flat_map(|word| stem_keys(&word.word).into_iter().map(|stem| (word.id, stem))).collect();
    assert_eq!(
        stems.into_iter().map(|stem| (stem.word_id, stem.stem)).collect::<BTreeSet<_>>(),
        expected_stems
    );
    for word in &words {
        let posted: Vec<Key> = sql_query("SELECT rowid AS key FROM image_words WHERE image_words MATCH ?")
            .bind::<Text, _>(format!("{} OR {}", name('c', word.id), name('x', word.id)))
            .load(c)
            .unwrap();
        assert_eq!(i64::try_from(posted.len()).unwrap(), word.images, "{}", word.word);
    }
    let known: BTreeMap<(i64, String), i64> =
        words.into_iter().map(|word| ((word.account_id, word.word), word.images)).collect();
    assert_eq!(known, expected);
}

#[derive(QueryableByName)]
struct Key {
    #[expect(dead_code, reason = "only counted")]
    #[diesel(sql_type = BigInt)]
    key: i64,
}

fn name(kind: char, mut number: i64) -> String {
    let mut digits = Vec::new();
    while number > 0 {
        digits.push(char::from_digit(u32::try_from(number % 36).unwrap(), 36).unwrap());
        number /= 36;
    }
    digits.push(kind);
    digits.iter().rev().collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_word_index_follows_every_change_of_images() {
    let (store, folder) = fresh_store().await;
    let seed = Seed::new(Arc::new(store.clone()));
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    seed.images(ben.account, random_photos(30, NOW, 3)).await;
    let ids = seed.images(ann.account, random_photos(60, NOW, 1)).await;
    let mut connection = connection(&folder);
    check_index(&mut connection);
    for id in &ids[..20] {
        store.delete_image(ann, id, NOW).await.unwrap();
    }
    check_index(&mut connection);
    for id in &ids[20..25] {
        store.delete_image(ann, id, NOW).await.unwrap();
        assert!(store.restore_image(ann.account, id).await.unwrap());
    }
    check_index(&mut connection);
    assert_eq!(store.requeue_outdated(DECODERS + 1, NOW, 100).await.unwrap(), 70);
    assert_eq!(store.purge_images(NOW.plus_millis(1), 100).await.unwrap(), 20);
    check_index(&mut connection);
    let photos = random_photos(70, NOW, 2);
    for (job, photo) in seed.lease("w", NOW).await.into_iter().zip(photos) {
        let found = IndexedImage { renditions: vec![], ..indexed(&photo) };
        assert!(store.complete_job(job.id, "w", found).await.unwrap());
    }
    check_index(&mut connection);
    store.delete_account(ann.account, NOW).await.unwrap();
    while store.purge_images(NOW, 7).await.unwrap() > 0 {}
    check_index(&mut connection);
}

async fn found(store: &SqliteStore, viewer: Viewer, query: &str) -> usize {
    let text = QueryText::parse(query).unwrap();
    let columns = TextColumns::ContentAndContext;
    store.match_text(viewer, &text, columns, &Filter::default(), 400).await.unwrap().len()
}

#[tokio::test(flavor = "multi_thread")]
async fn words_of_an_older_version_are_indexed_again_in_batches() {
    let (store, folder) = fresh_store().await;
    let seed = Seed::new(Arc::new(store.clone()));
    let ann = seed.account(Plan::Paid).await;
    let photos = (0..25).map(|at| Photo::at_second(at).description("boats in the harbour"));
    let ids = seed.images(ann.account, photos.collect()).await;
    while store.reindex_words(9).await.unwrap() > 0 {}
    assert_eq!(store.count_outdated_words().await.unwrap(), 0);
    let mut connection = connection(&folder);
    // Changes the index as if an older version had found other words.
    connection
        .batch_execute(
            "UPDATE word_index SET version = 0;
            UPDATE words SET word = 'zz' || word || 'zz';
            UPDATE word_stems SET stem = 'zz' || stem;",
        )
        .unwrap();
    assert_eq!(store.count_outdated_words().await.unwrap(), 25);
    assert_eq!(found(&store, ann, "boats").await, 0);
    assert_eq!(store.reindex_words(0).await.unwrap(), 0);
    assert_eq!(store.reindex_words(10).await.unwrap(), 10);
    assert_eq!(store.count_outdated_words().await.unwrap(), 15);
    assert_eq!(found(&store, ann, "boats").await, 10, "indexed images are found");
    // Images are added and purged between the batches.
    seed.image(ann.account, Photo::at_second(99).description("a boat")).await;
    store.delete_image(ann, &ids[24], NOW).await.unwrap();
    assert_eq!(store.purge_images(NOW.plus_millis(1), 10).await.unwrap(), 1);
    assert_eq!(found(&store, ann, "boat").await, 11);
    assert_eq!(store.reindex_words(10).await.unwrap(), 10);
    assert_eq!(store.reindex_words(10).await.unwrap(), 4);
    assert_eq!(store.reindex_words(10).await.unwrap(), 0);
    assert_eq!(store.count_outdated_words().await.unwrap(), 0);
    assert_eq!(found(&store, ann, "boat").await, 25);
    check_index(&mut connection);
}

#[derive(QueryableByName)]
struct Version {
    #[diesel(sql_type = BigInt)]
    version: i64,
}

/// A newer program and this one use a store alternately.
#[tokio::test(flavor = "multi_thread")]
async fn the_index_of_a_newer_version_is_not_rebuilt() {
    let newer = "UPDATE word_index SET version = 4000000000";
    let (store, folder) = fresh_store().await;
    let seed = Seed::new(Arc::new(store.clone()));
    let ann = seed.account(Plan::Paid).await;
    let photos = (0..25).map(|at| Photo::at_second(at).description("boats in the harbour"));
    let ids = seed.images(ann.account, photos.collect()).await;
    while store.reindex_words(9).await.unwrap() > 0 {}
    let mut connection = connection(&folder);
    for turn in 0..3_u32 {
        connection.batch_execute(newer).unwrap();
        assert_eq!(store.count_outdated_words().await.unwrap(), 0);
        assert_eq!(store.reindex_words(10).await.unwrap(), 0);
        seed.image(ann.account, Photo::at_second(99 + i64::from(turn)).description("a lantern")).await;
        let index = usize::try_from(turn).unwrap();
        store.delete_image(ann, &ids[index], NOW).await.unwrap();
        store.delete_image(ann, &ids[index + 10], NOW).await.unwrap();
        assert!(store.restore_image(ann.account, &ids[index + 10]).await.unwrap());
        assert_eq!(store.reindex_words(10).await.unwrap(), 0);
        let state: Version = sql_query("SELECT version FROM word_index").get_result(&mut connection).unwrap();
        assert_eq!(state.version, 4_000_000_000, "it is not reset");
        let turns = usize::try_from(turn).unwrap() + 1;
        assert_eq!(found(&store, ann, "lantern").await, turns, "new images are found");
        assert_eq!(found(&store, ann, "boats").await, 25 - turns);

        // The newer program indexes only the images that the older one changed, not the whole library again.
        connection.batch_execute(&format!("UPDATE word_index SET version = {}", words::VERSION)).unwrap();
        let left = store.count_outdated_words().await.unwrap();
        assert!((2..25).contains(&left), "{left}");
        while store.reindex_words(16).await.unwrap() > 0 {}
        assert_eq!(store.count_outdated_words().await.unwrap(), 0);
        check_index(&mut connection);
    }
}

/// Reverts and applies the migration that makes the index, so that it is empty.
async fn empty_index(store: &SqliteStore) {
    while !store.pending_migrations().await.unwrap().iter().any(|name| name.contains("words")) {
        store.revert_migration().await.unwrap().unwrap();
    }
    store.migrate().await.unwrap();
}

#[derive(QueryableByName)]
struct Segments {
    #[diesel(sql_type = BigInt)]
    count: i64,
}

#[tokio::test(flavor = "multi_thread")]
async fn the_words_of_a_batch_are_one_segment() {
    let (store, folder) = fresh_store().await;
    let seed = Seed::new(Arc::new(store.clone()));
    for random in 1..=3 {
        let viewer = seed.account(Plan::Paid).await;
        seed.images(viewer.account, random_photos(40, NOW, random)).await;
    }
    empty_index(&store).await;
    assert_eq!(store.reindex_words(200).await.unwrap(), 120);
    let mut connection = connection(&folder);
    // FTS5 stores the number of the segment in the upper bits of a page's id, from bit 37. Ids up to 10 are not pages.
    let segments: Segments =
        sql_query("SELECT count(DISTINCT id >> 37) AS count FROM image_words_data WHERE id > 10")
            .get_result(&mut connection)
            .unwrap();
    assert_eq!(segments.count, 1);
    check_index(&mut connection);
}

#[tokio::test(flavor = "multi_thread")]
async fn existing_images_are_indexed_after_the_migration() {
    let (store, folder) = fresh_store().await;
    let seed = Seed::new(Arc::new(store.clone()));
    let ann = seed.account(Plan::Paid).await;
    seed.images(ann.account, random_photos(40, NOW, 1)).await;
    seed.waiting(ann.account, 3).await;
    empty_index(&store).await;
    assert_eq!(store.count_outdated_words().await.unwrap(), 40);
    assert_eq!(found(&store, ann, "img").await, 0);
    while store.reindex_words(16).await.unwrap() > 0 {}
    assert_eq!(store.count_outdated_words().await.unwrap(), 0);
    assert_eq!(found(&store, ann, "img").await, 40);
    check_index(&mut connection(&folder));
}

#[tokio::test(flavor = "multi_thread")]
async fn images_of_many_accounts_with_one_capture_time_have_distinct_keys() {
    let (store, folder) = fresh_store().await;
    let seed = Seed::new(Arc::new(store.clone()));
    let mut viewers = Vec::new();
    for _ in 0..60 {
        let viewer = seed.account(Plan::Paid).await;
        seed.image(viewer.account, Photo::at_second(1).description("midnight")).await;
        viewers.push(viewer);
    }
    for viewer in viewers {
        let then = Some(NOW.plus_millis(1000));
        let range = domain::DateRange::new(then, then).unwrap();
        let filter = Filter { range, ..Filter::default() };
        let text = QueryText::parse("midnight").unwrap();
        let found = store.match_text(viewer, &text, TextColumns::Content, &filter, 10).await.unwrap();
        assert_eq!(found.len(), 1);
    }
    check_index(&mut connection(&folder));
}
