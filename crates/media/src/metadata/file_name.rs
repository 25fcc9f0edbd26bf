//! Finds times in file names of cameras, phones and messengers.

use jiff::civil::{Date, DateTime, Time};

/// A time found in a file name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileNameTime {
    /// Date and time; midnight if the name has only a date.
    pub(super) wall: DateTime,
    /// Whether it is in UTC instead of local time.
    pub(super) utc: bool,
}

/// Eight digits in a row may be any number. They are read as a date only from this year on, the first with digital
/// cameras.
const FIRST_COMPACT_YEAR: i16 = 1990;
const LAST_YEAR: i16 = 2199;

/// Finds the first date, with the time after it if there is one: `IMG_20180725_163423`,
/// `2019-07-04 18.03.22`, `Screenshot_20200101-101112`, `IMG-20190704-WA0001` (day only),
/// `PXL_20210102_030405123` (UTC), `signal-2021-03-04-10-11-12-345`, `Screen Shot 2019-07-04 at 6.03.22 PM`.
pub(super) fn parse_file_name(name: &str) -> Option<FileNameTime> {
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let bytes = name.as_bytes();
    let starts = (0..bytes.len()).filter(|at| {
        let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
        is_digit(*at) && !at.checked_sub(1).is_some_and(is_digit)
    });
    let wall = starts.filter_map(|at| bytes.get(at..)).find_map(|rest| Scanner { rest }.date_time())?;
    // Pixel phones name their photos in UTC.
    Some(FileNameTime { wall, utc: name.get(..4).is_some_and(|prefix| prefix.eq_ignore_ascii_case("PXL_")) })
}

#[derive(Clone, Copy)]
struct Scanner<'a> {
    rest: &'a [u8],
}

impl<'a> Scanner<'a> {
    fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    fn at_digit(&self) -> bool {
        self.peek().is_some_and(|byte| byte.is_ascii_digit())
    }

    /// Takes exactly `count` digits.
    fn digits(&mut self, count: usize) -> Option<i16> {
        let (digits, rest) = self.rest.split_at_checked(count)?;
        let number = std::str::from_utf8(digits).ok().filter(|_| digits.iter().all(u8::is_ascii_digit))?;
        self.rest = rest;
        number.parse().ok()
    }

    fn two(&mut self) -> Option<i8> {
        self.digits(2).and_then(|number| i8::try_from(number).ok())
    }

    /// Takes the next byte if it is one of these.
    fn one_of(&mut self, bytes: &[u8]) -> Option<u8> {
        let byte = self.peek().filter(|byte| bytes.contains(byte))?;
        self.rest = self.rest.get(1..)?;
        Some(byte)
    }

    fn literal(&mut self, text: &[u8]) -> bool {
        let stripped = self.rest.strip_prefix(text);
        self.rest = stripped.unwrap_or(self.rest);
        stripped.is_some()
    }

    /// A date with the time after it, or at midnight.
    fn date_time(mut self) -> Option<DateTime> {
        let year = self.digits(4).filter(|year| *year <= LAST_YEAR)?;
        let separator = self.one_of(b"-_. ");
        let month = self.two()?;
        if self.one_of(b"-_. ") != separator {
            return None;
        }
        let day = self.two()?;
        if separator.is_none() && year < FIRST_COMPACT_YEAR {
            return None;
        }
        let date = Date::new(year, month, day).ok()?;
        let time = self.time();
        if time.is_none() && self.at_digit() {
            return None;
        }
        Some(date.to_datetime(time.unwrap_or(Time::midnight())))
    }

    /// The time after a date.
    fn time(mut self) -> Option<Time> {
        let _ = self.literal(b" at ") || self.literal(b", ") || self.one_of(b"_- T.").is_some();
        let spaced = self;
        self.separated_time().or_else(|| spaced.compact_time())
    }

    /// `HHMMSS`, or with milliseconds `HHMMSSmmm`.
    fn compact_time(mut self) -> Option<Time> {
        let (hour, minute, second) = (self.two()?, self.two()?, self.two()?);
        let millis = self.milliseconds().unwrap_or(0);
        if self.at_digit() {
            return None;
        }
        Time::new(hour, minute, second, i32::from(millis) * 1_000_000).ok()
    }

    /// `HH.MM.SS` with the same separator twice, then `.mmm`, AM or PM.
    fn separated_time(mut self) -> Option<Time> {
        let mut short = self;
        let hour = match short.digits(1).filter(|_| !short.at_digit()) {
            Some(hour) => {
                self = short;
                i8::try_from(hour).ok()?
            }
            None => self.two()?,
        };
        let separator = self.one_of(b"-_.:")?;
        let minute = self.two()?;
        self.one_of(&[separator])?;
        let second = self.two()?;
        let mut fraction = self;
        let millis = match fraction.one_of(&[separator]).and_then(|_| fraction.milliseconds()) {
            Some(millis) => {
                self = fraction;
                millis
            }
            None => 0,
        };
        if self.at_digit() {
            return None;
        }
        let hour = self.to_24_hours(hour)?;
        Time::new(hour, minute, second, i32::from(millis) * 1_000_000).ok()
    }

    /// Exactly three digits.
    fn milliseconds(&mut self) -> Option<i16> {
        let mut ahead = *self;
        let millis = ahead.digits(3).filter(|_| !ahead.at_digit())?;
        *self = ahead;
        Some(millis)
    }

    /// Applies AM or PM after the time; macOS puts a narrow no-break space before it.
    fn to_24_hours(mut self, hour: i8) -> Option<i8> {
        let _ = self.literal("\u{202F}".as_bytes()) || self.literal(b" ");
        let half = match self.rest {
            [b'A' | b'a', b'M' | b'm', ..] => 0,
            [b'P' | b'p', b'M' | b'm', ..] => 12,
            _ => return Some(hour),
        };
        (1..=12).contains(&hour).then_some(hour % 12 + half)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(name: &str, expect: Option<&str>) {
        let found = parse_file_name(name).map(|time| time.wall.to_string());
        assert_eq!(found.as_deref(), expect, "{name}");
    }

    #[test]
    fn known_names() {
        check("IMG_20180725_163423.jpg", Some("2018-07-25T16:34:23"));
        check("IMG_20180725_163423_1.jpg", Some("2018-07-25T16:34:23"));
        check("IMG_20180725_163423_001.jpg", Some("2018-07-25T16:34:23"));
        check("IMG_20180725_163423123.jpg", Some("2018-07-25T16:34:23.123"));
        check("20180725_163423.jpg", Some("2018-07-25T16:34:23"));
        check("20180725163423.jpg", Some("2018-07-25T16:34:23"));
        check("MVIMG_20180725_163423.jpg", Some("2018-07-25T16:34:23"));
        check("VID_20180725_163423.jpg", Some("2018-07-25T16:34:23"));
        check("PXL_20210102_030405123.MP.jpg", Some("2021-01-02T03:04:05.123"));
        check("2019-07-04 18.03.22.jpg", Some("2019-07-04T18:03:22"));
        check("Screenshot_20200101-101112.png", Some("2020-01-01T10:11:12"));
        check("Screenshot_2019-07-04-18-03-22.png", Some("2019-07-04T18:03:22"));
        check("Screenshot 2023-01-05 at 14.03.22.png", Some("2023-01-05T14:03:22"));
        check("Screen Shot 2019-07-04 at 6.03.22 PM.png", Some("2019-07-04T18:03:22"));
        check("Screenshot 2023-01-05 at 12.03.22\u{202F}AM.png", Some("2023-01-05T00:03:22"));
        check("WhatsApp Image 2019-07-04 at 18.03.22.jpeg", Some("2019-07-04T18:03:22"));
        check("IMG-20190704-WA0001.jpg", Some("2019-07-04T00:00:00"));
        check("signal-2021-03-04-101112.jpg", Some("2021-03-04T10:11:12"));
        check("signal-2021-03-04-10-11-12-345.jpg", Some("2021-03-04T10:11:12.345"));
        check("photo_2019-07-04_18-03-22.jpg", Some("2019-07-04T18:03:22"));
        check("WP_20140101_12_13_14_Pro.jpg", Some("2014-01-01T12:13:14"));
        check("2019.07.04 picnic.jpg", Some("2019-07-04T00:00:00"));
        check("1931-06-01 grandmother.jpg", Some("1931-06-01T00:00:00"));
        check("20190704-001.jpg", Some("2019-07-04T00:00:00"));
        check("a/2001-01-01/IMG_20180725_163423.jpg", Some("2018-07-25T16:34:23"));
        check("IMG_99999999 20190704.jpg", Some("2019-07-04T00:00:00"));
        check("20190704_256199.jpg", Some("2019-07-04T00:00:00"));
    }

    #[test]
    fn names_without_a_time() {
        for name in [
            "",
            "IMG_1234.jpg",
            "DSC00042.jpg",
            "P1010203.JPG",
            "12345678.jpg",
            "20191304.jpg",
            "19310601.jpg",
            "201907041.jpg",
            "120190704.jpg",
            "2019-0704.jpg",
            "99991231_000000.jpg",
            "holiday.jpg",
            "２０１９-07-04.jpg",
        ] {
            check(name, None);
        }
    }

    #[test]
    fn only_pixel_phones_write_utc() {
        assert!(parse_file_name("PXL_20210102_030405123.jpg").unwrap().utc);
        assert!(!parse_file_name("IMG_20180725_163423.jpg").unwrap().utc);
    }

    proptest! {
        #[test]
        fn nothing_panics(name in "[0-9_. -]{0,40}|.*") {
            let _ = parse_file_name(&name);
        }
    }
}
