//! Work on blocking threads, so much of it at once.

use std::sync::Arc;

use tokio::{
    sync::Semaphore,
    task::{JoinError, spawn_blocking},
};

/// Runs `work` on a blocking thread when a permit is free. The work keeps the permit to its end, also if nobody waits for it any
/// more.
///
/// # Errors
/// The work panicked.
pub(crate) async fn run_limited<T: Send + 'static>(
    permits: &Arc<Semaphore>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, JoinError> {
    // `None` for a closed semaphore; nobody closes one.
    let permit = permits.clone().acquire_owned().await.ok();
    spawn_blocking(move || {
        let _permit = permit;
        work()
    })
    .await
}
