//! Measures the map of a million photos:
//! `cargo test -p storage-sqlite --test sqlite -- --ignored --nocapture map_at_scale`.

use std::time::{Duration, Instant};

use diesel::{Connection, SqliteConnection, connection::SimpleConnection};
use domain::{DateRange, Limit, MAX_MAP_LEVEL, MapArea, Plan};
use storage::{IntegrityStore, MapStore, StoreRule};
use storage_conformance::{Photo, Seed};

use crate::fresh_store;

/// Half of the photos within some kilometres of Lisbon, 20,000 at one spot, others near 200 cities or anywhere.
const SEED: &str = "
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000),
r (i, kind, a, b) AS (
    SELECT i, i % 100, (random() & 65535) / 65535.0 - 0.5, (random() & 65535) / 65535.0 - 0.5 FROM n
)
INSERT INTO images (id, account_id, state, captured_at_ms, latitude, longitude, original, original_bytes, media_type,
    added_at_ms, requested_captured_at_ms, capture_source, width, height, decoder_version)
SELECT 'photo-' || i, (SELECT min(id) FROM accounts), 'ready', 1000000000000 + i * 60000,
    CASE WHEN kind < 50 THEN 38.72 + a * a * a WHEN kind < 52 THEN 48.8584
        WHEN kind < 95 THEN -50 + (i / 5000 * 37) % 110 + a * 0.2 ELSE a * 160 END,
    CASE WHEN kind < 50 THEN -9.14 + b * b * b WHEN kind < 52 THEN 2.2945
        WHEN kind < 95 THEN -170 + (i / 5000 * 71) % 340 + b * 0.2 ELSE b * 360 END,
    randomblob(32), 1000, 'image/jpeg', 1, 1000000000000 + i * 60000, 'exif-original', 400, 300, 1
FROM r;
UPDATE accounts SET live_images = 1000000;
UPDATE map_fill SET below_seq = (SELECT max(seq) + 1 FROM images);";

#[derive(Default)]
struct Times(Vec<Duration>);

impl Times {
    fn print(&mut self, name: &str) {
        self.0.sort_unstable();
        let at = |share: usize| self.0[(self.0.len() * share / 100).min(self.0.len() - 1)];
        println!(
            "{name}: {} calls, median {:?}, p99 {:?}, maximum {:?}",
            self.0.len(),
            at(50),
            at(99),
            at(100)
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes"]
async fn map_at_scale() {
    let (store, folder) = fresh_store().await;
    let seed = Seed::new(std::sync::Arc::new(store.clone()));
    let ann = seed.account(Plan::Paid).await;
    let path = folder.path().join("library.sqlite");
    let mut connection = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
    connection.batch_execute(SEED).unwrap();
    let started = Instant::now();
    while store.fill_map(500).await.unwrap() > 0 {}
    println!("filling: {:?}", started.elapsed());

    let (mut clusters, mut newest) = (Times::default(), Times::default());
    let mut random = fastrand::Rng::with_seed(1);
    let places = [(38.72, -9.14), (48.8584, 2.2945), (-17.0, 179.99), (10.0, 20.0)];
    for call in 0..2000 {
        let (latitude, longitude) = places[call % places.len()];
        let zoom = random.u8(1..=18);
        let size = 360.0 / f64::from(1_u32 << zoom);
        let latitude = latitude + size * (random.f64() - 0.5);
        let wrap = |longitude: f64| (longitude + 180.0).rem_euclid(360.0) - 180.0;
        let west = wrap(longitude - size * (1.0 + random.f64()));
        let area = MapArea::new(
            west,
            (latitude - size).clamp(-90.0, 90.0),
            wrap(longitude + size * (1.0 + random.f64())),
            (latitude + size).clamp(-90.0, 90.0),
        )
        .unwrap();
        let started = Instant::now();
        let found = store.map_clusters(ann, area, (zoom + 2).min(MAX_MAP_LEVEL)).await.unwrap();
        clusters.0.push(started.elapsed());
        assert!(found.len() <= 200);
        let started = Instant::now();
        store.map_images(ann, area, DateRange::default(), Limit::default()).await.unwrap();
        newest.0.push(started.elapsed());
    }
    clusters.print("clusters");
    newest.print("newest photos of an area");
    let mut world = Times::default();
    for level in (0..=MAX_MAP_LEVEL).cycle().take(200) {
        let started = Instant::now();
        store.map_clusters(ann, MapArea::WORLD, level).await.unwrap();
        world.0.push(started.elapsed());
    }
    world.print("clusters of the world");
    let mut added = Times::default();
    for second in 0..200 {
        let started = Instant::now();
        let id = seed.image(ann.account, Photo::at_second(second).position(38.72, -9.14)).await;
        added.0.push(started.elapsed());
        let started = Instant::now();
        storage::ImageStore::delete_image(&store, ann, &id, storage_conformance::NOW).await.unwrap();
        added.0.push(started.elapsed());
    }
    added.print("adding or deleting a photo");
    let started = Instant::now();
    assert_eq!(store.check_rule(StoreRule::MapCells, None, 10).await.unwrap().violations, []);
    println!("check of the squares: {:?}", started.elapsed());
}
