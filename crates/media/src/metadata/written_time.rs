//! Parses times in the formats of EXIF, XMP and IPTC, with the variations that cameras and programs write.

use domain::Timestamp;
use jiff::civil::{Date, DateTime, Time};

/// The largest offset of a time zone.
pub(super) const MAX_OFFSET_MINUTES: i32 = 14 * 60;

/// How exactly a time is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Precision {
    Day,
    Minute,
    Second,
    Millisecond,
}

impl Precision {
    /// The length of a day, a minute, a second or a millisecond, in milliseconds.
    pub(super) fn unit_ms(self) -> i64 {
        match self {
            Self::Day => 86_400_000,
            Self::Minute => 60_000,
            Self::Second => 1000,
            Self::Millisecond => 1,
        }
    }
}

/// A time parsed from text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ParsedTime {
    /// Date and time on the clock; midnight if the text has only a date.
    pub(crate) wall: DateTime,
    /// Offset from UTC in minutes, if the text has one.
    pub(crate) offset_minutes: Option<i32>,
    /// The smallest unit that the text has.
    pub(super) precision: Precision,
}

impl ParsedTime {
    /// The moment, read as UTC if there is no offset. `None` if there is only a date.
    pub(crate) fn moment(self) -> Option<Timestamp> {
        Timestamp::from_wall(self.wall, self.offset_minutes.unwrap_or(0))
            .filter(|_| self.precision > Precision::Day)
    }
}

/// Parses a time of EXIF (EXIF 2.32, tag 0x9003: `YYYY:MM:DD HH:MM:SS`) or XMP (XMP specification, part 1, section
/// 8.2.1.1: `YYYY-MM-DD`, then `Thh:mm`, `:ss`, a fraction and `Z` or `±hh:mm`, each optional). Both accept the forms of the
/// other, other separators, spaces for leading zeros, and a blank time. `fraction` is a fraction of a second that is
/// stored separately.
///
/// `None` for a date or time that does not exist, and for `YYYY` and `YYYY-MM`, which XMP allows: without a day, the
/// photo would be sorted under a wrong date.
pub(crate) fn parse_time(text: &str, fraction: Option<&str>) -> Option<ParsedTime> {
    let (numbers, rest) = numbers(text)?;
    let (date, time) = numbers.split_at_checked(3)?;
    let date = date_of(date)?;
    let (own_fraction, zone) = split_fraction(rest);
    let millis = own_fraction.or(fraction).and_then(millis_of_fraction);
    let (time, precision) = match (time, millis) {
        ([], _) => (Time::midnight(), Precision::Day),
        ([hour, minute], _) => (time_of_day(*hour, *minute, 0, 0)?, Precision::Minute),
        ([hour, minute, second], None) => (time_of_day(*hour, *minute, *second, 0)?, Precision::Second),
        ([hour, minute, second], Some(millis)) => {
            (time_of_day(*hour, *minute, *second, millis)?, Precision::Millisecond)
        }
        _ => return None,
    };
    let offset_minutes = parse_offset(zone).filter(|_| precision > Precision::Day);
    Some(ParsedTime { wall: date.to_datetime(time), offset_minutes, precision })
}

/// Parses `YYYY:MM:DD`.
pub(super) fn parse_date(text: &str) -> Option<Date> {
    date_of(numbers(text)?.0.get(..3)?)
}

fn date_of(numbers: &[i16]) -> Option<Date> {
    let [year, month, day] = numbers else { return None };
    Date::new(*year, i8::try_from(*month).ok()?, i8::try_from(*day).ok()?).ok()
}

fn time_of_day(hour: i16, minute: i16, second: i16, millis: i32) -> Option<Time> {
    let part = |number: i16| i8::try_from(number).ok();
    Time::new(part(hour)?, part(minute)?, existing_second(part(second)?), millis * 1_000_000).ok()
}

/// Replaces a leap second, which this calendar does not have, by the second before it.
pub(super) fn existing_second(second: i8) -> i8 {
    if second == 60 { 59 } else { second }
}

/// Reads at most six numbers: the first with four digits, the others with one or two. Also returns the text after them.
fn numbers(text: &str) -> Option<(Vec<i16>, &str)> {
    let mut numbers = Vec::with_capacity(6);
    let (mut rest, mut last_separator) = (text, "");
    while numbers.len() < 6 {
        let run = rest.trim_start_matches([' ', ':', '-', '/', '.', 'T', 't', '\n']);
        let separator = rest.get(..rest.len() - run.len()).unwrap_or_default();
        let is_offset = match numbers.len() {
            3 => separator == "-",
            5 => separator.contains('-') && !last_separator.contains('-'),
            _ => false,
        };
        let digits = run.find(|c: char| !c.is_ascii_digit()).unwrap_or(run.len());
        if digits == 0 || is_offset {
            break;
        }
        let (digits, tail) = run.split_at_checked(digits)?;
        let fits = if numbers.is_empty() { digits.len() == 4 } else { digits.len() <= 2 };
        numbers.push(digits.parse().ok().filter(|_| fits)?);
        (rest, last_separator) = (tail, separator);
    }
    Some((numbers, rest))
}

/// Splits the digits after a decimal point off the text after a time.
fn split_fraction(rest: &str) -> (Option<&str>, &str) {
    let Some(digits) = rest.strip_prefix(['.', ',', ':']) else { return (None, rest) };
    match digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len()) {
        0 => (None, rest),
        end => digits.split_at_checked(end).map_or((None, rest), |(digits, zone)| (Some(digits), zone)),
    }
}

/// Milliseconds from the digits after a decimal point, up to the first other character; `None` without a digit.
pub(super) fn millis_of_fraction(digits: &str) -> Option<i32> {
    let mut digits = digits.trim().chars().map_while(|c| c.to_digit(10)).peekable();
    digits.peek()?;
    Some((0..3).fold(0, |millis, _| {
        let digit = digits.next().and_then(|digit| i32::try_from(digit).ok()).unwrap_or(0);
        millis * 10 + digit
    }))
}

/// Parses `+HH:MM`, `-HH:MM`, `+HHMM`, `+HH` or `Z` into an offset from UTC in minutes.
pub(super) fn parse_offset(text: &str) -> Option<i32> {
    let text = text.trim_matches([' ', '\0', '\n']);
    if text.eq_ignore_ascii_case("Z") {
        return Some(0);
    }
    let (sign, digits) = match text.split_at_checked(1)? {
        ("+", digits) => (1, digits),
        ("-", digits) => (-1, digits),
        _ => return None,
    };
    let (hours, minutes) = match digits.split_once(':') {
        Some(parts) => parts,
        None => digits.split_at_checked(2).map(|(hours, minutes)| match minutes {
            "" => (hours, "00"),
            minutes => (hours, minutes),
        })?,
    };
    let number = |digits: &str| -> Option<i32> {
        let is_number = matches!(digits.len(), 1 | 2) && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| digits.parse().ok())?
    };
    let past_hour = number(minutes).filter(|number| minutes.len() == 2 && *number < 60)?;
    let minutes = number(hours)? * 60 + past_hour;
    (minutes <= MAX_OFFSET_MINUTES).then_some(sign * minutes)
}

/// Parses an IPTC date `CCYYMMDD` with its time `HHMMSS±HHMM` (IPTC-IIM 4.2, datasets 2:55 and 2:60). Separators
/// and a time without an offset are accepted as well.
pub(super) fn parse_iptc(date: &str, time: Option<&str>) -> Option<ParsedTime> {
    let digits = |text: &str| -> String { text.chars().filter(|c| !"-:/ ".contains(*c)).collect() };
    let day = digits(date.trim_matches(['\0', ' ']));
    let [year, month, day] = [day.get(..4)?, day.get(4..6)?, day.get(6..)?];
    let (clock, zone) = time.map_or(("", ""), split_iptc_zone);
    let clock = digits(clock);
    let clock = match (clock.get(..2), clock.get(2..4), clock.get(4..)) {
        (Some(hour), Some(minute), Some("")) => Some(format!("{hour}:{minute}")),
        (Some(hour), Some(minute), Some(second)) => Some(format!("{hour}:{minute}:{second}")),
        _ => None,
    };
    let day = format!("{year}-{month}-{day}");
    let at = |clock: &str| parse_time(&format!("{day} {clock}{zone}"), None);
    clock.as_deref().and_then(at).or_else(|| parse_time(&day, None))
}

fn split_iptc_zone(time: &str) -> (&str, &str) {
    let time = time.trim_matches(['\0', ' ']);
    time.split_at_checked(time.find(['+', '-', 'Z']).unwrap_or(time.len())).unwrap_or((time, ""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(time: Option<ParsedTime>) -> Option<(String, Option<i32>, bool)> {
        time.map(|time| (time.wall.to_string(), time.offset_minutes, time.precision > Precision::Day))
    }

    #[test]
    fn exif_times_are_parsed() {
        let check = |text: &str, sub_sec: Option<&str>, expect: Option<&str>| {
            let read = parse_time(text, sub_sec).map(|time| time.wall.to_string());
            assert_eq!(read.as_deref(), expect, "{text:?} {sub_sec:?}");
        };
        check("2019:07:04 18:03:22", None, Some("2019-07-04T18:03:22"));
        check("2019:07:04 18:03:22", Some("5"), Some("2019-07-04T18:03:22.5"));
        check("2019:07:04 18:03:22", Some("0456  "), Some("2019-07-04T18:03:22.045"));
        check("2019:07:04 18:03:22", Some("x"), Some("2019-07-04T18:03:22"));
        check("2019-07-04T18:03:22Z", None, Some("2019-07-04T18:03:22"));
        check("2019/07/04 18:03:22", None, Some("2019-07-04T18:03:22"));
        check("2019:07:04 18:03:22+02:00", None, Some("2019-07-04T18:03:22"));
        check("2003: 1: 4  9:05: 3", None, Some("2003-01-04T09:05:03"));
        check("2019:07:04 18:03", None, Some("2019-07-04T18:03:00"));
        check("2016:12:31 23:59:60", None, Some("2016-12-31T23:59:59"));
        check("2016:12:31 23:59:60", Some("25"), Some("2016-12-31T23:59:59.25"));
        check("2019:07:04", None, Some("2019-07-04T00:00:00"));
        check("2019:07:04   :  :  ", None, Some("2019-07-04T00:00:00"));
        for missing in [
            "",
            "    :  :     :  :  ",
            "0000:00:00 00:00:00",
            "2019:02:29 10:00:00",
            "2019:13:01 10:00:00",
            "2019:07:04 24:00:00",
            "2019:07:04 10:60:00",
            "2019:07:04 10:00:61",
            "2019:07:04 10",
            "04:07:2019 10:00:00",
            "20190704 101112",
            "yesterday",
            "2019:07",
            "２０１９:07:04 18:03:22",
        ] {
            check(missing, None, None);
        }
    }

    #[test]
    fn offsets_are_parsed() {
        let check = |text: &str, expect| assert_eq!(parse_offset(text), expect, "{text:?}");
        check("+02:00", Some(120));
        check("-03:30", Some(-210));
        check("+0545", Some(345));
        check("Z", Some(0));
        check("+00:00 ", Some(0));
        check("+14:00", Some(840));
        for missing in
            ["", "   :  ", "02:00", "+15:00", "+02:60", "+x", "+", "+123", "+002:00", "+é:00", "++2:00"]
        {
            check(missing, None);
        }
    }

    #[test]
    fn offsets_and_fractions_inside_a_time_are_parsed() {
        let check = |text: &str, sub_sec: Option<&str>, wall: &str, offset, precision| {
            let time = parse_time(text, sub_sec).unwrap();
            assert_eq!(time.wall.to_string(), wall, "{text:?}");
            assert_eq!((time.offset_minutes, time.precision), (offset, precision), "{text:?}");
        };
        use Precision::{Day, Millisecond, Minute, Second};
        check("2019:07:05 18:03:22+02:00", None, "2019-07-05T18:03:22", Some(120), Second);
        check("2019:07:05 18:03:22 -0330", None, "2019-07-05T18:03:22", Some(-210), Second);
        check("2019:07:05 18:03:22Z", None, "2019-07-05T18:03:22", Some(0), Second);
        check("2019:07:05 18:03:22.27+05:45", Some("9"), "2019-07-05T18:03:22.27", Some(345), Millisecond);
        check("2019:07:05 18:03:22-07", Some("5"), "2019-07-05T18:03:22.5", Some(-420), Millisecond);
        check("2019:07:05 18:03:22", Some("000"), "2019-07-05T18:03:22", None, Millisecond);
        check("2019:07:05 18:03:22", Some("   "), "2019-07-05T18:03:22", None, Second);
        check("2019:07:05 18:03-07:00", None, "2019-07-05T18:03:00", Some(-420), Minute);
        check("2019-07-05-07:00", None, "2019-07-05T00:00:00", None, Day);
        check("2019:07:05   :  :  ", Some("12"), "2019-07-05T00:00:00", None, Day);
        check("2019:07:05 00:00:00", None, "2019-07-05T00:00:00", None, Second);
    }

    #[test]
    fn xmp_dates_are_parsed() {
        let check = |text: &str, wall: &str, offset: Option<i32>, has_time: bool| {
            assert_eq!(shown(parse_time(text, None)), Some((wall.into(), offset, has_time)), "{text:?}");
        };
        check("2019-07-04", "2019-07-04T00:00:00", None, false);
        check("2019-07-04Z", "2019-07-04T00:00:00", None, false);
        check("2019-07-04+02:00", "2019-07-04T00:00:00", None, false);
        check("2019-07-04T18:03", "2019-07-04T18:03:00", None, true);
        check("2019-07-04T18:03Z", "2019-07-04T18:03:00", Some(0), true);
        check("2019-07-04T18:03-07:00", "2019-07-04T18:03:00", Some(-420), true);
        check("2019-07-04T18:03:22", "2019-07-04T18:03:22", None, true);
        check("2019-07-04T18:03:22z", "2019-07-04T18:03:22", Some(0), true);
        check("2019-07-04T18:03:22+02:00", "2019-07-04T18:03:22", Some(120), true);
        check("2019-07-04T18:03:22-0930", "2019-07-04T18:03:22", Some(-570), true);
        check("2019-07-04T18:03:22.0+1:00", "2019-07-04T18:03:22", Some(60), true);
        check("2019-07-04T18:03:22.69", "2019-07-04T18:03:22.69", None, true);
        check("2019-07-04T18:03:22.173129472-05:00", "2019-07-04T18:03:22.173", Some(-300), true);
        check("2019-07-04T18:03:22+25:00", "2019-07-04T18:03:22", None, true);
        check("2009-09-09T17:00:00, 2009-09-09", "2009-09-09T17:00:00", None, true);
        check("2019:07:04 18:03:22", "2019-07-04T18:03:22", None, true);
        check("2019/07/04 18:03:22+02:00", "2019-07-04T18:03:22", Some(120), true);
        check(" 2019-07-04T18:03:22 \n", "2019-07-04T18:03:22", None, true);
        check("2019-07-04T", "2019-07-04T00:00:00", None, false);
    }

    #[test]
    fn invalid_xmp_dates_are_refused() {
        for missing in [
            "",
            "2019",
            "2019-07",
            "2019-07-",
            "2019-07-00",
            "2019-02-30",
            "2019-13-01T10:00",
            "2019-07-04T24:00:00",
            "2019-07-04T10:60",
            "2019-07-04T10",
            "2019-07-041",
            "20190704T101112",
            "0000-00-00T00:00:00",
            "Thursday at 10",
            "２０１９-07-04",
        ] {
            assert_eq!(parse_time(missing, None), None, "{missing:?}");
        }
    }

    #[test]
    fn iptc_times_are_parsed() {
        let check = |date: &str, time: Option<&str>, wall: &str, offset: Option<i32>, has_time: bool| {
            assert_eq!(
                shown(parse_iptc(date, time)),
                Some((wall.into(), offset, has_time)),
                "{date} {time:?}"
            );
        };
        check("20190704", Some("180322+0200"), "2019-07-04T18:03:22", Some(120), true);
        check("20190704", Some("180322-0930"), "2019-07-04T18:03:22", Some(-570), true);
        check("20190704", Some("180322+0000"), "2019-07-04T18:03:22", Some(0), true);
        check("20190704", Some("180322"), "2019-07-04T18:03:22", None, true);
        check("20190704", Some("1803"), "2019-07-04T18:03:00", None, true);
        check("20190704", Some("18:03:22+02:00"), "2019-07-04T18:03:22", Some(120), true);
        check("2019-07-04", Some("180322Z"), "2019-07-04T18:03:22", Some(0), true);
        check("2019:07:04\0", Some("180322+0200\0"), "2019-07-04T18:03:22", Some(120), true);
        check("20190704", Some("18"), "2019-07-04T00:00:00", None, false);
        check("20190704", Some("250000+0000"), "2019-07-04T00:00:00", None, false);
        check("20190704", Some("      "), "2019-07-04T00:00:00", None, false);
        check("20190704", None, "2019-07-04T00:00:00", None, false);
        for missing in
            ["", "2019", "20190000", "00000000", "20190230", "201907041", "2019070", "yyyymmdd", "é0190704"]
        {
            assert_eq!(parse_iptc(missing, Some("180322+0200")), None, "{missing:?}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_times_never_panic(text in "[0-9T:.Z+-]{0,32}|.*", time in "[0-9:Z+-]{0,12}|.*") {
            let _ = parse_time(&text, Some(&time));
            let _ = parse_offset(&text);
            let _ = parse_date(&text);
            let _ = parse_iptc(&text, Some(&time));
        }
    }
}
