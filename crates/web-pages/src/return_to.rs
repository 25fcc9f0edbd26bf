use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// The path of this service that a browser is redirected to after a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReturnTo(String);

/// Encodes all but these characters in the value of a query parameter.
const IN_QUERY: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.');

impl ReturnTo {
    pub(crate) fn start() -> Self {
        Self("/".to_owned())
    }

    /// Parses a path with an optional query. Anything that a browser could read as another host (`//host`, `/\host`, a
    /// scheme), or that is invalid in a header, becomes the start page.
    pub(crate) fn parse(text: Option<&str>) -> Self {
        let Some(text) = text else { return Self::start() };
        let mut bytes = text.bytes();
        let is_path = bytes.next() == Some(b'/') && !matches!(bytes.next(), Some(b'/' | b'\\'));
        let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
        if is_path && is_plain && text.len() <= 8192 { Self(text.to_owned()) } else { Self::start() }
    }

    /// The path and query of the current request, without checks.
    pub(crate) fn here(path_and_query: &str) -> Self {
        Self(path_and_query.to_owned())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// The path of the sign-in page that leads back here.
    pub(crate) fn via_sign_in(&self) -> String {
        format!("/sign-in?return_to={}", utf8_percent_encode(&self.0, IN_QUERY))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_of_this_service_are_accepted() {
        for good in ["/", "/account", "/api/oauth/authorize?a=b&c=%2F%2Fd", "/a?next=//b"] {
            assert_eq!(ReturnTo::parse(Some(good)).as_str(), good);
        }
        for bad in [
            "",
            "//evil",
            "/\\evil",
            "\\evil",
            "https://evil",
            "javascript:alert(1)",
            "evil",
            "/a b",
            "/a\r\nb",
            "/\u{9}/evil",
            "/a\\b",
            "/ä",
        ] {
            assert_eq!(ReturnTo::parse(Some(bad)).as_str(), "/", "{bad:?}");
        }
        assert_eq!(ReturnTo::parse(None).as_str(), "/");
        assert_eq!(ReturnTo::parse(Some("/a?b=c&d")).via_sign_in(), "/sign-in?return_to=/a%3Fb%3Dc%26d");
    }
}
