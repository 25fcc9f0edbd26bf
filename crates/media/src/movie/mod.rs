//! Reads what a movie file says about itself, without decoding it: its size, duration and codecs, when, where and with which
//! camera it was taken.
//!
//! Movies have gigabytes, so only the parts that say this are read: a few kilobytes of most files. All numbers in a file are
//! untrusted. A file that is cut off or broken gives what was read before the fault.
//!
//! | container | specification |
//! |---|---|
//! | MP4, QuickTime, 3GPP | ISO/IEC 14496-12, Apple's QuickTime File Format, 3GPP TS 26.244 |
//! | Matroska, WebM | RFC 9559, RFC 8794 |
//! | AVI | Microsoft's AVI RIFF File Reference |
//! | MPEG transport streams | ISO/IEC 13818-1 |

mod avi;
mod bmff;
mod matroska;
mod source;
#[cfg(test)]
mod tests;
mod transport;

use std::io;

use domain::{PixelSize, Position, Timestamp};
use jiff::civil::DateTime;

use crate::metadata::{parse_time, plausible};
pub use source::MovieSource;
use source::Reader;

/// Maximum number of bytes of a text.
const MAX_TEXT_BYTES: usize = 8 * 1024;

/// What a movie file says about itself. Values that it does not have are `None`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Movie {
    pub duration_ms: Option<u64>,
    /// The size of the shown picture: with square pixels, and upright.
    pub size: Option<PixelSize>,
    /// The codec of the pictures. `None` if the file has no pictures.
    pub video: Option<VideoCodec>,
    /// The codec of the sound. `None` if the file has no sound.
    pub audio: Option<AudioCodec>,
    pub created: Option<Created>,
    pub position: Option<Position>,
    pub camera_make: Option<String>,
    pub camera_model: Option<String>,
    pub description: Option<String>,
    /// Apple's identifier of a live photo, which its still picture has, too.
    pub content_identifier: Option<String>,
    /// A packet of XMP.
    pub xmp: Option<Vec<u8>>,
}

/// When a movie was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Created {
    /// The time on a clock where it was taken, and the offset of this clock in minutes east of UTC, if it is known.
    Wall { at: DateTime, offset_minutes: Option<i32> },
    /// A moment, without the clock.
    Moment(Timestamp),
}

/// A codec of pictures. Browsers play H.264 everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VideoCodec {
    H264,
    Hevc,
    Av1,
    Vp8,
    Vp9,
    Mpeg2,
    Mpeg4,
    MotionJpeg,
    Other,
}

/// A codec of sound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AudioCodec {
    Aac,
    Mp3,
    Opus,
    Vorbis,
    Ac3,
    Pcm,
    Other,
}

/// Why a movie could not be read.
#[derive(Debug, thiserror::Error)]
pub enum MovieError {
    /// The source failed. Another attempt may succeed.
    #[error("the movie cannot be read: {0}")]
    Source(#[from] io::Error),
    /// The file has the format of no container that this module reads.
    #[error("this is not a movie of a known kind")]
    UnknownFormat,
}

/// Reads a movie.
///
/// # Errors
/// [`MovieError`]
pub fn read_movie(source: &mut dyn MovieSource) -> Result<Movie, MovieError> {
    let mut reader = Reader::new(source);
    let head = reader.upto(0, 512)?;
    let read = match head.as_slice() {
        [0x1A, 0x45, 0xDF, 0xA3, ..] => matroska::read,
        [b'R', b'I', b'F', b'F', _, _, _, _, b'A', b'V', b'I', b' ', ..] => avi::read,
        head if crate::is_movie(head) && bmff::is_start(head) => bmff::read,
        head if transport::is_start(head) => transport::read,
        _ => return Err(MovieError::UnknownFormat),
    };
    let mut movie = Movie::default();
    match read(&mut reader, &mut movie) {
        Ok(()) => {}
        Err(source::ReadError::Source(error)) => return Err(error.into()),
        // What was read before stays.
        Err(source::ReadError::Ended) => {}
    }
    Ok(movie)
}

impl Created {
    /// A time that is written as text.
    fn parse(text: &str) -> Option<Self> {
        let parsed = parse_time(text, None)?;
        // A day without a time would be midnight.
        parsed.moment()?;
        Some(Self::Wall { at: parsed.wall, offset_minutes: parsed.offset_minutes })
    }

    /// Seconds since the beginning of 1904 in UTC (ISO/IEC 14496-12, section 8.2.2). Cameras whose clock was never set write 0
    /// or their own first day. Some programs count from 1970.
    fn since_1904(seconds: u64) -> Option<Self> {
        /// From 1904 to 1970.
        const OFFSET_S: i64 = 2_082_844_800;
        /// The beginning of 1990: no file has an earlier time that is true.
        const FIRST_S: i64 = 631_152_000;
        let seconds = i64::try_from(seconds).ok()?;
        let unix = if seconds < OFFSET_S { seconds } else { seconds - OFFSET_S };
        Timestamp::from_millis(unix.checked_mul(1000)?).filter(|_| unix >= FIRST_S).map(Self::Moment)
    }
}

/// Parses a position as ISO 6709 writes it (annex H): `+48.8577+002.295/`, `+27.5916+086.5640+8850/`, `+4012-07500/`.
fn parse_iso_6709(text: &str) -> Option<Position> {
    let mut rest = text.trim();
    let mut angle = |degree_digits: usize| {
        let is_negative = match rest.chars().next()? {
            '+' => false,
            '-' => true,
            _ => return None,
        };
        let number = rest.get(1..)?;
        let end = number.find(|char: char| !char.is_ascii_digit() && char != '.').unwrap_or(number.len());
        let (number, after) = number.split_at_checked(end)?;
        rest = after;
        let whole = number.find('.').unwrap_or(number.len());
        // Degrees, degrees and minutes, or these and seconds. Only the last may have a fraction.
        let parts = match whole.checked_sub(degree_digits)? {
            0 => vec![number],
            2 => vec![number.get(..degree_digits)?, number.get(degree_digits..)?],
            4 => vec![
                number.get(..degree_digits)?,
                number.get(degree_digits..degree_digits + 2)?,
                number.get(degree_digits + 2..)?,
            ],
            _ => return None,
        };
        let mut sum = 0.0;
        for part in parts.iter().rev() {
            sum = sum / 60.0 + part.parse::<f64>().ok()?;
        }
        Some(if is_negative { 0.0 - sum } else { sum })
    };
    let (latitude, longitude) = (angle(2)?, angle(3)?);
    plausible(latitude, longitude, false)
}

/// A text of a file: without the characters around it, and `None` if it is empty.
fn clean(text: &str) -> Option<String> {
    let text = text.trim_matches(|char: char| char.is_whitespace() || char.is_control());
    (!text.is_empty()).then(|| text.to_owned())
}

/// Takes over a value named by Apple's keys (`com.apple.quicktime.…`), which other containers use as well.
fn set_by_key(movie: &mut Movie, key: &str, text: &str) {
    let Some(text) = clean(text) else { return };
    let name = key.rsplit('.').next().unwrap_or(key).to_ascii_lowercase();
    match name.as_str() {
        "creationdate" => movie.created = Created::parse(&text).or(movie.created),
        "iso6709" => movie.position = parse_iso_6709(&text).or(movie.position),
        "make" => movie.camera_make = Some(text),
        "model" => movie.camera_model = Some(text),
        "description" => movie.description = Some(text),
        "identifier" if key.to_ascii_lowercase().ends_with("content.identifier") => {
            movie.content_identifier = Some(text);
        }
        _ => {}
    }
}

/// Width and height in pixels; 0 if they are unknown.
type Sides = [u32; 2];

/// The size of an upright picture: the shown one if it is known, else the coded one.
fn upright(shown: Sides, coded: Sides, is_turned: bool) -> Option<PixelSize> {
    let [width, height] = [shown, coded].into_iter().find(|sides| !sides.contains(&0))?;
    let (width, height) = if is_turned { (height, width) } else { (width, height) };
    Some(PixelSize { width, height })
}

/// A big-endian number of up to 8 bytes.
fn number(bytes: impl AsRef<[u8]>) -> u64 {
    bytes.as_ref().iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Milliseconds of a number of units. `None` for 0.
fn millis(units: u64, per_second: u64) -> Option<u64> {
    let millis = u128::from(units) * 1000 / u128::from((per_second > 0).then_some(per_second)?);
    u64::try_from(millis).ok().filter(|millis| *millis > 0)
}
