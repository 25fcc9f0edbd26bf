//! Credentials in the `Authorization` header.

use data_encoding::BASE64;
use http::{HeaderMap, header};

/// The token after `Bearer`, in any letter case.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = single_value(headers)?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim()).filter(|token| !token.is_empty())
}

/// The token after `Bearer`, or the whole value if it has no scheme.
pub fn bearer_or_bare(headers: &HeaderMap) -> Option<&str> {
    match single_value(headers)? {
        value if value.contains(' ') => bearer(headers),
        value => Some(value).filter(|key| !key.is_empty()),
    }
}

/// User and password after `Basic` (RFC 7617), in any letter case.
pub fn basic(headers: &HeaderMap) -> Option<(String, String)> {
    let (scheme, encoded) = single_value(headers)?.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let decoded = String::from_utf8(BASE64.decode(encoded.trim().as_bytes()).ok()?).ok()?;
    let (user, password) = decoded.split_once(':')?;
    Some((user.to_owned(), password.to_owned()))
}

/// The value of a header that is sent once. Two credentials in one request are ambiguous, so neither counts.
fn single_value(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let value = values.next()?.to_str().ok()?.trim();
    values.next().is_none().then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[test]
    fn tokens_are_read_from_a_single_header() {
        let check = |values: &[&'static str], strict: Option<&str>, loose: Option<&str>| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(header::AUTHORIZATION, HeaderValue::from_static(value));
            }
            assert_eq!(bearer(&headers), strict, "{values:?}");
            assert_eq!(bearer_or_bare(&headers), loose, "{values:?}");
        };
        check(&[], None, None);
        check(&["Bearer k"], Some("k"), Some("k"));
        check(&["bEARER   k "], Some("k"), Some("k"));
        check(&["k"], None, Some("k"));
        check(&["Bearer"], None, Some("Bearer"));
        check(&["Bearer "], None, Some("Bearer"));
        check(&["Basic k"], None, None);
        check(&[""], None, None);
        check(&["Bearer k", "Bearer k"], None, None);
    }

    #[test]
    fn user_and_password_are_read_from_a_single_header() {
        let check = |values: &[&str], expect: Option<(&str, &str)>| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(header::AUTHORIZATION, HeaderValue::from_str(value).unwrap());
            }
            let found = basic(&headers);
            let found = found.as_ref().map(|(user, password)| (user.as_str(), password.as_str()));
            assert_eq!(found, expect, "{values:?}");
        };
        check(&["Basic YW5uOnBhc3M6d29yZA=="], Some(("ann", "pass:word")));
        check(&["basic  YW5uOg=="], Some(("ann", "")));
        check(&["Basic YW5u"], None);
        check(&["Basic %%%"], None);
        check(&["Bearer YW5uOnA="], None);
        check(&["Basic YW5uOnA=", "Basic YW5uOnA="], None);
        check(&[], None);
    }
}
