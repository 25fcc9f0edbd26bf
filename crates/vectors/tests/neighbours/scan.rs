use std::{collections::BTreeSet, ops::RangeInclusive};

use proptest::prelude::*;
use vectors::{
    Area, Error, Index, KeySet, PositionE7, Row, RowFilter, RowId, ScanOptions, ScanResult, ScoredRow,
    dot_f16, encode_f16,
};

use crate::{position, row, vector};

fn options(best: usize) -> ScanOptions {
    ScanOptions { best, threads: 1 }
}

fn index_of(vectors: &[Vec<f32>]) -> Index {
    let mut index = Index::new(vectors[0].len());
    for (number, vector) in vectors.iter().enumerate() {
        index.push_f16(row(number), &encode_f16(vector)).unwrap();
    }
    index
}

/// The numbers of the most similar stored vectors.
fn exact(query: &[f32], stored: &[Vec<u8>], most: usize) -> Vec<usize> {
    let mut all: Vec<(f32, usize)> =
        stored.iter().enumerate().map(|(number, bytes)| (dot_f16(query, bytes).unwrap(), number)).collect();
    all.sort_by(|one, two| two.0.total_cmp(&one.0).then(two.1.cmp(&one.1)));
    all.into_iter().take(most).map(|(_, number)| number).collect()
}

/// The numbers of a scan's candidates, sorted by their exact similarities to the stored vectors.
fn rescored(query: &[f32], stored: &[Vec<u8>], scan: &ScanResult, most: usize) -> Vec<usize> {
    let mut hits: Vec<ScoredRow> = scan.best.clone();
    for hit in &mut hits {
        hit.similarity = dot_f16(query, &stored[usize::try_from(hit.vector.0 - 1).unwrap()]).unwrap();
    }
    hits.sort_by(ScoredRow::best_first);
    hits.iter().take(most).map(|hit| usize::try_from(hit.vector.0 - 1).unwrap()).collect()
}

#[test]
fn best_100_are_among_200_candidates() {
    let dimensions = 512;
    let random = &mut fastrand::Rng::with_seed(1);
    let uniform: Vec<Vec<f32>> = (0..4000).map(|_| vector(random, dimensions, None)).collect();
    let centres: Vec<Vec<f32>> = (0..40).map(|_| vector(random, dimensions, None)).collect();
    // Clusters of different density, like photos of the same subjects.
    let clustered: Vec<Vec<f32>> = (0..4000)
        .map(|number| {
            let spread = [0.9, 0.5, 0.2][number % 3];
            vector(random, dimensions, Some((&centres[number % centres.len()], spread)))
        })
        .collect();
    for (name, vectors) in [("uniform", uniform), ("clustered", clustered)] {
        let index = index_of(&vectors);
        let stored: Vec<Vec<u8>> = vectors.iter().map(|vector| encode_f16(vector)).collect();
        for centre in centres.iter().take(5) {
            let query = vector(random, dimensions, Some((centre, 1.0)));
            let scan = index.scan(&query, &RowFilter::default(), options(200)).unwrap();
            assert_eq!(scan.best.len(), 200);
            assert_eq!(rescored(&query, &stored, &scan, 100), exact(&query, &stored, 100), "{name}");
        }
    }
}

#[test]
fn result_does_not_depend_on_the_number_of_threads() {
    let random = &mut fastrand::Rng::with_seed(2);
    let vectors: Vec<Vec<f32>> = (0..60_000).map(|_| vector(random, 8, None)).collect();
    let index = index_of(&vectors);
    let query = vector(random, 8, None);
    let scan =
        |threads| index.scan(&query, &RowFilter::default(), ScanOptions { best: 50, threads }).unwrap();
    let alone = scan(1);
    assert_eq!((alone.best.len(), alone.rows), (50, 60_000));
    for threads in [0, 2, 3, 100] {
        assert_eq!(scan(threads), alone, "{threads}");
    }
}

#[test]
fn filters_apply_in_every_segment() {
    let random = &mut fastrand::Rng::with_seed(3);
    let vectors: Vec<Vec<f32>> = (0..7000).map(|_| vector(random, 4, None)).collect();
    let index = index_of(&vectors);
    let query = vector(random, 4, None);
    // If many scattered rows pass, the scan computes all products, otherwise only those of the passing rows.
    for share in [1, 2, 3, 50, 3000] {
        let images: KeySet = (0..7000).step_by(share).map(|number| row(number).image).collect();
        let filter = RowFilter { images: Some(&images), ..RowFilter::default() };
        let scan = index.scan(&query, &filter, options(7000)).unwrap();
        assert_eq!(scan.best.len(), images.len(), "{share}");
        for hit in &scan.best {
            let number = usize::try_from(hit.vector.0 - 1).unwrap();
            let exact: f32 = vectors[number].iter().zip(&query).map(|(one, other)| one * other).sum();
            assert!((hit.similarity - exact).abs() < 0.02 && number % share == 0, "{number} {share}");
        }
        assert!(scan.best.is_sorted_by(|one, other| one.best_first(other).is_lt()));
    }
}

#[test]
fn equal_similarities_are_sorted_newest_first() {
    let mut index = Index::new(2);
    for (vector, captured_at_ms) in [(1, 50), (2, 70), (3, 50), (4, 60), (9, 70)] {
        let row = Row { vector: RowId(vector), image: 100 - vector, captured_at_ms, position: None };
        index.push(row, &[0.5, 0.5]).unwrap();
    }
    for most in 0..=7 {
        let scan = index.scan(&[1.0, 0.0], &RowFilter::default(), options(most)).unwrap();
        let found: Vec<i64> = scan.best.iter().map(|hit| hit.vector.0).collect();
        assert_eq!(found, [9, 2, 4, 3, 1][..most.min(5)]);
        assert!(scan.best.iter().all(|hit| (hit.similarity - 0.5).abs() < 1e-3));
    }
}

#[test]
fn empty_index_and_empty_vectors_are_supported() {
    let scan = Index::new(3).scan(&[1.0, 0.0, 0.0], &RowFilter::default(), options(5)).unwrap();
    assert_eq!((scan.best.len(), scan.rows), (0, 0));
    let mut without_numbers = Index::new(0);
    without_numbers.push(row(0), &[]).unwrap();
    let scan = without_numbers.scan(&[], &RowFilter::default(), options(5)).unwrap();
    assert_eq!((scan.best.len(), scan.best[0].similarity), (1, 0.0));
}

#[test]
fn invalid_vectors_are_refused() {
    let mut index = Index::new(2);
    index.push(row(4), &[1.0, 0.0]).unwrap();
    let wrong = |given| Error::Dimensions { expected: 2, given };
    let all = RowFilter::default();
    assert_eq!(index.scan(&[1.0], &all, options(1)).unwrap_err(), wrong(1));
    assert_eq!(index.push(row(5), &[1.0; 3]), Err(wrong(3)));
    assert_eq!(index.push_f16(row(5), &[0; 3]), Err(wrong(1)));
    assert_eq!(index.push_f16(row(5), &[0; 5]), Err(wrong(2)));
    assert_eq!(index.push_f16(row(5), &[0; 6]), Err(wrong(3)));
    assert_eq!(index.push_f16(row(5), &encode_f16(&[f32::INFINITY, 0.0])), Err(Error::Number));
    for bad in [f32::NAN, f32::INFINITY, f32::MAX] {
        assert_eq!(index.push(row(5), &[bad, 0.0]), Err(Error::Number));
        assert_eq!(index.scan(&[0.0, bad], &all, options(1)).unwrap_err(), Error::Number);
    }
    for again in [4, 3] {
        let given = row(again).vector;
        assert_eq!(index.push(row(again), &[1.0, 0.0]), Err(Error::Order { last: RowId(5), given }));
    }
    assert_eq!((index.len(), index.last()), (1, Some(RowId(5))));
    assert_eq!(index.scan(&[0.0, 0.0], &all, options(1)).unwrap().best[0].similarity, 0.0);
    let mut huge = Index::new(70_000);
    assert!(huge.push(row(0), &vec![0.0; 70_000]).is_err());
}

#[test]
fn snapshot_does_not_contain_later_rows() {
    let mut index = Index::new(4);
    let mut snapshots = Vec::new();
    for number in 0..5000 {
        if number % 700 == 3 {
            snapshots.push((number, index.clone()));
        }
        index.push(row(number), &[1.0, 0.0, 0.0, number as f32]).unwrap();
    }
    std::thread::scope(|scope| {
        for (count, snapshot) in &snapshots {
            scope.spawn(move || {
                let scan = snapshot.scan(&[0.0, 0.0, 0.0, 1.0], &RowFilter::default(), options(1)).unwrap();
                assert_eq!((snapshot.len(), scan.rows), (*count, *count));
                assert_eq!(scan.best[0].vector, row(count - 1).vector);
            });
        }
        for number in 5000..6000 {
            index.push(row(number), &[0.0; 4]).unwrap();
        }
    });
    assert_eq!(index.len(), 6000);
}

#[test]
fn row_of_512_numbers_takes_at_most_600_bytes() {
    let mut index = Index::new(512);
    let vector = vec![0.1; 512];
    for number in 0..30_000 {
        index.push(row(number), &vector).unwrap();
        if index.len() >= 20_000 {
            assert!(index.bytes() <= 600 * index.len(), "{} for {}", index.bytes(), index.len());
        }
    }
    let mut small = Index::new(512);
    small.push(row(0), &vector).unwrap();
    assert!(small.bytes() < 20_000, "{}", small.bytes());
}

/// The reference for a filter: it checks each row on its own.
#[derive(Debug, Clone)]
struct PlainFilter {
    captured_ms: Option<RangeInclusive<i64>>,
    areas: Option<Vec<Area>>,
    northern: bool,
    images: Option<BTreeSet<i64>>,
}

impl PlainFilter {
    fn passes(&self, row: &Row) -> bool {
        let inside = |areas: &Vec<Area>| {
            row.position.is_some_and(|position| areas.iter().any(|area| area.contains(position)))
        };
        self.captured_ms.as_ref().is_none_or(|range| range.contains(&row.captured_at_ms))
            && self.areas.as_ref().is_none_or(inside)
            && (!self.northern || row.position.is_some_and(is_northern))
            && self.images.as_ref().is_none_or(|images| images.contains(&row.image))
    }
}

fn is_northern(position: PositionE7) -> bool {
    position.latitude_e7 > 0
}

fn plain_filter() -> impl Strategy<Value = PlainFilter> {
    let range = prop::option::of((0_i64..100, 0_i64..100).prop_map(|(from, to)| from..=to));
    let area = (-90.0..90.0, -180.0..180.0, 0.0..90.0, 0.0..90.0).prop_map(|(south, west, high, wide)| {
        let east: f64 = west + wide;
        // An area across the 180° meridian is split in two.
        match east > 180.0 {
            true => vec![
                Area::from_degrees(south, west, south + high, 180.0),
                Area::from_degrees(south, -180.0, south + high, east - 360.0),
            ],
            false => vec![Area::from_degrees(south, west, south + high, east)],
        }
    });
    let images = prop::option::of(prop::collection::btree_set(0_i64..40, 0..30));
    (range, prop::option::of(area), any::<bool>(), images).prop_map(
        |(captured_ms, areas, northern, images)| PlainFilter { captured_ms, areas, northern, images },
    )
}

proptest! {
    #[test]
    fn filter_passes_the_same_rows_as_the_reference(
        filter in plain_filter(),
        rows in prop::collection::vec(
            (0_i64..40, 0_i64..100, prop::option::of((-90.0..90.0, -180.0..180.0)), -1.0_f32..1.0),
            0..80,
        ),
        most in 0_usize..20,
    ) {
        let mut index = Index::new(1);
        let rows: Vec<(Row, f32)> = rows.into_iter().zip(1..).map(|((image, captured_at_ms, place, value), vector)| {
            let position = place.and_then(|(latitude, longitude)| position(latitude, longitude));
            (Row { vector: RowId(vector), image, captured_at_ms, position }, value)
        }).collect();
        for (row, value) in &rows {
            index.push(*row, &[*value]).unwrap();
        }
        let images: Option<KeySet> = filter.images.as_ref().map(|images| images.iter().copied().collect());
        let given = RowFilter {
            captured_ms: filter.captured_ms.clone(),
            areas: filter.areas.as_deref(),
            accepts: if filter.northern { Some(&is_northern) } else { None },
            images: images.as_ref(),
        };
        let scan = index.scan(&[1.0], &given, options(most)).unwrap();

        let passing: Vec<&(Row, f32)> = rows.iter().filter(|(row, _)| filter.passes(row)).collect();
        prop_assert_eq!(scan.rows, passing.len());
        let mut best = passing;
        best.sort_by(|one, two| {
            let key = |row: &Row| (row.captured_at_ms, row.vector);
            two.1.total_cmp(&one.1).then_with(|| key(&two.0).cmp(&key(&one.0)))
        });
        let expect: Vec<RowId> = best.iter().take(most).map(|(row, _)| row.vector).collect();
        prop_assert_eq!(scan.best.iter().map(|hit| hit.vector).collect::<Vec<_>>(), expect);
    }
}

proptest! {
    #[test]
    fn appended_indexes_have_the_rows_of_one_index(
        lengths in prop::collection::vec(prop_oneof![0_usize..40, 1500_usize..5000], 1..6),
        captured_ms in (0_i64..20_000, 0_i64..20_000),
    ) {
        let random = &mut fastrand::Rng::with_seed(5);
        let count = lengths.iter().sum();
        let vectors: Vec<Vec<f32>> = (0..count).map(|_| vector(random, 3, None)).collect();
        // The images are in no order, and some have several vectors.
        let rows: Vec<Row> = (0..count)
            .map(|number| Row {
                image: random.i64(0..10_000),
                captured_at_ms: i64::try_from(number * 2).unwrap() + random.i64(0..50),
                ..row(number)
            })
            .collect();
        let (mut all, mut appended, mut first) = (Index::new(3), Index::new(3), 0);
        for length in lengths {
            let mut part = Index::new(3);
            for number in first..first + length {
                all.push(rows[number], &vectors[number]).unwrap();
                part.push(rows[number], &vectors[number]).unwrap();
            }
            appended.append(part).unwrap();
            first += length;
        }
        prop_assert_eq!((appended.len(), appended.last()), (all.len(), all.last()));
        prop_assert!(appended.bytes() <= 2 * all.bytes());
        let images: KeySet = (0..2000).collect();
        let few: KeySet = (0..100).collect();
        let period = RowFilter { captured_ms: Some(captured_ms.0..=captured_ms.1), ..RowFilter::default() };
        let (many, some) = (RowFilter { images: Some(&images), ..period.clone() }, RowFilter { images: Some(&few), ..RowFilter::default() });
        for filter in [RowFilter::default(), period, many, some] {
            let query = vector(random, 3, None);
            let scan = |index: &Index| index.scan(&query, &filter, options(count)).unwrap();
            let found = scan(&appended);
            prop_assert_eq!(&found, &scan(&all));
            let passes = |row: &&Row| {
                filter.captured_ms.as_ref().is_none_or(|range| range.contains(&row.captured_at_ms))
                    && filter.images.is_none_or(|images| images.contains(row.image))
            };
            prop_assert_eq!(found.rows, rows.iter().filter(passes).count());
        }
        if let Some(last) = all.last() {
            let mut part = Index::new(3);
            part.push(Row { vector: last, ..row(0) }, &[0.0; 3]).unwrap();
            prop_assert_eq!(appended.append(part), Err(Error::Order { last, given: last }));
        }
    }
}
