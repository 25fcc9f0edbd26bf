use http::{HeaderMap, HeaderValue, header};
use keys::{Random, RandomError, new_session_token};
use library::SignedIn;

use http_server::{BaseUrl, reply::{Reply, WithHeader as _}};

/// How long a browser keeps the session cookie: as long as browsers keep any. The store decides how long the session
/// holds, which every use prolongs.
const SESSION_MAX_AGE_S: u32 = 400 * 24 * 3600;

/// The name of a cookie. Over https its prefix makes the browser take it from this host only, and never for a part of
/// the paths.
fn name(base_url: &BaseUrl, name: &str) -> String {
    if base_url.is_https() { format!("__Host-{name}") } else { name.to_owned() }
}

/// The value of a cookie, if it has one. Browsers send the cookies of all services of a host to each, whatever bytes
/// those put into theirs.
fn value(base_url: &BaseUrl, headers: &HeaderMap, short: &str) -> Option<String> {
    let name = name(base_url, short);
    let lines = headers.get_all(header::COOKIE).iter();
    let mut pairs = lines.flat_map(|line| line.as_bytes().split(|byte| *byte == b';'));
    let value = pairs.find_map(|pair| {
        let (known, value) = std::str::from_utf8(pair).ok()?.split_once('=')?;
        (known.trim() == name).then(|| value.trim())
    });
    value.filter(|value| !value.is_empty()).map(str::to_owned)
}

fn set(base_url: &BaseUrl, short: &str, value: &str, max_age_s: Option<u32>) -> Option<HeaderValue> {
    let name = name(base_url, short);
    let secure = if base_url.is_https() { "; Secure" } else { "" };
    let age = max_age_s.map(|age| format!("; Max-Age={age}")).unwrap_or_default();
    HeaderValue::try_from(format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax{secure}{age}")).ok()
}

const SESSION: &str = "photos_session";
const VISITOR: &str = "photos_visitor";

/// The session token that a browser sent.
pub(crate) fn session_token(base_url: &BaseUrl, headers: &HeaderMap) -> Option<String> {
    value(base_url, headers, SESSION)
}

/// Gives a browser the session that was begun for it, if one was.
pub(crate) fn with_session(base_url: &BaseUrl, reply: Reply, session: Option<&SignedIn>) -> Reply {
    match session.and_then(|session| session_cookie(base_url, &session.token)) {
        Some(cookie) => reply.with(header::SET_COOKIE, cookie),
        None => reply,
    }
}

fn session_cookie(base_url: &BaseUrl, token: &str) -> Option<HeaderValue> {
    set(base_url, SESSION, token, Some(SESSION_MAX_AGE_S))
}

/// Takes the session from a browser.
pub(crate) fn end_session_cookie(base_url: &BaseUrl) -> Option<HeaderValue> {
    set(base_url, SESSION, "", Some(0))
}

/// A browser that nobody has signed in with yet, known by a cookie so that the sign-in form can be bound to it.
#[derive(Debug)]
pub(crate) struct Visitor {
    pub(crate) id: String,
    is_new: bool,
}

impl Visitor {
    /// The visitor that a browser says it is, if any.
    pub(crate) fn of(base_url: &BaseUrl, headers: &HeaderMap) -> Option<Self> {
        Some(Self { id: value(base_url, headers, VISITOR)?, is_new: false })
    }

    /// The same, or a new one.
    pub(crate) fn known_or_new(
        base_url: &BaseUrl,
        headers: &HeaderMap,
        random: &dyn Random,
    ) -> Result<Self, RandomError> {
        match Self::of(base_url, headers) {
            Some(visitor) => Ok(visitor),
            None => Ok(Self { id: new_session_token(random)?, is_new: true }),
        }
    }

    /// Adds the cookie that makes a new one known; it goes when the browser is closed.
    pub(crate) fn known_by(&self, base_url: &BaseUrl, reply: Reply) -> Reply {
        let cookie = if self.is_new { set(base_url, VISITOR, &self.id, None) } else { None };
        match cookie {
            Some(cookie) => reply.with(header::SET_COOKIE, cookie),
            None => reply,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_are_as_strict_as_the_base_url_allows() {
        let local = BaseUrl::parse("http://127.0.0.1:8080").unwrap();
        let public = BaseUrl::parse("https://photos.example.org").unwrap();
        assert_eq!(
            session_cookie(&local, "t").unwrap(),
            "photos_session=t; Path=/; HttpOnly; SameSite=Lax; Max-Age=34560000"
        );
        assert_eq!(
            session_cookie(&public, "t").unwrap(),
            "__Host-photos_session=t; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=34560000"
        );
    }

    #[test]
    fn only_the_cookie_of_the_right_name_counts() {
        let public = BaseUrl::parse("https://photos.example.org").unwrap();
        let check = |cookies: &str, expect: Option<&str>| {
            let mut headers = HeaderMap::new();
            for line in cookies.split('\n') {
                headers.append(header::COOKIE, HeaderValue::from_bytes(line.as_bytes()).unwrap());
            }
            assert_eq!(session_token(&public, &headers).as_deref(), expect, "{cookies}");
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
