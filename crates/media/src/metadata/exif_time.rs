//! Parses times in the format of EXIF, with the variations that cameras write.

use jiff::civil::{Date, DateTime, Time};

/// The largest offset of a time zone.
pub(super) const MAX_OFFSET_MINUTES: i32 = 14 * 60;

/// Parses `YYYY:MM:DD HH:MM:SS` (EXIF 2.32, tag 0x9003) and the variations that cameras write: other separators, spaces
/// for leading zeros, no seconds, a blank or missing time (midnight). `sub_sec` is the fraction of a second. `None` if it
/// is blank, or if the date or time does not exist.
pub(super) fn parse_wall(text: &str, sub_sec: Option<&str>) -> Option<DateTime> {
    let numbers = numbers(text)?;
    let (date, time) = numbers.split_at_checked(3)?;
    let time = match time {
        [] => Time::midnight(),
        [hour, minute] => time_of_day(*hour, *minute, 0, 0)?,
        [hour, minute, second, ..] => {
            time_of_day(*hour, *minute, *second, sub_sec.map_or(0, millis_of_fraction))?
        }
        [_] => return None,
    };
    Some(parse_numbers_as_date(date)?.to_datetime(time))
}

/// Parses `YYYY:MM:DD`.
pub(super) fn parse_date(text: &str) -> Option<Date> {
    parse_numbers_as_date(&numbers(text)?)
}

fn parse_numbers_as_date(numbers: &[i16]) -> Option<Date> {
    let [year, month, day, ..] = numbers else { return None };
    Date::new(*year, i8::try_from(*month).ok()?, i8::try_from(*day).ok()?).ok()
}

fn time_of_day(hour: i16, minute: i16, second: i16, millis: i32) -> Option<Time> {
    let part = |number: i16| i8::try_from(number).ok();
    Time::new(part(hour)?, part(minute)?, part(second)?, millis * 1_000_000).ok()
}

/// The numbers of a date and time: four digits, then one or two each. Stops at the first character that is neither a
/// digit nor a separator.
fn numbers(text: &str) -> Option<Vec<i16>> {
    let end = text.find(|c: char| !c.is_ascii_digit() && !" :-/.T".contains(c)).unwrap_or(text.len());
    let runs = text.get(..end)?.split(|c: char| !c.is_ascii_digit()).filter(|run| !run.is_empty());
    let mut numbers = Vec::with_capacity(6);
    for (place, run) in runs.take(6).enumerate() {
        let fits = if place == 0 { run.len() == 4 } else { run.len() <= 2 };
        numbers.push(run.parse().ok().filter(|_| fits)?);
    }
    Some(numbers)
}

/// Milliseconds from the digits after a decimal point, up to the first other character.
pub(super) fn millis_of_fraction(digits: &str) -> i32 {
    let mut digits = digits.trim().chars().map_while(|c| c.to_digit(10));
    (0..3).fold(0, |millis, _| {
        let digit = digits.next().and_then(|digit| i32::try_from(digit).ok()).unwrap_or(0);
        millis * 10 + digit
    })
}

/// Parses `+HH:MM`, `-HH:MM`, `+HHMM` or `Z` into an offset from UTC in minutes.
pub(super) fn parse_offset(text: &str) -> Option<i32> {
    let text = text.trim();
    if text == "Z" {
        return Some(0);
    }
    let (sign, digits) = match text.split_at_checked(1)? {
        ("+", digits) => (1, digits),
        ("-", digits) => (-1, digits),
        _ => return None,
    };
    let (hours, minutes) = match digits.split_once(':') {
        Some(parts) => parts,
        None => digits.split_at_checked(2)?,
    };
    let number = |digits: &str| -> Option<i32> {
        let is_number = matches!(digits.len(), 1 | 2) && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| digits.parse().ok())?
    };
    let past_hour = number(minutes).filter(|number| minutes.len() == 2 && *number < 60)?;
    let minutes = number(hours)? * 60 + past_hour;
    (minutes <= MAX_OFFSET_MINUTES).then_some(sign * minutes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn local_times() {
        let check = |text: &str, sub_sec: Option<&str>, expect: Option<&str>| {
            let read = parse_wall(text, sub_sec).map(|wall| wall.to_string());
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
            "2019:07:04 10",
            "04:07:2019 10:00:00",
            "20190704 101112",
            "yesterday",
            "２０１９:07:04 18:03:22",
        ] {
            check(missing, None, None);
        }
    }

    #[test]
    fn offsets() {
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

    proptest! {
        #[test]
        fn nothing_panics(text in "[0-9: +-]{0,25}|.*", sub_sec in ".*") {
            let _ = parse_wall(&text, Some(&sub_sec));
            let _ = parse_offset(&text);
            let _ = parse_date(&text);
        }
    }
}
