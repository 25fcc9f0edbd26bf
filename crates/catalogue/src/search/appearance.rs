//! The image channel: compares the embedding of a query with the embeddings of images.

use std::{
    collections::{HashMap, HashSet},
    mem::replace,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use domain::{AccountId, Circle, Filter, Position, QueryText, Timestamp};
use futures_util::{StreamExt as _, stream::FuturesOrdered};
use indexer::SharedEncoder;
use storage::{
    EncoderId, ImageKey, SharedStore, StorageError, StoredVector, VectorId, Viewer, VisibleVector,
};
use threads::run_limited;
use tokio::{sync::Semaphore, task::JoinError};
use vectors::{Area, Cache, Index, IndexKey, KeySet, Row, RowFilter, ScanOptions, dot_f16};
use vision::{EncodeError, EncodedQuery};

use super::ActiveEncoder;
use crate::Catalogue;

/// How many vectors are read from the store in one operation.
const PAGE: u32 = 4096;
/// The least number of candidates that the first scan returns for exact scoring. The scan compares rounded vectors, so it
/// may miss a few results at the end of a shorter list.
const MIN_CANDIDATES: usize = 100;
/// How many candidates the first scan returns for each requested result.
const CANDIDATES_PER_RESULT: usize = 2;
/// An index is read again from the start when it has grown by half, and by at least this many rows, because it also
/// contains deleted rows.
const MIN_GROWTH: usize = 65_536;
/// If a camera took more images than this, a scan is not limited to them. It finds candidates of all cameras, and the
/// store selects those of the camera. With so many images of the camera, few scans find enough.
const MAX_CAMERA_IMAGES: u32 = 20_000;
/// An upper bound for the difference between a similarity of rounded vectors and the exact one.
const MAX_ROUNDING_ERROR: f32 = 0.05;

/// A result of the image channel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ImageResult {
    pub(super) image: ImageKey,
    pub(super) captured_at: Timestamp,
    /// Above 0 and at most 1.
    pub(super) score: f64,
}

/// Why the image channel failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum AppearanceError {
    #[error(transparent)]
    Encoder(#[from] EncodeError),
    #[error("{0}")]
    Index(#[from] vectors::Error),
    #[error("a search panicked")]
    Panicked(#[from] JoinError),
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// What searches may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchSettings {
    /// Memory limit of the embedding cache, in bytes. An account that alone needs more exceeds it while it searches.
    pub memory_bytes: usize,
    /// How many threads a search over many embeddings uses, and how many searches compute at once.
    pub threads: usize,
}

impl Default for SearchSettings {
    /// 1 GiB and all processors.
    fn default() -> Self {
        Self { memory_bytes: 1 << 30, threads: std::thread::available_parallelism().map_or(2, usize::from) }
    }
}

/// The cached embeddings of the accounts, and the limits on concurrent computations.
pub(crate) struct EmbeddingCache {
    indexes: Cache,
    /// The number of rows of each index when it was last read from the start.
    full_rows: Mutex<HashMap<IndexKey, usize>>,
    /// Limits concurrent scans.
    scans: Arc<Semaphore>,
    /// Limits concurrent encodings of queries.
    encodings: Arc<Semaphore>,
    threads: usize,
}

impl EmbeddingCache {
    pub(crate) fn new(settings: SearchSettings) -> Self {
        let threads = settings.threads.max(1);
        Self {
            indexes: Cache::new(settings.memory_bytes),
            full_rows: Mutex::default(),
            scans: Arc::new(Semaphore::new(threads)),
            encodings: Arc::new(Semaphore::new(threads)),
            threads,
        }
    }

    fn is_overgrown(&self, key: IndexKey, rows: usize) -> bool {
        let full_rows = self.full_rows.lock().unwrap_or_else(PoisonError::into_inner);
        full_rows.get(&key).is_some_and(|full| rows > full + MIN_GROWTH.max(full / 2))
    }

    /// Its memory in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.indexes.bytes()
    }

    fn record_full_rows(&self, key: IndexKey, rows: usize) {
        let mut full_rows = self.full_rows.lock().unwrap_or_else(PoisonError::into_inner);
        if full_rows.len() > 2 * self.indexes.len() + 64 {
            full_rows.clear();
        }
        full_rows.insert(key, rows);
    }
}

/// The filters and the limit of a search.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    pub(super) viewer: Viewer,
    pub(super) filter: &'a Filter,
    pub(super) limit: usize,
}

pub(super) struct EncoderResults {
    index: Index,
    query: Arc<EncodedQuery>,
    /// The best results, in no order.
    pub(super) best: Vec<ImageResult>,
}

impl Catalogue {
    /// The images that best match the words, for each encoder that knows at least one of the words.
    pub(super) async fn match_appearance(
        &self,
        encoders: &[ActiveEncoder],
        text: &QueryText,
        scope: &Scope<'_>,
    ) -> Result<Vec<EncoderResults>, AppearanceError> {
        let mut queries = Vec::with_capacity(encoders.len());
        for ActiveEncoder { encoder, id } in encoders {
            let query = self.encode_query(encoder, text).await?;
            queries.extend(query.map(|query| (encoder, *id, Arc::new(query))));
        }
        if queries.is_empty() {
            return Ok(Vec::new());
        }
        let scan_filter = self.scan_filter(scope).await?;
        let mut results = Vec::with_capacity(queries.len());
        for (encoder, id, query) in queries {
            let index = self.embedding_index(scope.viewer.account, id, encoder.dimensions()).await?;
            let best = self.best_results(&index, id, &query, scope, &scan_filter).await?;
            results.push(EncoderResults { index, query, best });
        }
        Ok(results)
    }

    /// Encodes words. A model encodes a limited number of queries at once, because each one occupies a thread.
    async fn encode_query(
        &self,
        encoder: &SharedEncoder,
        text: &QueryText,
    ) -> Result<Option<EncodedQuery>, AppearanceError> {
        if encoder.encodes_queries_quickly() {
            return Ok(encoder.encode_query(text.as_str())?);
        }
        let (encoder, text) = (encoder.clone(), text.clone());
        Ok(run_limited("encode query", &self.parts.embeddings.encodings, move || {
            encoder.encode_query(text.as_str())
        })
        .await??)
    }

    /// Adds results for the images of the text channel, however weak. Rounded vectors are exact enough for them: they are
    /// results already, and this score only changes their order.
    pub(super) async fn add_results_for(
        &self,
        results: &mut EncoderResults,
        images: &[ImageKey],
    ) -> Result<(), AppearanceError> {
        let known: HashSet<ImageKey> = results.best.iter().map(|result| result.image).collect();
        let others: Vec<i64> =
            images.iter().filter(|image| !known.contains(image)).map(|image| image.0).collect();
        if others.is_empty() {
            return Ok(());
        }
        let (index, query) = (results.index.clone(), results.query.clone());
        let scan = run_limited("scan embeddings", &self.parts.embeddings.scans, move || {
            // An image that was encoded again also has older rows in the index, so more rows than images are requested.
            let options = ScanOptions { best: others.len().saturating_mul(4), threads: 1 };
            let others: KeySet = others.into_iter().collect();
            index.scan(&query.vector, &RowFilter { images: Some(&others), ..RowFilter::default() }, options)
        });
        let scan = scan.await??;
        let mut newest: HashMap<i64, vectors::ScoredRow> = HashMap::with_capacity(scan.best.len());
        for hit in scan.best {
            let known = newest.entry(hit.image).or_insert(hit);
            if known.vector < hit.vector {
                *known = hit;
            }
        }
        results.best.extend(newest.into_values().filter_map(|hit| {
            let captured_at = Timestamp::from_millis(hit.captured_at_ms)?;
            image_result(&results.query, ImageKey(hit.image), captured_at, hit.similarity)
        }));
        Ok(())
    }

    /// The index of an account, up to date with the store.
    async fn embedding_index(
        &self,
        account: AccountId,
        encoder: EncoderId,
        dimensions: usize,
    ) -> Result<Index, AppearanceError> {
        let (store, embeddings) = (&self.parts.store, &self.parts.embeddings);
        let key = IndexKey { account: account.0, encoder: encoder.0 };
        let mut writer = embeddings.indexes.fill(key, dimensions).await;
        if embeddings.is_overgrown(key, writer.len()) {
            writer.restart();
        }
        let is_full_read = writer.is_empty();
        let mut last = writer.last().map(|last| VectorId(last.0));
        let newest = store.newest_vector(account, encoder).await?;
        // Several pages at once, because each occupies a processor. They are appended in order, so that a caller that is
        // cancelled loses only the pages that are being read.
        let mut pages = FuturesOrdered::new();
        loop {
            while let Some(newest) = newest.filter(|_| last < newest && pages.len() <= embeddings.threads) {
                let end = store.nth_vector_after(account, encoder, last, PAGE).await?.unwrap_or(newest);
                let page = VectorPage { account, encoder, dimensions, after: last, last: end };
                pages.push_back(page.read(Arc::clone(store)));
                last = Some(end);
            }
            let Some(page) = pages.next().await else { break };
            writer.append(page?)?;
        }
        if is_full_read {
            embeddings.record_full_rows(key, writer.len());
        }
        Ok(writer.publish())
    }

    async fn scan_filter(&self, scope: &Scope<'_>) -> Result<ScanFilter, AppearanceError> {
        let store = &self.parts.store;
        let circle = scope.filter.circle;
        let range = scope.filter.moments().unwrap_or(scope.filter.range);
        let keys = store.candidate_image_keys(scope.viewer, scope.filter, MAX_CAMERA_IMAGES).await?;
        let images = keys.map(|keys| Arc::new(keys.iter().map(|key| key.0).collect::<KeySet>()));
        let since = store.visible_since(scope.viewer).await?;
        let first = since.map_or(range.start(), |since| since.max(range.start()));
        Ok(ScanFilter { first, last: range.end(), circle, images })
    }

    /// Scans for candidates, checks in the store which of them the viewer can see, and scores them exactly. Scans again for
    /// more candidates if too few are visible.
    async fn best_results(
        &self,
        index: &Index,
        encoder: EncoderId,
        query: &Arc<EncodedQuery>,
        scope: &Scope<'_>,
        filter: &ScanFilter,
    ) -> Result<Vec<ImageResult>, AppearanceError> {
        let mut max_candidates = MIN_CANDIDATES.max(scope.limit.saturating_mul(CANDIDATES_PER_RESULT));
        loop {
            let candidates = self.candidates(index, query, filter.clone(), max_candidates).await?;
            let store = &self.parts.store;
            let visible =
                store.visible_vectors(scope.viewer, encoder, &candidates.vectors, scope.filter).await?;
            let results: Vec<ImageResult> =
                visible.iter().filter_map(|visible| exact_result(query, visible)).collect();
            if results.len() >= scope.limit || candidates.is_complete || max_candidates >= index.len() {
                return Ok(results);
            }
            max_candidates = max_candidates.saturating_mul(4);
        }
    }

    async fn candidates(
        &self,
        index: &Index,
        query: &Arc<EncodedQuery>,
        filter: ScanFilter,
        max_candidates: usize,
    ) -> Result<Candidates, AppearanceError> {
        let (index, query, threads) = (index.clone(), query.clone(), self.parts.embeddings.threads);
        let scan = run_limited("scan embeddings", &self.parts.embeddings.scans, move || {
            let circle = filter.circle.map(CircleFilter::new);
            let accepts =
                circle.as_ref().map(|circle| |position: vectors::PositionE7| circle.contains(position));
            let areas = circle.as_ref().map(|circle| [circle.area]);
            let row_filter = RowFilter {
                captured_ms: Some(filter.first.millis()..=filter.last.millis()),
                areas: areas.as_ref().map(<[Area; 1]>::as_slice),
                accepts: accepts
                    .as_ref()
                    .map(|accepts| accepts as &(dyn Fn(vectors::PositionE7) -> bool + Sync)),
                images: filter.images.as_deref(),
            };
            let scan =
                index.scan(&query.vector, &row_filter, ScanOptions { best: max_candidates, threads })?;
            // A hit below this similarity is no match even after exact scoring. All further hits are below it as well.
            let min_similarity = query.calibration.min_similarity - MAX_ROUNDING_ERROR;
            let is_complete = scan.best.len() < max_candidates
                || scan.best.last().is_some_and(|hit| hit.similarity < min_similarity);
            // Sorted, because the store reads neighbouring rows faster.
            let mut vectors: Vec<VectorId> = scan.best.iter().map(|hit| VectorId(hit.vector.0)).collect();
            vectors.sort_unstable();
            Ok::<_, vectors::Error>(Candidates { vectors, is_complete })
        });
        Ok(scan.await??)
    }
}

#[derive(Clone)]
struct ScanFilter {
    /// The start of the requested range or of the viewer's free window, whichever is later.
    first: Timestamp,
    last: Timestamp,
    circle: Option<Circle>,
    /// Only these images.
    images: Option<Arc<KeySet>>,
}

struct Candidates {
    vectors: Vec<VectorId>,
    /// Whether no further images can match.
    is_complete: bool,
}

/// The vectors after one id, up to another one.
struct VectorPage {
    account: AccountId,
    encoder: EncoderId,
    dimensions: usize,
    after: Option<VectorId>,
    last: VectorId,
}

impl VectorPage {
    async fn read(self, store: SharedStore) -> Result<Index, AppearanceError> {
        let index = Arc::new(Mutex::new(Index::new(self.dimensions)));
        let read = index.clone();
        let visit = Arc::new(move |row| push(&mut lock(&read), &row));
        store.visit_vectors(self.account, self.encoder, self.after, self.last, visit).await?;
        Ok(replace(&mut lock(&index), Index::new(self.dimensions)))
    }
}

/// A panic under the lock leaves the index consistent.
fn lock(index: &Mutex<Index>) -> MutexGuard<'_, Index> {
    index.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Appends a stored vector to an index. Skips a vector of the wrong length, and one that is visited again.
fn push(index: &mut Index, row: &StoredVector) {
    let id = vectors::RowId(row.id.0);
    if Some(id) <= index.last() {
        return;
    }
    let new = Row {
        vector: id,
        image: row.image.0,
        captured_at_ms: row.captured_at.millis(),
        position: row.position.map(|at| vectors::PositionE7::from_degrees(at.latitude(), at.longitude())),
    };
    if let Err(error) = index.push_f16(new, &row.vector) {
        tracing::warn!(vector = row.id.0, %error, "searches skip an invalid vector");
    }
}

/// Scores a stored vector; `None` if it does not match, or has the wrong length.
fn exact_result(query: &EncodedQuery, visible: &VisibleVector) -> Option<ImageResult> {
    image_result(query, visible.image, visible.captured_at, dot_f16(&query.vector, &visible.vector)?)
}

/// Converts a similarity into a score; `None` for no match.
fn image_result(
    query: &EncodedQuery,
    image: ImageKey,
    captured_at: Timestamp,
    similarity: f32,
) -> Option<ImageResult> {
    let score = query.calibration.score(similarity)?;
    Some(ImageResult { image, captured_at, score: f64::from(score) })
}

/// A circle as a filter of rows. It is slightly enlarged, because the rows have rounded positions; the store checks the
/// exact ones.
struct CircleFilter {
    circle: Circle,
    area: Area,
}

impl CircleFilter {
    /// A lower bound for the length of a degree of latitude.
    const METRES_PER_DEGREE: f64 = 110_000.0;
    const ROUNDING_M: f64 = 0.1;

    fn new(circle: Circle) -> Self {
        let centre = circle.centre();
        let reach = (circle.radius_m() + Self::ROUNDING_M) / Self::METRES_PER_DEGREE;
        let (south, north) = (centre.latitude() - reach, centre.latitude() + reach);
        Self { circle, area: Area::from_degrees(south, -180.0, north, 180.0) }
    }

    fn contains(&self, position: vectors::PositionE7) -> bool {
        let (latitude, longitude) = position.degrees();
        Position::new(latitude, longitude).is_ok_and(|position| {
            self.circle.centre().distance_m(position) <= self.circle.radius_m() + Self::ROUNDING_M
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circle_filter_contains_positions_in_the_circle() {
        let circle = |latitude, longitude, radius_m| {
            CircleFilter::new(Circle::new(Position::new(latitude, longitude).unwrap(), radius_m).unwrap())
        };
        let check = |filter: &CircleFilter, latitude, longitude, expect| {
            let position = vectors::PositionE7::from_degrees(latitude, longitude);
            assert_eq!(
                filter.area.contains(position) && filter.contains(position),
                expect,
                "{latitude} {longitude}"
            );
        };
        let near = circle(48.8584, 2.2945, 2000.0);
        check(&near, 48.8606, 2.3376, false);
        check(&near, 48.8656, 2.3121, true);
        let across = circle(0.0, 179.9, 50_000.0);
        check(&across, 0.0, -179.9, true);
        let pole = circle(89.9, 0.0, 50_000.0);
        check(&pole, 89.9, 180.0, true);
        check(&pole, 89.0, 180.0, false);
    }
}
