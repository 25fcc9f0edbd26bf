//! When a photo was taken: every source in its order, each time tag with its own offset only.

use domain::{CaptureSource, CaptureTime, FileInfo, Timestamp};
use jiff::civil::DateTime;

use super::exif_time::{parse_date, parse_offset, parse_wall};
use super::written_time::WrittenTime;
use super::{Sources, file_name, takeout::Takeout, xmp::Xmp};
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
/// 1. A sidecar: XMP, then Takeout.
/// 2. EXIF `DateTimeOriginal`, then `DateTimeDigitized`.
/// 3. What XMP and IPTC in the file say: first the shot, as XMP repeats it from EXIF, as photo managers write it into
///    `photoshop:DateCreated` and IPTC 2:55; then the digitisation; `xmp:CreateDate` last, because programs fill it in
///    with the moment when they made the file. Then the `Creation Time` of a PNG.
/// 4. The GPS fix, wherever it is written: a sidecar that holds a track's point does not tell the time of the shot.
/// 5. The file's name, EXIF `DateTime`, the file's modification time, its arrival.
///
/// EXIF `DateTime` (0x0132) is the time of the last change. An editor moves it by years, so it comes after the file's
/// name. It comes before the modification time, which every copy moves.
///
/// The offset of one EXIF time never completes another one: programs write the zone of their own computer beside the
/// time of a camera. An EXIF time without an offset has the offset of an XMP time of the same second, because that is
/// the same time written once more. The difference to the GPS time comes before it.
pub(super) fn capture_time(sources: &Sources<'_>, info: &FileInfo) -> CaptureTime {
    let gps = gps_times(sources).find_map(|time| sane(at(time, CaptureSource::Gps), info));
    let clock = Clock { gps_at: gps.map(|time| time.at), info };
    from_sidecars(sources, &clock)
        .or_else(|| from_tags(sources, &clock))
        .or_else(|| from_embedded(sources, &clock))
        .or(gps)
        .or_else(|| from_name(info))
        .or_else(|| clock.capture(EXIF_CHANGED.read(sources.tags.as_ref()?)?, EXIF_CHANGED.source))
        .or_else(|| sane(at(info.modified_at?, CaptureSource::FileModified), info))
        .unwrap_or(at(info.added_at, CaptureSource::Added))
}

fn from_sidecars(Sources { sidecars, .. }: &Sources<'_>, clock: &Clock<'_>) -> Option<CaptureTime> {
    let in_xmp = |xmp: &Xmp| {
        let times =
            [xmp.date_time_original(), xmp.date_created(), xmp.date_time_digitized(), xmp.create_date()];
        clock.best(&times, CaptureSource::Sidecar)
    };
    let in_takeout = |takeout: &Takeout| sane(at(takeout.taken?, CaptureSource::Sidecar), clock.info);
    sidecars.xmp.iter().find_map(in_xmp).or_else(|| sidecars.takeout.iter().find_map(in_takeout))
}

fn from_tags(Sources { tags, xmp, .. }: &Sources<'_>, clock: &Clock<'_>) -> Option<CaptureTime> {
    let tags = tags.as_ref()?;
    [EXIF_ORIGINAL, EXIF_DIGITIZED].iter().find_map(|time| {
        let written = time.read(tags)?;
        let captured = clock.capture(written, time.source)?;
        if captured.offset_minutes.is_some() {
            return Some(captured);
        }
        let zoned = WrittenTime { offset_minutes: offset_of_same_second(xmp, written.wall), ..written };
        clock.capture(zoned, time.source).or(Some(captured))
    })
}

/// The offset of an XMP time that shows the same second.
fn offset_of_same_second(xmp: &Xmp, wall: DateTime) -> Option<i32> {
    let second = |wall| Some(Timestamp::from_wall(wall, 0)?.millis().div_euclid(1000));
    [xmp.date_time_original(), xmp.date_created(), xmp.date_time_digitized(), xmp.create_date()]
        .into_iter()
        .flatten()
        .filter(|time| time.has_time && second(time.wall) == second(wall))
        .find_map(|time| time.offset_minutes)
}

fn from_embedded(Sources { xmp, iptc, png, .. }: &Sources<'_>, clock: &Clock<'_>) -> Option<CaptureTime> {
    let times = [
        xmp.date_time_original(),
        xmp.date_created(),
        iptc.created,
        xmp.date_time_digitized(),
        iptc.digitized,
        xmp.create_date(),
        png.created,
    ];
    clock.best(&times, CaptureSource::Embedded)
}

fn from_name(info: &FileInfo) -> Option<CaptureTime> {
    let named = file_name::named_time(info.name.as_deref()?)?;
    let time = local_time(named.wall, None, CaptureSource::FileName)?;
    let time = if named.utc { CaptureTime { wall: None, ..time } } else { time };
    sane(time, info)
}

/// What a camera's clock is held against.
struct Clock<'a> {
    gps_at: Option<Timestamp>,
    info: &'a FileInfo,
}

impl Clock<'_> {
    /// The first of these times that can be one. When it names only a day, the first of the rest that tells the time
    /// of that day.
    fn best(&self, times: &[Option<WrittenTime>], source: CaptureSource) -> Option<CaptureTime> {
        let mut sane = times.iter().flatten().filter_map(|time| Some((time, self.capture(*time, source)?)));
        let (first, best) = sane.next()?;
        let is_finer = |(time, _): &(&WrittenTime, _)| time.has_time && time.wall.date() == first.wall.date();
        let finer = if first.has_time { None } else { sane.find(is_finer) };
        Some(finer.map_or(best, |(_, finer)| finer))
    }

    fn capture(&self, time: WrittenTime, source: CaptureSource) -> Option<CaptureTime> {
        let gps_at = self.gps_at.filter(|_| time.has_time);
        let offset = time.offset_minutes.or_else(|| offset_to_gps(time.wall, gps_at?));
        sane(local_time(time.wall, offset, source)?, self.info)
    }
}

/// A time with the tags that belong to it.
struct TimeTags {
    /// The directory of the tag of the time. The other two tags are in the EXIF directory.
    directory: Directory,
    time: u16,
    sub_sec: u16,
    offset: u16,
    source: CaptureSource,
}

const EXIF_ORIGINAL: TimeTags = TimeTags {
    directory: Directory::Exif,
    time: tag::DATE_TIME_ORIGINAL,
    sub_sec: tag::SUB_SEC_TIME_ORIGINAL,
    offset: tag::OFFSET_TIME_ORIGINAL,
    source: CaptureSource::ExifOriginal,
};

const EXIF_DIGITIZED: TimeTags = TimeTags {
    directory: Directory::Exif,
    time: tag::DATE_TIME_DIGITIZED,
    sub_sec: tag::SUB_SEC_TIME_DIGITIZED,
    offset: tag::OFFSET_TIME_DIGITIZED,
    source: CaptureSource::ExifDigitized,
};

/// When the file was last changed.
const EXIF_CHANGED: TimeTags = TimeTags {
    directory: Directory::Primary,
    time: tag::DATE_TIME,
    sub_sec: tag::SUB_SEC_TIME,
    offset: tag::OFFSET_TIME,
    source: CaptureSource::FileModified,
};

impl TimeTags {
    fn read(&self, tags: &Tags<'_>) -> Option<WrittenTime> {
        let text = |tag| tags.text(Directory::Exif, tag);
        let wall = parse_wall(&tags.text(self.directory, self.time)?, text(self.sub_sec).as_deref())?;
        let offset_minutes = text(self.offset).as_deref().and_then(parse_offset);
        Some(WrittenTime { wall, offset_minutes, has_time: true })
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
fn sane(time: CaptureTime, info: &FileInfo) -> Option<CaptureTime> {
    let shown_ms = time.wall.and_then(|wall| Timestamp::from_wall(wall, 0)).map_or(0, Timestamp::millis);
    let is_epoch = time.at.millis() == 0 || (time.wall.is_some() && shown_ms == 0);
    let first_photo_at = Timestamp::from_wall(jiff::civil::date(FIRST_PHOTO_YEAR, 1, 1).at(0, 0, 0, 0), 0)?;
    let is_past = time.at <= info.added_at.plus_millis(DAY_MS);
    (!is_epoch && is_past && time.at >= first_photo_at).then_some(time)
}

fn gps_times<'a>(sources: &'a Sources<'_>) -> impl Iterator<Item = Timestamp> + 'a {
    let in_sidecars = sources.sidecars.xmp.iter().filter_map(Xmp::gps_time);
    in_sidecars.chain(sources.tags.as_ref().and_then(gps_time)).chain(sources.xmp.gps_time())
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
