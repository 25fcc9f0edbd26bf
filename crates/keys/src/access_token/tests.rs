use data_encoding::BASE64URL_NOPAD;
use josekit::jws::{EdDSA, HS256, JwsHeader, JwsSigner as _, serialize_compact};
use proptest::prelude::*;
use ring::hmac;

use super::*;
use crate::SeededRandom;

const CLAIMS: &str = r#"{"iss":"https://photos.example.org/api","sub":"1","exp":1700003600}"#;

fn key() -> SigningKey {
    SigningKey::generate(&SeededRandom::new(1)).unwrap()
}

fn encode(bytes: impl AsRef<[u8]>) -> String {
    BASE64URL_NOPAD.encode(bytes.as_ref())
}

/// Verifies a token as the service does.
fn read(key: &SigningKey, token: &str) -> Option<Vec<u8>> {
    key.verifying_key().verify(SignedToken::parse(token)?)
}

/// A token with any header and payload, signed by the key.
fn signed(key: &SigningKey, header: &str, payload: &str) -> String {
    let message = format!("{}.{}", encode(header), encode(payload));
    let signature = key.sign_message(message.as_bytes()).unwrap();
    format!("{message}.{}", encode(signature))
}

fn header(key: &SigningKey) -> String {
    format!("{}{}{}", HEADER.0, key.kid(), HEADER.1)
}

#[test]
fn a_token_is_verified_by_its_own_key_only() {
    let (key, other) = (key(), SigningKey::generate(&SeededRandom::new(2)).unwrap());
    let token = key.sign(CLAIMS.as_bytes()).unwrap();
    assert_eq!(token, signed(&key, &header(&key), CLAIMS));
    assert_eq!(SignedToken::parse(&token).unwrap().kid(), key.kid());
    assert_eq!(read(&key, &token).as_deref(), Some(CLAIMS.as_bytes()));
    assert_eq!(read(&other, &token), None);
    // The other key's signature with this key's id.
    assert_eq!(read(&key, &signed(&other, &header(&key), CLAIMS)), None);
}

#[test]
fn josekit_verifies_tokens_with_the_public_key() {
    let key = key();
    let jwk = josekit::jwk::Jwk::from_map(key.public_jwk().clone()).unwrap();
    let verifier = EdDSA.verifier_from_jwk(&jwk).unwrap();
    let token = key.sign(CLAIMS.as_bytes()).unwrap();
    let (payload, header) = josekit::jws::deserialize_compact(&token, &verifier).unwrap();
    assert_eq!(payload, CLAIMS.as_bytes());
    assert_eq!((header.token_type(), header.key_id()), (Some("at+jwt"), Some(key.kid())));
    let members: Vec<(&str, &str)> =
        key.public_jwk().iter().map(|(name, value)| (name.as_str(), value.as_str().unwrap())).collect();
    let x = jwk.parameter("x").unwrap().as_str().unwrap();
    for member in
        [("kty", "OKP"), ("crv", "Ed25519"), ("alg", "EdDSA"), ("use", "sig"), ("x", x), ("kid", key.kid())]
    {
        assert!(members.contains(&member), "{member:?}");
    }
    assert_eq!(members.len(), 6, "nothing private: {members:?}");
}

#[test]
fn signatures_equal_those_of_josekit() {
    let private = [7; 32];
    // PKCS #8 (RFC 8410, section 7).
    let prefix = b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20";
    let signer = EdDSA.signer_from_der([&prefix[..], &private].concat()).unwrap();
    let key = SigningKey::from_private(private).unwrap();
    assert_eq!(key.sign_message(b"message").unwrap(), signer.sign(b"message").unwrap());
}

#[test]
fn key_and_thumbprint_match_rfc_8037() {
    // RFC 8037, appendix A.
    let private = BASE64URL_NOPAD.decode(b"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A").unwrap();
    let key = SigningKey::from_private(private.try_into().unwrap()).unwrap();
    assert_eq!(key.kid(), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
    assert_eq!(key.public_jwk()["x"], "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo");
}

#[test]
fn another_header_is_refused_even_if_signed() {
    let key = key();
    let kid = key.kid();
    let check = |header: &str| assert_eq!(read(&key, &signed(&key, header, CLAIMS)), None, "{header}");
    for alg in ["none", "None", "NONE", "nOnE", "", "HS256", "ES256", "RS256", "eddsa", "Ed25519"] {
        check(&format!(r#"{{"alg":"{alg}","typ":"at+jwt","kid":"{kid}"}}"#));
    }
    for typ in ["JWT", "AT+JWT", "application/at+jwt", "", "at+jwt "] {
        check(&format!(r#"{{"alg":"EdDSA","typ":"{typ}","kid":"{kid}"}}"#));
    }
    let too_long = "A".repeat(100_000);
    let unknown = "A".repeat(KID_CHARS);
    for kid in
        ["", "../", "../../etc/passwd", "' OR 1=1 --", "x'; DROP TABLE signing_keys; --", &too_long, &unknown]
    {
        check(&format!(r#"{{"alg":"EdDSA","typ":"at+jwt","kid":"{kid}"}}"#));
    }
    for member in [
        r#""crit":["exp"]"#,
        r#""crit":[]"#,
        r#""jwk":{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#,
        r#""jku":"https://evil.example/keys""#,
        r#""x5u":"https://evil.example/certificate""#,
        r#""x5c":["AAAA"]"#,
        r#""b64":false"#,
        r#""zip":"DEF""#,
        r#""cty":"JWT""#,
        r#""alg":"none""#,
        r#""alg":"EdDSA""#,
        r#""kid":"A""#,
    ] {
        check(&format!(r#"{{"alg":"EdDSA","typ":"at+jwt","kid":"{kid}",{member}}}"#));
        check(&format!(r#"{{{member},"alg":"EdDSA","typ":"at+jwt","kid":"{kid}"}}"#));
    }
    check(&format!(r#"{{"typ":"at+jwt","kid":"{kid}"}}"#));
    check(&format!(r#"{{"alg":"EdDSA","kid":"{kid}"}}"#));
    check(r#"{"alg":"EdDSA","typ":"at+jwt"}"#);
    check(&format!(r#"{{"alg":"EdDSA","typ":"at+jwt","kid":"{kid}","a":{}"#, "[".repeat(5000)));
    check(&format!(" {}", header(&key)));
    check("");
    check("{}");
    check("null");
}

#[test]
fn a_public_key_cannot_be_used_as_hmac_key() {
    let key = key();
    let x = BASE64URL_NOPAD.decode(key.public_jwk()["x"].as_str().unwrap().as_bytes()).unwrap();
    let pem = {
        let jwk = josekit::jwk::Jwk::from_map(key.public_jwk().clone()).unwrap();
        jwk.to_string().into_bytes()
    };
    for shared in [x, pem] {
        let mut header = JwsHeader::new();
        header.set_token_type("at+jwt");
        header.set_key_id(key.kid());
        let forged =
            serialize_compact(CLAIMS.as_bytes(), &header, &HS256.signer_from_bytes(&shared).unwrap());
        assert_eq!(read(&key, &forged.unwrap()), None);
        // Also with a genuine header, which does not name HMAC.
        let token = key.sign(CLAIMS.as_bytes()).unwrap();
        let (message, _) = token.rsplit_once('.').unwrap();
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &shared), message.as_bytes());
        for signature in [encode(tag.as_ref()), encode([tag.as_ref(), tag.as_ref()].concat())] {
            assert_eq!(read(&key, &format!("{message}.{signature}")), None);
        }
    }
}

#[test]
fn a_changed_token_is_refused() {
    let key = key();
    let token = key.sign(CLAIMS.as_bytes()).unwrap();
    let [header, payload, signature] = token.split('.').collect::<Vec<_>>().try_into().unwrap();
    let check = |text: &str| assert_eq!(read(&key, text), None, "{text}");
    check(&format!("{header}.{}.{signature}", encode(CLAIMS.replace(r#""1""#, r#""2""#))));
    check(&format!("{header}..{signature}"));
    check(&format!("{header}.{payload}."));
    check(&format!("{header}.{payload}.{}", encode([0; 64])));
    check(&format!("{header}.{payload}.{}", encode([0; 63])));
    check(&format!("{header}.{payload}.{}", encode([0; 65])));
    check(&format!("{header}.{payload}.{signature}{signature}"));
    check(&format!("{header}.{payload}"));
    check(&format!("{token}.{signature}"));
    check(&format!("{token}."));
    check(&format!(".{token}"));
    check(&format!("{header}.{payload}..{signature}"));
    check("");
    check(".");
    check("..");
    check("...");
    check(&".".repeat(MAX_TOKEN_BYTES));
    check(&".".repeat(1_000_000));
    for space in [" ", "\n", "\r\n", "\t", "\0", "=", "==", "%20", "\u{feff}"] {
        check(&format!("{token}{space}"));
        check(&format!("{space}{token}"));
        check(&format!("{header}{space}.{payload}.{signature}"));
        check(&format!("{header}.{payload}{space}.{signature}"));
        check(&format!("{header}.{space}{payload}.{signature}"));
    }
    check(&token.to_uppercase());
    // The standard alphabet instead of the URL's.
    let swapped = token.replace('-', "+").replace('_', "/");
    assert_ne!(swapped, token);
    check(&swapped);
}

#[test]
fn only_canonical_base64url_is_accepted() {
    let key = key();
    // The last character of 64 bytes has four unused bits; that of these payloads two or four.
    for claims in [r#"{"a":1}"#, r#"{"a":12}"#] {
        let token = key.sign(claims.as_bytes()).unwrap();
        assert!(read(&key, &token).is_some());
        let (message, signature) = token.rsplit_once('.').unwrap();
        let (first, last) = signature.split_at(signature.len() - 1);
        let decode = |text: &str| {
            let mut lenient = data_encoding::Specification::new();
            lenient.symbols.push_str("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_");
            lenient.check_trailing_bits = false;
            lenient.encoding().unwrap().decode(text.as_bytes()).unwrap()
        };
        let others: Vec<String> = ('A'..='Z')
            .chain('a'..='z')
            .chain('0'..='9')
            .map(|c| format!("{first}{c}"))
            .filter(|other| !other.ends_with(last) && decode(other) == decode(signature))
            .collect();
        assert!(others.len() >= 3, "{others:?}");
        for other in others {
            assert_eq!(read(&key, &format!("{message}.{other}")), None, "{other}");
        }
    }
    let spelled = format!("{}.{}x", encode(header(&key)), encode(r#"{"a":1}"#));
    assert_eq!(
        read(&key, &format!("{spelled}.{}", encode(key.sign_message(spelled.as_bytes()).unwrap()))),
        None
    );
}

#[test]
fn claims_are_one_short_object_without_duplicates() {
    let key = key();
    let check = |claims: &str| {
        assert!(matches!(key.sign(claims.as_bytes()), Err(SignError::InvalidClaims)), "{claims}");
        assert_eq!(read(&key, &signed(&key, &header(&key), claims)), None, "{claims}");
    };
    check("");
    check("1");
    check("[]");
    check(r#"{"sub":"1","sub":"2"}"#);
    check(r#"{"sub":"1","su\u0062":"2"}"#);
    check(r#"{"a":{"b":1,"b":2}}"#);
    check(r#"{"a":1} {"#);
    check(&format!(r#"{{"a":{}"#, "[".repeat(5000)));
    check(&format!(r#"{{"a":{}{}}}"#, "[".repeat(2000), "]".repeat(2000)));

    let long = format!(r#"{{"a":"{}"}}"#, "x".repeat(MAX_TOKEN_BYTES));
    assert!(matches!(key.sign(long.as_bytes()), Err(SignError::TooLong)));
    assert_eq!(read(&key, &signed(&key, &header(&key), &long)), None);
    let fits = format!(r#"{{"a":"{}"}}"#, "x".repeat(5900));
    assert!(read(&key, &key.sign(fits.as_bytes()).unwrap()).is_some());
}

#[test]
fn debug_shows_no_secret() {
    let key = key();
    let token = key.sign(CLAIMS.as_bytes()).unwrap();
    let shown = format!("{key:?} {:?} {:?}", SignedToken::parse(&token).unwrap(), key.verifying_key());
    assert!(shown.contains(key.kid()));
    let signature = token.rsplit_once('.').unwrap().1;
    assert!(!shown.contains(signature) && !shown.contains("photos"), "{shown}");
    assert!(format!("{key:?}").len() < 80);
}

proptest! {
    #[test]
    fn arbitrary_text_is_refused(text in ".{0,200}|[A-Za-z0-9_-]{0,80}\\.[A-Za-z0-9_-]{0,80}\\.[A-Za-z0-9_-]{86}") {
        prop_assert_eq!(read(&key(), &text), None);
    }

    #[test]
    fn arbitrary_segments_after_a_valid_header_are_refused(payload in any::<Vec<u8>>(), signature in any::<[[u8; 32]; 2]>()) {
        let key = key();
        let text = format!("{}.{}.{}", encode(header(&key)), encode(payload), encode(signature.concat()));
        prop_assert_eq!(read(&key, &text), None);
    }
}

#[test]
fn every_flipped_bit_is_detected() {
    let key = key();
    let token = key.sign(CLAIMS.as_bytes()).unwrap().into_bytes();
    for bit in 0..token.len() * 8 {
        let mut changed = token.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        if let Ok(changed) = String::from_utf8(changed) {
            assert_eq!(read(&key, &changed), None, "{bit}");
        }
    }
    // Also in the decoded bytes.
    let text = String::from_utf8(token).unwrap();
    for (index, segment) in text.split('.').enumerate() {
        let bytes = BASE64URL_NOPAD.decode(segment.as_bytes()).unwrap();
        for bit in 0..bytes.len() * 8 {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            let changed = encode(changed);
            let segments: Vec<&str> = text
                .split('.')
                .enumerate()
                .map(|(at, segment)| if at == index { changed.as_str() } else { segment })
                .collect();
            assert_eq!(read(&key, &segments.join(".")), None, "{index} {bit}");
        }
    }
}
