//! The capture time of a photo: one rule for all sources.
//!
//! Every source gives a [`Candidate`]. The strongest plausible candidate (see [`Strength`]) gives the time. Other candidates that
//! agree with it may add what it lacks: seconds and their fraction, the UTC offset, the local time.

use domain::{CaptureSource, CaptureTime, FileInfo, Position, Timestamp};
use jiff::SignedDuration;

use super::position::{self, from_sixtieths};
use super::written_time::{ParsedTime, Precision, parse_date, parse_offset, parse_time};
use super::{Sources, file_name};
use crate::tiff::{Directory, Tags, tag};

const MINUTE_MS: i64 = 60_000;
const DAY_MS: i64 = 24 * 60 * MINUTE_MS;
/// Offsets of time zones are multiples of a quarter of an hour, except the local mean times of the past.
const QUARTER_HOUR_MS: i64 = 15 * MINUTE_MS;
/// Maximum difference between the camera's clock and the last GPS fix, besides the offset.
const MAX_DRIFT_MS: i64 = 4 * MINUTE_MS;
/// Minimum difference between the offset of a camera that is set to another zone and the offset of the place.
const MIN_ZONE_DIFFERENCE_MINUTES: i32 = 60;
/// A quarter of a year. Summer time and standard time both last longer than this, but one of them longer than half a year.
const QUARTER_YEAR_MS: i64 = 91 * DAY_MS;
/// Added to the seconds of a GPS fix before they are cut, because a floating point number may be slightly too small.
const ROUNDING_SECONDS: f64 = 1e-6;
/// The year of the oldest photograph.
const FIRST_PHOTO_YEAR: i16 = 1826;

/// The sources, strongest first.
///
/// The time of the shot in a sidecar comes first, because somebody wrote it after the photo was taken. Other times in a sidecar are
/// no better than those of the file: programs fill them in with the time of a scan or of an export. `xmp:CreateDate` is the
/// creation of the file. A GPS fix may be older than the photo. EXIF `DateTime` is the last change, which an editor may move by
/// years. Every copy changes the modification time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Strength {
    /// XMP in a sidecar: `exif:DateTimeOriginal`, then `photoshop:DateCreated`.
    SidecarShot,
    /// `photoTakenTime` of a Takeout export.
    Takeout,
    /// EXIF `DateTimeOriginal`.
    ExifOriginal,
    /// XMP in a sidecar: `exif:DateTimeDigitized`.
    SidecarDigitized,
    /// EXIF `DateTimeDigitized`.
    ExifDigitized,
    /// XMP and IPTC in the file: the time of the shot, then of the digitisation.
    Embedded,
    /// `xmp:CreateDate` in a sidecar.
    SidecarCreated,
    /// `xmp:CreateDate` in the file, then `Creation Time` of a PNG.
    Created,
    Gps,
    /// The list of an Apple export. It has no seconds and no local time.
    Exported,
    Name,
    /// EXIF `DateTime`.
    ExifChanged,
    /// The modification time of the file.
    Modified,
}

impl Strength {
    fn source(self) -> CaptureSource {
        match self {
            Self::SidecarShot
            | Self::Takeout
            | Self::SidecarDigitized
            | Self::SidecarCreated
            | Self::Exported => CaptureSource::Sidecar,
            Self::ExifOriginal => CaptureSource::ExifOriginal,
            Self::ExifDigitized => CaptureSource::ExifDigitized,
            Self::Embedded | Self::Created => CaptureSource::Embedded,
            Self::Gps => CaptureSource::Gps,
            Self::Name => CaptureSource::FileName,
            Self::ExifChanged | Self::Modified => CaptureSource::FileModified,
        }
    }

    /// Whether this source can add something to the time of the other one. A tag of EXIF never completes another one: programs
    /// write the zone of their own computer beside the time of a camera. A copy of the file may have any modification time.
    fn completes(self, other: Self) -> bool {
        let is_exif =
            |strength| matches!(strength, Self::ExifOriginal | Self::ExifDigitized | Self::ExifChanged);
        self != Self::Modified && !(is_exif(self) && is_exif(other))
    }

    /// The order in which sources add something. This is the order of strength, except that measured times come before the copies
    /// of EXIF in other blocks of the file. These copies often have the zone of a computer.
    fn rank_of_additions(self) -> (Self, bool) {
        let is_measured = self.has_own_clock();
        (if is_measured { Self::ExifDigitized } else { self }, is_measured)
    }

    /// Whether the time comes from another clock than that of the camera. The seconds of such a clock differ, so it adds only an
    /// offset.
    fn has_own_clock(self) -> bool {
        matches!(self, Self::Gps | Self::Exported)
    }
}

/// What a source says about the time of the shot. At least one of the two times is known; the difference is the UTC offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Candidate {
    strength: Strength,
    /// The time that a clock showed, stored as if it were UTC.
    clock: Option<Timestamp>,
    moment: Option<Timestamp>,
    precision: Precision,
}

impl Candidate {
    /// A candidate from a written time. `None` if the year is out of range. An offset that no time zone had is left out.
    fn written(strength: Strength, time: ParsedTime) -> Option<Self> {
        let clock = Timestamp::from_wall(time.wall, 0)?;
        let moment = |offset: i32| Timestamp::from_wall(time.wall, offset).filter(|at| was_set(offset, *at));
        Some(Self {
            strength,
            clock: Some(clock),
            moment: time.offset_minutes.and_then(moment),
            precision: time.precision,
        })
    }

    fn moment(strength: Strength, at: Timestamp, precision: Precision) -> Self {
        Self { strength, clock: None, moment: Some(at), precision }
    }

    /// The time, read as UTC if the offset is unknown.
    fn at(&self) -> Option<Timestamp> {
        self.moment.or(self.clock)
    }

    /// Whether it can be the time of a photo. Drops the times of a clock that was never set: 1970-01-01 00:00:00, years
    /// before photography, and times more than a day in the future.
    fn is_plausible(&self, added_at: Timestamp) -> bool {
        let Some(at) = self.at() else { return false };
        let is_epoch = [self.clock, self.moment].into_iter().flatten().any(|time| time.millis() == 0);
        let first_photo = jiff::civil::date(FIRST_PHOTO_YEAR, 1, 1).at(0, 0, 0, 0);
        let is_photo = Timestamp::from_wall(first_photo, 0).is_some_and(|first| at >= first);
        !is_epoch && is_photo && at <= added_at.plus_millis(DAY_MS)
    }

    fn offset_minutes(&self) -> Option<i32> {
        let (clock, moment) = self.clock.zip(self.moment)?;
        i32::try_from((clock.millis() - moment.millis()) / MINUTE_MS).ok()
    }

    fn result(&self) -> Option<CaptureTime> {
        Some(CaptureTime {
            at: self.at()?,
            wall: self.clock.map(|clock| clock.wall(0)),
            offset_minutes: self.offset_minutes(),
            source: self.strength.source(),
        })
    }

    /// This time, completed by what `other` adds, if the two agree.
    fn completed_by(self, other: &Self, position: Option<Position>) -> Self {
        if other.precision == Precision::Day || !other.strength.completes(self.strength) {
            return self;
        }
        if other.strength.has_own_clock() || self.strength.has_own_clock() {
            let offset = match (self.clock, self.moment, other.moment) {
                (Some(clock), None, Some(fix)) => offset_to_fix(clock, fix, position),
                _ => None,
            };
            return self.with_offset(offset);
        }
        match self.agreement(other) {
            Agreement::None => self,
            Agreement::Same => self.refined_by(other).with_offset(other.offset_minutes()),
            Agreement::Offset(offset) => self.refined_by(other).with_offset(Some(offset)),
        }
    }

    fn agreement(&self, other: &Self) -> Agreement {
        // Fractions of a second are not compared, because programs round them in different ways.
        let unit_ms = self.precision.min(other.precision).min(Precision::Second).unit_ms();
        let difference_ms = |one: Timestamp, other: Timestamp| {
            (one.millis().div_euclid(unit_ms) - other.millis().div_euclid(unit_ms)) * unit_ms
        };
        let moments = self.moment.zip(other.moment);
        if let Some((one, other)) = moments.or_else(|| self.clock.zip(other.clock)) {
            return if difference_ms(one, other) == 0 { Agreement::Same } else { Agreement::None };
        }
        let crossed = self.clock.zip(other.moment).or_else(|| other.clock.zip(self.moment));
        let Some((clock, moment)) = crossed else { return Agreement::None };
        match difference_ms(clock, moment) {
            // Programs read a time without an offset as UTC, so this difference says nothing about the offset.
            0 => Agreement::Same,
            offset_ms => in_use(offset_ms, moment).map_or(Agreement::None, Agreement::Offset),
        }
    }

    /// This time with the precision of `other`, which must agree with it.
    fn refined_by(self, other: &Self) -> Self {
        let unit_ms = self.precision.unit_ms();
        let Some(finer) = other.at().filter(|_| other.precision > self.precision) else { return self };
        // Offsets are whole minutes, so that clock and moment have the same seconds.
        let fine_ms = finer.millis().rem_euclid(unit_ms);
        let refined = |time: Timestamp| time.plus_millis(fine_ms - time.millis().rem_euclid(unit_ms));
        Self {
            clock: self.clock.map(refined),
            moment: self.moment.map(refined),
            precision: other.precision,
            ..self
        }
    }

    /// This time with an offset, unless it has one.
    fn with_offset(self, offset_minutes: Option<i32>) -> Self {
        let Some(offset_ms) = offset_minutes.map(|minutes| i64::from(minutes) * MINUTE_MS) else {
            return self;
        };
        Self {
            clock: self.clock.or_else(|| Some(self.moment?.plus_millis(offset_ms))),
            moment: self.moment.or_else(|| Some(self.clock?.plus_millis(-offset_ms))),
            ..self
        }
    }
}

/// Whether two times are of one shot.
enum Agreement {
    None,
    /// They are equal, to the precision of the less precise one.
    Same,
    /// The clock of one and the moment of the other differ by this offset, in minutes.
    Offset(i32),
}

pub(super) fn capture_time(sources: &Sources<'_>, info: &FileInfo) -> CaptureTime {
    let candidates = candidates(sources, info);
    let resolved = resolve(candidates, position::position(sources), info.added_at);
    let added =
        CaptureTime { at: info.added_at, wall: None, offset_minutes: None, source: CaptureSource::Added };
    resolved.unwrap_or(added)
}

fn candidates(sources: &Sources<'_>, info: &FileInfo) -> Vec<Candidate> {
    let mut found = Vec::new();
    let Sources { tags, xmp, iptc, png, sidecars, .. } = sources;
    let mut add = |strength, time: Option<ParsedTime>| {
        found.extend(time.and_then(|time| Candidate::written(strength, time)));
    };
    for xmp in &sidecars.xmp {
        add(Strength::SidecarShot, xmp.date_time_original());
        add(Strength::SidecarShot, xmp.date_created());
        add(Strength::SidecarDigitized, xmp.date_time_digitized());
        add(Strength::SidecarCreated, xmp.create_date());
    }
    for tags in tags {
        for time in EXIF_TIMES {
            add(time.strength, time.read(tags));
        }
    }
    let embedded = [
        xmp.date_time_original(),
        xmp.date_created(),
        iptc.created,
        xmp.date_time_digitized(),
        iptc.digitized,
    ];
    for time in embedded {
        add(Strength::Embedded, time);
    }
    add(Strength::Created, xmp.create_date());
    add(Strength::Created, png.created);

    let mut add = |strength, at: Option<Timestamp>, precision| {
        found.extend(at.map(|at| Candidate::moment(strength, at, precision)));
    };
    for takeout in &sidecars.takeout {
        add(Strength::Takeout, takeout.taken_at, Precision::Second);
    }
    // A GPS fix in a sidecar is not stronger than one in the file, because it may come from a recorded track.
    for xmp in &sidecars.xmp {
        add(Strength::Gps, xmp.gps_time(), Precision::Millisecond);
        add(Strength::Exported, xmp.exported_date(), Precision::Minute);
    }
    for tags in tags {
        add(Strength::Gps, gps_time(tags), Precision::Millisecond);
    }
    add(Strength::Gps, xmp.gps_time(), Precision::Millisecond);
    add(Strength::Modified, info.modified_at, Precision::Millisecond);
    found.extend(info.name.as_deref().and_then(from_name));
    // Stable, so that several times of one strength keep their order.
    found.sort_by_key(|candidate| candidate.strength);
    found
}

fn from_name(name: &str) -> Option<Candidate> {
    let file_name::FileNameTime { time, utc } = file_name::parse_file_name(name)?;
    if !utc {
        return Candidate::written(Strength::Name, time);
    }
    Some(Candidate::moment(Strength::Name, Timestamp::from_wall(time.wall, 0)?, time.precision))
}

/// The rule: the strongest plausible candidate, completed by those that agree with it. Candidates are in the order of their
/// strength. The position of the photo decides whether the difference to a GPS fix is an offset or the age of the fix.
fn resolve(
    mut candidates: Vec<Candidate>,
    position: Option<Position>,
    added_at: Timestamp,
) -> Option<CaptureTime> {
    candidates.retain(|candidate| candidate.is_plausible(added_at));
    let mut best = strongest(&candidates)?;
    if best.precision > Precision::Day {
        candidates.sort_by_key(|candidate| candidate.strength.rank_of_additions());
        best = candidates.iter().fold(best, |best, other| best.completed_by(other, position));
    }
    best.result()
}

/// The strongest candidate. If it has only a date, the strongest candidate with a time on that day, if there is one.
fn strongest(candidates: &[Candidate]) -> Option<Candidate> {
    let first = candidates.first()?;
    let day = |candidate: &Candidate| candidate.clock.map(|clock| clock.wall(0).date());
    let is_finer = |other: &&Candidate| other.precision > Precision::Day && day(other) == day(first);
    let finer = candidates.iter().find(is_finer).filter(|_| first.precision == Precision::Day);
    finer.or(Some(first)).copied()
}

/// Whether a clock may have been set to this offset: some time zone had it within half a year, because a camera may not know about
/// summer time.
fn was_set(offset_minutes: i32, at: Timestamp) -> bool {
    [0, 2, -2, 1, -1]
        .into_iter()
        .any(|quarters| places::is_offset_in_use(offset_minutes, at.plus_millis(quarters * QUARTER_YEAR_MS)))
}

/// The difference between a clock and a moment in minutes, if some time zone had that offset then.
fn in_use(difference_ms: i64, moment: Timestamp) -> Option<i32> {
    let minutes = i32::try_from(difference_ms / MINUTE_MS).ok()?;
    (difference_ms % MINUTE_MS == 0 && places::is_offset_in_use(minutes, moment)).then_some(minutes)
}

/// The difference between the camera's clock and a GPS fix, if it is an offset and not the age of the fix.
fn offset_to_fix(clock: Timestamp, fix: Timestamp, position: Option<Position>) -> Option<i32> {
    let difference_ms = clock.millis() - fix.millis();
    let offset_ms = (difference_ms + QUARTER_HOUR_MS / 2).div_euclid(QUARTER_HOUR_MS) * QUARTER_HOUR_MS;
    if (difference_ms - offset_ms).abs() > MAX_DRIFT_MS {
        return None;
    }
    let offset = in_use(offset_ms, fix)?;
    let of_place = position.and_then(|position| places::offset_minutes(position, clock.wall(0)));
    let from_place = of_place.map_or(0, |of_place| (offset - of_place).abs());
    (from_place == 0 || from_place >= MIN_ZONE_DIFFERENCE_MINUTES).then_some(offset)
}

struct TimeTags {
    strength: Strength,
    /// The directory of the `time` tag. The other two tags are in the EXIF directory.
    directory: Directory,
    time: u16,
    sub_sec: u16,
    offset: u16,
}

const EXIF_TIMES: [TimeTags; 3] = [
    TimeTags {
        strength: Strength::ExifOriginal,
        directory: Directory::Exif,
        time: tag::DATE_TIME_ORIGINAL,
        sub_sec: tag::SUB_SEC_TIME_ORIGINAL,
        offset: tag::OFFSET_TIME_ORIGINAL,
    },
    TimeTags {
        strength: Strength::ExifDigitized,
        directory: Directory::Exif,
        time: tag::DATE_TIME_DIGITIZED,
        sub_sec: tag::SUB_SEC_TIME_DIGITIZED,
        offset: tag::OFFSET_TIME_DIGITIZED,
    },
    TimeTags {
        strength: Strength::ExifChanged,
        directory: Directory::Primary,
        time: tag::DATE_TIME,
        sub_sec: tag::SUB_SEC_TIME,
        offset: tag::OFFSET_TIME,
    },
];

impl TimeTags {
    /// Each time has its own fraction and offset.
    fn read(&self, tags: &Tags<'_>) -> Option<ParsedTime> {
        let text = |tag| tags.text(Directory::Exif, tag);
        let time = parse_time(&tags.text(self.directory, self.time)?, text(self.sub_sec).as_deref())?;
        let offset = || text(self.offset).as_deref().and_then(parse_offset);
        let has_time = time.precision > Precision::Day;
        Some(ParsedTime { offset_minutes: time.offset_minutes.or_else(offset).filter(|_| has_time), ..time })
    }
}

/// `GPSDateStamp` with `GPSTimeStamp`, in UTC. Both must be present.
fn gps_time(tags: &Tags<'_>) -> Option<Timestamp> {
    let date = parse_date(&tags.text(Directory::Gps, tag::GPS_DATE_STAMP)?)?;
    let below = [24.0, 60.0, 61.0];
    let parts = tags.reals(Directory::Gps, tag::GPS_TIME_STAMP)?;
    if parts.iter().zip(below).any(|(part, below)| !(0.0..below).contains(part)) {
        return None;
    }
    let day = Timestamp::from_wall(date.at(0, 0, 0, 0), 0)?;
    let of_day =
        SignedDuration::try_from_secs_f64(from_sixtieths(&parts) * 3600.0 + ROUNDING_SECONDS).ok()?;
    Some(day.plus_millis(i64::try_from(of_day.as_millis()).ok()?))
}

#[cfg(test)]
mod tests;
