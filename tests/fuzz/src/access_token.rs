//! Forged access tokens: JWTs and opaque ones.
#![expect(clippy::unwrap_used, reason = "a panic reports a finding")]

use std::sync::LazyLock;

use oauth_core::{
    AccessTokenClaims, AccessTokens as _, OpaqueTokens,
    jwt::{SigningKey, UnverifiedToken},
};

use crate::oauth::now;

const CLAIMS: &str = r#"{"iss":"https://photos.example/api","sub":"1","exp":1767229200}"#;

static KEY: LazyLock<SigningKey> = LazyLock::new(|| SigningKey::from_seed(&[7; 32]).unwrap());
static GENUINE: LazyLock<String> = LazyLock::new(|| KEY.sign(CLAIMS.as_bytes()).unwrap());

static OPAQUE: LazyLock<OpaqueTokens> = LazyLock::new(|| OpaqueTokens::new(&[7; 32]));
static OPAQUE_CLAIMS: LazyLock<AccessTokenClaims> = LazyLock::new(|| AccessTokenClaims {
    iss: "https://photos.example/api".to_owned(),
    sub: "1".to_owned(),
    aud: "https://photos.example/api/mcp/v1".to_owned(),
    client_id: "public".to_owned(),
    scope: "mcp:images".to_owned(),
    iat: 1_767_225_600,
    exp: 1_767_229_200,
    jti: "1".to_owned(),
    grant_id: "1".to_owned(),
});
static GENUINE_OPAQUE: LazyLock<String> = LazyLock::new(|| now(OPAQUE.sign(&OPAQUE_CLAIMS)).unwrap());

/// Each key has signed one token. The key must refuse every other text.
pub(crate) fn access_token(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let claims = UnverifiedToken::parse(text).and_then(|token| KEY.verify(token));
    let expect = (text == *GENUINE).then(|| CLAIMS.as_bytes().to_vec());
    assert_eq!(claims, expect, "{text:?}");
    let claims = now(OPAQUE.read(text)).unwrap();
    assert_eq!(claims.as_ref(), (text == *GENUINE_OPAQUE).then_some(&*OPAQUE_CLAIMS), "{text:?}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_genuine_tokens_are_in_the_corpus() {
        assert_eq!(include_str!("../corpus/access_token/genuine"), *GENUINE);
        assert_eq!(include_str!("../corpus/access_token/genuine_opaque"), *GENUINE_OPAQUE);
    }
}
