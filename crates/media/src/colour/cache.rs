//! LRU cache of conversions. Most photos of a library have one of a few profiles, and preparing a conversion takes about a
//! millisecond, as long as converting a small picture.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use super::{Conversion, ProfileError, cicp, icc, measured};
use crate::container::MeasuredColours;

/// Number of cached conversions.
const CAPACITY: usize = 8;

/// Maximum number of nodes of a cached table, 1.5 MiB. Profiles of printing presses have up to 194,481 nodes.
const MAX_NODES: usize = 1 << 18;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    /// Hash and length of a profile.
    Profile(u64, usize),
    CodePoints(u8, u8),
    Measured(MeasuredColours),
}

/// The hash is keyed randomly in each process, so that no profile can be crafted to collide with another.
static HASHER: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// Most recently used first.
static CACHE: Mutex<Vec<(Key, Arc<Conversion>)>> = Mutex::new(Vec::new());

pub(super) fn of_profile(profile: &[u8]) -> Result<Arc<Conversion>, ProfileError> {
    if profile.len() > icc::MAX_PROFILE_BYTES {
        return Err(ProfileError::Unreadable);
    }
    cached(Key::Profile(HASHER.hash_one(profile), profile.len()), || icc::conversion(profile))
}

pub(super) fn of_code_points(primaries: u8, transfer: u8) -> Result<Arc<Conversion>, ProfileError> {
    cached(Key::CodePoints(primaries, transfer), || cicp::conversion(primaries, transfer))
}

pub(super) fn of_measured(colours: MeasuredColours) -> Result<Arc<Conversion>, ProfileError> {
    cached(Key::Measured(colours), || measured::conversion(&colours))
}

fn cached(
    key: Key,
    prepare: impl FnOnce() -> Result<Conversion, ProfileError>,
) -> Result<Arc<Conversion>, ProfileError> {
    let cached = || CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    let found = {
        let mut cached = cached();
        let place = cached.iter().position(|(kept, _)| *kept == key);
        place.and_then(|place| {
            cached.get_mut(..=place)?.rotate_right(1);
            cached.first().map(|(_, conversion)| Arc::clone(conversion))
        })
    };
    if let Some(found) = found {
        return Ok(found);
    }
    // Prepared without the lock, so that other threads are not blocked.
    let conversion = Arc::new(prepare()?);
    if conversion.nodes() > MAX_NODES {
        return Ok(conversion);
    }
    let mut cached = cached();
    cached.insert(0, (key, Arc::clone(&conversion)));
    cached.truncate(CAPACITY);
    Ok(conversion)
}
