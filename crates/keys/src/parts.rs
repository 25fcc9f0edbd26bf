use ring::digest;

/// Parts in one row, each behind its length, so that no two lists of parts are the same message.
pub(crate) fn message(parts: &[&[u8]]) -> Vec<u8> {
    let mut message = Vec::with_capacity(parts.iter().map(|part| part.len() + size_of::<u64>()).sum());
    for part in parts {
        message.extend_from_slice(&(part.len() as u64).to_be_bytes());
        message.extend_from_slice(part);
    }
    message
}

/// The SHA-256 of a list of parts; no two lists have the same but by chance.
pub fn hash_parts(parts: &[&[u8]]) -> [u8; 32] {
    sha256(&message(parts))
}

/// The SHA-256 of some bytes.
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    let mut hash = [0; 32];
    let digest = digest::digest(&digest::SHA256, bytes);
    hash.iter_mut().zip(digest.as_ref()).for_each(|(to, from)| *to = *from);
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_parts_end_counts() {
        assert_eq!(hash_parts(&[b"ab", b"c"]), hash_parts(&[b"ab", b"c"]));
        for other in [&[&b"abc"[..]][..], &[b"a", b"bc"], &[b"ab", b"c", b""], &[b"c", b"ab"], &[]] {
            assert_ne!(hash_parts(&[b"ab", b"c"]), hash_parts(other), "{other:?}");
        }
    }
}
