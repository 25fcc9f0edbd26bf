use data_encoding::BASE64URL_NOPAD;

use crate::{Random, RandomError, parts::sha256};

/// A new session token for a browser's cookie: 256 random bits as 43 characters of base64url. Only its hash is stored.
pub fn new_session_token(random: &dyn Random) -> Result<String, RandomError> {
    let mut bytes = [0; 32];
    random.fill(&mut bytes)?;
    Ok(BASE64URL_NOPAD.encode(&bytes))
}

/// The SHA-256 of a session token, for look-ups.
pub fn session_hash(token: &str) -> [u8; 32] {
    sha256(token.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SeededRandom;

    #[test]
    fn tokens_have_the_right_format_and_differ() {
        let random = SeededRandom::new(1);
        let (one, two) = (new_session_token(&random).unwrap(), new_session_token(&random).unwrap());
        assert_eq!(one.len(), 43);
        assert_ne!(session_hash(&one), session_hash(&two));
        assert_eq!(session_hash(&one), session_hash(&one));
    }
}
