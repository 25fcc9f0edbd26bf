use std::fmt;

use jiff::civil;

use crate::{DateRange, Timestamp};

const DAY_MS: i64 = 86_400_000;

/// A month of the calendar, in UTC, in the years 0001 to 9999.
///
/// `Display` writes it for people: `July 2026`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Month {
    year: i16,
    /// 1 to 12.
    month: i8,
}

impl Month {
    /// The names of the months, from January on.
    pub const NAMES: [&str; 12] = [
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

    pub fn of(moment: Timestamp) -> Self {
        let date = moment.wall(0).date();
        Self { year: date.year(), month: date.month() }
    }

    /// The month with the number yyyymm, such as 202607; `None` if there is no such month.
    pub fn from_number(number: u32) -> Option<Self> {
        let (year, month) = (i16::try_from(number / 100).ok()?, i8::try_from(number % 100).ok()?);
        ((1..=9999).contains(&year) && (1..=12).contains(&month)).then_some(Self { year, month })
    }

    /// The number yyyymm.
    pub fn number(self) -> u32 {
        u32::from(self.year.unsigned_abs()) * 100 + u32::from(self.month.unsigned_abs())
    }

    pub const fn year(self) -> i16 {
        self.year
    }

    /// The name of the month without the year.
    pub fn name(self) -> &'static str {
        let index = usize::from(self.month.unsigned_abs()).saturating_sub(1);
        Self::NAMES.get(index).copied().unwrap_or_default()
    }

    /// All moments of a day of the month; `None` if it has no such day.
    pub fn day(self, day: i8) -> Option<DateRange> {
        let date = civil::Date::new(self.year, self.month, day).ok()?;
        let start = Timestamp::from_wall(date.to_datetime(civil::Time::midnight()), 0)?;
        DateRange::new(Some(start), Some(start.plus_millis(DAY_MS - 1))).ok()
    }

    /// All moments of the month.
    pub fn range(self) -> DateRange {
        let start = |month: Self| {
            let wall = civil::DateTime::new(month.year, month.month, 1, 0, 0, 0, 0).ok()?;
            Timestamp::from_wall(wall, 0)
        };
        let next = match self.month {
            12 => Self { year: self.year + 1, month: 1 },
            month => Self { month: month + 1, ..self },
        };
        let end = start(next).map_or(Timestamp::MAX, |next| next.plus_millis(-1));
        DateRange::new(start(self), Some(end)).unwrap_or_default()
    }
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name(), self.year)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn months_have_numbers_and_names() {
        let month = Month::from_number(202_607).unwrap();
        assert_eq!((month.to_string().as_str(), month.number(), month.year()), ("July 2026", 202_607, 2026));
        for number in [0, 12, 13, 100, 202_600, 202_613, 1_000_001] {
            assert_eq!(Month::from_number(number), None, "{number}");
        }
        assert_eq!(Month::from_number(999_912).unwrap().range().end(), Timestamp::MAX);
        assert_eq!(Month::from_number(101).unwrap().range().start(), Timestamp::MIN);
    }

    #[test]
    fn days_exist_in_their_months_only() {
        let february = |year: u32| Month::from_number(year * 100 + 2).unwrap();
        let day = february(2024).day(29).unwrap();
        assert_eq!(
            (day.start().to_string(), day.end().to_string()),
            ("2024-02-29T00:00:00.000Z".to_owned(), "2024-02-29T23:59:59.999Z".to_owned())
        );
        for none in [-1, 0, 30, 31, 127] {
            assert_eq!(february(2024).day(none), None, "{none}");
        }
        assert_eq!(february(2023).day(29), None);
        assert_eq!(Month::from_number(999_912).unwrap().day(31).unwrap().end(), Timestamp::MAX);
    }

    proptest! {
        #[test]
        fn a_moment_lies_in_its_month(millis in Timestamp::MIN.millis()..=Timestamp::MAX.millis()) {
            let moment = Timestamp::from_millis(millis).unwrap();
            let month = Month::of(moment);
            prop_assert!(month.range().start() <= moment && moment <= month.range().end());
            prop_assert_eq!(Month::from_number(month.number()), Some(month));
            prop_assert_eq!(Month::of(month.range().end()), month);
        }
    }
}
