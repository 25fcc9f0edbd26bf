use data_encoding::BASE64URL_NOPAD;
use ring::hmac;

use crate::{
    Random, RandomError, SecretHash,
    secret::{base64url, is_same, random, sha256},
};

/// A refresh token taken apart. All tokens of a grant share the handle, which finds the grant. The generation is the
/// number of tokens that the grant had before. The nonce is random, and the tag authenticates the rest. So one row
/// holds all that is known of a grant's tokens, and a replaced token can still be told from one that was made up.
pub(crate) struct RefreshToken {
    handle: [u8; 16],
    pub(super) generation: u32,
    nonce: [u8; 16],
    tag: [u8; 16],
}

impl RefreshToken {
    /// The first one of a grant.
    pub(super) fn first(source: &dyn Random, key: &hmac::Key) -> Result<Self, RandomError> {
        Self::new(random(source)?, 0, source, key)
    }

    /// The one that takes its place.
    pub(super) fn next(
        &self,
        generation: u32,
        source: &dyn Random,
        key: &hmac::Key,
    ) -> Result<Self, RandomError> {
        Self::new(self.handle, generation, source, key)
    }

    fn new(
        handle: [u8; 16],
        generation: u32,
        source: &dyn Random,
        key: &hmac::Key,
    ) -> Result<Self, RandomError> {
        let token = Self { handle, generation, nonce: random(source)?, tag: [0; 16] };
        Ok(Self { tag: token.tag_under(key), ..token })
    }

    /// The first half of an HMAC-SHA256 over handle, generation and nonce.
    fn tag_under(&self, key: &hmac::Key) -> [u8; 16] {
        let message = [&self.handle[..], &self.generation.to_be_bytes(), &self.nonce].concat();
        let mut tag = [0; 16];
        tag.iter_mut().zip(hmac::sign(key, &message).as_ref()).for_each(|(to, from)| *to = *from);
        tag
    }

    /// Whether this server issued it. Versions before the tag filled its place with random bytes; their tokens are
    /// known by their hash alone.
    pub(super) fn is_authentic(&self, key: &hmac::Key) -> bool {
        is_same(&self.tag, &self.tag_under(key))
    }

    /// Reads what [`RefreshToken::encode`] wrote; `None` for anything else.
    pub(crate) fn decode(text: &str) -> Option<Self> {
        // 52 bytes are 70 characters; nothing longer is looked at.
        if text.len() != 70 {
            return None;
        }
        let bytes = BASE64URL_NOPAD.decode(text.as_bytes()).ok()?;
        let (handle, rest) = bytes.split_first_chunk()?;
        let (generation, rest) = rest.split_first_chunk()?;
        let (nonce, tag) = rest.split_first_chunk()?;
        let tag = tag.try_into().ok()?;
        Some(Self { handle: *handle, generation: u32::from_be_bytes(*generation), nonce: *nonce, tag })
    }

    pub(super) fn encode(&self) -> String {
        base64url(&[&self.handle[..], &self.generation.to_be_bytes(), &self.nonce, &self.tag].concat())
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
    use crate::{secret::DerivedKeys, testing::SeededRandom};

    #[test]
    fn tokens_are_read_as_they_were_written() {
        let (random, keys) = (SeededRandom::new(1), DerivedKeys::of(&[1; 32]));
        let first = RefreshToken::first(&random, &keys.refresh_tokens).unwrap();
        let next = first.next(0x0102_0304, &random, &keys.refresh_tokens).unwrap();
        let other = DerivedKeys::of(&[2; 32]);
        assert_eq!(first.handle_hash(), next.handle_hash());
        for token in [&first, &next] {
            let text = token.encode();
            let read = RefreshToken::decode(&text).unwrap();
            assert_eq!(
                (read.handle, read.generation, read.nonce, read.tag),
                (token.handle, token.generation, token.nonce, token.tag)
            );
            assert!(read.is_authentic(&keys.refresh_tokens));
            assert!(!read.is_authentic(&keys.subjects) && !read.is_authentic(&other.refresh_tokens));
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
