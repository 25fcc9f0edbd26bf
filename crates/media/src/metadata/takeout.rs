//! Reads the JSON file that a Google Takeout export puts beside a photo.

use domain::{Position, Timestamp};
use serde_json::Value;

use super::position::plausible;

/// Maximum size of a sidecar. Real ones have a few kilobytes.
const MAX_FILE_BYTES: usize = 1 << 20;

/// A sidecar of a Takeout export.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Takeout {
    /// The capture time, without the local time.
    pub(super) taken_at: Option<Timestamp>,
    /// The position set by the owner or Google, else the one in the uploaded file.
    pub(super) position: Option<Position>,
    /// The description that the owner wrote.
    pub(super) description: Option<String>,
}

impl Takeout {
    /// Reads a sidecar. `None` for any other file: exports contain JSON files about albums and orders as well.
    pub(super) fn read(file: &[u8]) -> Option<Self> {
        let file = file.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(file);
        if file.len() > MAX_FILE_BYTES {
            return None;
        }
        // The parser refuses more than 128 levels of nesting.
        let file: Value = serde_json::from_slice(file).ok()?;
        let taken_at = file.get("photoTakenTime");
        // The file of an album may have `geoData`, but it has a `date` and no `photoTakenTime`.
        let is_of_photo = taken_at.is_some() || (file.get("geoData").is_some() && file.get("date").is_none());
        if !is_of_photo {
            return None;
        }
        Some(Self {
            taken_at: taken_at.and_then(|taken_at| seconds(taken_at.get("timestamp")?)),
            position: ["geoData", "geoDataExif"].iter().find_map(|name| position(file.get(name)?)),
            description: file.get("description").and_then(Value::as_str).map(ToOwned::to_owned),
        })
    }
}

/// Seconds since 1970, which exports write as text.
fn seconds(value: &Value) -> Option<Timestamp> {
    let seconds = value.as_i64().or_else(|| value.as_str()?.trim().parse().ok())?;
    Timestamp::from_millis(seconds.checked_mul(1000)?)
}

fn position(place: &Value) -> Option<Position> {
    let degrees = |name| place.get(name).and_then(Value::as_f64);
    plausible(degrees("latitude")?, degrees("longitude")?, false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_whole_sidecar() {
        let read = Takeout::read(
            br#"{
                "title": "IMG_1.jpg",
                "description": "On the beach",
                "imageViews": "12",
                "creationTime": {"timestamp": "1600000000", "formatted": "13 Sept 2020, 12:26:40 UTC"},
                "photoTakenTime": {"timestamp": "1562256202", "formatted": "4 Jul 2019, 16:03:22 UTC"},
                "geoData": {"latitude": 48.858206, "longitude": 2.294481, "altitude": 0.0,
                            "latitudeSpan": 0.0, "longitudeSpan": 0.0},
                "geoDataExif": {"latitude": 1.0, "longitude": 2.0, "altitude": 0.0},
                "url": "https://photos.google.com/photo/x",
                "googlePhotosOrigin": {"mobileUpload": {"deviceType": "ANDROID_PHONE"}}
            }"#,
        )
        .unwrap();
        assert_eq!(read.taken_at.unwrap().to_string(), "2019-07-04T16:03:22.000Z");
        assert_eq!(read.position, Position::new(48.858_206, 2.294_481).ok());
        assert_eq!(read.description.as_deref(), Some("On the beach"));
    }

    #[test]
    fn times() {
        let check = |timestamp: &str, expect: Option<&str>| {
            let file = format!(r#"{{"photoTakenTime": {{"timestamp": {timestamp}}}}}"#);
            let taken_at =
                Takeout::read(file.as_bytes()).unwrap().taken_at.map(|taken_at| taken_at.to_string());
            assert_eq!(taken_at.as_deref(), expect, "{timestamp}");
        };
        check(r#""1562256202""#, Some("2019-07-04T16:03:22.000Z"));
        check("1562256202", Some("2019-07-04T16:03:22.000Z"));
        check(r#""-1217592000""#, Some("1931-06-02T12:00:00.000Z"));
        for missing in
            [r#""""#, r#""soon""#, "null", "1.5", "[]", r#""9223372036854775807""#, "9223372036854775808"]
        {
            check(missing, None);
        }
    }

    #[test]
    fn places() {
        let check = |places: &str, expect: Option<(f64, f64)>| {
            let file = format!(r#"{{"photoTakenTime": {{}}, {places}}}"#);
            let found = Takeout::read(file.as_bytes()).unwrap().position;
            assert_eq!(found.map(|at| (at.latitude(), at.longitude())), expect, "{places}");
        };
        check(r#""geoDataExif": {"latitude": 1, "longitude": -2.5}"#, Some((1.0, -2.5)));
        let zero = r#"{"latitude": 0.0, "longitude": 0.0}"#;
        check(
            &format!(r#""geoData": {zero}, "geoDataExif": {{"latitude": 1, "longitude": 2}}"#),
            Some((1.0, 2.0)),
        );
        check(&format!(r#""geoData": {zero}, "geoDataExif": {zero}"#), None);
        check(r#""geoData": {"latitude": 91, "longitude": 2}"#, None);
        check(r#""geoData": {"latitude": "1", "longitude": 2}"#, None);
        check(r#""geoData": null"#, None);
    }

    #[test]
    fn other_json_is_refused() {
        for other in [
            "",
            "{}",
            "[]",
            "1",
            "{\"photoTakenTime\"",
            r#"{"title": "Holidays", "description": "", "access": "protected"}"#,
            r#"{"title": "Holidays", "date": {"timestamp": "1"}, "geoData": {"latitude": 1, "longitude": 2}}"#,
            r#"{"externalOrderId": "1"}"#,
        ] {
            assert_eq!(Takeout::read(other.as_bytes()), None, "{other}");
        }
        assert!(Takeout::read(b"\xEF\xBB\xBF{\"geoData\": {}}").is_some());
        let long = format!(r#"{{"photoTakenTime": {{}}, "x": "{}"}}"#, "x".repeat(MAX_FILE_BYTES));
        assert_eq!(Takeout::read(long.as_bytes()), None);
        let deep = format!(r#"{{"photoTakenTime": {}}}"#, "[".repeat(100_000));
        assert_eq!(Takeout::read(deep.as_bytes()), None);
    }

    proptest! {
        #[test]
        fn arbitrary_text_never_panics(time in "\"?-?[0-9]{0,30}\"?|.*", place in ".*") {
            let _ = Takeout::read(format!(r#"{{"photoTakenTime": {{"timestamp": {time}}}, "geoData": {place}}}"#).as_bytes());
            let _ = Takeout::read(place.as_bytes());
        }
    }
}
