//! josekit, another implementation, reads and writes the same keys and tokens.

use josekit::{
    jwk::Jwk,
    jws::{EdDSA, JwsHeader, JwsSigner, deserialize_compact, serialize_compact},
};
use oauth_core::jwt::UnverifiedToken;

use super::SigningKey;

const CLAIMS: &[u8] = br#"{"iss":"https://photos.example.org/api","sub":"1","exp":1700003600}"#;

fn key() -> SigningKey {
    SigningKey::from_seed([7; 32]).unwrap()
}

/// The same key as a signer of josekit.
fn signer() -> impl JwsSigner {
    // PKCS #8 (RFC 8410, section 7).
    let prefix = b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20";
    EdDSA.signer_from_der([&prefix[..], &[7; 32]].concat()).unwrap()
}

fn header(members: &str) -> JwsHeader {
    JwsHeader::from_bytes(members.as_bytes()).unwrap()
}

fn read(token: &str) -> Option<Vec<u8>> {
    key().verify(UnverifiedToken::parse(token)?)
}

#[test]
fn josekit_verifies_tokens_with_the_public_key() {
    let key = key();
    let jwk = Jwk::from_map(key.public_jwk()).unwrap();
    let verifier = EdDSA.verifier_from_jwk(&jwk).unwrap();
    let token = key.sign(CLAIMS).unwrap();
    let (payload, header) = deserialize_compact(&token, &verifier).unwrap();
    assert_eq!(payload, CLAIMS);
    assert_eq!((header.token_type(), header.key_id()), (Some("at+jwt"), Some(key.kid())));
    assert_eq!((jwk.key_type(), jwk.curve(), jwk.algorithm()), ("OKP", Some("Ed25519"), Some("EdDSA")));
    assert_eq!((jwk.key_use(), jwk.key_id()), (Some("sig"), Some(key.kid())));
    assert_eq!(key.public_jwk().len(), 6, "nothing private: {jwk}");

    let other = SigningKey::from_seed([8; 32]).unwrap();
    deserialize_compact(other.sign(CLAIMS).unwrap(), &verifier).unwrap_err();
}

#[test]
fn a_token_of_josekit_is_verified_if_its_header_is_ours() {
    let kid = key().kid().to_owned();
    let ours = header(&format!(r#"{{"alg":"EdDSA","typ":"at+jwt","kid":"{kid}"}}"#));
    let token = serialize_compact(CLAIMS, &ours, &signer()).unwrap();
    assert_eq!(token, key().sign(CLAIMS).unwrap());
    assert_eq!(read(&token).as_deref(), Some(CLAIMS));
    for members in [
        format!(r#"{{"typ":"JWT","kid":"{kid}"}}"#),
        format!(r#"{{"typ":"at+jwt","kid":"{kid}","cty":"JWT"}}"#),
        r#"{"typ":"at+jwt"}"#.to_owned(),
    ] {
        let token = serialize_compact(CLAIMS, &header(&members), &signer()).unwrap();
        assert_eq!(read(&token), None, "{members}");
    }
}
