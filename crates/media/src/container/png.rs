//! PNG: chunk layout of the W3C specification, section 5; `eXIf` of its third edition.

use domain::PixelSize;

use super::{Blocks, Header, take};
use crate::MediaError;

struct Chunks<'a> {
    rest: &'a [u8],
}

impl<'a> Chunks<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes.get(8..).unwrap_or_default() }
    }
}

impl<'a> Iterator for Chunks<'a> {
    type Item = (&'a [u8], &'a [u8]);

    /// The next chunk's type and data.
    fn next(&mut self) -> Option<Self::Item> {
        let length = take(&mut self.rest, 4)?.try_into().ok().map(u32::from_be_bytes)?;
        let kind = take(&mut self.rest, 4)?;
        let data = take(&mut self.rest, usize::try_from(length).ok()?)?;
        // The last chunk may lack its checksum.
        let _checksum = take(&mut self.rest, 4);
        (kind != b"IEND").then_some((kind, data))
    }
}

pub(super) fn header(bytes: &[u8]) -> Result<Header, MediaError> {
    let Some((kind, data)) = Chunks::new(bytes).next() else { return Err(MediaError::Truncated) };
    let (b"IHDR", [w3, w2, w1, w0, h3, h2, h1, h0, ..]) = (kind, data) else {
        return Err(MediaError::Corrupt("its PNG header is missing".into()));
    };
    let size = PixelSize {
        width: u32::from_be_bytes([*w3, *w2, *w1, *w0]),
        height: u32::from_be_bytes([*h3, *h2, *h1, *h0]),
    };
    // Four channels of eight bits, the most that the decoder is asked to give.
    Ok(Header::plain(size, 4))
}

pub(super) fn blocks(bytes: &[u8]) -> Blocks<'_> {
    Blocks { exif: exif_block(bytes).map(Into::into), ..Blocks::default() }
}

fn exif_block(bytes: &[u8]) -> Option<&[u8]> {
    Chunks::new(bytes).find(|(kind, _)| *kind == b"eXIf").map(|(_, data)| data)
}
