//! Reads IPTC-IIM datasets (IPTC-IIM 4.2, chapters 1.5 and 6).

use super::written_time::{ParsedTime, parse_iptc};
use crate::text;

/// Maximum number of datasets; more than any program writes.
const MAX_DATASETS: usize = 10_000;

/// Maximum number of keywords that are read. A photo keeps fewer.
const MAX_KEYWORDS: usize = 1000;

/// Maximum size of the length field of an extended dataset, in bytes.
const MAX_LENGTH_BYTES: usize = 4;

/// The coded character set UTF-8: `ESC % G`.
const UTF_8: &[u8] = b"\x1B%G";

/// The datasets that are read. If a file has several with the same number, the first one counts, except for keywords.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Iptc {
    /// Creation of the depicted content, 2:55 and 2:60.
    pub(super) created: Option<ParsedTime>,
    /// Digitisation, 2:62 and 2:63.
    pub(super) digitized: Option<ParsedTime>,
    /// Caption, 2:120.
    pub(super) caption: Option<String>,
    /// Object name, 2:05.
    pub(super) title: Option<String>,
    /// Headline, 2:105.
    pub(super) headline: Option<String>,
    /// Keywords, 2:25, one in each dataset.
    pub(super) keywords: Vec<String>,
}

impl Iptc {
    /// Reads the datasets up to the first broken one.
    pub(super) fn read(bytes: &[u8]) -> Self {
        let found: Vec<Dataset<'_>> = Datasets { rest: bytes }.take(MAX_DATASETS).collect();
        let value = |record: u8, number: u8| {
            found.iter().find(|set| (set.record, set.number) == (record, number)).map(|set| set.value)
        };
        let is_utf8 = value(1, 90) == Some(UTF_8);
        let text = |number| value(2, number).map(|value| text_of(value, is_utf8));
        let time = |date, time| parse_iptc(&text(date)?, text(time).as_deref());
        Self {
            created: time(55, 60),
            digitized: time(62, 63),
            caption: text(120),
            title: text(5),
            headline: text(105),
            keywords: found
                .iter()
                .filter(|set| (set.record, set.number) == (2, 25))
                .take(MAX_KEYWORDS)
                .map(|set| text_of(set.value, is_utf8))
                .collect(),
        }
    }
}

struct Dataset<'a> {
    record: u8,
    number: u8,
    value: &'a [u8],
}

struct Datasets<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Datasets<'a> {
    type Item = Dataset<'a>;

    fn next(&mut self) -> Option<Dataset<'a>> {
        let [0x1C, record, number, high, low, rest @ ..] = self.rest else { return None };
        let (length, rest) = match u16::from_be_bytes([*high, *low]) {
            length @ ..0x8000 => (usize::from(length), rest),
            extended => {
                let count = usize::from(extended & 0x7FFF);
                let (digits, rest) = rest.split_at_checked(count).filter(|_| count <= MAX_LENGTH_BYTES)?;
                let length = digits.iter().fold(0_u32, |length, digit| length << 8 | u32::from(*digit));
                (usize::try_from(length).ok()?, rest)
            }
        };
        let (value, rest) = rest.split_at_checked(length)?;
        self.rest = rest;
        Some(Dataset { record: *record, number: *number, value })
    }
}

/// Decodes text. If UTF-8 is declared, invalid text is UTF-8 whose last character is truncated.
fn text_of(value: &[u8], is_utf8: bool) -> String {
    match std::str::from_utf8(value) {
        Err(_) if is_utf8 => {
            String::from_utf8_lossy(value).trim_end_matches(char::REPLACEMENT_CHARACTER).to_owned()
        }
        _ => text::decode(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn dataset(record: u8, number: u8, value: &[u8]) -> Vec<u8> {
        let length = u16::try_from(value.len()).unwrap().to_be_bytes();
        [&[0x1C, record, number], &length[..], value].concat()
    }

    fn extended(number: u8, length: &[u8], value: &[u8]) -> Vec<u8> {
        let count = 0x8000 | u16::try_from(length.len()).unwrap();
        [&[0x1C, 2, number], &count.to_be_bytes()[..], length, value].concat()
    }

    fn wall(time: Option<ParsedTime>) -> Option<(String, Option<i32>)> {
        time.map(|time| (time.wall.to_string(), time.offset_minutes))
    }

    #[test]
    fn times_belong_to_their_dates() {
        let read = Iptc::read(
            &[
                dataset(2, 0, &[0, 4]),
                dataset(2, 63, b"091500+0100"),
                dataset(2, 60, b"180322+0200"),
                dataset(2, 55, b"20190704"),
                dataset(2, 62, b"20190705"),
                dataset(2, 55, b"20200101"),
            ]
            .concat(),
        );
        assert_eq!(wall(read.created), Some(("2019-07-04T18:03:22".into(), Some(120))));
        assert_eq!(wall(read.digitized), Some(("2019-07-05T09:15:00".into(), Some(60))));
        assert_eq!(Iptc::read(&dataset(2, 60, b"180322+0200")).created, None);
    }

    #[test]
    fn texts_in_every_encoding_are_read() {
        let check = |charset: Option<&[u8]>, caption: &[u8], expect: &str| {
            let charset = charset.map(|charset| dataset(1, 90, charset)).unwrap_or_default();
            let read = Iptc::read(&[charset, dataset(2, 120, caption)].concat());
            assert_eq!(read.caption.as_deref(), Some(expect), "{caption:?}");
        };
        check(Some(UTF_8), "Zürich".as_bytes(), "Zürich");
        check(Some(UTF_8), b"Z\xC3\xBCri\xC3", "Züri");
        check(None, "Zürich".as_bytes(), "Zürich");
        check(None, b"Z\xFCrich \x96 \x93See\x94", "Zürich – “See”");
        check(Some(b"\x1B.A"), b"Z\xFCrich", "Zürich");
        check(None, b"", "");
    }

    #[test]
    fn every_keyword_is_read() {
        let sets = [dataset(2, 25, b"Sea"), dataset(2, 5, b"title"), dataset(2, 25, b"Z\xFCrich")];
        assert_eq!(Iptc::read(&sets.concat()).keywords, ["Sea", "Zürich"]);
        let many = dataset(2, 25, b"x").repeat(2 * MAX_KEYWORDS);
        assert_eq!(Iptc::read(&many).keywords.len(), MAX_KEYWORDS);
    }

    #[test]
    fn extended_lengths_are_read() {
        let check = |length: &[u8], value: &[u8], expect: Option<&str>| {
            let read = Iptc::read(&[extended(120, length, value), dataset(2, 5, b"title")].concat());
            assert_eq!(read.caption.as_deref(), expect, "{length:?}");
        };
        check(&[5], b"beach", Some("beach"));
        check(&[0, 0, 0, 5], b"beach", Some("beach"));
        check(&[], b"", Some(""));
        check(&[0xFF, 0xFF, 0xFF, 0xFF], b"beach", None);
        check(&[0, 0, 0, 0, 5], b"beach", None);
    }

    #[test]
    fn datasets_before_a_broken_one_are_kept() {
        let whole = [dataset(2, 5, b"title"), dataset(2, 120, b"caption")].concat();
        let cut = Iptc::read(&whole[..whole.len() - 1]);
        assert_eq!((cut.title.as_deref(), cut.caption), (Some("title"), None));
        let broken =
            Iptc::read(&[&dataset(2, 5, b"title")[..], b"\0\0\0", &dataset(2, 120, b"caption")].concat());
        assert_eq!((broken.title.as_deref(), broken.caption), (Some("title"), None));
        assert_eq!(Iptc::read(b""), Iptc::default());
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(prop_oneof![Just(0x1C), Just(2), Just(0), any::<u8>()], 0..200)) {
            let _ = Iptc::read(&bytes);
        }

        #[test]
        fn arbitrary_values_never_panic(date in prop::collection::vec(any::<u8>(), 0..20), time in "[0-9:+-]{0,12}") {
            let _ = Iptc::read(&[dataset(2, 55, &date), dataset(2, 60, time.as_bytes())].concat());
        }
    }
}
