//! What pages say about a photo: times as its clock showed them, and places.

use domain::{CaptureTime, Position, UtcOffset};

use crate::layout::format_wall;

/// A wall-clock time, such as `14 July 2024, 15:04:30`.
pub(super) fn wall_time(capture: &CaptureTime) -> String {
    let wall = capture.wall_clock();
    format!("{}:{:02}", format_wall(wall), wall.second())
}

/// The zone of a capture time, such as `UTC+02:00`.
pub(super) fn zone(capture: &CaptureTime) -> String {
    match capture.offset_minutes.and_then(UtcOffset::from_minutes) {
        Some(offset) if offset == UtcOffset::UTC => "UTC".to_owned(),
        Some(offset) => format!("UTC{offset}"),
        None => "time zone unknown".to_owned(),
    }
}

/// A wall-clock time for a field of the type `datetime-local`.
pub(super) fn field_time(capture: &CaptureTime) -> String {
    let wall = capture.wall_clock();
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}",
        wall.year(),
        wall.month(),
        wall.day(),
        wall.hour(),
        wall.minute(),
        wall.second()
    )
}

/// A position, such as `38.72230, -9.13930`.
pub(super) fn coordinates(position: Position) -> String {
    format!("{:.5}, {:.5}", position.latitude(), position.longitude())
}

#[cfg(test)]
mod tests {
    use domain::{CaptureSource, Timestamp};

    use super::*;

    #[test]
    fn times_are_those_of_the_clock() {
        let capture = |at, offset_minutes| CaptureTime {
            at: Timestamp::parse_iso(at).unwrap(),
            wall: None,
            offset_minutes,
            source: CaptureSource::ExifOriginal,
        };
        let new_year = capture("2023-12-31T23:30:05Z", Some(60));
        assert_eq!(wall_time(&new_year), "1 January 2024, 00:30:05");
        assert_eq!(zone(&new_year), "UTC+01:00");
        assert_eq!(field_time(&new_year), "2024-01-01T00:30:05");
        let unknown = capture("2023-12-31T23:30:05Z", None);
        assert_eq!(
            (wall_time(&unknown).as_str(), zone(&unknown).as_str()),
            ("31 December 2023, 23:30:05", "time zone unknown")
        );
        assert_eq!(zone(&capture("2023-12-31T23:30:05Z", Some(0))), "UTC");
    }
}
