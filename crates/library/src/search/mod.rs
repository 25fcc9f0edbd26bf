//! Search: by words, by looks, or by place and time alone.

mod looks;
mod merge;

use std::collections::HashMap;

use domain::{AlbumId, Channels, Circle, Image, Limit, QueryText, SearchQuery, SearchTarget};
use storage::{EncoderId, FoundImage, ImageKey, SearchFilter, StorageError, TextColumns, TextMatch};

use crate::{Caller, Library, encoders::SharedEncoder, stages};
pub(crate) use looks::Sights;
use looks::{Look, Looks, LooksError, Scope};
use merge::{Ranked, Worded, merged};

/// So many matches by words are merged at least with what looks found.
const WORDED: u32 = 200;

/// An image in a list or among search results.
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
    /// An image that was not searched for.
    fn from(image: Image) -> Self {
        Self { image, distance_m: None, score: None, matched_text: None }
    }
}

impl From<FoundImage> for Hit {
    fn from(found: FoundImage) -> Self {
        Self { image: found.image, distance_m: found.distance_m, score: None, matched_text: None }
    }
}

/// Why a search gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// The caller has no such album.
    #[error("there is no album with this id")]
    NoAlbum,
    /// What pictures look like cannot be searched now.
    #[error("search by visual appearance is not available now; retry later or use channels=text")]
    ImageSearchUnavailable,
    /// The store failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl From<LooksError> for SearchError {
    fn from(error: LooksError) -> Self {
        match error {
            LooksError::Storage(error) => Self::Storage(error),
            error => {
                tracing::error!(%error, "pictures cannot be searched by looks");
                Self::ImageSearchUnavailable
            }
        }
    }
}

/// An encoder whose vectors a search compares with.
struct Serving {
    encoder: SharedEncoder,
    id: EncoderId,
}

impl Library {
    /// Searches the whole library that the caller sees: by words best first, otherwise newest first.
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

    /// Whether a vision model is in use. One that was chosen and cannot be used counts, too: searches by looks fail then.
    pub async fn has_vision_model(&self) -> bool {
        !matches!(self.parts.encoders.model(&self.parts.clock).await, Ok(None))
    }

    /// Whether this search looks for what photos show, and there is no vision model to see that.
    pub async fn lacks_model_for(&self, query: &SearchQuery) -> bool {
        let looks = match &query.target {
            SearchTarget::Words { channels, .. } => channels.is_none_or(|channels| channels.image),
            SearchTarget::Everything => false,
        };
        looks && !self.has_vision_model().await
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
        let most = usize::try_from(limit.get()).unwrap_or(usize::MAX);
        let scope = Scope { viewer: self.viewer(caller), filter, limit: most };
        let by_words = async {
            match channels {
                Some(Channels { text: false, .. }) => Ok(Vec::new()),
                _ => Ok(self.match_words(caller, text, channels, filter, limit).await?),
            }
        };
        let by_looks = async {
            match channels {
                Some(Channels { image: false, .. }) => Ok(Vec::new()),
                _ => self.by_looks(caller, text, channels.is_some(), &scope).await,
            }
        };
        // Neither needs what the other finds.
        let (matches, mut looks) = tokio::try_join!(by_words, by_looks)?;
        let worded_images: Vec<ImageKey> = matches.iter().map(|found| found.image_key).collect();
        for looks in &mut looks {
            self.look_at(looks, &worded_images).await?;
        }
        let looks: Vec<Vec<Look>> = looks.into_iter().map(|looks| looks.best).collect();
        let ranked = merged(&matches.iter().map(worded).collect::<Vec<_>>(), &looks, most);
        Ok(self.hits(caller, ranked, matches, filter.circle).await?)
    }

    async fn by_looks(
        &self,
        caller: &Caller,
        text: &QueryText,
        asked_for: bool,
        scope: &Scope<'_>,
    ) -> Result<Vec<Looks>, SearchError> {
        let serving = self.serving().await?;
        let looks = self.looks_like(&serving, text, scope).await?;
        if asked_for && looks.iter().all(|looks| looks.best.is_empty()) {
            self.check_index(caller, &serving).await?;
        }
        Ok(looks)
    }

    /// That nothing was found says something only when there is an index of what images look like, or no image.
    async fn check_index(&self, caller: &Caller, serving: &[Serving]) -> Result<(), SearchError> {
        let (store, viewer) = (&self.parts.store, self.viewer(caller));
        for Serving { id, .. } in serving {
            if store.newest_vector(viewer.account, *id).await?.is_some() {
                return Ok(());
            }
        }
        if store.count_images(viewer).await? > 0 {
            tracing::warn!("there are images and no index of what they look like yet");
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
        let alone = matches!(channels, Some(Channels { image: false, .. }));
        let most = if alone { limit.get() } else { limit.get().saturating_mul(2).max(WORDED) };
        self.parts.store.match_text(self.viewer(caller), text, columns, filter, most).await
    }

    /// The encoders whose vectors there are. One that was chosen and cannot be used is an error: what would be found
    /// without it is not what was asked for.
    async fn serving(&self) -> Result<Vec<Serving>, SearchError> {
        let parts = &self.parts;
        let model =
            parts.encoders.model(&parts.clock).await.map_err(|_| SearchError::ImageSearchUnavailable)?;
        let model = match model {
            Some(model) => Some(self.ready_model(model).await?),
            None => None,
        };
        let mut serving = Vec::with_capacity(2);
        for encoder in [Some(parts.encoders.built_in().clone()), model].into_iter().flatten() {
            if let Some(id) = parts.store.encoder(encoder.name()).await? {
                serving.push(Serving { encoder, id });
            }
        }
        Ok(serving)
    }

    /// The model itself, or the one before it as long as the new one has not seen every image.
    async fn ready_model(&self, model: SharedEncoder) -> Result<SharedEncoder, StorageError> {
        let Some(stage) = self.parts.store.stage(stages::MODEL).await? else { return Ok(model) };
        Ok(self.model_before(&stage, &model).await?.unwrap_or(model))
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

fn worded(found: &TextMatch) -> Worded {
    Worded {
        image: found.image_key,
        captured_at: found.captured_at,
        tier: found.tier,
        strength: found.strength,
    }
}
