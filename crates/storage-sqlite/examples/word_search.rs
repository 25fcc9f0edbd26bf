//! Builds a library with realistic texts and prints how long searches by words take, and what the index costs.
//!
//! `cargo run --release --example word_search -p storage-sqlite [IMAGES]`
#![expect(clippy::unwrap_used, reason = "an example stops at the first error")]

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use domain::{Circle, DateRange, Filter, ImageId, Plan, Position, QueryText};
use fastrand::Rng;
use storage::{AlbumWrite, SchemaStore, SharedStore, TextColumns, Viewer, WordIndex};
use storage_conformance::{NOW, Photo, Seed};
use storage_sqlite::{Durability, SqliteOptions, SqliteStore};

const ROUNDS: usize = 200;

/// Number of distinct words in the descriptions and OCR texts, most common first.
const VOCABULARY: usize = 60_000;

#[tokio::main]
async fn main() {
    let images = std::env::args().nth(1).map_or(100_000, |count| count.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("library.sqlite");
    let options = SqliteOptions { durability: Durability::Off, ..SqliteOptions::default() };
    let sqlite = SqliteStore::open(&path, options).await.unwrap();
    sqlite.migrate().await.unwrap();
    let store: SharedStore = Arc::new(sqlite.clone());
    let seed = Seed::new(store.clone());
    let ann = seed.account(Plan::Paid).await;
    let began = Instant::now();
    let ids = build(&seed, ann, images).await;
    println!("{images} images built in {:.1} s", began.elapsed().as_secs_f64());
    println!("the file has {} MB", size(&path) / 1_000_000);
    let small = album(&seed, ann, &ids, 1000).await;
    let large = album(&seed, ann, &ids, 20_000.min(images / 2)).await;
    searches(&store, ann, images, &small, &large).await;
    costs(&sqlite).await;
}

fn size(path: &Path) -> u64 {
    std::fs::metadata(path).unwrap().len()
}

/// A pronounceable word for each number.
fn word(number: usize) -> String {
    const STARTS: [&str; 20] = [
        "b", "br", "c", "d", "f", "g", "gr", "h", "k", "l", "m", "n", "p", "pl", "r", "s", "st", "t", "v",
        "w",
    ];
    const ENDS: [&str; 12] = ["a", "e", "i", "o", "u", "an", "er", "in", "ol", "et", "ay", "ou"];
    let mut left = number;
    let mut word = String::new();
    for _ in 0..4 {
        word.push_str(STARTS[left % 20]);
        word.push_str(ENDS[left / 20 % 12]);
        left /= 240;
        if left == 0 && word.len() > 4 {
            break;
        }
    }
    word
}

/// A word with a Zipf distribution: the n-th word is 1/n times as frequent as the first.
fn any_word(random: &mut Rng) -> String {
    let share = random.f64();
    let count = f64::from(u32::try_from(VOCABULARY).unwrap());
    let number = count.powf(share) - 1.0;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and the vocabulary"
    )]
    word(number as usize)
}

fn text(random: &mut Rng, words: usize) -> String {
    (0..words).map(|_| any_word(random)).collect::<Vec<_>>().join(" ")
}

async fn build(seed: &Seed, ann: Viewer, images: usize) -> Vec<ImageId> {
    let mut random = Rng::with_seed(1);
    let mut ids = Vec::with_capacity(images);
    let mut at = NOW.plus_millis(-1_000_000_000_000);
    while ids.len() < images {
        let photos = (0..10_000.min(images - ids.len())).map(|number| {
            at = at.plus_millis(1000 + random.i64(0..900_000));
            let number = ids.len() + number;
            let mut photo = Photo::at(at).file_name(&format!("IMG_{number:07}.jpg"));
            let city = random.usize(0..300);
            let degrees = |of: usize| f64::from(u32::try_from(of).unwrap());
            photo = photo.place(&format!("{}, {}", word(70_000 + city), word(80_000 + city % 20))).position(
                degrees(city % 100) - 50.0 + random.f64() / 5.0,
                degrees(city) / 2.0 + random.f64() / 5.0,
            );
            let beach = if random.u32(0..10) < 3 { "beach " } else { "" };
            let sunset = if random.u32(0..10) < 3 { "sunset " } else { "" };
            let either = if number % 2 == 0 { "evening" } else { "morning" };
            let count = random.usize(4..14);
            photo = photo.description(&format!("{beach}{sunset}{either} {}", text(&mut random, count)));
            if random.u32(0..5) == 0 {
                let count = random.usize(5..65);
                photo = photo.text(&text(&mut random, count));
            }
            photo
        });
        let photos: Vec<Photo> = photos.collect();
        ids.extend(seed.images(ann.account, photos).await);
    }
    ids
}

async fn album(seed: &Seed, ann: Viewer, ids: &[ImageId], images: usize) -> domain::AlbumId {
    let album = seed.album(ann, "Some", &[]).await;
    let every: Vec<&ImageId> = ids.iter().step_by((ids.len() / images).max(1)).take(images).collect();
    for chunk in every.chunks(100) {
        let add = chunk.iter().map(ToString::to_string).collect();
        let change = domain::AlbumChange { add, ..Default::default() };
        let changed = seed.store().change_album(ann, &album, change, NOW).await.unwrap();
        assert!(matches!(changed, AlbumWrite::Done(_)));
    }
    album
}

/// CPU time of this process so far in milliseconds; 0 without `/proc`. User and system time, in hundredths of a
/// second, are the 14th and 15th fields of `stat`.
fn processor_ms() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let times = stat.split_whitespace().skip(13).take(2);
    times.filter_map(|time| time.parse::<f64>().ok()).sum::<f64>() * 10.0
}

/// Prints the median, the 99th percentile and the maximum of a few rounds, and the CPU time of each.
async fn time<T, F: Future<Output = T>>(label: &str, operation: impl Fn(usize) -> F) {
    let mut taken: Vec<Duration> = Vec::new();
    let before = processor_ms();
    for round in 0..ROUNDS {
        let began = Instant::now();
        operation(round).await;
        taken.push(began.elapsed());
    }
    let processor = (processor_ms() - before) / f64::from(u32::try_from(ROUNDS).unwrap());
    taken.sort();
    let ms = |at: usize| taken[at].as_secs_f64() * 1000.0;
    let (median, p99, max) = (ms(ROUNDS / 2), ms(ROUNDS * 99 / 100), ms(ROUNDS - 1));
    println!(
        "{label:<54} p50 {median:>7.2}  p99 {p99:>7.2}  slowest {max:>7.2} ms, processor {processor:>6.2} ms"
    );
}

async fn searches(
    store: &SharedStore,
    ann: Viewer,
    images: usize,
    small: &domain::AlbumId,
    large: &domain::AlbumId,
) {
    let any = Filter::default;
    let old = NOW.plus_millis(-990_000_000_000);
    let range = DateRange::new(Some(old), Some(old.plus_millis(2_600_000_000))).unwrap();
    let circle = |radius_m| Some(Circle::new(Position::new(0.0, 25.0).unwrap(), radius_m).unwrap());
    let rare = |round: usize| word(20_000 + round * 97 % 30_000);
    let middle = |round: usize| word(300 + round);
    let typo = |round: usize| {
        let mut word = word(5000 + round);
        word.insert(3, 'x');
        word
    };
    type Query = Box<dyn Fn(usize) -> String>;
    let always = |query: &'static str| -> Query { Box::new(move |_| query.to_owned()) };
    let many = (0..64).map(|number| word(number * 31)).collect::<Vec<_>>().join(" ");
    let unknown = (0..64).map(|number| format!("zzq{}", word(number * 31))).collect::<Vec<_>>().join(" ");
    let cases: Vec<(&str, Query, Filter)> = vec![
        ("a rare word", Box::new(rare), any()),
        ("a word of some images", Box::new(middle), any()),
        ("a word of 30 %", always("beach"), any()),
        ("a word of every file name", always("img"), any()),
        ("two words of 30 %", always("beach sunset"), any()),
        ("two words that no image has both", always("evening morning"), any()),
        (
            "two words of 30 % and a rare one",
            Box::new(move |round| format!("beach sunset {}", rare(round))),
            any(),
        ),
        (
            "three words of some images",
            Box::new(move |round| format!("{} {} {}", middle(round), middle(round + 7), middle(round + 70))),
            any(),
        ),
        ("an inflection of a common word", always("beaches"), any()),
        ("a prefix of two letters", always("be"), any()),
        ("a common word and a prefix", always("beach gr"), any()),
        ("a typo", Box::new(typo), any()),
        ("an unknown long word", always("zzzunknownword"), any()),
        ("64 known words", Box::new(move |_| many.clone()), any()),
        ("64 unknown words", Box::new(move |_| unknown.clone()), any()),
        ("a word of 30 % in an old month", always("beach"), Filter { range, ..Filter::default() }),
        ("a rare word in an old month", Box::new(rare), Filter { range, ..Filter::default() }),
        (
            "a word of 30 % in an album of 1,000",
            always("beach"),
            Filter { album: Some(small.clone()), ..Filter::default() },
        ),
        (
            "a word of 30 % in a large album",
            always("beach"),
            Filter { album: Some(large.clone()), ..Filter::default() },
        ),
        (
            "a rare word in a large album",
            Box::new(rare),
            Filter { album: Some(large.clone()), ..Filter::default() },
        ),
        (
            "two words never together, in a large album",
            always("evening morning"),
            Filter { album: Some(large.clone()), ..Filter::default() },
        ),
        (
            "a word of 30 % within 20 km",
            always("beach"),
            Filter { circle: circle(20_000.0), ..Filter::default() },
        ),
        (
            "a word of 30 % within 2,000 km",
            always("beach"),
            Filter { circle: circle(2_000_000.0), ..Filter::default() },
        ),
    ];
    for (name, query, filter) in &cases {
        for max in [50, 400] {
            let columns = TextColumns::ContentAndContext;
            let search = async |round: usize| {
                let text = QueryText::parse(&query(round)).unwrap();
                store.match_text(ann, &text, columns, filter, max).await.unwrap().len()
            };
            if max == 400 && images > 200_000 && !name.contains("30 %") {
                continue;
            }
            let found = search(3).await;
            time(&format!("{name}, {max}: {found}"), search).await;
        }
    }
    let free = Viewer { plan: Plan::Free, free_window: 1000, ..ann };
    let text = QueryText::parse("beach").unwrap();
    time("a word of 30 %, free plan, window of 1,000", async |_| {
        store.match_text(free, &text, TextColumns::Content, &any(), 50).await.unwrap().len()
    })
    .await;
}

/// Times indexing images again, which costs as much as removing and adding them.
async fn costs(sqlite: &SqliteStore) {
    let began = Instant::now();
    let before = processor_ms();
    let mut done = 0;
    let mut slowest = Duration::ZERO;
    while done < 20_000 {
        let step = Instant::now();
        let count = sqlite.reindex_words(500).await.unwrap();
        slowest = slowest.max(step.elapsed());
        done += count;
        if count == 0 {
            break;
        }
    }
    let processor = (processor_ms() - before) / f64::from(done.max(1));
    let each = began.elapsed().as_secs_f64() * 1000.0 / f64::from(done.max(1));
    println!(
        "reindex_words, {done} in batches of 500: {each:.3} ms each, {processor:.3} ms of CPU, slowest batch {} ms",
        slowest.as_millis()
    );
    let began = Instant::now();
    let left = sqlite.count_outdated_words().await.unwrap();
    println!("count_outdated_words: {left} in {:.1} ms", began.elapsed().as_secs_f64() * 1000.0);
}
