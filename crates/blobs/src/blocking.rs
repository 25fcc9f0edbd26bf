//! Runs blocking work on its own threads.

use crate::BlobError;

/// Runs blocking work.
pub(crate) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, BlobError> {
    Ok(tokio::task::spawn_blocking(work).await?)
}
