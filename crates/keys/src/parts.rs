use ring::digest;

/// Concatenates parts, each after its length, so that different lists of parts never give the same message.
pub(crate) fn message(parts: &[&[u8]]) -> Vec<u8> {
    let mut message = Vec::with_capacity(parts.iter().map(|part| part.len() + size_of::<u64>()).sum());
    for part in parts {
        message.extend_from_slice(&(part.len() as u64).to_be_bytes());
        message.extend_from_slice(part);
    }
    message
}

/// The SHA-256 of a list of parts. Different lists have different hashes, even if their concatenations are equal.
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
    fn the_boundaries_of_parts_matter() {
        assert_eq!(hash_parts(&[b"ab", b"c"]), hash_parts(&[b"ab", b"c"]));
        for other in [&[&b"abc"[..]][..], &[b"a", b"bc"], &[b"ab", b"c", b""], &[b"c", b"ab"], &[]] {
            assert_ne!(hash_parts(&[b"ab", b"c"]), hash_parts(other), "{other:?}");
        }
    }
}
