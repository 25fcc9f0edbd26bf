//! Clients with a metadata document that sign assertions (`private_key_jwt`). josekit, another implementation, makes
//! their keys and signatures.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use josekit::{
    jwk::{
        Jwk,
        alg::{ec::EcCurve, ed::EdCurve},
    },
    jws::{ES256, EdDSA, JwsHeader, JwsSigner, PS256, RS256, serialize_compact},
};
use library::Clock as _;
use serde_json::{Value, json};
use tests::{
    TestApp, TestResponse,
    oauth::{DocumentHost, OauthClient, Tokens},
};

use super::{code_fields, refused};

const PATH: &str = "/oauth/client.json";
const KEYS: &str = "/oauth/keys.json";
const CALLBACK: &str = "https://app.example/callback";
const TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// A signing key of a client.
struct Key {
    public: Jwk,
    kid: String,
    signer: Box<dyn JwsSigner>,
}

impl Key {
    fn new(algorithm: &str, kid: &str) -> Self {
        let key = match algorithm {
            "ES256" => Jwk::generate_ec_key(EcCurve::P256),
            "EdDSA" => Jwk::generate_ed_key(EdCurve::Ed25519),
            _ => Jwk::generate_rsa_key(2048),
        }
        .unwrap();
        let signer: Box<dyn JwsSigner> = match algorithm {
            "ES256" => Box::new(ES256.signer_from_jwk(&key).unwrap()),
            "EdDSA" => Box::new(EdDSA.signer_from_jwk(&key).unwrap()),
            "PS256" => Box::new(PS256.signer_from_jwk(&key).unwrap()),
            _ => Box::new(RS256.signer_from_jwk(&key).unwrap()),
        };
        let mut public = key.to_public_key().unwrap();
        public.set_key_id(kid);
        Self { public, kid: kid.to_owned(), signer }
    }

    fn sign(&self, claims: &Value) -> String {
        let mut header = JwsHeader::new();
        header.set_key_id(&self.kid);
        serialize_compact(claims.to_string().as_bytes(), &header, &*self.signer).unwrap()
    }
}

/// A connected client that must sign assertions, and its host.
struct Connection {
    app: TestApp,
    host: DocumentHost,
    client: OauthClient,
    code: String,
}

impl Connection {
    async fn start(keys: &[&Key]) -> Self {
        let host = DocumentHost::start().await;
        let mut options = host.options();
        options.timeout = Duration::from_secs(2);
        let app = TestApp::builder().client_documents(options).start().await;
        let document = json!({
            "redirect_uris": [CALLBACK],
            "token_endpoint_auth_method": "private_key_jwt",
            "jwks_uri": host.client_id(KEYS),
        });
        let client = host.describe(PATH, document);
        publish(&host, keys);
        let person = app.person("anna").await;
        let code = app.code(&client, &person).await;
        Self { app, host, client, code }
    }

    fn claims(&self, jti: &str) -> Value {
        let now = self.app.clock.now().millis() / 1000;
        json!({
            "iss": self.client.id,
            "sub": self.client.id,
            "aud": format!("{}/api", self.app.service_url),
            "iat": now,
            "exp": now + 120,
            "jti": jti,
        })
    }

    async fn send(&self, endpoint: &str, fields: &[(&str, &str)], assertion: &str) -> TestResponse {
        let assertion = [("client_assertion_type", TYPE), ("client_assertion", assertion)];
        self.app.oauth_form(endpoint, &[fields, &assertion].concat()).await
    }

    async fn redeem(&self, assertion: &str) -> TestResponse {
        self.send("token", &code_fields(&self.client, &self.code), assertion).await
    }

    async fn refresh(&self, tokens: &Tokens, assertion: &str) -> TestResponse {
        let fields = [("grant_type", "refresh_token"), ("refresh_token", tokens.refresh.as_str())];
        self.send("token", &fields, assertion).await
    }

    /// The number of requests for the key set.
    fn key_fetches(&self) -> usize {
        self.host.heads().iter().filter(|head| head.contains(KEYS)).count()
    }
}

fn publish(host: &DocumentHost, keys: &[&Key]) {
    let keys: Vec<_> = keys.iter().map(|key| key.public.as_ref()).collect();
    host.put(KEYS, "application/jwk-set+json", "", &json!({"keys": keys}).to_string());
}

/// Checks that a client is not authenticated.
#[track_caller]
fn unauthenticated(answer: &TestResponse) {
    refused(answer, 401, "invalid_client");
    assert!(answer.header("www-authenticate").is_some_and(|challenge| challenge.starts_with("Basic ")));
}

/// Checks that keys could not be fetched, and that the client is to retry.
#[track_caller]
fn unavailable(answer: &TestResponse, words: &str) {
    refused(answer, 503, "temporarily_unavailable");
    assert!(answer.header("retry-after").is_some());
    let text = answer.json["error_description"].as_str().unwrap();
    assert!(text.contains("public keys could not be fetched") && text.contains(words), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_signs_each_request_with_any_of_the_algorithms() {
    let keys = ["RS256", "PS256", "ES256", "EdDSA"].map(|algorithm| Key::new(algorithm, algorithm));
    let [rs, ps, es, ed] = &keys;
    let connection = Connection::start(&[rs, ps, es, ed]).await;
    let Connection { app, host, .. } = &connection;
    let metadata = app.fetch("/.well-known/oauth-authorization-server/api").await.expect(200).json;
    let methods = json!(["none", "client_secret_basic", "client_secret_post"]);
    assert_eq!(metadata["token_endpoint_auth_methods_supported"], methods);

    unauthenticated(&app.redeem(&connection.client, &connection.code).await);
    let assertion = rs.sign(&connection.claims("1"));
    let mut tokens = Tokens::read(&connection.redeem(&assertion).await);
    unauthenticated(&connection.refresh(&tokens, &assertion).await);
    for key in [ps, es, ed] {
        let mut claims = connection.claims(&key.kid);
        claims["aud"] = json!(["https://elsewhere.example", format!("{}/api/oauth/token", app.service_url)]);
        tokens = Tokens::read(&connection.refresh(&tokens, &key.sign(&claims)).await);
    }
    app.list_tools("/api/mcp/v1", &tokens.access).await.expect(200);
    assert_eq!(host.heads().len(), 2, "the document and its keys were fetched once each");

    let token = [("token", tokens.access.as_str())];
    unauthenticated(&connection.send("revoke", &token, &ed.sign(&connection.claims("EdDSA"))).await);
    app.list_tools("/api/mcp/v1", &tokens.access).await.expect(200);
    connection.send("revoke", &token, &ed.sign(&connection.claims("2"))).await.expect(200);
    app.list_tools("/api/mcp/v1", &tokens.access).await.expect(401);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_assertion_changes_nothing() {
    let (key, stranger) = (Key::new("ES256", "one"), Key::new("ES256", "one"));
    let connection = Connection::start(&[&key]).await;
    let mut expired = connection.claims("1");
    expired["exp"] = expired["iat"].clone();
    let mut elsewhere = connection.claims("1");
    elsewhere["aud"] = "https://elsewhere.example/api".into();
    for assertion in [key.sign(&expired), key.sign(&elsewhere), stranger.sign(&connection.claims("1"))] {
        unauthenticated(&connection.redeem(&assertion).await);
    }
    let assertion = key.sign(&connection.claims("1"));
    let twice = [code_fields(&connection.client, &connection.code), vec![("client_secret", "x")]].concat();
    refused(&connection.send("token", &twice, &assertion).await, 400, "invalid_request");
    let tokens = Tokens::read(&connection.redeem(&assertion).await);
    unauthenticated(&connection.refresh(&tokens, &stranger.sign(&connection.claims("2"))).await);
    Tokens::read(&connection.refresh(&tokens, &key.sign(&connection.claims("2"))).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_many_concurrent_uses_of_an_assertion_counts() {
    let key = Key::new("EdDSA", "one");
    let connection = Connection::start(&[&key]).await;
    let assertion = key.sign(&connection.claims("1"));
    let unknown = [("grant_type", "refresh_token"), ("refresh_token", "unknown")];
    let answers = join_all((0..16).map(|_| connection.send("token", &unknown, &assertion))).await;
    // The client is authentic once; its refresh token is unknown.
    let authentic = answers.iter().filter(|answer| answer.oauth_error() == "invalid_grant").count();
    assert_eq!(authentic, 1);
    for answer in answers.iter().filter(|answer| answer.oauth_error() != "invalid_grant") {
        unauthenticated(answer);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_used_assertion_is_remembered_until_it_expires() {
    let key = Key::new("EdDSA", "one");
    let connection = Connection::start(&[&key]).await;
    let assertion = key.sign(&connection.claims("1"));
    Tokens::read(&connection.redeem(&assertion).await);
    for seconds in [119, 1, 60] {
        connection.app.advance(Duration::from_secs(seconds));
        connection.app.library.accounts.delete_expired(|| false).await.unwrap();
        unauthenticated(&connection.redeem(&assertion).await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn new_keys_are_fetched_at_most_once_a_minute() {
    let [old, new, stranger] = ["old", "new", "stranger"].map(|kid| Key::new("EdDSA", kid));
    let connection = Connection::start(&[&old]).await;
    let tokens = Tokens::read(&connection.redeem(&old.sign(&connection.claims("1"))).await);
    publish(&connection.host, &[&new]);
    unauthenticated(&connection.refresh(&tokens, &new.sign(&connection.claims("2"))).await);
    assert_eq!(connection.key_fetches(), 1, "the keys are less than a minute old");
    connection.app.advance(Duration::from_secs(60));
    let tokens = Tokens::read(&connection.refresh(&tokens, &new.sign(&connection.claims("3"))).await);
    assert_eq!(connection.key_fetches(), 2);
    unauthenticated(&connection.refresh(&tokens, &old.sign(&connection.claims("4"))).await);
    for jti in 0..20 {
        let assertion = stranger.sign(&connection.claims(&format!("stranger {jti}")));
        unauthenticated(&connection.refresh(&tokens, &assertion).await);
    }
    assert_eq!(connection.key_fetches(), 2, "a stranger cannot cause fetches");
    Tokens::read(&connection.refresh(&tokens, &new.sign(&connection.claims("5"))).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_are_fetched_like_documents_and_failures_are_temporary() {
    let key = Key::new("EdDSA", "one");
    let connection = Connection::start(&[&key]).await;
    let Connection { app, host, .. } = &connection;
    let head = |status: &str, more: &str| {
        format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\n{more}\r\n")
    };
    let location = "location: https://app.example/other\r\n";
    let mut jti = 0..;
    let mut check = async |words: &str| {
        let assertion = key.sign(&connection.claims(&format!("{:?}", jti.next())));
        unavailable(&connection.redeem(&assertion).await, words);
        app.advance(Duration::from_secs(30));
    };
    for (answer, words) in [
        (head("302 Found", location), "it redirects to another address"),
        (head("404 Not Found", "content-length: 0\r\n"), "did not respond with 200 OK"),
        (head("200 OK", "content-length: 32769\r\n"), "longer than 32 KB"),
        (format!("{}{}", head("200 OK", ""), "x".repeat(40_000)), "longer than 32 KB"),
        (head("200 OK", "content-length: 10\r\n"), "cut off"),
    ] {
        host.put_raw(KEYS, answer);
        check(words).await;
    }
    for body in ["[]", "{}", r#"{"keys":[],"keys":[]}"#] {
        host.put(KEYS, "application/json", "", body);
        check("invalid").await;
    }
    publish(host, &[&key]);
    host.delay(KEYS, Duration::from_secs(20));
    let started = Instant::now();
    check("took too long").await;
    assert!(started.elapsed() < Duration::from_secs(15));
    host.set_down(true);
    check("cannot be reached").await;
    assert!(host.heads().iter().all(|head| !head.contains("/other")), "no redirect is followed");
    host.set_down(false);
    host.delay(KEYS, Duration::ZERO);
    let tokens = Tokens::read(&connection.redeem(&key.sign(&connection.claims("good"))).await);

    // Cached keys are used while the host is down.
    host.set_down(true);
    app.advance(Duration::from_secs(3600));
    let tokens = Tokens::read(&connection.refresh(&tokens, &key.sign(&connection.claims("cached"))).await);
    app.advance(Duration::from_secs(3600));
    unavailable(
        &connection.refresh(&tokens, &key.sign(&connection.claims("gone"))).await,
        "cannot be reached",
    );
    host.set_down(false);
    app.advance(Duration::from_secs(30));
    Tokens::read(&connection.refresh(&tokens, &key.sign(&connection.claims("back"))).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_inside_the_own_network_are_not_fetched() {
    let key = Key::new("EdDSA", "one");
    let connection = Connection::start(&[&key]).await;
    let Connection { app, host, .. } = &connection;
    host.resolve_to("inside.example", &["10.0.0.1"]);
    let document = json!({
        "client_id": connection.client.id,
        "redirect_uris": [CALLBACK],
        "token_endpoint_auth_method": "private_key_jwt",
        "jwks_uri": "https://inside.example/keys",
    });
    host.put(PATH, "application/json", "", &document.to_string());
    app.advance(Duration::from_secs(3600));
    let dials = host.dials().len();
    unavailable(&connection.redeem(&key.sign(&connection.claims("1"))).await, "cannot be reached");
    assert_eq!(host.dials().len(), dials + 1, "only the document was fetched");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_began_to_sign_after_its_consent_is_verified() {
    let key = Key::new("ES256", "one");
    let host = DocumentHost::start().await;
    let app = TestApp::builder().client_documents(host.options()).start().await;
    let public = json!({"redirect_uris": [CALLBACK]});
    let client = host.describe(PATH, public);
    let person = app.person("anna").await;
    let tokens = app.tokens(&client, &person).await;
    host.describe(
        PATH,
        json!({
            "redirect_uris": [CALLBACK],
            "token_endpoint_auth_method": "private_key_jwt",
            "token_endpoint_auth_methods_supported": ["private_key_jwt", "none"],
            "jwks": {"keys": [key.public.as_ref()]},
        }),
    );
    app.advance(Duration::from_secs(60));
    let connection = Connection { app, host, client, code: String::new() };
    let stranger = Key::new("ES256", "one");
    unauthenticated(&connection.refresh(&tokens, &stranger.sign(&connection.claims("1"))).await);
    let tokens = Tokens::read(&connection.refresh(&tokens, &key.sign(&connection.claims("2"))).await);
    Tokens::read(&connection.app.refresh(&connection.client, &tokens.refresh).await);
}
