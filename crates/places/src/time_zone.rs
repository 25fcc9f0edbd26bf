//! The time zone at a position, and its offset from UTC at a time.
//!
//! The boundaries are those of timezone-boundary-builder, simplified by at most 112 m. On the open sea, the zones are
//! nautical (`Etc/GMT+5`), each 15° wide.

use std::sync::LazyLock;

use domain::{Position, Timestamp};
use jiff::{
    civil::DateTime,
    tz::{AmbiguousOffset, Offset, TimeZone, TimeZoneDatabase},
};
use tzf_rs::EmbeddedFinder;

/// The boundaries, which are read in place. They take about 0.2 MB of memory besides the program itself.
static BOUNDARIES: LazyLock<Option<EmbeddedFinder>> =
    LazyLock::new(|| EmbeddedFinder::from_tzb(tzf_dist::load_lite_tzb()).ok());

/// The bundled rules. jiff's global database is not used, because it prefers the system's database.
static RULES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// The IANA name of the time zone at a position, such as `Europe/Lisbon`.
///
/// Where two zones overlap, the first one in the data counts: in Xinjiang this is `Asia/Shanghai`, China's official time,
/// and not `Asia/Urumqi`. On the open sea it is the nautical zone, such as `Etc/GMT+5` (five hours *behind* UTC).
///
/// `None` means a gap in the data. The bundled data has no gap.
pub fn time_zone(position: Position) -> Option<&'static str> {
    let boundaries = BOUNDARIES.as_ref()?;
    Some(boundaries.get_tz_name(position.longitude(), position.latitude())).filter(|name| !name.is_empty())
}

/// The offset from UTC of a wall time at a position, in minutes (−240 is four hours behind UTC), by the rules of that time.
///
/// When clocks are set back, a wall time occurs twice and counts as the first occurrence. When clocks are set forward, a skipped
/// wall time gets the offset before the gap. Both follow RFC 5545, section 3.3.5. Local mean times have offsets with seconds, which
/// are rounded to the minute.
///
/// `None` if there is no [`time_zone`], or if the zone has no rules.
pub fn offset_minutes(position: Position, wall: DateTime) -> Option<i32> {
    Some(offset_of_wall(&rules(position)?, wall))
}

/// Whether there is a time zone of this name in the IANA database. Letter case is ignored.
pub fn is_zone(name: &str) -> bool {
    RULES.get(name).is_ok()
}

/// As [`offset_minutes`], in the time zone of this name; `None` if there is none.
pub fn zone_offset_minutes(name: &str, wall: DateTime) -> Option<i32> {
    Some(offset_of_wall(&RULES.get(name).ok()?, wall))
}

fn offset_of_wall(zone: &TimeZone, wall: DateTime) -> i32 {
    let offset = match zone.to_ambiguous_timestamp(wall).offset() {
        AmbiguousOffset::Unambiguous { offset } => offset,
        AmbiguousOffset::Fold { before, .. } | AmbiguousOffset::Gap { before, .. } => before,
    };
    whole_minutes(offset)
}

/// The offset from UTC at a position at a moment, in minutes, by the rules of that time. Rounded like [`offset_minutes`],
/// and `None` in the same cases.
pub fn offset_minutes_at(position: Position, moment: Timestamp) -> Option<i32> {
    let moment = jiff::Timestamp::from_millisecond(moment.millis()).ok()?;
    Some(whole_minutes(rules(position)?.to_offset(moment)))
}

/// Whether clocks somewhere had this offset from UTC at a moment, by the rules of that time. Rounded like
/// [`offset_minutes`].
pub fn is_offset_in_use(minutes: i32, moment: Timestamp) -> bool {
    /// Upper bound on offsets. The largest offset is the local mean time of Manila until 1844.
    const MAX_MINUTES: u32 = 16 * 60;

    if minutes.unsigned_abs() > MAX_MINUTES {
        return false;
    }
    let Ok(moment) = jiff::Timestamp::from_millisecond(moment.millis()) else { return false };
    RULES.available().any(|name| {
        RULES.get(name.as_str()).is_ok_and(|zone| whole_minutes(zone.to_offset(moment)) == minutes)
    })
}

fn rules(position: Position) -> Option<TimeZone> {
    RULES.get(time_zone(position)?).ok()
}

fn whole_minutes(offset: Offset) -> i32 {
    (offset.seconds() + 30).div_euclid(60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(latitude: f64, longitude: f64) -> Position {
        Position::new(latitude, longitude).unwrap()
    }

    #[test]
    fn zones_and_offsets_around_the_world() {
        let check = |latitude, longitude, zone: &str, wall: &str, minutes: i32| {
            let position = at(latitude, longitude);
            assert_eq!(time_zone(position), Some(zone), "{latitude}, {longitude}");
            assert_eq!(offset_minutes(position, wall.parse().unwrap()), Some(minutes), "{zone} {wall}");
        };
        // Winter and summer, north and south.
        check(48.8566, 2.3522, "Europe/Paris", "2024-01-15T12:00", 60);
        check(48.8566, 2.3522, "Europe/Paris", "2024-07-15T12:00", 120);
        check(40.7128, -74.0060, "America/New_York", "2024-01-15T12:00", -300);
        check(40.7128, -74.0060, "America/New_York", "2024-07-15T12:00", -240);
        check(-33.8568, 151.2153, "Australia/Sydney", "2024-01-15T12:00", 660);
        check(-33.8568, 151.2153, "Australia/Sydney", "2024-07-15T12:00", 600);
        check(-33.45, -70.66, "America/Santiago", "2024-01-15T12:00", -180);
        // Half and quarter hours.
        check(28.6139, 77.2090, "Asia/Kolkata", "2024-01-15T12:00", 330);
        check(27.7172, 85.3240, "Asia/Kathmandu", "2024-01-15T12:00", 345);
        check(27.7172, 85.3240, "Asia/Kathmandu", "1985-06-15T12:00", 330);
        check(47.5615, -52.7126, "America/St_Johns", "2024-01-15T12:00", -210);
        check(-34.9285, 138.6007, "Australia/Adelaide", "2024-07-15T12:00", 570);
        check(-31.68, 128.88, "Australia/Eucla", "2024-07-15T12:00", 525);
        check(-31.5553, 159.0821, "Australia/Lord_Howe", "2024-01-15T12:00", 660);
        check(-31.5553, 159.0821, "Australia/Lord_Howe", "2024-07-15T12:00", 630);
        check(-43.9504, -176.5597, "Pacific/Chatham", "2024-01-15T12:00", 825);
        check(34.5553, 69.2075, "Asia/Kabul", "2024-01-15T12:00", 270);
        // Both sides of the date line, and islands that changed sides.
        check(1.8721, -157.4278, "Pacific/Kiritimati", "2024-01-15T12:00", 840);
        check(1.8721, -157.4278, "Pacific/Kiritimati", "1975-01-15T12:00", -640);
        check(1.8721, -157.4278, "Pacific/Kiritimati", "1990-01-15T12:00", -600);
        check(-13.8333, -171.7667, "Pacific/Apia", "2024-01-15T12:00", 780);
        check(-13.8333, -171.7667, "Pacific/Apia", "2011-12-01T12:00", -600);
        check(-14.2756, -170.7020, "Pacific/Pago_Pago", "2024-01-15T12:00", -660);
        check(-16.85, 179.97, "Pacific/Fiji", "2024-07-15T12:00", 720);
        check(-16.85, -179.97, "Pacific/Fiji", "2024-07-15T12:00", 720);
        check(65.78, -169.06, "Asia/Anadyr", "2024-07-15T12:00", 720);
        check(65.75, -168.92, "America/Nome", "2024-07-15T12:00", -480);
        // Neighbours with different rules: Arizona has no summer time, the Navajo Nation in Arizona has it, and the
        // Hopi Reservation inside the Navajo Nation does not.
        check(33.4484, -112.0740, "America/Phoenix", "2024-07-15T12:00", -420);
        check(36.1544, -109.5526, "America/Denver", "2024-07-15T12:00", -360);
        check(35.8750, -110.6200, "America/Phoenix", "2024-07-15T12:00", -420);
        // Two zones claim Xinjiang.
        check(43.8256, 87.6168, "Asia/Shanghai", "2024-01-15T12:00", 480);
        // The far north and south.
        check(78.2232, 15.6267, "Arctic/Longyearbyen", "2024-07-15T12:00", 120);
        check(-77.8460, 166.6760, "Antarctica/McMurdo", "2024-01-15T12:00", 780);
        check(-90.0, 0.0, "Antarctica/McMurdo", "2024-01-15T12:00", 780);
        check(90.0, 0.0, "Etc/GMT", "2024-07-15T12:00", 0);
        // The open sea.
        check(30.0, -40.0, "Etc/GMT+3", "2024-07-15T12:00", -180);
        check(0.0, 180.0, "Etc/GMT-12", "2024-07-15T12:00", 720);
        check(0.0, -180.0, "Etc/GMT+12", "2024-07-15T12:00", -720);
    }

    #[test]
    fn offsets_follow_historical_rules() {
        let check = |latitude, longitude, wall: &str, minutes: i32| {
            let offset = offset_minutes(at(latitude, longitude), wall.parse().unwrap());
            assert_eq!(offset, Some(minutes), "{latitude}, {longitude} {wall}");
        };
        let (berlin, paris, lisbon) = ((52.52, 13.405), (48.8566, 2.3522), (38.7223, -9.1393));
        let (moscow, caracas, istanbul) = ((55.7558, 37.6173), (10.48, -66.9), (41.0082, 28.9784));
        let at_place = |(latitude, longitude), wall, minutes| check(latitude, longitude, wall, minutes);
        // Germany had no summer time from 1950 to 1979; France has had it since 1976.
        at_place(berlin, "1975-07-15T12:00", 60);
        at_place(berlin, "1980-07-15T12:00", 120);
        at_place(berlin, "1947-06-01T12:00", 180);
        at_place(paris, "1975-07-15T12:00", 60);
        at_place(paris, "1976-07-15T12:00", 120);
        // Portugal kept the time of Central Europe from 1992 to 1996.
        at_place(lisbon, "1991-07-15T12:00", 60);
        at_place(lisbon, "1994-07-15T12:00", 120);
        at_place(lisbon, "1995-01-15T12:00", 60);
        at_place(lisbon, "1998-01-15T12:00", 0);
        // Moscow stayed on summer time from 2011 to 2014.
        at_place(moscow, "2010-01-15T12:00", 180);
        at_place(moscow, "2012-01-15T12:00", 240);
        at_place(moscow, "2015-01-15T12:00", 180);
        at_place(caracas, "2010-01-15T12:00", -270);
        at_place(istanbul, "2015-01-15T12:00", 120);
        at_place(istanbul, "2017-01-15T12:00", 180);
        // Before standard time: 9 minutes and 21 seconds, and −4:56:02.
        at_place(paris, "1880-01-15T12:00", 9);
        check(40.7128, -74.0060, "1880-01-15T12:00", -296);
        // The rules continue after the last year in the database.
        at_place(paris, "2100-07-15T12:00", 120);
    }

    #[test]
    fn offset_of_a_moment_follows_the_rules_of_its_time() {
        let check = |latitude, longitude, moment: &str, minutes: i32| {
            let offset = offset_minutes_at(at(latitude, longitude), Timestamp::parse_iso(moment).unwrap());
            assert_eq!(offset, Some(minutes), "{latitude}, {longitude} {moment}");
        };
        check(48.8566, 2.3522, "2024-01-15T12:00Z", 60);
        check(48.8566, 2.3522, "2024-07-15T12:00Z", 120);
        check(27.7172, 85.3240, "2024-01-15T12:00Z", 345);
        // A repeated hour: a moment is not ambiguous.
        check(40.7128, -74.0060, "2024-11-03T05:30Z", -240);
        check(40.7128, -74.0060, "2024-11-03T06:30Z", -300);
        // Local mean time: +0:09:21 and −4:56:02.
        check(48.8566, 2.3522, "1880-01-15T12:00Z", 9);
        check(40.7128, -74.0060, "1880-01-15T12:00Z", -296);
    }

    #[test]
    fn ambiguous_and_skipped_wall_times_use_the_earlier_offset() {
        let check = |wall: &str, minutes: i32| {
            let offset = offset_minutes(at(40.7128, -74.0060), wall.parse().unwrap());
            assert_eq!(offset, Some(minutes), "{wall}");
        };
        check("2024-03-10T01:59:59", -300);
        check("2024-03-10T02:30", -300);
        check("2024-03-10T03:00", -240);
        check("2024-11-03T00:59:59", -240);
        check("2024-11-03T01:30", -240);
        check("2024-11-03T02:00", -300);
    }

    #[test]
    fn zones_are_found_by_name() {
        let wall = jiff::civil::date(2024, 7, 15).at(12, 0, 0, 0);
        assert_eq!(zone_offset_minutes("Europe/Lisbon", wall), Some(60));
        assert_eq!(zone_offset_minutes("asia/kolkata", wall), Some(330));
        assert_eq!(zone_offset_minutes("Europe/Nowhere", wall), None);
        assert!(is_zone("America/New_York") && !is_zone("") && !is_zone("Mars/Olympus"));
    }

    #[test]
    fn offsets_are_in_use_only_in_their_time() {
        let check = |minutes, moment: &str, expect| {
            let moment = Timestamp::parse_iso(moment).unwrap();
            assert_eq!(is_offset_in_use(minutes, moment), expect, "{minutes} {moment}");
        };
        for minutes in [-720, -570, 0, 120, 345, 525, 765, 840] {
            check(minutes, "2019-07-04T12:00Z", true);
        }
        for minutes in [-840, -721, 7, 135, 165, 825, 841, i32::MAX, i32::MIN] {
            check(minutes, "2019-07-04T12:00Z", false);
        }
        // Summer time in Newfoundland, the years of Venezuela's half hour, and Liberia's own time until 1972.
        check(-210, "2019-01-04T12:00Z", true);
        check(-210, "2019-07-04T12:00Z", false);
        check(-270, "2010-07-04T12:00Z", true);
        check(-270, "2019-07-04T12:00Z", false);
        check(-44, "1960-01-04T12:00Z", true);
        check(-44, "2019-01-04T12:00Z", false);
        check(9, "1880-01-04T12:00Z", true);
    }

    #[test]
    fn every_zone_has_rules() {
        let boundaries = BOUNDARIES.as_ref().unwrap();
        let names = boundaries.timezonenames();
        assert!(names.len() > 400);
        for name in names {
            assert!(RULES.get(name).is_ok(), "{name}");
        }
    }

    #[test]
    fn zones_can_be_read_by_concurrent_threads() {
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| assert_eq!(time_zone(at(38.7223, -9.1393)), Some("Europe/Lisbon")));
            }
        });
    }

    proptest! {
        #[test]
        fn every_wall_time_has_an_offset_of_at_most_a_day(
            latitude in -90.0..=90.0_f64,
            longitude in -180.0..=180.0_f64,
            year in -9999..=9999_i16,
            month in 1..=12_i8,
            hour in 0..=23_i8,
        ) {
            let wall = jiff::civil::date(year, month, 28).at(hour, 30, 0, 0);
            let minutes = offset_minutes(at(latitude, longitude), wall);
            prop_assert!(minutes.is_some_and(|minutes| minutes.abs() <= 24 * 60), "{minutes:?}");
        }
    }
}
