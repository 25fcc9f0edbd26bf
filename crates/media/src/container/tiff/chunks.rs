use domain::PixelSize;

use super::picture::tag;
use crate::MediaError;
use crate::tiff::{Entry, Ifd};

/// Maximum number of strips or tiles; more than 200 megapixels in the smallest tiles.
const MAX_CHUNKS: u64 = 1 << 20;

/// Number of pixels in all tiles that is accepted for a picture of any size, because tiles extend over its edges.
const MAX_SMALL_PADDED: u64 = 1 << 26;

/// The strips or tiles of a picture.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chunks<'a> {
    /// The size of each. The last ones may extend beyond the picture.
    pub(crate) size: PixelSize,
    /// Number of columns.
    pub(crate) across: u32,
    /// Number of rows.
    pub(crate) down: u32,
    source: Source<'a>,
}

#[derive(Debug, Clone, Copy)]
enum Source<'a> {
    Listed {
        offsets: Entry<'a>,
        lengths: Option<Entry<'a>>,
    },
    /// One for the whole picture.
    One(&'a [u8]),
}

impl<'a> Chunks<'a> {
    /// Refuses chunks with far more pixels than the picture.
    pub(super) fn read(ifd: &Ifd<'a>, picture: PixelSize) -> Result<Self, MediaError> {
        // Some programs list tiles as strips.
        let tiled = ifd.entry(tag::TILE_OFFSETS).is_some()
            || (ifd.entry(tag::TILE_WIDTH).is_some() && ifd.entry(tag::TILE_LENGTH).is_some());
        let either = |tiles, strips| ifd.entry(tiles).filter(|_| tiled).or_else(|| ifd.entry(strips));
        let offsets = either(tag::TILE_OFFSETS, tag::STRIP_OFFSETS);
        let lengths = either(tag::TILE_BYTE_COUNTS, tag::STRIP_BYTE_COUNTS);
        // Without offsets, the list is cut off or missing.
        let offsets = offsets.ok_or(MediaError::Truncated)?;
        let side = |tag, most: u32| match ifd.number(tag) {
            Some(side @ 1..) => u32::try_from(side).unwrap_or(u32::MAX).min(most),
            _ => most,
        };
        let size = if tiled {
            let side = |tag| Some(side(tag, u32::MAX)).filter(|side| *side < u32::MAX);
            let (width, height) = (side(tag::TILE_WIDTH), side(tag::TILE_LENGTH));
            let none = || MediaError::Corrupt("the tiles have no size".into());
            PixelSize { width: width.ok_or_else(none)?, height: height.ok_or_else(none)? }
        } else {
            PixelSize { width: picture.width, height: side(tag::ROWS_PER_STRIP, picture.height) }
        };
        let source = Source::Listed { offsets, lengths };
        let chunks = Self {
            size,
            across: picture.width.div_ceil(size.width),
            down: picture.height.div_ceil(size.height),
            source,
        };
        let count = u64::from(chunks.across) * u64::from(chunks.down);
        if count > MAX_CHUNKS {
            return Err(MediaError::Corrupt(format!("it has {count} strips or tiles")));
        }
        if count.saturating_mul(size.area()) > picture.area().saturating_mul(8).max(MAX_SMALL_PADDED) {
            return Err(MediaError::Corrupt("the tiles are far larger than the picture".into()));
        }
        Ok(chunks)
    }

    /// One chunk for the whole picture.
    pub(super) fn one(bytes: &'a [u8], size: PixelSize) -> Self {
        Self { size, across: 1, down: 1, source: Source::One(bytes) }
    }

    /// The bytes of a chunk, up to the end of the file. `None` if it is not in the list; empty if it lies outside of the
    /// file.
    ///
    /// If a program has omitted the length or written 0, the chunk is the rest of the file. Uncompressed pixels also get the rest
    /// of the file, because their length follows from their size.
    pub(crate) fn get(
        &self,
        file: &'a [u8],
        (plane, row, column): (usize, u32, u32),
        is_compressed: bool,
    ) -> Option<&'a [u8]> {
        let (offsets, lengths) = match self.source {
            Source::Listed { offsets, lengths } => (offsets, lengths),
            Source::One(bytes) => return (plane == 0 && row == 0 && column == 0).then_some(bytes),
        };
        let [across, down, row, column] =
            [self.across, self.down, row, column].map(|number| usize::try_from(number).unwrap_or(usize::MAX));
        let in_plane = row.checked_mul(across)?.checked_add(column)?;
        let place = across.checked_mul(down)?.checked_mul(plane)?.checked_add(in_plane)?;
        let offset = offsets.number(place)?;
        let from = usize::try_from(offset).ok().filter(|from| *from > 0).and_then(|from| file.get(from..));
        let from = from.unwrap_or_default();
        let length = lengths.filter(|_| is_compressed).and_then(|lengths| lengths.number(place));
        let length = length.filter(|length| *length > 0).and_then(|length| usize::try_from(length).ok());
        Some(length.and_then(|length| from.get(..length)).unwrap_or(from))
    }
}
