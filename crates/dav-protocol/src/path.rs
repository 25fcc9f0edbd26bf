use std::borrow::Cow;

use domain::{FileName, FilePath, composed};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// The characters to escape. Nextcloud leaves the others unescaped in hrefs, and some clients compare hrefs as text.
const ESCAPED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~').remove(b'(').remove(b')');

/// The path is not valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the path is not valid: {0}")]
pub struct InvalidPath(String);

/// A path with one slash in place of several in a row. Many people enter a URL with a slash at the end and a folder with one
/// at the start, and clients join them.
pub fn single_slashes(path: &str) -> Cow<'_, str> {
    let mut path = Cow::Borrowed(path);
    while path.contains("//") {
        path = Cow::Owned(path.replace("//", "/"));
    }
    path
}

/// Reads a percent-encoded path relative to a root, such as `/a%20b/c.jpg`. A slash at the start and at the end has no
/// meaning. Names are normalised to NFC.
///
/// # Errors
/// [`InvalidPath`]: a name is empty, `.`, `..`, too long, not UTF-8, or contains a slash or a control character.
pub fn decode_path(path: &str) -> Result<FilePath, InvalidPath> {
    let path = path.strip_prefix('/').unwrap_or(path);
    if path.is_empty() {
        return Ok(FilePath::ROOT);
    }
    let path = path.strip_suffix('/').unwrap_or(path);
    let invalid = |error: domain::Invalid| InvalidPath(error.to_string());
    let name = |name| FileName::parse(&decode_name(name)?).map_err(invalid);
    FilePath::new(path.split('/').map(name).collect::<Result<_, _>>()?).map_err(invalid)
}

/// Decodes one percent-encoded name and normalises it to NFC.
///
/// # Errors
/// [`InvalidPath`]: an escape is malformed, or the bytes are not UTF-8.
pub fn decode_name(name: &str) -> Result<String, InvalidPath> {
    let is_escaped = name
        .split('%')
        .skip(1)
        .all(|rest| rest.as_bytes().get(..2).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)));
    if !is_escaped {
        return Err(InvalidPath("a percent sign must precede two hexadecimal digits".to_owned()));
    }
    let decoded = percent_decode_str(name).decode_utf8();
    let decoded = decoded.map_err(|_| InvalidPath("it must be UTF-8".to_owned()))?;
    Ok(composed(&decoded).into_owned())
}

/// Appends a percent-encoded name.
pub fn encode_name(name: &str, to: &mut String) {
    to.extend(utf8_percent_encode(name, ESCAPED));
}

/// Appends a percent-encoded path that starts with a slash, unless it is the root.
pub fn encode_path(path: &FilePath, to: &mut String) {
    for name in path.names() {
        to.push('/');
        encode_name(name.as_str(), to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn paths_are_decoded_strictly() {
        let check = |path: &str, expect: Option<&str>| {
            let decoded = decode_path(path).ok().map(|path| path.to_string());
            assert_eq!(decoded.as_deref(), expect, "{path}");
        };
        check("", Some("/"));
        check("/", Some("/"));
        check("/a/b/", Some("/a/b"));
        check("/a%20b/c+d@e.jpg", Some("/a b/c+d@e.jpg"));
        // NFD becomes NFC.
        check("/a%CC%88", Some("/ä"));
        check("/%C3%A4", Some("/ä"));
        for bad in [
            "//",
            "/a//b",
            "/.",
            "/a/../b",
            "/%2e%2e/b",
            "/a%2Fb",
            "/a%00",
            "/a%0A",
            "/%",
            "/%4",
            "/%zz",
            "/%ff",
            "/a%C3",
        ] {
            check(bad, None);
        }
    }

    #[test]
    fn hrefs_are_escaped_like_those_of_nextcloud() {
        let mut href = String::new();
        encode_path(&decode_path("/a b/(1)~x-y_z.jpg/ä&<@+").unwrap(), &mut href);
        assert_eq!(href, "/a%20b/(1)~x-y_z.jpg/%C3%A4%26%3C%40%2B");
    }

    proptest! {
        #[test]
        fn an_encoded_path_is_decoded_to_the_same(names in proptest::collection::vec("[^/\\p{C}]{1,20}", 0..5)) {
            let path = names.iter().map(|name| FileName::parse(&composed(name)));
            if let Ok(names) = path.collect::<Result<Vec<_>, _>>() {
                let path = FilePath::new(names).unwrap();
                let mut encoded = String::new();
                encode_path(&path, &mut encoded);
                prop_assert_eq!(decode_path(&encoded), Ok(path));
            }
        }

        #[test]
        fn any_text_is_decoded_or_refused(path in "\\PC{0,60}") {
            if let Ok(decoded) = decode_path(&path) {
                let mut encoded = String::new();
                encode_path(&decoded, &mut encoded);
                prop_assert_eq!(decode_path(&encoded), Ok(decoded));
            }
        }
    }
}
