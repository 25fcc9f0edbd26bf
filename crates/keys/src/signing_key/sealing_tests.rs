use proptest::prelude::*;

use super::SigningKey;
use crate::{Secret, SeededRandom};

const CLAIMS: &[u8] = br#"{"sub":"1"}"#;

fn secret(text: &str) -> Secret {
    Secret::from_text(&text.repeat(32)).unwrap()
}

#[test]
fn a_sealed_key_opens_with_its_secret_and_id_only() {
    let random = SeededRandom::new(9);
    let key = SigningKey::generate(&random).unwrap();
    let (ours, other) = (secret("a"), secret("b"));
    let sealed = key.seal(&ours, &random).unwrap();
    let opened = SigningKey::open(key.kid(), &sealed, &ours).unwrap();
    assert_eq!(opened.public_jwk(), key.public_jwk());
    assert_eq!(opened.sign(CLAIMS).unwrap(), key.sign(CLAIMS).unwrap());
    assert_ne!(key.seal(&ours, &random).unwrap(), sealed, "each sealing has its own nonce");

    let check = |kid: &str, sealed: &[u8], secret: &Secret, expect: &str| {
        let error = SigningKey::open(kid, sealed, secret).unwrap_err().to_string();
        assert!(error.contains(expect) && error.contains(kid), "{error}");
    };
    let differs = "the service's secret differs from the one that the key was sealed with";
    check(key.kid(), &sealed, &other, differs);
    check("another", &sealed, &ours, differs);
    check(key.kid(), &sealed[..sealed.len() - 1], &ours, differs);
    check(key.kid(), &sealed[..13], &ours, differs);
    check(key.kid(), &sealed[..5], &ours, "a format that this version");
    check(key.kid(), &[], &ours, "a format that this version");
    check(key.kid(), &[&[2], &sealed[1..]].concat(), &ours, "a format that this version");
    for bit in 8..sealed.len() * 8 {
        let mut changed = sealed.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        assert!(SigningKey::open(key.kid(), &changed, &ours).is_err(), "{bit}");
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_do_not_open(bytes in any::<Vec<u8>>(), first in 0..3u8) {
        let bytes = [&[first][..], &bytes].concat();
        prop_assert!(SigningKey::open("kid", &bytes, &secret("a")).is_err());
    }
}
