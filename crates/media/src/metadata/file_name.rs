//! Finds times in file names of cameras, phones and messengers, in any language.

use domain::Timestamp;
use jiff::civil::{Date, Time};

use super::written_time::{ParsedTime, Precision, existing_second, millis_of_fraction, parse_offset};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileNameTime {
    /// Date and time; midnight if the name has only a date.
    pub(super) time: ParsedTime,
    /// Whether it is in UTC instead of local time.
    pub(super) utc: bool,
}

/// Eight digits in a row may be any number. They are read as a date only from this year on, when digital cameras appeared.
const FIRST_COMPACT_YEAR: i16 = 1990;
const LAST_YEAR: i16 = 2199;
/// Maximum number of characters between a date and its time, such as ` à ` or ` a la(s) `.
const MAX_GAP_CHARS: usize = 24;
/// Number of digits of a time in milliseconds since 1970. From September 2001 to May 2033, such a number has this length and begins
/// with 1.
const EPOCH_MS_DIGITS: usize = 13;

/// Finds the first date, with the time after it if there is one, or the first number of milliseconds since 1970:
/// `IMG_20180725_163423`, `2019-07-04 18.03.22`, `Screenshot_20200101-101112`, `IMG-20190704-WA0001` (day only),
/// `PXL_20210102_030405123` (UTC), `signal-2021-03-04-10-11-12-345`, `Screen Shot 2019-07-04 at 6.03.22 PM`,
/// `photo_1@04-07-2019_18-03-22`, `2019-07-04 180322+0200`, `FB_IMG_1562263402000`.
///
/// Words between date and time are not compared with a list, because every language has its own words.
pub(super) fn parse_file_name(name: &str) -> Option<FileNameTime> {
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let bytes = name.as_bytes();
    let starts = (0..bytes.len()).filter(|at| {
        let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
        is_digit(*at) && !at.checked_sub(1).is_some_and(is_digit)
    });
    let scanners = starts.filter_map(|at| bytes.get(at..)).map(|rest| Scanner { rest });
    let found = scanners.filter_map(|start| start.date_time().or_else(|| start.epoch())).next()?;
    // Pixel phones name their photos in UTC.
    let is_pixel = name.get(..4).is_some_and(|prefix| prefix.eq_ignore_ascii_case("PXL_"));
    Some(FileNameTime { utc: found.utc || is_pixel, ..found })
}

/// The time of day after a date.
struct TimeOfDay {
    time: Time,
    precision: Precision,
    offset_minutes: Option<i32>,
    utc: bool,
}

/// What is between a date and its time.
struct Gap {
    /// Whether it has a word in it. Digits after a word are a time only if they have separators.
    has_words: bool,
    /// Whether the gap is more than a separator of dates. Numbers after a mere separator may count photos.
    ends_date: bool,
    /// The hours to add, if the gap contains a word for AM or PM.
    half: Option<i8>,
}

impl Gap {
    fn read(text: &str) -> Option<Self> {
        let has_words = text.chars().any(char::is_alphabetic) && text != "T";
        let fits = |c: char| c.is_alphabetic() || " \u{a0}\u{202f}_-.,()@'’:".contains(c) || is_mark(c);
        let is_gap =
            text.chars().take(MAX_GAP_CHARS + 1).filter(|c| fits(*c)).count() == text.chars().count();
        is_gap.then(|| Self {
            has_words,
            ends_date: text.chars().any(|c| !matches!(c, '-' | '.')),
            half: half_day(text),
        })
    }
}

/// Combining marks, which decomposed letters and some scripts have.
fn is_mark(c: char) -> bool {
    unicode_normalization::char::is_combining_mark(c)
}

/// 0 for the words that mean before noon, and 12 for those that mean after noon.
fn half_day(text: &str) -> Option<i8> {
    const HALVES: [(&str, i8); 12] = [
        ("am", 0),
        ("pm", 12),
        ("πμ", 0),
        ("μμ", 12),
        ("午前", 0),
        ("午後", 12),
        ("上午", 0),
        ("下午", 12),
        ("오전", 0),
        ("오후", 12),
        ("öö", 0),
        ("ös", 12),
    ];
    let letters: String = text.chars().filter(|c| c.is_alphabetic()).flat_map(char::to_lowercase).collect();
    HALVES.iter().find(|(word, _)| *word == letters).map(|(_, hours)| *hours)
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

    /// Milliseconds since 1970.
    fn epoch(self) -> Option<FileNameTime> {
        let digits = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let text = std::str::from_utf8(self.rest.get(..digits)?).ok()?;
        let millis = text.parse().ok().filter(|_| digits == EPOCH_MS_DIGITS && text.starts_with('1'))?;
        let wall = Timestamp::from_millis(millis)?.wall(0);
        let time = ParsedTime { wall, offset_minutes: None, precision: Precision::Millisecond };
        Some(FileNameTime { time, utc: true })
    }

    /// A date with the time after it, or at midnight.
    fn date_time(self) -> Option<FileNameTime> {
        let (mut after, date, needs_time) = self.year_first().or_else(|| self.day_first())?;
        let time = after.time();
        if time.is_none() && (needs_time || after.at_digit()) {
            return None;
        }
        let (time_of_day, precision) =
            time.as_ref().map_or((Time::midnight(), Precision::Day), |time| (time.time, time.precision));
        Some(FileNameTime {
            time: ParsedTime {
                wall: date.to_datetime(time_of_day),
                offset_minutes: time.as_ref().and_then(|time| time.offset_minutes),
                precision,
            },
            utc: time.is_some_and(|time| time.utc),
        })
    }

    /// Reads `YYYYMMDD`, perhaps with the same separator twice. The flag says whether this is a date only if a time follows.
    fn year_first(mut self) -> Option<(Self, Date, bool)> {
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
        Some((self, Date::new(year, month, day).ok()?, false))
    }

    /// Reads `DD.MM.YYYY`. With other separators, numbers in brackets or counters may look like a date, so a time must follow.
    fn day_first(mut self) -> Option<(Self, Date, bool)> {
        let day = self.two()?;
        let separator = self.one_of(b"-_.")?;
        let month = self.two()?;
        self.one_of(&[separator])?;
        let year = self.digits(4).filter(|year| *year <= LAST_YEAR && !self.at_digit())?;
        Some((self, Date::new(year, month, day).ok()?, separator != b'.'))
    }

    /// The time after a date.
    fn time(&mut self) -> Option<TimeOfDay> {
        let digit = self.rest.iter().position(u8::is_ascii_digit)?;
        let (gap, rest) = self.rest.split_at_checked(digit)?;
        let gap = Gap::read(std::str::from_utf8(gap).ok()?)?;
        let start = Scanner { rest };
        let separated = start.separated_time(&gap);
        separated.or_else(|| if gap.has_words { None } else { start.compact_time() })
    }

    /// `HHMMSS`, or with milliseconds `HHMMSSmmm`, or with a fraction and a zone.
    fn compact_time(mut self) -> Option<TimeOfDay> {
        let (hour, minute, second) = (self.two()?, self.two()?, self.two()?);
        let millis = self.milliseconds().or_else(|| self.fraction());
        if self.at_digit() {
            return None;
        }
        self.time_of_day(
            [hour, minute, second],
            millis.map_or(Precision::Second, |_| Precision::Millisecond),
            millis,
        )
    }

    /// `HH.MM.SS` with the same separator twice, then `.mmm`, a fraction and a zone, AM or PM. Also `HH.MM`.
    fn separated_time(mut self, gap: &Gap) -> Option<TimeOfDay> {
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
        let (mut second, mut millis, mut precision) = (0, None, Precision::Minute);
        let mut seconds = self;
        if let Some(number) = seconds.one_of(&[separator]).and_then(|_| seconds.two()) {
            (self, second, precision) = (seconds, number, Precision::Second);
            let mut fraction = self;
            millis = fraction.one_of(&[separator]).and_then(|_| fraction.milliseconds());
            if millis.is_some() {
                self = fraction;
            } else {
                millis = self.fraction();
            }
            if millis.is_some() {
                precision = Precision::Millisecond;
            }
        }
        if self.at_digit() || (precision == Precision::Minute && !gap.ends_date) {
            return None;
        }
        let half = self.half_of_day().or(gap.half);
        let hour = match half {
            Some(hours) if (1..=12).contains(&hour) => hour % 12 + hours,
            _ => hour,
        };
        self.time_of_day([hour, minute, second], precision, millis)
    }

    fn time_of_day(
        mut self,
        [hour, minute, second]: [i8; 3],
        precision: Precision,
        millis: Option<i16>,
    ) -> Option<TimeOfDay> {
        let nanos = i32::from(millis.unwrap_or(0)) * 1_000_000;
        let time = Time::new(hour, minute, existing_second(second), nanos).ok()?;
        let utc = self.is_utc();
        Some(TimeOfDay { time, precision, offset_minutes: self.offset(), utc })
    }

    /// Takes a `Z` if one follows. Returns whether the `Z` is a whole word.
    fn is_utc(&mut self) -> bool {
        self.one_of(b"Zz").is_some() && !self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric())
    }

    /// `+0200`, `+02:00` or `-02:00`. Four digits after a hyphen may also be a size or a number, so those count only if the
    /// first is 0.
    fn offset(self) -> Option<i32> {
        let is_offset = |byte: &u8| matches!(byte, b'+' | b'-' | b':' | b'0'..=b'9');
        let length = self.rest.iter().take_while(|byte| is_offset(byte)).count();
        let text = std::str::from_utf8(self.rest.get(..length)?).ok()?;
        let is_certain = text.starts_with('+') || text.starts_with("-0") || text.contains(':');
        parse_offset(text).filter(|_| is_certain && text.len() > 4)
    }

    /// Takes a fraction of a second after a point or comma, in milliseconds. A zone must follow, because the digits could otherwise
    /// be an extension or a counter.
    fn fraction(&mut self) -> Option<i16> {
        let mut ahead = *self;
        ahead.one_of(b".,")?;
        let count = ahead.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, rest) = ahead.rest.split_at_checked(count)?;
        let millis = millis_of_fraction(std::str::from_utf8(digits).ok()?)?;
        ahead.rest = rest;
        let mut zone = ahead;
        if ahead.offset().is_none() && !zone.is_utc() {
            return None;
        }
        *self = ahead;
        i16::try_from(millis).ok()
    }

    /// Exactly three digits.
    fn milliseconds(&mut self) -> Option<i16> {
        let mut ahead = *self;
        let millis = ahead.digits(3).filter(|_| !ahead.at_digit())?;
        *self = ahead;
        Some(millis)
    }

    /// AM or PM after the time. macOS puts a narrow no-break space before it, and some languages write points.
    fn half_of_day(self) -> Option<i8> {
        const MAX_BYTES: usize = 16;

        let text = std::str::from_utf8(self.rest).unwrap_or_default();
        let text = text.get(..text.floor_char_boundary(MAX_BYTES))?;
        let text = text.trim_start_matches([' ', '\u{a0}', '\u{202f}']);
        let is_inside = |c: char| c.is_alphabetic() || matches!(c, '.' | ' ' | '\u{a0}' | '\u{202f}');
        // The letters of an extension may follow the last point.
        let end = text.find(|c| !is_inside(c)).unwrap_or(text.len());
        let words = text.get(..end)?;
        let ends = words.char_indices().filter(|(_, c)| !c.is_alphabetic()).map(|(at, _)| at);
        ends.chain([words.len()]).find_map(|end| half_day(words.get(..end)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(name: &str, expect: Option<&str>) {
        let found = parse_file_name(name).map(|found| found.time.wall.to_string());
        assert_eq!(found.as_deref(), expect, "{name}");
    }

    #[test]
    fn times_are_found_in_known_names() {
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
        check("20161231_235960.jpg", Some("2016-12-31T23:59:59"));
        check("2016-12-31 23.59.60.jpg", Some("2016-12-31T23:59:59"));
    }

    #[test]
    fn times_are_found_in_names_of_other_languages() {
        for before in [
            "WhatsApp Bild 2019-07-04 um ",
            "Imagen de WhatsApp 2019-07-04 a las ",
            "Imagem do WhatsApp de 2019-07-04 à(s) ",
            "Immagine WhatsApp 2019-07-04 ore ",
            "Изображение WhatsApp 2019-07-04 в ",
            "Bildschirmfoto 2019-07-04 um ",
            "Bildschirmfoto vom 2019-07-04 ",
            "Capture d’écran 2019-07-04 à ",
            "Capture d’e\u{301}cran 2019-07-04 a\u{300} ",
            "Schermafbeelding 2019-07-04 om ",
            "Schermata 2019-07-04 alle ",
            "Captura de pantalla 2019-07-04 a la(s) ",
            "Captura de ecrã 2019-07-04, às ",
            "Skärmavbild 2019-07-04 kl. ",
            "Näyttökuva 2019-07-04 kello ",
            "Zrzut ekranu 2019-07-04 o ",
            "Képernyőfotó 2019-07-04 - ",
            "Ekran Resmi 2019-07-04 ",
            "Снимок экрана 2019-07-04 в ",
            "スクリーンショット 2019-07-04 ",
            "截屏2019-07-04 ",
            "צילום מסך 2019-07-04 ב-",
            "Ảnh chụp Màn hình 2019-07-04 lúc ",
            "ภาพหน้าจอ 2019-07-04 เวลา ",
            "Cuplikan Layar 2019-07-04 pukul ",
        ] {
            check(&format!("{before}18.03.22.png"), Some("2019-07-04T18:03:22"));
            check(&format!("{before}18.03.22 (2).png"), Some("2019-07-04T18:03:22"));
        }
    }

    #[test]
    fn twelve_hour_times_are_read() {
        for after in [" PM", " p.m.", " p. m.", "\u{202f}PM", "\u{a0}p.\u{a0}m.", " μ.μ.", "pm"] {
            check(&format!("Foto 2019-07-04 a las 6.03.22{after}.png"), Some("2019-07-04T18:03:22"));
            check(&format!("Foto 2019-07-04 a las 6.03.22{after} (1).png"), Some("2019-07-04T18:03:22"));
            check(&format!("Foto 2019-07-04 a las 6.03{after}.png"), Some("2019-07-04T18:03:00"));
        }
        for between in [" 午後", " 下午", " 오후 "] {
            check(&format!("截屏 2019-07-04{between}6.03.22.png"), Some("2019-07-04T18:03:22"));
        }
        check("Screenshot 2019-07-04 at 12.03.22 a.m..png", Some("2019-07-04T00:03:22"));
        check("截屏 2019-07-04 上午12.03.22.png", Some("2019-07-04T00:03:22"));
        check("2019-07-04 6.03.22 ambulance.png", Some("2019-07-04T06:03:22"));
        check("2019-07-04 18.03.22 PM.png", Some("2019-07-04T18:03:22"));
    }

    #[test]
    fn numbers_of_milliseconds_are_read() {
        for name in [
            "FB_IMG_1562263402000.jpg",
            "received_1562263402000.jpeg",
            "mmexport1562263402000.jpg",
            "IMG_1562263402000.jpg",
            "1562263402000.jpg",
            "1562263402000 (1).jpg",
        ] {
            check(name, Some("2019-07-04T18:03:22"));
            assert!(parse_file_name(name).unwrap().utc, "{name}");
        }
        check("1562263402123.jpg", Some("2019-07-04T18:03:22.123"));
        for none in ["156226340200.jpg", "15622634020000.jpg", "1562263402.jpg", "10155123456789012.jpg"] {
            check(none, None);
        }
    }

    #[test]
    fn offsets_in_names_are_read() {
        let check = |name: &str, wall: &str, offset, utc| {
            let found = parse_file_name(name).unwrap();
            assert_eq!(found.time.wall.to_string(), wall, "{name}");
            assert_eq!((found.time.offset_minutes, found.utc), (offset, utc), "{name}");
        };
        check("photo-2018-08-23 160104+0200.81.jpg", "2018-08-23T16:01:04", Some(120), false);
        check("2018-08-23T16:01:04+02:00.jpg", "2018-08-23T16:01:04", Some(120), false);
        check("2018-08-23T16.01.04-03:30.jpg", "2018-08-23T16:01:04", Some(-210), false);
        check("20180823_160104-0330.jpg", "2018-08-23T16:01:04", Some(-210), false);
        check("20180823_160104-1200.jpg", "2018-08-23T16:01:04", None, false);
        check("20180823_160104-01.jpg", "2018-08-23T16:01:04", None, false);
        check("20180823T160104Z.jpg", "2018-08-23T16:01:04", None, true);
        check("Skype_Picture_2018_08_23T16_01_04_123Z.jpeg", "2018-08-23T16:01:04.123", None, true);
        check("20180823_160104Zoo.jpg", "2018-08-23T16:01:04", None, false);
        check("20180823T160104.123Z.jpg", "2018-08-23T16:01:04.123", None, true);
        check("20180823T160104,5z.jpg", "2018-08-23T16:01:04.5", None, true);
        check("20180823T160104.123456-0330.jpg", "2018-08-23T16:01:04.123", Some(-210), false);
        check("2018-08-23T16:01:04.123+02:00.jpg", "2018-08-23T16:01:04.123", Some(120), false);
        check("2018-08-23T16.01.04.123456Z.jpg", "2018-08-23T16:01:04.123", None, true);
        // Names without a zone.
        check("2018-08-23T16:01:04.123.jpg", "2018-08-23T16:01:04", None, false);
        check("20180823_160104.12.jpg", "2018-08-23T16:01:04", None, false);
        check("20180823_160104.2-edited.jpg", "2018-08-23T16:01:04", None, false);
        check("20180823_160104.1Zoo.jpg", "2018-08-23T16:01:04", None, false);
    }

    #[test]
    fn other_orders_and_precisions_are_read() {
        check("photo_12@04-07-2019_18-03-22.jpg", Some("2019-07-04T18:03:22"));
        check("04.07.2019 Oma.jpg", Some("2019-07-04T00:00:00"));
        check("04-07-2019.jpg", None);
        check("2019-07-04-18-03.png", Some("2019-07-04T00:00:00"));
        check("2019-07-04_18-03.png", Some("2019-07-04T18:03:00"));
        check("2019-07-04 picnic 2.jpg", Some("2019-07-04T00:00:00"));
        check("2019-07-04 picnic 123456.jpg", Some("2019-07-04T00:00:00"));
        let precision = |name: &str| parse_file_name(name).unwrap().time.precision;
        assert_eq!(precision("2019-07-04.jpg"), Precision::Day);
        assert_eq!(precision("2019-07-04_18-03.png"), Precision::Minute);
        assert_eq!(precision("2019-07-04_18-03-22.png"), Precision::Second);
        assert_eq!(precision("signal-2021-03-04-10-11-12-345.jpg"), Precision::Millisecond);
    }

    #[test]
    fn other_numbers_in_names_are_not_times() {
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
        fn arbitrary_names_never_panic(name in "[0-9_. +Zapm-]{0,40}|[0-9]{4}-[0-9]{2}-[0-9]{2}\\PC{0,30}[0-9.]{0,9}\\PC{0,9}|.*") {
            let _ = parse_file_name(&name);
        }
    }
}
