//! Measures scans of indexes with 10,000, 100,000 and one million vectors.
//!
//! `cargo run --release --example scan -p vectors [ROWS]...`
#![expect(clippy::unwrap_used, reason = "an example stops at the first failure")]

use std::{
    collections::BTreeSet,
    hint::black_box,
    time::{Duration, Instant},
};

use vectors::{Area, Index, KeySet, PositionE7, Row, RowFilter, RowId, ScanOptions, dot_f16, encode_f16};

const DIMENSIONS: usize = 512;
/// The number of clusters, like photos of the same subjects.
const CENTRES: usize = 500;
/// Ten years.
const SPAN_MS: i64 = 315_000_000_000;
/// The number of candidates to score again.
const CANDIDATES: usize = 200;
/// How many of the best rows should be among the candidates.
const BEST: usize = 100;

fn main() {
    let sizes: Vec<usize> = std::env::args().skip(1).map(|size| size.parse().unwrap()).collect();
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!("{DIMENSIONS} dimensions; load {}", load.trim());
    for rows in if sizes.is_empty() { vec![10_000, 100_000, 1_000_000] } else { sizes } {
        measure(rows);
    }
}

fn measure(rows: usize) {
    let random = &mut fastrand::Rng::with_seed(7);
    let centres: Vec<Vec<f32>> = (0..CENTRES).map(|_| vector(random, None)).collect();
    println!("\n{rows} rows");
    let (index, stored) = fill(rows, &centres, random);
    let queries: Vec<Vec<f32>> = (0..20)
        .map(|number| vector(random, centres.get(number * 7).map(|centre| (centre.as_slice(), 1.0))))
        .collect();
    if rows <= 100_000 {
        recall(&index, &stored, &queries);
    }
    rescore(&stored, &queries);

    let all = RowFilter::default();
    let time = |what: &str, filter: &RowFilter<'_>, threads: usize| {
        let options = ScanOptions { best: CANDIDATES, threads };
        let rounds = (20_000_000 / rows).clamp(60, 1000);
        let mut passed = 0;
        let took = times(rounds, |round| {
            let query = queries.get(round % queries.len()).unwrap();
            passed = index.scan(query, filter, options).unwrap().rows;
        });
        println!(
            "  {what:<44} {threads} threads  {:>8.2} ms best  {:>8.2} ms p50  {:>8.2} ms p99  {passed:>8} rows",
            took[0], took[1], took[2]
        );
    };
    time("all", &all, 1);
    time("all", &all, 2);
    let captured = |from: i64, to: i64| RowFilter {
        captured_ms: Some(SPAN_MS / 100 * from..=SPAN_MS / 100 * to),
        ..all.clone()
    };
    time("one month of ten years", &captured(50, 51), 1);
    time("five of ten years", &captured(25, 75), 1);
    let areas = [Area::from_degrees(48.0, 11.0, 48.2, 11.3)];
    time("a town", &RowFilter { areas: Some(&areas), ..all.clone() }, 1);
    let step = i64::try_from(rows / 500).unwrap();
    let album: KeySet = (0..500).map(|number| number * step).collect();
    time("an album of 500 scattered images", &RowFilter { images: Some(&album), ..all.clone() }, 1);
    let half: KeySet = (0..i64::try_from(rows).unwrap()).filter(|number| number % 2 == 0).collect();
    time("an album of every second image", &RowFilter { images: Some(&half), ..all.clone() }, 1);
}

fn fill(rows: usize, centres: &[Vec<f32>], random: &mut fastrand::Rng) -> (Index, Vec<Vec<u8>>) {
    let mut index = Index::new(DIMENSIONS);
    let (mut took, mut stored) = (Duration::ZERO, Vec::new());
    for number in 0..rows {
        let centre =
            centres.get(number % CENTRES).map(|centre| (centre.as_slice(), [0.9, 0.5, 0.2][number % 3]));
        let bytes = encode_f16(&vector(random, centre));
        let number = i64::try_from(number).unwrap();
        let position = PositionE7::from_degrees(46.0 + 4.0 * random.f64(), 9.0 + 6.0 * random.f64());
        let row = Row {
            vector: RowId(number + 1),
            image: number,
            captured_at_ms: SPAN_MS / i64::try_from(rows).unwrap() * number,
            position: Some(position),
        };
        let began = Instant::now();
        index.push_f16(row, &bytes).unwrap();
        took += began.elapsed();
        if stored.len() < 100_000 {
            stored.push(bytes);
        }
    }
    let count = rows as f64;
    println!(
        "  {:.0} bytes a row, {:.2} µs to append one",
        index.bytes() as f64 / count,
        took.as_secs_f64() * 1e6 / count
    );
    let began = Instant::now();
    let mut next = index.clone();
    let row = Row { vector: RowId(i64::MAX), image: 0, captured_at_ms: 0, position: None };
    next.push_f16(row, stored.first().unwrap()).unwrap();
    println!("  {:.0} µs to append one beside a snapshot", began.elapsed().as_secs_f64() * 1e6);
    (index, stored)
}

/// Counts how many of the best rows are among the candidates.
fn recall(index: &Index, stored: &[Vec<u8>], queries: &[Vec<f32>]) {
    let mut found = 0;
    for query in queries {
        let mut all: Vec<(f32, i64)> =
            (0..).zip(stored).map(|(number, bytes)| (dot_f16(query, bytes).unwrap(), number)).collect();
        all.sort_by(|one, two| two.0.total_cmp(&one.0));
        let options = ScanOptions { best: CANDIDATES, threads: 2 };
        let scan = index.scan(query, &RowFilter::default(), options).unwrap();
        let images: BTreeSet<i64> = scan.best.iter().map(|hit| hit.image).collect();
        found += all.iter().take(BEST).filter(|(_, image)| images.contains(image)).count();
    }
    let of = queries.len() * BEST;
    println!("  {found} of {of} of the best {BEST} are among {CANDIDATES} candidates");
}

fn rescore(stored: &[Vec<u8>], queries: &[Vec<f32>]) {
    let [_, p50, _] = times(50, |round| {
        let query = queries.get(round % queries.len()).unwrap();
        for bytes in stored.iter().take(CANDIDATES) {
            black_box(dot_f16(query, bytes));
        }
    });
    println!("  {:.0} µs to score {CANDIDATES} again", p50 * 1000.0);
}

/// The minimum, median and 99th percentile in milliseconds, after a tenth of the rounds as warm-up.
fn times(rounds: usize, mut round: impl FnMut(usize)) -> [f64; 3] {
    (0..rounds / 10).for_each(&mut round);
    let mut took: Vec<f64> = (0..rounds)
        .map(|number| {
            let began = Instant::now();
            round(number);
            began.elapsed().as_secs_f64() * 1000.0
        })
        .collect();
    took.sort_by(f64::total_cmp);
    [took[0], took[rounds / 2], took[rounds * 99 / 100]]
}

/// A random unit vector, near another one if given. Its numbers are about normally distributed.
fn vector(random: &mut fastrand::Rng, near: Option<(&[f32], f32)>) -> Vec<f32> {
    let mut number = || (0..4).map(|_| random.f32()).sum::<f32>() - 2.0;
    let mut vector: Vec<f32> = (0..DIMENSIONS).map(|_| number()).collect();
    normalise(&mut vector);
    if let Some((centre, spread)) = near {
        vector.iter_mut().zip(centre).for_each(|(number, centre)| *number = *number * spread + centre);
        normalise(&mut vector);
    }
    vector
}

fn normalise(vector: &mut [f32]) {
    let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    vector.iter_mut().for_each(|number| *number /= length);
}
