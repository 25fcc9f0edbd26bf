use domain::{AlbumId, Channels, Image, QueryText, SearchQuery, SearchTarget};
use storage::{Found, SearchFilter, StorageError, TextColumns, TextMatch, TextTier};

use crate::{Caller, Library};

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

impl From<Found> for Hit {
    fn from(found: Found) -> Self {
        Self { image: found.image, distance_m: found.distance_m, score: None, matched_text: None }
    }
}

/// Why a search gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// The caller has no such album.
    #[error("there is no album with this id")]
    NoAlbum,
    /// The image channel was asked for and no vision model is at hand.
    #[error("search by visual appearance is not available now; retry later or use channels=text")]
    ImageChannelDown,
    /// The store failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
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
        limit: domain::Limit,
    ) -> Result<Vec<Hit>, SearchError> {
        let columns = match channels {
            Some(Channels { image: true, .. }) => return Err(SearchError::ImageChannelDown),
            Some(Channels { text: true, .. }) => TextColumns::Content,
            _ => TextColumns::ContentAndContext,
        };
        let words = text.words();
        let matches =
            self.parts.store.match_text(self.viewer(caller), &words, columns, filter, limit).await?;
        Ok(matches.into_iter().map(scored).collect())
    }
}

/// Each tier has a quarter of the scores; within it more relevance brings more, without ever reaching the next.
fn scored(found: TextMatch) -> Hit {
    let base = match found.tier {
        TextTier::AllInContent => 0.75,
        TextTier::AllAnywhere => 0.5,
        TextTier::SomeInContent => 0.25,
        TextTier::SomeAnywhere => 0.0,
    };
    let share = found.relevance / (found.relevance + 4.0);
    // Even a word that nearly every image has makes a match that scores above 0.
    let score = base + 0.25 * share.clamp(1e-6, 1.0);
    Hit {
        image: found.image,
        distance_m: found.distance_m,
        score: Some(score),
        matched_text: found.matched_text,
    }
}
