use std::collections::HashMap;

use http::{HeaderMap, HeaderName, header, request::Parts};
use keys::FormSigner;
use maud::{Markup, html};
use url::form_urlencoded;

use http_server::{BaseUrl, body::{BodyKind, ReadBodyError, RequestBody}};

/// The longest form of a page.
const MAX_FORM_BYTES: usize = 16 * 1024;
/// The name of the field that holds a form's token.
const CSRF: &str = "csrf";

/// The fields of a form that was sent. Each name counts once; a form that repeats one is not ours.
#[derive(Debug)]
pub(crate) struct Form {
    fields: HashMap<String, String>,
}

/// Why a form was not read. A form that cannot be read has no valid token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FormError {
    NotAForm,
    Repeated,
    TooLarge,
    Incomplete,
}

impl FormError {
    /// The reason, for the security log.
    pub(crate) const fn reason(self) -> &'static str {
        match self {
            Self::NotAForm => "not sent as a form",
            Self::Repeated => "a field was sent twice",
            Self::TooLarge => "the body is too long",
            Self::Incomplete => "the body did not arrive whole and in time",
        }
    }
}

impl From<ReadBodyError> for FormError {
    fn from(error: ReadBodyError) -> Self {
        match error {
            ReadBodyError::TooLarge => Self::TooLarge,
            ReadBodyError::TooSlow | ReadBodyError::Broken => Self::Incomplete,
            ReadBodyError::Encoded => Self::NotAForm,
        }
    }
}

impl Form {
    /// Reads the body of a request as a form.
    pub(crate) async fn read(parts: &Parts, body: RequestBody) -> Result<Self, FormError> {
        if BodyKind::of(&parts.headers) != Some(BodyKind::Form) {
            return Err(FormError::NotAForm);
        }
        Self::parse(&body.read(MAX_FORM_BYTES).await?)
    }

    fn parse(bytes: &[u8]) -> Result<Self, FormError> {
        let mut fields = HashMap::new();
        for (name, value) in form_urlencoded::parse(bytes) {
            if fields.insert(name.into_owned(), value.into_owned()).is_some() {
                return Err(FormError::Repeated);
            }
        }
        Ok(Self { fields })
    }

    /// A field, as sent.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.fields.get(name).map(String::as_str)
    }

    /// Whether the form carries the token that belongs to these parts.
    pub(crate) fn has_token(&self, signer: &FormSigner, parts: &[&[u8]]) -> bool {
        self.get(CSRF).is_some_and(|token| signer.verify(parts, token))
    }
}

/// The hidden field that binds a form to what it was shown for: the browser's session first of all.
pub(crate) fn csrf_field(signer: &FormSigner, parts: &[&[u8]]) -> Markup {
    html! { input type="hidden" name=(CSRF) value=(signer.sign(parts)); }
}

/// Whether a request comes from a page of this site, as far as its browser says: most tell the origin of a POST, and
/// older ones are held off by the form's token alone. The name that the browser knows the service by counts as ours,
/// too: on a machine of one's own it may be `localhost` where the base URL says `127.0.0.1`.
pub(crate) fn origin_is_ours(base_url: &BaseUrl, headers: &HeaderMap) -> bool {
    let texts = |name| headers.get_all(name).iter().map(|value| value.to_str().unwrap_or("?"));
    if texts(HeaderName::from_static("sec-fetch-site")).any(|site| site == "cross-site") {
        return false;
    }
    let host = texts(header::HOST).next().unwrap_or_default();
    let is_here = |origin: &str| {
        origin.split_once("://").is_some_and(|(scheme, authority)| {
            matches!(scheme, "http" | "https") && !host.is_empty() && authority.eq_ignore_ascii_case(host)
        })
    };
    texts(header::ORIGIN).all(|origin| origin.eq_ignore_ascii_case(base_url.as_str()) || is_here(origin))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[test]
    fn a_field_counts_once() {
        let form = Form::parse(b"email=a%40b&password=+x+&empty=").unwrap();
        assert_eq!(form.get("email"), Some("a@b"));
        assert_eq!(form.get("password"), Some(" x "));
        assert_eq!(form.get("empty"), Some(""));
        assert_eq!(form.get("none"), None);
        assert_eq!(Form::parse(b"a=1&a=1").unwrap_err(), FormError::Repeated);
    }

    #[test]
    fn only_our_own_pages_send_forms() {
        let base_url = BaseUrl::parse("https://photos.example.org").unwrap();
        let check = |headers: &[(&'static str, &'static str)], expect| {
            let mut map = HeaderMap::new();
            for (name, value) in headers {
                map.append(*name, HeaderValue::from_static(value));
            }
            let headers = map;
            assert_eq!(origin_is_ours(&base_url, &headers), expect, "{headers:?}");
        };
        check(&[], true);
        check(&[("origin", "https://photos.example.org")], true);
        check(&[("origin", "https://PHOTOS.example.org")], true);
        check(&[("origin", "http://localhost:8080"), ("host", "localhost:8080")], true);
        check(&[("origin", "https://evil.example")], false);
        check(&[("origin", "https://evil.example"), ("host", "photos.example.org")], false);
        check(&[("origin", "https://photos.example.org.evil.example")], false);
        check(&[("origin", "null"), ("host", "null")], false);
        check(&[("origin", "")], false);
        check(&[("origin", "https://photos.example.org"), ("origin", "https://evil.example")], false);
        check(&[("sec-fetch-site", "cross-site")], false);
        check(&[("sec-fetch-site", "same-origin")], true);
    }
}
