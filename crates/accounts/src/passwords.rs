use std::{iter, sync::Arc};

use argon2::{
    Argon2, PasswordHasher as _, PasswordVerifier as _,
    password_hash::{self, phc::PasswordHash},
};
use domain::normalized_password;
use keys::{Random, RandomError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use threads::run_limited;

/// A hash that no password matches, with the parameters of [`Passwords::hash`]. Verifying against it takes as long for an
/// unknown email as for a known one, so that timing does not reveal accounts.
const DUMMY_HASH: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$bm8gc2FsdCBhdCBhbGwuLg$bm8gcGFzc3dvcmQgaGFzIHRoaXMgaGFzaCwgZXZlciE";

/// Hashes passwords with argon2id (19 MiB, two passes) on blocking threads. Hashing uses at most half of the processors,
/// so that a flood of sign-ins leaves the other half to other requests.
pub(crate) struct Passwords {
    running: Arc<Semaphore>,
    /// One permit for each verification that runs or waits.
    queue: Arc<Semaphore>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum PasswordError {
    #[error(transparent)]
    Random(#[from] RandomError),
    #[error("the password could not be hashed: {0}")]
    Hash(String),
}

/// The queue of passwords to verify is full.
#[derive(Debug)]
pub(crate) struct QueueFull;

/// A place in the queue of passwords to verify.
pub(crate) struct QueueSlot {
    _permit: OwnedSemaphorePermit,
}

impl Passwords {
    /// Hashes on half of `processors`, at least on one. `waiting` further passwords may wait to be verified.
    pub(crate) fn new(processors: usize, waiting: usize) -> Self {
        let at_once = (processors / 2).max(1);
        Self {
            running: Arc::new(Semaphore::new(at_once)),
            queue: Arc::new(Semaphore::new(at_once.saturating_add(waiting).min(Semaphore::MAX_PERMITS))),
        }
    }

    /// The PHC string of a password with a new salt.
    pub(crate) async fn hash(&self, password: String, random: &dyn Random) -> Result<String, PasswordError> {
        let mut salt = [0; 16];
        random.fill(&mut salt)?;
        self.run_blocking(move || {
            let password = normalized_password(&password);
            let hashed = Argon2::default().hash_password_with_salt(password.as_bytes(), &salt);
            hashed
                .map(|hash: PasswordHash| hash.to_string())
                .map_err(|error| PasswordError::Hash(error.to_string()))
        })
        .await
    }

    /// Reserves a place in the queue, if one is free.
    pub(crate) fn reserve(&self) -> Result<QueueSlot, QueueFull> {
        let permit = self.queue.clone().try_acquire_owned().map_err(|_| QueueFull)?;
        Ok(QueueSlot { _permit: permit })
    }

    /// Whether a password matches a PHC string. Without a string it returns `false` after the same work.
    pub(crate) async fn verify(
        &self,
        slot: QueueSlot,
        password: String,
        hash: Option<String>,
    ) -> Result<bool, PasswordError> {
        self.run_blocking(move || {
            // Held until the work is done, even if the request was cancelled.
            let _slot = slot;
            let failed = |error: &dyn std::fmt::Display| PasswordError::Hash(error.to_string());
            let parsed = PasswordHash::new(hash.as_deref().unwrap_or(DUMMY_HASH)).map_err(|e| failed(&e))?;
            let normalized = normalized_password(&password);
            // Older versions hashed passwords as they were sent, without normalizing them.
            let as_sent = (normalized != password).then_some(password.as_str());
            for password in iter::once(&*normalized).chain(as_sent) {
                match Argon2::default().verify_password(password.as_bytes(), &parsed) {
                    Ok(()) => return Ok(hash.is_some()),
                    Err(password_hash::Error::PasswordInvalid) => {}
                    Err(error) => return Err(failed(&error)),
                }
            }
            Ok(false)
        })
        .await
    }

    async fn run_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, PasswordError> + Send + 'static,
    ) -> Result<T, PasswordError> {
        run_limited("hash password", &self.running, work)
            .await
            .map_err(|error| PasswordError::Hash(error.to_string()))?
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use keys::SeededRandom;

    #[tokio::test]
    async fn password_is_verified_against_its_hash() {
        let passwords = Passwords::new(1, 0);
        let hash = passwords.hash("right".into(), &SeededRandom::new(1)).await.unwrap();
        let verify = async |password: &str, hash: Option<String>| {
            passwords.verify(passwords.reserve().unwrap(), password.to_owned(), hash).await
        };
        assert!(verify("right", Some(hash.clone())).await.unwrap());
        assert!(!verify("wrong", Some(hash.clone())).await.unwrap());
        assert!(!verify("", Some(hash.clone())).await.unwrap());
        assert!(!verify("right", None).await.unwrap());
        assert!(verify("right", Some("no hash".into())).await.is_err());
        // Verifying against the dummy hash takes as much work as verifying against a real one.
        let work = |hash: &str| hash.split('$').take(4).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(work(DUMMY_HASH), work(&hash));
        assert_eq!(DUMMY_HASH.len(), hash.len());
    }

    #[tokio::test]
    async fn composed_and_decomposed_passwords_are_the_same() {
        let passwords = Passwords::new(1, 0);
        let verify = async |password: &str, hash: &str| {
            let verified =
                passwords.verify(passwords.reserve().unwrap(), password.to_owned(), Some(hash.into()));
            verified.await.unwrap()
        };
        let (composed, decomposed) = ("gr\u{fc}n \u{e9}t\u{e9}", "gru\u{308}n\u{a0}e\u{301}te\u{301}");
        for password in [composed, decomposed] {
            let hash = passwords.hash(password.into(), &SeededRandom::new(1)).await.unwrap();
            assert!(verify(composed, &hash).await && verify(decomposed, &hash).await, "{password}");
            assert!(!verify("grun ete", &hash).await);
        }
        // An older version hashed the password as it was sent.
        let old: PasswordHash =
            Argon2::default().hash_password_with_salt(decomposed.as_bytes(), &[7; 16]).unwrap();
        assert!(verify(decomposed, &old.to_string()).await);
        assert!(!verify("gru\u{308}n", &old.to_string()).await);
    }

    #[test]
    fn hashing_uses_at_most_half_of_the_processors() {
        for (processors, at_once) in [(0, 1), (1, 1), (2, 1), (3, 1), (4, 2), (9, 4), (64, 32)] {
            let passwords = Passwords::new(processors, 5);
            assert_eq!(passwords.running.available_permits(), at_once, "{processors}");
            assert_eq!(passwords.queue.available_permits(), at_once + 5, "{processors}");
        }
    }

    #[tokio::test]
    async fn queue_is_limited() {
        let passwords = Passwords::new(1, 2);
        let slots: Vec<QueueSlot> = (0..3).map(|_| passwords.reserve().unwrap()).collect();
        assert!(passwords.reserve().is_err());
        drop(slots);
        assert!(passwords.reserve().is_ok());
    }
}
