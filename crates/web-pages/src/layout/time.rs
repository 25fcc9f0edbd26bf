use domain::Timestamp;
use maud::{Markup, html};

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// A day: `1 June 2024`. It is in UTC until a script shows it in the browser's time zone.
pub(crate) fn day(at: Timestamp) -> Markup {
    let iso = at.to_string();
    html! { time datetime=(iso) { (words(&iso)) } }
}

/// A minute: `1 June 2024, 12:00 UTC`. A script shows it in the browser's time zone.
pub(crate) fn minute(at: Timestamp) -> Markup {
    let iso = at.to_string();
    html! { time datetime=(iso) data-precision="minute" { (words(&iso)) ", " (iso.get(11..16).unwrap_or_default()) " UTC" } }
}

fn words(iso: &str) -> String {
    let number = |range| iso.get(range).and_then(|digits: &str| digits.parse::<usize>().ok());
    let month = number(5..7).and_then(|month| MONTHS.get(month.checked_sub(1)?));
    match (iso.get(..4), month, number(8..10)) {
        (Some(year), Some(month), Some(day)) => format!("{day} {month} {year}"),
        // Only a year of five digits is written in another way.
        _ => iso.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_for_people() {
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
