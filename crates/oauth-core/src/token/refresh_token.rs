use data_encoding::BASE64URL_NOPAD;

use crate::{
    Random, RandomFailed, SecretHash,
    secret::{base64url, random, sha256},
};

/// A refresh token taken apart: a handle that all tokens of a grant share and by which the grant is found, the number
/// of tokens that the grant had before it, and 256 random bits of its own. So one row holds all that is known of a
/// grant's tokens, and one that was replaced is still known as the grant's.
pub(crate) struct RefreshToken {
    handle: [u8; 16],
    pub(super) generation: u32,
    secret: [u8; 32],
}

impl RefreshToken {
    /// The first one of a grant.
    pub(super) fn first(source: &dyn Random) -> Result<Self, RandomFailed> {
        Ok(Self { handle: random(source)?, generation: 0, secret: random(source)? })
    }

    /// The one that takes its place.
    pub(super) fn next(&self, generation: u32, source: &dyn Random) -> Result<Self, RandomFailed> {
        Ok(Self { handle: self.handle, generation, secret: random(source)? })
    }

    /// Reads what [`RefreshToken::encode`] wrote; `None` for anything else.
    pub(crate) fn decode(text: &str) -> Option<Self> {
        // 52 bytes are 70 characters; nothing longer is looked at.
        if text.len() != 70 {
            return None;
        }
        let bytes = BASE64URL_NOPAD.decode(text.as_bytes()).ok()?;
        let (handle, rest) = bytes.split_first_chunk()?;
        let (generation, secret) = rest.split_first_chunk()?;
        let secret = secret.try_into().ok()?;
        Some(Self { handle: *handle, generation: u32::from_be_bytes(*generation), secret })
    }

    pub(super) fn encode(&self) -> String {
        base64url(&[&self.handle[..], &self.generation.to_be_bytes(), &self.secret].concat())
    }

    /// The hash under which the grant is found.
    pub(crate) fn handle_hash(&self) -> SecretHash {
        SecretHash(sha256(&self.handle))
    }

    /// The hash of the whole token.
    pub(super) fn hash(&self) -> SecretHash {
        SecretHash::of(&self.encode())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::SeededRandom;

    #[test]
    fn tokens_are_read_as_they_were_written() {
        let random = SeededRandom::new(1);
        let first = RefreshToken::first(&random).unwrap();
        let next = first.next(0x0102_0304, &random).unwrap();
        assert_eq!(first.handle_hash(), next.handle_hash());
        for token in [&first, &next] {
            let text = token.encode();
            let read = RefreshToken::decode(&text).unwrap();
            assert_eq!(
                (read.handle, read.generation, read.secret),
                (token.handle, token.generation, token.secret)
            );
            assert_eq!(read.encode(), text);
            assert_eq!(text.len(), 70);
        }
        let text = next.encode();
        let not_canonical = format!("{}{}", &text[..69], if text.ends_with('A') { 'B' } else { 'Z' });
        let texts =
            ["", "a", &text[1..], &format!("{text}="), &format!("{text} "), &text.replace(&text[..1], "+")];
        for wrong in texts.into_iter().chain([not_canonical.as_str(), &"ä".repeat(35)]) {
            assert!(RefreshToken::decode(wrong).is_none(), "{wrong}");
        }
    }
}
