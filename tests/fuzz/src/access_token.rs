//! Forged access tokens.
#![expect(clippy::unwrap_used, reason = "a panic reports a finding")]

use std::sync::LazyLock;

use oauth_core::jwt::{SigningKey, UnverifiedToken};

const CLAIMS: &str = r#"{"iss":"https://photos.example/api","sub":"1","exp":1767229200}"#;

static KEY: LazyLock<SigningKey> = LazyLock::new(|| SigningKey::from_seed(&[7; 32]).unwrap());
static GENUINE: LazyLock<String> = LazyLock::new(|| KEY.sign(CLAIMS.as_bytes()).unwrap());

/// The key has signed one token; every other text is refused.
pub(crate) fn access_token(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let claims = UnverifiedToken::parse(text).and_then(|token| KEY.verify(token));
    let expect = (text == *GENUINE).then(|| CLAIMS.as_bytes().to_vec());
    assert_eq!(claims, expect, "{text:?}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_genuine_token_is_in_the_corpus() {
        assert_eq!(include_str!("../corpus/access_token/genuine"), *GENUINE);
    }
}
