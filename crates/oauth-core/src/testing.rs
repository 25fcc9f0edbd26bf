//! Shared test code.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering},
};

use async_trait::async_trait;
use serde_json::{Value, json};

use crate::{
    AccessTokenClaims, AuthorizationServer, Client, ClientDocuments, ClientStore, ClientUrl, Clock,
    CodeStatus, Config, Connection, DocumentError, Endpoints, GrantKey, GrantStore, Grants, Lifetimes,
    MemoryStore, NewClient, NewCode, OpaqueTokens, Policies, Random, RandomError, Redemption, Registration,
    Resource, Rotation, StoreError, StoredGrant, Sweep, TokenError, TokenRequest, TokenResponse, UnixMillis,
    UsedAssertion, redirect_uri::with_parameters, secret::sha256,
};

/// 2026-01-01T00:00:00Z.
pub(crate) const NOW: UnixMillis = UnixMillis(1_767_225_600_000);
pub(crate) const V1: &str = "https://photos.example/api/mcp/v1";
pub(crate) const LEGACY: &str = "https://photos.example/api/mcp/legacy";

pub(crate) fn config() -> Config {
    let at = |path: &str| format!("https://photos.example/{path}");
    let resource = |path: &str, scope: &str, replaced: &[&str]| Resource {
        scope_aliases: replaced.iter().map(|from| ((*from).to_owned(), scope.to_owned())).collect(),
        ..Resource::new(at(path), "Photos", &[scope])
    };
    let endpoints = Endpoints {
        authorization: at("api/oauth/authorize"),
        token: at("api/oauth/token"),
        registration: at("api/oauth/register"),
        revocation: at("api/oauth/revoke"),
        jwks: at("api/oauth/jwks"),
    };
    let resources = vec![
        resource("api/mcp/v1", "mcp:images", &["mcp:photos"]),
        resource("api/mcp/legacy", "mcp:photos", &[]),
    ];
    Config::new(at("api"), endpoints, resources, Lifetimes::default()).unwrap()
}

/// Claims of an access token.
pub(crate) fn claims() -> AccessTokenClaims {
    AccessTokenClaims {
        iss: "https://photos.example/api".to_owned(),
        sub: "a-pseudonym".to_owned(),
        aud: V1.to_owned(),
        client_id: "an-app".to_owned(),
        scope: "mcp:images".to_owned(),
        iat: NOW.seconds(),
        exp: NOW.seconds() + 3600,
        jti: "an-id".to_owned(),
        grant_id: "a-grant".to_owned(),
    }
}

/// A clock that only [`advance_ms`](Self::advance_ms) moves.
pub(crate) struct ManualClock(AtomicI64);

impl ManualClock {
    pub(crate) fn new() -> Self {
        Self(AtomicI64::new(NOW.0))
    }

    pub(crate) fn advance_ms(&self, millis: i64) {
        self.0.fetch_add(millis, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> UnixMillis {
        UnixMillis(self.0.load(Ordering::SeqCst))
    }
}

/// A repeatable stream of bytes.
pub(crate) struct SeededRandom(AtomicU64);

impl SeededRandom {
    pub(crate) fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed << 32))
    }
}

impl Random for SeededRandom {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
        for chunk in bytes.chunks_mut(32) {
            let block = sha256(&self.0.fetch_add(1, Ordering::SeqCst).to_be_bytes());
            chunk.copy_from_slice(&block[..chunk.len()]);
        }
        Ok(())
    }
}

/// A memory store that counts calls and can fail.
#[derive(Default)]
pub(crate) struct CountingStore {
    inner: MemoryStore,
    /// Calls that may change something.
    pub(crate) writes: AtomicU64,
    /// All calls.
    pub(crate) calls: AtomicU64,
    pub(crate) is_down: AtomicBool,
}

impl CountingStore {
    fn count(&self, writes: bool) -> Result<(), StoreError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        self.writes.fetch_add(u64::from(writes), Ordering::SeqCst);
        if self.is_down.load(Ordering::SeqCst) {
            return Err(StoreError("the disk is gone".to_owned()));
        }
        Ok(())
    }
}

macro_rules! counted {
    ($store:ident $($writes:literal $method:ident($($name:ident: $type:ty),*) -> $gives:ty;)+) => {
        #[async_trait]
        impl $store for CountingStore {
            $(async fn $method(&self, $($name: $type),*) -> Result<$gives, StoreError> {
                self.count($writes)?;
                self.inner.$method($($name),*).await
            })+
        }
    };
}

counted! {
    ClientStore
    true register_client(client: NewClient) -> Client;
    false client(id: &str) -> Option<Client>;
    true record_assertion(used: UsedAssertion) -> bool;
}

counted! {
    GrantStore
    true issue_code(code: NewCode) -> CodeStatus;
    true redeem_code(redemption: Redemption) -> bool;
    true rotate_refresh_token(rotation: Rotation) -> bool;
    false grant(key: GrantKey<'_>) -> Option<StoredGrant>;
    true revoke(grants: Grants<'_>, at: UnixMillis) -> u64;
    false connections(subject: &str) -> Vec<Connection>;
    true record_use(grant_id: &str, at: UnixMillis) -> ();
    true sweep(sweep: Sweep) -> u64;
}

/// A server on a [`CountingStore`] and a [`ManualClock`].
pub(crate) struct TestServer {
    pub(crate) server: AuthorizationServer,
    pub(crate) store: Arc<CountingStore>,
    pub(crate) clock: Arc<ManualClock>,
}

pub(crate) const REDIRECT: &str = "https://app.example/cb?a=%20b";
pub(crate) const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
/// The challenge of [`VERIFIER`] (RFC 7636, appendix B).
pub(crate) const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

impl TestServer {
    pub(crate) fn new() -> Self {
        Self::with_policies(Policies::default())
    }

    pub(crate) fn with_policies(policies: Policies) -> Self {
        let config = config().with_policies(policies);
        let store = Arc::new(CountingStore::default());
        let clock = Arc::new(ManualClock::new());
        let tokens = Arc::new(OpaqueTokens::new(&[7; 32]));
        let random = Arc::new(SeededRandom::new(1));
        let server = AuthorizationServer::builder(config, store.clone(), &[8; 32])
            .access_tokens(tokens)
            .clock(clock.clone())
            .random(random)
            .build();
        Self { server, store, clock }
    }

    /// The same server with metadata documents.
    pub(crate) fn with_documents() -> (Self, Arc<OneDocument>) {
        let documents = Arc::new(OneDocument::default());
        let mut test = Self::new();
        test.server.documents = Some(documents.clone());
        (test, documents)
    }

    /// Registers a client with `members` in addition to its name and redirect URIs.
    pub(crate) async fn register(&self, mut members: Value) -> Registration {
        members["client_name"] = "An app".into();
        members["redirect_uris"] = json!([REDIRECT, "http://127.0.0.1/"]);
        self.server.register(members.to_string().as_bytes()).await.unwrap()
    }

    /// A code for a client after the consent of user 1.
    pub(crate) async fn code(&self, client_id: &str) -> String {
        let request = self.server.authorize(&authorize_query(client_id)).await.unwrap();
        let form = self.server.consent_token(b"session", &request).unwrap();
        let attempt = self.server.check_consent_token(b"session", &request, &form).unwrap();
        let to = self.server.allow(&request, "1", &attempt).await.unwrap().to;
        parameter(&to, "code").unwrap()
    }

    /// The token endpoint's response to a form without an `Authorization` header.
    pub(crate) async fn token(&self, form: &str) -> Result<TokenResponse, TokenError> {
        self.server.token(TokenRequest::from_form(form.as_bytes(), None)?).await
    }

    /// The first tokens of a public client.
    pub(crate) async fn tokens(&self, client_id: &str) -> TokenResponse {
        let code = self.code(client_id).await;
        self.token(&code_form(client_id, &code)).await.unwrap()
    }

    /// Refreshes a public client's tokens.
    pub(crate) async fn refresh(&self, client_id: &str, token: &str) -> Result<TokenResponse, TokenError> {
        self.token(&format!("grant_type=refresh_token&refresh_token={token}&client_id={client_id}")).await
    }

    /// Whether an access token gives access to the first resource.
    pub(crate) async fn has_access(&self, access_token: &str) -> bool {
        let claims = self.server.tokens.read(access_token).await.unwrap().unwrap();
        let found = self.server.store().grant(GrantKey::Id(&claims.grant_id)).await.unwrap();
        let grant = found.map(|found| found.grant);
        self.server.check_access(&claims, grant.as_ref(), V1, self.clock.now()).is_ok()
    }
}

/// The URL of the document in [`OneDocument`].
pub(crate) const CLIENT_URL: &str = "https://app.example/client.json";

/// The URL of a key set in [`OneDocument`].
pub(crate) const KEYS_URL: &str = "https://app.example/keys.json";

/// One document or error, and perhaps a key set, with counters of calls.
#[derive(Default)]
pub(crate) struct OneDocument {
    outcome: Mutex<Option<Result<String, DocumentError>>>,
    key_set: Mutex<Option<Result<String, DocumentError>>>,
    /// The key set from the next refresh on.
    next_key_set: Mutex<Option<Result<String, DocumentError>>>,
    pub(crate) requests: AtomicU64,
    pub(crate) refreshes: AtomicU64,
    pub(crate) rejections: AtomicU64,
}

impl OneDocument {
    /// Puts a document at [`CLIENT_URL`].
    pub(crate) fn put(&self, document: &Value) {
        *self.outcome.lock().unwrap() = Some(Ok(document.to_string()));
    }

    pub(crate) fn fail(&self, error: DocumentError) {
        *self.outcome.lock().unwrap() = Some(Err(error));
    }

    /// Puts a text at [`KEYS_URL`].
    pub(crate) fn put_keys(&self, text: &impl ToString) {
        *self.key_set.lock().unwrap() = Some(Ok(text.to_string()));
    }

    /// Replaces what is at [`KEYS_URL`] at the next refresh.
    pub(crate) fn put_keys_later(&self, outcome: Result<String, DocumentError>) {
        *self.next_key_set.lock().unwrap() = Some(outcome);
    }
}

#[async_trait]
impl ClientDocuments for OneDocument {
    async fn document(&self, url: &ClientUrl) -> Result<Arc<[u8]>, DocumentError> {
        self.requests.fetch_add(1, Ordering::SeqCst);
        let missing = DocumentError::Failed { message: "it is missing", detail: "none".to_owned() };
        let outcome = match url.as_str() {
            CLIENT_URL => self.outcome.lock().unwrap().clone(),
            KEYS_URL => self.key_set.lock().unwrap().clone(),
            _ => None,
        };
        outcome.unwrap_or(Err(missing)).map(|document| document.into_bytes().into())
    }

    async fn refresh(&self, url: &ClientUrl) -> Result<Arc<[u8]>, DocumentError> {
        self.refreshes.fetch_add(1, Ordering::SeqCst);
        if let Some(next) = self.next_key_set.lock().unwrap().take() {
            *self.key_set.lock().unwrap() = Some(next);
        }
        self.document(url).await
    }

    fn is_cached(&self, _: &ClientUrl) -> bool {
        false
    }

    fn reject(&self, url: &ClientUrl) {
        assert!([CLIENT_URL, KEYS_URL].contains(&url.as_str()));
        self.rejections.fetch_add(1, Ordering::SeqCst);
    }
}

/// The query of an authorization request with all required parameters.
pub(crate) fn authorize_query(client_id: &str) -> String {
    with_parameters(
        "",
        &[
            ("response_type", "code"),
            ("client_id", client_id),
            ("redirect_uri", REDIRECT),
            ("code_challenge", CHALLENGE),
            ("code_challenge_method", "S256"),
        ],
    )
    .trim_start_matches('?')
    .to_owned()
}

/// The form with which a public client redeems a code.
pub(crate) fn code_form(client_id: &str, code: &str) -> String {
    let redirect_uri = with_parameters("", &[("redirect_uri", REDIRECT)]);
    let redirect_uri = redirect_uri.trim_start_matches('?');
    format!(
        "grant_type=authorization_code&code={code}&{redirect_uri}&code_verifier={VERIFIER}&client_id={client_id}"
    )
}

/// A parameter of a URL's query.
pub(crate) fn parameter(url: &str, name: &str) -> Option<String> {
    let url = url::Url::parse(url).unwrap();
    url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}
