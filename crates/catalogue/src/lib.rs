//! What people and programs see of an account's photos: lists, searches, the timeline, the map, albums, corrections, the
//! trash, renditions, and pictures for programs.
//!
//! The most common change is another way to look at photos: add a module with its method on [`Catalogue`].

mod albums;
mod edits;
mod explore;
mod hot_renditions;
mod images;
mod map;
mod names;
mod place_names;
mod problem_words;
mod query_words;
mod renditions;
mod search;
mod selections;
mod timeline;
mod trash;
mod views;

use std::sync::Arc;

use accounts::Caller;
use blobs::BlobStore;
use clock::Clock;
use domain::{AccountId, Plan};
use hot_renditions::HotRenditions;
use indexer::Indexer;
use keys::Random;
use search::EmbeddingCache;
use storage::{SharedStore, Viewer};
use views::ViewCache;

pub use albums::{AlbumSort, is_titled};
pub use edits::{EditError, EditTotals, FoundCity, NewEdit};
pub use explore::{DayInYear, Explore, NamedImage};
pub use hot_renditions::{RenditionCacheFigures, RenditionContent};
pub use images::LibraryInfo;
pub use place_names::{FoundPlaces, PLACE_KINDS};
pub use problem_words::PhotoProblem;
pub use query_words::{Completion, Meaning, Named, ReadQuery};
pub use renditions::ServedRendition;
pub use search::{Hit, MatchBy, RankedPage, SearchError, SearchSettings};
pub use selections::DeletedSelection;
pub use trash::RESTORABLE_MS;
pub use views::{MAX_VIEW_BYTES, ViewError, ViewSize};

/// The photos of all accounts, as their owners see them. Clones share their state.
#[derive(Clone)]
pub struct Catalogue {
    parts: Arc<Parts>,
}

impl std::fmt::Debug for Catalogue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Catalogue")
    }
}

struct Parts {
    store: SharedStore,
    blobs: BlobStore,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    indexer: Indexer,
    free_window: u32,
    embeddings: EmbeddingCache,
    hot_renditions: HotRenditions,
    views: ViewCache,
}

impl Catalogue {
    /// An account on the free plan sees its newest `free_window` photos.
    pub fn new(
        store: SharedStore,
        blobs: BlobStore,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
        indexer: Indexer,
        free_window: u32,
        search: SearchSettings,
    ) -> Self {
        let parts = Parts {
            store,
            blobs,
            clock,
            random,
            indexer,
            free_window,
            embeddings: EmbeddingCache::new(search),
            hot_renditions: HotRenditions::default(),
            views: ViewCache::default(),
        };
        Self { parts: Arc::new(parts) }
    }

    /// The renditions that are kept in memory.
    pub fn rendition_cache(&self) -> RenditionCacheFigures {
        self.parts.hot_renditions.figures()
    }

    /// The memory of pictures for programs, in bytes.
    pub fn view_cache_bytes(&self) -> u64 {
        self.parts.views.bytes()
    }

    /// The memory of embeddings, in bytes.
    pub fn embeddings_bytes(&self) -> usize {
        self.parts.embeddings.bytes()
    }

    /// The view of all photos of an account. The window of the free plan hides some, also from their owner.
    pub fn full_viewer(&self, account: AccountId) -> Viewer {
        Viewer { account, plan: Plan::Paid, free_window: self.parts.free_window }
    }

    fn viewer(&self, caller: &Caller) -> Viewer {
        caller.viewer(self.parts.free_window)
    }

    fn random(&self) -> &dyn Random {
        self.parts.random.as_ref()
    }
}
