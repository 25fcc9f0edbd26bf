use std::{
    panic::resume_unwind,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use crate::{Error, Index, RowFilter, ScoredRow, best::Best, codes::Query, segment::Segment};

/// A thread is worth its start for so many rows.
const ROWS_FOR_A_THREAD: usize = 25_000;

/// What a search is to find.
#[derive(Debug, Clone, Copy)]
pub struct ScanOptions {
    /// So many rows, the most similar ones.
    pub best: usize,
    /// At most so many threads, that of the caller among them; few rows are left to fewer. 0 is 1.
    pub threads: usize,
}

/// What a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct ScanResult {
    /// The most similar rows, [best first](Hit::best_first).
    pub best: Vec<ScoredRow>,
    /// The similarities of all rows that passed the filter.
    pub summary: Summary,
}

/// How similarities lie.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Summary {
    /// How many there are.
    pub rows: usize,
    /// Their mean; 0 of none.
    pub mean: f64,
    /// Their standard deviation; 0 of none.
    pub deviation: f64,
}

impl Index {
    /// The rows most similar to a query, among those that pass a filter: all are looked at. It computes for up to some
    /// hundredths of a second.
    ///
    /// An image can have two rows, when it was encoded again: the later row counts, and the store knows only that.
    ///
    /// # Errors
    /// [`Error`] when the query is no vector of this index.
    pub fn scan(
        &self,
        query: &[f32],
        filter: &RowFilter<'_>,
        wanted: ScanOptions,
    ) -> Result<ScanResult, Error> {
        self.check(query)?;
        let query = Query::new(query)?;
        let next = AtomicUsize::new(0);
        let work = || {
            let mut worker = Worker::new(&query, filter, wanted);
            while let Some(segment) = self.segments().get(next.fetch_add(1, Ordering::Relaxed)) {
                worker.look_through(segment);
            }
            worker
        };
        let threads = wanted.threads.min(self.len() / ROWS_FOR_A_THREAD).max(1);
        let mut workers = thread::scope(|scope| {
            // One that cannot be started is done without.
            let others: Vec<_> = (1..threads)
                .filter_map(|_| thread::Builder::new().name("search".into()).spawn_scoped(scope, work).ok())
                .collect();
            let mut workers = vec![work()];
            for other in others {
                workers.push(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
            }
            workers.into_iter()
        });
        let mut all = workers.next().unwrap_or_else(|| Worker::new(&query, filter, wanted));
        workers.for_each(|worker| all.merge(worker));
        Ok(all.into_scan())
    }
}

/// One thread of a search.
struct Worker<'a> {
    query: &'a Query,
    filter: &'a RowFilter<'a>,
    best: Best,
    sums: Sums,
    /// Kept from segment to segment.
    rows: Vec<u16>,
    all_rows: Vec<u16>,
    dots: Vec<i32>,
}

impl<'a> Worker<'a> {
    fn new(query: &'a Query, filter: &'a RowFilter<'a>, wanted: ScanOptions) -> Self {
        Self {
            query,
            filter,
            best: Best::new(wanted.best),
            sums: Sums::default(),
            rows: Vec::new(),
            all_rows: Vec::new(),
            dots: Vec::new(),
        }
    }

    fn look_through(&mut self, segment: &Segment) {
        self.filter.select(segment, &mut self.rows);
        self.multiply(segment);
        let mut sums = Sums { rows: self.rows.len(), ..Sums::default() };
        let mut least = self.best.least();
        for (row, dot) in self.rows.iter().map(|row| usize::from(*row)).zip(&self.dots) {
            let Some(unit) = segment.units().get(row) else { continue };
            let similarity = *dot as f32 * (unit * self.query.unit);
            sums.add(similarity);
            if similarity >= least
                && let Some(hit) = hit(segment, row, similarity)
            {
                self.best.offer(hit);
                least = self.best.least();
            }
        }
        self.sums.merge(&sums);
    }

    /// The products of the rows that pass. When many do, here and there, to read all in order is faster than to skip.
    fn multiply(&mut self, segment: &Segment) {
        let skipped = segment.len() - self.rows.len();
        if skipped == 0 || skipped > 2 * self.rows.len() || is_run(&self.rows) {
            return self.query.dots(segment.codes(), &self.rows, &mut self.dots);
        }
        self.all_rows.clear();
        self.all_rows.extend((0..=u16::MAX).take(segment.len()));
        self.query.dots(segment.codes(), &self.all_rows, &mut self.dots);
        for (place, row) in self.rows.iter().enumerate() {
            // A row is never before its place.
            let dot = self.dots.get(usize::from(*row)).copied().unwrap_or_default();
            if let Some(slot) = self.dots.get_mut(place) {
                *slot = dot;
            }
        }
        self.dots.truncate(self.rows.len());
    }

    fn merge(&mut self, other: Self) {
        self.best.merge(other.best);
        self.sums.merge(&other.sums);
    }

    fn into_scan(self) -> ScanResult {
        ScanResult { best: self.best.into_hits(), summary: self.sums.summary() }
    }
}

/// Whether rows follow each other without a gap.
fn is_run(rows: &[u16]) -> bool {
    match rows {
        [first, .., last] => usize::from(last - first) + 1 == rows.len(),
        _ => true,
    }
}

fn hit(segment: &Segment, row: usize, similarity: f32) -> Option<ScoredRow> {
    let row = segment.row(row)?;
    Some(ScoredRow { vector: row.vector, image: row.image, captured_at_ms: row.captured_at_ms, similarity })
}

/// Sums of similarities and of their squares.
#[derive(Default)]
struct Sums {
    rows: usize,
    of_similarities: f64,
    of_squares: f64,
}

impl Sums {
    fn add(&mut self, similarity: f32) {
        let similarity = f64::from(similarity);
        self.of_similarities += similarity;
        self.of_squares += similarity * similarity;
    }

    fn merge(&mut self, other: &Self) {
        self.rows += other.rows;
        self.of_similarities += other.of_similarities;
        self.of_squares += other.of_squares;
    }

    fn summary(&self) -> Summary {
        if self.rows == 0 {
            return Summary::default();
        }
        let mean = self.of_similarities / self.rows as f64;
        let variance = self.of_squares / self.rows as f64 - mean * mean;
        Summary { rows: self.rows, mean, deviation: variance.max(0.0).sqrt() }
    }
}
