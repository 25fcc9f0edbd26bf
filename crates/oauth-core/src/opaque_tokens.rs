use async_trait::async_trait;
use data_encoding::BASE64URL_NOPAD;
use ring::hmac;

use crate::{AccessTokenClaims, AccessTokens, TokensUnavailable, secret::base64url};

/// Access tokens that only this service can verify: the claims as JSON with an HMAC-SHA256. For services that are both
/// authorization server and resource and need no signing keys. To clients all access tokens are opaque.
#[derive(Debug)]
pub struct OpaqueTokens(hmac::Key);

impl OpaqueTokens {
    /// Tokens under a secret key. Tokens are valid only under the key they were signed with.
    pub fn new(key: &[u8; 32]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, key))
    }
}

#[async_trait]
impl AccessTokens for OpaqueTokens {
    async fn sign(&self, claims: &AccessTokenClaims) -> Result<String, TokensUnavailable> {
        let claims = serde_json::to_vec(claims).map_err(|error| TokensUnavailable(error.to_string()))?;
        let tag = hmac::sign(&self.0, &claims);
        Ok(format!("{}.{}", base64url(&claims), base64url(tag.as_ref())))
    }

    async fn read(&self, token: &str) -> Result<Option<AccessTokenClaims>, TokensUnavailable> {
        let bytes = |text: &str| BASE64URL_NOPAD.decode(text.as_bytes()).ok();
        let parts = token.split_once('.').and_then(|(claims, tag)| bytes(claims).zip(bytes(tag)));
        let genuine = parts.filter(|(claims, tag)| hmac::verify(&self.0, claims, tag).is_ok());
        Ok(genuine.and_then(|(claims, _)| serde_json::from_slice(&claims).ok()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_genuine_tokens_are_read() {
        let claims: AccessTokenClaims = serde_json::from_value(serde_json::json!({
            "iss": "a", "sub": "b", "aud": "c", "client_id": "d", "scope": "e f", "iat": 1, "exp": 2, "jti": "g",
            "grant_id": "h",
        }))
        .unwrap();
        let tokens = OpaqueTokens::new(&[1; 32]);
        let token = tokens.sign(&claims).await.unwrap();
        assert_eq!(tokens.read(&token).await.unwrap(), Some(claims));
        assert_eq!(OpaqueTokens::new(&[2; 32]).read(&token).await.unwrap(), None);
        let (payload, tag) = token.split_once('.').unwrap();
        let changed = token.replacen('e', "f", 1);
        for wrong in [
            "",
            ".",
            payload,
            &format!("{payload}."),
            &format!(".{tag}"),
            &format!("{tag}.{payload}"),
            &format!("{token}.{tag}"),
            &format!("{token}="),
            &token[..token.len() - 1],
            &changed,
        ] {
            assert_eq!(tokens.read(wrong).await.unwrap(), None, "{wrong}");
        }
    }
}
