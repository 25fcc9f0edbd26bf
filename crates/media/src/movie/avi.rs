//! AVI: chunks in lists (Microsoft, AVI RIFF File Reference). Numbers are little-endian.

use super::{
    AudioCodec, Created, Movie, VideoCodec, clean,
    source::{ReadError, Reader},
    upright,
};
use crate::text;

/// Maximum number of bytes of a chunk that is read.
const MAX_CHUNK_BYTES: usize = 4 * 1024;
const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// A chunk: its type (of a list that of the list), and where its content begins and ends.
struct Chunk {
    kind: [u8; 4],
    from: u64,
    to: u64,
    is_list: bool,
}

pub(super) fn read(reader: &mut Reader<'_>, movie: &mut Movie) -> Result<(), ReadError> {
    // Long files consist of several parts of this kind. The first has the headers.
    let end = u64::from(little(&reader.exact(4, 4)?)).saturating_add(8);
    read_list(reader, 12, end, movie, 0)
}

/// The chunk at `at`, which is moved behind it. `None` at the end.
fn next_chunk(reader: &mut Reader<'_>, at: &mut u64, end: u64) -> Result<Option<Chunk>, ReadError> {
    if end.saturating_sub(*at) < 8 {
        return Ok(None);
    }
    reader.count_part()?;
    let head = reader.start_of(*at, end, 12)?;
    let size = u64::from(little(head.get(4..).unwrap_or_default()));
    let is_list = head.starts_with(b"LIST") && head.len() == 12;
    let kind = if is_list { head.get(8..12) } else { head.get(..4) };
    let from = *at + if is_list { 12 } else { 8 };
    let to = (*at + 8).saturating_add(size).min(end);
    let kind = kind.and_then(|kind| kind.first_chunk().copied()).unwrap_or_default();
    // A chunk begins at an even offset.
    *at = to.saturating_add(size & 1);
    Ok(Some(Chunk { kind, from: from.min(to), to, is_list }))
}

fn read_list(
    reader: &mut Reader<'_>,
    from: u64,
    to: u64,
    movie: &mut Movie,
    depth: u32,
) -> Result<(), ReadError> {
    /// `RIFF`, `hdrl`, `strl`.
    const MAX_DEPTH: u32 = 4;
    let mut at = from;
    let mut stream = [0; 4];
    while let Some(chunk) = next_chunk(reader, &mut at, to)? {
        if chunk.is_list {
            if matches!(&chunk.kind, b"hdrl" | b"strl" | b"INFO" | b"exif") && depth < MAX_DEPTH {
                read_list(reader, chunk.from, chunk.to, movie, depth + 1)?;
            }
            continue;
        }
        if !matches!(
            &chunk.kind,
            b"avih" | b"strh" | b"strf" | b"IDIT" | b"ICRD" | b"ICMT" | b"ISBJ" | b"emdl" | b"ecor"
        ) {
            continue;
        }
        let bytes = reader.between(chunk.from, chunk.to, MAX_CHUNK_BYTES)?;
        let word = |at: usize| little(bytes.get(at..).unwrap_or_default());
        match &chunk.kind {
            b"avih" => {
                let micros = u64::from(word(0)) * u64::from(word(16));
                movie.duration_ms = Some(micros / 1000).filter(|millis| *millis > 0);
                movie.size = upright([word(32), word(36)], [0, 0], false);
            }
            b"strh" => {
                stream = bytes.first_chunk().copied().unwrap_or_default();
                let (scale, rate, length) = (word(20), word(24), word(32));
                // The number of frames in the header is that of the first part of the file only.
                if &stream == b"vids" && rate > 0 {
                    let millis = u64::from(length) * u64::from(scale) * 1000 / u64::from(rate);
                    movie.duration_ms = Some(millis).filter(|millis| *millis > 0).or(movie.duration_ms);
                }
            }
            b"strf" if &stream == b"vids" && movie.video.is_none() => {
                let codec: [u8; 4] =
                    bytes.get(16..20).and_then(|codec| codec.first_chunk().copied()).unwrap_or_default();
                movie.video = Some(video_codec(codec.map(|letter| letter.to_ascii_uppercase())));
                // A negative height is that of a picture from top to bottom.
                let height = word(8).cast_signed().unsigned_abs();
                movie.size = upright([word(4), height], [0, 0], false).or(movie.size);
            }
            b"strf" if &stream == b"auds" && movie.audio.is_none() => {
                movie.audio = Some(match word(0) & 0xFFFF {
                    1 | 3 => AudioCodec::Pcm,
                    0x55 => AudioCodec::Mp3,
                    0xFF | 0x1600 | 0x1610 => AudioCodec::Aac,
                    0x2000 => AudioCodec::Ac3,
                    _ => AudioCodec::Other,
                });
            }
            b"IDIT" | b"ICRD" => {
                let created = clean(&text::decode(&bytes)).and_then(|text| date(&text));
                movie.created = movie.created.or(created);
            }
            b"emdl" => movie.camera_model = clean(&text::decode(&bytes)),
            b"ecor" => movie.camera_make = clean(&text::decode(&bytes)),
            b"ICMT" | b"ISBJ" => {
                let comment = clean(&text::decode(&bytes));
                movie.description = movie.description.take().or(comment);
            }
            _ => {}
        }
    }
    Ok(())
}

/// A date: `2008-08-31 12:15:22` and its variations, or `Sun Aug 31 12:15:22 2008`.
fn date(text: &str) -> Option<Created> {
    if let Some(created) = Created::parse(text) {
        return Some(created);
    }
    let words: Vec<_> = text.split_whitespace().collect();
    let [_, month, day, time, year] = words.as_slice() else { return None };
    let month = MONTHS.iter().position(|name| month.eq_ignore_ascii_case(name))? + 1;
    Created::parse(&format!("{year}-{month:02}-{day:0>2} {time}"))
}

fn video_codec(name: [u8; 4]) -> VideoCodec {
    match &name {
        b"H264" | b"AVC1" | b"X264" | b"DAVC" => VideoCodec::H264,
        b"HEVC" | b"HVC1" | b"H265" => VideoCodec::Hevc,
        b"MJPG" | b"AVRN" | b"JPEG" => VideoCodec::MotionJpeg,
        b"XVID" | b"DIVX" | b"DX50" | b"FMP4" | b"MP4V" | b"MP42" | b"DIV3" => VideoCodec::Mpeg4,
        b"MPG2" | b"MPEG" => VideoCodec::Mpeg2,
        b"VP80" => VideoCodec::Vp8,
        b"VP90" => VideoCodec::Vp9,
        b"AV01" => VideoCodec::Av1,
        _ => VideoCodec::Other,
    }
}

/// The little-endian number in the first four bytes; of fewer bytes 0.
fn little(bytes: &[u8]) -> u32 {
    bytes.first_chunk().copied().map(u32::from_le_bytes).unwrap_or_default()
}
