use data_encoding::BASE64;
use domain::Timestamp;

/// Maximum length of `Upload-Metadata`, in bytes.
const MAX_BYTES: usize = 4096;

/// Maximum number of pairs in `Upload-Metadata`.
const MAX_PAIRS: usize = 32;

/// What `Upload-Metadata` says about a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UploadMetadata {
    /// Its name without folders, from `filename` or `name`.
    pub file_name: Option<String>,
    /// When it was last modified, from `lastModified` in milliseconds since 1970.
    pub modified_at: Option<Timestamp>,
}

/// The header is not a list of pairs of a key and base64.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "Upload-Metadata must be a list of at most 32 different keys with values in base64, with at most 4096 bytes"
)]
pub struct InvalidMetadata;

impl UploadMetadata {
    /// Reads the header: pairs of a key and a base64 value, separated by commas. A value may be missing. Unknown keys
    /// are ignored.
    pub fn parse(header: &str) -> Result<Self, InvalidMetadata> {
        if header.len() > MAX_BYTES {
            return Err(InvalidMetadata);
        }
        let mut pairs: Vec<(&str, Vec<u8>)> = Vec::new();
        for pair in header.split(',').map(str::trim).filter(|_| !header.trim().is_empty()) {
            let (key, value) = pair.split_once(' ').unwrap_or((pair, ""));
            let value = BASE64.decode(value.trim().as_bytes()).map_err(|_| InvalidMetadata)?;
            let is_known = pairs.iter().any(|(known, _)| *known == key);
            if key.is_empty() || !key.is_ascii() || is_known || pairs.len() == MAX_PAIRS {
                return Err(InvalidMetadata);
            }
            pairs.push((key, value));
        }
        let text = |key| {
            let (_, value) = pairs.iter().find(|(known, _)| *known == key)?;
            std::str::from_utf8(value).ok()
        };
        Ok(Self {
            file_name: text("filename").or_else(|| text("name")).and_then(file_name),
            modified_at: text("lastModified").and_then(|millis| {
                let millis: i64 = millis.parse().ok()?;
                Timestamp::from_millis(millis)
            }),
        })
    }
}

/// The last part of a path.
fn file_name(path: &str) -> Option<String> {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default().trim();
    Some(name).filter(|name| !name.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encoded(pairs: &[(&str, &str)]) -> String {
        let pair = |(key, value): &(&str, &str)| format!("{key} {}", BASE64.encode(value.as_bytes()));
        pairs.iter().map(pair).collect::<Vec<_>>().join(",")
    }

    #[test]
    fn name_and_time_are_read() {
        let check = |header: &str, name: Option<&str>, modified_ms: Option<i64>| {
            let parsed = UploadMetadata::parse(header).unwrap();
            assert_eq!(parsed.file_name.as_deref(), name, "{header}");
            assert_eq!(parsed.modified_at.map(Timestamp::millis), modified_ms, "{header}");
        };
        check("", None, None);
        check(
            &encoded(&[
                ("filename", "Sommer ä.jpg"),
                ("filetype", "image/jpeg"),
                ("lastModified", "1700000000123"),
            ]),
            Some("Sommer ä.jpg"),
            Some(1_700_000_000_123),
        );
        check(&encoded(&[("name", "2024/Trip\\a.jpg")]), Some("a.jpg"), None);
        check(&encoded(&[("name", "b"), ("filename", "a")]), Some("a"), None);
        check(&encoded(&[("filename", "a/"), ("lastModified", "soon")]), None, None);
        check("is_confidential, filename YQ==", Some("a"), None);
        check("filename /w==", None, None);
    }

    #[test]
    fn malformed_headers_are_refused() {
        let many: Vec<String> = (0..33).map(|number| format!("key{number}")).collect();
        let long = format!("filename {}", "A".repeat(4096));
        for header in [
            "filename %",
            "filename YQ",
            "filename YQ==,filename YQ==",
            ",",
            "a YQ==,",
            "ä YQ==",
            &many.join(","),
            &long,
        ] {
            assert_eq!(UploadMetadata::parse(header), Err(InvalidMetadata), "{header}");
        }
    }

    proptest! {
        #[test]
        fn any_header_is_parsed_or_refused(header in "[ -~]{0,200}|[a-z]{1,5} [A-Za-z0-9+/]{0,40}={0,2}(,[ a-zA-Z=]{0,20}){0,4}|.*") {
            if let Ok(parsed) = UploadMetadata::parse(&header)
                && let Some(name) = parsed.file_name
            {
                prop_assert!(!name.is_empty() && !name.contains(['/', '\\']));
            }
        }

        #[test]
        fn an_encoded_name_is_read_back(name in "[^/\\\\\\s][^/\\\\]{0,30}[^/\\\\\\s]", millis in -1_000_000_i64..4_000_000_000_000) {
            let parsed = UploadMetadata::parse(&encoded(&[("filename", &name), ("lastModified", &millis.to_string())])).unwrap();
            prop_assert_eq!(parsed.file_name.as_deref(), Some(name.trim()));
            prop_assert_eq!(parsed.modified_at.map(Timestamp::millis), Some(millis));
        }
    }
}
