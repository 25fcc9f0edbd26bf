use std::{fmt::Display, sync::Arc};

use tokio::sync::Semaphore;

/// Writes records of one kind in the background, one at a time.
///
/// While a write runs, further ones are dropped; the next use is recorded instead. So nothing may depend on these records
/// being exact.
pub(crate) struct BackgroundWriter {
    what: &'static str,
    slot: Arc<Semaphore>,
}

impl BackgroundWriter {
    /// `what` names the records in the log.
    pub(crate) fn new(what: &'static str) -> Self {
        Self { what, slot: Arc::new(Semaphore::new(1)) }
    }

    /// Spawns `write`, or drops it if another one runs.
    pub(crate) fn spawn<E: Display>(&self, write: impl Future<Output = Result<(), E>> + Send + 'static) {
        let Ok(permit) = self.slot.clone().try_acquire_owned() else { return };
        let what = self.what;
        tokio::spawn(async move {
            if let Err(error) = write.await {
                tracing::warn!(%error, "{what} was not recorded");
            }
            drop(permit);
        });
    }
}
