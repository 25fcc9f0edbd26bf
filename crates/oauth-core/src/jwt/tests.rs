use std::sync::Arc;

use data_encoding::BASE64URL_NOPAD;
use proptest::prelude::*;
use ring::hmac;

use super::*;
use crate::{
    AccessTokenClaims, AccessTokens as _, Clock as _, PublicKeys as _, RevokeRequest,
    testing::{ManualClock, NOW, TestServer, claims, config},
};

const CLAIMS: &str = r#"{"iss":"https://photos.example.org/api","sub":"1","exp":1700003600}"#;

fn key() -> SigningKey {
    key_of(1)
}

fn key_of(seed: u8) -> SigningKey {
    SigningKey::from_seed(&[seed; 32]).unwrap()
}

fn encode(bytes: impl AsRef<[u8]>) -> String {
    BASE64URL_NOPAD.encode(bytes.as_ref())
}

fn read(key: &SigningKey, token: &str) -> Option<Vec<u8>> {
    key.verify(UnverifiedToken::parse(token)?)
}

/// A token with any header and payload, signed by the key.
fn signed(key: &SigningKey, header: &str, payload: &str) -> String {
    let message = format!("{}.{}", encode(header), encode(payload));
    format!("{message}.{}", encode(key.sign_message(message.as_bytes())))
}

fn header(key: &SigningKey) -> String {
    format!("{}{}{}", HEADER.0, key.kid(), HEADER.1)
}

#[test]
fn a_token_is_verified_by_its_own_key_only() {
    let (key, other) = (key(), key_of(2));
    let token = key.sign(CLAIMS.as_bytes()).unwrap();
    assert_eq!(token, signed(&key, &header(&key), CLAIMS));
    assert_eq!(UnverifiedToken::parse(&token).unwrap().kid(), key.kid());
    assert_eq!(read(&key, &token).as_deref(), Some(CLAIMS.as_bytes()));
    assert_eq!(read(&other, &token), None);
    // Signed by the other key, with the id of this key.
    assert_eq!(read(&key, &signed(&other, &header(&key), CLAIMS)), None);
}

#[test]
fn key_and_thumbprint_match_rfc_8037() {
    // RFC 8037, appendix A.
    let seed = BASE64URL_NOPAD.decode(b"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A").unwrap();
    let key = SigningKey::from_seed(&seed.try_into().unwrap()).unwrap();
    let expect = serde_json::json!({
        "kty": "OKP",
        "crv": "Ed25519",
        "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
        "kid": "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k",
        "alg": "EdDSA",
        "use": "sig",
    });
    assert_eq!(serde_json::Value::from(key.public_jwk()), expect);
    // The example of a signature, with its own header.
    let message = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc";
    let signature = "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg";
    assert_eq!(encode(key.sign_message(message.as_bytes())), signature);
    assert_eq!(read(&key, &format!("{message}.{signature}")), None);
}

#[test]
fn keys_are_read_from_pkcs8() {
    // RFC 8410, section 7: version 1, without the public half.
    let prefix = b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20";
    let der = [&prefix[..], &[1; 32]].concat();
    assert_eq!(SigningKey::from_pkcs8(&der).unwrap().kid(), key().kid());
    // RFC 8410, section 10.3: version 2, with the public half.
    let text = b"MHICAQEwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhCoB8wHQYKKoZIhvcNAQkJFDEPDA1DdXJkbGUgQ2hhaXJzgSEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=";
    let mut der = data_encoding::BASE64.decode(text).unwrap();
    let kid = SigningKey::from_pkcs8(&der).unwrap().kid().to_owned();
    assert_eq!(kid.len(), KID_CHARS);
    // Another public half.
    *der.last_mut().unwrap() ^= 1;
    for wrong in [&der[..], &der[..der.len() - 1], &[1; 32], &[]] {
        assert!(SigningKey::from_pkcs8(wrong).is_err(), "{wrong:?}");
    }
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
    let jwk = serde_json::to_vec(&key.public_jwk()).unwrap();
    let token = key.sign(CLAIMS.as_bytes()).unwrap();
    let genuine = token.rsplit_once('.').unwrap().0.to_owned();
    let hs256 = format!(r#"{{"alg":"HS256","typ":"at+jwt","kid":"{}"}}"#, key.kid());
    let forged = format!("{}.{}", encode(hs256), encode(CLAIMS));
    for (shared, message) in [(&x, &genuine), (&jwk, &genuine), (&x, &forged), (&jwk, &forged)] {
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, shared), message.as_bytes());
        for signature in [encode(tag.as_ref()), encode([tag.as_ref(), tag.as_ref()].concat())] {
            assert_eq!(read(&key, &format!("{message}.{signature}")), None, "{message}");
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
    for [one, two, three] in [
        [header, signature, payload],
        [payload, header, signature],
        [payload, signature, header],
        [signature, header, payload],
        [signature, payload, header],
    ] {
        check(&format!("{one}.{two}.{three}"));
    }
    let other = key.sign(br#"{"sub":"2"}"#).unwrap();
    check(&format!("{header}.{payload}.{}", other.rsplit_once('.').unwrap().1));
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
    // The standard base64 alphabet instead of the URL-safe one.
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
    assert_eq!(read(&key, &format!("{spelled}.{}", encode(key.sign_message(spelled.as_bytes())))), None);
}

#[test]
fn claims_are_one_short_object_without_duplicates() {
    let key = key();
    let check = |claims: &str| {
        assert!(matches!(key.sign(claims.as_bytes()), Err(ClaimsError::Malformed)), "{claims}");
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
    assert!(matches!(key.sign(long.as_bytes()), Err(ClaimsError::TooLong)));
    assert_eq!(read(&key, &signed(&key, &header(&key), &long)), None);
    let fits = format!(r#"{{"a":"{}"}}"#, "x".repeat(5900));
    assert!(read(&key, &key.sign(fits.as_bytes()).unwrap()).is_some());
}

#[test]
fn debug_shows_no_secret() {
    let key = key();
    let token = key.sign(CLAIMS.as_bytes()).unwrap();
    let shown = {
        let tokens = JwtTokens::new(KeySchedule::new(key.clone()), &config());
        format!("{key:?} {:?} {tokens:?}", UnverifiedToken::parse(&token).unwrap())
    };
    assert!(shown.contains(key.kid()));
    let signature = token.rsplit_once('.').unwrap().1;
    assert!(!shown.contains(signature) && !shown.contains("photos"), "{shown}");
    assert!(format!("{key:?}").len() < 80);
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
    // Flips each bit of the decoded bytes, too.
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

    #[test]
    fn a_replaced_byte_is_detected(claims in "\\{\"sub\":\"[a-z]{0,40}\"\\}", at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let key = key();
        let token = key.sign(claims.as_bytes()).unwrap();
        prop_assert_eq!(read(&key, &token), Some(claims.into_bytes()));
        let mut changed = token.clone().into_bytes();
        let at = at.index(changed.len());
        changed[at] = byte;
        if let Some(changed) = String::from_utf8(changed).ok().filter(|changed| *changed != token) {
            prop_assert_eq!(read(&key, &changed), None);
        }
    }
}

/// Tokens of two processes, whose keys are replaced independently, on one clock.
struct Processes {
    clock: Arc<ManualClock>,
    one: JwtTokens,
    two: JwtTokens,
}

impl Processes {
    fn new(keys: &KeySchedule) -> Self {
        let clock = Arc::new(ManualClock::new());
        let tokens = || JwtTokens::new(keys.clone(), &config()).with_clock(clock.clone());
        Self { one: tokens(), two: tokens(), clock }
    }

    fn at(&self, seconds: i64) {
        self.clock.advance_ms(NOW.0 + seconds * 1000 - self.clock.now().0);
    }
}

async fn sign(tokens: &JwtTokens) -> (String, String) {
    let token = tokens.sign(&claims()).await.unwrap();
    let kid = UnverifiedToken::parse(&token).unwrap().kid().to_owned();
    (token, kid)
}

async fn is_read(tokens: &JwtTokens, token: &str) -> bool {
    match tokens.read(token).await.unwrap() {
        Some(read) => read == claims(),
        None => false,
    }
}

async fn published(tokens: &JwtTokens) -> Vec<String> {
    let set = tokens.jwk_set().await.unwrap();
    set.keys.iter().map(|key| key["kid"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_new_key_is_published_then_signs_then_the_old_one_retires() {
    let (old, new) = (key_of(1), key_of(2));
    let processes = Processes::new(&KeySchedule::new(old.clone()));
    let Processes { one, two, .. } = &processes;
    let (first, kid) = sign(one).await;
    assert_eq!((kid.as_str(), published(one).await), (old.kid(), vec![old.kid().to_owned()]));

    let schedule = KeySchedule::new(old.clone()).then(NOW.plus_ms(600_000), new.clone());
    one.replace_keys(schedule.clone());
    assert_eq!(sign(one).await.1, old.kid());
    assert_eq!(published(one).await, [old.kid(), new.kid()]);
    assert!(is_read(one, &new.sign(&serde_json::to_vec(&claims()).unwrap()).unwrap()).await);
    two.replace_keys(schedule);

    processes.at(599);
    let (last, kid) = sign(two).await;
    assert_eq!(kid, old.kid());
    processes.at(600);
    let (newest, kid) = sign(two).await;
    assert_eq!(kid, new.kid());
    assert_eq!(published(two).await, [new.kid(), old.kid()]);
    for token in [&first, &last, &newest] {
        assert!(is_read(one, token).await && is_read(two, token).await);
    }

    processes.at(600 + 3599);
    assert!(is_read(one, &last).await);
    processes.at(600 + 3600);
    assert!(!is_read(one, &last).await && !is_read(two, &last).await);
    assert!(is_read(one, &newest).await);
    assert_eq!(published(one).await, [new.kid()]);
}

#[tokio::test]
async fn a_removed_key_is_refused_at_once() {
    let (stolen, new) = (key_of(1), key_of(2));
    let processes = Processes::new(&KeySchedule::new(stolen));
    let (token, _) = sign(&processes.one).await;
    processes.one.replace_keys(KeySchedule::new(new.clone()));
    assert!(!is_read(&processes.one, &token).await);
    assert_eq!(published(&processes.one).await, [new.kid()]);
    assert_eq!(sign(&processes.one).await.1, new.kid());
}

#[tokio::test]
async fn the_order_of_adding_keys_does_not_matter() {
    let keys = [key_of(2), key_of(3), key_of(4)];
    let at = |minutes: i64| NOW.plus_ms(minutes * 60_000);
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
        let schedule = order.into_iter().fold(KeySchedule::new(key_of(1)), |schedule, index| {
            schedule.then(at(i64::try_from(index).unwrap() * 10), keys[index].clone())
        });
        for (minutes, expect) in
            [(-1, &key_of(1)), (0, &keys[0]), (10, &keys[1]), (19, &keys[1]), (99, &keys[2])]
        {
            assert_eq!(schedule.active(at(minutes)).kid(), expect.kid(), "{order:?} {minutes}");
        }
        let verifying = |minutes| schedule.verifying(at(minutes), 3_600_000).count();
        assert_eq!([verifying(0), verifying(60), verifying(70), verifying(1000)], [4, 3, 2, 1]);
    }
    // A key that signs twice is published once.
    let again = KeySchedule::new(key_of(1)).then(at(-2), key_of(2)).then(at(-1), key_of(1));
    let tokens = Processes::new(&again).one;
    assert_eq!(published(&tokens).await, [key_of(1).kid(), key_of(2).kid()]);
}

#[tokio::test]
async fn a_client_gets_a_token_that_gives_access_until_it_expires() {
    let mut test = TestServer::new();
    let tokens = JwtTokens::new(KeySchedule::new(key()), test.server.config());
    test.server.tokens = Arc::new(tokens.with_clock(test.clock.clone()));
    let id = test.register(serde_json::json!({})).await.client_id;
    let tokens = test.tokens(&id).await;
    let access = tokens.access_token.expose();
    assert!(UnverifiedToken::parse(access).is_some());
    assert!(test.has_access(access).await);
    test.clock.advance_ms(3_600_000);
    assert!(!test.has_access(access).await);
    let renewed = test.refresh(&id, tokens.refresh_token.unwrap().expose()).await.unwrap();
    assert!(test.has_access(renewed.access_token.expose()).await);
    test.server.revoke(&RevokeRequest::of(renewed.access_token.expose())).await.unwrap();
    assert!(!test.has_access(renewed.access_token.expose()).await);
}

#[tokio::test]
async fn claims_of_other_types_are_refused() {
    let tokens = JwtTokens::new(KeySchedule::new(key()), &config());
    let mut members = serde_json::to_value(claims()).unwrap();
    let signed = |members: &serde_json::Value| key().sign(members.to_string().as_bytes()).unwrap();
    assert!(is_read(&tokens, &signed(&members)).await);
    members["exp"] = "soon".into();
    assert!(!is_read(&tokens, &signed(&members)).await);
    members.as_object_mut().unwrap().remove("exp");
    assert!(!is_read(&tokens, &signed(&members)).await);
    let too_long = AccessTokenClaims { scope: "x".repeat(MAX_TOKEN_BYTES), ..claims() };
    assert!(tokens.sign(&too_long).await.unwrap_err().to_string().contains("longer than 8192 bytes"));
}
