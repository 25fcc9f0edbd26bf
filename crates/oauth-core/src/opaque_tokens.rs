use std::fmt;

use async_trait::async_trait;
use data_encoding::BASE64URL_NOPAD;
use ring::{
    aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey},
    hmac,
};

use crate::{
    AccessTokenClaims, AccessTokens, TokensUnavailable,
    secret::{base64url, derive, sign_parts},
};

/// Access tokens that only this service can read: the claims, encrypted with ChaCha20-Poly1305 (RFC 8439). For services
/// that are both authorization server and resource. A client that decodes a token sees random bytes, so no client can
/// depend on the claims.
///
/// The nonce is a MAC of the claims, so it needs no randomness: it repeats only for equal claims, and each token has its
/// own `jti`.
pub struct OpaqueTokens {
    key: [u8; 32],
    nonces: hmac::Key,
}

impl fmt::Debug for OpaqueTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpaqueTokens").finish_non_exhaustive()
    }
}

impl OpaqueTokens {
    /// Tokens under a secret key: 32 random bytes. Tokens are valid only under the key that they were made with.
    pub fn new(key: &[u8; 32]) -> Self {
        let nonces = hmac::Key::new(hmac::HMAC_SHA256, &derive(key, b"nonces"));
        Self { key: derive(key, b"encryption"), nonces }
    }

    fn seal(&self, claims: &[u8]) -> Option<Vec<u8>> {
        let mac = sign_parts(&self.nonces, &[claims]);
        let nonce = mac.first_chunk::<NONCE_LEN>()?;
        let mut sealed = claims.to_vec();
        let unique = Nonce::assume_unique_for_key(*nonce);
        self.cipher()?.seal_in_place_append_tag(unique, Aad::empty(), &mut sealed).ok()?;
        Some([&nonce[..], &sealed].concat())
    }

    fn open(&self, sealed: &[u8]) -> Option<Vec<u8>> {
        let (nonce, encrypted) = sealed.split_first_chunk::<NONCE_LEN>()?;
        let mut claims = encrypted.to_vec();
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let length = self.cipher()?.open_in_place(nonce, Aad::empty(), &mut claims).ok()?.len();
        claims.truncate(length);
        Some(claims)
    }

    fn cipher(&self) -> Option<LessSafeKey> {
        UnboundKey::new(&CHACHA20_POLY1305, &self.key).ok().map(LessSafeKey::new)
    }
}

#[async_trait]
impl AccessTokens for OpaqueTokens {
    async fn sign(&self, claims: &AccessTokenClaims) -> Result<String, TokensUnavailable> {
        let claims = serde_json::to_vec(claims).map_err(|error| TokensUnavailable(error.to_string()))?;
        let sealed = self.seal(&claims);
        let sealed =
            sealed.ok_or_else(|| TokensUnavailable("the claims could not be encrypted".to_owned()))?;
        Ok(base64url(&sealed))
    }

    async fn read(&self, token: &str) -> Result<Option<AccessTokenClaims>, TokensUnavailable> {
        let sealed = BASE64URL_NOPAD.decode(token.as_bytes()).ok();
        let claims = sealed.and_then(|sealed| self.open(&sealed));
        Ok(claims.and_then(|claims| serde_json::from_slice(&claims).ok()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::claims;

    #[tokio::test]
    async fn only_genuine_tokens_are_read() {
        let (tokens, claims) = (OpaqueTokens::new(&[1; 32]), claims());
        let token = tokens.sign(&claims).await.unwrap();
        assert_eq!(tokens.read(&token).await.unwrap().as_ref(), Some(&claims));
        assert_eq!(OpaqueTokens::new(&[2; 32]).read(&token).await.unwrap(), None);
        let signed = {
            let json = serde_json::to_vec(&claims).unwrap();
            let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &[1; 32]), &json);
            format!("{}.{}", base64url(&json), base64url(tag.as_ref()))
        };
        for wrong in ["", ".", &format!("{token}="), &format!("{token}A"), &token[..token.len() - 1], &signed]
        {
            assert_eq!(tokens.read(wrong).await.unwrap(), None, "{wrong}");
        }
        for length in 0..NONCE_LEN + 20 {
            assert_eq!(tokens.read(&base64url(&vec![0; length])).await.unwrap(), None, "{length}");
        }
        let bytes = BASE64URL_NOPAD.decode(token.as_bytes()).unwrap();
        for bit in 0..bytes.len() * 8 {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(tokens.read(&base64url(&changed)).await.unwrap(), None, "{bit}");
        }
    }

    #[tokio::test]
    async fn tokens_hide_their_claims_and_never_share_a_nonce() {
        let (tokens, mut claims) = (OpaqueTokens::new(&[1; 32]), claims());
        let mut nonces = std::collections::HashSet::new();
        for number in 0..100 {
            claims.jti = number.to_string();
            let token = tokens.sign(&claims).await.unwrap();
            assert_eq!(tokens.sign(&claims).await.unwrap(), token);
            let bytes = BASE64URL_NOPAD.decode(token.as_bytes()).unwrap();
            assert!(nonces.insert(bytes[..NONCE_LEN].to_vec()));
            for text in [&claims.sub, &claims.client_id, &claims.grant_id] {
                assert!(!bytes.windows(text.len()).any(|window| window == text.as_bytes()), "{text}");
            }
        }
        assert_eq!(format!("{tokens:?}"), "OpaqueTokens { .. }");
    }
}
