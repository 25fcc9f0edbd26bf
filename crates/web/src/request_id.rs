//! Request IDs. A response and the log lines about its request have the same ID. A trusted proxy may choose it.

use std::{
    hash::{BuildHasher as _, Hasher as _, RandomState},
    sync::atomic::{AtomicU64, Ordering},
};

use http::{HeaderMap, HeaderName, HeaderValue};

/// The header of requests and responses.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The longest ID that a proxy may choose.
const MAX_LENGTH: usize = 64;

/// Makes request IDs. A random number in each ID distinguishes the IDs of this process from those of others.
pub(crate) struct RequestIds {
    process: u64,
    next: AtomicU64,
}

impl RequestIds {
    pub(crate) fn new() -> Self {
        Self { process: RandomState::new().build_hasher().finish(), next: AtomicU64::new(1) }
    }

    /// The ID that a trusted proxy chose, or else a new one: 16 hexadecimal digits for the process, `-`, and the number of the
    /// request.
    pub(crate) fn of(&self, headers: &HeaderMap, from_trusted_proxy: bool) -> HeaderValue {
        let given = headers.get(REQUEST_ID).filter(|value| from_trusted_proxy && is_plain(value));
        given.cloned().unwrap_or_else(|| self.new_id())
    }

    fn new_id(&self) -> HeaderValue {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let text = format!("{:016x}-{number:x}", self.process);
        HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static("unnamed"))
    }
}

/// Whether an ID from a proxy is short and has only letters, digits, `-`, `_` and `.`, so that it cannot disturb a log line.
fn is_plain(value: &HeaderValue) -> bool {
    let is_plain_byte = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
    (1..=MAX_LENGTH).contains(&value.len()) && value.as_bytes().iter().all(is_plain_byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_taken_only_from_a_trusted_proxy_and_if_it_is_plain() {
        let ids = RequestIds::new();
        let longest = "a".repeat(MAX_LENGTH);
        let too_long = "a".repeat(MAX_LENGTH + 1);
        for (given, is_taken) in [
            ("0f-1_b.C", true),
            (longest.as_str(), true),
            (too_long.as_str(), false),
            ("", false),
            ("a b", false),
            ("a\"b", false),
            ("a=b", false),
        ] {
            let headers = HeaderMap::from_iter([(REQUEST_ID, HeaderValue::from_str(given).unwrap())]);
            assert_eq!(ids.of(&headers, true) == given, is_taken, "{given}");
            assert_ne!(ids.of(&headers, false), given, "{given}");
        }
        assert_ne!(ids.of(&HeaderMap::new(), true), ids.of(&HeaderMap::new(), true));
        assert_ne!(ids.new_id(), RequestIds::new().new_id());
    }
}
