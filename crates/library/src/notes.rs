use std::{fmt::Display, sync::Arc};

use tokio::sync::Semaphore;

/// Writes down that things of one kind were used, while the requests that used them go on.
///
/// One note is written at a time; without room for another one it is left out, and the thing's next use is noted
/// instead. Nobody decides anything by it that a minute would change.
pub(crate) struct Notes {
    what: &'static str,
    room: Arc<Semaphore>,
}

impl Notes {
    /// Of what the name in the log says.
    pub(crate) fn of(what: &'static str) -> Self {
        Self { what, room: Arc::new(Semaphore::new(1)) }
    }

    /// Has `write` done in the background, or leaves it out.
    pub(crate) fn take<E: Display>(&self, write: impl Future<Output = Result<(), E>> + Send + 'static) {
        let Ok(permit) = self.room.clone().try_acquire_owned() else { return };
        let what = self.what;
        tokio::spawn(async move {
            if let Err(error) = write.await {
                tracing::warn!(%error, "the use of {what} was not noted");
            }
            drop(permit);
        });
    }
}
