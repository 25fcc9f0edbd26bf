//! Strips and tiles that are JPEG files (TIFF Technical Note 2).

use crate::container::tiff::Picture;
use crate::{Format, MediaError, container, decode};

/// More scans than a program writes into a strip.
const MAX_SCANS: u32 = 20;

const START: &[u8] = &[0xFF, 0xD8];
const END: &[u8] = &[0xFF, 0xD9];

/// Rows of 8-bit samples, and what was wrong with them.
type Unpacked = (Vec<u8>, Option<String>);

/// Unpacks one; fails when nothing can be had.
pub(super) fn unpack(chunk: &[u8], picture: &Picture<'_>) -> Result<Unpacked, String> {
    let samples = if picture.planar { 1 } else { picture.samples.count };
    let file = whole(chunk, picture);
    let in_words = |error: MediaError| match error {
        MediaError::Corrupt(reason) => reason,
        error => error.to_string(),
    };
    let header = container::header(Format::Jpeg, &file).map_err(in_words)?;
    let (size, most) = (header.size, picture.chunks.size);
    if size.width != most.width || size.height == 0 || size.height > most.height || header.scans > MAX_SCANS {
        return Err("a part of it has another size than the rest".into());
    }
    let decoded = decode::jpeg::decode(&file, &header, size).map_err(in_words)?;
    if decoded.pixels.size != size || decoded.pixels.layout.channels() != samples {
        return Err("a part of it has other colours than the rest".into());
    }
    Ok((decoded.pixels.bytes, decoded.damaged))
}

/// The chunk with the tables that it shares with the others, and with the mark that says what its colours are:
/// without one, decoders guess.
fn whole(chunk: &[u8], picture: &Picture<'_>) -> Vec<u8> {
    let mut file = START.to_vec();
    if let Some(is_ycc) = picture.jpeg_ycc {
        // Adobe's segment (T.872, 6.5.3): length, name, version, flags, and 1 for luma and colour differences.
        file.extend([0xFF, 0xEE, 0, 14, b'A', b'd', b'o', b'b', b'e', 0, 100, 0, 0, 0, 0, u8::from(is_ycc)]);
    }
    if let Some(tables) = picture.jpeg_tables.and_then(|tables| tables.strip_prefix(START)) {
        file.extend(tables.strip_suffix(END).unwrap_or(tables));
    }
    file.extend(chunk.strip_prefix(START).unwrap_or(chunk));
    file
}
