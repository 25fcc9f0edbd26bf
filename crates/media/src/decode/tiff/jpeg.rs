//! Decodes strips and tiles that are JPEG files (TIFF Technical Note 2).

use crate::container::tiff::TiffImage;
use crate::{Format, MediaError, container, decode};

/// Maximum number of scans in a strip.
const MAX_SCANS: u32 = 20;

const START: &[u8] = &[0xFF, 0xD8];
const END: &[u8] = &[0xFF, 0xD9];

/// Rows of 8-bit samples, and the damage to them.
type Unpacked = (Vec<u8>, Option<String>);

/// Decodes a strip or tile.
pub(super) fn unpack(chunk: &[u8], picture: &TiffImage<'_>) -> Result<Unpacked, String> {
    let samples = if picture.planar { 1 } else { picture.samples.count };
    let file = complete_jpeg(chunk, picture);
    let reason = |error: MediaError| match error {
        MediaError::Corrupt(text) => text,
        error => error.to_string(),
    };
    let header = container::header(Format::Jpeg, &file).map_err(reason)?;
    let (size, most) = (header.size, picture.chunks.size);
    if size.width != most.width || size.height == 0 || size.height > most.height || header.scans > MAX_SCANS {
        return Err("a strip or tile has a wrong size".into());
    }
    let decoded = decode::jpeg::decode(&file, &header, size).map_err(reason)?;
    if decoded.pixels.size != size || decoded.pixels.layout.channels() != samples {
        return Err("a strip or tile has a wrong colour space".into());
    }
    Ok((decoded.pixels.bytes, decoded.damaged))
}

/// The chunk with the shared tables and with a segment that declares the colour space. Without that segment, decoders
/// assume a colour space.
fn complete_jpeg(chunk: &[u8], picture: &TiffImage<'_>) -> Vec<u8> {
    let mut file = START.to_vec();
    if let Some(is_ycc) = picture.jpeg_ycc {
        // Adobe's segment (T.872, 6.5.3): length, name, version, flags, and 1 for YCbCr.
        file.extend([0xFF, 0xEE, 0, 14, b'A', b'd', b'o', b'b', b'e', 0, 100, 0, 0, 0, 0, u8::from(is_ycc)]);
    }
    if let Some(tables) = picture.jpeg_tables.and_then(|tables| tables.strip_prefix(START)) {
        file.extend(tables.strip_suffix(END).unwrap_or(tables));
    }
    file.extend(chunk.strip_prefix(START).unwrap_or(chunk));
    file
}
