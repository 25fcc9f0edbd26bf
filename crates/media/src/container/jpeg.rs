//! JPEG: ITU T.81, annex B.

use domain::PixelSize;

use super::{Blocks, Header, take};
use crate::MediaError;

const START_OF_SCAN: u8 = 0xDA;
const END_OF_IMAGE: u8 = 0xD9;
const APP1: u8 = 0xE1;
const APP14: u8 = 0xEE;

/// Gives the marker segments one after the other. After a start of scan the caller passes over the entropy-coded
/// data with [`Segments::skip_scan`].
struct Segments<'a> {
    rest: &'a [u8],
}

struct Segment<'a> {
    marker: u8,
    payload: &'a [u8],
}

impl<'a> Segments<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes.get(2..).unwrap_or_default() }
    }

    /// Moves to the next marker, over fill bytes and whatever else lies before it, as decoders do.
    fn marker(&mut self) -> Option<u8> {
        loop {
            let at = self.rest.iter().position(|byte| *byte == 0xFF)?;
            take(&mut self.rest, at)?;
            while let [0xFF, tail @ ..] = self.rest {
                self.rest = tail;
            }
            match take(&mut self.rest, 1)? {
                [0x00] => {}
                [marker] => return Some(*marker),
                _ => return None,
            }
        }
    }

    /// Passes over the entropy-coded data of a scan, up to the next marker that ends it.
    fn skip_scan(&mut self) {
        while let Some(at) = self.rest.iter().position(|byte| *byte == 0xFF) {
            match self.rest.get(at + 1) {
                // A stuffed byte, a restart marker or a fill byte belongs to the scan.
                Some(0x00 | 0xD0..=0xD7) => self.rest = self.rest.get(at + 2..).unwrap_or_default(),
                Some(0xFF) => self.rest = self.rest.get(at + 1..).unwrap_or_default(),
                Some(_) => {
                    self.rest = self.rest.get(at..).unwrap_or_default();
                    return;
                }
                None => break,
            }
        }
        self.rest = &[];
    }
}

impl<'a> Iterator for Segments<'a> {
    type Item = Segment<'a>;

    fn next(&mut self) -> Option<Segment<'a>> {
        loop {
            match self.marker()? {
                END_OF_IMAGE => return None,
                // Restart, start of image and TEM stand alone.
                0xD0..=0xD8 | 0x01 => {}
                marker => {
                    let length = take(&mut self.rest, 2)?.try_into().ok().map(u16::from_be_bytes)?;
                    let payload = take(&mut self.rest, usize::from(length).checked_sub(2)?)?;
                    return Some(Segment { marker, payload });
                }
            }
        }
    }
}

/// The frame header (B.2.2).
struct Frame {
    size: PixelSize,
    progressive: bool,
    components: u64,
    /// Bytes of coefficients that a decoder keeps when the picture comes in several scans.
    coefficient_bytes: u64,
}

impl Frame {
    fn read(marker: u8, payload: &[u8]) -> Option<Self> {
        let [_precision, h1, h0, w1, w0, count, components @ ..] = payload else { return None };
        let size = PixelSize {
            width: u32::from(u16::from_be_bytes([*w1, *w0])),
            height: u32::from(u16::from_be_bytes([*h1, *h0])),
        };
        let sampling: Vec<(u64, u64)> = components
            .chunks_exact(3)
            .take(usize::from(*count))
            .filter_map(|component| component.get(1))
            .map(|factors| (u64::from(factors >> 4), u64::from(factors & 0x0F)))
            .collect();
        let widest = sampling.iter().map(|(horizontal, _)| *horizontal).max()?.max(1);
        let tallest = sampling.iter().map(|(_, vertical)| *vertical).max()?.max(1);
        let samples: u64 = sampling.iter().map(|(horizontal, vertical)| horizontal * vertical).sum();
        Some(Self {
            size,
            progressive: matches!(marker, 0xC2 | 0xC6 | 0xCA | 0xCE),
            components: u64::from(*count),
            coefficient_bytes: 2 * size.area() * samples / (widest * tallest),
        })
    }
}

pub(super) fn header(bytes: &[u8]) -> Result<Header, MediaError> {
    let mut segments = Segments::new(bytes);
    let mut inverted_cmyk = false;
    let mut frame = None;
    while let Some(Segment { marker, payload }) = segments.next() {
        match marker {
            APP14 if payload.starts_with(b"Adobe") => inverted_cmyk = true,
            // Every start of frame; C4, C8 and CC are something else.
            0xC0..=0xC3 | 0xC5..=0xC7 | 0xC9..=0xCB | 0xCD..=0xCF if frame.is_none() => {
                let read = Frame::read(marker, payload);
                frame = Some(read.ok_or_else(|| MediaError::Corrupt("its JPEG header is cut short".into()))?);
            }
            START_OF_SCAN => {
                let Some(frame) = frame else { break };
                return Ok(with_scans(&frame, payload, segments, inverted_cmyk));
            }
            _ => {}
        }
    }
    Err(match frame {
        Some(_) => MediaError::Truncated,
        None if segments.rest.is_empty() => MediaError::Truncated,
        None => MediaError::Corrupt("its JPEG header has no size".into()),
    })
}

/// Counts the scans of a picture that comes in more than one: only those make a decoder keep everything and pass
/// over it again and again.
fn with_scans(frame: &Frame, first_scan: &[u8], mut segments: Segments<'_>, inverted_cmyk: bool) -> Header {
    let header = Header { inverted_cmyk, ..Header::plain(frame.size, frame.components.clamp(3, 4)) };
    let in_first_scan = first_scan.first().map_or(0, |count| u64::from(*count));
    if !frame.progressive && in_first_scan >= frame.components {
        return header;
    }
    let mut scans = 1_u32;
    segments.skip_scan();
    while let Some(segment) = segments.next() {
        if segment.marker == START_OF_SCAN {
            scans = scans.saturating_add(1);
            segments.skip_scan();
        }
    }
    Header { scans, decode_bytes: header.decode_bytes.saturating_add(frame.coefficient_bytes), ..header }
}

pub(super) fn blocks(bytes: &[u8]) -> Blocks<'_> {
    Blocks { exif: exif_block(bytes).map(Into::into), ..Blocks::default() }
}

fn exif_block(bytes: &[u8]) -> Option<&[u8]> {
    Segments::new(bytes)
        .take_while(|segment| segment.marker != START_OF_SCAN)
        .find(|segment| segment.marker == APP1 && segment.payload.starts_with(b"Exif\0"))
        .map(|segment| segment.payload)
}
