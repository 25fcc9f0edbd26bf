use data_encoding::BASE64URL_NOPAD;
use ring::hmac;

use crate::{
    Random, RandomError, SecretHash,
    random::random_bytes,
    secret::{base64url, constant_time_eq, sha256},
};

/// The length of an encoded token: 52 bytes in base64url.
const ENCODED_CHARS: usize = 70;

/// A decoded refresh token. All tokens of a grant share the handle, which is used to look up the grant. The generation
/// counts the tokens before it. The nonce is random, and the tag authenticates the other fields. So one row per grant
/// is enough to distinguish a replaced token from a forged one.
pub(crate) struct RefreshToken {
    handle: [u8; 16],
    pub(super) generation: u32,
    nonce: [u8; 16],
    tag: [u8; 16],
}

impl RefreshToken {
    /// The first token of a grant.
    pub(super) fn first(source: &dyn Random, key: &hmac::Key) -> Result<Self, RandomError> {
        Self::new(random_bytes(source)?, 0, source, key)
    }

    /// The token after this one.
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
        let token = Self { handle, generation, nonce: random_bytes(source)?, tag: [0; 16] };
        Ok(Self { tag: token.compute_tag(key), ..token })
    }

    /// The first half of an HMAC-SHA256 over handle, generation and nonce.
    fn compute_tag(&self, key: &hmac::Key) -> [u8; 16] {
        let message = [&self.handle[..], &self.generation.to_be_bytes(), &self.nonce].concat();
        let mut tag = [0; 16];
        tag.iter_mut().zip(hmac::sign(key, &message).as_ref()).for_each(|(to, from)| *to = *from);
        tag
    }

    /// Whether the tag is right, so that this server issued the token. Earlier versions wrote random bytes instead of a
    /// tag; their tokens are recognised by the hash only.
    pub(super) fn is_authentic(&self, key: &hmac::Key) -> bool {
        constant_time_eq(&self.tag, &self.compute_tag(key))
    }

    /// Decodes the output of [`RefreshToken::encode`]; `None` for anything else.
    pub(crate) fn decode(text: &str) -> Option<Self> {
        if text.len() != ENCODED_CHARS {
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

    /// The hash of the handle, for looking up the grant.
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
    fn tokens_survive_a_round_trip() {
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
            assert_eq!(text.len(), ENCODED_CHARS);
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
