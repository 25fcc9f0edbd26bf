use data_encoding::BASE64URL_NOPAD;
use ring::hmac;

use crate::{Secret, parts::message};

/// Signs form tokens (protection against cross-site request forgery), and derives a value that is the same each time a
/// form is submitted.
///
/// A signature covers a list of parts with their lengths, so that different lists never give the same message.
pub struct FormSigner {
    signing: hmac::Key,
    deriving: hmac::Key,
}

impl std::fmt::Debug for FormSigner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("FormSigner(…)")
    }
}

impl FormSigner {
    /// The signer with the keys derived from the service's secret.
    pub fn new(secret: &Secret) -> Self {
        let key = |purpose| hmac::Key::new(hmac::HMAC_SHA256, &secret.derive(purpose));
        Self { signing: key("form"), deriving: key("form attempt") }
    }

    /// The signature of these parts: 43 characters of base64url.
    pub fn sign(&self, parts: &[&[u8]]) -> String {
        BASE64URL_NOPAD.encode(hmac::sign(&self.signing, &message(parts)).as_ref())
    }

    /// Whether a signature is valid for these parts; compared in constant time.
    pub fn verify(&self, parts: &[&[u8]], signature: &str) -> bool {
        BASE64URL_NOPAD
            .decode(signature.as_bytes())
            .is_ok_and(|tag| hmac::verify(&self.signing, &message(parts), &tag).is_ok())
    }

    /// 256 bits that only the service can derive from these parts, under another key than signatures.
    pub fn derive_code(&self, parts: &[&[u8]]) -> [u8; 32] {
        let tag = hmac::sign(&self.deriving, &message(parts));
        let mut bytes = [0; 32];
        bytes.iter_mut().zip(tag.as_ref()).for_each(|(to, from)| *to = *from);
        bytes
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
            assert_eq!(
                ours.derive_code(parts) == ours.derive_code(&[b"session", b"form"]),
                expect,
                "{parts:?}"
            );
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

    #[test]
    fn a_derived_code_is_not_a_signature() {
        let ours = signer("a");
        let code = ours.derive_code(&[b"form"]);
        assert_ne!(BASE64URL_NOPAD.encode(&code), ours.sign(&[b"form"]));
        assert_ne!(code, signer("b").derive_code(&[b"form"]));
        assert_eq!(format!("{ours:?}"), "FormSigner(…)");
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
