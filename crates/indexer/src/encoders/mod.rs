//! The encoders of images: the built-in one and vision models.

mod installed;

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use clock::Clock;
use vision::VisualEncoder;

pub use installed::InstalledModels;

/// An encoder, shared between searches and indexing.
pub type SharedEncoder = Arc<dyn VisualEncoder>;

/// A source of vision models. Its methods may load a model, which takes seconds. Calls without a change since the last
/// one should be cheap.
pub trait ModelSource: fmt::Debug + Send + Sync + 'static {
    /// The active model; `None` if none was chosen.
    ///
    /// # Errors
    /// Why the chosen model cannot be used, in words for an operator.
    fn active_model(&self) -> Result<Option<SharedEncoder>, String>;

    /// The encoder of that [name](VisualEncoder::name), if its model still exists. The previous model serves searches until
    /// the active one has processed every image.
    fn encoder_by_name(&self, name: &str) -> Option<SharedEncoder>;

    /// Whether the operator chose to use no model. Otherwise the vectors of earlier models are kept, because the source may
    /// be missing only temporarily.
    fn is_built_in_chosen(&self) -> bool {
        false
    }

    /// Whether this program could run an installed model.
    fn can_run_models(&self) -> bool {
        true
    }

    /// Removes the previous model from memory. Called when the active model has processed every image.
    fn release_previous(&self) {}
}

/// How long the active model is cached.
const CACHE_TTL: Duration = Duration::from_secs(2);

/// The available encoders.
pub(crate) struct Encoders {
    built_in: SharedEncoder,
    source: Option<Arc<dyn ModelSource>>,
    cached: Mutex<Option<CachedModel>>,
    /// Held while the source is read.
    refreshing: tokio::sync::Mutex<()>,
}

#[derive(Clone)]
struct CachedModel {
    /// By the monotonic clock.
    read_at: Duration,
    model: Result<Option<SharedEncoder>, String>,
}

impl Encoders {
    pub(crate) fn new(built_in: SharedEncoder, source: Option<Arc<dyn ModelSource>>) -> Self {
        Self { built_in, source, cached: Mutex::default(), refreshing: tokio::sync::Mutex::default() }
    }

    /// Whether this program could run a vision model. Blocks.
    pub(crate) fn can_run_models(&self) -> bool {
        self.source.as_ref().is_some_and(|source| source.can_run_models())
    }

    pub(crate) fn built_in(&self) -> &SharedEncoder {
        &self.built_in
    }

    /// The active vision model. Only the first call waits for the source. Later calls return the cached model and refresh it
    /// in the background (stale-while-revalidate), so that no search waits while a model is loaded.
    ///
    /// # Errors
    /// Why the model cannot be used.
    pub(crate) async fn model(
        self: &Arc<Self>,
        clock: &Arc<dyn Clock>,
    ) -> Result<Option<SharedEncoder>, String> {
        if self.source.is_none() {
            return Ok(None);
        }
        let now = clock.monotonic();
        let cached = self.cached().clone();
        match cached {
            Some(cached) if now < cached.read_at + CACHE_TTL => cached.model,
            Some(cached) => {
                let (encoders, clock) = (self.clone(), clock.clone());
                tokio::spawn(async move {
                    if let Ok(_refreshing) = encoders.refreshing.try_lock() {
                        // The next call reads the result from the cache.
                        let _ = encoders.refresh(clock.monotonic()).await;
                    }
                });
                cached.model
            }
            None => {
                let _refreshing = self.refreshing.lock().await;
                // Another call may have filled the cache in the meantime.
                let cached = self.cached().clone();
                match cached {
                    Some(cached) => cached.model,
                    None => self.refresh(now).await,
                }
            }
        }
    }

    async fn refresh(self: &Arc<Self>, now: Duration) -> Result<Option<SharedEncoder>, String> {
        let Some(source) = self.source.clone() else { return Ok(None) };
        let read = tokio::task::spawn_blocking(move || source.active_model());
        let model = read.await.unwrap_or_else(|error| Err(error.to_string()));
        let previous = self.cached().replace(CachedModel { read_at: now, model: model.clone() });
        let previous_reason = previous.and_then(|previous| previous.model.err());
        match &model {
            Err(reason) if previous_reason.as_ref() != Some(reason) => {
                tracing::error!(reason, "the vision model cannot be used; only search by words works");
            }
            Ok(_) if previous_reason.is_some() => tracing::info!("the vision model can be used again"),
            _ => {}
        }
        model
    }

    /// The encoder of that name, if it is available.
    pub(crate) async fn by_name(&self, name: &str) -> Option<SharedEncoder> {
        if self.built_in.name() == name {
            return Some(self.built_in.clone());
        }
        let source = self.source.clone()?;
        let name = name.to_owned();
        tokio::task::spawn_blocking(move || source.encoder_by_name(&name)).await.ok().flatten()
    }

    /// Whether the operator chose to use no model.
    pub(crate) async fn is_built_in_chosen(&self) -> bool {
        let Some(source) = self.source.clone() else { return false };
        tokio::task::spawn_blocking(move || source.is_built_in_chosen()).await.unwrap_or(false)
    }

    /// Removes the previous model from memory.
    pub(crate) async fn release_previous(&self) {
        if let Some(source) = self.source.clone() {
            // If it panics, the model only stays in memory.
            let _ = tokio::task::spawn_blocking(move || source.release_previous()).await;
        }
    }

    fn cached(&self) -> MutexGuard<'_, Option<CachedModel>> {
        self.cached.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use clock::ManualClock;

    use super::*;

    #[derive(Debug, Default)]
    struct Source {
        reads: AtomicUsize,
    }

    impl ModelSource for Source {
        fn active_model(&self) -> Result<Option<SharedEncoder>, String> {
            match self.reads.fetch_add(1, Ordering::SeqCst) {
                0 => Err("damaged".to_owned()),
                _ => Ok(None),
            }
        }

        fn encoder_by_name(&self, _: &str) -> Option<SharedEncoder> {
            None
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn unusable_model_is_refreshed_in_the_background() {
        let source = Arc::new(Source::default());
        let built_in: SharedEncoder = Arc::new(vision::BuiltInEncoder);
        let encoders = Arc::new(Encoders::new(built_in, Some(source.clone())));
        let manual = Arc::new(ManualClock::new(domain::Timestamp::MIN));
        let clock: Arc<dyn Clock> = manual.clone();
        for _ in 0..3 {
            assert_eq!(encoders.model(&clock).await.err().as_deref(), Some("damaged"));
        }
        assert_eq!(source.reads.load(Ordering::SeqCst), 1);
        manual.advance_ms(2_000);
        manual.set(domain::Timestamp::MIN);
        while encoders.model(&clock).await.is_err() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(source.reads.load(Ordering::SeqCst), 2);
    }
}
