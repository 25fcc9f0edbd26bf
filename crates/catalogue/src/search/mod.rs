//! Search by words (in texts and in embeddings), or by album, place and time alone.

mod appearance;
mod merge;
mod pages;

use std::{collections::HashMap, ops::Range};

use accounts::Caller;
use domain::{AlbumId, Channels, Circle, Filter, Image, Limit, QueryText, SearchQuery, SearchTarget};
use indexer::SharedEncoder;
use storage::{EncoderId, FoundImage, ImageKey, StorageError, TextColumns, TextMatch};

use crate::Catalogue;
pub(crate) use appearance::EmbeddingCache;
pub use appearance::SearchSettings;
use appearance::{AppearanceError, EncoderResults, ImageResult, Scope};
use merge::{Ranked, TextResult, merge};
pub(crate) use pages::MAX_NAMES;
pub use pages::{MatchBy, RankedPage};

/// At least this many text results are merged with the image results.
const MIN_TEXT_RESULTS: u32 = 200;

/// An image in a list or in search results.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    pub image: Image,
    /// Its distance from the circle's centre in metres, when there is a circle.
    pub distance_m: Option<f64>,
    /// Its similarity, above 0 and at most 1, on ranked results.
    pub score: Option<f64>,
    pub matched_text: Option<String>,
    /// The place or the file name that matched.
    pub matched_context: Option<String>,
}

impl From<Image> for Hit {
    /// An image in a list.
    fn from(image: Image) -> Self {
        Self { image, distance_m: None, score: None, matched_text: None, matched_context: None }
    }
}

impl From<FoundImage> for Hit {
    fn from(found: FoundImage) -> Self {
        Self { distance_m: found.distance_m, ..Self::from(found.image) }
    }
}

/// Why a search failed.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// The caller has no such album.
    #[error("there is no album with this id")]
    NoAlbum,
    /// The image channel is unavailable.
    #[error("search by visual appearance is not available now; retry later or use channels=text")]
    ImageSearchUnavailable,
    /// The store failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl From<AppearanceError> for SearchError {
    fn from(error: AppearanceError) -> Self {
        match error {
            AppearanceError::Storage(error) => Self::Storage(error),
            error => {
                tracing::error!(%error, "search by visual appearance failed");
                Self::ImageSearchUnavailable
            }
        }
    }
}

/// The texts and embeddings that a search compares with its words.
struct Matching<'a> {
    text: &'a QueryText,
    /// The text columns; `None` if texts are not compared.
    columns: Option<TextColumns>,
    max_text_results: u32,
    appearance: Option<Appearance>,
}

/// What a search does while images have no embeddings yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Appearance {
    /// It fails, so that an empty result is not mistaken for the absence of matches.
    Required,
    /// It has no results of the image channel.
    Optional,
}

impl<'a> Matching<'a> {
    /// The comparison for the requested channels, as the operation Search images defines them.
    fn of_channels(text: &'a QueryText, channels: Option<Channels>, limit: Limit) -> Self {
        let merged_text_results = limit.get().saturating_mul(2).max(MIN_TEXT_RESULTS);
        let (columns, max_text_results, appearance) = match channels {
            None => (Some(TextColumns::ContentAndContext), merged_text_results, Some(Appearance::Optional)),
            Some(Channels { text: has_text, image: true }) => {
                (has_text.then_some(TextColumns::Content), merged_text_results, Some(Appearance::Required))
            }
            Some(Channels { image: false, .. }) => (Some(TextColumns::Content), limit.get(), None),
        };
        Self { text, columns, max_text_results, appearance }
    }
}

/// The best images of a search, best first.
struct Ranking {
    images: Vec<Ranked>,
    text_matches: Vec<TextMatch>,
}

/// An encoder with stored vectors.
struct ActiveEncoder {
    encoder: SharedEncoder,
    id: EncoderId,
}

impl Catalogue {
    /// Searches the images that the caller can see. Searches by words return the best first, others the newest first.
    pub async fn search(&self, caller: &Caller, query: &SearchQuery) -> Result<Vec<Hit>, SearchError> {
        let album = self.searched_album(caller, query.album.as_deref()).await?;
        let filter = self.with_names(caller, &query.filter, &query.names).await?;
        let filter = &Filter { album: album.or(filter.album.clone()), ..filter };
        match &query.target {
            SearchTarget::Everything => {
                let found = self.parts.store.filter_images(self.viewer(caller), filter, query.limit).await?;
                Ok(found.into_iter().map(Hit::from).collect())
            }
            SearchTarget::Words { text, channels } => {
                let max = usize::try_from(query.limit.get()).unwrap_or(usize::MAX);
                let matching = Matching::of_channels(text, *channels, query.limit);
                let ranking = self.rank(caller, &matching, filter, max).await?;
                Ok(self.hits(caller, ranking, filter.circle, 0..max).await?)
            }
        }
    }

    /// Whether this search uses the image channel without a vision model.
    pub async fn lacks_model_for(&self, query: &SearchQuery) -> bool {
        let uses_image_channel = match &query.target {
            SearchTarget::Words { channels, .. } => channels.is_none_or(|channels| channels.image),
            SearchTarget::Everything => false,
        };
        uses_image_channel && !self.parts.indexer.has_vision_model().await
    }

    async fn searched_album(
        &self,
        caller: &Caller,
        id: Option<&str>,
    ) -> Result<Option<AlbumId>, SearchError> {
        let Some(id) = id else { return Ok(None) };
        let album = self.album(caller, id).await?.ok_or(SearchError::NoAlbum)?;
        Ok(Some(album.id))
    }

    /// The best images, at most `max`.
    async fn rank(
        &self,
        caller: &Caller,
        matching: &Matching<'_>,
        filter: &Filter,
        max: usize,
    ) -> Result<Ranking, SearchError> {
        let scope = Scope { viewer: self.viewer(caller), filter, limit: max };
        let text_matches = async {
            match matching.columns {
                None => Ok(Vec::new()),
                Some(columns) => {
                    let (store, max) = (&self.parts.store, matching.max_text_results);
                    Ok(store.match_text(scope.viewer, matching.text, columns, filter, max).await?)
                }
            }
        };
        let image_matches = async {
            match matching.appearance {
                None => Ok(Vec::new()),
                Some(appearance) => self.match_images(caller, matching.text, appearance, &scope).await,
            }
        };
        let (text_matches, mut by_encoder) = tokio::try_join!(text_matches, image_matches)?;
        let text_images: Vec<ImageKey> = text_matches.iter().map(|found| found.image_key).collect();
        for results in &mut by_encoder {
            self.add_results_for(results, &text_images).await?;
        }
        let image_results: Vec<Vec<ImageResult>> =
            by_encoder.into_iter().map(|results| results.best).collect();
        let text_results: Vec<TextResult> = text_matches.iter().map(text_result).collect();
        Ok(Ranking { images: merge(&text_results, &image_results, max), text_matches })
    }

    async fn match_images(
        &self,
        caller: &Caller,
        text: &QueryText,
        appearance: Appearance,
        scope: &Scope<'_>,
    ) -> Result<Vec<EncoderResults>, SearchError> {
        let encoders = self.active_encoders().await?;
        let results = self.match_appearance(&encoders, text, scope).await?;
        if appearance == Appearance::Required && results.iter().all(|results| results.best.is_empty()) {
            self.check_index(caller, &encoders).await?;
        }
        Ok(results)
    }

    /// Fails if there are images but no embeddings yet, so that an empty result is not mistaken for the absence of
    /// matches.
    async fn check_index(&self, caller: &Caller, encoders: &[ActiveEncoder]) -> Result<(), SearchError> {
        let (store, viewer) = (&self.parts.store, self.viewer(caller));
        for ActiveEncoder { id, .. } in encoders {
            if store.newest_vector(viewer.account, *id).await?.is_some() {
                return Ok(());
            }
        }
        if store.count_images(viewer).await? > 0 {
            tracing::warn!("no image has an embedding yet");
            return Err(SearchError::ImageSearchUnavailable);
        }
        Ok(())
    }

    /// The encoders with stored vectors.
    async fn active_encoders(&self) -> Result<Vec<ActiveEncoder>, SearchError> {
        let encoders =
            self.parts.indexer.search_encoders().await?.ok_or(SearchError::ImageSearchUnavailable)?;
        let mut active = Vec::with_capacity(encoders.len());
        for encoder in encoders {
            if let Some(id) = self.parts.store.encoder(encoder.name()).await? {
                active.push(ActiveEncoder { encoder, id });
            }
        }
        Ok(active)
    }

    /// A part of a ranking.
    async fn hits(
        &self,
        caller: &Caller,
        ranking: Ranking,
        circle: Option<Circle>,
        part: Range<usize>,
    ) -> Result<Vec<Hit>, StorageError> {
        let ranked: Vec<Ranked> =
            ranking.images.into_iter().skip(part.start).take(part.end.saturating_sub(part.start)).collect();
        let keys: Vec<ImageKey> = ranked.iter().map(|found| found.image).collect();
        let images = self.parts.store.images_by_key(self.viewer(caller), &keys).await?;
        let mut images: HashMap<ImageKey, Image> = images.into_iter().collect();
        let mut texts: HashMap<ImageKey, TextMatch> =
            ranking.text_matches.into_iter().map(|found| (found.image_key, found)).collect();
        let hit = |found: Ranked| {
            let image = images.remove(&found.image)?;
            let (matched_text, matched_context) = texts
                .remove(&found.image)
                .map(|found| (found.matched_text, found.matched_context))
                .unwrap_or_default();
            let distance_m = circle
                .zip(image.details.position)
                .map(|(circle, position)| circle.centre().distance_m(position));
            Some(Hit { image, distance_m, score: Some(found.score), matched_text, matched_context })
        };
        Ok(ranked.into_iter().filter_map(hit).collect())
    }
}

fn text_result(found: &TextMatch) -> TextResult {
    TextResult {
        image: found.image_key,
        captured_at: found.captured_at,
        tier: found.tier,
        strength: found.strength,
    }
}
