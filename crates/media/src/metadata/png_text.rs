//! Reads the text chunks of a PNG (PNG, third edition, section 11.3.3).

use std::borrow::Cow;

use jiff::fmt::rfc2822::DateTimeParser;

use super::written_time::{MAX_OFFSET_MINUTES, ParsedTime, Precision, parse_time};
use crate::container::PngTexts;
use crate::text;

/// Maximum length of an RFC 1123 date, in bytes.
const MAX_DATE_BYTES: usize = 100;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PngText {
    /// `Title`.
    pub(super) title: Option<String>,
    /// `Description`.
    pub(super) description: Option<String>,
    /// `Comment`.
    pub(super) comment: Option<String>,
    /// `Creation Time`.
    pub(super) created: Option<ParsedTime>,
}

impl PngText {
    /// Decodes the texts as UTF-8 if they are valid UTF-8, else as Windows-1252. Many programs write UTF-8 into Latin-1
    /// chunks.
    pub(super) fn read(texts: &PngTexts<'_>) -> Self {
        let text = |bytes: &Option<Cow<'_, [u8]>>| bytes.as_deref().map(text::decode);
        Self {
            title: text(&texts.title),
            description: text(&texts.description),
            comment: text(&texts.comment),
            created: text(&texts.creation_time).as_deref().and_then(parse_creation_time),
        }
    }
}

/// Parses a date in the format of RFC 1123, which the standard suggests, or of ISO 8601 or EXIF, which programs write.
fn parse_creation_time(text: &str) -> Option<ParsedTime> {
    parse_time(text, None).or_else(|| parse_rfc_1123(text))
}

fn parse_rfc_1123(text: &str) -> Option<ParsedTime> {
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    if text.len() > MAX_DATE_BYTES {
        return None;
    }
    let zoned = DateTimeParser::new().relaxed_weekday(true).parse_zoned(text).ok()?;
    let offset_minutes = zoned.offset().seconds() / 60;
    (offset_minutes.abs() <= MAX_OFFSET_MINUTES).then(|| ParsedTime {
        wall: zoned.datetime(),
        offset_minutes: Some(offset_minutes),
        precision: Precision::Second,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn creation_times_are_parsed() {
        let check = |text: &str, expect: Option<(&str, Option<i32>)>| {
            let read = parse_creation_time(text).map(|time| (time.wall.to_string(), time.offset_minutes));
            let read = read.as_ref().map(|(wall, offset)| (wall.as_str(), *offset));
            assert_eq!(read, expect, "{text:?}");
        };
        check("Thu, 04 Jul 2019 18:03:22 +0545", Some(("2019-07-04T18:03:22", Some(345))));
        check("Thu, 4 Jul 2019 18:03 GMT", Some(("2019-07-04T18:03:00", Some(0))));
        check(" 4 Jul 2019 18:03:22 EST\0", Some(("2019-07-04T18:03:22", Some(-300))));
        check("2019-07-04T18:03:22+02:00", Some(("2019-07-04T18:03:22", Some(120))));
        check("2019:07:04 18:03:22", Some(("2019-07-04T18:03:22", None)));
        for none in ["", "4 July", "Thu, 04 Jul 2019 18:03:22 +1500", "Thu, 04 Jul 2019 25:03:22 GMT"] {
            check(none, None);
        }
        let long = format!("Thu, 04 Jul 2019 18:03:22 +0200 {}", "(a comment) ".repeat(100));
        check(&long, None);
    }

    proptest! {
        #[test]
        fn arbitrary_texts_never_panic(
            date in "[A-Z][a-z]{2}, [0-9]{1,2} (Jan|Feb|Dec) [0-9]{2,4} [0-9:]{0,9} [A-Z0-9+-]{0,6}|.{0,120}",
            bytes in prop::collection::vec(any::<u8>(), 0..60),
        ) {
            if let Some(time) = parse_creation_time(&date) {
                prop_assert!(time.offset_minutes.unwrap_or(0).abs() <= MAX_OFFSET_MINUTES);
            }
            let bytes = || Some(Cow::Borrowed(bytes.as_slice()));
            let texts =
                PngTexts { title: bytes(), description: bytes(), comment: bytes(), creation_time: bytes() };
            let _ = PngText::read(&texts);
        }
    }
}
