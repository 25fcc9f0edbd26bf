//! Decodes strips and tiles that are JPEG files (TIFF Technical Note 2) or only the data of JPEG files (TIFF 6.0,
//! section 22).

use crate::container::tiff::{JpegFields, TiffImage};
use crate::{MediaError, container, decode};

/// Maximum number of scans in a strip.
const MAX_SCANS: u32 = 20;

const START: &[u8] = &[0xFF, 0xD8];
const END: &[u8] = &[0xFF, 0xD9];

/// Rows of 8-bit samples, and the damage to them.
type Unpacked = (Vec<u8>, Option<String>);

/// Decodes a strip or tile, of which `height` rows are in the picture.
pub(super) fn unpack(chunk: &[u8], picture: &TiffImage<'_>, height: u32) -> Result<Unpacked, String> {
    let samples = if picture.planar { 1 } else { picture.samples.count };
    let file = complete_jpeg(chunk, picture, height);
    let reason = |error: MediaError| match error {
        MediaError::Corrupt(text) => text,
        error => error.to_string(),
    };
    let header = container::jpeg::header(&file).map_err(reason)?;
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
fn complete_jpeg(chunk: &[u8], picture: &TiffImage<'_>, height: u32) -> Vec<u8> {
    let mut file = START.to_vec();
    if let Some(is_ycc) = picture.jpeg_ycc {
        // Adobe's segment (T.872, 6.5.3): length, name, version, flags, and 1 for YCbCr.
        file.extend([0xFF, 0xEE, 0, 14, b'A', b'd', b'o', b'b', b'e', 0, 100, 0, 0, 0, 0, u8::from(is_ycc)]);
    }
    if let Some(tables) = picture.jpeg_tables.and_then(|tables| tables.strip_prefix(START)) {
        file.extend(tables.strip_suffix(END).unwrap_or(tables));
    }
    if let Some(fields) = picture.jpeg_fields.as_ref().filter(|_| !chunk.starts_with(START)) {
        push_segments(&mut file, fields, picture, height);
        file.extend(chunk);
        file.extend(END);
    } else {
        file.extend(chunk.strip_prefix(START).unwrap_or(chunk));
    }
    file
}

/// Adds the segments before entropy-coded data: tables, frame header and scan header (T.81, B.2).
fn push_segments(file: &mut Vec<u8>, fields: &JpegFields<'_>, picture: &TiffImage<'_>, height: u32) {
    let mut push = |marker: u8, payload: &[u8]| {
        let length = u16::try_from(payload.len() + 2).unwrap_or(u16::MAX);
        file.extend([0xFF, marker]);
        file.extend(length.to_be_bytes());
        file.extend(payload);
    };
    for (number, table) in (0_u8..).zip(&fields.quantisation) {
        push(0xDB, &[&[number], *table].concat());
    }
    for (class, tables) in [(0x00_u8, &fields.dc), (0x10, &fields.ac)] {
        for (number, table) in (class..).zip(tables) {
            push(0xC4, &[&[number], *table].concat());
        }
    }
    if let Some(interval) = fields.restart_interval {
        push(0xDD, &interval.to_be_bytes());
    }
    let components = if picture.planar { 1 } else { u8::try_from(picture.samples.count).unwrap_or(0) };
    // Components without a table of their own have the last one.
    let last = |tables: &[&[u8]]| u8::try_from(tables.len()).unwrap_or(u8::MAX).saturating_sub(1);
    let side = |side: u32| u16::try_from(side).unwrap_or(u16::MAX).to_be_bytes();
    let factor = |factor: u32| u8::try_from(factor).unwrap_or(1);
    let mut frame = vec![8];
    frame.extend([side(height), side(picture.chunks.size.width)].concat());
    frame.push(components);
    let mut scan = vec![components];
    for number in 0..components {
        let (across, down) = if number == 0 { fields.sampling } else { (1, 1) };
        let quantisation = number.min(last(&fields.quantisation));
        frame.extend([number + 1, factor(across) << 4 | factor(down), quantisation]);
        scan.extend([number + 1, number.min(last(&fields.dc)) << 4 | number.min(last(&fields.ac))]);
    }
    push(0xC0, &frame);
    scan.extend([0, 63, 0]);
    push(0xDA, &scan);
}
