//! The origins whose web pages may call a server. Checking them prevents DNS rebinding: a page whose host name changes to
//! a loopback address keeps its origin.

use std::net::Ipv4Addr;

use http::header::{HeaderMap, ORIGIN};
use http::{HeaderValue, Uri};

/// The allowed origins.
pub(super) enum Origins {
    Any,
    /// Loopback origins and these, in lower case.
    LoopbackAnd(Vec<String>),
}

impl Default for Origins {
    fn default() -> Self {
        Self::LoopbackAnd(Vec::new())
    }
}

impl Origins {
    pub(super) fn add(&mut self, origin: &str) {
        if let Self::LoopbackAnd(others) = self {
            others.push(origin.to_ascii_lowercase());
        }
    }

    /// Whether a request with these headers is allowed. A request without `Origin` is not from a web page.
    pub(super) fn allow(&self, headers: &HeaderMap) -> bool {
        headers.get_all(ORIGIN).iter().all(|origin| self.contains(origin))
    }

    fn contains(&self, origin: &HeaderValue) -> bool {
        match self {
            Self::Any => true,
            Self::LoopbackAnd(others) => origin.to_str().is_ok_and(|origin| {
                let origin = origin.to_ascii_lowercase();
                others.contains(&origin) || is_loopback(&origin)
            }),
        }
    }
}

fn is_loopback(origin: &str) -> bool {
    let Ok(uri) = origin.parse::<Uri>() else { return false };
    uri.scheme().is_some()
        && uri.host().is_some_and(|host| {
            host == "localhost"
                || host.ends_with(".localhost")
                || host == "[::1]"
                || host.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_and_listed_origins_are_allowed() {
        let mut origins = Origins::default();
        origins.add("https://App.example.org");
        for (origin, expect) in [
            ("http://localhost:6274", true),
            ("http://photos.localhost", true),
            ("https://127.0.0.1", true),
            ("http://127.1.2.3:80", true),
            ("http://[::1]:8080", true),
            ("https://app.example.org", true),
            ("https://APP.example.org", true),
            ("https://app.example.org:8443", false),
            ("http://app.example.org", false),
            ("http://127.0.0.1.example.org", false),
            ("http://localhost.example.org", false),
            ("http://127.0.0.1@example.org", false),
            ("null", false),
            ("localhost", false),
            ("", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ORIGIN, HeaderValue::from_static(origin));
            assert_eq!(origins.allow(&headers), expect, "{origin}");
            assert!(Origins::Any.allow(&headers));
            headers.append(ORIGIN, HeaderValue::from_static("https://other.example"));
            assert!(!origins.allow(&headers), "{origin}");
        }
        assert!(origins.allow(&HeaderMap::new()));
    }
}
