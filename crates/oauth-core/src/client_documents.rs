//! The port that fetches clients' metadata documents.

use std::sync::Arc;

use async_trait::async_trait;

use crate::ClientUrl;

/// Fetches clients' metadata documents and public keys. Anyone can choose the URL, so the implementation must guard against server-side
/// request forgery.
#[async_trait]
pub trait ClientDocuments: Send + Sync + 'static {
    /// The document at that URL, perhaps from a cache as its response headers allow.
    async fn document(&self, url: &ClientUrl) -> Result<Arc<[u8]>, DocumentError>;

    /// The document at that URL, fetched again, but at most once per interval that the implementation chooses; within it, the
    /// outcome of the last fetch. If the fetch fails, a cached document is not used. A client that replaces its keys needs
    /// this; a minute is a good interval.
    async fn refresh(&self, url: &ClientUrl) -> Result<Arc<[u8]>, DocumentError>;

    /// Whether [`document`](Self::document) would return a cached document. A caller uses this to limit the rate of
    /// requests that cause a fetch.
    fn is_cached(&self, url: &ClientUrl) -> bool;

    /// Marks the document at that URL as invalid, so that it is cached only as long as a failed fetch.
    fn reject(&self, url: &ClientUrl);
}

/// Why a document could not be fetched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// Too many fetches at once.
    #[error("too many documents are being fetched")]
    Busy,
    /// The fetch failed.
    #[error("{message}")]
    Failed {
        /// The reason, for the user. It must not reveal anything about the service's own network.
        message: &'static str,
        /// The cause, for the log only.
        detail: String,
    },
}
