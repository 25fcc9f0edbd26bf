//! Parses times in the formats of XMP and IPTC.

use domain::Timestamp;
use jiff::civil::DateTime;

use super::exif_time::{parse_offset, parse_wall};

/// A time parsed from text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ParsedTime {
    /// Date and time on the clock; midnight if the text has only a date.
    pub(super) wall: DateTime,
    /// Offset from UTC in minutes, if the text has one.
    pub(super) offset_minutes: Option<i32>,
    /// Whether the text has a time besides the date.
    pub(super) has_time: bool,
}

impl ParsedTime {
    /// The moment, read as UTC if there is no offset. `None` if there is only a date.
    pub(super) fn moment(self) -> Option<Timestamp> {
        Timestamp::from_wall(self.wall, self.offset_minutes.unwrap_or(0)).filter(|_| self.has_time)
    }
}

/// Parses an XMP date (XMP specification, part 1, section 8.2.1.1): `YYYY-MM-DD`, then `Thh:mm`, `:ss`, a fraction
/// and `Z` or `±hh:mm`, each optional. Colons or slashes in the date and a space before the time are
/// accepted as well.
///
/// `None` for `YYYY` and `YYYY-MM`, which the standard allows as well: without a day, the photo would be sorted under a
/// wrong date.
pub(super) fn parse_xmp_date(text: &str) -> Option<ParsedTime> {
    let text = text.trim();
    let (day, rest) = text.split_at_checked(10)?;
    let Some(rest) = rest.strip_prefix(['T', 't', ' ']) else {
        // A zone after a date is ignored, and so is any text that does not start with a digit.
        let ends_there = !rest.starts_with(|c: char| c.is_ascii_digit());
        let wall = parse_wall(day, None).filter(|_| ends_there && !day.contains(['T', ' ']))?;
        return Some(ParsedTime { wall, offset_minutes: None, has_time: false });
    };
    let end = rest.find(|c: char| !c.is_ascii_digit() && !matches!(c, ':' | '.')).unwrap_or(rest.len());
    let (time, zone) = rest.split_at_checked(end)?;
    let (clock, fraction) =
        time.split_once('.').map_or((time, None), |(clock, digits)| (clock, Some(digits)));
    let wall = parse_wall(&format!("{day} {clock}"), fraction)?;
    let zone = if zone.trim_start().starts_with('z') { "Z" } else { zone };
    Some(ParsedTime { wall, offset_minutes: parse_offset(zone), has_time: !clock.is_empty() })
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
    let at = |clock: &str| parse_wall(&format!("{day} {clock}"), None);
    match clock.as_deref().and_then(at) {
        Some(wall) => Some(ParsedTime { wall, offset_minutes: parse_offset(zone), has_time: true }),
        None => Some(ParsedTime { wall: at("")?, offset_minutes: None, has_time: false }),
    }
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
        time.map(|time| (time.wall.to_string(), time.offset_minutes, time.has_time))
    }

    #[test]
    fn xmp_dates() {
        let check = |text: &str, wall: &str, offset: Option<i32>, has_time: bool| {
            assert_eq!(shown(parse_xmp_date(text)), Some((wall.into(), offset, has_time)), "{text:?}");
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
    fn invalid_xmp_dates() {
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
            assert_eq!(parse_xmp_date(missing), None, "{missing:?}");
        }
    }

    #[test]
    fn iptc_times() {
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
        fn nothing_panics(text in "[0-9T:.Z+-]{0,32}|.*", time in "[0-9:Z+-]{0,12}|.*") {
            let _ = parse_xmp_date(&text);
            let _ = parse_iptc(&text, Some(&time));
        }
    }
}
