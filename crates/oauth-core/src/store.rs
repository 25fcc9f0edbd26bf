use async_trait::async_trait;

use crate::{
    Client, Connection, CurrentRefreshToken, Grant, IssuedCode, RefreshableGrant, SecretHash, UnixMillis,
};

/// A temporary failure of the store: nothing was changed, and the caller responds with 503.
#[derive(Debug, thiserror::Error)]
#[error("the authorization store is unavailable: {0}")]
pub struct StoreError(pub String);

/// A client to be registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewClient {
    /// The client, with a new id.
    pub client: Client,
    /// The digest of its metadata; only for a public client.
    pub digest: Option<SecretHash>,
    /// Which clients to evict; `None` for none.
    pub eviction: Option<Eviction>,
}

/// Which clients a new registration evicts: the least recently registered ones that never had a grant. A client that
/// was ever issued a code is never evicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Eviction {
    /// How many clients that never had a grant are kept, including the new one.
    pub keep: u32,
    /// Only clients whose last registration is before this are evicted.
    pub before: UnixMillis,
    /// The most clients to evict.
    pub max: u32,
}

/// The minimum time between two updates of a client's last registration, so that a client that registers repeatedly
/// does not cause a write each time.
pub const REREGISTRATION_INTERVAL_MS: i64 = 3_600_000;

/// An authorization code to be issued, with its grant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewCode {
    /// Its hash.
    pub hash: SecretHash,
    /// The code and its grant, neither redeemed nor revoked.
    pub code: IssuedCode,
    /// The client from its metadata document, to be stored with the grant, replacing an earlier version; `None` for a
    /// registered client. Its id is a URL, which no registered client has, and it has no secret.
    pub client: Option<Client>,
}

/// The outcome of issuing a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeStatus {
    /// It was stored; or it was stored before for the same client, user, resource, scopes, redirect URI and challenge,
    /// is neither redeemed nor revoked, and nothing was changed.
    Pending,
    /// The code belongs to another consent, or was redeemed or revoked.
    Spent,
}

/// The redemption of a code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redemption {
    /// The hash of the code.
    pub code: SecretHash,
    /// Now.
    pub at: UnixMillis,
    /// The first refresh token; `None` for a client without the refresh grant type.
    pub refresh: Option<NewRefreshToken>,
    /// When the access token that is issued with it expires.
    pub access_expires_at: UnixMillis,
}

/// A grant's first refresh token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRefreshToken {
    /// The hash of the handle, the common prefix of all refresh tokens of the grant. The grant is looked up by it.
    pub handle: SecretHash,
    /// The token: generation 0, no rotations.
    pub token: CurrentRefreshToken,
}

/// The rotation of a refresh token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rotation {
    /// The grant.
    pub grant_id: String,
    /// The hash of the presented token; it must be the current one.
    pub presented: SecretHash,
    /// The new token.
    pub next: CurrentRefreshToken,
    /// When the access token that is issued with it expires.
    pub access_expires_at: UnixMillis,
    /// Now.
    pub at: UnixMillis,
}

/// What a sweep deletes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sweep {
    /// Unredeemed codes that expired before this, with their grants.
    pub codes_before: UnixMillis,
    /// Grants that ended before this: revoked, or their last refresh and access tokens expired.
    pub grants_before: UnixMillis,
    /// Clients without a grant whose last registration is before this.
    pub clients_before: UnixMillis,
    /// The most rows of each kind to delete.
    pub max: u32,
}

/// The storage of clients and grants.
///
/// Each method is one atomic operation, durable when it returns. Of concurrent calls that redeem one code or rotate one
/// refresh token, exactly one returns `true`. A call whose future is dropped may still take effect. The feature
/// `conformance` has a test suite for implementations.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Registers a client and evicts others. If a client with the same digest exists, also from a concurrent
    /// registration, it is returned unchanged and none is evicted. Its last registration is updated if the new one is
    /// at least [`REREGISTRATION_INTERVAL_MS`] later.
    async fn register_client(&self, client: NewClient) -> Result<Client, StoreError>;

    /// The client with that id.
    async fn client(&self, id: &str) -> Result<Option<Client>, StoreError>;

    /// Stores a new code with its grant and, if given, its client. Changes nothing if the code exists.
    async fn issue_code(&self, code: NewCode) -> Result<CodeStatus, StoreError>;

    /// The code with that hash, also if redeemed, expired or revoked, until it is swept.
    async fn code(&self, hash: &SecretHash) -> Result<Option<IssuedCode>, StoreError>;

    /// Redeems a code that is neither redeemed nor expired and whose grant is not revoked. Otherwise returns `false`
    /// and changes nothing.
    async fn redeem_code(&self, redemption: Redemption) -> Result<bool, StoreError>;

    /// The grant whose refresh tokens have the handle with that hash, also if revoked.
    async fn refreshable_grant(&self, handle: &SecretHash) -> Result<Option<RefreshableGrant>, StoreError>;

    /// Replaces the refresh token of a grant if the presented one is current and not expired and the grant is not
    /// revoked. Otherwise returns `false` and changes nothing.
    async fn rotate_refresh_token(&self, rotation: Rotation) -> Result<bool, StoreError>;

    /// The grant with that id, also if revoked.
    async fn grant(&self, id: &str) -> Result<Option<Grant>, StoreError>;

    /// Revokes a grant and its tokens; `false` when it does not exist or was revoked before.
    async fn revoke_grant(&self, id: &str, at: UnixMillis) -> Result<bool, StoreError>;

    /// The redeemed grants of a user that are not revoked, newest first.
    async fn connections(&self, subject: &str) -> Result<Vec<Connection>, StoreError>;

    /// Revokes all grants of a user, also unredeemed ones; returns how many.
    async fn revoke_all(&self, subject: &str, at: UnixMillis) -> Result<u64, StoreError>;

    /// Records that a grant was used, unless a later use is recorded.
    async fn record_use(&self, grant_id: &str, at: UnixMillis) -> Result<(), StoreError>;

    /// Deletes one batch of expired data; returns the number of deleted rows.
    async fn sweep(&self, sweep: Sweep) -> Result<u64, StoreError>;
}
