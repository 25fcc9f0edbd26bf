use std::fmt;

use crate::{Month, Timestamp, UtcOffset};

/// Steps per millisecond.
const STEPS: i64 = 4096;
/// More than any offset in minutes, in steps.
const HALF: i64 = STEPS / 2;

/// The place of a photo in the timeline: the time on a clock where it was taken, and the offset of that clock. A photo without an
/// offset was taken in UTC. Two photos of an account never have the same place, because they have different capture times.
///
/// The number is `local milliseconds * 4096 + offset in minutes`; an index of the images has it. `Display` writes it for addresses
/// and scripts, as milliseconds with a fraction: a whole number in UTC. Until the year 2039 a 64-bit floating point number has it
/// exactly, and later to some minutes of the offset.
///
/// ```
/// use domain::{LocalTime, Timestamp, UtcOffset};
///
/// let evening = Timestamp::parse_iso("2024-08-01T02:00Z").unwrap();
/// let place = LocalTime::of(evening, UtcOffset::from_minutes(-240));
/// assert_eq!(place.month().to_string(), "July 2024");
/// assert_eq!(LocalTime::parse(&place.to_string()), Some(place));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalTime(i64);

impl LocalTime {
    /// Before all photos.
    pub const MIN: Self = Self(i64::MIN);
    /// After all photos.
    pub const MAX: Self = Self(i64::MAX);
    /// Upper bound on the difference between a local time and UTC.
    pub const MAX_OFFSET_MS: i64 = 24 * 60 * 60_000;

    pub fn of(captured_at: Timestamp, offset: Option<UtcOffset>) -> Self {
        let minutes = i64::from(offset.map_or(0, UtcOffset::minutes));
        Self((captured_at.millis() + minutes * 60_000) * STEPS + minutes)
    }

    pub const fn from_number(number: i64) -> Self {
        Self(number)
    }

    pub const fn number(self) -> i64 {
        self.0
    }

    /// A place before all photos of a local time in milliseconds and after all earlier ones.
    pub const fn start_of(millis: i64) -> Self {
        Self(millis.saturating_mul(STEPS).saturating_sub(HALF))
    }

    /// The time that the clock showed, as if it showed UTC.
    pub fn clock(self) -> Timestamp {
        let millis = self.0.saturating_add(HALF).div_euclid(STEPS);
        Timestamp::MIN.plus_millis(millis.saturating_sub(Timestamp::MIN.millis()))
    }

    pub fn month(self) -> Month {
        Month::of(self.clock())
    }

    #[must_use]
    pub const fn plus(self, steps: i64) -> Self {
        Self(self.0.saturating_add(steps))
    }

    /// The place as scripts have it.
    #[expect(clippy::cast_precision_loss, reason = "`rounding` is the loss")]
    pub fn millis(self) -> f64 {
        self.0 as f64 / STEPS as f64
    }

    /// Reads what [`millis`](Self::millis) gives, and the ends of months; `None` outside the years 0001 to 9999.
    #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "the range is checked")]
    pub fn from_script(millis: f64) -> Option<Self> {
        let range = (Timestamp::MIN.millis() - Self::MAX_OFFSET_MS - 1) as f64
            ..=(Timestamp::MAX.millis() + Self::MAX_OFFSET_MS + 1) as f64;
        range.contains(&millis).then(|| Self((millis * STEPS as f64).round() as i64))
    }

    /// Reads what `Display` writes.
    pub fn parse(text: &str) -> Option<Self> {
        text.parse().ok().and_then(Self::from_script)
    }

    /// How far a place that was read from a script may be from the real one.
    const fn rounding(self) -> i64 {
        self.0.saturating_abs() >> 53
    }
}

impl fmt::Display for LocalTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.millis().fmt(f)
    }
}

/// A part of the timeline; both ends belong to it. It is empty if they are in the wrong order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocalRange {
    pub first: LocalTime,
    pub last: LocalTime,
}

impl LocalRange {
    pub const ALL: Self = Self { first: LocalTime::MIN, last: LocalTime::MAX };

    /// All photos of a month. No photo has one of its ends, and there is room between the ranges of two months. `library.js` has
    /// the same ends; scripts have them exactly in all years.
    pub fn of_month(month: Month) -> Self {
        let (start, end) = (month.range().start(), month.range().end());
        // A clock may show a time up to a day before the first month or after the last one. Such photos belong to these months.
        let before = if start == Timestamp::MIN { LocalTime::MAX_OFFSET_MS } else { 0 };
        let after = if end == Timestamp::MAX { LocalTime::MAX_OFFSET_MS } else { 0 };
        Self {
            first: LocalTime((start.millis() - before) * STEPS - STEPS * 3 / 8),
            last: LocalTime((end.millis() + 1 + after) * STEPS - STEPS * 5 / 8),
        }
    }

    /// A photo and all older ones. This and the following accept a place from a script.
    pub const fn until(at: LocalTime) -> Self {
        Self { last: at.plus(at.rounding()), ..Self::ALL }
    }

    /// All photos that are not in [`until`](Self::until).
    pub const fn after(at: LocalTime) -> Self {
        Self { first: at.plus(at.rounding()).plus(1), ..Self::ALL }
    }

    /// The photos older than one.
    pub const fn before(at: LocalTime) -> Self {
        Self { last: at.plus(-1), ..Self::ALL }
    }

    /// Two photos and all between them.
    pub const fn between(first: LocalTime, last: LocalTime) -> Self {
        Self { first: first.plus(-first.rounding()), last: last.plus(last.rounding()) }
    }

    /// What is in both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { first: self.first.max(other.first), last: self.last.min(other.last) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(iso: &str, minutes: i32) -> LocalTime {
        LocalTime::of(Timestamp::parse_iso(iso).unwrap(), UtcOffset::from_minutes(minutes))
    }

    #[test]
    fn photos_are_in_the_month_of_their_clocks() {
        let (july, august) = (Month::from_number(202_407).unwrap(), Month::from_number(202_408).unwrap());
        for (place, expected) in [
            (at("2024-08-01T02:00Z", -240), july),
            (at("2024-08-01T04:00Z", -240), august),
            (at("2024-07-31T23:59:59.999Z", 0), july),
            (at("2024-07-31T12:00Z", 720), august),
            (at("2024-07-31T11:59:59.999Z", 720), july),
            (at("2024-08-01T23:58:59.999Z", -1439), july),
        ] {
            assert_eq!(place.month(), expected);
            for month in [july, august] {
                let LocalRange { first, last } = LocalRange::of_month(month);
                assert_eq!(first < place && place < last, month == expected, "{place}");
            }
        }
        assert!(LocalRange::of_month(july).last < LocalRange::of_month(august).first);
        assert_eq!(LocalTime::MAX.month().number(), 999_912);
        assert_eq!(LocalTime::MIN.month().number(), 101);
    }

    #[test]
    fn scripts_have_the_ends_of_months() {
        let numbers = [101, 1_912, 9_907, 196_912, 202_407, 203_912, 999_911, 999_912];
        for month in numbers.map(|number| Month::from_number(number).unwrap()) {
            let range = LocalRange::of_month(month);
            assert_eq!(LocalTime::parse(&range.first.to_string()), Some(range.first));
            assert_eq!(LocalTime::parse(&range.last.to_string()), Some(range.last));
            assert_eq!((range.last.month(), LocalRange::until(range.last).last.month()), (month, month));
            let sent = LocalRange::between(range.first, range.last);
            let (start, end) = (month.range().start(), month.range().end());
            for minutes in [-1439, -1, 0, 1, 1439] {
                let at = |clock: Timestamp, ms: i64| LocalTime((clock.millis() + ms) * STEPS + minutes);
                for inside in [at(start, 0), at(end, 0)] {
                    assert!(sent.first < inside && inside < sent.last, "{month} {inside}");
                }
                for (outside, exists) in
                    [(at(start, -1), start > Timestamp::MIN), (at(end, 1), end < Timestamp::MAX)]
                {
                    assert!(!exists || outside < sent.first || sent.last < outside, "{month} {outside}");
                }
            }
        }
        // Photos whose clocks show a time outside the years 1 to 9999.
        for (moment, minutes, number) in [(Timestamp::MIN, -1439, 101), (Timestamp::MAX, 1439, 999_912)] {
            let place = LocalTime::of(moment, UtcOffset::from_minutes(minutes));
            let range = LocalRange::of_month(Month::from_number(number).unwrap());
            assert!(range.first < place && place < range.last, "{place}");
        }
    }

    #[test]
    fn utc_has_whole_milliseconds() {
        assert_eq!(at("2024-08-01T02:00Z", 0).to_string(), "1722477600000");
        assert_eq!(at("2024-08-01T00:00Z", 120).to_string(), "1722477600000.0293");
        for wrong in ["", "x", "nan", "inf", "1e99", "-99999999999999999999"] {
            assert_eq!(LocalTime::parse(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn scripts_have_every_place(
            millis in Timestamp::MIN.millis()..=Timestamp::MAX.millis(), minutes in -1439..1440_i32,
        ) {
            let photo = LocalTime::of(Timestamp::from_millis(millis).unwrap(), UtcOffset::from_minutes(minutes));
            let read = LocalTime::parse(&photo.to_string()).unwrap();
            prop_assert!(LocalRange::between(read, read).first <= photo);
            prop_assert!(photo <= LocalRange::between(read, read).last && photo <= LocalRange::until(read).last);
            prop_assert_eq!(photo.clock(), read.clock());
            if millis.abs() < 2_190_000_000_000 {
                prop_assert_eq!(photo, read);
            }
        }

        #[test]
        fn the_clock_comes_before_the_offset(
            one in (-100_i64..100, -1439..1440_i32), other in (-100_i64..100, -1439..1440_i32),
        ) {
            let place = |(clock, minutes): (i64, i32)| LocalTime::of(
                Timestamp::from_millis(clock - i64::from(minutes) * 60_000).unwrap(), UtcOffset::from_minutes(minutes));
            prop_assert_eq!(place(one).cmp(&place(other)), one.cmp(&other));
        }
    }
}
