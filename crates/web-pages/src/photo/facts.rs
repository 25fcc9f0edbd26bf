//! What pages say about a photo: times as its clock showed them, and places.

use domain::{CameraSettings, CaptureTime, Image, Position, UtcOffset};

use crate::{layout::format_wall, photo_text::date_of};

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

/// The settings of a camera, such as `1/125 s · f/1.8 · ISO 400 · 4.2 mm (26 mm in 35 mm format)`.
pub(super) fn exposure(settings: &CameraSettings) -> String {
    let full_frame = settings.focal_length_35mm.map(|length| format!("{length} mm in 35 mm format"));
    let focal_length = match (settings.focal_length_mm, full_frame) {
        (Some(length), Some(full_frame)) => Some(format!("{} mm ({full_frame})", rounded(length))),
        (Some(length), None) => Some(format!("{} mm", rounded(length))),
        (None, full_frame) => full_frame,
    };
    let parts = [
        settings.exposure_s.map(|seconds| format!("{} s", exposure_time(seconds))),
        settings.f_number.map(|number| format!("f/{}", rounded(number))),
        settings.iso.map(|iso| format!("ISO {iso}")),
        focal_length,
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// The length of a file, such as `3.4 MB`.
pub(super) fn file_size(bytes: u64) -> String {
    // Each unit up to where it would round to 1,000.
    match bytes {
        0..=999 => format!("{bytes} bytes"),
        1_000..=999_499 => format!("{} kB", (bytes + 500) / 1_000),
        _ => format!(
            "{}.{} MB",
            bytes.saturating_add(50_000) / 1_000_000,
            bytes.saturating_add(50_000) / 100_000 % 10
        ),
    }
}

/// A number with at most one decimal.
fn rounded(number: f64) -> String {
    format!("{number:.1}").trim_end_matches(".0").to_owned()
}

/// An exposure time in seconds, as a fraction if it is short.
fn exposure_time(seconds: f64) -> String {
    if seconds < 0.3 { format!("1/{:.0}", 1.0 / seconds) } else { rounded(seconds) }
}

/// The name of the file that a browser saves the picture in: that of the photo's file, but a WebP.
pub(super) fn saved_name(image: &Image) -> String {
    let name = image.file_name.as_deref().unwrap_or_default();
    format!(
        "{}.webp",
        stem(name).map_or_else(|| format!("Photo, {}", date_of(image.captured_at)), str::to_owned)
    )
}

/// The name of a file without its folders and its extension.
fn stem(name: &str) -> Option<&str> {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem).trim();
    (!stem.trim_matches('.').is_empty()).then_some(stem)
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

    #[test]
    fn settings_are_written_as_on_cameras() {
        let all = CameraSettings {
            lens: None,
            f_number: Some(1.8),
            exposure_s: Some(0.008),
            iso: Some(400),
            focal_length_mm: Some(4.25),
            focal_length_35mm: Some(26),
        };
        assert_eq!(exposure(&all), "1/125 s · f/1.8 · ISO 400 · 4.2 mm (26 mm in 35 mm format)");
        let some = CameraSettings { f_number: Some(8.0), exposure_s: Some(2.5), ..CameraSettings::default() };
        assert_eq!(exposure(&some), "2.5 s · f/8");
        let fraction = |exposure_s| exposure(&CameraSettings { exposure_s, ..CameraSettings::default() });
        assert_eq!(
            [0.25, 0.3, 1.0, 30.0].map(|time| fraction(Some(time))),
            ["1/4 s", "0.3 s", "1 s", "30 s"]
        );
        assert_eq!(exposure(&CameraSettings::default()), "");
    }

    #[test]
    fn file_sizes_have_a_fitting_unit() {
        for (bytes, expected) in [
            (0, "0 bytes"),
            (999, "999 bytes"),
            (1_499, "1 kB"),
            (999_499, "999 kB"),
            (999_500, "1.0 MB"),
            (3_449_999, "3.4 MB"),
            (123_456_789, "123.5 MB"),
        ] {
            assert_eq!(file_size(bytes), expected);
        }
    }

    #[test]
    fn a_saved_picture_has_the_name_of_its_file() {
        for (name, expected) in [
            ("IMG_1234.HEIC", Some("IMG_1234")),
            ("beach.day.jpg", Some("beach.day")),
            ("trip/IMG 1.jpg", Some("IMG 1")),
            ("C:\\trip\\a", Some("a")),
            ("..", None),
            (".jpg", None),
            ("", None),
        ] {
            assert_eq!(stem(name), expected, "{name}");
        }
    }
}
