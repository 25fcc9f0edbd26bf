use std::{
    panic::resume_unwind,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use crate::{
    Error, Index, RowFilter, ScoredRow,
    best::Best,
    codes::Query,
    segment::{ROWS, Segment},
};

/// Minimum number of rows per thread.
const MIN_ROWS_PER_THREAD: usize = 25_000;

#[derive(Debug, Clone, Copy)]
pub struct ScanOptions {
    /// The number of most similar rows to return.
    pub best: usize,
    /// The maximum number of threads, including the caller's. 0 counts as 1. Few rows use fewer threads.
    pub threads: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ScanResult {
    /// The most similar rows, [best first](ScoredRow::best_first).
    pub best: Vec<ScoredRow>,
    /// The number of rows that passed the filter.
    pub rows: usize,
}

impl Index {
    /// Finds the rows most similar to a query among all rows that pass a filter. Blocks for up to some hundredths of a
    /// second.
    ///
    /// An image that was encoded again has several rows. Only the latest one is in the store.
    ///
    /// # Errors
    /// [`Error`] if the query does not fit the index.
    pub fn scan(
        &self,
        query: &[f32],
        filter: &RowFilter<'_>,
        options: ScanOptions,
    ) -> Result<ScanResult, Error> {
        self.check(query.len())?;
        let query = Query::new(query)?;
        let next = AtomicUsize::new(0);
        let work = || {
            let mut worker = Worker::new(&query, filter, options);
            while let Some(segment) = self.segments().get(next.fetch_add(1, Ordering::Relaxed)) {
                worker.scan(segment);
            }
            worker
        };
        let threads = options.threads.min(self.len() / MIN_ROWS_PER_THREAD).max(1);
        let mut workers = thread::scope(|scope| {
            // A thread that cannot be started is left out.
            let others: Vec<_> = (1..threads)
                .filter_map(|_| thread::Builder::new().name("search".into()).spawn_scoped(scope, work).ok())
                .collect();
            let mut workers = vec![work()];
            for other in others {
                workers.push(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
            }
            workers.into_iter()
        });
        let mut all = workers.next().unwrap_or_else(|| Worker::new(&query, filter, options));
        workers.for_each(|worker| all.merge(worker));
        Ok(ScanResult { best: all.best.into_hits(), rows: all.passed })
    }
}

/// One thread of a scan.
struct Worker<'a> {
    query: &'a Query,
    filter: &'a RowFilter<'a>,
    best: Best,
    /// The number of rows that passed the filter.
    passed: usize,
    /// The numbers of all rows of a full segment.
    all_rows: Vec<u16>,
    /// The buffers below are reused for each segment.
    rows: Vec<u16>,
    dots: Vec<i32>,
}

impl<'a> Worker<'a> {
    fn new(query: &'a Query, filter: &'a RowFilter<'a>, options: ScanOptions) -> Self {
        Self {
            query,
            filter,
            best: Best::new(options.best),
            passed: 0,
            all_rows: (0..=u16::MAX).take(ROWS).collect(),
            rows: Vec::new(),
            dots: Vec::new(),
        }
    }

    fn scan(&mut self, segment: &Segment) {
        self.filter.select(segment, &self.all_rows, &mut self.rows);
        self.multiply(segment);
        self.passed += self.rows.len();
        let mut min_similarity = self.best.min_similarity();
        for (row, dot) in self.rows.iter().map(|row| usize::from(*row)).zip(&self.dots) {
            let Some(unit) = segment.units().get(row) else { continue };
            let similarity = *dot as f32 * (unit * self.query.unit);
            if similarity >= min_similarity
                && let Some(hit) = hit(segment, row, similarity)
            {
                self.best.push(hit);
                min_similarity = self.best.min_similarity();
            }
        }
    }

    /// Computes the dot products of the rows that passed. If many but scattered rows passed, it is faster to compute
    /// all products in order and to pick theirs.
    fn multiply(&mut self, segment: &Segment) {
        let skipped = segment.len() - self.rows.len();
        if skipped == 0 || skipped > 2 * self.rows.len() || is_run(&self.rows) {
            return self.query.dots(segment.codes(), &self.rows, &mut self.dots);
        }
        let all_rows = self.all_rows.get(..segment.len()).unwrap_or_default();
        self.query.dots(segment.codes(), all_rows, &mut self.dots);
        for (place, row) in self.rows.iter().enumerate() {
            // `row` is never less than `place`, so that no product is overwritten before it is read.
            let dot = self.dots.get(usize::from(*row)).copied().unwrap_or_default();
            if let Some(slot) = self.dots.get_mut(place) {
                *slot = dot;
            }
        }
        self.dots.truncate(self.rows.len());
    }

    fn merge(&mut self, other: Self) {
        self.best.merge(other.best);
        self.passed += other.passed;
    }
}

/// Whether the rows are consecutive.
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
