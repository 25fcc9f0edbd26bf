//! Reads JPEG headers: ITU-T T.81, annex B. Metadata blocks: EXIF 2.32, 4.7.2; XMP part 3, 1.1.3; ICC.1, annex B.4;
//! Photoshop File Formats.

use std::borrow::Cow;

use domain::PixelSize;

use super::{Blocks, Coded, Colour, Container, Header, MAX_BLOCK_BYTES, Picture, photoshop, take};
use crate::MediaError;
use crate::format::jpeg_start;

const START_OF_IMAGE: u8 = 0xD8;
const END_OF_IMAGE: u8 = 0xD9;
const START_OF_SCAN: u8 = 0xDA;
const APP0: u8 = 0xE0;
const APP1: u8 = 0xE1;
const APP2: u8 = 0xE2;
const APP13: u8 = 0xED;
const APP14: u8 = 0xEE;
const COMMENT: u8 = 0xFE;

/// Iterates over the marker segments. After a start of scan the caller skips the entropy-coded data with
/// [`Segments::skip_scan`].
struct Segments<'a> {
    rest: &'a [u8],
}

struct Segment<'a> {
    marker: u8,
    payload: &'a [u8],
}

impl<'a> Segments<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { rest: jpeg_start(bytes).get(2..).unwrap_or_default() }
    }

    /// Moves to the next marker. Skips fill bytes and garbage before it, as decoders do.
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

    /// Skips the entropy-coded data of a scan.
    fn skip_scan(&mut self) {
        while let Some(at) = self.rest.iter().position(|byte| *byte == 0xFF) {
            match self.rest.get(at + 1) {
                // Stuffed bytes, restart markers and fill bytes are part of the scan.
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
                // Restart, start of image and TEM have no payload.
                0xD0..=START_OF_IMAGE | 0x01 => {}
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
    /// Bytes of coefficients that a decoder keeps if there are several scans.
    coefficient_bytes: u64,
    /// Whether it has three components in 4:4:4, 4:2:2 or 4:2:0, even sides, and is lossy.
    has_planes: bool,
    /// Whether the components are named R, G and B.
    named_rgb: bool,
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
        let even = size.width.is_multiple_of(2) && size.height.is_multiple_of(2);
        let has_planes = matches!(*sampling, [(1, 1) | (2, 1) | (2, 2), (1, 1), (1, 1)])
            && even
            && !matches!(marker, 0xC3 | 0xC7 | 0xCB | 0xCF);
        let names: Vec<u8> = components.iter().step_by(3).copied().collect();
        let samples: u64 = sampling.iter().map(|(horizontal, vertical)| horizontal * vertical).sum();
        Some(Self {
            size,
            progressive: matches!(marker, 0xC2 | 0xC6 | 0xCA | 0xCE),
            components: u64::from(*count),
            coefficient_bytes: 2 * size.area() * samples / (widest * tallest),
            has_planes,
            named_rgb: names == *b"RGB",
        })
    }
}

/// Whether it is a start of frame; C4, C8 and CC are other segments.
fn is_start_of_frame(marker: u8) -> bool {
    matches!(marker, 0xC0..=0xC3 | 0xC5..=0xC7 | 0xC9..=0xCB | 0xCD..=0xCF)
}

/// The segments before the first scan.
#[derive(Default)]
struct Head<'a> {
    is_jfif: bool,
    has_adobe: bool,
    adobe_transform: Option<u8>,
    /// The first frame header, if there is one; the inner `None` means that the header is cut off.
    frame: Option<Option<Frame>>,
    exif: Vec<&'a [u8]>,
    comments: Vec<&'a [u8]>,
    xmp: Option<&'a [u8]>,
    profile: Vec<&'a [u8]>,
    resources: Vec<&'a [u8]>,
    /// The header of the first scan.
    scan: Option<&'a [u8]>,
    /// The bytes after the header of the first scan.
    rest: &'a [u8],
}

impl<'a> Head<'a> {
    fn read(bytes: &'a [u8]) -> Self {
        let mut segments = Segments::new(bytes);
        let mut head = Self::default();
        for Segment { marker, payload } in segments.by_ref() {
            match marker {
                START_OF_SCAN => {
                    head.scan = Some(payload);
                    break;
                }
                APP0 if payload.starts_with(b"JFIF\0") && payload.len() >= 14 => head.is_jfif = true,
                APP1 if payload.starts_with(b"Exif\0") => head.exif.push(payload),
                APP1 => head.xmp = head.xmp.or(payload.strip_prefix(b"http://ns.adobe.com/xap/1.0/\0")),
                APP2 if head.profile.len() <= MAX_PARTS => {
                    head.profile.extend(payload.strip_prefix(b"ICC_PROFILE\0"));
                }
                APP13 if head.resources.len() <= MAX_PARTS => {
                    head.resources.extend(payload.strip_prefix(b"Photoshop 3.0\0"));
                }
                APP14 if payload.starts_with(b"Adobe") => {
                    head.has_adobe = true;
                    // The position of the colour transform is that of Adobe Technical Note 5116, section 18.
                    head.adobe_transform = payload.get(11).copied().or(head.adobe_transform);
                }
                COMMENT if head.comments.len() < MAX_COPIES => head.comments.push(payload),
                marker if is_start_of_frame(marker) && head.frame.is_none() => {
                    head.frame = Some(Frame::read(marker, payload));
                }
                _ => {}
            }
        }
        head.rest = segments.rest;
        head
    }

    fn header(&self) -> Result<Header, MediaError> {
        let frame = match &self.frame {
            Some(Some(frame)) => frame,
            Some(None) => return Err(MediaError::Corrupt("the JPEG header is cut off".into())),
            None if self.rest.is_empty() => return Err(MediaError::Truncated),
            None => return Err(MediaError::Corrupt("the JPEG header has no size".into())),
        };
        let scan = self.scan.ok_or(MediaError::Truncated)?;
        // libjpeg decides in the same way.
        let is_rgb =
            !self.is_jfif && self.adobe_transform.map_or(frame.named_rgb, |transform| transform == 0);
        let header = Header {
            inverted_cmyk: self.has_adobe,
            has_planes: frame.has_planes && !is_rgb,
            ..Header::plain(frame.size, frame.components.clamp(3, 4))
        };
        Ok(with_scans(header, frame, scan, Segments { rest: self.rest }))
    }

    /// The first block of each kind, and the next blocks of EXIF. XMP that does not fit into one segment (ExtendedXMP) is
    /// skipped: it contains depth maps and thumbnails.
    fn into_blocks(self) -> Blocks<'a> {
        let resource = |id| resource(&self.resources, id);
        let mut exif = self
            .exif
            .into_iter()
            .take(MAX_COPIES)
            .map(Cow::Borrowed)
            .chain(photoshop::EXIF.into_iter().filter_map(resource));
        Blocks {
            exif: exif.next(),
            more_exif: exif.collect(),
            xmp: self.xmp.map(Cow::Borrowed).or_else(|| resource(photoshop::XMP)),
            iptc: resource(photoshop::IPTC),
            colour: profile_block(self.profile).map(Colour::Icc),
            comments: self.comments,
            ..Blocks::default()
        }
    }
}

pub(super) fn read(bytes: &[u8]) -> Container<'_> {
    let head = Head::read(bytes);
    let picture = head.header().map(|header| Picture { header, coded: Coded::Jpeg(bytes) });
    Container { picture, blocks: head.into_blocks() }
}

/// Reads only the parameters of decoding.
pub(crate) fn header(bytes: &[u8]) -> Result<Header, MediaError> {
    Head::read(bytes).header()
}

pub(super) fn blocks(bytes: &[u8]) -> Blocks<'_> {
    Head::read(bytes).into_blocks()
}

/// Counts the scans, unless the first one has the whole picture. If there are several scans, a decoder keeps all coefficients and
/// passes over the picture several times.
fn with_scans(header: Header, frame: &Frame, first_scan: &[u8], mut segments: Segments<'_>) -> Header {
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

/// A file that decoders accept, made of a broken one.
pub(crate) struct Repaired {
    pub(crate) file: Vec<u8>,
    pub(crate) scan_ends: Vec<usize>,
}

/// A copy of a file with only what decoding needs: tables, the frame, scans, and the segments that declare the colour
/// space. It has nothing between the segments, no second start of an image, and no unknown markers.
pub(crate) fn repaired(bytes: &[u8]) -> Repaired {
    /// Whether an entropy-coded segment ends at a marker. Other markers in the segment are damage.
    fn ends_scan(marker: u8) -> bool {
        matches!(marker, 0xC0..=0xCF | START_OF_IMAGE..=0xDD | APP0..=0xEF | 0xFE)
    }
    let mut file = vec![0xFF, START_OF_IMAGE];
    let mut scan_ends = Vec::new();
    let mut components = None;
    let mut adobe_transform_at = None;
    let mut segments = Segments::new(bytes);
    while let Some(Segment { marker, payload }) = segments.next() {
        match marker {
            // A second frame header belongs to another picture.
            marker if is_start_of_frame(marker) && components.is_some() => break,
            marker if is_start_of_frame(marker) => components = payload.get(5).copied(),
            // Huffman tables, arithmetic conditioning, quantisation tables, restart interval.
            0xC4 | 0xCC | 0xDB | 0xDD | START_OF_SCAN => {}
            APP0 if payload.starts_with(b"JFIF\0") => {}
            APP14 if payload.starts_with(b"Adobe") => {
                if payload.len() > 11 {
                    adobe_transform_at = Some(file.len() + 4 + 11);
                }
            }
            _ => continue,
        }
        let [high, low] = u16::try_from(payload.len() + 2).unwrap_or(u16::MAX).to_be_bytes();
        file.extend([0xFF, marker, high, low]);
        file.extend_from_slice(payload);
        if marker == APP0
            && let Some(version) = file.len().checked_sub(payload.len()).and_then(|at| file.get_mut(at + 5))
        {
            *version = 1;
        }
        if marker != START_OF_SCAN {
            continue;
        }
        while let Some((byte, rest)) = segments.rest.split_first() {
            match (byte, rest.first()) {
                (0xFF, Some(next)) if ends_scan(*next) => break,
                (0xFF, Some(0x00 | 0xD0..=0xD7 | 0xFF)) => file.push(0xFF),
                // This is a broken byte of the scan. It must not be taken for a marker, so a stuffed byte follows it.
                (0xFF, _) => file.extend([0xFF, 0x00]),
                (byte, _) => file.push(*byte),
            }
            segments.rest = rest;
        }
        scan_ends.push(file.len());
    }
    if let Some(transform) = adobe_transform_at.and_then(|at| file.get_mut(at)) {
        // Replaces unknown values by those that libjpeg assumes for them.
        *transform = match (components, *transform) {
            (Some(3), 2..) => 1,
            (Some(4), 1 | 3..) => 2,
            (_, known) => known,
        };
    }
    file.extend([0xFF, END_OF_IMAGE]);
    Repaired { file, scan_ends }
}

/// Maximum number of segments of one block. Profiles count them in a byte.
const MAX_PARTS: usize = 255;

/// Maximum number of EXIF blocks, and of comments. Programs that add a block leave the older one in the file.
const MAX_COPIES: usize = 4;

/// Joins the chunks of a profile. Each starts with its number from 1 and the number of chunks. The order does not matter,
/// but every chunk must be there exactly once.
fn profile_block(mut chunks: Vec<&[u8]>) -> Option<Cow<'_, [u8]>> {
    if let [[1, 1, profile @ ..]] = chunks.as_slice() {
        return Some(Cow::Borrowed(profile));
    }
    chunks.sort_by_key(|chunk| chunk.first());
    let mut parts = Vec::with_capacity(chunks.len());
    for (chunk, expected) in chunks.iter().zip(1_usize..) {
        let [number, count, part @ ..] = chunk else { return None };
        if usize::from(*number) != expected || usize::from(*count) != chunks.len() {
            return None;
        }
        parts.push(part);
    }
    join(&parts).map(Cow::Owned)
}

/// A Photoshop resource. The resources may be split over several segments.
fn resource<'a>(parts: &[&'a [u8]], id: u16) -> Option<Cow<'a, [u8]>> {
    match parts {
        [resources] => photoshop::resource(resources, id).map(Cow::Borrowed),
        parts => photoshop::resource(&join(parts)?, id).map(|found| Cow::Owned(found.to_vec())),
    }
}

fn join(parts: &[&[u8]]) -> Option<Vec<u8>> {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    (1..=MAX_BLOCK_BYTES).contains(&length).then(|| parts.concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::photoshop_resource;
    use proptest::prelude::*;

    fn segment(marker: u8, name: &[u8], payload: &[u8]) -> Vec<u8> {
        let length = u16::try_from(name.len() + payload.len() + 2).unwrap().to_be_bytes();
        [&[0xFF, marker][..], &length, name, payload].concat()
    }

    fn icc(number: u8, count: u8, part: &[u8]) -> Vec<u8> {
        segment(APP2, b"ICC_PROFILE\0", &[&[number, count], part].concat())
    }

    fn resources(part: &[u8]) -> Vec<u8> {
        segment(APP13, b"Photoshop 3.0\0", part)
    }

    fn file(segments: &[Vec<u8>]) -> Vec<u8> {
        [b"\xFF\xD8", segments.concat().as_slice(), b"\xFF\xDA\0\x02"].concat()
    }

    #[test]
    fn profile_chunks_are_joined() {
        let check = |segments: &[Vec<u8>], expect: Option<&[u8]>| {
            let file = file(segments);
            let found = blocks(&file).colour;
            assert_eq!(found, expect.map(|profile| Colour::Icc(profile.into())), "{segments:02X?}");
        };
        check(&[icc(1, 1, b"one")], Some(b"one"));
        check(&[icc(1, 2, b"one"), icc(2, 2, b"two")], Some(b"onetwo"));
        check(&[icc(2, 2, b"two"), icc(1, 2, b"one")], Some(b"onetwo"));
        check(&[icc(1, 2, b"one")], None);
        check(&[icc(2, 2, b"two")], None);
        check(&[icc(1, 2, b"one"), icc(1, 2, b"one")], None);
        check(&[icc(1, 1, b"one"), icc(1, 1, b"one")], None);
        check(&[icc(1, 2, b"one"), icc(2, 3, b"two")], None);
        check(&[icc(0, 2, b"nil"), icc(1, 2, b"one")], None);
        check(&[segment(APP2, b"ICC_PROFILE\0", b"\x01")], None);
        check(&[segment(APP2, b"MPF\0", b"\x01\x01")], None);
    }

    #[test]
    fn too_large_profile_is_ignored() {
        let chunk = vec![0; 65_000];
        let of = |count: u8| file(&(1..=count).map(|number| icc(number, count, &chunk)).collect::<Vec<_>>());
        assert!(blocks(&of(64)).colour.is_some());
        assert_eq!(blocks(&of(65)).colour, None);
        assert_eq!(blocks(&of(255)).colour, None);
    }

    #[test]
    fn iptc_is_found_in_one_or_several_segments() {
        let resource =
            [photoshop_resource(0x0425, "digest", &[9; 15]), photoshop_resource(0x0404, "", b"\x1C\x02data")]
                .concat();
        assert!(matches!(blocks(&file(&[resources(&resource)])).iptc, Some(Cow::Borrowed(b"\x1C\x02data"))));
        for at in 0..resource.len() {
            let (head, tail) = resource.split_at(at);
            let file = file(&[resources(head), resources(tail)]);
            assert_eq!(blocks(&file).iptc.as_deref(), Some(&b"\x1C\x02data"[..]), "{at}");
        }
    }

    #[test]
    fn first_block_of_a_kind_comes_first() {
        let xmp = b"http://ns.adobe.com/xap/1.0/\0";
        let file = file(&[
            segment(APP1, b"http://ns.adobe.com/xmp/extension/\0", b"more"),
            segment(APP1, xmp, b"<first/>"),
            segment(APP1, b"Exif\0\0", b"II*\0"),
            segment(APP1, xmp, b"<second/>"),
            segment(APP1, b"Exif\0\0", b"MM\0*"),
            segment(COMMENT, b"", b"first"),
            segment(COMMENT, b"", b"second"),
        ]);
        let found = blocks(&file);
        assert!(matches!(found.xmp, Some(Cow::Borrowed(b"<first/>"))));
        assert!(matches!(found.exif, Some(Cow::Borrowed(b"Exif\0\0II*\0"))));
        let all: Vec<&[u8]> = found.exif_blocks().collect();
        assert_eq!(all, [b"Exif\0\0II*\0", b"Exif\0\0MM\0*"]);
        assert_eq!(found.comments, [b"first".as_slice(), b"second"]);
    }

    #[test]
    fn number_of_exif_blocks_and_comments_is_limited() {
        let many = [segment(APP1, b"Exif\0\0", b"II*\0"), segment(COMMENT, b"", b"x")].concat();
        let file = file(&vec![many; 100]);
        let found = blocks(&file);
        assert_eq!((found.exif_blocks().count(), found.comments.len()), (MAX_COPIES, MAX_COPIES));
    }

    #[test]
    fn exif_and_xmp_are_found_in_resources() {
        let resource = |id, data: &[u8]| photoshop_resource(id, "", data);
        let all =
            [resource(1058, b"II*\0"), resource(1059, b"MM\0*"), resource(1060, b"<resource/>")].concat();
        let alone = file(&[resources(&all)]);
        let found = blocks(&alone);
        assert_eq!(found.exif_blocks().collect::<Vec<_>>(), [b"II*\0", b"MM\0*"]);
        assert_eq!(found.xmp.as_deref(), Some(&b"<resource/>"[..]));
        let beside = file(&[resources(&all), segment(APP1, b"Exif\0\0", b"II*\0segment")]);
        assert_eq!(blocks(&beside).exif.as_deref(), Some(&b"Exif\0\0II*\0segment"[..]));
    }

    #[test]
    fn short_adobe_segment_changes_no_other() {
        let frame = segment(0xC0, b"", &[8, 0, 16, 0, 16, 3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0]);
        let tables = segment(0xDB, b"", &[9; 65]);
        for length in 0..8 {
            let adobe = segment(APP14, b"Adobe", &vec![7; length]);
            let expect = [&b"\xFF\xD8"[..], &frame, &adobe, &tables, b"\xFF\xDA\0\x02\xFF\xD9"].concat();
            let mut repaired = repaired(&file(&[frame.clone(), adobe, tables.clone()])).file;
            if length == 7 {
                let transform = 2 + frame.len() + 4 + 11;
                assert_eq!(repaired[transform], 1);
                repaired[transform] = 7;
            }
            assert_eq!(repaired, expect, "{length}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_segments_never_panic(
            segments in prop::collection::vec(
                (
                    prop::sample::select(vec![APP1, APP2, APP13, APP14, COMMENT, START_OF_SCAN, 0xC0, 0xD9]),
                    prop::sample::select(vec![
                        &b"Exif\0\0"[..], b"http://ns.adobe.com/xap/1.0/\0", b"ICC_PROFILE\0", b"Photoshop 3.0\08BIM", b"",
                    ]),
                    prop::collection::vec(any::<u8>(), 0..40),
                ),
                0..12,
            ),
            keep in any::<prop::sample::Index>(),
        ) {
            let segments: Vec<_> =
                segments.iter().map(|(marker, name, payload)| segment(*marker, name, payload)).collect();
            let mut file = file(&segments);
            file.truncate(keep.index(file.len()));
            let repaired = repaired(&file);
            prop_assert!(repaired.file.len() <= 2 * file.len() + 4);
            prop_assert!(repaired.scan_ends.iter().all(|end| *end <= repaired.file.len()));
            let found = blocks(&file);
            for block in [found.exif, found.xmp, found.iptc].into_iter().flatten() {
                prop_assert!(block.len() <= file.len());
            }
        }
    }
}
