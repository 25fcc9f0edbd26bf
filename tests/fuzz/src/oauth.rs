//! Untrusted requests to the authorization server.
//!
//! The store contains a public and a confidential client, and two grants of the public one. The corpora and dictionaries
//! contain identifiers, a code without its verifier and a replaced refresh token, but no usable credential. So no input
//! may get a token.
#![expect(clippy::unwrap_used, reason = "a panic reports a finding")]

use std::{
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use data_encoding::BASE64URL_NOPAD;
use keys::sha256;
use oauth_core::{
    AccessTokenClaims, AccessTokens as _, AuthMethod, AuthorizationServer, AuthorizeError, Client,
    ClientMetadata, ClientStore as _, Clock, Config, CurrentRefreshToken, Endpoints, Grant, GrantStore as _,
    GrantType, IssuedCode, Lifetimes, MemoryStore, NewClient, NewCode, NewRefreshToken, OpaqueTokens,
    Redemption, Resource, RevokeRequest, Revoked, SecretHash, TokenRequest, UnixMillis, check_redirect_uri,
};
use url::Url;

/// The time of the fixed clock: 2026-01-01T00:00:00Z.
const NOW: UnixMillis = UnixMillis(1_767_225_600_000);
const REDIRECTS: [&str; 3] =
    ["https://app.example/cb?a=%20b", "http://127.0.0.1:33418/", "com.example.app:/cb"];

pub(crate) struct FixedClock;

impl Clock for FixedClock {
    fn now(&self) -> UnixMillis {
        NOW
    }
}

/// The output of a future that is ready at once.
pub(crate) fn now<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => unreachable!("the in-memory store never waits"),
    }
}

struct Bench {
    server: AuthorizationServer,
    store: Arc<MemoryStore>,
    tokens: Arc<OpaqueTokens>,
}

pub(crate) fn config() -> Config {
    let at = |path: &str| format!("https://photos.example/{path}");
    let resource = |path: &str, scope: &str, replaced: &[&str]| Resource {
        scope_aliases: replaced.iter().map(|from| ((*from).to_owned(), scope.to_owned())).collect(),
        ..Resource::new(at(path), "Photos", &[scope])
    };
    let resources = vec![
        resource("api/mcp/v1", "mcp:images", &["mcp:photos"]),
        resource("api/mcp/legacy", "mcp:photos", &[]),
    ];
    Config::new(at("api"), Endpoints::under(&at("api/oauth")), resources, Lifetimes::default()).unwrap()
}

/// The current refresh token of the redeemed grant. The store knows its hash only.
fn current_refresh_token() -> String {
    BASE64URL_NOPAD.encode(&[&HANDLE[..], &1_u32.to_be_bytes(), &[0xC5; 32]].concat())
}

/// The previous refresh token, as the server issued it. Only its tag distinguishes it from a forged one.
const REPLACED_REFRESH_TOKEN: &str = "AQEBAQEBAQEBAQEBAQEBAQAAAAACAgICAgICAgICAgICAgICBjgVAwyX8zsZBxgDhgGP8A";

const HANDLE: [u8; 16] = [1; 16];

impl Bench {
    fn new() -> Self {
        let (store, tokens) = (Arc::new(MemoryStore::new()), Arc::new(OpaqueTokens::new(&[7; 32])));
        let server = AuthorizationServer::builder(config(), store.clone(), &[8; 32])
            .access_tokens(tokens.clone())
            .clock(Arc::new(FixedClock))
            .build();
        let bench = Self { server, store, tokens };
        bench.register("public", None);
        bench.register("confidential", Some("a secret that no input contains"));
        bench.connect();
        bench
    }

    fn register(&self, id: &str, secret: Option<&str>) {
        let metadata = ClientMetadata {
            client_name: "An app".to_owned(),
            redirect_uris: REDIRECTS.map(str::to_owned).to_vec(),
            grant_types: vec![GrantType::AuthorizationCode, GrantType::RefreshToken],
            scopes: vec!["mcp:images".to_owned(), "mcp:photos".to_owned()],
            token_endpoint_auth_method: match secret {
                None => AuthMethod::None,
                Some(_) => AuthMethod::ClientSecretBasic,
            },
            requires_assertion: false,
            software_id: None,
            software_version: None,
        };
        let client =
            Client { id: id.to_owned(), metadata, secret: secret.map(SecretHash::of), issued_at: NOW };
        now(self.store.register_client(NewClient { client, digest: None, eviction: None })).unwrap();
    }

    /// Adds two grants of the public client: one with an unredeemed code, one whose refresh token was just replaced.
    fn connect(&self) {
        for code in ["unredeemed-code", "a-code-that-was-redeemed"] {
            let grant = Grant {
                id: format!("grant-of-{code}"),
                client_id: "public".to_owned(),
                subject: "1".to_owned(),
                resource: self.server.config().resources()[0].url.clone(),
                scopes: vec!["mcp:images".to_owned()],
                created_at: NOW,
                revoked_at: None,
            };
            let issued = IssuedCode {
                redirect_uri: REDIRECTS[0].to_owned(),
                challenge: BASE64URL_NOPAD.encode(&sha256(b"a verifier that no input contains")),
                expires_at: NOW.plus_ms(1000),
                redeemed_at: None,
            };
            let new = NewCode { hash: SecretHash::of(code), code: issued, grant, client: None };
            now(self.store.issue_code(new)).unwrap();
        }
        let current = CurrentRefreshToken {
            hash: SecretHash::of(&current_refresh_token()),
            generation: 1,
            expires_at: NOW.plus_ms(1000),
            recent_rotations: vec![NOW],
        };
        let redemption = Redemption {
            code: SecretHash::of("a-code-that-was-redeemed"),
            at: NOW,
            refresh: Some(NewRefreshToken { handle: SecretHash(sha256(&HANDLE)), token: current }),
            access_expires_at: NOW.plus_ms(1000),
        };
        assert!(now(self.store.redeem_code(redemption)).unwrap());
    }

    /// An access token of the redeemed grant.
    fn access_token(&self) -> String {
        let claims = AccessTokenClaims {
            iss: self.server.config().issuer().to_owned(),
            sub: "1".to_owned(),
            aud: self.server.config().resources()[0].url.clone(),
            client_id: "public".to_owned(),
            scope: "mcp:images".to_owned(),
            iat: NOW.seconds(),
            exp: NOW.seconds() + 3600,
            jti: "a".to_owned(),
            grant_id: "grant-of-a-code-that-was-redeemed".to_owned(),
        };
        now(self.tokens.sign(&claims)).unwrap()
    }

    /// The content of the store. Hashes are left out: whenever a hash changes, a number or time in the output changes
    /// as well.
    fn contents(&self) -> String {
        format!("{:?}", self.store)
    }
}

/// Checks accepted redirect URIs against a second implementation of the rules.
pub(crate) fn redirect_uri(bytes: &[u8]) {
    let Ok(uri) = std::str::from_utf8(bytes) else { return };
    if check_redirect_uri(uri).is_ok() {
        assert_is_safe(uri);
    }
}

pub(crate) fn assert_is_safe(uri: &str) {
    const REFUSED: &str = " file data javascript vbscript blob about view-source filesystem ws wss ftp mailto tel \
        intent content search-ms itms-services smb ssh sms ldap jar mk chrome ";
    assert!(uri.len() <= 2000 && uri.bytes().all(|byte| byte.is_ascii_graphic()), "{uri:?}");
    assert!(!uri.contains(['#', '\\', '"', '<', '>', '^', '`', '{', '|', '}']), "{uri:?}");
    let (scheme, rest) = uri.split_once(':').unwrap();
    let scheme = scheme.to_ascii_lowercase();
    assert!(!REFUSED.contains(&format!(" {scheme} ")) && !scheme.starts_with("ms-"), "{uri:?}");
    let url = Url::parse(uri).unwrap();
    assert_eq!(url.scheme(), scheme, "{uri:?}");
    assert!(url.username().is_empty() && url.password().is_none() && url.fragment().is_none(), "{uri:?}");
    let authority = rest.strip_prefix("//").map(|rest| rest.split(['/', '?']).next().unwrap());
    let host = authority.map(|authority| match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => host,
        _ => authority,
    });
    let understood = url.host_str().unwrap_or_default();
    assert!(host.unwrap_or_default().eq_ignore_ascii_case(understood), "{uri:?}: {understood}");
    match scheme.as_str() {
        "http" => assert!(["localhost", "127.0.0.1", "[::1]"].contains(&host.unwrap()), "{uri:?}"),
        "https" => assert!(!host.unwrap().is_empty(), "{uri:?}"),
        _ => {}
    }
}

/// The query of an authorization request.
pub(crate) fn authorize(bytes: &[u8]) {
    let bench = Bench::new();
    let before = bench.contents();
    let query = String::from_utf8_lossy(bytes);
    match now(bench.server.authorize(&query)) {
        Ok(request) => {
            assert!(REDIRECTS.contains(&request.redirect_uri.as_str()));
            assert!(!request.scopes.is_empty());
            assert!(bench.server.resource(&request.resource).is_some());
            assert!(
                request.redirect_csp_source().bytes().all(|byte| byte.is_ascii_graphic() && byte != b';')
            );
            assert_redirects_to_client(&bench.server.deny(&request).to);
        }
        Err(AuthorizeError::Redirect(redirect)) => assert_redirects_to_client(&redirect.to),
        Err(AuthorizeError::Page(_)) => {}
        Err(error @ AuthorizeError::Unavailable(_)) => unreachable!("{error}"),
    }
    assert_eq!(bench.contents(), before);
}

fn assert_redirects_to_client(to: &str) {
    // No character can end the header or change the URL.
    assert!(to.bytes().all(|byte| byte.is_ascii_graphic()), "{to:?}");
    let registered = REDIRECTS.into_iter().find(|registered| to.starts_with(registered)).unwrap();
    let (to, registered) = (Url::parse(to).unwrap(), Url::parse(registered).unwrap());
    assert_eq!(
        (to.scheme(), to.host_str(), to.port()),
        (registered.scheme(), registered.host_str(), registered.port())
    );
    assert_eq!((to.path(), to.fragment()), (registered.path(), None));
    let values = |name: &str| to.query_pairs().filter(|(known, _)| known == name).count();
    assert_eq!((values("error"), values("iss"), values("code")), (1, 1, 0), "{to}");
    assert!(values("state") <= 1, "{to}");
}

/// A token request. The first line is the `Authorization` header, the rest the body. A single line is a body without a
/// header.
pub(crate) fn token(bytes: &[u8]) {
    let newline = bytes.iter().position(|byte| *byte == b'\n');
    let (header, body) = newline.map_or((None, bytes), |at| {
        let (header, rest) = bytes.split_at(at);
        (std::str::from_utf8(header).ok().filter(|header| !header.is_empty()), &rest[1..])
    });
    let bench = Bench::new();
    let before = bench.contents();
    for request in [TokenRequest::from_form(body, header), TokenRequest::from_json(body, header)] {
        let refused = match request {
            Ok(request) => {
                let _ = (request.claimed_client_id(), request.token_hash(), request.is_refresh());
                now(bench.server.token(request)).unwrap_err()
            }
            Err(refused) => refused,
        };
        assert!(refused.code() != "temporarily_unavailable", "{refused}");
        assert!(serde_json::to_string(&refused.body()).unwrap().contains(refused.code()));
        assert_eq!(bench.contents(), before);
    }
}

/// A request to revoke a token.
pub(crate) fn revocation(bytes: &[u8]) {
    for request in [RevokeRequest::from_form(bytes), RevokeRequest::from_json(bytes)].into_iter().flatten() {
        let bench = Bench::new();
        let before = bench.contents();
        let token = request.token();
        match now(bench.server.revoke(&request)) {
            Err(error) => {
                assert_eq!((error.status(), bench.contents()), (401, before));
            }
            Ok(Revoked::Grant(grant)) => {
                assert_eq!(grant, "grant-of-a-code-that-was-redeemed");
                let genuine = [REPLACED_REFRESH_TOKEN, &current_refresh_token(), &bench.access_token()]
                    .contains(&token);
                assert!(genuine, "{token:?}");
            }
            Ok(Revoked::Nothing) => assert_eq!(bench.contents(), before),
        }
    }
}

/// A client registration request. Registering the returned metadata must give the same client.
pub(crate) fn client_metadata(bytes: &[u8]) {
    let bench = Bench::new();
    let before = bench.contents();
    let Ok(registration) = now(bench.server.register(bytes)) else {
        assert_eq!(bench.contents(), before);
        return;
    };
    assert!((1..=200).contains(&registration.client_name.chars().count()));
    assert!((1..=20).contains(&registration.redirect_uris.len()));
    registration.redirect_uris.iter().for_each(|uri| assert_is_safe(uri));
    let returned = serde_json::to_vec(&registration).unwrap();
    let mut again = now(bench.server.register(&returned)).unwrap();
    if registration.token_endpoint_auth_method != AuthMethod::None {
        // Each registration of a confidential client creates a new client.
        assert!(
            again.client_id != registration.client_id && again.client_secret != registration.client_secret
        );
        again.client_id.clone_from(&registration.client_id);
        again.client_secret.clone_from(&registration.client_secret);
    }
    assert_eq!(again, registration);
}

#[cfg(test)]
mod tests {
    use oauth_core::{InvalidGrantReason, TokenError};

    use super::*;

    #[test]
    fn corpora_name_stored_clients_and_tokens() {
        let bench = Bench::new();
        for query in [include_str!("../corpus/authorize/complete"), include_str!("../corpus/authorize/short")]
        {
            now(bench.server.authorize(query)).unwrap();
        }
        let replay = TokenRequest::from_form(include_bytes!("../corpus/token/replay"), None).unwrap();
        let refused = now(bench.server.token(replay)).unwrap_err();
        assert!(
            matches!(refused, TokenError::InvalidGrant(InvalidGrantReason::TokenReplayed { .. })),
            "{refused}"
        );
        let revocations = concat!(
            include_str!("../corpus/revocation/access_token"),
            include_str!("../corpus/revocation/refresh_token")
        );
        assert!(revocations.contains(&bench.access_token()), "{}", bench.access_token());
        assert!(revocations.contains(REPLACED_REFRESH_TOKEN));
    }
}
