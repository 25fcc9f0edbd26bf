//! Forms: reading them, and the tokens that protect them from cross-site request forgery (CSRF).
//!
//! A form carries a token that is bound to the cookie of the browser that it was shown to. Without the right token a POST
//! gets 403.

use std::{collections::HashMap, net::IpAddr};

use http::{HeaderMap, HeaderName, header, request::Parts};
use http_server::{
    BaseUrl,
    body::{BodyKind, ReadBodyError, RequestBody},
    reply::Reply,
};
use keys::FormSigner;
use maud::{Markup, html};
use url::form_urlencoded;
use web_auth::security_log;

use crate::{Site, form_rejected::form_rejected, sign_out};

/// Upper bound on the body of a form.
const MAX_FORM_BYTES: usize = 16 * 1024;
/// The name of the field with the token.
const CSRF: &str = "csrf";

/// The fields of a form. A form that repeats a field is rejected.
#[derive(Debug)]
pub(crate) struct Form {
    fields: HashMap<String, String>,
}

/// Why a form could not be read. It then has no valid token.
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
            Self::Incomplete => "the body was cut off or did not arrive in time",
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

    /// Whether the form carries the token for these parts.
    pub(crate) fn has_token(&self, signer: &FormSigner, parts: &[&[u8]]) -> bool {
        self.get(CSRF).is_some_and(|token| signer.verify(parts, token))
    }
}

/// The hidden field with the token for these parts, such as the session and the purpose of the form.
pub(crate) fn csrf_field(signer: &FormSigner, parts: &[&[u8]]) -> Markup {
    html! { input type="hidden" name=(CSRF) value=(signer.sign(parts)); }
}

/// Whether a request comes from a page of this service, as far as the browser says. Browsers that do not send the origin of
/// a POST are only checked by the token of the form. The host that the browser used also counts as this service: it may be
/// `localhost` where the base URL says `127.0.0.1`.
pub(crate) fn is_same_origin(base_url: &BaseUrl, headers: &HeaderMap) -> bool {
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

/// Reads the form of a POST, and rejects one from another origin. A form that cannot be read is rejected like one without
/// its token.
pub(crate) async fn read_form(
    site: &Site,
    parts: &Parts,
    body: RequestBody,
    address: IpAddr,
) -> Result<Form, Reply> {
    let reject = |reason| {
        security_log::form_refused(address, reason);
        form_rejected(&site.base_url, &parts.headers, page_of(parts))
    };
    if !is_same_origin(&site.base_url, &parts.headers) {
        return Err(reject("another origin"));
    }
    Form::read(parts, body).await.map_err(|error| reject(error.reason()))
}

/// The path of the page that shows the form of a POST. A GET of the form's own path leads there too.
pub(crate) fn page_of(parts: &Parts) -> &str {
    match parts.uri.path_and_query() {
        Some(path) if path.path() != sign_out::PATH => path.as_str(),
        _ => "/account",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[test]
    fn a_repeated_field_is_rejected() {
        let form = Form::parse(b"email=a%40b&password=+x+&empty=").unwrap();
        assert_eq!(form.get("email"), Some("a@b"));
        assert_eq!(form.get("password"), Some(" x "));
        assert_eq!(form.get("empty"), Some(""));
        assert_eq!(form.get("none"), None);
        assert_eq!(Form::parse(b"a=1&a=1").unwrap_err(), FormError::Repeated);
    }

    #[test]
    fn only_the_own_origin_is_accepted() {
        let base_url = BaseUrl::parse("https://photos.example.org").unwrap();
        let check = |headers: &[(&'static str, &'static str)], expect| {
            let mut map = HeaderMap::new();
            for (name, value) in headers {
                map.append(*name, HeaderValue::from_static(value));
            }
            let headers = map;
            assert_eq!(is_same_origin(&base_url, &headers), expect, "{headers:?}");
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
