//! Corrections that people make to photos.

use jiff::civil;

use crate::{
    CaptureTime, Invalid, Keywords, Marks, Position, Rating, Timestamp, UtcOffset, clean_text, parse_decimal,
};

/// A field that people can correct.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EditedField {
    Description,
    /// The capture time with its UTC offset.
    Time,
    /// The position with its place.
    Place,
    Favorite,
    Rating,
    Keywords,
    Archived,
}

impl EditedField {
    /// Every field.
    pub const ALL: [Self; 7] = [
        Self::Description,
        Self::Time,
        Self::Place,
        Self::Favorite,
        Self::Rating,
        Self::Keywords,
        Self::Archived,
    ];

    /// The name in forms and in the database.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Description => "description",
            Self::Time => "time",
            Self::Place => "place",
            Self::Favorite => "favorite",
            Self::Rating => "rating",
            Self::Keywords => "keywords",
            Self::Archived => "archived",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|field| field.name() == name)
    }
}

/// A new value of a field that may be empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Correction<T> {
    /// The present value stays.
    #[default]
    Keep,
    /// The value that the file has.
    Revert,
    /// No value.
    Clear,
    /// This value.
    Set(T),
}

impl<T> Correction<T> {
    /// Whether the present value stays.
    pub const fn keeps(&self) -> bool {
        matches!(self, Self::Keep)
    }
}

impl<T: Clone> Correction<T> {
    /// The new value of a field; `None` if the present value stays.
    pub fn new_value(&self, of_file: &Option<T>) -> Option<Option<T>> {
        match self {
            Self::Keep => None,
            Self::Revert => Some(of_file.clone()),
            Self::Clear => Some(None),
            Self::Set(value) => Some(Some(value.clone())),
        }
    }
}

impl Correction<String> {
    /// A description as typed. A blank one clears it.
    pub fn description(text: &str) -> Self {
        // Forms send line breaks as CR LF.
        clean_text(&text.replace("\r\n", "\n")).map_or(Self::Clear, Self::Set)
    }
}

/// A correction of one or many photos.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PhotoEdit {
    pub description: Correction<String>,
    pub time: Option<TimeEdit>,
    /// Where it was taken.
    pub position: Correction<Position>,
    pub marks: MarksEdit,
}

impl PhotoEdit {
    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// A correction that takes corrections of these fields back.
    pub fn reverting(fields: &[EditedField]) -> Self {
        let mut edit = Self::default();
        for field in fields {
            match field {
                EditedField::Description => edit.description = Correction::Revert,
                EditedField::Time => edit.time = Some(TimeEdit::Revert),
                EditedField::Place => edit.position = Correction::Revert,
                EditedField::Favorite => edit.marks.favorite = Correction::Revert,
                EditedField::Rating => edit.marks.rating = Correction::Revert,
                EditedField::Keywords => edit.marks.keywords = KeywordsEdit::Revert,
                EditedField::Archived => edit.marks.archived = Correction::Revert,
            }
        }
        edit
    }

    /// The fields that it may change. A position may change the time zone of the time as well.
    pub fn fields(&self) -> Vec<EditedField> {
        let Self { description, time, position, marks } = self;
        let changes = |field: &EditedField| match field {
            EditedField::Description => !description.keeps(),
            EditedField::Time => time.is_some(),
            EditedField::Place => !position.keeps(),
            EditedField::Favorite => !marks.favorite.keeps(),
            EditedField::Rating => !marks.rating.keeps(),
            EditedField::Keywords => marks.keywords != KeywordsEdit::Keep,
            EditedField::Archived => !marks.archived.keeps(),
        };
        EditedField::ALL.into_iter().filter(changes).collect()
    }
}

/// New marks of one or many photos.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MarksEdit {
    /// `Clear` is the same as `Set(false)`.
    pub favorite: Correction<bool>,
    pub rating: Correction<Rating>,
    pub keywords: KeywordsEdit,
    /// `Clear` is the same as `Set(false)`.
    pub archived: Correction<bool>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum KeywordsEdit {
    /// The present keywords stay.
    #[default]
    Keep,
    /// The keywords of the file.
    Revert,
    /// These keywords, perhaps none.
    Set(Keywords),
    /// Some more and some less.
    Change { add: Keywords, remove: Keywords },
}

impl MarksEdit {
    /// The new marks of a photo.
    pub fn applied(&self, present: &Marks, of_file: &Marks) -> Marks {
        let flag = |edit: &Correction<bool>, present: bool, of_file: bool| {
            edit.new_value(&Some(of_file)).map_or(present, |value| value.unwrap_or(false))
        };
        Marks {
            favorite: flag(&self.favorite, present.favorite, of_file.favorite),
            rating: self.rating.new_value(&of_file.rating).unwrap_or(present.rating),
            keywords: match &self.keywords {
                KeywordsEdit::Keep => present.keywords.clone(),
                KeywordsEdit::Revert => of_file.keywords.clone(),
                KeywordsEdit::Set(keywords) => keywords.clone(),
                KeywordsEdit::Change { add, remove } => present.keywords.without(remove).with(add),
            },
            archived: flag(&self.archived, present.archived, of_file.archived),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TimeEdit {
    /// The clock showed `wall`, in this zone; without a zone, in the zone that the photo has.
    Set {
        /// The time on the clock.
        wall: civil::DateTime,
        /// The zone of the clock.
        zone: Option<Zone>,
    },
    /// The clock was wrong by this much.
    Shift(TimeShift),
    /// The clock showed the right time of another zone. The time on the clock stays, and the moment changes.
    Zone(Zone),
    /// It was taken at this moment, and the clock had this offset. One that is absent stays as it is. `Clear` is no value.
    Moment { at: Correction<Timestamp>, offset: Correction<UtcOffset> },
    /// The time that the file has.
    Revert,
}

impl TimeEdit {
    /// The corrected time of a photo whose file has the time `of_file`. `offset_of` gives the UTC offset of a zone when its
    /// clocks show a time, in minutes. `None` if the result is outside the years 0001 to 9999, or the zone is unknown.
    pub fn applied(
        &self,
        capture: CaptureTime,
        of_file: CaptureTime,
        offset_of: impl Fn(&Zone, civil::DateTime) -> Option<i32>,
    ) -> Option<CaptureTime> {
        match self {
            Self::Set { wall, zone } => {
                let offset = match zone {
                    Some(zone) => Some(offset_of(zone, *wall)?),
                    None => capture.offset_minutes,
                };
                at_wall(capture, *wall, offset)
            }
            Self::Shift(shift) => {
                let at = Timestamp::from_millis(capture.at.millis().checked_add(shift.millis())?)?;
                let wall = match capture.wall {
                    Some(wall) => Some(wall.checked_add(shift.duration()).ok()?),
                    None => None,
                };
                Some(CaptureTime { at, wall, ..capture })
            }
            Self::Zone(zone) => {
                let wall = capture.wall_clock();
                let offset = offset_of(zone, wall)?;
                at_wall(capture, wall, Some(offset))
            }
            Self::Moment { at, offset } => {
                let at = at.new_value(&Some(of_file.at)).flatten().unwrap_or(capture.at);
                let of_file_offset = of_file.offset_minutes.and_then(UtcOffset::from_minutes);
                let offset_minutes = match offset.new_value(&of_file_offset) {
                    Some(offset) => offset.map(UtcOffset::minutes),
                    None => capture.offset_minutes,
                };
                if at == of_file.at && offset_minutes == of_file.offset_minutes {
                    return Some(of_file);
                }
                let wall = at.wall(offset_minutes.unwrap_or(0));
                Some(CaptureTime { at, wall: Some(wall), offset_minutes, ..capture })
            }
            Self::Revert => Some(of_file),
        }
    }
}

fn at_wall(capture: CaptureTime, wall: civil::DateTime, offset_minutes: Option<i32>) -> Option<CaptureTime> {
    let at = Timestamp::from_wall(wall, offset_minutes.unwrap_or(0))?;
    Some(CaptureTime { at, wall: Some(wall), offset_minutes, ..capture })
}

/// Parses the time on a clock, such as `2024-07-14T15:04` or `2024-07-14T15:04:30`.
///
/// # Errors
/// [`Invalid`] naming `time`.
pub fn parse_wall_time(text: &str) -> Result<civil::DateTime, Invalid> {
    crate::timestamp::parse_wall(text.trim()).map_err(|reason| Invalid::new("time", reason))
}

/// A difference between the times of two clocks, in whole seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeShift {
    seconds: i64,
}

/// The numbers of a shift as a person types them. An empty number is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ShiftNumbers<'a> {
    pub days: &'a str,
    pub hours: &'a str,
    pub minutes: &'a str,
    pub seconds: &'a str,
}

impl TimeShift {
    const DAY_S: i64 = 24 * 3600;
    /// More days than there are from year 0001 to year 9999.
    const MAX_DAYS: i64 = 3_660_000;

    /// Parses the numbers of a shift to a later or an earlier time.
    ///
    /// # Errors
    /// [`Invalid`] naming `days`, `hours`, `minutes` or `seconds`, or `days` if all are 0.
    pub fn parse(is_earlier: bool, numbers: ShiftNumbers<'_>) -> Result<Self, Invalid> {
        let number = |field, text: &str, max: i64| match text.trim() {
            "" => Ok(0),
            digits => digits
                .parse::<u32>()
                .map(i64::from)
                .ok()
                .filter(|number| *number <= max && digits.bytes().all(|byte| byte.is_ascii_digit()))
                .ok_or_else(|| Invalid::new(field, format!("must be a whole number from 0 to {max}"))),
        };
        let seconds = number("days", numbers.days, Self::MAX_DAYS)? * Self::DAY_S
            + number("hours", numbers.hours, 10_000)? * 3600
            + number("minutes", numbers.minutes, 100_000)? * 60
            + number("seconds", numbers.seconds, 1_000_000)?;
        if seconds == 0 {
            return Err(Invalid::new("days", "must be filled in, or hours, minutes or seconds"));
        }
        Ok(Self { seconds: if is_earlier { -seconds } else { seconds } })
    }

    /// The difference in seconds, negative to an earlier time.
    pub const fn seconds(self) -> i64 {
        self.seconds
    }

    const fn millis(self) -> i64 {
        self.seconds * 1000
    }

    const fn duration(self) -> jiff::SignedDuration {
        jiff::SignedDuration::from_secs(self.seconds)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Zone {
    /// A fixed offset from UTC.
    Offset(UtcOffset),
    /// The zone of this name in the IANA time zone database, which may not exist.
    Named(String),
}

impl Zone {
    /// Longer than every name in the database.
    const MAX_NAME_LENGTH: usize = 64;

    /// Parses an offset such as `+03:00`, `-5` or `UTC`, or a name such as `Europe/Lisbon`.
    ///
    /// # Errors
    /// [`Invalid`] naming `zone`.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let text = text.trim();
        // A minus sign as typographers write it.
        let offset = text.replace('\u{2212}', "-");
        let offset = ["UTC", "GMT"].iter().find_map(|utc| offset.strip_prefix(utc)).unwrap_or(&offset);
        if offset.is_empty() && !text.is_empty() || offset == "Z" {
            return Ok(Self::Offset(UtcOffset::UTC));
        }
        if offset.starts_with(['+', '-']) {
            return parse_offset(offset).map(Self::Offset).ok_or_else(|| {
                Invalid::new("zone", "must be an offset between -23:59 and +23:59, such as +03:00")
            });
        }
        let is_name = !text.is_empty()
            && text.len() <= Self::MAX_NAME_LENGTH
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_+-/".contains(&byte));
        if is_name {
            return Ok(Self::Named(text.to_owned()));
        }
        Err(Invalid::new("zone", "must be an offset such as +03:00 or a name such as Europe/Lisbon"))
    }
}

/// Parses `+3`, `+03`, `+0300` or `+03:00`.
fn parse_offset(text: &str) -> Option<UtcOffset> {
    let (sign, rest) = text.split_at_checked(1)?;
    let (hours, minutes) = match rest.split_once(':') {
        Some((hours, minutes)) if minutes.len() == 2 => (hours, minutes),
        Some(_) => return None,
        None if rest.len() == 4 => rest.split_at_checked(2)?,
        None => (rest, "0"),
    };
    let number = |digits: &str, max: i32| {
        let is_number = (1..=2).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
        digits.parse::<i32>().ok().filter(|number| is_number && *number <= max)
    };
    let minutes = number(hours, 23)? * 60 + number(minutes, 59)?;
    UtcOffset::from_minutes(if sign == "-" { -minutes } else { minutes })
}

/// Parses a latitude and a longitude as a person types them. Both empty means no position.
///
/// # Errors
/// [`Invalid`] naming `latitude` or `longitude`.
pub fn parse_position(latitude: &str, longitude: &str) -> Result<Option<Position>, Invalid> {
    match (latitude.trim(), longitude.trim()) {
        ("", "") => Ok(None),
        ("", _) => Err(Invalid::new("latitude", "must be filled in with the longitude")),
        (_, "") => Err(Invalid::new("longitude", "must be filled in with the latitude")),
        (latitude, longitude) => {
            let latitude = parse_decimal("latitude", latitude)?;
            Position::new(latitude, parse_decimal("longitude", longitude)?).map(Some)
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;
    use crate::CaptureSource;

    fn taken(at: &str, wall: Option<&str>, offset_minutes: Option<i32>) -> CaptureTime {
        CaptureTime {
            at: Timestamp::parse_iso(at).unwrap(),
            wall: wall.map(|wall| wall.parse().unwrap()),
            offset_minutes,
            source: CaptureSource::ExifOriginal,
        }
    }

    /// Only Lisbon is known, with an hour more than UTC.
    fn offset_of(zone: &Zone, _wall: civil::DateTime) -> Option<i32> {
        match zone {
            Zone::Offset(offset) => Some(offset.minutes()),
            Zone::Named(name) => (name == "Europe/Lisbon").then_some(60),
        }
    }

    fn zone(text: &str) -> Zone {
        Zone::parse(text).unwrap()
    }

    #[test]
    fn each_action_corrects_the_time() {
        let check = |edit: TimeEdit, capture, expect: Option<CaptureTime>| {
            let of_file = taken("2024-07-14T12:00:00Z", Some("2024-07-14T14:00:00"), Some(120));
            assert_eq!(edit.applied(capture, of_file, offset_of), expect, "{edit:?} of {capture:?}");
        };
        let known = taken("2024-07-14T13:00:00Z", Some("2024-07-14T15:00:00"), Some(120));
        let unknown = taken("2024-07-14T15:00:00Z", Some("2024-07-14T15:00:00"), None);
        let moment = taken("2024-07-14T13:00:00.250Z", None, Some(120));
        let wall = date(2020, 1, 2).at(3, 4, 0, 0);
        let set = |zone| TimeEdit::Set { wall, zone };
        check(set(None), known, Some(taken("2020-01-02T01:04Z", Some("2020-01-02T03:04:00"), Some(120))));
        check(set(None), unknown, Some(taken("2020-01-02T03:04Z", Some("2020-01-02T03:04:00"), None)));
        let in_lisbon = taken("2020-01-02T02:04Z", Some("2020-01-02T03:04:00"), Some(60));
        check(set(Some(zone("Europe/Lisbon"))), unknown, Some(in_lisbon));
        check(set(Some(zone("Europe/Nowhere"))), unknown, None);

        let shift = |is_earlier, days, hours| {
            TimeEdit::Shift(
                TimeShift::parse(is_earlier, ShiftNumbers { days, hours, ..ShiftNumbers::default() })
                    .unwrap(),
            )
        };
        check(
            shift(true, "1", "2"),
            known,
            Some(taken("2024-07-13T11:00Z", Some("2024-07-13T13:00:00"), Some(120))),
        );
        check(shift(false, "", "1"), moment, Some(taken("2024-07-14T14:00:00.250Z", None, Some(120))));
        check(shift(false, "3660000", ""), known, None);

        let zoned = TimeEdit::Zone(zone("-05:00"));
        let moved = taken("2024-07-14T20:00Z", Some("2024-07-14T15:00:00"), Some(-300));
        check(zoned.clone(), known, Some(moved));
        check(zoned.clone(), unknown, Some(moved));
        check(
            zoned,
            moment,
            Some(taken("2024-07-14T20:00:00.250Z", Some("2024-07-14T15:00:00.25"), Some(-300))),
        );

        let file = taken("2024-07-14T12:00:00Z", Some("2024-07-14T14:00:00"), Some(120));
        let noon = Timestamp::parse_iso("2024-07-14T12:00:00Z").unwrap();
        let moment = |at, offset| TimeEdit::Moment { at, offset };
        let in_tokyo = UtcOffset::from_minutes(540).unwrap();
        check(
            moment(Correction::Keep, Correction::Set(in_tokyo)),
            known,
            Some(taken("2024-07-14T13:00Z", Some("2024-07-14T22:00:00"), Some(540))),
        );
        check(
            moment(Correction::Set(noon), Correction::Clear),
            known,
            Some(taken("2024-07-14T12:00Z", Some("2024-07-14T12:00:00"), None)),
        );
        check(moment(Correction::Set(noon), Correction::Keep), known, Some(file));
        check(moment(Correction::Revert, Correction::Revert), unknown, Some(file));
        check(TimeEdit::Revert, unknown, Some(file));
    }

    #[test]
    fn marks_are_set_changed_and_reverted() {
        let keywords = |list: &[&str]| Keywords::parse(list.iter().copied()).unwrap();
        let of_file = Marks { rating: Rating::new(3).ok(), keywords: keywords(&["Sea"]), ..Marks::default() };
        let edit = MarksEdit {
            favorite: Correction::Set(true),
            rating: Correction::Clear,
            keywords: KeywordsEdit::Change { add: keywords(&["Boat"]), remove: keywords(&["sea"]) },
            archived: Correction::Keep,
        };
        let marks = edit.applied(&of_file, &of_file);
        assert_eq!(marks, Marks { favorite: true, keywords: keywords(&["Boat"]), ..Marks::default() });
        assert_eq!(PhotoEdit::reverting(&EditedField::ALL).marks.applied(&marks, &of_file), of_file);
        assert_eq!(PhotoEdit::reverting(&EditedField::ALL).fields(), EditedField::ALL);
        assert_eq!(PhotoEdit::default().fields(), []);
    }

    #[test]
    fn zones_are_parsed() {
        let check = |text: &str, minutes: Option<i32>| {
            let parsed = Zone::parse(text).ok().and_then(|zone| match zone {
                Zone::Offset(offset) => Some(offset.minutes()),
                Zone::Named(_) => None,
            });
            assert_eq!(parsed, minutes, "{text}");
        };
        for (text, minutes) in [
            ("+03:00", 180),
            ("-3", -180),
            ("+0530", 330),
            (" UTC+5:45 ", 345),
            ("GMT\u{2212}4", -240),
            ("UTC", 0),
            ("Z", 0),
            ("+23:59", 1439),
        ] {
            check(text, Some(minutes));
        }
        for bad in ["+24:00", "+3:5", "+03:60", "+", "--3", "+1234567", "+0a"] {
            assert_eq!(Zone::parse(bad).unwrap_err().field, "zone", "{bad}");
        }
        assert_eq!(zone("Europe/Lisbon"), Zone::Named("Europe/Lisbon".into()));
        for bad in ["", " ", "Europe Lisbon", "Zürich", &"x".repeat(65)] {
            assert!(Zone::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_bad_value_names_its_field() {
        let shift =
            |numbers| TimeShift::parse(false, numbers).map(TimeShift::seconds).map_err(|bad| bad.field);
        let numbers = ShiftNumbers::default();
        assert_eq!(shift(numbers), Err("days"));
        assert_eq!(shift(ShiftNumbers { days: "0", ..numbers }), Err("days"));
        assert_eq!(shift(ShiftNumbers { days: "x", ..numbers }), Err("days"));
        assert_eq!(shift(ShiftNumbers { hours: "-1", ..numbers }), Err("hours"));
        assert_eq!(shift(ShiftNumbers { minutes: "+1", ..numbers }), Err("minutes"));
        assert_eq!(shift(ShiftNumbers { seconds: "1.5", ..numbers }), Err("seconds"));
        assert_eq!(
            shift(ShiftNumbers { days: "1", hours: "2", minutes: " 30 ", seconds: "5" }),
            Ok(86_400 + 7200 + 1800 + 5)
        );
        assert_eq!(parse_wall_time("2024-07-14T15:04").unwrap(), date(2024, 7, 14).at(15, 4, 0, 0));
        assert_eq!(parse_wall_time("2024-07-14 15:04:30").unwrap(), date(2024, 7, 14).at(15, 4, 30, 0));
        for bad in [
            "",
            "2024-07-14",
            "2024-02-30T10:00",
            "2024-07-14T15:04Z",
            "2024-07-14T25:00",
            "0000-01-01T00:00",
        ] {
            assert_eq!(parse_wall_time(bad).unwrap_err().field, "time", "{bad}");
        }
        let position = |latitude, longitude| parse_position(latitude, longitude).map_err(|bad| bad.field);
        assert_eq!(position("", " "), Ok(None));
        assert_eq!(position("38.7", "-9.1"), Ok(Some(Position::new(38.7, -9.1).unwrap())));
        assert_eq!(position("38.7", ""), Err("longitude"));
        assert_eq!(position("", "1"), Err("latitude"));
        assert_eq!(position("91", "1"), Err("latitude"));
        assert_eq!(position("1", "east"), Err("longitude"));
    }

    #[test]
    fn descriptions_are_cleaned() {
        assert_eq!(Correction::description(" a\r\nb\0 "), Correction::Set("a\nb".to_owned()));
        assert_eq!(Correction::description(" \r\n"), Correction::Clear);
    }
}
