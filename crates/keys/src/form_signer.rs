use data_encoding::BASE64URL_NOPAD;
use ring::hmac;

use crate::{Secret, parts::message};

/// Signs form tokens (protection against cross-site request forgery).
///
/// A signature covers a list of parts with their lengths, so that different lists never give the same message.
pub struct FormSigner(hmac::Key);

impl std::fmt::Debug for FormSigner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("FormSigner(…)")
    }
}

impl FormSigner {
    /// The signer with the keys derived from the service's secret.
    pub fn new(secret: &Secret) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, &secret.derive("form")))
    }

    /// The signature of these parts: 43 characters of base64url.
    pub fn sign(&self, parts: &[&[u8]]) -> String {
        BASE64URL_NOPAD.encode(hmac::sign(&self.0, &message(parts)).as_ref())
    }

    /// Whether a signature is valid for these parts; compared in constant time.
    pub fn verify(&self, parts: &[&[u8]], signature: &str) -> bool {
        BASE64URL_NOPAD
            .decode(signature.as_bytes())
            .is_ok_and(|tag| hmac::verify(&self.0, &message(parts), &tag).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn signer(text: &str) -> FormSigner {
        FormSigner::new(&Secret::from_text(&text.repeat(32)).unwrap())
    }

    #[test]
    fn parts_and_their_boundaries_are_signed() {
        let ours = signer("a");
        let signature = ours.sign(&[b"session", b"form"]);
        assert_eq!(signature.len(), 43);
        let check = |parts: &[&[u8]], expect: bool| {
            assert_eq!(ours.verify(parts, &signature), expect, "{parts:?}");
            assert_eq!(ours.sign(parts) == signature, expect, "{parts:?}");
        };
        check(&[b"session", b"form"], true);
        check(&[b"form", b"session"], false);
        check(&[b"sessio", b"nform"], false);
        check(&[b"sessionform"], false);
        check(&[b"session", b"form", b""], false);
        check(&[b"", b"session", b"form"], false);
        check(&[b"session"], false);
        check(&[], false);
        assert!(!signer("b").verify(&[b"session", b"form"], &signature));
    }

    proptest! {
        #[test]
        fn only_the_one_signature_is_accepted(forged in "[A-Za-z0-9_=-]{0,60}|.*") {
            let ours = signer("a");
            let right = ours.sign(&[b"form"]);
            prop_assert_eq!(ours.verify(&[b"form"], &forged), forged == right);
        }
    }
}
