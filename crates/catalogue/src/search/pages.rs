//! Searches of people, page by page.

use accounts::Caller;
use domain::{Filter, Limit, QueryText};
use storage::{MAX_TEXT_MATCHES, NameKind, StorageError, TextColumns};

use super::{Appearance, Hit, Matching, SearchError};
use crate::Catalogue;

/// Maximum number of images in a ranking. Each page computes the whole ranking again, so there are no pages beyond it.
const MAX_RANKED: usize = 300;

/// Maximum number of names of one kind that are listed.
pub(crate) const MAX_NAMES: u32 = 500;

/// What a search compares with its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MatchBy {
    /// Texts and appearance.
    #[default]
    All,
    /// Description, words read by OCR, place and file name.
    Words,
    /// Visual appearance.
    Look,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RankedPage {
    /// The images, best first.
    pub hits: Vec<Hit>,
    /// The number of images in the whole ranking.
    pub ranked: usize,
    /// Whether images beyond the end of the ranking may match as well.
    pub is_cut: bool,
}

impl Catalogue {
    /// The names of a kind that the caller's photos have, that of the newest photo first.
    pub async fn names(&self, caller: &Caller, kind: NameKind) -> Result<Vec<String>, StorageError> {
        self.parts.store.names(self.viewer(caller), kind, MAX_NAMES).await
    }

    /// The newest photos that pass a filter.
    pub async fn newest_photos(
        &self,
        caller: &Caller,
        filter: &Filter,
        limit: Limit,
    ) -> Result<Vec<Hit>, StorageError> {
        let found = self.parts.store.filter_images(self.viewer(caller), filter, limit).await?;
        Ok(found.into_iter().map(Hit::from).collect())
    }

    /// The photos that match words best: those from `skip` on, at most `limit`. The ranking is the same for each page as
    /// long as the photos stay the same.
    pub async fn ranked_photos(
        &self,
        caller: &Caller,
        text: &QueryText,
        by: MatchBy,
        filter: &Filter,
        (skip, limit): (usize, Limit),
    ) -> Result<RankedPage, SearchError> {
        let matching = Matching {
            text,
            columns: (by != MatchBy::Look).then_some(TextColumns::ContentAndContext),
            max_text_results: MAX_TEXT_MATCHES,
            appearance: match by {
                MatchBy::All => Some(Appearance::Optional),
                MatchBy::Words => None,
                MatchBy::Look => Some(Appearance::Required),
            },
        };
        let ranking = self.rank(caller, &matching, filter, MAX_RANKED).await?;
        let ranked = ranking.images.len();
        let has_all_texts =
            ranking.text_matches.len() < usize::try_from(MAX_TEXT_MATCHES).unwrap_or(usize::MAX);
        let end = skip.saturating_add(usize::try_from(limit.get()).unwrap_or(usize::MAX));
        let hits = self.hits(caller, ranking, filter.circle, skip..end).await?;
        Ok(RankedPage { hits, ranked, is_cut: ranked >= MAX_RANKED || !has_all_texts })
    }
}
