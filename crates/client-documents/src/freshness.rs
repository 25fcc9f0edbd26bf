//! How long a document may be kept, by what its host says (RFC 9111).

use std::time::Duration;

use http::{HeaderMap, HeaderName, header};

/// However its host would have it, a document is not fetched more often than that.
const SHORTEST: Duration = Duration::from_secs(60);
/// Nor kept longer than that: a client that changes where it takes its answers must not wait for weeks.
const LONGEST: Duration = Duration::from_secs(24 * 3600);
/// How long a document is kept of which its host says nothing.
const UNSAID: Duration = Duration::from_secs(3600);
/// How long it is known that there is no usable document.
pub(crate) const FAILURE: Duration = Duration::from_secs(30);

/// How long a document with these headers is kept.
pub(crate) fn lifetime(headers: &HeaderMap) -> Duration {
    let directives = values(headers, &header::CACHE_CONTROL).to_ascii_lowercase();
    let mut max_age = None;
    for directive in directives.split(',') {
        let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
        let said = match name.trim() {
            "no-store" | "no-cache" => 0,
            // What cannot be read is taken for stale; of several, the shortest counts.
            "max-age" => value.trim().trim_matches('"').parse().unwrap_or(0),
            _ => continue,
        };
        max_age = Some(max_age.map_or(said, |known: u64| known.min(said)));
    }
    let Some(max_age) = max_age else { return UNSAID };
    // How long it has been on its way, in caches in between.
    let age: u64 = values(headers, &header::AGE).trim().parse().unwrap_or(0);
    Duration::from_secs(max_age.saturating_sub(age)).clamp(SHORTEST, LONGEST)
}

/// The values of a header in one.
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
    fn the_host_says_how_long_within_bounds() {
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
        fn whatever_is_said_is_kept_within_bounds(said in "[ -~]{0,40}", directive in "(max-age|no-store|,|=|\"|[0-9]){0,8}") {
            for said in [said, directive] {
                let lifetime = lifetime(&headers(&[("cache-control", &said), ("age", &said)]));
                prop_assert!((SHORTEST..=LONGEST).contains(&lifetime));
            }
        }
    }
}
