//! MPEG transport streams, as camcorders write them (AVCHD): packets of 188 bytes, or of 192 with a time before each (ISO/IEC
//! 13818-1). They have no header, so the first packets say what there is, and the last ones when it ends.

use std::collections::BTreeMap;

use jiff::civil::{Date, DateTime, Time};

use super::{
    AudioCodec, Created, Movie, Sides, VideoCodec, millis,
    source::{ReadError, Reader},
    upright,
};
use crate::container::bmff::{Bits, hevc_unit_size, unescaped};

const PACKET_BYTES: usize = 188;
const SYNC: u8 = 0x47;
/// Bytes that are read at the beginning and at the end.
const PART_BYTES: usize = 1024 * 1024;
/// Maximum number of bytes of the pictures that are searched.
const MAX_PICTURE_BYTES: usize = 512 * 1024;
/// Units of the times of pictures in a second, and in the 33 bits after which they begin again.
const PER_SECOND: u64 = 90_000;
const WRAP: u64 = 1 << 33;
/// The identifier of what camcorders write beside pictures.
const CAMCORDER: [u8; 20] = *b"\x17\xEE\x8C\x60\xF8\x4D\x11\xD9\x8C\xD6\x08\x00\x20\x0C\x9A\x66MDPM";

/// The number of bytes before the first packet, and of a packet with what is before it. `None` if this is no transport stream.
fn layout(head: &[u8]) -> Option<(usize, usize)> {
    let is_sync = |at: usize| head.get(at) == Some(&SYNC);
    [(0, PACKET_BYTES), (4, PACKET_BYTES + 4)]
        .into_iter()
        .find(|(start, step)| (0..3).all(|number| is_sync(start + number * step)))
}

pub(super) fn is_start(head: &[u8]) -> bool {
    layout(head).is_some()
}

#[derive(Debug, Clone, Copy)]
struct Packet<'a> {
    pid: u16,
    is_first: bool,
    payload: &'a [u8],
}

/// The packets in a part of the file.
fn packets(bytes: &[u8], (start, step): (usize, usize)) -> impl Iterator<Item = Packet<'_>> {
    bytes.get(start..).unwrap_or_default().chunks(step).filter_map(|packet| {
        let [SYNC, high, low, control, rest @ ..] = packet.get(..PACKET_BYTES)? else { return None };
        let pid = u16::from_be_bytes([high & 0x1F, *low]);
        let skipped = if control & 0x20 > 0 { usize::from(*rest.first()?) + 1 } else { 0 };
        let payload = if control & 0x10 > 0 { rest.get(skipped..)? } else { &[] };
        Some(Packet { pid, is_first: high & 0x40 > 0, payload })
    })
}

pub(super) fn read(reader: &mut Reader<'_>, movie: &mut Movie) -> Result<(), ReadError> {
    let head = reader.start_of(0, u64::MAX, PART_BYTES)?;
    let Some(layout) = layout(&head) else { return Err(ReadError::Ended) };
    let streams = streams(&head, layout);
    let video = streams.iter().find_map(|(pid, kind)| Some((*pid, *kind, video_codec(*kind)?)));
    movie.audio = streams.values().find_map(|kind| audio_codec(*kind));
    let Some((pid, kind, codec)) = video else { return Ok(()) };
    movie.video = Some(codec);
    let pictures = elementary(&head, layout, pid);
    movie.size = size(kind, &pictures);
    movie.created = created(&pictures);
    // The last part begins with a packet.
    let step = layout.1 as u64;
    let start = reader.size().saturating_sub(PART_BYTES as u64) / step * step;
    let tail = reader.start_of(start, u64::MAX, PART_BYTES)?;
    if let Some(reference) = times(&head, layout, pid).next() {
        // Times begin again after 26 hours, and pictures are not in the order of their times.
        let since = |time: u64| (time + WRAP + WRAP / 2 - reference) % WRAP;
        let first = times(&head, layout, pid).map(since).min();
        let last = times(&tail, layout, pid).map(since).max();
        let units = last.zip(first).and_then(|(last, first)| last.checked_sub(first));
        movie.duration_ms = units.and_then(|units| millis(units, PER_SECOND));
    }
    Ok(())
}

/// The streams of the first program: their types by their packets (sections 2.4.4.3 and 2.4.4.8).
fn streams(head: &[u8], layout: (usize, usize)) -> BTreeMap<u16, u8> {
    let section = |wanted: u16| {
        let packet = packets(head, layout).find(|packet| packet.pid == wanted && packet.is_first)?;
        let skipped = usize::from(*packet.payload.first()?) + 1;
        let section = packet.payload.get(skipped..)?;
        let length = usize::from(u16::from_be_bytes([section.get(1)? & 0x0F, *section.get(2)?]));
        // A checksum is at the end. A section of more than a packet is read up to the end of its first one.
        section.get(3..(3 + length.saturating_sub(4)).min(section.len()))
    };
    let pid = |bytes: &[u8]| Some(u16::from_be_bytes([bytes.first()? & 0x1F, *bytes.get(1)?]));
    let map = section(0).and_then(|programs| {
        let (programs, _) = programs.get(5..)?.as_chunks::<4>();
        pid(programs.iter().find(|program| program.get(..2) != Some(&[0, 0]))?.get(2..)?)
    });
    let mut found = BTreeMap::new();
    let Some(map) = map.and_then(section) else { return found };
    let skipped = |bytes: Option<&[u8]>| bytes.and_then(pid).map(|length| usize::from(length & 0x0FFF));
    let mut rest = skipped(map.get(7..9)).and_then(|length| map.get(9 + length..)).unwrap_or_default();
    while let [kind, high, low, ..] = rest {
        let Some(length) = skipped(rest.get(3..5)) else { break };
        found.insert(u16::from_be_bytes([high & 0x1F, *low]), *kind);
        rest = rest.get(5 + length..).unwrap_or_default();
    }
    found
}

fn video_codec(kind: u8) -> Option<VideoCodec> {
    match kind {
        0x01 | 0x02 => Some(VideoCodec::Mpeg2),
        0x10 => Some(VideoCodec::Mpeg4),
        0x1B => Some(VideoCodec::H264),
        0x24 => Some(VideoCodec::Hevc),
        0xEA => Some(VideoCodec::Other),
        _ => None,
    }
}

fn audio_codec(kind: u8) -> Option<AudioCodec> {
    match kind {
        0x03 | 0x04 => Some(AudioCodec::Mp3),
        0x0F | 0x11 => Some(AudioCodec::Aac),
        0x80 => Some(AudioCodec::Pcm),
        0x81 => Some(AudioCodec::Ac3),
        0x82..=0x87 => Some(AudioCodec::Other),
        _ => None,
    }
}

/// The header of a PES packet (section 2.4.3.6): its time, and its content.
fn unwrapped(payload: &[u8]) -> Option<(Option<u64>, &[u8])> {
    let [0, 0, 1, _, _, _, _, flags, length, rest @ ..] = payload else { return None };
    let content = rest.get(usize::from(*length)..)?;
    let time = match rest {
        [a, b, c, d, e, ..] if flags & 0x80 > 0 => {
            let bits = [a >> 1 & 7, *b, c >> 1, *d, e >> 1];
            let lengths = [3, 8, 7, 8, 7];
            Some(
                bits.iter()
                    .zip(lengths)
                    .fold(0_u64, |time, (bits, length)| time << length | u64::from(*bits)),
            )
        }
        _ => None,
    };
    Some((time, content))
}

/// The times of the pictures.
fn times(part: &[u8], layout: (usize, usize), pid: u16) -> impl Iterator<Item = u64> {
    let starts = packets(part, layout).filter(move |packet| packet.pid == pid && packet.is_first);
    starts.filter_map(|packet| unwrapped(packet.payload)?.0)
}

/// The beginning of the coded pictures.
fn elementary(head: &[u8], layout: (usize, usize), pid: u16) -> Vec<u8> {
    let mut pictures = Vec::new();
    for packet in packets(head, layout).filter(|packet| packet.pid == pid) {
        if packet.is_first {
            pictures.extend(unwrapped(packet.payload).map_or(&[][..], |(_, content)| content));
        } else if !pictures.is_empty() {
            pictures.extend(packet.payload);
        }
        if pictures.len() > MAX_PICTURE_BYTES {
            break;
        }
    }
    pictures
}

/// What follows each start code, up to the next one.
fn units(pictures: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = pictures;
    std::iter::from_fn(move || {
        let start = rest.windows(3).position(|code| code == [0, 0, 1])?;
        rest = rest.get(start + 3..)?;
        let end = rest.windows(3).position(|code| code == [0, 0, 1]).unwrap_or(rest.len());
        rest.get(..end)
    })
}

fn size(kind: u8, pictures: &[u8]) -> Option<domain::PixelSize> {
    let sides = units(pictures).find_map(|unit| match (kind, unit) {
        (0x1B, [header, payload @ ..]) if header & 0x1F == 7 => h264_sides(&unescaped(payload)),
        (0x24, unit) => hevc_unit_size(unit).map(|size| [size.width, size.height]),
        // ISO/IEC 13818-2, section 6.2.2.1.
        (0x01 | 0x02, [0xB3, a, b, c, ..]) => {
            let [a, b, c] = [a, b, c].map(|byte| u32::from(*byte));
            Some([a << 4 | b >> 4, (b & 0x0F) << 8 | c])
        }
        _ => None,
    })?;
    upright(sides, [0, 0], false)
}

/// The shown size in a sequence parameter set (ITU-T H.264, sections 7.3.2.1.1 and E.1.1).
fn h264_sides(payload: &[u8]) -> Option<Sides> {
    const WITH_CHROMA: [u32; 13] = [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135];
    let mut bits = Bits::new(payload);
    let profile = bits.bits(8)?;
    bits.skip(16)?;
    let _id = bits.exp_golomb()?;
    let mut chroma = 1;
    if WITH_CHROMA.contains(&profile) {
        chroma = bits.exp_golomb()?;
        if chroma == 3 {
            bits.skip(1)?;
        }
        let _depths = (bits.exp_golomb()?, bits.exp_golomb()?);
        bits.skip(1)?;
        if bits.bits(1)? == 1 {
            for list in 0..if chroma == 3 { 12 } else { 8 } {
                if bits.bits(1)? == 1 {
                    skip_scaling_list(&mut bits, if list < 6 { 16 } else { 64 })?;
                }
            }
        }
    }
    let _frame_numbers = bits.exp_golomb()?;
    match bits.exp_golomb()? {
        0 => {
            let _bits = bits.exp_golomb()?;
        }
        1 => {
            bits.skip(1)?;
            let _offsets = (bits.exp_golomb()?, bits.exp_golomb()?);
            for _ in 0..bits.exp_golomb()?.min(255) {
                let _offset = bits.exp_golomb()?;
            }
        }
        _ => {}
    }
    let _references = bits.exp_golomb()?;
    bits.skip(1)?;
    let (columns, rows) = (bits.exp_golomb()?.checked_add(1)?, bits.exp_golomb()?.checked_add(1)?);
    // Each row of macroblocks of an interlaced picture is one of both fields.
    let fields = 2 - bits.bits(1)?;
    if fields == 2 {
        bits.skip(1)?;
    }
    bits.skip(1)?;
    let crop = match bits.bits(1)? {
        0 => [0; 4],
        _ => [bits.exp_golomb()?, bits.exp_golomb()?, bits.exp_golomb()?, bits.exp_golomb()?],
    };
    let [left, right, top, bottom] = crop;
    let unit_x = if matches!(chroma, 1 | 2) { 2 } else { 1 };
    let unit_y = fields * if chroma == 1 { 2 } else { 1 };
    let width = columns.checked_mul(16)?.checked_sub(left.checked_add(right)?.checked_mul(unit_x)?)?;
    let height = rows.checked_mul(16 * fields)?.checked_sub(top.checked_add(bottom)?.checked_mul(unit_y)?)?;
    let (across, down) = pixel_shape(&mut bits).unwrap_or((1, 1));
    let shown = u64::from(width) * u64::from(across) / u64::from(down);
    Some([u32::try_from(shown).ok()?, height])
}

/// The shape of a pixel. `None` if it is unknown.
fn pixel_shape(bits: &mut Bits<'_>) -> Option<(u32, u32)> {
    const SHAPES: [(u32, u32); 17] = [
        (0, 0),
        (1, 1),
        (12, 11),
        (10, 11),
        (16, 11),
        (40, 33),
        (24, 11),
        (20, 11),
        (32, 11),
        (80, 33),
        (18, 11),
        (15, 11),
        (64, 33),
        (160, 99),
        (4, 3),
        (3, 2),
        (2, 1),
    ];
    if bits.bits(1)? == 0 || bits.bits(1)? == 0 {
        return None;
    }
    let (across, down) = match bits.bits(8)? {
        255 => (bits.bits(16)?, bits.bits(16)?),
        number => *SHAPES.get(usize::try_from(number).ok()?)?,
    };
    (across > 0 && down > 0).then_some((across, down))
}

fn skip_scaling_list(bits: &mut Bits<'_>, count: usize) -> Option<()> {
    let (mut last, mut next) = (8_i64, 8_i64);
    for _ in 0..count {
        if next != 0 {
            let code = i64::from(bits.exp_golomb()?);
            let change = if code % 2 == 1 { (code + 1) / 2 } else { -code / 2 };
            next = (last + change).rem_euclid(256);
        }
        last = if next == 0 { last } else { next };
    }
    Some(())
}

/// When a camcorder recorded the first picture: numbered entries of four bytes, whose digits are half a byte each.
fn created(pictures: &[u8]) -> Option<Created> {
    let at = pictures.windows(CAMCORDER.len()).position(|bytes| bytes == CAMCORDER)?;
    let plain = unescaped(pictures.get(at + CAMCORDER.len()..)?);
    let (count, entries) = plain.split_first()?;
    let (entries, _) = entries.as_chunks::<5>();
    let mut day = None;
    for [kind, a, b, c, d] in entries.iter().take(usize::from(*count)).copied() {
        let digits = |byte: u8| i8::try_from((byte >> 4) * 10 + (byte & 0x0F)).ok();
        match kind {
            // The zone, then the year in two bytes, and the month.
            0x18 => day = Some((a, i16::from(digits(b)?) * 100 + i16::from(digits(c)?), digits(d)?)),
            0x19 => {
                let (zone, year, month) = day?;
                let date = Date::new(year, month, digits(a)?).ok()?;
                let time = Time::new(digits(b)?, digits(c)?, digits(d)?, 0).ok()?;
                let at = DateTime::from_parts(date, time);
                return Some(Created::Wall { at, offset_minutes: offset(zone) });
            }
            _ => {}
        }
    }
    None
}

/// The offset of the clock: half hours in the lowest bits, and the sign. `None` if the clock has none.
fn offset(zone: u8) -> Option<i32> {
    if zone == 0xFF {
        return None;
    }
    let minutes = i32::from(zone >> 1 & 0x0F) * 60 + i32::from(zone & 1) * 30;
    Some(if zone & 0x20 > 0 { -minutes } else { minutes })
}

#[cfg(test)]
mod tests {
    use domain::PixelSize;
    use jiff::civil::datetime;

    use super::*;
    use crate::movie::read_movie;

    /// Of interlaced pictures of 1440 × 1080 pixels that are shown as 1920 × 1080.
    const PARAMETERS: &[u8] =
        b"\x67\x64\0\x28\xAC\xD9\x40\x5A\x04\x4F\xDE\x1C\x20\0\0\x03\0\x20\0\0\x06\x43\xE2\xC5\xB2\xC0";

    fn packet(pid: u16, payload: &[u8]) -> Vec<u8> {
        let [high, low] = pid.to_be_bytes();
        let filling = 183 - payload.len();
        let mut packet = vec![SYNC, 0x40 | high, low, 0x30, u8::try_from(filling).unwrap()];
        packet.resize(5 + filling, 0);
        packet.extend(payload);
        packet
    }

    /// Pictures that are shown at a time.
    fn picture(time: u64, coded: &[u8]) -> Vec<u8> {
        let byte = |shift: u32, bits: u64| u8::try_from(time >> shift & bits).unwrap();
        let time = [
            0x21 | byte(30, 7) << 1,
            byte(22, 0xFF),
            byte(15, 0x7F) << 1 | 1,
            byte(7, 0xFF),
            byte(0, 0x7F) << 1 | 1,
        ];
        packet(0x101, &[&[0, 0, 1, 0xE0, 0, 0, 0x80, 0x80, 5][..], &time, coded].concat())
    }

    fn recording() -> Vec<u8> {
        let programs = [0, 0, 0xB0, 13, 0, 1, 0xC1, 0, 0, 0, 1, 0xE1, 0, 0, 0, 0, 0];
        let streams = [
            &[0, 2, 0xB0, 23, 0, 1, 0xC1, 0, 0, 0xE1, 1, 0xF0, 0][..],
            &[0x1B, 0xE1, 1, 0xF0, 0, 0x81, 0xE1, 2, 0xF0, 0],
            &[0; 4],
        ]
        .concat();
        // 2009-08-07 18:30:05 at +02:00.
        let written = [2, 0x18, 4, 0x20, 0x09, 0x08, 0x19, 0x07, 0x18, 0x30, 0x05];
        let coded =
            [&[0, 0, 1][..], PARAMETERS, &[0, 0, 1, 6, 5, 28], &CAMCORDER, &written, &[0x80]].concat();
        // The times begin again in the middle.
        [
            packet(0, &programs),
            packet(0x100, &streams),
            picture(WRAP - 45_000, &coded),
            picture(45_000, &[0; 9]),
        ]
        .concat()
    }

    #[test]
    fn the_recording_of_a_camcorder_is_read() {
        let recording = recording();
        let with_times: Vec<u8> =
            recording.chunks(188).flat_map(|packet| [&[9; 4][..], packet].concat()).collect();
        let expected = Movie {
            duration_ms: Some(1000),
            size: Some(PixelSize { width: 1920, height: 1080 }),
            video: Some(VideoCodec::H264),
            audio: Some(AudioCodec::Ac3),
            created: Some(Created::Wall {
                at: datetime(2009, 8, 7, 18, 30, 5, 0),
                offset_minutes: Some(120),
            }),
            ..Movie::default()
        };
        for file in [recording, with_times] {
            let mut source = file.as_slice();
            assert_eq!(read_movie(&mut source).unwrap(), expected);
        }
    }

    #[test]
    fn offsets_of_camcorders_are_read() {
        for (zone, minutes) in [(0xFF, None), (0, Some(0)), (0x0B, Some(330)), (0x27, Some(-210))] {
            assert_eq!(offset(zone), minutes, "{zone:x}");
        }
    }
}
