//! Builds a library of 100,000 images and prints how long operations on it take.
//!
//! `cargo run --release --example big_library -p storage-sqlite [IMAGES]`
#![expect(clippy::unwrap_used, reason = "an example stops at the first error")]

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use domain::{Circle, DateRange, Filter, ImageId, Limit, ListQuery, Plan, Position, QueryText, Rendition};
use storage::{IndexedImage, LeaseRequest, SchemaStore, SharedStore, TextColumns, Viewer};
use storage_conformance::{DECODERS, NOW, Photo, Seed, indexed, lease, random_photos};
use storage_sqlite::{Durability, SqliteOptions, SqliteStore};

const ROUNDS: u32 = 50;

#[tokio::main]
async fn main() {
    let images = std::env::args().nth(1).map_or(100_000, |count| count.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("library.sqlite");
    let options = SqliteOptions { durability: Durability::Off, ..SqliteOptions::default() };
    let store = SqliteStore::open(&path, options).await.unwrap();
    store.migrate().await.unwrap();
    let store: SharedStore = Arc::new(store);
    let seed = Seed::new(store.clone());
    let ann = seed.account(Plan::Paid).await;
    let began = Instant::now();
    let ids = seed.images(ann.account, random_photos(images, NOW.plus_millis(-1_000_000_000_000), 1)).await;
    println!("{images} images built in {:.1} s", began.elapsed().as_secs_f64());
    println!("the file has {} MB", std::fs::metadata(&path).unwrap().len() / 1_000_000);
    let album = seed.album(ann, "Some", &ids[..100]).await;
    lookups(&store, ann, &ids).await;
    lists(&store, ann).await;
    places(&store, ann).await;
    words(&store, ann, &album).await;
    jobs(&store, &seed, ann, ids.len()).await;
}

/// Prints the median and the slowest of a few rounds.
async fn time<T, F: Future<Output = T>>(label: &str, operation: impl Fn(u32) -> F) {
    let mut taken: Vec<Duration> = Vec::new();
    for round in 0..ROUNDS {
        let began = Instant::now();
        operation(round).await;
        taken.push(began.elapsed());
    }
    taken.sort();
    let ms = |at: usize| taken[at].as_secs_f64() * 1000.0;
    println!("{label:<58} {:>9.3} ms   slowest {:>9.3} ms", ms(taken.len() / 2), ms(taken.len() - 1));
}

async fn lookups(store: &SharedStore, ann: Viewer, ids: &[ImageId]) {
    let free = Viewer { plan: Plan::Free, free_window: 1000, ..ann };
    let any = |round: u32| &ids[usize::try_from(round).unwrap() * 1997 % ids.len()];
    time("count_images", |_| store.count_images(ann)).await;
    time("image", |round| store.image(ann, any(round))).await;
    time("image, free plan, window of 1000", |round| store.image(free, any(round))).await;
    time("rendition", |round| store.rendition(any(round), Rendition::Thumb, 1000)).await;
}

async fn lists(store: &SharedStore, ann: Viewer) {
    let page = ListQuery { limit: Limit::new(100).unwrap(), ..ListQuery::default() };
    let deep_end = NOW.plus_millis(-950_000_000_000);
    let range = DateRange::new(None, Some(deep_end)).unwrap();
    let deep = ListQuery {
        filter: Filter { range, ..Filter::default() },
        limit: page.limit,
        ..ListQuery::default()
    };
    let huge = Viewer { plan: Plan::Free, free_window: 90_000, ..ann };
    time("page_images, newest 100", |_| store.page_images(ann, &page)).await;
    time("page_images, 100 old ones", |_| store.page_images(ann, &deep)).await;
    time("page_images, free plan, window of 90,000", |_| store.page_images(huge, &page)).await;
}

async fn places(store: &SharedStore, ann: Viewer) {
    let limit = Limit::new(100).unwrap();
    let circle = |latitude, longitude, radius_m| {
        Some(Circle::new(Position::new(latitude, longitude).unwrap(), radius_m).unwrap())
    };
    let circles = [
        ("200 m in Berlin", circle(52.52, 13.4, 200.0)),
        ("10 km in Berlin", circle(52.52, 13.4, 10_000.0)),
        ("50 km across the antimeridian", circle(-18.14, 179.9, 50_000.0)),
        ("2,000 km around Berlin", circle(52.52, 13.4, 2_000_000.0)),
        ("the whole Earth", circle(0.0, 0.0, 20_037_508.0)),
        ("6,000 km of empty sea", circle(-45.0, -110.0, 3_000_000.0)),
        ("5,000 km around the pole", circle(-90.0, 0.0, 5_000_000.0)),
    ];
    for (name, circle) in circles {
        let filter = Filter { circle, ..Filter::default() };
        let found = store.filter_images(ann, &filter, limit).await.unwrap().len();
        time(&format!("filter_images, {name}: {found} found"), |_| store.filter_images(ann, &filter, limit))
            .await;
    }
    let filter = Filter { circle: circle(52.52, 13.4, 10_000.0), ..Filter::default() };
    let page = ListQuery { limit, filter, ..ListQuery::default() };
    time("page_images, 10 km in Berlin", |_| store.page_images(ann, &page)).await;
}

async fn words(store: &SharedStore, ann: Viewer, album: &domain::AlbumId) {
    let berlin = Circle::new(Position::new(52.52, 13.4).unwrap(), 10_000.0).unwrap();
    let cases: [(&str, &str, Filter); 7] = [
        ("a rare word", "48271", Filter::default()),
        ("a common word", "harbour", Filter::default()),
        ("two common words", "harbour dog", Filter::default()),
        ("two common words and a rare one", "harbour dog 48271", Filter::default()),
        ("a word of half the library", "number", Filter::default()),
        ("a common word within 10 km", "harbour", Filter { circle: Some(berlin), ..Filter::default() }),
        ("a common word in an album", "harbour", Filter { album: Some(album.clone()), ..Filter::default() }),
    ];
    for (name, words, filter) in cases {
        let text = &QueryText::parse(words).unwrap();
        let search = || store.match_text(ann, text, TextColumns::ContentAndContext, &filter, 50);
        let found = search().await.unwrap();
        time(&format!("match_text, {name}: {} found", found.len()), |_| search()).await;
    }
}

/// Times the operations of workers while every image is queued to be indexed again and has no full rendition.
async fn jobs(store: &SharedStore, seed: &Seed, ann: Viewer, images: usize) {
    let began = Instant::now();
    let mut slowest = Duration::ZERO;
    let mut queued = 0;
    loop {
        let batch_began = Instant::now();
        let batch = store.requeue_outdated(DECODERS + 1, NOW, 1000).await.unwrap();
        slowest = slowest.max(batch_began.elapsed());
        queued += usize::try_from(batch).unwrap();
        if batch == 0 {
            break;
        }
    }
    assert_eq!(queued, images);
    let ms = |taken: Duration| taken.as_secs_f64() * 1000.0;
    println!(
        "requeue_outdated, all in batches of 1000: {:.0} ms, slowest {:.0} ms",
        ms(began.elapsed()),
        ms(slowest)
    );
    seed.waiting(ann.account, usize::try_from(ROUNDS).unwrap()).await;
    let one = LeaseRequest { max: 1, ..lease("w", NOW) };
    time("lease_jobs, one new image", |_| store.lease_jobs(one, DECODERS)).await;
    time("lease_jobs and complete_job, one image indexed again", |round| async move {
        let job = store.lease_jobs(one, DECODERS).await.unwrap().remove(0);
        let found = IndexedImage { renditions: vec![], ..indexed(&Photo::at_second(i64::from(round))) };
        assert!(store.complete_job(job.id, "w", found).await.unwrap());
    })
    .await;
    let one = LeaseRequest { max: 1, ..lease("w", NOW) };
    time("lease_rendition_jobs, one", |_| store.lease_rendition_jobs(one)).await;
    time("queue_length", |_| store.queue_length()).await;
    let began = Instant::now();
    store.delete_account(ann.account, NOW).await.unwrap();
    println!("delete_account with all its jobs: {:.0} ms", ms(began.elapsed()));
}
