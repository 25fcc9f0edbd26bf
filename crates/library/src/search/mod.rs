//! Search by words (in texts and in embeddings), or by album, place and time alone.

mod appearance;
mod merge;

use std::collections::HashMap;

use domain::{AlbumId, Channels, Circle, Image, Limit, QueryText, SearchQuery, SearchTarget};
use storage::{EncoderId, FoundImage, ImageKey, SearchFilter, StorageError, TextColumns, TextMatch};

use crate::{Caller, Library, encoders::SharedEncoder, stages};
pub(crate) use appearance::EmbeddingCache;
use appearance::{AppearanceError, EncoderResults, ImageResult, Scope};
use merge::{Ranked, TextResult, merge};

/// At least this many text results are merged with the image results.
const MIN_TEXT_RESULTS: u32 = 200;

/// An image in a list or in search results.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The image.
    pub image: Image,
    /// Its distance from the circle's centre in metres, when there is a circle.
    pub distance_m: Option<f64>,
    /// Its similarity, above 0 and at most 1, on ranked results.
    pub score: Option<f64>,
    /// The text that matched.
    pub matched_text: Option<String>,
}

impl From<Image> for Hit {
    /// An image in a list.
    fn from(image: Image) -> Self {
        Self { image, distance_m: None, score: None, matched_text: None }
    }
}

impl From<FoundImage> for Hit {
    fn from(found: FoundImage) -> Self {
        Self { image: found.image, distance_m: found.distance_m, score: None, matched_text: None }
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

/// An encoder with stored vectors.
struct ActiveEncoder {
    encoder: SharedEncoder,
    id: EncoderId,
}

impl Library {
    /// Searches the images that the caller can see. Searches by words return the best first, others the newest first.
    ///
    /// # Errors
    /// [`SearchError`].
    pub async fn search(&self, caller: &Caller, query: &SearchQuery) -> Result<Vec<Hit>, SearchError> {
        let album = self.searched_album(caller, query.album.as_deref()).await?;
        let filter = SearchFilter { album: album.as_ref(), circle: query.circle, range: query.range };
        match &query.target {
            SearchTarget::Everything => {
                let found = self.parts.store.filter_images(self.viewer(caller), filter, query.limit).await?;
                Ok(found.into_iter().map(Hit::from).collect())
            }
            SearchTarget::Words { text, channels } => {
                self.search_words(caller, text, *channels, filter, query.limit).await
            }
        }
    }

    /// Whether a vision model is in use. A model that was chosen but cannot be used counts as well: searches of the image
    /// channel fail then.
    pub async fn has_vision_model(&self) -> bool {
        !matches!(self.parts.encoders.model(&self.parts.clock).await, Ok(None))
    }

    /// Whether this search uses the image channel without a vision model.
    pub async fn lacks_model_for(&self, query: &SearchQuery) -> bool {
        let uses_image_channel = match &query.target {
            SearchTarget::Words { channels, .. } => channels.is_none_or(|channels| channels.image),
            SearchTarget::Everything => false,
        };
        uses_image_channel && !self.has_vision_model().await
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

    async fn search_words(
        &self,
        caller: &Caller,
        text: &QueryText,
        channels: Option<Channels>,
        filter: SearchFilter<'_>,
        limit: Limit,
    ) -> Result<Vec<Hit>, SearchError> {
        let max_results = usize::try_from(limit.get()).unwrap_or(usize::MAX);
        let scope = Scope { viewer: self.viewer(caller), filter, limit: max_results };
        let text_matches = async {
            match channels {
                Some(Channels { text: false, .. }) => Ok(Vec::new()),
                _ => Ok(self.match_words(caller, text, channels, filter, limit).await?),
            }
        };
        let image_matches = async {
            match channels {
                Some(Channels { image: false, .. }) => Ok(Vec::new()),
                _ => self.match_images(caller, text, channels.is_some(), &scope).await,
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
        let ranked = merge(&text_results, &image_results, max_results);
        Ok(self.hits(caller, ranked, text_matches, filter.circle).await?)
    }

    async fn match_images(
        &self,
        caller: &Caller,
        text: &QueryText,
        is_explicit: bool,
        scope: &Scope<'_>,
    ) -> Result<Vec<EncoderResults>, SearchError> {
        let encoders = self.active_encoders().await?;
        let results = self.match_appearance(&encoders, text, scope).await?;
        if is_explicit && results.iter().all(|results| results.best.is_empty()) {
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

    async fn match_words(
        &self,
        caller: &Caller,
        text: &QueryText,
        channels: Option<Channels>,
        filter: SearchFilter<'_>,
        limit: Limit,
    ) -> Result<Vec<TextMatch>, StorageError> {
        let columns = match channels {
            Some(_) => TextColumns::Content,
            None => TextColumns::ContentAndContext,
        };
        let is_text_only = matches!(channels, Some(Channels { image: false, .. }));
        let max_results =
            if is_text_only { limit.get() } else { limit.get().saturating_mul(2).max(MIN_TEXT_RESULTS) };
        self.parts.store.match_text(self.viewer(caller), text, columns, filter, max_results).await
    }

    /// The encoders with stored vectors. A model that was chosen but cannot be used is an error, because the search would
    /// return other results without it.
    async fn active_encoders(&self) -> Result<Vec<ActiveEncoder>, SearchError> {
        let parts = &self.parts;
        let model =
            parts.encoders.model(&parts.clock).await.map_err(|_| SearchError::ImageSearchUnavailable)?;
        let model = match model {
            Some(model) => Some(self.ready_model(model).await?),
            None => None,
        };
        let mut active = Vec::with_capacity(2);
        for encoder in [Some(parts.encoders.built_in().clone()), model].into_iter().flatten() {
            if let Some(id) = parts.store.encoder(encoder.name()).await? {
                active.push(ActiveEncoder { encoder, id });
            }
        }
        Ok(active)
    }

    /// `model`, or the previous one until `model` has processed every image.
    async fn ready_model(&self, model: SharedEncoder) -> Result<SharedEncoder, StorageError> {
        let Some(stage) = self.parts.store.stage(stages::MODEL).await? else { return Ok(model) };
        Ok(self.previous_model(&stage, &model).await?.unwrap_or(model))
    }

    async fn hits(
        &self,
        caller: &Caller,
        ranked: Vec<Ranked>,
        matches: Vec<TextMatch>,
        circle: Option<Circle>,
    ) -> Result<Vec<Hit>, StorageError> {
        let keys: Vec<ImageKey> = ranked.iter().map(|found| found.image).collect();
        let images = self.parts.store.images_by_key(self.viewer(caller), &keys).await?;
        let mut images: HashMap<ImageKey, Image> = images.into_iter().collect();
        let mut texts: HashMap<ImageKey, Option<String>> =
            matches.into_iter().map(|found| (found.image_key, found.matched_text)).collect();
        let hit = |found: Ranked| {
            let image = images.remove(&found.image)?;
            let matched_text = texts.remove(&found.image).flatten();
            let distance_m = circle
                .zip(image.details.position)
                .map(|(circle, position)| circle.centre().distance_m(position));
            Some(Hit { image, distance_m, score: Some(found.score), matched_text })
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
