//! Reads the JSON files of a Google Takeout export: those beside photos, and those of albums.

use domain::{Position, Timestamp, clean_text};
use serde_json::Value;

use super::position::plausible;

/// Maximum size of a sidecar. Real ones have a few kilobytes.
const MAX_FILE_BYTES: usize = 1 << 20;

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Takeout {
    /// The capture time, without the local time.
    pub(super) taken_at: Option<Timestamp>,
    /// The position in the uploaded file, else the one set by the owner or Google.
    pub(super) position: Option<Position>,
    /// The description that the owner wrote.
    pub(super) description: Option<String>,
    pub(super) is_favorite: bool,
    pub(super) is_archived: bool,
}

impl Takeout {
    /// Reads a sidecar. `None` for any other file: exports contain JSON files about albums and orders as well.
    pub(super) fn read(file: &[u8]) -> Option<Self> {
        let file = parse(file)?;
        is_of_photo(&file).then(|| Self {
            taken_at: time(&file, TAKEN),
            position: position_of(&file),
            description: file.get("description").and_then(Value::as_str).map(ToOwned::to_owned),
            is_favorite: is_true(&file, "favorited"),
            is_archived: is_true(&file, "archived"),
        })
    }
}

/// What a JSON file of a Takeout export describes.
#[derive(Debug, Clone, PartialEq)]
pub enum TakeoutFile {
    /// A photo or video.
    Photo(TakeoutPhoto),
    /// The album whose photos are in the same folder.
    Album(TakeoutAlbum),
    /// Something else, such as an order of prints.
    Other,
}

/// The values in a photo's JSON file that tell photos apart.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TakeoutPhoto {
    /// The photo's file name before the export shortened it.
    pub title: Option<String>,
    pub taken_at: Option<Timestamp>,
    /// The time of the upload to Google Photos.
    pub uploaded_at: Option<Timestamp>,
    pub position: Option<Position>,
    pub is_trashed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakeoutAlbum {
    /// The title, not blank.
    pub title: String,
    /// Whether members besides the title confirm that the file describes an album. Outside of an export, a file with only a title
    /// may be anything.
    pub is_certain: bool,
}

/// Reads a JSON file of a Takeout export. The content decides, because the names of these files are localized.
///
/// ```
/// use media::{TakeoutFile, takeout_file};
/// let album = br#"{"title": "Holidays", "access": "protected", "date": {"timestamp": "1"}}"#;
/// assert!(matches!(takeout_file(album), TakeoutFile::Album(album) if album.title == "Holidays"));
/// assert_eq!(takeout_file(b"{}"), TakeoutFile::Other);
/// ```
pub fn takeout_file(file: &[u8]) -> TakeoutFile {
    let Some(file) = parse(file) else { return TakeoutFile::Other };
    if is_of_photo(&file) {
        return TakeoutFile::Photo(TakeoutPhoto {
            title: file.get("title").and_then(Value::as_str).map(ToOwned::to_owned),
            taken_at: time(&file, TAKEN).filter(|at| at.millis() != 0),
            uploaded_at: time(&file, "creationTime"),
            position: position_of(&file),
            is_trashed: is_true(&file, "trashed"),
        });
    }
    album(&file).map_or(TakeoutFile::Other, TakeoutFile::Album)
}

/// Older exports put the members of an album into `albumData`.
fn album(file: &Value) -> Option<TakeoutAlbum> {
    const OF_ALBUMS: [&str; 6] = ["access", "date", "description", "enrichments", "location", "geoData"];
    let old = file.get("albumData");
    let album = old.unwrap_or(file);
    let title = clean_text(album.get("title")?.as_str()?)?;
    let is_certain = old.is_some() || OF_ALBUMS.iter().any(|name| album.get(name).is_some());
    Some(TakeoutAlbum { title, is_certain })
}

fn parse(file: &[u8]) -> Option<Value> {
    let file = file.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(file);
    if file.len() > MAX_FILE_BYTES {
        return None;
    }
    // The parser refuses more than 128 levels of nesting.
    serde_json::from_slice(file).ok()
}

/// Whether a file describes a photo. The file of an album may also have `geoData`, but then has a `date` and no `photoTakenTime`.
fn is_of_photo(file: &Value) -> bool {
    file.get(TAKEN).is_some() || (file.get("geoData").is_some() && file.get("date").is_none())
}

fn is_true(file: &Value, name: &str) -> bool {
    file.get(name).and_then(Value::as_bool).unwrap_or(false)
}

/// The member with the capture time.
const TAKEN: &str = "photoTakenTime";

fn time(file: &Value, name: &str) -> Option<Timestamp> {
    seconds(file.get(name)?.get("timestamp")?)
}

/// Seconds since 1970, which exports write as text.
fn seconds(value: &Value) -> Option<Timestamp> {
    let seconds = value.as_i64().or_else(|| value.as_str()?.trim().parse().ok())?;
    Timestamp::from_millis(seconds.checked_mul(1000)?)
}

/// The position in the uploaded file, else the one set by the owner or Google.
fn position_of(file: &Value) -> Option<Position> {
    ["geoDataExif", "geoData"].iter().find_map(|name| position(file.get(name)?))
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
    fn a_whole_sidecar_is_read() {
        let read = Takeout::read(
            br#"{
                "title": "IMG_1.jpg",
                "description": "On the beach",
                "favorited": true,
                "archived": true,
                "imageViews": "12",
                "creationTime": {"timestamp": "1600000000", "formatted": "13 Sept 2020, 12:26:40 UTC"},
                "photoTakenTime": {"timestamp": "1562256202", "formatted": "4 Jul 2019, 16:03:22 UTC"},
                "geoData": {"latitude": 1.0, "longitude": 2.0, "altitude": 0.0,
                            "latitudeSpan": 0.0, "longitudeSpan": 0.0},
                "geoDataExif": {"latitude": 48.858206, "longitude": 2.294481, "altitude": 0.0},
                "url": "https://photos.google.com/photo/x",
                "googlePhotosOrigin": {"mobileUpload": {"deviceType": "ANDROID_PHONE"}}
            }"#,
        )
        .unwrap();
        assert_eq!(read.taken_at.unwrap().to_string(), "2019-07-04T16:03:22.000Z");
        assert_eq!(read.position, Position::new(48.858_206, 2.294_481).ok());
        assert_eq!(read.description.as_deref(), Some("On the beach"));
        assert_eq!((read.is_favorite, read.is_archived), (true, true));
        let plain =
            Takeout::read(br#"{"photoTakenTime": {}, "favorited": false, "archived": "yes"}"#).unwrap();
        assert_eq!((plain.is_favorite, plain.is_archived), (false, false));
    }

    #[test]
    fn capture_times_are_read() {
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
    fn positions_are_read() {
        let check = |places: &str, expect: Option<(f64, f64)>| {
            let file = format!(r#"{{"photoTakenTime": {{}}, {places}}}"#);
            let found = Takeout::read(file.as_bytes()).unwrap().position;
            assert_eq!(found.map(|at| (at.latitude(), at.longitude())), expect, "{places}");
        };
        check(r#""geoDataExif": {"latitude": 1, "longitude": -2.5}"#, Some((1.0, -2.5)));
        let zero = r#"{"latitude": 0.0, "longitude": 0.0}"#;
        check(
            &format!(r#""geoDataExif": {zero}, "geoData": {{"latitude": 1, "longitude": 2}}"#),
            Some((1.0, 2.0)),
        );
        check(&format!(r#""geoData": {zero}, "geoDataExif": {zero}"#), None);
        check(r#""geoData": {"latitude": 91, "longitude": 2}"#, None);
        check(r#""geoData": {"latitude": "1", "longitude": 2}"#, None);
        check(r#""geoData": null"#, None);
    }

    #[test]
    fn the_content_decides_what_a_file_describes() {
        let photo = |title: &str, seconds: Option<i64>, is_trashed| {
            let taken_at = seconds.and_then(|seconds| Timestamp::from_millis(seconds * 1000));
            TakeoutFile::Photo(TakeoutPhoto {
                title: Some(title.into()),
                taken_at,
                is_trashed,
                ..TakeoutPhoto::default()
            })
        };
        let album =
            |title: &str, is_certain| TakeoutFile::Album(TakeoutAlbum { title: title.into(), is_certain });
        let check = |file: &str, expect| assert_eq!(takeout_file(file.as_bytes()), expect, "{file}");
        check(r#"{"title": "x.jpg", "photoTakenTime": {"timestamp": "5"}}"#, photo("x.jpg", Some(5), false));
        check(r#"{"title": "x.jpg", "photoTakenTime": {"timestamp": "0"}}"#, photo("x.jpg", None, false));
        check(r#"{"title": "x", "photoTakenTime": {}, "trashed": true}"#, photo("x", None, true));
        let whole = r#"{"title": "x", "photoTakenTime": {"timestamp": "5"}, "creationTime": {"timestamp": "7"},
            "geoData": {"latitude": 1, "longitude": 2}}"#;
        let expect = TakeoutPhoto {
            title: Some("x".into()),
            taken_at: Timestamp::from_millis(5000),
            uploaded_at: Timestamp::from_millis(7000),
            position: Position::new(1.0, 2.0).ok(),
            is_trashed: false,
        };
        check(whole, TakeoutFile::Photo(expect));
        check(r#"{"title": " Été ", "description": "", "access": "protected"}"#, album("Été", true));
        check(r#"{"albumData": {"title": "Old", "date": {"timestamp": "1"}}}"#, album("Old", true));
        check(r#"{"title": "our holidays"}"#, album("our holidays", false));
        for other in [r#"{"title": " ", "date": {}}"#, r#"{"title": ["a"]}"#, r#"{"albumData": {}}"#, "[]"] {
            check(other, TakeoutFile::Other);
        }
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
