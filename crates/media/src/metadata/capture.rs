//! The capture time of a photo, from the best source. Each time tag is combined only with its own offset tag.

use domain::{CaptureSource, CaptureTime, FileInfo, Timestamp};
use jiff::civil::DateTime;

use super::exif_time::{MAX_OFFSET_MINUTES, parse_date, parse_offset, parse_wall};
use super::written_time::ParsedTime;
use super::{Sources, file_name, takeout::Takeout, xmp::Xmp};
use crate::tiff::{Directory, Rational, Tags, tag};

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;
const DAY_MS: i64 = 24 * HOUR_MS;
/// Offsets of time zones are multiples of a quarter of an hour.
const QUARTER_HOUR_MS: i64 = 15 * MINUTE_MS;
const MAX_OFFSET_MS: i64 = MAX_OFFSET_MINUTES as i64 * MINUTE_MS;
/// Maximum difference between the camera's clock and the last GPS fix, besides the offset.
const MAX_DRIFT_MS: i64 = 4 * MINUTE_MS;
/// The year of the oldest photograph.
const FIRST_PHOTO_YEAR: i16 = 1826;

/// The capture time from the best source:
///
/// 1. A sidecar: XMP, then Takeout.
/// 2. EXIF `DateTimeOriginal`, then `DateTimeDigitized`.
/// 3. XMP and IPTC in the file: first the time of the shot (the XMP copy of the EXIF tag, `photoshop:DateCreated`, IPTC
///    2:55), then the time of digitisation. `xmp:CreateDate` comes last, because programs fill it in with the time when
///    they created the file. Then the `Creation Time` of a PNG.
/// 4. The GPS fix in the file or a sidecar. A sidecar does not make it better: it may be the time of a track point.
/// 5. The creation date in an Apple export. It has no seconds and no local time, so every time of the camera is better.
/// 6. The file's name, EXIF `DateTime`, the file's modification time, the time when it was added.
///
/// EXIF `DateTime` (0x0132) is the time of the last change. An editor may move it by years, so it comes after the file's
/// name. Every copy changes the modification time, so that comes after `DateTime`.
///
/// The offset of one EXIF time never completes another: programs write the zone of their own computer beside the time of
/// a camera. An EXIF time without an offset takes the difference to the GPS time (or to the date in an Apple export), or
/// else the offset of an XMP time with the same second, which is a copy of it.
pub(super) fn capture_time(sources: &Sources<'_>, info: &FileInfo) -> CaptureTime {
    let gps = gps_times(sources).find_map(|time| plausible(at(time, CaptureSource::Gps), info));
    let exported = sources.sidecars.xmp.iter().find_map(Xmp::exported_date);
    let exported = exported.and_then(|date| plausible(at(date, CaptureSource::Sidecar), info));
    let resolver = Resolver { gps_at: gps.or(exported).map(|time| time.at), info };
    from_sidecars(sources, &resolver)
        .or_else(|| from_tags(sources, &resolver))
        .or_else(|| from_embedded(sources, &resolver))
        .or(gps)
        .or(exported)
        .or_else(|| from_name(info))
        .or_else(|| resolver.capture(EXIF_CHANGED.read(sources.tags.as_ref()?)?, EXIF_CHANGED.source))
        .or_else(|| plausible(at(info.modified_at?, CaptureSource::FileModified), info))
        .unwrap_or(at(info.added_at, CaptureSource::Added))
}

fn from_sidecars(Sources { sidecars, .. }: &Sources<'_>, resolver: &Resolver<'_>) -> Option<CaptureTime> {
    let in_xmp = |xmp: &Xmp| {
        let times =
            [xmp.date_time_original(), xmp.date_created(), xmp.date_time_digitized(), xmp.create_date()];
        resolver.best(&times, CaptureSource::Sidecar)
    };
    let in_takeout =
        |takeout: &Takeout| plausible(at(takeout.taken_at?, CaptureSource::Sidecar), resolver.info);
    sidecars.xmp.iter().find_map(in_xmp).or_else(|| sidecars.takeout.iter().find_map(in_takeout))
}

fn from_tags(Sources { tags, xmp, .. }: &Sources<'_>, resolver: &Resolver<'_>) -> Option<CaptureTime> {
    let tags = tags.as_ref()?;
    [EXIF_ORIGINAL, EXIF_DIGITIZED].iter().find_map(|time| {
        let written = time.read(tags)?;
        let captured = resolver.capture(written, time.source)?;
        if captured.offset_minutes.is_some() {
            return Some(captured);
        }
        let zoned = ParsedTime { offset_minutes: offset_of_same_second(xmp, written.wall), ..written };
        resolver.capture(zoned, time.source).or(Some(captured))
    })
}

/// The offset of an XMP time with the same second.
fn offset_of_same_second(xmp: &Xmp, wall: DateTime) -> Option<i32> {
    let second = |wall| Some(Timestamp::from_wall(wall, 0)?.millis().div_euclid(1000));
    [xmp.date_time_original(), xmp.date_created(), xmp.date_time_digitized(), xmp.create_date()]
        .into_iter()
        .flatten()
        .filter(|time| time.has_time && second(time.wall) == second(wall))
        .find_map(|time| time.offset_minutes)
}

fn from_embedded(
    Sources { xmp, iptc, png, .. }: &Sources<'_>,
    resolver: &Resolver<'_>,
) -> Option<CaptureTime> {
    let times = [
        xmp.date_time_original(),
        xmp.date_created(),
        iptc.created,
        xmp.date_time_digitized(),
        iptc.digitized,
        xmp.create_date(),
        png.created,
    ];
    resolver.best(&times, CaptureSource::Embedded)
}

fn from_name(info: &FileInfo) -> Option<CaptureTime> {
    let named = file_name::parse_file_name(info.name.as_deref()?)?;
    let time = local_time(named.wall, None, CaptureSource::FileName)?;
    let time = if named.utc { CaptureTime { wall: None, ..time } } else { time };
    plausible(time, info)
}

/// Completes and checks the times that a camera wrote.
struct Resolver<'a> {
    gps_at: Option<Timestamp>,
    info: &'a FileInfo,
}

impl Resolver<'_> {
    /// The first plausible time. If it has only a date, the first later one with a time on that date.
    fn best(&self, times: &[Option<ParsedTime>], source: CaptureSource) -> Option<CaptureTime> {
        let mut plausible =
            times.iter().flatten().filter_map(|time| Some((time, self.capture(*time, source)?)));
        let (first, best) = plausible.next()?;
        let is_finer = |(time, _): &(&ParsedTime, _)| time.has_time && time.wall.date() == first.wall.date();
        let finer = if first.has_time { None } else { plausible.find(is_finer) };
        Some(finer.map_or(best, |(_, finer)| finer))
    }

    fn capture(&self, time: ParsedTime, source: CaptureSource) -> Option<CaptureTime> {
        let gps_at = self.gps_at.filter(|_| time.has_time);
        let offset = time.offset_minutes.or_else(|| offset_to_gps(time.wall, gps_at?));
        plausible(local_time(time.wall, offset, source)?, self.info)
    }
}

/// The tags of one time.
struct TimeTags {
    /// The directory of the `time` tag. The other two tags are in the EXIF directory.
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

/// When the picture was last changed.
const EXIF_CHANGED: TimeTags = TimeTags {
    directory: Directory::Primary,
    time: tag::DATE_TIME,
    sub_sec: tag::SUB_SEC_TIME,
    offset: tag::OFFSET_TIME,
    source: CaptureSource::FileModified,
};

impl TimeTags {
    fn read(&self, tags: &Tags<'_>) -> Option<ParsedTime> {
        let text = |tag| tags.text(Directory::Exif, tag);
        let wall = parse_wall(&tags.text(self.directory, self.time)?, text(self.sub_sec).as_deref())?;
        let offset_minutes = text(self.offset).as_deref().and_then(parse_offset);
        Some(ParsedTime { wall, offset_minutes, has_time: true })
    }
}

/// The moment when a clock showed `wall`, read as UTC if the offset is unknown.
fn local_time(wall: DateTime, offset_minutes: Option<i32>, source: CaptureSource) -> Option<CaptureTime> {
    let at = Timestamp::from_wall(wall, offset_minutes.unwrap_or(0))?;
    Some(CaptureTime { at, wall: Some(wall), offset_minutes, source })
}

fn at(at: Timestamp, source: CaptureSource) -> CaptureTime {
    CaptureTime { at, wall: None, offset_minutes: None, source }
}

/// The difference between the camera's clock and GPS, if it is a possible offset.
fn offset_to_gps(wall: DateTime, gps_at: Timestamp) -> Option<i32> {
    let difference_ms = Timestamp::from_wall(wall, 0)?.millis() - gps_at.millis();
    let quarters = (difference_ms + QUARTER_HOUR_MS / 2).div_euclid(QUARTER_HOUR_MS);
    let offset_ms = quarters * QUARTER_HOUR_MS;
    if offset_ms.abs() > MAX_OFFSET_MS || (difference_ms - offset_ms).abs() > MAX_DRIFT_MS {
        return None;
    }
    i32::try_from(offset_ms / MINUTE_MS).ok()
}

/// Drops the times of a clock that was never set: 1970-01-01 00:00:00, years before photography, and times more than a
/// day in the future.
fn plausible(time: CaptureTime, info: &FileInfo) -> Option<CaptureTime> {
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

/// `GPSDateStamp` with `GPSTimeStamp`, in UTC. Both must be present.
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
