use domain::{Month, Timestamp};
use jiff::civil;
use maud::{Markup, html};

/// A time on the clocks of its place, such as `14 July 2026, 15:04`.
pub(crate) fn format_wall(wall: civil::DateTime) -> String {
    let month = Month::NAMES
        .get(usize::from(wall.month().unsigned_abs()).saturating_sub(1))
        .copied()
        .unwrap_or_default();
    format!("{} {month} {}, {:02}:{:02}", wall.day(), wall.year(), wall.hour(), wall.minute())
}

/// A date in UTC, such as `1 June 2024`. The script of the page converts it to the browser's time zone.
pub(crate) fn day(at: Timestamp) -> Markup {
    let iso = at.to_string();
    html! { time datetime=(iso) { (format_date(&iso)) } }
}

/// A time in UTC, such as `1 June 2024, 12:00 UTC`. The script of the page converts it to the browser's time zone.
pub(crate) fn minute(at: Timestamp) -> Markup {
    let iso = at.to_string();
    html! { time datetime=(iso) data-precision="minute" { (format_date(&iso)) ", " (iso.get(11..16).unwrap_or_default()) " UTC" } }
}

/// A day written as ISO 8601, such as `1 June 2024`; another text unchanged.
pub(crate) fn format_date(iso: &str) -> String {
    let number = |range| iso.get(range).and_then(|digits: &str| digits.parse::<usize>().ok());
    let month = number(5..7).and_then(|month| Month::NAMES.get(month.checked_sub(1)?));
    match (iso.get(..4), month, number(8..10)) {
        (Some(year), Some(month), Some(day)) => format!("{day} {month} {year}"),
        // A year of five digits has another format.
        _ => iso.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_times_are_formatted() {
        let at = |iso| Timestamp::parse_iso(iso).unwrap();
        assert_eq!(
            day(at("2024-06-01T12:00:00Z")).into_string(),
            "<time datetime=\"2024-06-01T12:00:00.000Z\">1 June 2024</time>"
        );
        assert_eq!(
            minute(at("2023-12-31T23:59:59Z")).into_string(),
            "<time datetime=\"2023-12-31T23:59:59.000Z\" data-precision=\"minute\">31 December 2023, 23:59 UTC</time>"
        );
    }
}
