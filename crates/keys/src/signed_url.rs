use data_encoding::BASE64URL_NOPAD;
use ring::hmac;

use crate::Secret;

/// Signs the URLs of renditions, which are served without a key.
#[derive(Debug)]
pub struct UrlSigner(hmac::Key);

impl UrlSigner {
    /// The signer with the key derived from the service's secret.
    pub fn new(secret: &Secret) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, &secret.derive("image URL")))
    }

    /// The signature of one rendition of one image that expires at a time in Unix seconds: 43 characters of base64url.
    pub fn sign(&self, image: &str, rendition: &str, expires_at_s: i64) -> String {
        let tag = hmac::sign(&self.0, message(image, rendition, expires_at_s).as_bytes());
        BASE64URL_NOPAD.encode(tag.as_ref())
    }

    /// Whether a signature is valid; compared in constant time.
    pub fn verify(&self, image: &str, rendition: &str, expires_at_s: i64, signature: &str) -> bool {
        BASE64URL_NOPAD.decode(signature.as_bytes()).is_ok_and(|tag| {
            hmac::verify(&self.0, message(image, rendition, expires_at_s).as_bytes(), &tag).is_ok()
        })
    }
}

/// The signed text. It is unambiguous, because no part contains a line break.
fn message(image: &str, rendition: &str, expires_at_s: i64) -> String {
    [image, "\n", rendition, "\n", &expires_at_s.to_string()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn signer(text: &str) -> UrlSigner {
        UrlSigner::new(&Secret::from_text(&text.repeat(32)).unwrap())
    }

    #[test]
    fn every_part_is_signed() {
        let ours = signer("a");
        let signature = ours.sign("id", "webp-thumb", 100);
        assert!(ours.verify("id", "webp-thumb", 100, &signature));
        assert!(!ours.verify("ie", "webp-thumb", 100, &signature));
        assert!(!ours.verify("id", "webp-full", 100, &signature));
        assert!(!ours.verify("id", "webp-thumb", 101, &signature));
        assert!(!signer("b").verify("id", "webp-thumb", 100, &signature));
    }

    proptest! {
        #[test]
        fn only_the_one_signature_is_accepted(forged in "[A-Za-z0-9_=-]{0,60}|.*") {
            let ours = signer("a");
            let right = ours.sign("id", "webp-thumb", 100);
            prop_assert_eq!(ours.verify("id", "webp-thumb", 100, &forged), forged == right);
        }
    }
}
