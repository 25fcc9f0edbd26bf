//! URLs as `client_id` (draft-ietf-oauth-client-id-metadata-document, "Client Identifier").

use std::fmt;

use url::{Host, Url};

use crate::redirect_uri::{MAX_REDIRECT_URI_CHARS, TOO_LONG};

/// A `client_id` that is the https URL of a client's metadata document. Every such URL has a single valid spelling, so
/// two of them name the same client only if their texts are equal.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ClientUrl(Url);

impl fmt::Debug for ClientUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ClientUrl").field(&self.as_str()).finish()
    }
}

/// Why a URL is not a valid `client_id`; a message for the client's developer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RefusedClientUrl(&'static str);

impl ClientUrl {
    /// Accepts an https URL with a host name, a path, and optionally a port and a query.
    ///
    /// # Errors
    /// The first rule that the URL breaks.
    ///
    /// ```
    /// use oauth_core::ClientUrl;
    ///
    /// let url = ClientUrl::parse("https://app.example/oauth/client.json").unwrap();
    /// assert_eq!(url.host(), "app.example");
    /// assert!(ClientUrl::parse("https://app.example/../client.json").is_err());
    /// ```
    pub fn parse(text: &str) -> Result<Self, RefusedClientUrl> {
        if text.chars().count() > MAX_REDIRECT_URI_CHARS {
            return Err(RefusedClientUrl(TOO_LONG));
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(RefusedClientUrl("it has a character that is not allowed in a URL"));
        }
        let Some(rest) = text.strip_prefix("https://") else {
            return Err(RefusedClientUrl("it does not begin with https://"));
        };
        if rest.contains('#') {
            return Err(RefusedClientUrl("it has a fragment"));
        }
        let (named, query) = rest.split_once('?').map_or((rest, None), |(named, query)| (named, Some(query)));
        let (authority, path) =
            named.split_once('/').map_or((named, ""), |(authority, path)| (authority, path));
        if authority.contains('@') {
            return Err(RefusedClientUrl("it has a user name"));
        }
        if path.is_empty() {
            return Err(RefusedClientUrl("it has no path"));
        }
        if path.split('/').any(is_dot_segment) {
            return Err(RefusedClientUrl("its path has a dot segment"));
        }
        let url = Url::parse(text).map_err(|_| RefusedClientUrl("it is not a URL"))?;
        match url.host() {
            Some(Host::Domain(name)) if !name.ends_with('.') => {}
            Some(Host::Domain(_)) => return Err(RefusedClientUrl("its host ends in a dot")),
            _ => return Err(RefusedClientUrl("its host is an IP address instead of a name")),
        }
        // A single spelling: no capitals in the host, no default port, nothing that a URL parser would change.
        if url.as_str() != text || query == Some("") {
            return Err(RefusedClientUrl("it is not in normal form"));
        }
        Ok(Self(url))
    }

    /// Whether a `client_id` is an http or https URL, valid or not. No registered client has such an id.
    pub(crate) fn is_url(client_id: &str) -> bool {
        let scheme = client_id.split_once(':').map_or("", |(scheme, _)| scheme);
        scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http")
    }

    /// The `client_id` itself.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The host, with its port if the URL has one, to show to the user.
    pub fn host(&self) -> &str {
        let rest = self.as_str().strip_prefix("https://").unwrap_or_default();
        rest.split('/').next().unwrap_or_default()
    }

    /// The host without the port.
    pub fn host_name(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    /// The port; 443 if the URL has none.
    pub fn port(&self) -> u16 {
        self.0.port().unwrap_or(443)
    }

    /// The path with the query, as in the first line of an HTTP request.
    pub fn path_and_query(&self) -> &str {
        let rest = self.as_str().strip_prefix("https://").unwrap_or_default();
        rest.find('/').and_then(|at| rest.get(at..)).unwrap_or("/")
    }
}

/// Whether a path segment is `.` or `..`. URL parsers treat percent-encoded dots in the same way.
fn is_dot_segment(segment: &str) -> bool {
    let plain = segment.to_ascii_lowercase().replace("%2e", ".");
    plain == "." || plain == ".."
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn common_urls_are_accepted() {
        let long = format!("https://a.example/{}", "x".repeat(MAX_REDIRECT_URI_CHARS - 18));
        for (text, host, name, port, asked) in [
            ("https://app.example/client.json", "app.example", "app.example", 443, "/client.json"),
            ("https://app.example:8443/a/b", "app.example:8443", "app.example", 8443, "/a/b"),
            ("https://app.example/a/", "app.example", "app.example", 443, "/a/"),
            ("https://app.example/a?b=c&d=/e", "app.example", "app.example", 443, "/a?b=c&d=/e"),
            ("https://app.example/a/.b/...", "app.example", "app.example", 443, "/a/.b/..."),
            ("https://app.example//a//b", "app.example", "app.example", 443, "//a//b"),
            ("https://app.example/%20%2F", "app.example", "app.example", 443, "/%20%2F"),
            (
                "https://xn--mnchen-3ya.example/a",
                "xn--mnchen-3ya.example",
                "xn--mnchen-3ya.example",
                443,
                "/a",
            ),
            ("https://localhost/a", "localhost", "localhost", 443, "/a"),
            (&long, "a.example", "a.example", 443, long.strip_prefix("https://a.example").unwrap()),
        ] {
            let url = ClientUrl::parse(text).unwrap();
            assert_eq!(url.as_str(), text);
            assert_eq!((url.host(), url.host_name(), url.port()), (host, name, port), "{text}");
            assert_eq!(url.path_and_query(), asked, "{text}");
            assert!(ClientUrl::is_url(text));
        }
    }

    #[test]
    fn unusual_urls_are_refused() {
        let check = |expect: &str, texts: &[&str]| {
            for text in texts {
                let why = ClientUrl::parse(text).map_err(|refused| refused.to_string());
                assert!(why.as_ref().is_err_and(|why| why.contains(expect)), "{text:?}: {why:?}");
            }
        };
        check("2,000", &[&format!("https://a.example/{}", "x".repeat(MAX_REDIRECT_URI_CHARS - 17))]);
        check(
            "character",
            &[
                " https://a.example/b",
                "https://a.example/b ",
                "https://a.example/b\n",
                "https://a.example/\0",
                "https://a.ex\tample/b",
                "https://münchen.example/b",
                "https://a.example/ä",
            ],
        );
        check(
            "https://",
            &[
                "",
                "client",
                "http://a.example/b",
                "HTTPS://a.example/b",
                "https:/a.example/b",
                "https:a.example/b",
                "https:\\\\a.example/b",
                "ftp://a.example/b",
                "//a.example/b",
            ],
        );
        check("fragment", &["https://a.example/b#", "https://a.example/b#c", "https://a.example#/b"]);
        check("user name", &["https://u@a.example/b", "https://u:p@a.example/b", "https://@a.example/b"]);
        check(
            "no path",
            &["https://a.example", "https://a.example/", "https://a.example?b", "https://a.example/?b/c"],
        );
        check("no path", &["https://", "https:///"]);
        check(
            "dot segment",
            &[
                "https://a.example/.",
                "https://a.example/..",
                "https://a.example/b/../c",
                "https://a.example/b/./c",
                "https://a.example/b/%2e%2E/c",
                "https://a.example/b/.%2e",
                "https://a.example/%2e/c",
            ],
        );
        check(
            "an IP address",
            &[
                "https://127.0.0.1/b",
                "https://93.184.216.34/b",
                "https://[::1]/b",
                "https://[2606:4700::1111]:8443/b",
                "https://2130706433/b",
                "https://0x7f.1/b",
            ],
        );
        check("ends in a dot", &["https://a.example./b", "https://a./b"]);
        check(
            "not a URL",
            &["https://a.example:99999/b", "https://a%b/c", "https://a.example:x/b", "https://xn--a/b"],
        );
        check(
            "normal form",
            &[
                "https://A.example/b",
                "https://a.example:443/b",
                "https://a.example:/b",
                "https://a.example:08443/b",
                "https://a.example/b\\c",
                "https://a.example/b\"c",
                "https://a.example/<b>",
                "https://a.ex%61mple/b",
                "https://a.example/b?",
                "https://a.example/b?c'd",
                "https:///a/b",
            ],
        );
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_without_panic(text in any::<String>()) {
            let _ = ClientUrl::parse(&text);
        }

        #[test]
        fn an_accepted_url_is_the_same_to_the_url_crate(text in "https://[a-z0-9.:@%\\[\\]-]{1,12}[/?#\\\\a-z.%2eE:@-]{0,16}") {
            if let Ok(url) = ClientUrl::parse(&text) {
                let understood = Url::parse(&text).unwrap();
                prop_assert_eq!(understood.as_str(), text.as_str());
                prop_assert_eq!(understood.host_str(), Some(url.host_name()));
                prop_assert!(understood.username().is_empty() && understood.password().is_none());
                prop_assert!(understood.fragment().is_none() && understood.path().len() > 1);
                prop_assert_eq!(format!("https://{}{}", url.host(), url.path_and_query()), text);
            }
        }
    }
}
