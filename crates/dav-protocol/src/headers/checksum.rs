use data_encoding::{BASE64, HEXLOWER_PERMISSIVE};
use domain::{Checksum, ChecksumAlgorithm};

use super::InvalidHeader;

pub type ReadChecksums = fn(&str) -> Result<Vec<Checksum>, InvalidHeader>;

/// The headers with checksums of a body: their names in lower case, and what reads them.
pub const BODY_CHECKSUM_HEADERS: [(&str, ReadChecksums); 5] = [
    ("oc-checksum", oc_checksum),
    ("content-md5", |value| Ok(vec![checksum(ChecksumAlgorithm::Md5, base64(value), "Content-MD5")?])),
    ("digest", digest),
    ("content-digest", |value| integrity_fields(value, "Content-Digest")),
    ("repr-digest", |value| integrity_fields(value, "Repr-Digest")),
];

/// `OC-Checksum`: `SHA1:hex`, or several separated by white space. Unknown algorithms are ignored.
///
/// # Errors
/// [`InvalidHeader`]: a known algorithm has an invalid value.
pub fn oc_checksum(value: &str) -> Result<Vec<Checksum>, InvalidHeader> {
    let mut checksums = Vec::new();
    let mut rest = value;
    while let Some((names, after)) = rest.split_once(':') {
        let after = after.trim_start();
        let (hex, after) = after.split_at(after.find(is_separator).unwrap_or(after.len()));
        let name = names.rsplit(is_separator).find(|name| !name.is_empty());
        if let Some(algorithm) = name.and_then(ChecksumAlgorithm::named) {
            checksums.push(checksum(algorithm, hexadecimal(algorithm, hex), "OC-Checksum")?);
        }
        rest = after;
    }
    Ok(checksums)
}

/// `Digest` (RFC 3230): `SHA=base64,MD5=base64`. Only the checksums of 32 bits are hexadecimal.
fn digest(value: &str) -> Result<Vec<Checksum>, InvalidHeader> {
    known(value, |algorithm, text| {
        let bytes = if algorithm.bytes() == 4 { hexadecimal(algorithm, text.trim()) } else { base64(text) };
        checksum(algorithm, bytes, "Digest")
    })
}

/// `Content-Digest` and `Repr-Digest` (RFC 9530): `sha-256=:base64:, sha-512=:base64:`.
fn integrity_fields(value: &str, header: &'static str) -> Result<Vec<Checksum>, InvalidHeader> {
    known(value, |algorithm, text| {
        let bytes = text.trim_start().strip_prefix(':').and_then(|text| text.split_once(':'));
        checksum(algorithm, bytes.and_then(|(encoded, _parameters)| base64(encoded)), header)
    })
}

/// Reads the items `name=value` of a list; unknown names are ignored.
fn known(
    list: &str,
    read: impl Fn(ChecksumAlgorithm, &str) -> Result<Checksum, InvalidHeader>,
) -> Result<Vec<Checksum>, InvalidHeader> {
    let items = list.split(',').filter_map(|item| item.split_once('='));
    items.filter_map(|(name, value)| Some(read(ChecksumAlgorithm::named(name.trim())?, value))).collect()
}

fn is_separator(c: char) -> bool {
    c.is_ascii_whitespace() || c == ','
}

fn base64(text: &str) -> Option<Vec<u8>> {
    BASE64.decode(text.trim().as_bytes()).ok()
}

/// Decodes hexadecimal digits. The desktop client writes a checksum of 32 bits as a number, without leading zeros.
fn hexadecimal(algorithm: ChecksumAlgorithm, text: &str) -> Option<Vec<u8>> {
    if algorithm.bytes() == 4 && (1..8).contains(&text.len()) {
        return HEXLOWER_PERMISSIVE.decode(format!("{text:0>8}").as_bytes()).ok();
    }
    HEXLOWER_PERMISSIVE.decode(text.as_bytes()).ok()
}

fn checksum(
    algorithm: ChecksumAlgorithm,
    bytes: Option<Vec<u8>>,
    header: &'static str,
) -> Result<Checksum, InvalidHeader> {
    bytes.and_then(|bytes| Checksum::new(algorithm, bytes)).ok_or(InvalidHeader(header))
}

#[cfg(test)]
mod tests {
    use ChecksumAlgorithm::{Adler32, Crc32, Md5, Sha1, Sha3, Sha256};

    use super::*;

    fn of(algorithm: ChecksumAlgorithm, byte: u8) -> Checksum {
        Checksum::new(algorithm, vec![byte; algorithm.bytes()]).unwrap()
    }

    fn read(header: &str, value: &str) -> Result<Vec<Checksum>, InvalidHeader> {
        let read = BODY_CHECKSUM_HEADERS.into_iter().find(|(name, _)| *name == header).unwrap().1;
        read(value)
    }

    #[test]
    fn oc_checksum_names_algorithms_and_hexadecimal_values() {
        let (sha1, md5) = ("ab".repeat(20), "0c".repeat(16));
        let adler = |value: [u8; 4]| Checksum::new(Adler32, value.to_vec()).unwrap();
        for (text, expect) in [
            (format!("SHA1:{sha1}"), vec![of(Sha1, 0xab)]),
            (format!(" sha1:{} ", sha1.to_uppercase()), vec![of(Sha1, 0xab)]),
            (format!("SHA1: {sha1}"), vec![of(Sha1, 0xab)]),
            (format!("SHA256:{}", "01".repeat(32)), vec![of(Sha256, 1)]),
            (format!("SHA3-256:{}", "01".repeat(32)), vec![of(Sha3, 1)]),
            (format!("MD5:{md5} SHA1:{sha1}"), vec![of(Md5, 0x0c), of(Sha1, 0xab)]),
            (format!("MD5:{md5},SHA1:{sha1}"), vec![of(Md5, 0x0c), of(Sha1, 0xab)]),
            (format!("other SHA1:{sha1}\tCRC32:01010101"), vec![of(Sha1, 0xab), of(Crc32, 1)]),
            ("ADLER32:11e60398".to_owned(), vec![adler([0x11, 0xe6, 3, 0x98])]),
            ("Adler32:1".to_owned(), vec![adler([0, 0, 0, 1])]),
            ("XXH:1234 nonsense".to_owned(), vec![]),
            (format!("XXH:1 SHA1:{sha1}"), vec![of(Sha1, 0xab)]),
            (String::new(), vec![]),
        ] {
            assert_eq!(read("oc-checksum", &text), Ok(expect), "{text}");
        }
        for text in ["SHA1:ab", "SHA1:", "MD5:xyz", "ADLER32:", "ADLER32:123456789", "ADLER32:xyz", "SHA1"] {
            let expect = if text.contains(':') { Err(InvalidHeader("OC-Checksum")) } else { Ok(vec![]) };
            assert_eq!(read("oc-checksum", text), expect, "{text}");
        }
    }

    #[test]
    fn digests_are_lists() {
        let md5 = BASE64.encode(&[7; 16]);
        let sha256 = BASE64.encode(&[7; 32]);
        let both = vec![of(Sha256, 7), of(Md5, 7)];
        for (header, value, expect) in [
            ("content-md5", md5.clone(), Ok(vec![of(Md5, 7)])),
            ("content-md5", sha256.clone(), Err(InvalidHeader("Content-MD5"))),
            ("content-md5", String::new(), Err(InvalidHeader("Content-MD5"))),
            ("digest", format!("SHA-256={sha256},MD5={md5}"), Ok(both.clone())),
            ("digest", format!("sha-256={sha256} , unixsum=30637 , md5={md5}"), Ok(both.clone())),
            ("digest", "ADLER32=07070707".to_owned(), Ok(vec![of(Adler32, 7)])),
            ("digest", "SHA=%".to_owned(), Err(InvalidHeader("Digest"))),
            ("digest", String::new(), Ok(vec![])),
            ("content-digest", format!("sha-256=:{sha256}:, md5=:{md5}:;a=1, x=?1"), Ok(both.clone())),
            ("content-digest", "adler=:BwcHBw==:".to_owned(), Ok(vec![of(Adler32, 7)])),
            ("content-digest", format!("sha-256={sha256}"), Err(InvalidHeader("Content-Digest"))),
            ("repr-digest", format!("sha-256=:{md5}:"), Err(InvalidHeader("Repr-Digest"))),
            ("repr-digest", format!("sha-256=:{sha256}:,md5=:{md5}:"), Ok(both.clone())),
        ] {
            assert_eq!(read(header, &value), expect, "{header}: {value}");
        }
    }
}
