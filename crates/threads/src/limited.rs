//! Limits how much work runs on blocking threads at once.

use std::sync::Arc;

use domain::TRACE_TARGET;
use tokio::{
    sync::Semaphore,
    task::{JoinError, spawn_blocking},
};
use tracing::Instrument as _;

/// Runs `work` on a blocking thread when a permit is free. The work holds the permit until it ends, even if its caller no
/// longer waits. `name` is the name of the work's span in traces, which includes the wait for a permit.
///
/// # Errors
/// The work panicked.
pub async fn run_limited<T: Send + 'static>(
    name: &'static str,
    permits: &Arc<Semaphore>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, JoinError> {
    let running = async {
        // `None` for a closed semaphore. Nothing closes these semaphores.
        let permit = permits.clone().acquire_owned().await.ok();
        spawn_blocking(move || {
            let _permit = permit;
            work()
        })
        .await
    };
    running.instrument(tracing::info_span!(target: TRACE_TARGET, "work", otel.name = name)).await
}
