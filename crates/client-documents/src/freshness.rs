//! How long a document may be cached, from its response headers (RFC 9111).

use std::time::Duration;

use http::{HeaderMap, HeaderName, header};

/// A document is not fetched more often than this, whatever its headers say.
pub(crate) const MIN_LIFETIME: Duration = Duration::from_secs(60);
/// A document is not cached longer than this: a client that changes its redirect URIs must not wait for weeks.
const MAX_LIFETIME: Duration = Duration::from_secs(24 * 3600);
/// The lifetime of a document without caching headers.
const DEFAULT_LIFETIME: Duration = Duration::from_secs(3600);
/// How long a failure is cached.
pub(crate) const FAILURE_LIFETIME: Duration = Duration::from_secs(30);

/// How long a document with these headers is cached.
pub(crate) fn lifetime(headers: &HeaderMap) -> Duration {
    let directives = values(headers, &header::CACHE_CONTROL).to_ascii_lowercase();
    let mut max_age = None;
    for directive in directives.split(',') {
        let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
        let seconds = match name.trim() {
            "no-store" | "no-cache" => 0,
            // An unreadable value counts as stale (RFC 9111, section 4.2.1). Of several values, the shortest counts.
            "max-age" => value.trim().trim_matches('"').parse().unwrap_or(0),
            _ => continue,
        };
        max_age = Some(max_age.map_or(seconds, |known: u64| known.min(seconds)));
    }
    let Some(max_age) = max_age else { return DEFAULT_LIFETIME };
    // Time already spent in caches on the way.
    let age: u64 = values(headers, &header::AGE).trim().parse().unwrap_or(0);
    Duration::from_secs(max_age.saturating_sub(age)).clamp(MIN_LIFETIME, MAX_LIFETIME)
}

/// All values of a header, joined by commas.
fn values(headers: &HeaderMap, name: &HeaderName) -> String {
    headers.get_all(name).iter().filter_map(|value| value.to_str().ok()).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use proptest::prelude::*;

    use super::*;

    fn headers(lines: &[(&'static str, &str)]) -> HeaderMap {
        lines
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap()))
            .collect()
    }

    #[test]
    fn headers_decide_within_bounds() {
        let check = |lines: &[(&'static str, &str)], seconds: u64| {
            assert_eq!(lifetime(&headers(lines)), Duration::from_secs(seconds), "{lines:?}");
        };
        check(&[], 3600);
        check(&[("cache-control", "public")], 3600);
        check(&[("cache-control", "s-maxage=7, stale-while-revalidate=9")], 3600);
        check(&[("cache-control", "max-age=600")], 600);
        check(&[("cache-control", "public, Max-Age = \"600\" ")], 600);
        check(&[("cache-control", "max-age=600"), ("age", "200")], 400);
        check(&[("cache-control", "max-age=600"), ("age", "900")], 60);
        check(&[("cache-control", "max-age=600"), ("age", "x")], 600);
        check(&[("cache-control", "max-age=0")], 60);
        check(&[("cache-control", "max-age=31536000")], 86_400);
        check(&[("cache-control", "max-age=99999999999999999999999")], 60);
        check(&[("cache-control", "max-age=-1")], 60);
        check(&[("cache-control", "max-age")], 60);
        check(&[("cache-control", "no-store, max-age=600")], 60);
        check(&[("cache-control", "max-age=600"), ("cache-control", "no-cache=\"x\"")], 60);
        check(&[("cache-control", "max-age=600, max-age=90")], 90);
        check(&[("age", "10")], 3600);
    }

    proptest! {
        #[test]
        fn any_header_gives_a_bounded_lifetime(text in "[ -~]{0,40}", directive in "(max-age|no-store|,|=|\"|[0-9]){0,8}") {
            for text in [text, directive] {
                let lifetime = lifetime(&headers(&[("cache-control", &text), ("age", &text)]));
                prop_assert!((MIN_LIFETIME..=MAX_LIFETIME).contains(&lifetime));
            }
        }
    }
}
