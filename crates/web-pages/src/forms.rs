//! Forms: their fields, and the tokens that protect them from cross-site request forgery (CSRF).
//!
//! A form carries a token that is bound to the cookie of the browser that it was shown to. Without the right token a POST
//! gets 403.

use std::collections::HashMap;

use http::request::Parts;
use http_server::body::{BodyKind, ReadBodyError, RequestBody};
use keys::FormSigner;
use maud::{Markup, html};
use url::form_urlencoded;

/// Upper bound on the body of a form.
const MAX_FORM_BYTES: usize = 16 * 1024;
/// The name of the field with the token.
pub(crate) const CSRF: &str = "csrf";

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

/// A list of values that fields offer.
pub(crate) fn datalist<'a>(id: &str, values: impl IntoIterator<Item = &'a String>) -> Markup {
    html! { datalist id=(id) { @for value in values { option value=(value); } } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_field_is_rejected() {
        let form = Form::parse(b"email=a%40b&password=+x+&empty=").unwrap();
        assert_eq!(form.get("email"), Some("a@b"));
        assert_eq!(form.get("password"), Some(" x "));
        assert_eq!(form.get("empty"), Some(""));
        assert_eq!(form.get("none"), None);
        assert_eq!(Form::parse(b"a=1&a=1").unwrap_err(), FormError::Repeated);
    }
}
