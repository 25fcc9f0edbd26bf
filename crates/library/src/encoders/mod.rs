//! Which encoders there are to see pictures by.

mod installed;

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use vision::VisualEncoder;

use crate::Clock;
pub use installed::InstalledModels;

/// An encoder that is shared between searches and indexing.
pub type SharedEncoder = Arc<dyn VisualEncoder>;

/// Where vision models come from. Its methods may load a model, which takes seconds; what did not change since the last
/// call should cost next to nothing.
pub trait ModelSource: fmt::Debug + Send + Sync + 'static {
    /// The model in use; `None` when nobody chose one.
    ///
    /// # Errors
    /// Why the model that was chosen cannot be used, in words for an operator.
    fn active_model(&self) -> Result<Option<SharedEncoder>, String>;

    /// The encoder of that [name](VisualEncoder::name), if its model is still there: while a new model is yet to see
    /// every image, the one before answers.
    fn encoder_by_name(&self, name: &str) -> Option<SharedEncoder>;

    /// Whether somebody chose that no model is in use. As long as nobody did, what models saw before is kept: the place
    /// where models come from may merely be missing for the time being.
    fn is_built_in_chosen(&self) -> bool {
        false
    }

    /// The model in use has seen every image: the one before it need not be kept in memory.
    fn release_previous(&self) {}
}

/// How long what the source said counts.
const CHECK_AFTER: Duration = Duration::from_secs(2);

/// The encoders at hand.
pub(crate) struct Encoders {
    built_in: SharedEncoder,
    source: Option<Arc<dyn ModelSource>>,
    known: Mutex<Option<Known>>,
    /// Held by whoever asks the source.
    asking: tokio::sync::Mutex<()>,
}

#[derive(Clone)]
struct Known {
    /// By the monotonic clock.
    at: Duration,
    model: Result<Option<SharedEncoder>, String>,
}

impl Encoders {
    pub(crate) fn new(built_in: SharedEncoder, source: Option<Arc<dyn ModelSource>>) -> Self {
        Self { built_in, source, known: Mutex::default(), asking: tokio::sync::Mutex::default() }
    }

    /// The encoder that is always there.
    pub(crate) fn built_in(&self) -> &SharedEncoder {
        &self.built_in
    }

    /// The vision model in use. Only the first to ask waits for the source; later, what it said last is told while it is
    /// asked again, so that no search waits for a model that is being loaded.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub(crate) async fn model(
        self: &Arc<Self>,
        clock: &Arc<dyn Clock>,
    ) -> Result<Option<SharedEncoder>, String> {
        if self.source.is_none() {
            return Ok(None);
        }
        let now = clock.monotonic();
        let known = self.known().clone();
        match known {
            Some(known) if now < known.at + CHECK_AFTER => known.model,
            Some(known) => {
                let (encoders, clock) = (self.clone(), clock.clone());
                tokio::spawn(async move {
                    if let Ok(_asking) = encoders.asking.try_lock() {
                        // Whoever asks next is told.
                        let _ = encoders.ask(clock.monotonic()).await;
                    }
                });
                known.model
            }
            None => {
                let _asking = self.asking.lock().await;
                // Somebody else may have asked meanwhile.
                let known = self.known().clone();
                match known {
                    Some(known) => known.model,
                    None => self.ask(now).await,
                }
            }
        }
    }

    async fn ask(self: &Arc<Self>, now: Duration) -> Result<Option<SharedEncoder>, String> {
        let Some(source) = self.source.clone() else { return Ok(None) };
        let asked = tokio::task::spawn_blocking(move || source.active_model());
        let model = asked.await.unwrap_or_else(|error| Err(error.to_string()));
        let before = self.known().replace(Known { at: now, model: model.clone() });
        let reason_before = before.and_then(|before| before.model.err());
        match &model {
            Err(reason) if reason_before.as_ref() != Some(reason) => {
                tracing::error!(reason, "the vision model cannot be used; search by words alone goes on");
            }
            Ok(_) if reason_before.is_some() => tracing::info!("the vision model can be used again"),
            _ => {}
        }
        model
    }

    /// The encoder of that name among all that can be had.
    pub(crate) async fn named(&self, name: &str) -> Option<SharedEncoder> {
        if self.built_in.name() == name {
            return Some(self.built_in.clone());
        }
        let source = self.source.clone()?;
        let name = name.to_owned();
        tokio::task::spawn_blocking(move || source.encoder_by_name(&name)).await.ok().flatten()
    }

    /// Whether somebody chose that no model is in use.
    pub(crate) async fn is_built_in_chosen(&self) -> bool {
        let Some(source) = self.source.clone() else { return false };
        tokio::task::spawn_blocking(move || source.is_built_in_chosen()).await.unwrap_or(false)
    }

    /// Lets go of the model before the one in use.
    pub(crate) async fn forget_before(&self) {
        if let Some(source) = self.source.clone() {
            // A panic in it costs memory and nothing else.
            let _ = tokio::task::spawn_blocking(move || source.release_previous()).await;
        }
    }

    fn known(&self) -> MutexGuard<'_, Option<Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::ManualClock;

    #[derive(Debug, Default)]
    struct Source {
        asked: AtomicUsize,
    }

    impl ModelSource for Source {
        fn active_model(&self) -> Result<Option<SharedEncoder>, String> {
            match self.asked.fetch_add(1, Ordering::SeqCst) {
                0 => Err("torn".to_owned()),
                _ => Ok(None),
            }
        }

        fn encoder_by_name(&self, _: &str) -> Option<SharedEncoder> {
            None
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_broken_model_is_asked_for_again_behind_the_answer() {
        let source = Arc::new(Source::default());
        let built_in: SharedEncoder = Arc::new(vision::BuiltInEncoder);
        let encoders = Arc::new(Encoders::new(built_in, Some(source.clone())));
        let manual = Arc::new(ManualClock::new(domain::Timestamp::MIN));
        let clock: Arc<dyn Clock> = manual.clone();
        for _ in 0..3 {
            assert_eq!(encoders.model(&clock).await.err().as_deref(), Some("torn"));
        }
        assert_eq!(source.asked.load(Ordering::SeqCst), 1);
        manual.advance_ms(2_000);
        manual.set(domain::Timestamp::MIN);
        while encoders.model(&clock).await.is_err() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(source.asked.load(Ordering::SeqCst), 2);
    }
}
