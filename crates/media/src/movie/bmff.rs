//! MP4, QuickTime and 3GPP: boxes in boxes.

use super::{
    AudioCodec, Created, MAX_TEXT_BYTES, Movie, Sides, VideoCodec, clean, millis, number, parse_iso_6709,
    set_by_key,
    source::{ReadError, Reader},
    upright,
};
use crate::{metadata::plausible, text};

/// The type of a box, or a code of four letters.
type FourCc = [u8; 4];

/// Maximum number of bytes of a packet of XMP.
const MAX_XMP_BYTES: usize = 1024 * 1024;
/// Maximum number of tracks that are looked at.
const MAX_TRACKS: usize = 64;
/// Maximum number of samples of one fragment.
const MAX_SAMPLES: u32 = 100_000;
/// The user type of a box with XMP (XMP specification, part 3, section 1.2.7.1).
const XMP_UUID: [u8; 16] =
    [0xBE, 0x7A, 0xCF, 0xCB, 0x97, 0xA9, 0x42, 0xE8, 0x9C, 0x71, 0x99, 0x94, 0x91, 0xE3, 0xAF, 0xAC];

/// Whether these bytes begin a box that begins such a file.
pub(super) fn is_start(head: &[u8]) -> bool {
    matches!(head.get(4..8), Some(b"ftyp" | b"moov" | b"mdat" | b"wide" | b"pnot"))
}

/// A box: its type, and where its content begins and ends.
#[derive(Debug, Clone, Copy)]
struct Part {
    kind: FourCc,
    from: u64,
    to: u64,
}

#[derive(Debug, Default)]
struct Track {
    id: u32,
    is_enabled: bool,
    handler: FourCc,
    codec: FourCc,
    /// Of the sound in `mp4a` (ISO/IEC 14496-1, table 5).
    object_type: Option<u8>,
    /// Units of time per second.
    per_second: u64,
    /// The shown size, and the size of the coded pictures.
    shown: Sides,
    coded: Sides,
    is_turned: bool,
    /// The duration of a sample of a fragment that does not say it.
    sample_units: u64,
    /// Where the shown part begins, and where the last fragment ends.
    start_units: u64,
    end_units: u64,
}

pub(super) fn read(reader: &mut Reader<'_>, movie: &mut Movie) -> Result<(), ReadError> {
    let mut tracks = Vec::new();
    let read = read_file(reader, movie, &mut tracks);
    // Also of a file that is cut off.
    describe(movie, &tracks);
    read
}

fn read_file(reader: &mut Reader<'_>, movie: &mut Movie, tracks: &mut Vec<Track>) -> Result<(), ReadError> {
    let mut at = 0;
    while let Some(part) = next_part(reader, &mut at, u64::MAX)? {
        match &part.kind {
            b"moov" => read_moov(reader, part, movie, tracks)?,
            // The header of a file in fragments may not know its duration.
            b"moof" if movie.duration_ms.is_some() => return Ok(()),
            b"moof" => read_fragment(reader, part, tracks)?,
            b"uuid" if part.to - part.from > 16 && reader.exact(part.from, 16)? == XMP_UUID => {
                movie.xmp = Some(reader.between(part.from + 16, part.to, MAX_XMP_BYTES)?);
            }
            _ => {}
        }
    }
    Ok(())
}

/// The box at `at`, which is moved behind it. `None` at the end, and before bytes that are no box.
fn next_part(reader: &mut Reader<'_>, at: &mut u64, end: u64) -> Result<Option<Part>, ReadError> {
    if end.saturating_sub(*at) < 8 {
        return Ok(None);
    }
    reader.count_part()?;
    let header = reader.exact(*at, 8)?;
    let [size @ .., k0, k1, k2, k3] = header.as_slice() else { return Ok(None) };
    let size = size.iter().fold(0_u64, |size, byte| size << 8 | u64::from(*byte));
    let (header_bytes, size) = match size {
        0 => (8, end - *at),
        1 => (16, number(&reader.exact(*at + 8, 8)?)),
        size => (8, size),
    };
    if size < header_bytes {
        return Ok(None);
    }
    let to = at.saturating_add(size).min(end);
    let part = Part { kind: [*k0, *k1, *k2, *k3], from: (*at + header_bytes).min(to), to };
    *at = to;
    Ok(Some(part))
}

/// Calls `each` for the boxes in a part.
fn each_part<'r>(
    reader: &mut Reader<'r>,
    from: u64,
    to: u64,
    mut each: impl FnMut(&mut Reader<'r>, Part) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    let mut at = from;
    while let Some(part) = next_part(reader, &mut at, to)? {
        each(reader, part)?;
    }
    Ok(())
}

fn read_moov(
    reader: &mut Reader<'_>,
    moov: Part,
    movie: &mut Movie,
    tracks: &mut Vec<Track>,
) -> Result<(), ReadError> {
    let mut per_second = 0;
    each_part(reader, moov.from, moov.to, |reader, part| {
        match &part.kind {
            b"mvhd" => {
                let header = Times::of_header(reader, part)?;
                per_second = header.per_second;
                movie.created = movie.created.or(Created::since_1904(header.created));
                movie.duration_ms = header.duration.and_then(|units| millis(units, per_second));
            }
            b"trak" if tracks.len() < MAX_TRACKS => {
                let mut track = Track::default();
                read_track(reader, part, &mut track, movie)?;
                tracks.push(track);
            }
            b"mvex" => read_extends(reader, part, per_second, movie, tracks)?,
            b"udta" => read_user_data(reader, part, movie)?,
            b"meta" => read_meta(reader, part, movie)?,
            _ => {}
        }
        Ok(())
    })
}

/// The beginning of `mvhd` and of `mdhd`, which is the same (ISO/IEC 14496-12, sections 8.2.2 and 8.4.2).
struct Times {
    /// Seconds since 1904.
    created: u64,
    per_second: u64,
    /// `None` if it is unknown.
    duration: Option<u64>,
}

impl Times {
    fn of_header(reader: &mut Reader<'_>, part: Part) -> Result<Self, ReadError> {
        let is_long = reader.exact(part.from, 1)? == [1];
        let wide = if is_long { 8 } else { 4 };
        let bytes = reader.between(part.from + 4, part.to, 3 * wide + 4)?;
        let value = |from: usize, length: usize| bytes.get(from..from + length).map(number);
        let unknown = if is_long { u64::MAX } else { u64::from(u32::MAX) };
        Ok(Self {
            created: value(0, wide).unwrap_or_default(),
            per_second: value(2 * wide, 4).unwrap_or_default(),
            duration: value(2 * wide + 4, wide).filter(|duration| *duration != unknown),
        })
    }
}

fn read_track(
    reader: &mut Reader<'_>,
    trak: Part,
    track: &mut Track,
    movie: &mut Movie,
) -> Result<(), ReadError> {
    each_part(reader, trak.from, trak.to, |reader, part| {
        match &part.kind {
            b"tkhd" => read_track_header(reader, part, track)?,
            b"mdia" => read_media(reader, part, track)?,
            b"edts" => each_part(reader, part.from, part.to, |reader, part| match &part.kind {
                b"elst" => read_edits(reader, part, track),
                _ => Ok(()),
            })?,
            // Apps write the position of a recording into its track.
            b"udta" => read_user_data(reader, part, movie)?,
            b"meta" => read_meta(reader, part, movie)?,
            _ => {}
        }
        Ok(())
    })
}

/// The first edit that shows something (ISO/IEC 14496-12, section 8.6.6).
fn read_edits(reader: &mut Reader<'_>, elst: Part, track: &mut Track) -> Result<(), ReadError> {
    /// An edit before the first that shows something delays it.
    const MAX_EDITS: usize = 2;
    let wide = if reader.exact(elst.from, 1)? == [1] { 8 } else { 4 };
    let edits = reader.between(elst.from.saturating_add(8), elst.to, MAX_EDITS * (2 * wide + 4))?;
    let starts = edits.chunks_exact(2 * wide + 4).filter_map(|edit| edit.get(wide..2 * wide));
    // The start of an empty edit is -1.
    track.start_units = starts.map(number).find(|start| start >> (8 * wide - 1) == 0).unwrap_or_default();
    Ok(())
}

/// ISO/IEC 14496-12, section 8.3.2.
fn read_track_header(reader: &mut Reader<'_>, part: Part, track: &mut Track) -> Result<(), ReadError> {
    let bytes = reader.between(part.from, part.to, 96)?;
    let (id, matrix) = if bytes.first() == Some(&1) { (20, 52) } else { (12, 40) };
    track.is_enabled = bytes.get(3).is_some_and(|flags| flags & 1 > 0);
    track.id = word(&bytes, id);
    // The matrix {a, b, u, c, d, v, x, y, w} turns by a quarter if b and c are larger than a and d.
    let signed = |at: usize| i64::from(word(&bytes, at).cast_signed());
    track.is_turned = signed(matrix).abs() < signed(matrix + 4).abs();
    // Fixed-point numbers: 16 bits before and after the point.
    let pixels = |at: usize| word(&bytes, at).saturating_add(0x8000) >> 16;
    track.shown = [matrix + 36, matrix + 40].map(pixels);
    Ok(())
}

fn read_media(reader: &mut Reader<'_>, mdia: Part, track: &mut Track) -> Result<(), ReadError> {
    each_part(reader, mdia.from, mdia.to, |reader, part| {
        match &part.kind {
            b"mdhd" => track.per_second = Times::of_header(reader, part)?.per_second,
            b"hdlr" => track.handler = four(&reader.between(part.from + 8, part.to, 4)?),
            b"minf" => {
                each_part(reader, part.from, part.to, |reader, part| match &part.kind {
                    b"stbl" => each_part(reader, part.from, part.to, |reader, part| match &part.kind {
                        b"stsd" => read_description(reader, part, track),
                        _ => Ok(()),
                    }),
                    _ => Ok(()),
                })?;
            }
            _ => {}
        }
        Ok(())
    })
}

/// The first sample description (ISO/IEC 14496-12, sections 8.5.2 and 12).
fn read_description(reader: &mut Reader<'_>, stsd: Part, track: &mut Track) -> Result<(), ReadError> {
    let mut at = stsd.from.saturating_add(8);
    let Some(entry) = next_part(reader, &mut at, stsd.to)? else { return Ok(()) };
    track.codec = entry.kind;
    let bytes = reader.between(entry.from, entry.to, 256)?;
    if &track.handler == b"vide" {
        let side = |at: usize| bytes.get(at..at + 2).map(number).and_then(|side| u32::try_from(side).ok());
        track.coded = [24, 26].map(|at| side(at).unwrap_or_default());
    } else if &track.codec == b"mp4a" {
        track.object_type = object_type(&bytes);
    }
    Ok(())
}

/// The kind of the sound in the box `esds`, which is inside of others in QuickTime files: the byte after the header of the
/// decoder configuration descriptor (ISO/IEC 14496-1, section 7.2.6.6).
fn object_type(description: &[u8]) -> Option<u8> {
    const DECODER_CONFIGURATION: u8 = 4;
    let at = description.windows(4).position(|name| name == b"esds")?;
    let mut rest = description.get(at + 8..)?.iter().copied();
    let mut tag = rest.next()?;
    // The elementary stream descriptor around it has an id and flags.
    if tag == 3 {
        skip_length(&mut rest)?;
        let flags = rest.nth(2)?;
        let more = if flags & 0x80 > 0 { 2 } else { 0 } + if flags & 0x20 > 0 { 2 } else { 0 };
        tag = rest.nth(more)?;
    }
    skip_length(&mut rest)?;
    rest.next().filter(|_| tag == DECODER_CONFIGURATION)
}

/// Skips a length of one to four bytes, each but the last with its highest bit set.
fn skip_length(bytes: &mut impl Iterator<Item = u8>) -> Option<()> {
    bytes.take(4).find(|byte| byte & 0x80 == 0).map(|_| ())
}

/// `mvex`, of files in fragments (ISO/IEC 14496-12, sections 8.8.2 and 8.8.3).
fn read_extends(
    reader: &mut Reader<'_>,
    mvex: Part,
    per_second: u64,
    movie: &mut Movie,
    tracks: &mut [Track],
) -> Result<(), ReadError> {
    each_part(reader, mvex.from, mvex.to, |reader, part| {
        match &part.kind {
            b"mehd" => {
                let bytes = reader.between(part.from, part.to, 12)?;
                let length = if bytes.first() == Some(&1) { 8 } else { 4 };
                let units = bytes.get(4..4 + length).map(number).unwrap_or_default();
                movie.duration_ms = movie.duration_ms.or_else(|| millis(units, per_second));
            }
            b"trex" => {
                let bytes = reader.between(part.from, part.to, 20)?;
                if let Some(track) = tracks.iter_mut().find(|track| track.id == word(&bytes, 4)) {
                    track.sample_units = word(&bytes, 12).into();
                }
            }
            _ => {}
        }
        Ok(())
    })
}

/// Moves the ends of the tracks to that of a fragment (ISO/IEC 14496-12, sections 8.8.7, 8.8.8 and 8.8.12).
fn read_fragment(reader: &mut Reader<'_>, moof: Part, tracks: &mut [Track]) -> Result<(), ReadError> {
    each_part(reader, moof.from, moof.to, |reader, traf| {
        if &traf.kind != b"traf" {
            return Ok(());
        }
        let (mut id, mut start, mut default, mut units) = (0, None, None, 0_u64);
        each_part(reader, traf.from, traf.to, |reader, part| {
            let head = reader.between(part.from, part.to, 40)?;
            let flags = head.get(1..4).map(number).unwrap_or_default();
            match &part.kind {
                b"tfhd" => {
                    id = word(&head, 4);
                    let at = 8 + if flags & 1 > 0 { 8 } else { 0 } + if flags & 2 > 0 { 4 } else { 0 };
                    default = (flags & 8 > 0).then(|| u64::from(word(&head, at)));
                }
                b"tfdt" => {
                    let length = if head.first() == Some(&1) { 8 } else { 4 };
                    start = head.get(4..4 + length).map(number);
                }
                b"trun" => {
                    let samples = word(&head, 4).min(MAX_SAMPLES);
                    let track = tracks.iter().find(|track| track.id == id);
                    let known = default.or_else(|| track.map(|track| track.sample_units));
                    units = units.saturating_add(if flags & 0x100 > 0 {
                        run_units(reader, part, flags, samples)?
                    } else {
                        known.unwrap_or_default().saturating_mul(u64::from(samples))
                    });
                }
                _ => {}
            }
            Ok(())
        })?;
        if let Some(track) = tracks.iter_mut().find(|track| track.id == id) {
            track.end_units = start.unwrap_or(track.end_units).saturating_add(units);
        }
        Ok(())
    })
}

/// The sum of the durations of the samples of a run.
fn run_units(reader: &mut Reader<'_>, trun: Part, flags: u64, samples: u32) -> Result<u64, ReadError> {
    let field = |flag: u64| if flags & flag > 0 { 4_u64 } else { 0 };
    let start = trun.from + 8 + field(1) + field(4);
    let sample_bytes = [0x100, 0x200, 0x400, 0x800].map(field).iter().sum::<u64>();
    let length = usize::try_from(sample_bytes * u64::from(samples)).unwrap_or(usize::MAX);
    let bytes = reader.between(start, trun.to, length)?;
    let step = usize::try_from(sample_bytes).unwrap_or(usize::MAX);
    Ok(bytes.chunks_exact(step).filter_map(|sample| sample.get(..4)).map(number).fold(0, u64::saturating_add))
}

/// Texts that QuickTime and 3GPP files have beside the tracks.
fn read_user_data(reader: &mut Reader<'_>, udta: Part, movie: &mut Movie) -> Result<(), ReadError> {
    each_part(reader, udta.from, udta.to, |reader, part| {
        match &part.kind {
            b"meta" => return read_meta(reader, part, movie),
            b"XMP_" => movie.xmp = Some(reader.between(part.from, part.to, MAX_XMP_BYTES)?),
            b"loci" => {
                let bytes = reader.between(part.from, part.to, MAX_TEXT_BYTES)?;
                movie.position = movie.position.or_else(|| location(&bytes));
            }
            [0xA9, ..] => {
                // The length of the text and its language, then the text.
                let bytes = reader.between(part.from, part.to, MAX_TEXT_BYTES)?;
                let length = bytes.get(..2).map(number).and_then(|length| usize::try_from(length).ok());
                let rest = bytes.get(4..).unwrap_or_default();
                let value = rest.get(..length.unwrap_or_default().min(rest.len())).unwrap_or_default();
                set_by_atom(movie, part.kind, &text::decode(value));
            }
            _ => {}
        }
        Ok(())
    })
}

/// A value named by a type of Apple's, which begins with `©`. Apple's keys count more.
fn set_by_atom(movie: &mut Movie, kind: FourCc, value: &str) {
    let Some(value) = clean(value) else { return };
    let [_, name @ ..] = kind;
    match &name {
        b"xyz" => movie.position = movie.position.or_else(|| parse_iso_6709(&value)),
        b"mak" => movie.camera_make = movie.camera_make.take().or(Some(value)),
        b"mod" => movie.camera_model = movie.camera_model.take().or(Some(value)),
        b"des" | b"cmt" => movie.description = movie.description.take().or(Some(value)),
        b"day" => {
            // With the time of a clock it says more than the moment in the header.
            let is_moment = !matches!(movie.created, Some(Created::Wall { .. }));
            movie.created = Created::parse(&value).filter(|_| is_moment).or(movie.created);
        }
        _ => {}
    }
}

/// 3GPP TS 26.244, table 8.10: the name of a place, then longitude and latitude with 16 bits after the point.
fn location(bytes: &[u8]) -> Option<domain::Position> {
    let name = bytes.get(6..)?;
    // UTF-16 begins with its mark.
    let end = match name {
        [0xFE, 0xFF, ..] => name.chunks_exact(2).position(|pair| pair == [0, 0])? * 2 + 2,
        _ => name.iter().position(|byte| *byte == 0)? + 1,
    };
    // After the name is the role of the place.
    let degrees = |at: usize| {
        let word = u32::try_from(number(name.get(end + at..end + at + 4)?)).ok()?;
        Some(f64::from(word.cast_signed()) / 65_536.0)
    };
    plausible(degrees(5)?, degrees(1)?, false)
}

/// Apple's metadata: in QuickTime files a list of keys and the values by the number of their key, elsewhere values by type.
fn read_meta(reader: &mut Reader<'_>, meta: Part, movie: &mut Movie) -> Result<(), ReadError> {
    // In ISO files it begins with a version and flags.
    let is_plain = reader.between(meta.from, meta.to, 8)?.get(4..8) == Some(b"hdlr");
    let from = if is_plain { meta.from } else { meta.from.saturating_add(4) };
    let mut keys = Vec::new();
    each_part(reader, from, meta.to, |reader, part| match &part.kind {
        b"keys" => {
            let mut at = part.from.saturating_add(8);
            while let Some(key) = next_part(reader, &mut at, part.to)? {
                keys.push(text::decode(&reader.between(key.from, key.to, MAX_TEXT_BYTES)?));
            }
            Ok(())
        }
        b"ilst" => each_part(reader, part.from, part.to, |reader, item| {
            let mut at = item.from;
            let Some(data) = next_part(reader, &mut at, item.to)? else { return Ok(()) };
            let bytes = reader.between(data.from, data.to, MAX_TEXT_BYTES)?;
            // The type of the value (1: UTF-8), and its language.
            if &data.kind != b"data" || bytes.get(..4) != Some(&[0, 0, 0, 1]) {
                return Ok(());
            }
            let value = text::decode(bytes.get(8..).unwrap_or_default());
            if item.kind.first() == Some(&0xA9) {
                set_by_atom(movie, item.kind, &value);
                return Ok(());
            }
            let index = usize::try_from(number(item.kind)).ok().and_then(|number| number.checked_sub(1));
            if let Some(key) = index.and_then(|index| keys.get(index)) {
                set_by_key(movie, key, &value);
            }
            Ok(())
        }),
        _ => Ok(()),
    })
}

/// Takes over what the tracks say.
fn describe(movie: &mut Movie, tracks: &[Track]) {
    let pixels =
        |track: &&Track| (track.is_enabled, track.coded.iter().copied().map(u64::from).product::<u64>());
    if let Some(track) = tracks.iter().filter(|track| &track.handler == b"vide").max_by_key(pixels) {
        movie.size = upright(track.shown, track.coded, track.is_turned);
        movie.video = Some(video_codec(track.codec));
    }
    let sound = tracks.iter().filter(|track| &track.handler == b"soun");
    if let Some(track) = sound.max_by_key(|track| track.is_enabled) {
        movie.audio = Some(audio_codec(track));
    }
    let length = |track: &Track| millis(track.end_units.saturating_sub(track.start_units), track.per_second);
    let end = tracks.iter().filter_map(length).max();
    movie.duration_ms = movie.duration_ms.or(end);
}

fn video_codec(kind: FourCc) -> VideoCodec {
    match &kind {
        b"avc1" | b"avc3" | b"dva1" | b"dvav" => VideoCodec::H264,
        b"hvc1" | b"hev1" | b"dvh1" | b"dvhe" => VideoCodec::Hevc,
        b"av01" => VideoCodec::Av1,
        b"vp08" => VideoCodec::Vp8,
        b"vp09" => VideoCodec::Vp9,
        b"mp4v" => VideoCodec::Mpeg4,
        b"jpeg" | b"mjpa" | b"mjpb" => VideoCodec::MotionJpeg,
        b"m2v1" | b"mx5p" | b"hdv2" | b"hdv3" | b"xdvc" => VideoCodec::Mpeg2,
        _ => VideoCodec::Other,
    }
}

fn audio_codec(track: &Track) -> AudioCodec {
    match (&track.codec, track.object_type) {
        (b"mp4a", Some(0x69 | 0x6B)) | (b".mp3", _) => AudioCodec::Mp3,
        (b"mp4a", Some(0xA5)) | (b"ac-3", _) => AudioCodec::Ac3,
        (b"mp4a", _) => AudioCodec::Aac,
        (b"Opus", _) => AudioCodec::Opus,
        (b"sowt" | b"twos" | b"lpcm" | b"in24" | b"in32" | b"fl32" | b"raw " | b"ipcm", _) => AudioCodec::Pcm,
        _ => AudioCodec::Other,
    }
}

/// The 32-bit number at an offset; 0 if it is not there.
fn word(bytes: &[u8], at: usize) -> u32 {
    let word = bytes.get(at..).and_then(|rest| rest.first_chunk().copied());
    word.map(u32::from_be_bytes).unwrap_or_default()
}

fn four(bytes: &[u8]) -> FourCc {
    bytes.first_chunk().copied().unwrap_or_default()
}
