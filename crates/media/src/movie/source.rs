//! Reads parts of a source within limits.

use std::io;

/// The bytes of a movie: a file, or an object of a store.
pub trait MovieSource {
    /// The number of bytes.
    fn size(&self) -> u64;

    /// The bytes from an offset: `length` of them, or fewer where the source ends.
    ///
    /// # Errors
    /// [`io::Error`]
    fn read(&mut self, offset: u64, length: usize) -> io::Result<Vec<u8>>;
}

impl MovieSource for &[u8] {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn read(&mut self, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        let rest = usize::try_from(offset).ok().and_then(|offset| self.get(offset..)).unwrap_or_default();
        Ok(rest.get(..length.min(rest.len())).unwrap_or_default().to_vec())
    }
}

/// Bytes that are read at once, because the next value is probably near.
const BLOCK_BYTES: usize = 16 * 1024;
/// Maximum number of bytes that are read of one file.
const MAX_BYTES: usize = 64 * 1024 * 1024;
/// Maximum number of boxes or elements that are looked at in one file.
const MAX_PARTS: u32 = 100_000;

#[derive(Debug)]
pub(super) enum ReadError {
    Source(io::Error),
    /// The file ends, or a limit is reached.
    Ended,
}

/// Reads parts of a source.
pub(super) struct Reader<'a> {
    source: &'a mut dyn MovieSource,
    size: u64,
    /// The block that was read last, and its offset.
    block: (u64, Vec<u8>),
    bytes_left: usize,
    parts_left: u32,
}

impl<'a> Reader<'a> {
    pub(super) fn new(source: &'a mut dyn MovieSource) -> Self {
        let size = source.size();
        Self { source, size, block: (0, Vec::new()), bytes_left: MAX_BYTES, parts_left: MAX_PARTS }
    }

    /// The number of bytes of the file.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// Counts a box or element.
    pub(super) fn count_part(&mut self) -> Result<(), ReadError> {
        self.parts_left = self.parts_left.checked_sub(1).ok_or(ReadError::Ended)?;
        Ok(())
    }

    /// Bytes at an offset: `length` of them, or fewer at the end of the file.
    pub(super) fn upto(&mut self, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        if let Some(bytes) = self.in_block(offset, length) {
            return Ok(bytes);
        }
        if length > BLOCK_BYTES {
            return self.source.read(offset, length);
        }
        self.block = (offset, self.source.read(offset, BLOCK_BYTES)?);
        let (_, block) = &self.block;
        Ok(block.get(..length.min(block.len())).unwrap_or_default().to_vec())
    }

    fn in_block(&self, offset: u64, length: usize) -> Option<Vec<u8>> {
        let (start, block) = &self.block;
        let from = usize::try_from(offset.checked_sub(*start)?).ok()?;
        Some(block.get(from..from.checked_add(length)?)?.to_vec())
    }

    /// Exactly these bytes.
    pub(super) fn exact(&mut self, offset: u64, length: usize) -> Result<Vec<u8>, ReadError> {
        let is_known = self.in_block(offset, length).is_some();
        if !is_known {
            let cost = length.max(BLOCK_BYTES);
            self.bytes_left = self.bytes_left.checked_sub(cost).ok_or(ReadError::Ended)?;
        }
        let bytes = self.upto(offset, length).map_err(ReadError::Source)?;
        if bytes.len() < length { Err(ReadError::Ended) } else { Ok(bytes) }
    }

    /// The bytes between two offsets, but not more than `max`.
    pub(super) fn between(&mut self, from: u64, to: u64, max: usize) -> Result<Vec<u8>, ReadError> {
        let length = usize::try_from(to.saturating_sub(from)).unwrap_or(usize::MAX);
        self.exact(from, length.min(max))
    }

    /// The same, or fewer where the file ends; at least one.
    pub(super) fn start_of(&mut self, from: u64, to: u64, max: usize) -> Result<Vec<u8>, ReadError> {
        let to = to.min(self.size);
        if from >= to { Err(ReadError::Ended) } else { self.between(from, to, max) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_once_and_within_the_file() {
        struct Counted(Vec<u8>, usize);
        impl MovieSource for Counted {
            fn size(&self) -> u64 {
                self.0.len() as u64
            }
            fn read(&mut self, offset: u64, length: usize) -> io::Result<Vec<u8>> {
                self.1 += 1;
                self.0.as_slice().read(offset, length)
            }
        }
        let mut source = Counted((0..=255).cycle().take(40_000).collect(), 0);
        let mut reader = Reader::new(&mut source);
        assert_eq!(reader.exact(1, 3).unwrap(), [1, 2, 3]);
        assert_eq!(reader.exact(300, 2).unwrap(), [44, 45]);
        assert_eq!(reader.start_of(39_998, 50_000, 9).unwrap(), [62, 63]);
        assert!(matches!(reader.between(39_998, 50_000, 9), Err(ReadError::Ended)));
        assert!(matches!(reader.start_of(40_000, 50_000, 9), Err(ReadError::Ended)));
        assert!(matches!(reader.exact(39_998, 3), Err(ReadError::Ended)));
        assert_eq!(reader.exact(0, 30_000).unwrap().len(), 30_000);
        assert_eq!(source.1, 5);
    }

    #[test]
    fn the_work_for_a_file_is_limited() {
        let bytes = vec![0; 3 * BLOCK_BYTES];
        let mut source = bytes.as_slice();
        let mut reader = Reader::new(&mut source);
        let far = |number: u32| u64::from(number % 2) * 2 * BLOCK_BYTES as u64;
        let reads = (0..).take_while(|number| reader.exact(far(*number), 1).is_ok()).count();
        assert_eq!(reads, MAX_BYTES / BLOCK_BYTES);
        assert_eq!((0..).take_while(|_| reader.count_part().is_ok()).count(), MAX_PARTS as usize);
    }
}
