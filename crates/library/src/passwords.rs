use std::sync::Arc;

use argon2::{Argon2, PasswordHasher as _, password_hash::phc::PasswordHash};
use keys::{Random, RandomFailed};
use tokio::sync::Semaphore;

/// Hashes passwords with argon2id (19 MiB, two passes) off the async threads, so many at once and no more.
pub(crate) struct Passwords {
    permits: Arc<Semaphore>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum PasswordError {
    #[error(transparent)]
    Random(#[from] RandomFailed),
    #[error("the password could not be hashed: {0}")]
    Hash(String),
}

impl Passwords {
    pub(crate) fn new(at_once: usize) -> Self {
        Self { permits: Arc::new(Semaphore::new(at_once.max(1))) }
    }

    /// The PHC string of a password under a fresh salt.
    pub(crate) async fn hash(&self, password: String, random: &dyn Random) -> Result<String, PasswordError> {
        let mut salt = [0; 16];
        random.fill(&mut salt)?;
        self.off_thread(move || {
            let hashed = Argon2::default().hash_password_with_salt(password.as_bytes(), &salt);
            hashed
                .map(|hash: PasswordHash| hash.to_string())
                .map_err(|error| PasswordError::Hash(error.to_string()))
        })
        .await
    }

    async fn off_thread<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, PasswordError> + Send + 'static,
    ) -> Result<T, PasswordError> {
        let failed = |what: &dyn std::fmt::Display| PasswordError::Hash(what.to_string());
        let permit = self.permits.clone().acquire_owned().await.map_err(|error| failed(&error))?;
        let done = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            work()
        });
        done.await.map_err(|error| failed(&error))?
    }
}
