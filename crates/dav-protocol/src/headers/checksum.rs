use data_encoding::HEXLOWER_PERMISSIVE;

use super::InvalidHeader;

/// A checksum of the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContentChecksum {
    /// SHA-1.
    Sha1([u8; 20]),
    /// SHA-256.
    Sha256([u8; 32]),
}

/// `OC-Checksum`: `SHA1:hex`, or several separated by spaces. The first known kind counts; other kinds, such as MD5 and
/// Adler-32, are ignored.
///
/// # Errors
/// [`InvalidHeader`]: a known kind has an invalid value.
pub fn content_checksum(value: &str) -> Result<Option<ContentChecksum>, InvalidHeader> {
    const INVALID: InvalidHeader = InvalidHeader("OC-Checksum");
    for part in value.split_whitespace() {
        let Some((kind, hex)) = part.split_once(':') else { continue };
        if kind.eq_ignore_ascii_case("sha1") {
            return Ok(Some(ContentChecksum::Sha1(digest(hex).ok_or(INVALID)?)));
        }
        if kind.eq_ignore_ascii_case("sha256") {
            return Ok(Some(ContentChecksum::Sha256(digest(hex).ok_or(INVALID)?)));
        }
    }
    Ok(None)
}

fn digest<const N: usize>(hex: &str) -> Option<[u8; N]> {
    HEXLOWER_PERMISSIVE.decode(hex.as_bytes()).ok()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_known_kind_counts() {
        let sha1 = Ok(Some(ContentChecksum::Sha1([0xab; 20])));
        for (text, expect) in [
            (format!("SHA1:{}", "ab".repeat(20)), sha1),
            (format!("sha1:{}", "AB".repeat(20)), sha1),
            (format!("MD5:00 SHA1:{}", "ab".repeat(20)), sha1),
            (format!("SHA256:{}", "01".repeat(32)), Ok(Some(ContentChecksum::Sha256([1; 32])))),
            ("ADLER32:1234".to_owned(), Ok(None)),
            ("nonsense".to_owned(), Ok(None)),
            (String::new(), Ok(None)),
            ("SHA1:ab".to_owned(), Err(InvalidHeader("OC-Checksum"))),
            (format!("SHA1:{}", "xy".repeat(20)), Err(InvalidHeader("OC-Checksum"))),
        ] {
            assert_eq!(content_checksum(&text), expect, "{text}");
        }
    }
}
