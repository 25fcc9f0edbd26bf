use std::sync::Mutex;

use data_encoding::BASE32_NOPAD;
use ring::digest;

use crate::{Random, RandomError};

/// A repeatable source, for tests and benchmarks only: its bytes can be predicted from the seed.
#[derive(Debug)]
pub struct SeededRandom(Mutex<(u64, u64)>);

impl SeededRandom {
    /// The source with that seed.
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

/// Lower-case base32: safe in URLs and shells, and without look-alike characters.
pub(crate) fn base32(bytes: &[u8]) -> String {
    BASE32_NOPAD.encode(bytes).to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SystemRandom, new_id};

    #[test]
    fn a_seed_gives_repeatable_unique_ids() {
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
    fn system_ids_differ() {
        let random = SystemRandom::new();
        assert_ne!(new_id(&random).unwrap(), new_id(&random).unwrap());
    }
}
