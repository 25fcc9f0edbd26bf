use std::sync::{Arc, atomic::Ordering};

use data_encoding::BASE64URL_NOPAD;
use proptest::prelude::*;
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use serde::Deserialize;
use serde_json::{Value, json};

use super::*;
use crate::{
    GrantKey, RevokeRequest, Revoked, SecretHash, TokenError, TokenRequest, TokenResponse,
    testing::{CLIENT_URL, KEYS_URL, NOW, OneDocument, REDIRECT, TestServer, V1, code_form},
};

const ISSUER: &str = "https://photos.example/api";
const TOKEN_ENDPOINT: &str = "https://photos.example/api/oauth/token";

/// Assertions that other libraries signed at [`NOW`], with the public keys.
#[derive(Deserialize)]
struct Vectors {
    jwks: Value,
    valid: Vec<Valid>,
    refused: Vec<Refused>,
}

#[derive(Deserialize)]
struct Valid {
    by: String,
    alg: String,
    token: String,
}

#[derive(Deserialize)]
struct Refused {
    name: String,
    token: String,
}

fn vectors() -> Vectors {
    serde_json::from_str(include_str!("vectors.json")).unwrap()
}

/// A key that signs with Ed25519.
struct Signer(Ed25519KeyPair);

impl Signer {
    fn new(seed: u8) -> Self {
        Self(Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).unwrap())
    }

    fn jwk(&self) -> Value {
        let x = BASE64URL_NOPAD.encode(self.0.public_key().as_ref());
        json!({"kty": "OKP", "crv": "Ed25519", "x": x, "kid": "one"})
    }

    fn sign(&self, header: &str, claims: &str) -> String {
        let encode = |text: &str| BASE64URL_NOPAD.encode(text.as_bytes());
        let message = format!("{}.{}", encode(header), encode(claims));
        format!("{message}.{}", BASE64URL_NOPAD.encode(self.0.sign(message.as_bytes()).as_ref()))
    }

    fn assertion(&self, claims: &Value) -> String {
        self.sign(HEADER, &claims.to_string())
    }
}

const HEADER: &str = r#"{"alg":"EdDSA","kid":"one"}"#;

fn claims() -> Value {
    let now = NOW.seconds();
    json!({"iss": CLIENT_URL, "sub": CLIENT_URL, "aud": ISSUER, "iat": now, "exp": now + 300, "jti": "1"})
}

fn claims_with(name: &str, value: Value) -> Value {
    let mut claims = claims();
    claims[name] = value;
    claims
}

fn claims_without(name: &str) -> Value {
    let mut claims = claims();
    claims.as_object_mut().unwrap().remove(name);
    claims
}

/// A document of a client that signs assertions with the keys at [`KEYS_URL`].
fn document() -> Value {
    json!({
        "client_id": CLIENT_URL,
        "redirect_uris": [REDIRECT],
        "token_endpoint_auth_method": "private_key_jwt",
        "jwks_uri": KEYS_URL,
    })
}

fn key_set(keys: &[Value]) -> Value {
    json!({"keys": keys})
}

fn form_of(assertion: &str) -> String {
    format!("&client_assertion_type={ASSERTION_TYPE}&client_assertion={assertion}")
}

/// A server with one client that must sign assertions, and a code of it.
struct Connection {
    test: TestServer,
    documents: Arc<OneDocument>,
    signer: Signer,
    code: String,
}

impl Connection {
    async fn with_document(document: &Value) -> Self {
        let (test, documents) = TestServer::with_documents();
        documents.put(document);
        let signer = Signer::new(1);
        documents.put_keys(&key_set(&[signer.jwk()]));
        let code = test.code(CLIENT_URL).await;
        Self { test, documents, signer, code }
    }

    async fn new() -> Self {
        Self::with_document(&document()).await
    }

    /// The response to a redemption of the code with these parameters appended.
    async fn redeem(&self, more: &str) -> Result<TokenResponse, TokenError> {
        self.test.token(&format!("{}{more}", code_form(CLIENT_URL, &self.code))).await
    }

    /// Redeems the code with an assertion.
    async fn authenticate(&self, assertion: &str) -> Result<TokenResponse, TokenError> {
        self.redeem(&form_of(assertion)).await
    }

    /// Checks that a redemption is `invalid_client` with these words, and uses up neither the code nor an assertion.
    async fn check_refused(&self, name: &str, more: &str, words: &str) {
        let writes = self.test.store.writes.load(Ordering::SeqCst);
        let error = self.redeem(more).await.err().unwrap_or_else(|| panic!("{name} was accepted"));
        assert_eq!((error.code(), error.status()), ("invalid_client", 401), "{name}: {error:?}");
        assert!(error.www_authenticate().unwrap().starts_with("Basic "), "{name}");
        assert!(error.description().contains(words), "{name}: {}", error.description());
        assert_eq!(self.test.store.writes.load(Ordering::SeqCst), writes, "{name}: something was stored");
    }
}

#[tokio::test]
async fn assertions_of_other_libraries_are_accepted_once() {
    let Vectors { jwks, valid, refused } = vectors();
    for algorithm in ["RS256", "PS256", "ES256", "EdDSA"] {
        assert_eq!(valid.iter().filter(|vector| vector.alg == algorithm).count(), 3, "{algorithm}");
    }
    let connection = Connection::new().await;
    connection.documents.put_keys(&jwks);
    for Refused { name, token } in &refused {
        connection.check_refused(name, &form_of(token), "").await;
    }
    for (number, Valid { by, alg, token }) in valid.iter().enumerate() {
        let name = format!("{alg} by {by}");
        let result = connection.authenticate(token).await;
        match number {
            0 => assert!(result.is_ok(), "{name}: {result:?}"),
            // The client is authentic, but its code was redeemed.
            _ => assert_eq!(result.unwrap_err().code(), "invalid_grant", "{name}"),
        }
        connection.check_refused_as_replay(&name, token).await;
    }
}

impl Connection {
    async fn check_refused_as_replay(&self, name: &str, assertion: &str) {
        let error = self.authenticate(assertion).await.unwrap_err();
        assert!(
            matches!(error, TokenError::RefusedAssertion(AssertionRefused::Replayed)),
            "{name}: {error:?}"
        );
        assert_eq!(error.status(), 401, "{name}");
    }
}

#[tokio::test]
async fn invalid_assertions_are_refused_and_change_nothing() {
    let connection = Connection::new().await;
    let signer = &connection.signer;
    let good = signer.assertion(&claims());
    let (message, signature) = good.rsplit_once('.').unwrap();
    let (header, payload) = message.split_once('.').unwrap();
    let signed = |header: &str| signer.sign(header, &claims().to_string());
    let changed = |name: &str, value: Value| signer.assertion(&claims_with(name, value));
    let now = NOW.seconds();
    // The last character of a segment of 64 bytes has four unused bits.
    let unused_bits = {
        let mut text = good.clone();
        let last = text.pop().unwrap();
        let next =
            [('A', 'B'), ('Q', 'R'), ('g', 'h'), ('w', 'x')].into_iter().find(|(from, _)| *from == last);
        text.push(next.unwrap().1);
        text
    };
    let other_key = Signer::new(2);
    let cases: Vec<(&str, String, &str)> = vec![
        ("not a JWT", "x".to_owned(), "not a JWT"),
        ("two segments", message.to_owned(), "not a JWT"),
        ("four segments", format!("{good}.{signature}"), "not a JWT"),
        ("five segments, as encrypted", format!("{good}.a.a"), "not a JWT"),
        ("an empty signature", format!("{message}."), "signature"),
        ("a cut signature", good[..good.len() - 6].to_owned(), "signature"),
        ("padding", format!("{good}=="), "not a JWT"),
        ("unused bits", unused_bits, "not a JWT"),
        ("white space", format!("{header}.{payload}%0A.{signature}"), "not a JWT"),
        ("too long", signer.assertion(&claims_with("x", "x".repeat(8192).into())), "not a JWT"),
        ("a payload that is a list", signer.sign(HEADER, "[]"), "not a JWT"),
        (
            "a claim twice",
            signer.sign(HEADER, &claims().to_string().replacen('{', r#"{"jti":"2","#, 1)),
            "not a JWT",
        ),
        ("a header member twice", signed(r#"{"alg":"none","alg":"EdDSA","kid":"one"}"#), "not a JWT"),
        ("alg none", format!("{}.{payload}.", BASE64URL_NOPAD.encode(br#"{"alg":"none"}"#)), "alg"),
        ("alg none with a signature", signed(r#"{"alg":"none","kid":"one"}"#), "alg"),
        ("alg nOnE", signed(r#"{"alg":"nOnE","kid":"one"}"#), "alg"),
        ("alg HS256", signed(r#"{"alg":"HS256","kid":"one"}"#), "alg"),
        ("alg in another case", signed(r#"{"alg":"eddsa","kid":"one"}"#), "alg"),
        ("no alg", signed(r#"{"kid":"one"}"#), "alg"),
        ("alg of another key type", signed(r#"{"alg":"ES256","kid":"one"}"#), "exactly one public key"),
        ("crit", signed(r#"{"alg":"EdDSA","kid":"one","crit":["exp"]}"#), "crit"),
        (
            "its own key",
            other_key.sign(
                &format!(r#"{{"alg":"EdDSA","kid":"one","jwk":{}}}"#, other_key.jwk()),
                &claims().to_string(),
            ),
            "jwk",
        ),
        ("jku", signed(r#"{"alg":"EdDSA","kid":"one","jku":"https://evil.example/keys"}"#), "jku"),
        ("x5u", signed(r#"{"alg":"EdDSA","kid":"one","x5u":"https://evil.example/keys"}"#), "x5u"),
        ("x5c", signed(r#"{"alg":"EdDSA","kid":"one","x5c":["MII"]}"#), "x5c"),
        ("typ of an access token", signed(r#"{"alg":"EdDSA","kid":"one","typ":"at+jwt"}"#), "typ"),
        ("an unknown kid", signed(r#"{"alg":"EdDSA","kid":"two"}"#), "exactly one public key"),
        ("a kid that is a path", signed(r#"{"alg":"EdDSA","kid":"../one"}"#), "exactly one public key"),
        ("a kid that is a number", signed(r#"{"alg":"EdDSA","kid":1}"#), "kid"),
        ("another key", other_key.assertion(&claims()), "does not match"),
        (
            "a changed payload",
            format!("{header}.{}.{signature}", BASE64URL_NOPAD.encode(b"{}")),
            "is missing",
        ),
        ("no iss", signer.assertion(&claims_without("iss")), "iss"),
        ("no sub", signer.assertion(&claims_without("sub")), "sub"),
        ("no aud", signer.assertion(&claims_without("aud")), "aud"),
        ("no exp", signer.assertion(&claims_without("exp")), "exp"),
        ("no jti", signer.assertion(&claims_without("jti")), "jti"),
        ("an empty jti", changed("jti", "".into()), "jti"),
        ("a jti that is a number", changed("jti", 1.into()), "jti"),
        ("iss of another client", changed("iss", "https://evil.example/c".into()), "iss"),
        (
            "iss and sub of another client",
            signer.assertion(&{
                let mut claims = claims_with("iss", "https://evil.example/c".into());
                claims["sub"] = claims["iss"].clone();
                claims
            }),
            "another client",
        ),
        ("aud of another server", changed("aud", "https://evil.example/api".into()), "aud"),
        ("aud with a slash", changed("aud", format!("{ISSUER}/").into()), "aud"),
        ("aud of the resource", changed("aud", V1.into()), "aud"),
        ("aud without this server", changed("aud", json!(["https://evil.example", V1])), "aud"),
        ("no audience", changed("aud", json!([])), "aud"),
        ("aud that is an object", changed("aud", json!({"a": ISSUER})), "aud"),
        ("aud with a number", changed("aud", json!([ISSUER, 1])), "aud"),
        ("expired", changed("exp", now.into()), "has passed"),
        ("expired long ago", changed("exp", 0.into()), "has passed"),
        ("exp far ahead", changed("exp", (now + 331).into()), "more than 5 minutes"),
        ("exp in milliseconds", changed("exp", (now * 1000).into()), "more than 5 minutes"),
        ("exp beyond all times", changed("exp", json!(1e300)), "not a number of seconds"),
        ("exp as text", changed("exp", (now + 60).to_string().into()), "exp"),
        ("iat in the future", changed("iat", (now + 31).into()), "is in the future"),
        ("nbf in the future", changed("nbf", (now + 31).into()), "is in the future"),
        ("nbf that is text", changed("nbf", "1".into()), "nbf"),
    ]
    .into_iter()
    .map(|(name, assertion, words)| (name, form_of(&assertion), words))
    .chain([
        ("no assertion", String::new(), "client_assertion is missing"),
        ("no type", format!("&client_assertion={good}"), "client_assertion_type"),
        ("another type", form_of(&good).replace("jwt-bearer", "saml2-bearer"), "client_assertion_type"),
        ("a type only", form_of(""), "not a JWT"),
        ("a secret", "&client_secret=x".to_owned(), "secret"),
    ])
    .collect();
    for (name, more, words) in &cases {
        connection.check_refused(name, more, words).await;
    }
    let answer = connection.authenticate(&good).await.unwrap();
    assert!(answer.refresh_token.is_some());
}

#[tokio::test]
async fn an_assertion_is_the_only_method_of_a_request() {
    let connection = Connection::new().await;
    let good = connection.signer.assertion(&claims());
    let form = format!("{}{}", code_form(CLIENT_URL, &connection.code), form_of(&good));
    for (more, header) in [("", Some("Basic YTpi")), ("", Some("Bearer x")), ("&client_secret=x", None)] {
        let error = TokenRequest::from_form(format!("{form}{more}").as_bytes(), header).unwrap_err();
        assert_eq!((error.code(), error.status()), ("invalid_request", 400), "{more} {header:?}");
    }
    for name in ["client_assertion", "client_assertion_type"] {
        let error = TokenRequest::from_form(format!("{form}&{name}=x").as_bytes(), None).unwrap_err();
        assert_eq!(error.code(), "invalid_request", "{name} twice");
    }
    // The subject is enough to name the client.
    let form = form.replace(&format!("&client_id={CLIENT_URL}"), "");
    let request = TokenRequest::from_form(form.as_bytes(), None).unwrap();
    assert_eq!(request.claimed_client_id(), CLIENT_URL);
    connection.test.server.token(request).await.unwrap();
}

#[tokio::test]
async fn claims_are_accepted_up_to_their_bounds() {
    let connection = Connection::new().await;
    let now = NOW.seconds();
    let cases = [
        ("aud", json!(TOKEN_ENDPOINT)),
        ("aud", json!([ISSUER])),
        ("aud", json!(["https://other.example", TOKEN_ENDPOINT])),
        ("exp", json!(now + 1)),
        ("exp", json!(now + 330)),
        ("exp", json!(now as f64 + 299.75)),
        ("iat", json!(now + 30)),
        ("iat", json!(0)),
        ("nbf", json!(now + 30)),
        ("jti", json!("x".repeat(4000))),
        ("other", json!({"nested": [1, 2, 3]})),
    ];
    for (number, (name, value)) in cases.into_iter().enumerate() {
        let mut claims = claims_with(name, value.clone());
        if name != "jti" {
            claims["jti"] = number.to_string().into();
        }
        let error = connection.authenticate(&connection.signer.assertion(&claims)).await.err();
        assert!(error.is_none_or(|error| error.code() == "invalid_grant"), "{name}: {value}");
    }
    for header in [
        r#"{"alg":"EdDSA"}"#,
        r#"{"alg":"EdDSA","typ":"JWT"}"#,
        r#"{"alg":"EdDSA","typ":"jwt","kid":"one"}"#,
        r#"{"alg":"EdDSA","typ":"client-authentication+jwt"}"#,
        r#"{"alg":"EdDSA","typ":"application/client-authentication+jwt","x5t":"x"}"#,
    ] {
        let assertion = connection.signer.sign(header, &claims_with("jti", header.into()).to_string());
        assert_eq!(
            connection.authenticate(&assertion).await.unwrap_err().code(),
            "invalid_grant",
            "{header}"
        );
    }
}

#[tokio::test]
async fn only_a_usable_public_key_verifies() {
    let connection = Connection::new().await;
    let (good, key) = (connection.signer.assertion(&claims()), connection.signer.jwk());
    let with = |name: &str, value: Value| {
        let mut key = key.clone();
        key[name] = value;
        key
    };
    let twin = with("use", "sig".into());
    let refused: [(&str, Vec<Value>); 12] = [
        ("an empty set", vec![]),
        ("a key of another type", vec![with("kty", "EC".into())]),
        ("another curve", vec![with("crv", "X25519".into())]),
        ("another kid", vec![with("kid", "two".into())]),
        ("another algorithm", vec![with("alg", "ES256".into())]),
        ("a key for encryption", vec![with("use", "enc".into())]),
        ("a key that only signs", vec![with("key_ops", json!(["sign"]))]),
        ("a private key", vec![with("d", "AAAA".into())]),
        ("a symmetric key", vec![with("k", "AAAA".into())]),
        ("two keys of one id", vec![key.clone(), twin]),
        ("a short key", vec![with("x", "AAAA".into())]),
        ("a key with padding", vec![with("x", format!("{}=", key["x"].as_str().unwrap()).into())]),
    ];
    for (name, keys) in refused {
        connection.documents.put_keys(&key_set(&keys));
        connection.check_refused(name, &form_of(&good), "key").await;
    }
    // Other members and other keys are ignored.
    let keys = [
        json!(1),
        json!({"kty": "oct", "k": "AAAA"}),
        with("key_ops", json!(["verify"])),
        with("kid", 7.into()),
    ];
    connection.documents.put_keys(&key_set(&keys));
    connection.authenticate(&good).await.unwrap();
}

#[tokio::test]
async fn a_replaced_key_is_found_by_one_refresh() {
    let connection = Connection::new().await;
    let next = Signer::new(2);
    let assertion = |jti: &str| next.assertion(&claims_with("jti", jti.into()));
    connection.check_refused("not published", &form_of(&assertion("a")), "does not match").await;
    let refreshes = || connection.documents.refreshes.load(Ordering::SeqCst);
    let before = refreshes();
    connection.documents.put_keys_later(Ok(key_set(&[next.jwk()]).to_string()));
    connection.authenticate(&assertion("b")).await.unwrap();
    assert_eq!(refreshes(), before + 2, "the document and its key set");
    let known = connection.authenticate(&assertion("c")).await.unwrap_err();
    assert_eq!((known.code(), refreshes()), ("invalid_grant", before + 2));
    // Claims are checked first, so a nonsensical assertion fetches nothing.
    let requests = connection.documents.requests.load(Ordering::SeqCst);
    let stale = Signer::new(3).assertion(&claims_with("exp", 1.into()));
    connection.check_refused("expired", &form_of(&stale), "exp").await;
    assert_eq!(connection.documents.requests.load(Ordering::SeqCst), requests);
}

#[tokio::test]
async fn keys_that_cannot_be_fetched_are_a_temporary_failure() {
    let connection = Connection::new().await;
    let (documents, signer) = (&connection.documents, &connection.signer);
    let good = signer.assertion(&claims());
    let check = async |name: &str| {
        let writes = connection.test.store.writes.load(Ordering::SeqCst);
        let error = connection.authenticate(&good).await.unwrap_err();
        assert_eq!((error.code(), error.status()), ("temporarily_unavailable", 503), "{name}: {error:?}");
        assert!(error.description().contains("public keys could not be fetched"), "{name}: {error:?}");
        assert!(!error.description().contains("secret detail"), "{name}");
        assert_eq!(connection.test.store.writes.load(Ordering::SeqCst), writes, "{name}");
    };
    for text in ["", "<html>", "[]", "{}", r#"{"keys":{}}"#, r#"{"keys":[],"keys":[]}"#] {
        let rejections = documents.rejections.load(Ordering::SeqCst);
        documents.put_keys(&text);
        check(text).await;
        assert_eq!(documents.rejections.load(Ordering::SeqCst), rejections + 1, "{text}");
    }
    for failure in [
        DocumentError::Busy,
        DocumentError::Failed { message: "it redirects", detail: "secret detail".to_owned() },
    ] {
        // The host fails just when a new key is needed.
        documents.put_keys(&key_set(&[Signer::new(2).jwk()]));
        documents.put_keys_later(Err(failure));
        check("the refresh").await;
        check("the fetch").await;
    }
    for document in [
        json!({"client_id": "https://evil.example/c"}),
        json!({"client_id": CLIENT_URL, "jwks": 1}),
        json!({"client_id": CLIENT_URL, "jwks_uri": "http://app.example/keys"}),
        json!({"client_id": CLIENT_URL, "jwks": {"keys": []}, "jwks_uri": KEYS_URL}),
    ] {
        documents.put(&document);
        check(&document.to_string()).await;
    }
    documents.put(&json!({"client_id": CLIENT_URL}));
    connection.check_refused("no keys any more", &form_of(&good), "has no metadata document with").await;
    documents.put(&document());
    documents.put_keys(&key_set(&[signer.jwk()]));
    connection.test.store.is_down.store(true, Ordering::SeqCst);
    assert_eq!(connection.authenticate(&good).await.unwrap_err().status(), 503);
    connection.test.store.is_down.store(false, Ordering::SeqCst);
    connection.authenticate(&good).await.unwrap();
}

#[tokio::test]
async fn a_client_with_a_choice_may_send_no_assertion_but_no_wrong_one() {
    let mut either = document();
    either["token_endpoint_auth_methods_supported"] = json!(["private_key_jwt", "none"]);
    let connection = Connection::with_document(&either).await;
    let wrong = Signer::new(2).assertion(&claims());
    connection.check_refused("another key", &form_of(&wrong), "does not match").await;
    let refresh = connection.redeem("").await.unwrap().refresh_token.unwrap();
    let form = |more: &str| {
        format!("grant_type=refresh_token&client_id={CLIENT_URL}&refresh_token={}{more}", refresh.expose())
    };
    let error = connection.test.token(&form(&form_of(&wrong))).await.unwrap_err();
    assert_eq!(error.code(), "invalid_client");
    let good = connection.signer.assertion(&claims());
    connection.test.token(&form(&form_of(&good))).await.unwrap();
}

#[tokio::test]
async fn keys_may_be_in_the_document() {
    let mut inline = document();
    inline.as_object_mut().unwrap().remove("jwks_uri");
    inline["jwks"] = key_set(&[Signer::new(1).jwk()]);
    let connection = Connection::with_document(&inline).await;
    connection.authenticate(&connection.signer.assertion(&claims())).await.unwrap();
    inline["jwks"] = key_set(&[Signer::new(2).jwk()]);
    connection.documents.put(&inline);
    let other = connection.signer.assertion(&claims_with("jti", "2".into()));
    connection.check_refused("a key that was removed", &form_of(&other), "does not match").await;
}

#[tokio::test]
async fn a_client_without_a_document_cannot_send_an_assertion() {
    let connection = Connection::new().await;
    let test = &connection.test;
    for method in ["none", "client_secret_post"] {
        let client = test.register(json!({"token_endpoint_auth_method": method})).await;
        let code = test.code(&client.client_id).await;
        let mut claims = claims_with("sub", client.client_id.clone().into());
        claims["iss"] = claims["sub"].clone();
        let assertion = form_of(&connection.signer.assertion(&claims));
        let form = format!("{}{assertion}", code_form(&client.client_id, &code));
        assert_eq!(test.token(&form).await.unwrap_err().code(), "invalid_client", "{method}");
        let hash = SecretHash::of(&code);
        let found = test.server.store().grant(GrantKey::Code(&hash)).await.unwrap().unwrap();
        assert_eq!(found.code.redeemed_at, None);
    }
}

#[tokio::test]
async fn an_assertion_at_revocation_must_be_valid() {
    let connection = Connection::new().await;
    let tokens = connection.authenticate(&connection.signer.assertion(&claims())).await.unwrap();
    let revoke = async |assertion: &str| {
        let body = format!("token={}{}", tokens.access_token.expose(), form_of(assertion));
        let request = RevokeRequest::from_form(body.as_bytes()).unwrap();
        connection.test.server.revoke(&request).await
    };
    let used = connection.signer.assertion(&claims());
    let stranger = {
        let mut claims = claims_with("sub", "https://evil.example/c".into());
        claims["iss"] = claims["sub"].clone();
        connection.signer.assertion(&claims)
    };
    for wrong in ["x", &used, &stranger, &Signer::new(2).assertion(&claims_with("jti", "2".into()))] {
        let error = revoke(wrong).await.unwrap_err();
        assert_eq!((error.status(), error.body().error), (401, "invalid_client"), "{wrong}");
        assert!(error.www_authenticate().unwrap().starts_with("Basic "));
        assert!(connection.test.has_access(tokens.access_token.expose()).await, "{wrong}");
    }
    let good = connection.signer.assertion(&claims_with("jti", "3".into()));
    let both = format!("token=a&client_secret=x{}", form_of(&good));
    assert!(RevokeRequest::from_form(both.as_bytes()).is_err());
    assert!(matches!(revoke(&good).await.unwrap(), Revoked::Grant(_)));
    assert_eq!(revoke(&good).await.unwrap_err().status(), 401, "it was used");
}

#[tokio::test]
async fn used_assertions_are_swept_when_they_have_expired() {
    let connection = Connection::new().await;
    let assertion = connection.signer.assertion(&claims());
    connection.authenticate(&assertion).await.unwrap();
    connection.test.clock.advance_ms(300_000);
    assert_eq!(connection.test.server.sweep(10).await.unwrap(), 0);
    connection.check_refused("expired", &form_of(&assertion), "has passed").await;
    connection.test.clock.advance_ms(1);
    assert_eq!(connection.test.server.sweep(10).await.unwrap(), 1);
}

proptest! {
    #[test]
    fn any_text_is_parsed_without_panic(text in any::<String>(), header in any::<Vec<u8>>(), claims in any::<Vec<u8>>()) {
        let _ = Assertion::parse(&text);
        let encode = |bytes: &[u8]| BASE64URL_NOPAD.encode(bytes);
        let _ = Assertion::parse(&format!("{}.{}.AAAA", encode(&header), encode(&claims)));
    }

    #[test]
    fn any_claim_is_parsed_without_panic(name in "iss|sub|aud|exp|nbf|iat|jti", value in "-?[0-9]{1,25}(\\.[0-9]{1,3})?(e[0-9]{1,3})?|null|true|\"\"|\\[\\]|\\{\\}") {
        let claims = claims().to_string().replacen('{', &format!("{{\"other\":{value},"), 1);
        let signer = Signer::new(1);
        prop_assert_eq!(
            Assertion::parse(&signer.sign(HEADER, &claims)).is_ok(),
            serde_json::from_str::<Value>(&claims).is_ok()
        );
        if let Ok(value) = serde_json::from_str(&value) {
            let _ = Assertion::parse(&signer.assertion(&claims_with(&name, value)));
        }
    }
}
