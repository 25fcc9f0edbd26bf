use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use crate::{
    AuthMethod, Client, ClientMetadata, CodeStatus, CurrentRefreshToken, Grant, GrantKey, GrantType, Grants,
    IssuedCode, Lifetimes, NewClient, NewCode, NewRefreshToken, Redemption, Rotation, SecretHash, Store,
    StoredGrant, UnixMillis,
};

/// The users of the suite, by the embedding service's ids.
pub const SUBJECTS: [&str; 2] = ["1", "2"];

/// The default time of the cases: 2026-01-01T00:00:00Z.
pub(crate) const NOW: UnixMillis = UnixMillis(1_767_225_600_000);

/// [`NOW`] plus that many seconds.
pub(crate) fn second(seconds: i64) -> UnixMillis {
    NOW.plus_ms(seconds * 1000)
}

pub(crate) const CODE_LIFETIME_S: i64 = Lifetimes::DEFAULT.code_seconds as i64;
pub(crate) const ACCESS_LIFETIME_S: i64 = Lifetimes::DEFAULT.access_token_seconds as i64;
pub(crate) const REFRESH_LIFETIME_S: i64 = Lifetimes::DEFAULT.refresh_token_seconds as i64;

/// A store under test, with builders of test data.
#[derive(Clone)]
pub(crate) struct Fixture {
    store: Arc<dyn Store>,
    counter: Arc<AtomicU64>,
}

/// The grant of a code that is pending.
pub(crate) fn pending(new: &NewCode) -> StoredGrant {
    StoredGrant { grant: new.grant.clone(), code: new.code.clone(), refresh: None }
}

/// A grant whose code was redeemed.
#[derive(Debug, Clone)]
pub(crate) struct Redeemed {
    pub(crate) grant: Grant,
    pub(crate) code: SecretHash,
    pub(crate) handle: SecretHash,
    pub(crate) token: CurrentRefreshToken,
}

impl Fixture {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Self { store, counter: Arc::default() }
    }

    pub(crate) fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// A unique number.
    fn number(&self) -> u64 {
        self.counter.fetch_add(1, Ordering::SeqCst)
    }

    /// A unique hash.
    pub(crate) fn hash(&self) -> SecretHash {
        let mut hash = [0xa5; 32];
        hash[..8].copy_from_slice(&self.number().to_be_bytes());
        SecretHash(hash)
    }

    /// A unique id.
    pub(crate) fn id(&self) -> String {
        format!("id-{}", self.number())
    }

    /// A public client with a new id and digest.
    pub(crate) fn new_client(&self) -> NewClient {
        let metadata = ClientMetadata {
            client_name: "Größe \u{1f4f7} <b>".to_owned(),
            redirect_uris: vec!["http://127.0.0.1/b".to_owned(), "com.example.app:/a".to_owned()],
            grant_types: vec![GrantType::AuthorizationCode, GrantType::RefreshToken],
            scopes: vec!["mcp:photos".to_owned(), "mcp:images".to_owned()],
            token_endpoint_auth_method: AuthMethod::None,
            requires_assertion: false,
            software_id: Some("4NRB1-0XZABZI9E6-5SM3R".to_owned()),
            software_version: None,
        };
        let client = Client { id: self.id(), metadata, secret: None, issued_at: NOW };
        NewClient { client, digest: Some(self.hash()), eviction: None }
    }

    /// Registers a client at that time and returns its id.
    pub(crate) async fn client_at(&self, issued_at: UnixMillis) -> String {
        let mut new = self.new_client();
        new.client.issued_at = issued_at;
        self.store.register_client(new).await.unwrap().id
    }

    /// A new code with a new grant of the first user to a client that is not registered.
    pub(crate) fn new_code(&self) -> NewCode {
        let grant = Grant {
            id: self.id(),
            client_id: "https://client.example/metadata".to_owned(),
            subject: SUBJECTS[0].to_owned(),
            resource: "https://photos.example/api/mcp/v1".to_owned(),
            scopes: vec!["mcp:images".to_owned(), "mcp:albums".to_owned()],
            created_at: NOW,
            revoked_at: None,
        };
        let code = IssuedCode {
            redirect_uri: "com.example.app:/a?b=c%20d".to_owned(),
            challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM".to_owned(),
            expires_at: second(CODE_LIFETIME_S),
            redeemed_at: None,
        };
        NewCode { hash: self.hash(), code, grant, client: None }
    }

    /// The same as `new_code`, for a client that has a metadata document and that name.
    pub(crate) fn new_code_with_client(&self, name: &str) -> NewCode {
        let mut new = self.new_code();
        let mut client = self.new_client().client;
        client.id.clone_from(&new.grant.client_id);
        name.clone_into(&mut client.metadata.client_name);
        new.client = Some(client);
        new
    }

    /// Issues a new code.
    pub(crate) async fn issue(&self, code: NewCode) -> NewCode {
        assert_eq!(self.store.issue_code(code.clone()).await.unwrap(), CodeStatus::Pending);
        code
    }

    /// The first refresh token of a grant whose code is redeemed at that time.
    pub(crate) fn first_token(&self, at: UnixMillis) -> NewRefreshToken {
        let expires_at = at.plus_ms(REFRESH_LIFETIME_S * 1000);
        let token = CurrentRefreshToken {
            hash: self.hash(),
            generation: 0,
            expires_at,
            recent_rotations: Vec::new(),
        };
        NewRefreshToken { handle: self.hash(), token }
    }

    /// The redemption of a code at that time, with a refresh token.
    pub(crate) fn redemption(&self, code: SecretHash, at: UnixMillis) -> Redemption {
        let refresh = Some(self.first_token(at));
        Redemption { code, at, refresh, access_expires_at: at.plus_ms(ACCESS_LIFETIME_S * 1000) }
    }

    /// Issues a code and redeems it at the time of the consent.
    pub(crate) async fn redeemed(&self, code: NewCode) -> Redeemed {
        let at = code.grant.created_at;
        let code = self.issue(code).await;
        let redemption = self.redemption(code.hash, at);
        let NewRefreshToken { handle, token } = redemption.refresh.clone().unwrap();
        assert!(self.store.redeem_code(redemption).await.unwrap());
        Redeemed { grant: code.grant, code: code.hash, handle, token }
    }

    /// A redeemed grant of the first user.
    pub(crate) async fn grant(&self) -> Redeemed {
        self.redeemed(self.new_code()).await
    }

    /// The rotation of `token` at that time.
    pub(crate) fn rotation(&self, grant_id: &str, token: &CurrentRefreshToken, at: UnixMillis) -> Rotation {
        let mut recent_rotations = vec![at];
        recent_rotations.extend(&token.recent_rotations);
        recent_rotations.truncate(crate::MAX_RECENT_ROTATIONS);
        let next = CurrentRefreshToken {
            hash: self.hash(),
            generation: token.generation + 1,
            expires_at: at.plus_ms(REFRESH_LIFETIME_S * 1000),
            recent_rotations,
        };
        let access_expires_at = at.plus_ms(ACCESS_LIFETIME_S * 1000);
        Rotation { grant_id: grant_id.to_owned(), presented: token.hash, next, access_expires_at, at }
    }

    /// The grant with that key.
    pub(crate) async fn find(&self, key: GrantKey<'_>) -> Option<StoredGrant> {
        self.store.grant(key).await.unwrap()
    }

    /// Revokes one grant; `false` when it does not exist or was revoked before.
    pub(crate) async fn revoke(&self, grant_id: &str, at: UnixMillis) -> bool {
        self.store.revoke(Grants::WithId(grant_id), at).await.unwrap() == 1
    }

    /// Revokes all grants of a user and returns how many.
    pub(crate) async fn revoke_all(&self, subject: &str, at: UnixMillis) -> u64 {
        self.store.revoke(Grants::OfSubject(subject), at).await.unwrap()
    }

    /// The current refresh token of the grant with that handle.
    pub(crate) async fn current(&self, handle: &SecretHash) -> CurrentRefreshToken {
        self.find(GrantKey::RefreshHandle(handle)).await.unwrap().refresh.unwrap()
    }

    /// Whether the grant exists and is not revoked.
    pub(crate) async fn is_valid(&self, grant_id: &str) -> bool {
        self.find(GrantKey::Id(grant_id)).await.is_some_and(|found| found.grant.revoked_at.is_none())
    }
}
