//! Loads parts of a model on first use.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use super::LoadError;

/// The time between attempts to load after a failure.
const RETRY_AFTER: Duration = Duration::from_secs(10);

/// Part of a model that is loaded on first use.
pub(super) struct LazyModel<T>(Mutex<State<T>>);

enum State<T> {
    Unloaded,
    Loaded(Arc<T>),
    Failed { at: Instant, error: String },
}

impl<T> Default for LazyModel<T> {
    fn default() -> Self {
        Self(Mutex::new(State::Unloaded))
    }
}

impl<T> LazyModel<T> {
    /// Returns the loaded value, and loads it first if necessary. Other callers wait meanwhile.
    pub(super) fn get(&self, load: impl FnOnce() -> Result<T, LoadError>) -> Result<Arc<T>, LoadError> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*state {
            State::Loaded(model) => return Ok(model.clone()),
            State::Failed { at, error } if at.elapsed() < RETRY_AFTER => {
                return Err(LoadError(error.clone()));
            }
            State::Unloaded | State::Failed { .. } => {}
        }
        match load() {
            Ok(model) => {
                let model = Arc::new(model);
                *state = State::Loaded(model.clone());
                Ok(model)
            }
            Err(error) => {
                *state = State::Failed { at: Instant::now(), error: error.0.clone() };
                Err(error)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_is_loaded_once() {
        let model = LazyModel::default();
        assert_eq!(*model.get(|| Ok(1)).unwrap(), 1);
        assert_eq!(*model.get(|| Ok(2)).unwrap(), 1);
    }

    #[test]
    fn failed_load_is_not_retried_at_once() {
        let model = LazyModel::<u8>::default();
        assert!(model.get(|| Err(LoadError("broken".to_owned()))).is_err());
        assert_eq!(model.get(|| Ok(1)).unwrap_err().0, "broken");
    }
}
