//! When a photo was taken: every source in its order, each time tag with its own offset only.

use domain::{CaptureSource, CaptureTime, Timestamp};
use jiff::civil::DateTime;

use super::exif_time::{parse_date, parse_offset, parse_wall};
use super::{FileFacts, file_name};
use crate::tiff::{Directory, Rational, Tags, tag};

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;
const DAY_MS: i64 = 24 * HOUR_MS;
/// Real offsets are whole quarters of an hour, up to fourteen hours.
const QUARTER_HOUR_MS: i64 = 15 * MINUTE_MS;
const MAX_OFFSET_MS: i64 = 14 * HOUR_MS;
/// How far the camera's clock and the last GPS fix may lie apart beyond a whole quarter.
const MAX_DRIFT_MS: i64 = 4 * MINUTE_MS;
/// The year of the oldest photograph there is.
const FIRST_PHOTO_YEAR: i16 = 1826;

/// The best time there is; at the worst, when the file was added.
///
/// The tag `DateTime` (0x0132) is no source: it says when a file was last changed, which an editor moves by years.
pub(super) fn capture_time(tags: Option<&Tags<'_>>, facts: &FileFacts<'_>) -> CaptureTime {
    tags.and_then(|tags| from_tags(tags, facts))
        .or_else(|| from_name(facts))
        .or_else(|| sane(at(facts.modified?, CaptureSource::FileModified), facts))
        .unwrap_or(at(facts.added, CaptureSource::Added))
}

fn from_tags(tags: &Tags<'_>, facts: &FileFacts<'_>) -> Option<CaptureTime> {
    let gps = gps_time(tags).and_then(|time| sane(at(time, CaptureSource::Gps), facts));
    let gps_at = gps.map(|time| time.at);
    let original = EXIF_ORIGINAL.read(tags, gps_at).and_then(|time| sane(time, facts));
    original.or_else(|| EXIF_DIGITIZED.read(tags, gps_at).and_then(|time| sane(time, facts))).or(gps)
}

fn from_name(facts: &FileFacts<'_>) -> Option<CaptureTime> {
    let named = file_name::named_time(facts.file_name?)?;
    let time = local_time(named.wall, None, CaptureSource::FileName)?;
    let time = if named.utc { CaptureTime { wall: None, ..time } } else { time };
    sane(time, facts)
}

/// A time with the tags that belong to it.
struct TimeTags {
    time: u16,
    sub_sec: u16,
    offset: u16,
    source: CaptureSource,
}

const EXIF_ORIGINAL: TimeTags = TimeTags {
    time: tag::DATE_TIME_ORIGINAL,
    sub_sec: tag::SUB_SEC_TIME_ORIGINAL,
    offset: tag::OFFSET_TIME_ORIGINAL,
    source: CaptureSource::ExifOriginal,
};

const EXIF_DIGITIZED: TimeTags = TimeTags {
    time: tag::DATE_TIME_DIGITIZED,
    sub_sec: tag::SUB_SEC_TIME_DIGITIZED,
    offset: tag::OFFSET_TIME_DIGITIZED,
    source: CaptureSource::ExifDigitized,
};

impl TimeTags {
    fn read(&self, tags: &Tags<'_>, gps_at: Option<Timestamp>) -> Option<CaptureTime> {
        let text = |tag| tags.text(Directory::Exif, tag);
        let wall = parse_wall(&text(self.time)?, text(self.sub_sec).as_deref())?;
        let offset = text(self.offset).as_deref().and_then(parse_offset);
        local_time(wall, offset.or_else(|| offset_to_gps(wall, gps_at?)), self.source)
    }
}

/// The moment when a clock showed `wall`; in UTC when the offset is unknown.
fn local_time(wall: DateTime, offset_minutes: Option<i32>, source: CaptureSource) -> Option<CaptureTime> {
    let at = Timestamp::from_wall(wall, offset_minutes.unwrap_or(0))?;
    Some(CaptureTime { at, wall: Some(wall), offset_minutes, source })
}

fn at(at: Timestamp, source: CaptureSource) -> CaptureTime {
    CaptureTime { at, wall: None, offset_minutes: None, source }
}

/// The offset by which the camera's clock and GPS differ, when that difference can be one.
fn offset_to_gps(wall: DateTime, gps_at: Timestamp) -> Option<i32> {
    let difference_ms = Timestamp::from_wall(wall, 0)?.millis() - gps_at.millis();
    let quarters = (difference_ms + QUARTER_HOUR_MS / 2).div_euclid(QUARTER_HOUR_MS);
    let offset_ms = quarters * QUARTER_HOUR_MS;
    if offset_ms.abs() > MAX_OFFSET_MS || (difference_ms - offset_ms).abs() > MAX_DRIFT_MS {
        return None;
    }
    i32::try_from(offset_ms / MINUTE_MS).ok()
}

/// Refuses what a clock shows that was never set: 1970-01-01 00:00:00, years before photography, and the future by
/// more than a day.
fn sane(time: CaptureTime, facts: &FileFacts<'_>) -> Option<CaptureTime> {
    let shown_ms = time.wall.and_then(|wall| Timestamp::from_wall(wall, 0)).map_or(0, Timestamp::millis);
    let is_epoch = time.at.millis() == 0 || (time.wall.is_some() && shown_ms == 0);
    let first_photo_at = Timestamp::from_wall(jiff::civil::date(FIRST_PHOTO_YEAR, 1, 1).at(0, 0, 0, 0), 0)?;
    let is_past = time.at <= facts.added.plus_millis(DAY_MS);
    (!is_epoch && is_past && time.at >= first_photo_at).then_some(time)
}

/// `GPSDateStamp` with `GPSTimeStamp`, in UTC; one without the other is no time.
fn gps_time(tags: &Tags<'_>) -> Option<Timestamp> {
    let date = parse_date(&tags.text(Directory::Gps, tag::GPS_DATE_STAMP)?)?;
    let [hours, minutes, seconds] = tags.three_rationals(Directory::Gps, tag::GPS_TIME_STAMP)?;
    let part = |number: Rational, unit_ms: i64, below: i64| {
        let millis = number.numerator.checked_mul(unit_ms)?.checked_div(number.denominator)?;
        (0..below * unit_ms).contains(&millis).then_some(millis)
    };
    let of_day_ms = part(hours, HOUR_MS, 24)? + part(minutes, MINUTE_MS, 60)? + part(seconds, 1000, 61)?;
    Timestamp::from_wall(date.at(0, 0, 0, 0), 0).map(|day| day.plus_millis(of_day_ms))
}

#[cfg(test)]
mod tests;
