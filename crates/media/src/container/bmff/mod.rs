//! Reads HEIF and AVIF headers: ISO/IEC 14496-12 (boxes), 23008-12 (items), and the AVIF specification.
//!
//! The decoder reads the same boxes again. They are read here first, because sizes must be checked before decoding and
//! because metadata must be found even on machines without the decoder.

mod coded;
mod meta;
mod references;
#[cfg(test)]
mod tests;
mod transform;

use std::borrow::Cow;
use std::collections::BTreeSet;

use domain::PixelSize;

pub(crate) use self::coded::{Bits, Coding, parameter_set_size as hevc_unit_size, unescaped};
pub(crate) use self::references::with_needed_references;

use self::meta::Meta;
use super::boxes::{self, Boxes, Reader};
use super::{Blocks, Coded, Colour, Container, Header, Picture};
use crate::{MediaError, Orientation};

/// Maximum depth of derived pictures. An identity of a grid of tiles has depth two.
const MAX_DEPTH: usize = 4;

/// Maximum pixels of all coded items together: a multiple of the picture's pixels, plus a constant. The sum exceeds the picture
/// because tiles may extend over the edge of their grid and have a minimum size.
const MAX_PARTS_AREA: (u64, u64) = (4, 4_000_000);

/// Maximum padding of a file that is cut off. The missing items may be depth maps, gain maps and videos, which have a few
/// megabytes.
const MAX_MISSING_BYTES: usize = 64 << 20;

/// The boxes that a file can end with. Other boxes at the end may be bytes that a program has appended.
const LAST_BOXES: [[u8; 4]; 7] = [*b"mdat", *b"free", *b"skip", *b"uuid", *b"moov", *b"mpvd", *b"sefd"];

/// Peak memory of decoding for each output pixel: coded planes, RGB planes, a rotated copy of them, the interleaved pixels
/// and our copy of these. Measured with libheif 1.15, plus a fifth.
const BYTES_PER_PIXEL: u64 = 10;
/// The same for channels of more than 8 bits, which take 2 bytes each.
const BYTES_PER_DEEP_PIXEL: u64 = 30;
/// Additional memory for transparency.
const BYTES_PER_PIXEL_OF_ALPHA: u64 = 4;

/// What the decoder needs to know about a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HeifImage {
    /// The codec of the primary picture, or of its first tile.
    pub(crate) coding: Coding,
    /// Whether the file ends within its last box.
    pub(crate) is_cut: bool,
    /// The number of bytes missing from a file that is cut off after its primary picture; 0 if all items are there. The
    /// decoder refuses such a file unless padding replaces the missing bytes. `None` if the file is complete, or if a part
    /// of the primary picture is missing.
    pub(crate) missing_tail: Option<usize>,
}

/// The boxes at the top of a file.
struct TopBoxes<'a> {
    meta: Option<boxes::Box<'a>>,
    last: Option<boxes::Box<'a>>,
    /// Whether the file ends within the last box.
    is_cut: bool,
}

impl<'a> TopBoxes<'a> {
    fn read(bytes: &'a [u8]) -> Self {
        let mut boxes = Boxes::new(bytes);
        let (mut meta, mut last) = (None, None);
        for found in boxes.by_ref() {
            if found.kind == *b"meta" {
                meta.get_or_insert(found);
            }
            last = Some(found);
        }
        // If a few more bytes follow, they are the start of a box that is cut off.
        let is_cut = last.is_none_or(|last| last.cut) || matches!(boxes.rest().len(), 1..8);
        Self { meta, last, is_cut }
    }
}

pub(super) fn read(bytes: &[u8]) -> Container<'_> {
    let top = TopBoxes::read(bytes);
    let Some(meta) = top.meta.map(|found| Meta::read(bytes, found.body)) else {
        return Container { picture: Err(top.missing("it has no still picture")), blocks: Blocks::default() };
    };
    let picture = picture(bytes, &top, &meta);
    Container { picture, blocks: blocks(&meta) }
}

fn picture<'a>(bytes: &'a [u8], top: &TopBoxes<'_>, meta: &Meta<'_>) -> Result<Picture<'a>, MediaError> {
    let primary = meta.primary.filter(|id| meta.item(*id).is_some_and(|item| item.kind != [0; 4]));
    let primary = primary.ok_or_else(|| top.missing("it does not name its primary picture"))?;
    let stored = stored_size(meta, primary)?;
    let stored = stored.ok_or_else(|| top.missing("the size of its picture is missing"))?;
    let display = transform::display_size(stored, meta.properties(primary));

    let parts = CodedItems::of(meta, primary);
    let largest = larger(stored, parts.largest.unwrap_or(stored));
    let (times, more) = MAX_PARTS_AREA;
    // The largest item is checked against the limit on pixels later.
    let others = parts.area.saturating_sub(largest.area());
    if others > stored.area().saturating_mul(times).saturating_add(more) {
        return Err(MediaError::Corrupt("the tiles do not fit the grid".into()));
    }
    let bytes_per_pixel = if parts.deep { BYTES_PER_DEEP_PIXEL } else { BYTES_PER_PIXEL }
        + if parts.alpha { BYTES_PER_PIXEL_OF_ALPHA } else { 0 };
    let missing_tail = top.missing_tail(bytes, meta, &parts);
    let header = Header {
        decoded_size: largest,
        // libheif rotates the pixels itself, and the container overrides EXIF.
        orientation: display.turned.then_some(Orientation::Normal),
        decode_bytes: largest.area().saturating_mul(bytes_per_pixel).saturating_add(copied_bytes(
            bytes,
            missing_tail,
            meta,
        )),
        ..Header::plain(display.size, bytes_per_pixel)
    };
    let coding = parts.coding.unwrap_or(Coding::Other);
    Ok(Picture { header, coded: Coded::Heif(bytes, HeifImage { coding, is_cut: top.is_cut, missing_tail }) })
}

fn blocks<'a>(meta: &Meta<'a>) -> Blocks<'a> {
    let exif = meta.describing(|item| item.kind == *b"Exif");
    let xmp = meta.describing(|item| item.kind == *b"mime" && item.content_type == b"application/rdf+xml");
    Blocks {
        exif: exif.and_then(|id| meta.data(id)).and_then(tiff_block),
        xmp: xmp.and_then(|id| meta.data(id)),
        colour: meta.primary.and_then(|id| colour(meta, id)),
        ..Blocks::default()
    }
}

impl TopBoxes<'_> {
    /// Why something is not in the file.
    fn missing(&self, what: &str) -> MediaError {
        if self.is_cut { MediaError::Truncated } else { MediaError::Corrupt(what.into()) }
    }

    /// As [`HeifImage::missing_tail`].
    fn missing_tail(&self, bytes: &[u8], meta: &Meta<'_>, primary: &CodedItems) -> Option<usize> {
        let _whole = self.meta.filter(|meta| !meta.cut)?;
        let missing = meta.end_of_data().saturating_sub(u64::try_from(bytes.len()).ok()?);
        let is_cut = missing > 0 || self.last.is_some_and(|last| last.cut && LAST_BOXES.contains(&last.kind));
        let missing = usize::try_from(missing).ok().filter(|missing| *missing <= MAX_MISSING_BYTES)?;
        (is_cut && !primary.cut).then_some(missing)
    }
}

/// The size of the copies of the file that decoding may require: a padded one, and one with fewer references.
fn copied_bytes(bytes: &[u8], missing_tail: Option<usize>, meta: &Meta<'_>) -> u64 {
    let missing = missing_tail.filter(|missing| *missing > 0);
    let padded = missing.map_or(0, |missing| bytes.len().saturating_add(missing));
    let simplified = if meta.has_descriptions() { padded.max(bytes.len()) } else { 0 };
    u64::try_from(padded.saturating_add(simplified)).unwrap_or(u64::MAX)
}

/// The size with more pixels.
fn larger(a: PixelSize, b: PixelSize) -> PixelSize {
    if b.area() > a.area() { b } else { a }
}

/// The size of a picture before rotation. For a grid this is the size in the grid itself, which the decoder uses.
fn stored_size(meta: &Meta<'_>, id: u32) -> Result<Option<PixelSize>, MediaError> {
    let declared = meta.property(id, b"ispe").and_then(extents);
    if meta.item(id).is_none_or(|item| item.kind != *b"grid") {
        return Ok(declared);
    }
    let Some(grid) = meta.data(id).and_then(|data| Grid::read(&data)) else { return Ok(declared) };
    if declared.is_some_and(|declared| declared != grid.size) {
        return Err(MediaError::size_mismatch());
    }
    if meta.references(b"dimg", id).len() != grid.tiles {
        return Err(MediaError::Corrupt("tiles of the grid are missing".into()));
    }
    Ok(Some(grid.size))
}

fn extents(ispe: &[u8]) -> Option<PixelSize> {
    let mut reader = Reader::new(ispe);
    reader.version_and_flags()?;
    Some(PixelSize { width: reader.u32()?, height: reader.u32()? })
}

/// A picture composed of tiles (ISO/IEC 23008-12, section 6.6.2.3).
#[derive(Debug, Clone, Copy)]
struct Grid {
    tiles: usize,
    size: PixelSize,
}

impl Grid {
    fn read(data: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(data);
        let _version = reader.u8()?;
        let long = reader.u8()? & 1 == 1;
        let (rows, columns) = (usize::from(reader.u8()?) + 1, usize::from(reader.u8()?) + 1);
        // `item` reads 2 or 4 bytes, and sides have the same lengths as item ids.
        let size = PixelSize { width: reader.item(long)?, height: reader.item(long)? };
        Some(Self { tiles: rows * columns, size })
    }
}

/// The coded items of a picture: itself or its tiles, and its alpha.
#[derive(Debug, Default)]
struct CodedItems {
    coding: Option<Coding>,
    /// The size of the largest item, according to the container or the coded data.
    largest: Option<PixelSize>,
    /// Total number of pixels.
    area: u64,
    /// Whether channels have more than 8 bits.
    deep: bool,
    /// Whether there is an alpha item.
    alpha: bool,
    /// Whether data of any item are cut off.
    cut: bool,
}

impl CodedItems {
    fn of(meta: &Meta<'_>, primary: u32) -> Self {
        let mut parts = Self::default();
        let mut seen = BTreeSet::new();
        parts.collect(meta, primary, MAX_DEPTH, &mut seen);
        for auxiliary in meta.referring(b"auxl", primary) {
            // Depth and gain maps are never decoded.
            if is_alpha_item(meta, auxiliary) {
                parts.alpha = true;
                parts.collect(meta, auxiliary, MAX_DEPTH, &mut seen);
            }
        }
        parts
    }

    /// Collects an item and the items it is derived from. Each item is read once; a tile counts each time a picture uses
    /// it.
    fn collect(&mut self, meta: &Meta<'_>, id: u32, depth: usize, seen: &mut BTreeSet<u32>) {
        let Some(item) = meta.item(id).filter(|_| depth > 0) else { return };
        self.cut |= meta.is_cut(id);
        if matches!(&item.kind, b"grid" | b"iden" | b"iovl") {
            if seen.insert(id) {
                for part in meta.references(b"dimg", id) {
                    self.collect(meta, *part, depth - 1, seen);
                }
            }
            return;
        }
        let coding = Coding::of(item.kind);
        self.coding.get_or_insert(coding);
        let configuration = coding.configuration().and_then(|kind| meta.property(id, kind));
        let configuration = configuration.unwrap_or_default();
        let declared = meta.property(id, b"ispe").and_then(extents);
        // An item may be used as many tiles. Its data are read only the first time.
        let coded = if seen.insert(id) { coding.size(configuration, meta.head(id)) } else { self.largest };
        if let Some(size) = declared.into_iter().chain(coded).reduce(larger) {
            self.area = self.area.saturating_add(size.area());
            self.largest = Some(self.largest.map_or(size, |largest| larger(largest, size)));
        }
        self.deep |= coding.is_deep(configuration);
    }
}

fn is_alpha_item(meta: &Meta<'_>, id: u32) -> bool {
    meta.property(id, b"auxC").is_some_and(is_alpha)
}

/// Whether an auxiliary picture is alpha, by the URNs of HEVC, of HEIF with AVC, and of MIAF.
fn is_alpha(aux_c: &[u8]) -> bool {
    let mut reader = Reader::new(aux_c);
    reader.version_and_flags().is_some()
        && matches!(
            reader.text(),
            b"urn:mpeg:mpegB:cicp:systems:auxiliary:alpha"
                | b"urn:mpeg:hevc:2015:auxid:1"
                | b"urn:mpeg:avc:2015:auxid:1"
        )
}

/// The TIFF structure of an `Exif` item, which starts with the offset of the structure (ISO/IEC 23008-12, annex A.2.1). If
/// that offset is wrong, the structure is searched: some programs write 0 before `Exif\0\0`, others a random value.
fn tiff_block(data: Cow<'_, [u8]>) -> Option<Cow<'_, [u8]>> {
    /// Number of positions that are searched. Programs write at most `Exif\0\0` before the structure.
    const SEARCHED_BYTES: usize = 64;
    let is_tiff = |start: usize| {
        data.get(start..).is_some_and(|rest| rest.starts_with(b"II*\0") || rest.starts_with(b"MM\0*"))
    };
    let declared = data.first_chunk().copied().map(u32::from_be_bytes)?;
    let declared = usize::try_from(declared).ok().and_then(|offset| offset.checked_add(4));
    let start =
        declared.filter(|start| is_tiff(*start)).or_else(|| (0..SEARCHED_BYTES).find(|at| is_tiff(*at)))?;
    Some(match data {
        Cow::Borrowed(data) => Cow::Borrowed(data.get(start..)?),
        Cow::Owned(mut data) => Cow::Owned(data.split_off(start)),
    })
}

/// The colour space of a picture, or of the first tile of a grid. A profile comes before code points.
fn colour<'a>(meta: &Meta<'a>, id: u32) -> Option<Colour<'a>> {
    let own = colour_of(meta, id);
    own.or_else(|| meta.references(b"dimg", id).first().and_then(|tile| colour_of(meta, *tile)))
}

fn colour_of<'a>(meta: &Meta<'a>, id: u32) -> Option<Colour<'a>> {
    let boxes = || meta.properties(id).filter(|property| property.kind == *b"colr");
    let profile = boxes().find_map(|property| match property.body {
        [b'p', b'r', b'o', b'f', profile @ ..] | [b'r', b'I', b'C', b'C', profile @ ..]
            if !profile.is_empty() =>
        {
            Some(Colour::Icc(Cow::Borrowed(profile)))
        }
        _ => None,
    });
    profile.or_else(|| {
        boxes().find_map(|property| match property.body {
            [b'n', b'c', b'l', b'x', 0, primaries, 0, transfer, ..] => {
                Some(Colour::Cicp { primaries: *primaries, transfer: *transfer })
            }
            _ => None,
        })
    })
}
