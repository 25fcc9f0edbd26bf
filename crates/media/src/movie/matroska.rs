//! Matroska and WebM: elements in elements (RFC 8794, RFC 9559).

use domain::Timestamp;

use super::{
    AudioCodec, Created, MAX_TEXT_BYTES, Movie, Sides, VideoCodec, clean, number, parse_iso_6709, set_by_key,
    source::{ReadError, Reader},
    upright,
};
use crate::text;

/// Nanoseconds in a tick of a file that does not say it.
const DEFAULT_SCALE_NS: u64 = 1_000_000;
/// 2001-01-01T00:00:00Z, from which dates count, in milliseconds.
const EPOCH_MS: i64 = 978_307_200_000;

/// The elements that are read, by their id.
mod id {
    pub(super) const SEGMENT: u32 = 0x1853_8067;
    pub(super) const INFO: u32 = 0x1549_A966;
    pub(super) const TRACKS: u32 = 0x1654_AE6B;
    pub(super) const TAGS: u32 = 0x1254_C367;
    pub(super) const CLUSTER: u32 = 0x1F43_B675;

    pub(super) const SCALE: u32 = 0x2A_D7B1;
    pub(super) const DURATION: u32 = 0x4489;
    pub(super) const DATE: u32 = 0x4461;
    pub(super) const TIMESTAMP: u32 = 0xE7;

    pub(super) const TRACK: u32 = 0xAE;
    pub(super) const CODEC: u32 = 0x86;
    pub(super) const VIDEO: u32 = 0xE0;
    pub(super) const PIXEL_WIDTH: u32 = 0xB0;
    pub(super) const PIXEL_HEIGHT: u32 = 0xBA;
    pub(super) const DISPLAY_WIDTH: u32 = 0x54B0;
    pub(super) const DISPLAY_HEIGHT: u32 = 0x54BA;
    pub(super) const DISPLAY_UNIT: u32 = 0x54B2;
    pub(super) const PROJECTION: u32 = 0x7670;
    pub(super) const ROLL: u32 = 0x7675;

    pub(super) const TAG: u32 = 0x7373;
    pub(super) const SIMPLE_TAG: u32 = 0x67C8;
    pub(super) const TAG_NAME: u32 = 0x45A3;
    pub(super) const TAG_TEXT: u32 = 0x4487;

    /// Children of the segment, which end a cluster of unknown size.
    pub(super) const TOP: [u32; 8] =
        [INFO, TRACKS, TAGS, CLUSTER, 0x114D_9B74, 0x1C53_BB6B, 0x1043_A770, 0x1941_A469];
}

/// An element: its id, and where its content begins and ends.
#[derive(Debug, Clone, Copy)]
struct Element {
    id: u32,
    from: u64,
    to: u64,
    /// Whether its size is unknown, as in a live recording. Then it ends where its parent does.
    is_open: bool,
}

#[derive(Debug, Default)]
struct Segment {
    scale_ns: Option<u64>,
    duration: Option<f64>,
    /// The time of the last cluster.
    last: u64,
}

pub(super) fn read(reader: &mut Reader<'_>, movie: &mut Movie) -> Result<(), ReadError> {
    let mut segment = Segment::default();
    let read = read_file(reader, movie, &mut segment);
    let scale_ns = segment.scale_ns.unwrap_or(DEFAULT_SCALE_NS);
    let ticks = segment.duration.unwrap_or(segment.last as f64);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    let millis = (ticks * scale_ns as f64 / 1e6) as u64;
    movie.duration_ms = Some(millis).filter(|millis| *millis > 0);
    read
}

fn read_file(reader: &mut Reader<'_>, movie: &mut Movie, segment: &mut Segment) -> Result<(), ReadError> {
    let mut at = 0;
    while let Some(element) = next_element(reader, &mut at, u64::MAX)? {
        if element.id == id::SEGMENT {
            return read_segment(reader, element, movie, segment);
        }
    }
    Ok(())
}

/// The element at `at`, which is moved behind it. `None` at the end, and before bytes that are no element.
fn next_element(reader: &mut Reader<'_>, at: &mut u64, end: u64) -> Result<Option<Element>, ReadError> {
    if *at >= end {
        return Ok(None);
    }
    reader.count_part()?;
    let head = reader.start_of(*at, end, 12)?;
    // The number of leading zeros is that of further bytes, in the id and in the size.
    let id_bytes = head.first().map_or(9, |first| first.leading_zeros() as usize + 1);
    let (Some(id), true) = (head.get(..id_bytes), id_bytes <= 4) else { return Ok(None) };
    let rest = head.get(id_bytes..).unwrap_or_default();
    let size_bytes = rest.first().map_or(9, |first| first.leading_zeros() as usize + 1);
    let (Some(size), true) = (rest.get(..size_bytes), size_bytes <= 8) else { return Ok(None) };
    let mask = u64::MAX >> (64 - 7 * size_bytes);
    let size = number(size) & mask;
    let from = *at + (id_bytes + size_bytes) as u64;
    let is_open = size == mask;
    let to = if is_open { end } else { from.saturating_add(size).min(end) };
    *at = to;
    Ok(Some(Element { id: u32::try_from(number(id)).unwrap_or_default(), from, to, is_open }))
}

fn read_segment(
    reader: &mut Reader<'_>,
    element: Element,
    movie: &mut Movie,
    segment: &mut Segment,
) -> Result<(), ReadError> {
    let mut at = element.from;
    while let Some(part) = next_element(reader, &mut at, element.to)? {
        match part.id {
            id::INFO => read_info(reader, part, movie, segment)?,
            id::TRACKS => {
                let mut inner = part.from;
                while let Some(track) = next_element(reader, &mut inner, part.to)? {
                    if track.id == id::TRACK {
                        read_track(reader, track, movie)?;
                    }
                }
            }
            id::TAGS => read_tags(reader, part, movie)?,
            id::CLUSTER => {
                if let Some(end) = read_cluster(reader, part, segment)? {
                    at = end;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn read_info(
    reader: &mut Reader<'_>,
    info: Element,
    movie: &mut Movie,
    segment: &mut Segment,
) -> Result<(), ReadError> {
    let mut at = info.from;
    while let Some(part) = next_element(reader, &mut at, info.to)? {
        match part.id {
            id::SCALE => segment.scale_ns = Some(number(value(reader, part, 8)?)),
            id::DURATION => segment.duration = Some(float(&value(reader, part, 8)?)),
            id::DATE => {
                let since_ns = number(value(reader, part, 8)?).cast_signed();
                let at = EPOCH_MS.checked_add(since_ns / 1_000_000).and_then(Timestamp::from_millis);
                movie.created = movie.created.or(at.map(Created::Moment));
            }
            _ => {}
        }
    }
    Ok(())
}

#[derive(Debug, Default)]
struct Picture {
    coded: Sides,
    shown: Sides,
    /// 0: pixels. Others are lengths or a ratio.
    unit: u64,
    is_turned: bool,
}

/// The first track of pictures and the first of sound count.
fn read_track(reader: &mut Reader<'_>, track: Element, movie: &mut Movie) -> Result<(), ReadError> {
    let mut picture = Picture::default();
    let mut codec = String::new();
    let mut at = track.from;
    while let Some(part) = next_element(reader, &mut at, track.to)? {
        match part.id {
            id::CODEC => codec = text::decode(&value(reader, part, 64)?),
            id::VIDEO => read_picture(reader, part, &mut picture)?,
            _ => {}
        }
    }
    if codec.starts_with("V_") && movie.video.is_none() {
        let Picture { coded, shown, unit, is_turned } = picture;
        let shown = if unit == 0 { shown } else { [0, 0] };
        movie.size = upright(shown, coded, is_turned);
        movie.video = Some(match codec.as_str() {
            "V_MPEG4/ISO/AVC" => VideoCodec::H264,
            "V_MPEGH/ISO/HEVC" => VideoCodec::Hevc,
            "V_AV1" => VideoCodec::Av1,
            "V_VP8" => VideoCodec::Vp8,
            "V_VP9" => VideoCodec::Vp9,
            "V_MPEG2" => VideoCodec::Mpeg2,
            "V_MJPEG" => VideoCodec::MotionJpeg,
            name if name.starts_with("V_MPEG4/ISO") => VideoCodec::Mpeg4,
            _ => VideoCodec::Other,
        });
    } else if codec.starts_with("A_") && movie.audio.is_none() {
        movie.audio = Some(match codec.as_str() {
            "A_MPEG/L3" => AudioCodec::Mp3,
            "A_OPUS" => AudioCodec::Opus,
            "A_VORBIS" => AudioCodec::Vorbis,
            name if name.starts_with("A_AAC") => AudioCodec::Aac,
            name if name.starts_with("A_AC3") => AudioCodec::Ac3,
            name if name.starts_with("A_PCM") => AudioCodec::Pcm,
            _ => AudioCodec::Other,
        });
    }
    Ok(())
}

fn read_picture(reader: &mut Reader<'_>, video: Element, picture: &mut Picture) -> Result<(), ReadError> {
    let mut at = video.from;
    while let Some(part) = next_element(reader, &mut at, video.to)? {
        if part.id == id::PROJECTION {
            let mut inner = part.from;
            while let Some(part) = next_element(reader, &mut inner, part.to)? {
                if part.id == id::ROLL {
                    // Degrees, turned to the left.
                    let roll = float(&value(reader, part, 8)?).abs();
                    picture.is_turned = (45.0..135.0).contains(&roll);
                }
            }
            continue;
        }
        let value = number(value(reader, part, 8)?);
        let side = u32::try_from(value).unwrap_or_default();
        let Picture { coded: [width, height], shown: [shown_width, shown_height], .. } = picture;
        match part.id {
            id::PIXEL_WIDTH => *width = side,
            id::PIXEL_HEIGHT => *height = side,
            id::DISPLAY_WIDTH => *shown_width = side,
            id::DISPLAY_HEIGHT => *shown_height = side,
            id::DISPLAY_UNIT => picture.unit = value,
            _ => {}
        }
    }
    Ok(())
}

/// The time of a cluster. Of one of unknown size also its end: the next element that is no child of a cluster.
fn read_cluster(
    reader: &mut Reader<'_>,
    cluster: Element,
    segment: &mut Segment,
) -> Result<Option<u64>, ReadError> {
    let mut at = cluster.from;
    loop {
        let start = at;
        let Some(part) = next_element(reader, &mut at, cluster.to)? else { return Ok(None) };
        if cluster.is_open && id::TOP.contains(&part.id) {
            return Ok(Some(start));
        }
        if part.id == id::TIMESTAMP {
            segment.last = segment.last.max(number(value(reader, part, 8)?));
            if !cluster.is_open {
                return Ok(None);
            }
        }
    }
}

fn read_tags(reader: &mut Reader<'_>, tags: Element, movie: &mut Movie) -> Result<(), ReadError> {
    let mut at = tags.from;
    while let Some(tag) = next_element(reader, &mut at, tags.to)? {
        let mut inner = tag.from;
        while tag.id == id::TAG
            && let Some(simple) = next_element(reader, &mut inner, tag.to)?
        {
            if simple.id == id::SIMPLE_TAG {
                read_simple_tag(reader, simple, movie)?;
            }
        }
    }
    Ok(())
}

fn read_simple_tag(reader: &mut Reader<'_>, simple: Element, movie: &mut Movie) -> Result<(), ReadError> {
    let (mut name, mut text) = (String::new(), String::new());
    let mut at = simple.from;
    while let Some(part) = next_element(reader, &mut at, simple.to)? {
        match part.id {
            id::TAG_NAME => name = text::decode(&value(reader, part, MAX_TEXT_BYTES)?),
            id::TAG_TEXT => text = text::decode(&value(reader, part, MAX_TEXT_BYTES)?),
            _ => {}
        }
    }
    match name.as_str() {
        "DATE_RECORDED" | "DATE_DIGITIZED" => {
            if let Some(created) = clean(&text).and_then(|text| Created::parse(&text)) {
                movie.created = Some(created);
            }
        }
        "LOCATION" => movie.position = movie.position.or_else(|| parse_iso_6709(&text)),
        "MAKE" | "MODEL" | "DESCRIPTION" => set_by_key(movie, &name, &text),
        name if name.to_ascii_lowercase().starts_with("com.apple.quicktime.") => {
            set_by_key(movie, name, &text);
        }
        _ => {}
    }
    Ok(())
}

/// The first bytes of an element.
fn value(reader: &mut Reader<'_>, part: Element, max: usize) -> Result<Vec<u8>, ReadError> {
    reader.between(part.from, part.to, max)
}

/// A float of 4 or 8 bytes. 0 for others, and for what is no positive number.
fn float(bytes: &[u8]) -> f64 {
    let float = match *bytes {
        [a, b, c, d] => f64::from(f32::from_be_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => f64::from_be_bytes([a, b, c, d, e, f, g, h]),
        _ => 0.0,
    };
    if float.is_finite() { float } else { 0.0 }
}
