use domain::Timestamp;
use jiff::fmt::rfc2822::{DateTimeParser, DateTimePrinter};

/// The form of HTTP dates (RFC 9110 §5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
pub fn http_date(at: Timestamp) -> String {
    let printer = DateTimePrinter::new();
    let at = jiff::Timestamp::from_millisecond(at.millis()).unwrap_or_default();
    printer.timestamp_to_rfc9110_string(&at).unwrap_or_default()
}

pub fn parse_http_date(text: &str) -> Option<Timestamp> {
    // Some clients send a wrong day of the week.
    let parser = DateTimeParser::new().relaxed_weekday(true);
    let at = parser.parse_timestamp(text.trim()).ok()?;
    Timestamp::from_millis(at.as_millisecond())
}

/// Parses seconds since 1970 as a plain decimal number with or without a fraction, as iOS apps send it. Digits below a
/// millisecond are cut. `None` for anything else and outside the years 0001 to 9999.
pub fn epoch_seconds(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    let (is_negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let is_number = (1..=15).contains(&whole.len())
        && whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit())
        && !digits.ends_with('.');
    if !is_number {
        return None;
    }
    let seconds: i64 = whole.parse().ok()?;
    let millis = (0..3).fold(0, |millis, place| {
        millis * 10 + fraction.as_bytes().get(place).map_or(0, |digit| i64::from(digit - b'0'))
    });
    let total = seconds.checked_mul(1000)?.checked_add(millis)?;
    Timestamp::from_millis(if is_negative { -total } else { total })
}

/// Parses a time in seconds since 1970, as an HTTP date, or in ISO 8601.
pub fn parse_time(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    epoch_seconds(text).or_else(|| parse_http_date(text)).or_else(|| Timestamp::parse_iso(text).ok())
}

/// Parses a time like [`parse_time`]. A time in ISO 8601 before the year 1 is the earliest: Nextcloud's app for iOS
/// compares with its most distant past, which a time zone can move into the year 0.
pub fn parse_time_clamped(text: &str) -> Option<Timestamp> {
    let clamped = || {
        let at: jiff::Timestamp = text.trim().parse().ok()?;
        Timestamp::from_millis(at.as_millisecond().max(Timestamp::MIN.millis()))
    };
    parse_time(text).or_else(clamped)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn seconds_are_integers_or_decimals() {
        let check = |text: &str, expect: Option<i64>| {
            assert_eq!(epoch_seconds(text).map(Timestamp::millis), expect, "{text:?}");
        };
        check("1700000000", Some(1_700_000_000_000));
        check(" 1700000000 ", Some(1_700_000_000_000));
        check("1700000000.123999", Some(1_700_000_000_123));
        check("1700000000.5", Some(1_700_000_000_500));
        check("-1.5", Some(-1500));
        check("0", Some(0));
        for garbage in
            ["", ".", "1.", ".5", "1e9", "0x1F", "now", "+1", "--1", "1.2.3", "nan", "9999999999999"]
        {
            check(garbage, None);
        }
    }

    #[test]
    fn http_dates_are_read_with_any_weekday() {
        let check = |text: &str, expect: Option<&str>| {
            assert_eq!(parse_http_date(text).map(|at| at.to_string()).as_deref(), expect, "{text}");
        };
        check("Sun, 06 Nov 1994 08:49:37 GMT", Some("1994-11-06T08:49:37.000Z"));
        check("Mon, 06 Nov 1994 08:49:37 GMT", Some("1994-11-06T08:49:37.000Z"));
        check("06 Nov 1994", None);
        check("", None);
    }

    #[test]
    fn times_have_several_forms() {
        let at = Timestamp::from_millis(784_111_777_000);
        for text in [
            "784111777",
            "Sun, 06 Nov 1994 08:49:37 GMT",
            " 1994-11-06T09:49:37+01:00",
            "1994-11-06T08:49:37Z",
        ] {
            assert_eq!(parse_time(text), at, "{text}");
            assert_eq!(parse_time_clamped(text), at, "{text}");
        }
        for (text, expect) in [
            ("0001-01-01T00:00:00+01:00", Some(Timestamp::MIN)),
            ("0001-01-01T00:53:28+00:53:28", Some(Timestamp::MIN)),
            ("4001-01-01T00:00:00Z", Timestamp::from_millis(64_092_211_200_000)),
            ("yesterday", None),
            ("", None),
        ] {
            assert_eq!(parse_time_clamped(text), expect, "{text}");
        }
    }

    proptest! {
        #[test]
        fn written_dates_are_read_back(seconds in -62_135_596_800_i64..253_402_300_799) {
            let at = Timestamp::from_millis(seconds * 1000).unwrap();
            prop_assert_eq!(parse_http_date(&http_date(at)), Some(at));
            prop_assert_eq!(epoch_seconds(&seconds.to_string()), Some(at));
        }
    }
}
