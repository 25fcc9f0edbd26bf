//! What is loaded when it is first needed.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use super::LoadError;

/// For so long what could not be loaded is not tried again.
const PAUSE: Duration = Duration::from_secs(10);

/// One half of a model.
pub(super) struct Half<T>(Mutex<State<T>>);

enum State<T> {
    Unloaded,
    Loaded(Arc<T>),
    Failed { at: Instant, why: String },
}

impl<T> Default for Half<T> {
    fn default() -> Self {
        Self(Mutex::new(State::Unloaded))
    }
}

impl<T> Half<T> {
    /// What is loaded. Others wait while it is.
    pub(super) fn get(&self, load: impl FnOnce() -> Result<T, LoadError>) -> Result<Arc<T>, LoadError> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*state {
            State::Loaded(half) => return Ok(half.clone()),
            State::Failed { at, why } if at.elapsed() < PAUSE => return Err(LoadError(why.clone())),
            State::Unloaded | State::Failed { .. } => {}
        }
        match load() {
            Ok(half) => {
                let half = Arc::new(half);
                *state = State::Loaded(half.clone());
                Ok(half)
            }
            Err(why) => {
                *state = State::Failed { at: Instant::now(), why: why.0.clone() };
                Err(why)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_loaded_once() {
        let half = Half::default();
        assert_eq!(*half.get(|| Ok(1)).unwrap(), 1);
        assert_eq!(*half.get(|| Ok(2)).unwrap(), 1);
    }

    #[test]
    fn what_failed_is_not_tried_at_once_again() {
        let half = Half::<u8>::default();
        assert!(half.get(|| Err(LoadError("broken".to_owned()))).is_err());
        assert_eq!(half.get(|| Ok(1)).unwrap_err().0, "broken");
    }
}
