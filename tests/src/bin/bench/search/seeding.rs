//! Builds a library of a million images in minutes: rows are written directly into the database, ten thousand per
//! transaction. The store counts the months, places the photos on the map and indexes the words, as after an upgrade.

use std::{fs, path::Path, time::Instant};

use ::tests::black_box::AnyError;
use diesel::{
    Connection as _, RunQueryDsl as _, SqliteConnection, connection::SimpleConnection as _, dsl::max,
    insert_into, prelude::*, sql_query, sql_types::BigInt, update,
};
use domain::{Email, KeyName, Plan, SyncHandle, Timestamp};
use fastrand::Rng;
use storage::{
    AccountStore as _, ImageStore as _, IntegrityStore as _, MapStore as _, NewAccount, RuleRow,
    SchemaStore as _, StoreRule, WordIndex as _,
};
use storage_sqlite::{Durability, SqliteOptions, SqliteStore};

use super::{serving::open, stub_encoder, vocabulary::Vocabulary};

/// The password of the first account.
pub(crate) const PASSWORD: &str = "bench";
/// The address of the first account.
pub(crate) const EMAIL: &str = "bench@example.org";
/// Number of images per transaction.
const BATCH: u32 = 10_000;
pub(super) const ALBUM: &str = "an-album";
/// Number of images in the album, spread over the library.
const IN_ALBUM: u32 = 2000;
/// 2014-05-13. The photos span ten years.
pub(crate) const FIRST_MS: i64 = 1_400_000_000_000;
pub(crate) const SPAN_MS: i64 = 315_000_000_000;

mod tables {
    diesel::table! {
        images (seq) {
            seq -> BigInt,
            id -> Text,
            account_id -> BigInt,
            state -> Text,
            captured_at_ms -> BigInt,
            requested_captured_at_ms -> BigInt,
            capture_source -> Text,
            latitude -> Nullable<Double>,
            longitude -> Nullable<Double>,
            original -> Binary,
            original_bytes -> BigInt,
            media_type -> Text,
            added_at_ms -> BigInt,
            width -> BigInt,
            height -> BigInt,
            decoder_version -> BigInt,
            file_name -> Text,
            place -> Nullable<Text>,
            description -> Nullable<Text>,
            ocr_text -> Nullable<Text>,
            thumbhash -> Binary,
        }
    }
    diesel::table! {
        map_fill (below_seq) {
            below_seq -> BigInt,
        }
    }
    diesel::table! {
        image_places (seq) {
            seq -> BigInt,
            min_latitude -> Double,
            max_latitude -> Double,
            min_longitude -> Double,
            max_longitude -> Double,
            min_account -> Double,
            max_account -> Double,
        }
    }
    diesel::table! {
        image_vectors (id) {
            id -> BigInt,
            encoder_id -> BigInt,
            account_id -> BigInt,
            image_seq -> BigInt,
            vector -> Binary,
        }
    }
    diesel::table! {
        encoders (id) {
            id -> BigInt,
            name -> Text,
        }
    }
    diesel::table! {
        albums (seq) {
            seq -> BigInt,
            id -> Text,
            account_id -> BigInt,
            title -> Text,
            created_at_ms -> BigInt,
            updated_at_ms -> BigInt,
        }
    }
    diesel::table! {
        album_images (album_seq, image_seq) {
            album_seq -> BigInt,
            image_seq -> BigInt,
            captured_at_ms -> BigInt,
            live -> Bool,
        }
    }
}
use tables::{album_images, albums, encoders, image_places, image_vectors, images, map_fill};

/// Builds a library of one account, or reuses the one of an earlier run. Returns an API key.
pub(super) async fn library(folder: &Path, count: u32) -> Result<String, AnyError> {
    libraries(folder, count, 1).await
}

/// Builds a library of several accounts with as many images each, or reuses the one of an earlier run. Returns an API key
/// of the first account.
pub(crate) async fn libraries(folder: &Path, count: u32, accounts: u32) -> Result<String, AnyError> {
    let key_file = folder.join("key");
    if let Ok(key) = fs::read_to_string(&key_file) {
        return Ok(key);
    }
    let options = SqliteOptions { durability: Durability::Off, ..SqliteOptions::default() };
    SqliteStore::open(&folder.join("library.sqlite"), options).await?.migrate().await?;
    let (library, store) = open(folder, options).await?;
    let email = Email::parse(EMAIL)?;
    let (account, _) =
        library.accounts.create_account(email.clone(), Plan::Paid, Some(PASSWORD.into())).await?;
    store.mark_synced(account.id, Timestamp::MIN).await?;
    let key = library.accounts.create_key(&email, KeyName::parse("bench")?).await?;

    let began = Instant::now();
    let path = folder.join("library.sqlite");
    let mut ids = vec![account.id.0];
    for number in 1..accounts {
        let email = Email::parse(&format!("bench-{number}@example.org"))?;
        let password_hash = String::new();
        let sync_handle = SyncHandle::parse(&format!("{number:016}")).ok_or("no handle")?;
        let new =
            NewAccount { email, plan: Plan::Paid, password_hash, sync_handle, created_at: Timestamp::MIN };
        ids.push(store.create_account(new).await?.id.0);
    }
    tokio::task::spawn_blocking(move || insert_images(&path, &ids, count)).await??;
    let rows = began.elapsed();
    let violations = store.check_rule(StoreRule::TimelineMonths, None, accounts).await?.violations;
    let wrong: Vec<RuleRow> = violations.into_iter().map(|violation| violation.row).collect();
    store.repair_rule(StoreRule::TimelineMonths, &wrong, Timestamp::MIN).await?;
    while store.fill_map(1000).await? > 0 {}
    while store.fill_regions(1000).await? > 0 {}
    let derived = began.elapsed();
    index_words(&store).await?;
    let per_image = |seconds: f64| seconds * 1e6 / f64::from(count * accounts);
    println!(
        "built: {:.1} µs per image for rows and vector, {:.1} µs for months, map and regions, {:.1} µs for the word index; {} MB",
        per_image(rows.as_secs_f64()),
        per_image((derived - rows).as_secs_f64()),
        per_image((began.elapsed() - derived).as_secs_f64()),
        fs::metadata(folder.join("library.sqlite"))?.len() / 1_000_000
    );
    fs::write(key_file, &key)?;
    Ok(key)
}

fn insert_images(path: &Path, accounts: &[i64], count: u32) -> Result<(), AnyError> {
    let path = path.to_str().ok_or("the folder's name is not UTF-8")?;
    let mut connection = SqliteConnection::establish(path)?;
    connection.batch_execute(
        "PRAGMA busy_timeout = 10000; PRAGMA synchronous = OFF; PRAGMA cache_size = -200000;
        PRAGMA foreign_keys = OFF",
    )?;
    let encoder: i64 = insert_into(encoders::table)
        .values(encoders::name.eq(stub_encoder::NAME))
        .returning(encoders::id)
        .get_result(&mut connection)?;
    let album: i64 = insert_into(albums::table)
        .values((
            albums::id.eq(ALBUM),
            albums::account_id.eq(accounts.first().copied().unwrap_or(1)),
            albums::title.eq("Some"),
            albums::created_at_ms.eq(FIRST_MS),
            albums::updated_at_ms.eq(FIRST_MS),
        ))
        .returning(albums::seq)
        .get_result(&mut connection)?;
    let mut generator = ImageGenerator {
        account: 0,
        encoder,
        album: Some(album),
        count,
        vocabulary: Vocabulary::new(),
        rng: Rng::with_seed(count.into()),
    };
    for account in accounts {
        generator.account = *account;
        for first in (0..count).step_by(usize::try_from(BATCH)?) {
            let numbers = first..count.min(first + BATCH);
            connection.transaction(|c| -> Result<(), diesel::result::Error> {
                numbers.into_iter().try_for_each(|number| generator.insert(c, number))
            })?;
        }
        sql_query("UPDATE accounts SET live_images = live_images + ? WHERE id = ?")
            .bind::<BigInt, _>(i64::from(count))
            .bind::<BigInt, _>(*account)
            .execute(&mut connection)?;
        // Only the first account has the album.
        generator.album = None;
    }
    connection.batch_execute(MARKS)?;
    let last: Option<i64> = images::table.select(max(images::seq)).get_result(&mut connection)?;
    update(map_fill::table).set(map_fill::below_seq.eq(last.unwrap_or(-1) + 1)).execute(&mut connection)?;
    connection.batch_execute("PRAGMA wal_checkpoint(TRUNCATE)")?;
    Ok(())
}

/// Gives the images cameras, keywords, and marks: every fifth is a favourite, every tenth is archived.
const MARKS: &str = "
UPDATE region_fill SET version = 0;
UPDATE images SET camera_model = 'Model ' || (seq % 4), camera = 'Model ' || (seq % 4);
INSERT INTO facets (account_id, kind, key, name)
    SELECT DISTINCT account_id, 'camera', camera, camera FROM images;
INSERT INTO facets (account_id, kind, key, name) SELECT id, 'favorite', '', '' FROM accounts;
INSERT INTO facets (account_id, kind, key, name) SELECT id, 'archived', '', '' FROM accounts;
INSERT INTO facets (account_id, kind, key, name) SELECT id, 'keyword', 'beach', 'beach' FROM accounts;
INSERT INTO image_facets (facet_id, image_seq, captured_at_ms, live)
    SELECT f.id, i.seq, i.captured_at_ms, 1 FROM images AS i JOIN facets AS f ON f.account_id = i.account_id
    WHERE (f.kind = 'favorite' AND i.seq % 5 = 0) OR (f.kind = 'archived' AND i.seq % 10 = 3)
        OR (f.kind = 'keyword' AND i.seq % 3 = 0);
INSERT INTO image_marks (image_seq, marks, archived, keywords)
    SELECT seq, CASE WHEN seq % 10 = 3 THEN '{\"archived\":true}' WHEN seq % 5 = 0 THEN '{\"favorite\":true}' ELSE
        '{\"keywords\":[\"beach\"]}' END, seq % 10 = 3, NULL
    FROM images WHERE seq % 5 = 0 OR seq % 10 = 3 OR seq % 3 = 0;
";

/// The position of a photo; seven of ten photos have one. Half of these are in one region, a quarter within kilometres of one
/// home, some at one spot, and the others near a few hundred cities, with a few weeks in each.
fn position(number: u32, rng: &mut Rng) -> Option<(f64, f64)> {
    let journey = f64::from(number / 5000);
    match rng.u8(..100) {
        0..35 => Some((46.0 + 4.0 * rng.f64(), 9.0 + 6.0 * rng.f64())),
        35..53 => Some(near((48.137, 11.575), 0.1, rng)),
        53..55 => Some((48.1583, 11.5033)),
        55..70 => Some(near(((journey * 37.0) % 110.0 - 50.0, (journey * 71.0) % 340.0 - 170.0), 0.2, rng)),
        _ => None,
    }
}

/// A position near another. The distance is at most this many degrees in each direction, and mostly much less.
fn near((latitude, longitude): (f64, f64), degrees: f64, rng: &mut Rng) -> (f64, f64) {
    let mut offset = || degrees * (2.0 * rng.f64() - 1.0).powi(3);
    (latitude + offset(), longitude + offset())
}

/// Inserts images with random properties.
struct ImageGenerator {
    account: i64,
    encoder: i64,
    album: Option<i64>,
    count: u32,
    vocabulary: Vocabulary,
    rng: Rng,
}

impl ImageGenerator {
    fn insert(&mut self, c: &mut SqliteConnection, number: u32) -> QueryResult<()> {
        let (words, rng) = (&self.vocabulary, &mut self.rng);
        let captured_at_ms = FIRST_MS + SPAN_MS / i64::from(self.count) * i64::from(number);
        let position = position(number, rng);
        let place = position.map(|_| words.city(rng.usize(..1 << 20)));
        let description = (rng.f64() < 0.3).then(|| words.text(rng.usize(5..16), rng));
        let text = (rng.f64() < 0.1).then(|| words.text(rng.usize(20..101), rng));
        let mut original = vec![0; 32];
        for (byte, from) in
            original.iter_mut().zip(rng.u64(..).to_be_bytes().into_iter().chain(number.to_be_bytes()))
        {
            *byte = from;
        }
        let mut thumbhash = vec![0; 21];
        rng.fill(&mut thumbhash);
        // Landscape or portrait.
        let (width, height) = if rng.f64() < 0.75 { (4000, 3000) } else { (3000, 4000) };
        let seq: i64 = insert_into(images::table)
            .values((
                (
                    images::id.eq(format!("image-{}-{number:08}", self.account)),
                    images::account_id.eq(self.account),
                    images::state.eq("ready"),
                    images::captured_at_ms.eq(captured_at_ms),
                    images::requested_captured_at_ms.eq(captured_at_ms),
                    images::capture_source.eq("exif-original"),
                    images::latitude.eq(position.map(|(latitude, _)| latitude)),
                    images::longitude.eq(position.map(|(_, longitude)| longitude)),
                    images::original.eq(original),
                    images::original_bytes.eq(4_000_000),
                ),
                (
                    images::media_type.eq("image/jpeg"),
                    images::added_at_ms.eq(captured_at_ms),
                    images::width.eq(width),
                    images::height.eq(height),
                    images::decoder_version.eq(i64::from(media::DECODER_VERSION)),
                    images::file_name.eq(format!("IMG_{number:06}.jpg")),
                    images::place.eq(place),
                    images::description.eq(description),
                    images::ocr_text.eq(text),
                    images::thumbhash.eq(thumbhash),
                ),
            ))
            .returning(images::seq)
            .get_result(c)?;
        if let Some(position) = position {
            self.insert_place(c, seq, position)?;
        }
        if let Some(album) = self.album
            && number.is_multiple_of((self.count / IN_ALBUM).max(1))
        {
            insert_into(album_images::table)
                .values((
                    album_images::album_seq.eq(album),
                    album_images::image_seq.eq(seq),
                    album_images::captured_at_ms.eq(captured_at_ms),
                    album_images::live.eq(true),
                ))
                .execute(c)?;
        }
        insert_into(image_vectors::table)
            .values((
                image_vectors::encoder_id.eq(self.encoder),
                image_vectors::account_id.eq(self.account),
                image_vectors::image_seq.eq(seq),
                image_vectors::vector.eq(vectors::encode_f16(&stub_encoder::vector(number.into()))),
            ))
            .execute(c)?;
        Ok(())
    }

    fn insert_place(
        &self,
        c: &mut SqliteConnection,
        seq: i64,
        (latitude, longitude): (f64, f64),
    ) -> QueryResult<()> {
        insert_into(image_places::table)
            .values((
                image_places::seq.eq(seq),
                image_places::min_latitude.eq(latitude),
                image_places::max_latitude.eq(latitude),
                image_places::min_longitude.eq(longitude),
                image_places::max_longitude.eq(longitude),
                image_places::min_account.eq(self.account as f64),
                image_places::max_account.eq(self.account as f64),
            ))
            .execute(c)?;
        Ok(())
    }
}

/// Indexes the words of all images.
async fn index_words(store: &SqliteStore) -> Result<(), AnyError> {
    while store.reindex_words(1000).await? > 0 {}
    Ok(())
}
