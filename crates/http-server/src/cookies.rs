//! Cookies, as strict as the base URL allows.

use http::{HeaderMap, HeaderValue, header};

use crate::BaseUrl;

/// The value of a cookie, unless it is absent or empty. Browsers also send the cookies of other services on the same host,
/// with arbitrary bytes in them.
pub fn value(base_url: &BaseUrl, headers: &HeaderMap, name: &str) -> Option<String> {
    let name = full_name(base_url, name);
    let value = pairs(headers).find_map(|(known, value)| (known == name).then_some(value));
    value.filter(|value| !value.is_empty()).map(str::to_owned)
}

/// The names and values of all cookies that are text.
fn pairs(headers: &HeaderMap) -> impl Iterator<Item = (&str, &str)> {
    let lines = headers.get_all(header::COOKIE).iter();
    let pairs = lines.flat_map(|line| line.as_bytes().split(|byte| *byte == b';'));
    pairs.filter_map(|pair| {
        let (name, value) = std::str::from_utf8(pair).ok()?.split_once('=')?;
        Some((name.trim(), value.trim()))
    })
}

/// Whether a cookie was sent, with the prefix for https or without.
pub fn has(headers: &HeaderMap, name: &str) -> bool {
    pairs(headers).any(|(known, _)| known.strip_prefix(HOST_PREFIX).unwrap_or(known) == name)
}

/// The value of `Set-Cookie` that stores a cookie: for the browser session, or for `max_age_s` seconds.
pub fn set(base_url: &BaseUrl, name: &str, value: &str, max_age_s: Option<u32>) -> Option<HeaderValue> {
    let name = full_name(base_url, name);
    let secure = if base_url.is_https() { "; Secure" } else { "" };
    let age = max_age_s.map(|age| format!("; Max-Age={age}")).unwrap_or_default();
    HeaderValue::try_from(format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax{secure}{age}")).ok()
}

/// The value of `Set-Cookie` that deletes a cookie that was set without https.
pub fn delete_plain(name: &str) -> Option<HeaderValue> {
    HeaderValue::try_from(format!("{name}=; Path=/; Max-Age=0")).ok()
}

/// Makes browsers accept a cookie over https only, from this host only, and for all paths.
const HOST_PREFIX: &str = "__Host-";

fn full_name(base_url: &BaseUrl, name: &str) -> String {
    if base_url.is_https() { format!("{HOST_PREFIX}{name}") } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_are_as_strict_as_the_base_url_allows() {
        let local = BaseUrl::parse("http://127.0.0.1:8080").unwrap();
        let public = BaseUrl::parse("https://photos.example.org").unwrap();
        assert_eq!(
            set(&local, "photos_session", "t", Some(60)).unwrap(),
            "photos_session=t; Path=/; HttpOnly; SameSite=Lax; Max-Age=60"
        );
        assert_eq!(
            set(&public, "photos_session", "t", None).unwrap(),
            "__Host-photos_session=t; Path=/; HttpOnly; SameSite=Lax; Secure"
        );
    }

    #[test]
    fn only_the_cookie_with_the_exact_name_is_read() {
        let public = BaseUrl::parse("https://photos.example.org").unwrap();
        let check = |cookies: &str, expect: Option<&str>| {
            let mut headers = HeaderMap::new();
            for line in cookies.split('\n') {
                headers.append(header::COOKIE, HeaderValue::from_bytes(line.as_bytes()).unwrap());
            }
            assert_eq!(value(&public, &headers, "photos_session").as_deref(), expect, "{cookies}");
        };
        check("a=b; __Host-photos_session=t; c=d", Some("t"));
        check("photos_session=t", None);
        check("__Host-photos_session=", None);
        check("", None);
        check("other=ä; __Host-photos_session=t", Some("t"));
        check(r#"other={"a":1,"b":"="};;x; __Host-photos_session=t=u "#, Some("t=u"));
        check("a=b\n__Host-photos_session=t\nc=d", Some("t"));
        check("__Host-photos_session=t; __Host-photos_session=u", Some("t"));
        check("x__Host-photos_session=t; __Host-photos_sessio=t; __host-photos_session=t", None);
    }
}
