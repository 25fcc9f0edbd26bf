use std::{mem::size_of, ops::Range};

use blobs::BlobReader;
use bytes::Bytes;
use domain::ContentHash;
use keys::sha256;
use quick_cache::{Weighter, sync::Cache};

/// Upper bound on the length of one cached rendition. Most thumbs and many medium renditions are shorter.
const MAX_RENDITION_BYTES: u64 = 128 * 1024;
/// Upper bound on the length of all cached renditions together.
const CAPACITY_BYTES: u64 = 32 * 1024 * 1024;
/// The expected number of cached renditions, most of them thumbs of ordinary photos.
const EXPECTED_RENDITIONS: usize = 1024;

/// The size and the use of the renditions in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RenditionCacheFigures {
    pub bytes: u64,
    /// Look-ups that found a rendition, since the start of the process.
    pub hits: u64,
    /// Look-ups that found none.
    pub misses: u64,
}

/// The content of a rendition, or a range of it.
#[derive(Debug)]
pub enum RenditionContent {
    /// A small rendition.
    InMemory(Bytes),
    /// A large one, which is read while it is sent.
    Reader(BlobReader),
}

/// Small renditions that were served lately, by the hash of their bytes.
///
/// Bytes never change under their hash, so the cache needs no invalidation. Before each look-up, the metadata store
/// decides whether the image may be seen.
pub(crate) struct HotRenditions {
    cache: Cache<ContentHash, Bytes, Length>,
}

/// Weighs a rendition by its memory.
#[derive(Debug, Clone)]
struct Length;

impl Weighter<ContentHash, Bytes> for Length {
    fn weight(&self, _: &ContentHash, bytes: &Bytes) -> u64 {
        (bytes.len() + size_of::<(ContentHash, Bytes)>()) as u64
    }
}

impl Default for HotRenditions {
    fn default() -> Self {
        Self { cache: Cache::with_weighter(EXPECTED_RENDITIONS, CAPACITY_BYTES, Length) }
    }
}

impl HotRenditions {
    /// Whether a rendition of this length may be cached.
    pub(crate) fn takes(bytes: u64) -> bool {
        bytes <= MAX_RENDITION_BYTES
    }

    /// Its size and use since the start of the process.
    pub(crate) fn figures(&self) -> RenditionCacheFigures {
        RenditionCacheFigures {
            bytes: self.cache.weight(),
            hits: self.cache.hits(),
            misses: self.cache.misses(),
        }
    }

    pub(crate) fn get(&self, hash: ContentHash) -> Option<Bytes> {
        self.cache.get(&hash)
    }

    /// Caches bytes; `false` if they differ from their hash, because the file is damaged.
    pub(crate) fn insert(&self, hash: ContentHash, bytes: Bytes) -> bool {
        let is_whole = sha256(&bytes) == *hash.as_bytes();
        if is_whole {
            self.cache.insert(hash, bytes);
        }
        is_whole
    }
}

/// A range of cached bytes, cut to their length.
pub(crate) fn part(bytes: &Bytes, range: Option<Range<u64>>) -> Bytes {
    let Some(range) = range else { return bytes.clone() };
    let position = |bytes_before: u64| usize::try_from(bytes_before).unwrap_or(usize::MAX).min(bytes.len());
    let (start, end) = (position(range.start), position(range.end));
    bytes.slice(start.min(end)..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendition(seed: u8, bytes: usize) -> (ContentHash, Bytes) {
        let bytes = Bytes::from(vec![seed; bytes]);
        (ContentHash::new(sha256(&bytes)), bytes)
    }

    #[test]
    fn damaged_bytes_are_not_cached() {
        let hot = HotRenditions::default();
        let (hash, bytes) = rendition(1, 1000);
        assert!(!hot.insert(hash, bytes.slice(1..)));
        assert_eq!(hot.get(hash), None);
        assert!(hot.insert(hash, bytes.clone()));
        assert_eq!(hot.get(hash), Some(bytes));
    }

    #[test]
    fn memory_is_bounded() {
        let hot = HotRenditions::default();
        for seed in 0..=255 {
            for length in 60_000..60_004 {
                let (hash, bytes) = rendition(seed, length);
                assert!(hot.insert(hash, bytes));
            }
        }
        assert!(hot.cache.weight() <= CAPACITY_BYTES, "{}", hot.cache.weight());
        assert!(hot.cache.len() > 400, "{}", hot.cache.len());
    }

    #[test]
    fn parts_are_cut_to_the_length() {
        let bytes = Bytes::from_static(b"abcdef");
        for (range, expect) in
            [(None, "abcdef"), (Some(0..2), "ab"), (Some(4..9), "ef"), (Some(6..9), ""), (Some(9..9), "")]
        {
            assert_eq!(part(&bytes, range), expect);
        }
    }
}
