//! The conversions of the last profiles. Most photos of a library have one of a few profiles, and to prepare one takes
//! about a millisecond, as long as to convert a small picture.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use super::{Conversion, Unconverted, cicp, icc};

/// Kept conversions.
const KEPT: usize = 8;

/// The most nodes that a kept table may have, 1.5 MiB of them. Those of presses have up to 194 481.
const KEPT_NODES: usize = 1 << 18;

/// What a conversion is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    /// Hash and length of a profile.
    Profile(u64, usize),
    CodePoints(u8, u8),
}

/// The hash has a key of its own in each process, so that nobody can make a profile that passes for another.
static HASHER: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// The last used first.
static RECENT: Mutex<Vec<(Key, Arc<Conversion>)>> = Mutex::new(Vec::new());

pub(super) fn of_profile(profile: &[u8]) -> Result<Arc<Conversion>, Unconverted> {
    if profile.len() > icc::MAX_PROFILE_BYTES {
        return Err(Unconverted::Unreadable);
    }
    recent(Key::Profile(HASHER.hash_one(profile), profile.len()), || icc::conversion(profile))
}

pub(super) fn of_code_points(primaries: u8, transfer: u8) -> Result<Arc<Conversion>, Unconverted> {
    recent(Key::CodePoints(primaries, transfer), || cicp::conversion(primaries, transfer))
}

fn recent(
    key: Key,
    prepare: impl FnOnce() -> Result<Conversion, Unconverted>,
) -> Result<Arc<Conversion>, Unconverted> {
    let recent = || RECENT.lock().unwrap_or_else(PoisonError::into_inner);
    let found = {
        let mut recent = recent();
        let place = recent.iter().position(|(kept, _)| *kept == key);
        place.and_then(|place| {
            recent.get_mut(..=place)?.rotate_right(1);
            recent.first().map(|(_, conversion)| Arc::clone(conversion))
        })
    };
    if let Some(found) = found {
        return Ok(found);
    }
    // Not under the lock: somebody else may need another one meanwhile.
    let conversion = Arc::new(prepare()?);
    if conversion.nodes() > KEPT_NODES {
        return Ok(conversion);
    }
    let mut recent = recent();
    recent.insert(0, (key, Arc::clone(&conversion)));
    recent.truncate(KEPT);
    Ok(conversion)
}
