use data_encoding::BASE64;
use domain::ContentHash;
use library::Checksum;

/// Reads `Upload-Checksum`: the name of an algorithm and the checksum in base64. `None` if the algorithm is unknown or
/// the checksum has another length.
pub fn parse_checksum(header: &str) -> Option<Checksum> {
    let (algorithm, encoded) = header.trim().split_once(' ')?;
    let digest = BASE64.decode(encoded.trim().as_bytes()).ok()?;
    match algorithm {
        "sha1" => Some(Checksum::Sha1(digest.try_into().ok()?)),
        "sha256" => ContentHash::from_slice(&digest).map(Checksum::Sha256),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_must_match_the_algorithm() {
        let (short, long) = (BASE64.encode(&[7; 20]), BASE64.encode(&[7; 32]));
        assert_eq!(parse_checksum(&format!("sha1 {short}")), Some(Checksum::Sha1([7; 20])));
        let sha256 = Checksum::Sha256(ContentHash::new([7; 32]));
        assert_eq!(parse_checksum(&format!("sha256 {long}")), Some(sha256));
        for bad in [
            "sha1",
            "",
            "sha1 %",
            &format!("sha1 {long}"),
            &format!("sha256 {short}"),
            &format!("md5 {short}"),
        ] {
            assert_eq!(parse_checksum(bad), None, "{bad}");
        }
    }
}
