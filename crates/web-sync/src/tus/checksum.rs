use std::borrow::Cow;

use data_encoding::BASE64;
use dav_protocol::headers::BODY_CHECKSUM_HEADERS;
use domain::{Checksum, ChecksumAlgorithm};
use http::{HeaderMap, HeaderValue};

use super::headers::UPLOAD_CHECKSUM;

pub(super) const ALGORITHMS: HeaderValue =
    HeaderValue::from_static("sha1,sha256,sha512,sha3-256,md5,crc32,adler32");

/// The checksums of the bytes in a request.
///
/// # Errors
/// The reason why a header is not valid.
pub(super) fn part_checksums(headers: &HeaderMap) -> Result<Vec<Checksum>, Cow<'static, str>> {
    let mut checksums = Vec::new();
    for value in headers.get_all(UPLOAD_CHECKSUM) {
        let checksum = value.to_str().ok().and_then(parse_checksum);
        let invalid =
            "Upload-Checksum must be an algorithm of Tus-Checksum-Algorithm and the checksum in base64";
        checksums.push(checksum.ok_or(invalid)?);
    }
    for (name, read) in BODY_CHECKSUM_HEADERS {
        for value in headers.get_all(name) {
            let value = value.to_str().map_err(|_| format!("the header {name} must be ASCII"))?;
            checksums.extend(read(value).map_err(|invalid| invalid.to_string())?);
        }
    }
    Ok(checksums)
}

/// Reads `Upload-Checksum`: the name of an algorithm and the checksum in base64. `None` if the algorithm is unknown or
/// the checksum has another length.
pub fn parse_checksum(header: &str) -> Option<Checksum> {
    let (algorithm, encoded) = header.trim().split_once(' ')?;
    let value = BASE64.decode(encoded.trim().as_bytes()).ok()?;
    Checksum::new(ChecksumAlgorithm::named(algorithm)?, value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_announced_algorithm_is_read() {
        let algorithms = ALGORITHMS;
        let names: Vec<&str> = algorithms.to_str().unwrap().split(',').collect();
        assert_eq!(names.len(), ChecksumAlgorithm::ALL.len());
        for name in names {
            let algorithm = ChecksumAlgorithm::named(name).unwrap();
            let header = format!("{name} {}", BASE64.encode(&vec![7; algorithm.bytes()]));
            assert_eq!(parse_checksum(&header), Checksum::new(algorithm, vec![7; algorithm.bytes()]));
        }
    }

    #[test]
    fn the_length_must_match_the_algorithm() {
        let (short, long) = (BASE64.encode(&[7; 20]), BASE64.encode(&[7; 32]));
        for bad in [
            "sha1",
            "",
            "sha1 %",
            &format!("sha1 {long}"),
            &format!("sha256 {short}"),
            &format!("xxhash {short}"),
        ] {
            assert_eq!(parse_checksum(bad), None, "{bad}");
        }
    }
}
