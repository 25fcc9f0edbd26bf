//! Short texts: names of files and values of queries.

use domain::{Circle, MAX_TEXT_CHARS, Timestamp, clean_text, parse_decimal, parse_digits};
use media::FileFacts;

/// One file name a line: the time in it, whether it is junk, and which sidecar belongs to which picture.
pub(crate) fn file_names(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let names: Vec<&str> = text.lines().collect();
    let (sidecars, pictures): (Vec<&str>, Vec<&str>) =
        names.iter().partition(|name| media::sidecar_kind(name).is_some());
    let matches = media::match_sidecars(&pictures, &sidecars);
    assert_eq!(matches.of_pictures.len(), pictures.len());
    assert!(matches.unmatched.iter().all(|place| *place < sidecars.len()));
    for name in &names {
        let _ = media::is_junk_file_name(name);
        let facts = FileFacts { file_name: Some(name), modified: None, added: Timestamp::MAX, sidecars: &[] };
        let _ = media::metadata(b"", &facts);
    }
}

/// Dates, numbers and circles as they stand in a URL.
pub(crate) fn query(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(time) = Timestamp::parse_iso(text) {
        assert_eq!(Timestamp::parse_iso(&time.to_string()), Ok(time), "a time reads as it is written");
    }
    let _ = parse_digits("limit", text);
    let _ = parse_decimal("latitude", text);
    let mut parts = text.split(',').map(|part| parse_decimal("latitude", part).ok());
    let mut part = || parts.next().flatten();
    let _ = Circle::from_parts(part(), part(), part());
    if let Some(clean) = clean_text(text).filter(|clean| clean.chars().count() < MAX_TEXT_CHARS) {
        assert_eq!(clean_text(&clean).as_deref(), Some(clean.as_str()), "clean text stays clean");
    }
}
