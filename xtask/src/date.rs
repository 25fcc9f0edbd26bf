//! Today's date, for names of migrations.

use std::time::{SystemTime, UNIX_EPOCH};

const SECONDS_PER_DAY: u64 = 86_400;

/// Today in UTC, as `2026-03-09`.
#[expect(clippy::disallowed_methods, reason = "a developer's tool has no library clock")]
pub(crate) fn today() -> String {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    date_of_day(since_epoch.as_secs() / SECONDS_PER_DAY)
}

/// The Gregorian date of a day counted from 1970-01-01.
fn date_of_day(days_since_epoch: u64) -> String {
    let (mut year, mut day) = (1970_u64, days_since_epoch);
    while day >= 365 + leap_day(year) {
        day -= 365 + leap_day(year);
        year += 1;
    }
    let mut month = 1;
    for length in [31, 28 + leap_day(year), 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    format!("{year:04}-{month:02}-{:02}", day + 1)
}

fn leap_day(year: u64) -> u64 {
    u64::from(year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_dates() {
        let cases = [
            (0, "1970-01-01"),
            (58, "1970-02-28"),
            (59, "1970-03-01"),
            (789, "1972-02-29"),
            (11_016, "2000-02-29"),
            (19_722, "2023-12-31"),
            (19_723, "2024-01-01"),
            (47_540, "2100-02-28"),
            (47_541, "2100-03-01"),
        ];
        for (day, expect) in cases {
            assert_eq!(date_of_day(day), expect, "day {day}");
        }
    }
}
