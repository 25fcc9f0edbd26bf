//! The image channel: what looks like the words of a query.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError},
};

use domain::{AccountId, Circle, Position, QueryText, Timestamp};
use storage::{
    EncoderId, ImageKey, SearchFilter, StorageError, StoredVector, VectorId, Viewer, VisibleVector,
};
use tokio::sync::Semaphore;
use vectors::{Area, Cache, Index, IndexKey, IndexWriter, KeySet, Row, RowFilter, ScanOptions, dot_f16};
use vision::{EncodeError, EncodedQuery};

use super::Serving;
use crate::{Library, Settings, encoders::SharedEncoder};

/// So many vectors are read from the store at once.
const BATCH: u32 = 4096;
/// At least so many candidates are scored again at first, or for each result that is wanted so many. Rounding moves few
/// across that line.
const CANDIDATES: usize = 100;
const CANDIDATES_FOR_ONE: usize = 2;
/// An index is read anew when it has grown by half, and at least by so many rows: some of its rows are gone then.
const GROWTH: usize = 65_536;

/// An image that looks like what was asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Look {
    pub(super) image: ImageKey,
    pub(super) captured_at: Timestamp,
    /// Above 0 and at most 1.
    pub(super) score: f64,
}

/// Why the image channel has no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum LooksError {
    #[error(transparent)]
    Encoder(#[from] EncodeError),
    #[error("{0}")]
    Index(#[from] vectors::Error),
    #[error("a search panicked")]
    Panicked,
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// What was read of the store's vectors, and how many searches compute at once.
pub(crate) struct Sights {
    cache: Cache,
    /// How many rows an index had when it had been read from its beginning.
    full: Mutex<HashMap<IndexKey, usize>>,
    turns: Semaphore,
    /// How many questions are put to a model at once.
    questions: Semaphore,
    threads: usize,
}

impl Sights {
    pub(crate) fn new(settings: &Settings) -> Self {
        let threads = settings.search_threads.max(1);
        Self {
            cache: Cache::new(settings.search_memory_bytes),
            full: Mutex::default(),
            turns: Semaphore::new(threads),
            questions: Semaphore::new(threads),
            threads,
        }
    }

    fn is_overgrown(&self, key: IndexKey, rows: usize) -> bool {
        let full = self.full.lock().unwrap_or_else(PoisonError::into_inner);
        full.get(&key).is_some_and(|full| rows > full + GROWTH.max(full / 2))
    }

    fn note_full(&self, key: IndexKey, rows: usize) {
        let mut full = self.full.lock().unwrap_or_else(PoisonError::into_inner);
        if full.len() > 2 * self.cache.len() + 64 {
            full.clear();
        }
        full.insert(key, rows);
    }
}

/// What a search by looks is narrowed by.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    pub(super) viewer: Viewer,
    pub(super) filter: SearchFilter<'a>,
    pub(super) limit: usize,
}

/// What an encoder makes of a search.
pub(super) struct Looks {
    index: Index,
    query: Arc<EncodedQuery>,
    /// The images that look most like the words, in no order.
    pub(super) best: Vec<Look>,
}

impl Library {
    /// The images that look most like the words, to each of the encoders that knows some of them.
    pub(super) async fn looks_like(
        &self,
        serving: &[Serving],
        text: &QueryText,
        scope: &Scope<'_>,
    ) -> Result<Vec<Looks>, LooksError> {
        let mut asked = Vec::with_capacity(serving.len());
        for Serving { encoder, id } in serving {
            let query = self.query_of(encoder, text).await?;
            asked.extend(query.map(|query| (encoder, *id, Arc::new(query))));
        }
        if asked.is_empty() {
            return Ok(Vec::new());
        }
        let mask = self.mask(scope).await?;
        let mut looks = Vec::with_capacity(asked.len());
        for (encoder, id, query) in asked {
            let index = self.index_of(scope.viewer.account, id, encoder.dimensions()).await?;
            let best = self.best_of(&index, id, &query, scope, &mask).await?;
            looks.push(Looks { index, query, best });
        }
        Ok(looks)
    }

    /// What an encoder makes of words. A model computes for some at a time: each of the others would hold a thread.
    async fn query_of(
        &self,
        encoder: &SharedEncoder,
        text: &QueryText,
    ) -> Result<Option<EncodedQuery>, LooksError> {
        if encoder.encodes_queries_quickly() {
            return Ok(encoder.encode_query(text.as_str())?);
        }
        let (encoder, text) = (encoder.clone(), text.clone());
        Ok(in_turn(&self.parts.sights.questions, move || encoder.encode_query(text.as_str())).await??)
    }

    /// Adds those of these images that look like the words, however little, by their rounded vectors: they are results
    /// already, and only take a place among each other by that.
    pub(super) async fn look_at(&self, looks: &mut Looks, images: &[ImageKey]) -> Result<(), LooksError> {
        let known: HashSet<ImageKey> = looks.best.iter().map(|look| look.image).collect();
        let others: Vec<i64> =
            images.iter().filter(|image| !known.contains(image)).map(|image| image.0).collect();
        if others.is_empty() {
            return Ok(());
        }
        let (index, query) = (looks.index.clone(), looks.query.clone());
        let scan = in_turn(&self.parts.sights.turns, move || {
            // An image that was encoded again has an older row, too.
            let wanted = ScanOptions { best: others.len().saturating_mul(4), threads: 1 };
            let others: KeySet = others.into_iter().collect();
            index.scan(&query.vector, &RowFilter { images: Some(&others), ..RowFilter::default() }, wanted)
        });
        let scan = scan.await??;
        let mut newest: HashMap<i64, vectors::ScoredRow> = HashMap::with_capacity(scan.best.len());
        for hit in scan.best {
            let known = newest.entry(hit.image).or_insert(hit);
            if known.vector < hit.vector {
                *known = hit;
            }
        }
        looks.best.extend(newest.into_values().filter_map(|hit| {
            let captured_at = Timestamp::from_millis(hit.captured_at_ms)?;
            look(&looks.query, ImageKey(hit.image), captured_at, hit.similarity)
        }));
        Ok(())
    }

    /// The index of an account with all that the store holds now.
    async fn index_of(
        &self,
        account: AccountId,
        encoder: EncoderId,
        dimensions: usize,
    ) -> Result<Index, LooksError> {
        let (store, sights) = (&self.parts.store, &self.parts.sights);
        let key = IndexKey { account: account.0, encoder: encoder.0 };
        let mut filling = sights.cache.fill(key, dimensions).await;
        if sights.is_overgrown(key, filling.len()) {
            filling.restart();
        }
        let from_the_beginning = filling.is_empty();
        let mut last = filling.last().map(|last| VectorId(last.0));
        let newest = store.newest_vector(account, encoder).await?;
        while last < newest {
            let rows = store.vectors_after(account, encoder, last, BATCH).await?;
            let Some(read) = rows.last() else { break };
            last = Some(read.id);
            filling = append(filling, rows).await?;
        }
        if from_the_beginning {
            sights.note_full(key, filling.len());
        }
        Ok(filling.publish())
    }

    /// What scans are narrowed by.
    async fn mask(&self, scope: &Scope<'_>) -> Result<Mask, LooksError> {
        let store = &self.parts.store;
        let album = match scope.filter.album {
            None => None,
            Some(album) => {
                let keys = store.album_image_keys(scope.viewer, album).await?;
                Some(Arc::new(keys.iter().map(|key| key.0).collect::<KeySet>()))
            }
        };
        let (range, circle) = (scope.filter.range, scope.filter.circle);
        let since = store.visible_since(scope.viewer).await?;
        let first = since.map_or(range.start(), |since| since.max(range.start()));
        Ok(Mask { first, last: range.end(), circle, album })
    }

    /// Scans, looks the candidates up in the store, which knows what the viewer sees, and scores them exactly; with more
    /// candidates when too many of them are not seen.
    async fn best_of(
        &self,
        index: &Index,
        encoder: EncoderId,
        query: &Arc<EncodedQuery>,
        scope: &Scope<'_>,
        mask: &Mask,
    ) -> Result<Vec<Look>, LooksError> {
        let mut wanted = CANDIDATES.max(scope.limit.saturating_mul(CANDIDATES_FOR_ONE));
        loop {
            let candidates = self.candidates(index, query, mask.clone(), wanted).await?;
            let store = &self.parts.store;
            let seen =
                store.visible_vectors(scope.viewer, encoder, &candidates.vectors, scope.filter).await?;
            let looks: Vec<Look> = seen.iter().filter_map(|seen| exact_look(query, seen)).collect();
            if looks.len() >= scope.limit || candidates.all || wanted >= index.len() {
                return Ok(looks);
            }
            wanted = wanted.saturating_mul(4);
        }
    }

    async fn candidates(
        &self,
        index: &Index,
        query: &Arc<EncodedQuery>,
        mask: Mask,
        wanted: usize,
    ) -> Result<Candidates, LooksError> {
        let (index, query, threads) = (index.clone(), query.clone(), self.parts.sights.threads);
        let scan = in_turn(&self.parts.sights.turns, move || {
            let within = mask.circle.map(Within::new);
            let accepts =
                within.as_ref().map(|within| |position: vectors::PositionE7| within.holds(position));
            let areas = within.as_ref().map(|within| [within.area]);
            let filter = RowFilter {
                captured_ms: Some(mask.first.millis()..=mask.last.millis()),
                areas: areas.as_ref().map(<[Area; 1]>::as_slice),
                accepts: accepts
                    .as_ref()
                    .map(|accepts| accepts as &(dyn Fn(vectors::PositionE7) -> bool + Sync)),
                images: mask.album.as_deref(),
            };
            let scan = index.scan(&query.vector, &filter, ScanOptions { best: wanted, threads })?;
            // What is below the least similarity by more than rounding is no match, and neither is what comes after it.
            let least = query.calibration.min_similarity - 0.05;
            let all = scan.best.len() < wanted || scan.best.last().is_some_and(|hit| hit.similarity < least);
            // In their order they lie together in the store.
            let mut vectors: Vec<VectorId> = scan.best.iter().map(|hit| VectorId(hit.vector.0)).collect();
            vectors.sort_unstable();
            Ok::<_, vectors::Error>(Candidates { vectors, all })
        });
        Ok(scan.await??)
    }
}

/// Computes on a thread where it may take its time, some at a time.
async fn in_turn<T: Send + 'static>(
    turns: &Semaphore,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, LooksError> {
    let _turn = turns.acquire().await.map_err(|_| LooksError::Panicked)?;
    tokio::task::spawn_blocking(work).await.map_err(|_| LooksError::Panicked)
}

/// What a scan is narrowed by.
#[derive(Clone)]
struct Mask {
    /// The first moment that was asked for and is seen.
    first: Timestamp,
    last: Timestamp,
    circle: Option<Circle>,
    album: Option<Arc<KeySet>>,
}

struct Candidates {
    vectors: Vec<VectorId>,
    /// Whether no further ones could match.
    all: bool,
}

/// Puts rows into an index on a thread where rounding them disturbs nobody. A vector that is not of this encoder is left
/// out.
async fn append(mut filling: IndexWriter, rows: Vec<StoredVector>) -> Result<IndexWriter, LooksError> {
    let appended = tokio::task::spawn_blocking(move || {
        for row in &rows {
            let new = Row {
                vector: vectors::RowId(row.id.0),
                image: row.image.0,
                captured_at_ms: row.captured_at.millis(),
                position: row
                    .position
                    .map(|at| vectors::PositionE7::from_degrees(at.latitude(), at.longitude())),
            };
            if let Err(error) = filling.push_f16(new, &row.vector) {
                tracing::warn!(vector = row.id.0, %error, "a vector is left out of the search");
            }
        }
        filling
    });
    appended.await.map_err(|_| LooksError::Panicked)
}

/// A vector as it is compared with the query: `None` for no match, or when it is not of the query's encoder.
fn exact_look(query: &EncodedQuery, seen: &VisibleVector) -> Option<Look> {
    look(query, seen.image, seen.captured_at, dot_f16(&query.vector, &seen.vector)?)
}

/// What a similarity to the query is worth: `None` for no match.
fn look(query: &EncodedQuery, image: ImageKey, captured_at: Timestamp, similarity: f32) -> Option<Look> {
    let score = query.calibration.score(similarity)?;
    Some(Look { image, captured_at, score: f64::from(score) })
}

/// A circle as rows are asked about it: a little larger, for their positions are rounded. The store decides.
struct Within {
    circle: Circle,
    area: Area,
}

impl Within {
    /// A degree of latitude has at least so many metres.
    const METRES_PER_DEGREE: f64 = 110_000.0;
    const ROUNDING_M: f64 = 0.1;

    fn new(circle: Circle) -> Self {
        let centre = circle.centre();
        let reach = (circle.radius_m() + Self::ROUNDING_M) / Self::METRES_PER_DEGREE;
        let (south, north) = (centre.latitude() - reach, centre.latitude() + reach);
        Self { circle, area: Area::from_degrees(south, -180.0, north, 180.0) }
    }

    fn holds(&self, position: vectors::PositionE7) -> bool {
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
    fn a_circle_holds_what_lies_in_it() {
        let circle = |latitude, longitude, radius_m| {
            Within::new(Circle::new(Position::new(latitude, longitude).unwrap(), radius_m).unwrap())
        };
        let check = |within: &Within, latitude, longitude, expect| {
            let position = vectors::PositionE7::from_degrees(latitude, longitude);
            assert_eq!(
                within.area.contains(position) && within.holds(position),
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
