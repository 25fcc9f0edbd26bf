use std::sync::Mutex;

use data_encoding::BASE32_NOPAD;
use ring::{digest, rand::SecureRandom as _};

/// The operating system gave no random bytes.
#[derive(Debug, thiserror::Error)]
#[error("the operating system gave no random bytes")]
pub struct RandomError;

/// A source of random bytes.
pub trait Random: Send + Sync + 'static {
    /// Fills `bytes`.
    ///
    /// # Errors
    /// [`RandomError`]; nothing may be made from `bytes` then.
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError>;
}

/// The operating system's randomness.
#[derive(Debug, Clone)]
pub struct SystemRandom(ring::rand::SystemRandom);

impl SystemRandom {
    /// The one source that a running service uses.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that owns randomness")]
    pub fn new() -> Self {
        Self(ring::rand::SystemRandom::new())
    }
}

impl Default for SystemRandom {
    fn default() -> Self {
        Self::new()
    }
}

impl Random for SystemRandom {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
        self.0.fill(bytes).map_err(|_| RandomError)
    }
}

/// A repeatable stream of bytes, for tests and benchmarks only: whoever knows the seed knows the stream.
#[derive(Debug)]
pub struct SeededRandom(Mutex<(u64, u64)>);

impl SeededRandom {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Self {
        Self(Mutex::new((seed, 0)))
    }
}

impl Random for SeededRandom {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
        let mut state = self.0.lock().map_err(|_| RandomError)?;
        for chunk in bytes.chunks_mut(32) {
            let (seed, counter) = *state;
            let block =
                digest::digest(&digest::SHA256, &[seed.to_be_bytes(), counter.to_be_bytes()].concat());
            chunk.iter_mut().zip(block.as_ref()).for_each(|(to, from)| *to = *from);
            state.1 += 1;
        }
        Ok(())
    }
}

/// Lower-case base32: no character that a URL, a shell or a reader stumbles over.
pub(crate) fn base32(bytes: &[u8]) -> String {
    BASE32_NOPAD.encode(bytes).to_ascii_lowercase()
}

/// A new public id: 128 random bits as 26 characters from `a-z 2-7`.
///
/// # Errors
/// [`RandomError`].
pub fn new_id(random: &dyn Random) -> Result<String, RandomError> {
    let mut bytes = [0; 16];
    random.fill(&mut bytes)?;
    Ok(base32(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_ids_and_no_id_twice() {
        let (one, two) = (SeededRandom::new(7), SeededRandom::new(7));
        let ids = |random: &SeededRandom| (0..100).map(|_| new_id(random).unwrap()).collect::<Vec<_>>();
        let first = ids(&one);
        assert_eq!(first, ids(&two));
        assert_eq!(first.iter().collect::<std::collections::HashSet<_>>().len(), 100);
        assert!(
            first
                .iter()
                .all(|id| id.len() == 26 && id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()))
        );
        assert_ne!(first, ids(&SeededRandom::new(8)));
    }

    #[test]
    fn the_system_gives_bytes() {
        let random = SystemRandom::new();
        assert_ne!(new_id(&random).unwrap(), new_id(&random).unwrap());
    }
}
