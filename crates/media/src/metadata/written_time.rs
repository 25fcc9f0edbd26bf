//! Times as XMP and IPTC write them, each with the offset that stands beside it.

use domain::Timestamp;
use jiff::civil::DateTime;

use super::exif_time::{parse_offset, parse_wall};

/// A time as some text has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WrittenTime {
    /// What the clock showed; midnight when the text says only the day.
    pub(super) wall: DateTime,
    /// Minutes east of UTC of that clock, when the text says so.
    pub(super) offset_minutes: Option<i32>,
    /// Whether the text says more than the day.
    pub(super) has_time: bool,
}

impl WrittenTime {
    /// The moment, in UTC when there is no offset. `None` when the text says only the day.
    pub(super) fn moment(self) -> Option<Timestamp> {
        Timestamp::from_wall(self.wall, self.offset_minutes.unwrap_or(0)).filter(|_| self.has_time)
    }
}

/// Reads an XMP date (XMP specification, part 1, section 8.2.1.1): `YYYY-MM-DD`, then `Thh:mm`, `:ss`, a fraction
/// and `Z` or `±hh:mm`, each if it is there. Colons or slashes between the parts of the day and a blank before the
/// time are understood as well.
///
/// `None` for `YYYY` and `YYYY-MM`, which the standard knows too: they name no day, and a photo that is filed under
/// the first of January would be filed wrongly.
pub(super) fn parse_xmp_date(text: &str) -> Option<WrittenTime> {
    let text = text.trim();
    let (day, rest) = text.split_at_checked(10)?;
    let Some(rest) = rest.strip_prefix(['T', 't', ' ']) else {
        // A zone behind a day says nothing, and whatever else stands there does not make it another day.
        let ends_there = !rest.starts_with(|c: char| c.is_ascii_digit());
        let wall = parse_wall(day, None).filter(|_| ends_there && !day.contains(['T', ' ']))?;
        return Some(WrittenTime { wall, offset_minutes: None, has_time: false });
    };
    let end = rest.find(|c: char| !c.is_ascii_digit() && !matches!(c, ':' | '.')).unwrap_or(rest.len());
    let (time, zone) = rest.split_at_checked(end)?;
    let (clock, fraction) =
        time.split_once('.').map_or((time, None), |(clock, digits)| (clock, Some(digits)));
    let wall = parse_wall(&format!("{day} {clock}"), fraction)?;
    let zone = if zone.trim_start().starts_with('z') { "Z" } else { zone };
    Some(WrittenTime { wall, offset_minutes: parse_offset(zone), has_time: !clock.is_empty() })
}

/// Reads an IPTC date `CCYYMMDD` with its time `HHMMSS±HHMM` (IPTC-IIM 4.2, datasets 2:55 and 2:60). Separators
/// between the parts and a time without an offset are understood as well.
pub(super) fn parse_iptc(date: &str, time: Option<&str>) -> Option<WrittenTime> {
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
        Some(wall) => Some(WrittenTime { wall, offset_minutes: parse_offset(zone), has_time: true }),
        None => Some(WrittenTime { wall: at("")?, offset_minutes: None, has_time: false }),
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

    fn shown(time: Option<WrittenTime>) -> Option<(String, Option<i32>, bool)> {
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
    fn xmp_dates_that_are_none() {
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
