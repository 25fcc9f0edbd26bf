use std::sync::Arc;

use argon2::{
    Argon2, PasswordHasher as _, PasswordVerifier as _,
    password_hash::{self, phc::PasswordHash},
};
use keys::{Random, RandomError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A hash that no password has, made as [`Passwords::hash`] makes them: whoever has no account waits as long as one who
/// has.
const NOBODYS: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$bm8gc2FsdCBhdCBhbGwuLg$bm8gcGFzc3dvcmQgaGFzIHRoaXMgaGFzaCwgZXZlciE";

/// Hashes passwords with argon2id (19 MiB, two passes) off the async threads, on at most half of the processors: a
/// crowd of strangers who try passwords leaves the other half to everybody else.
pub(crate) struct Passwords {
    at_work: Arc<Semaphore>,
    /// Places for those at work and those that may wait.
    line: Arc<Semaphore>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum PasswordError {
    #[error(transparent)]
    Random(#[from] RandomError),
    #[error("the password could not be hashed: {0}")]
    Hash(String),
}

/// As many passwords wait to be checked as may.
#[derive(Debug)]
pub(crate) struct LineIsFull;

/// A place in the line of those who wait for their password to be checked.
pub(crate) struct Place {
    _permit: OwnedSemaphorePermit,
}

impl Passwords {
    /// On a machine with so many processors. While they are busy, `waiting` more may wait to be verified.
    pub(crate) fn on(processors: usize, waiting: usize) -> Self {
        let at_once = (processors / 2).max(1);
        Self {
            at_work: Arc::new(Semaphore::new(at_once)),
            line: Arc::new(Semaphore::new(at_once.saturating_add(waiting).min(Semaphore::MAX_PERMITS))),
        }
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

    /// A place in the line, if one is free.
    pub(crate) fn queue(&self) -> Result<Place, LineIsFull> {
        let permit = self.line.clone().try_acquire_owned().map_err(|_| LineIsFull)?;
        Ok(Place { _permit: permit })
    }

    /// Whether a password is the one of that PHC string. Without one it is not, and takes as long to say so.
    pub(crate) async fn verify(
        &self,
        place: Place,
        password: String,
        hash: Option<String>,
    ) -> Result<bool, PasswordError> {
        self.off_thread(move || {
            // Given up only now, also when nobody waits for the answer any more.
            let _place = place;
            let failed = |error: &dyn std::fmt::Display| PasswordError::Hash(error.to_string());
            let parsed = PasswordHash::new(hash.as_deref().unwrap_or(NOBODYS)).map_err(|e| failed(&e))?;
            match Argon2::default().verify_password(password.as_bytes(), &parsed) {
                Ok(()) => Ok(hash.is_some()),
                Err(password_hash::Error::PasswordInvalid) => Ok(false),
                Err(error) => Err(failed(&error)),
            }
        })
        .await
    }

    async fn off_thread<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, PasswordError> + Send + 'static,
    ) -> Result<T, PasswordError> {
        let failed = |what: &dyn std::fmt::Display| PasswordError::Hash(what.to_string());
        let permit = self.at_work.clone().acquire_owned().await.map_err(|error| failed(&error))?;
        let done = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            work()
        });
        done.await.map_err(|error| failed(&error))?
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use keys::SeededRandom;

    #[tokio::test]
    async fn a_password_is_known_by_its_hash() {
        let passwords = Passwords::on(1, 0);
        let hash = passwords.hash("right".into(), &SeededRandom::new(1)).await.unwrap();
        let verify = async |password: &str, hash: Option<String>| {
            passwords.verify(passwords.queue().unwrap(), password.to_owned(), hash).await
        };
        assert!(verify("right", Some(hash.clone())).await.unwrap());
        assert!(!verify("wrong", Some(hash.clone())).await.unwrap());
        assert!(!verify("", Some(hash.clone())).await.unwrap());
        assert!(!verify("right", None).await.unwrap());
        assert!(verify("right", Some("no hash".into())).await.is_err());
        // Nobody's hash takes the same work.
        let work = |hash: &str| hash.split('$').take(4).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(work(NOBODYS), work(&hash));
        assert_eq!(NOBODYS.len(), hash.len());
    }

    #[test]
    fn hashing_takes_at_most_half_of_the_processors() {
        for (processors, at_once) in [(0, 1), (1, 1), (2, 1), (3, 1), (4, 2), (9, 4), (64, 32)] {
            let passwords = Passwords::on(processors, 5);
            assert_eq!(passwords.at_work.available_permits(), at_once, "{processors}");
            assert_eq!(passwords.line.available_permits(), at_once + 5, "{processors}");
        }
    }

    #[tokio::test]
    async fn the_line_has_an_end() {
        let passwords = Passwords::on(1, 2);
        let places: Vec<Place> = (0..3).map(|_| passwords.queue().unwrap()).collect();
        assert!(passwords.queue().is_err());
        drop(places);
        assert!(passwords.queue().is_ok());
    }
}
