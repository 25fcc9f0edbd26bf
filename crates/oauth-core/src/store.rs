use async_trait::async_trait;

use crate::{
    Client, Connection, CurrentRefreshToken, Grant, IssuedCode, RefreshableGrant, SecretHash, UnixMillis,
};

/// Why a store could not do what it was asked. The caller answers 503 and nothing was changed.
#[derive(Debug, thiserror::Error)]
#[error("the authorization store is unavailable: {0}")]
pub struct StoreError(pub String);

/// A client that is about to be registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewClient {
    /// The client, with an id that no other has.
    pub client: Client,
    /// The digest of its metadata; only of a public client.
    pub digest: Option<SecretHash>,
    /// Which clients make room for it; `None` for no client.
    pub eviction: Option<Eviction>,
}

/// Which clients a new registration evicts: the least recently registered clients that never had a grant. From its first
/// code on, a client counts as granted for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Eviction {
    /// How many clients without any grant stay, the new one included.
    pub keep: u32,
    /// Only clients that registered last before this go.
    pub before: UnixMillis,
    /// The most clients that go at once.
    pub max: u32,
}

/// How long after a client registered it is noted that it registers again, so that clients that do so all the time
/// cost no write each time.
pub const REREGISTRATION_INTERVAL_MS: i64 = 3_600_000;

/// An authorization code that is about to be issued, and the grant that it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewCode {
    /// Its hash.
    pub hash: SecretHash,
    /// What it is bound to. Neither redeemed nor revoked.
    pub code: IssuedCode,
    /// The client as it describes itself now, to be kept with the grant; `None` for one that was registered. Its id is a
    /// URL, which no registered client has, it has no secret, and it takes the place of what was kept of it before.
    pub client: Option<Client>,
}

/// What became of a code that was to be issued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeStatus {
    /// It is stored; or it was already, for the same client, user, resource, scopes, redirect URI and challenge, and
    /// waits unredeemed and unrevoked. Nothing else was changed then.
    Pending,
    /// This code is another grant's, or was redeemed or revoked.
    Spent,
}

/// A code that is about to be redeemed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redemption {
    /// The hash of the code.
    pub code: SecretHash,
    /// Now.
    pub at: UnixMillis,
    /// The first refresh token with the hash of its handle; `None` for a client that may not refresh.
    pub refresh: Option<NewRefreshToken>,
    /// When the access token that is issued with it expires.
    pub access_expires_at: UnixMillis,
}

/// A grant's first refresh token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRefreshToken {
    /// The hash of the part that all refresh tokens of the grant begin with, and by which they are found.
    pub handle: SecretHash,
    /// The token; of generation 0 and without rotations.
    pub token: CurrentRefreshToken,
}

/// A refresh token that is about to be replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rotation {
    /// The grant.
    pub grant_id: String,
    /// The hash of the token that is presented; it must still be the current one.
    pub presented: SecretHash,
    /// The token that takes its place.
    pub next: CurrentRefreshToken,
    /// When the access token that is issued with it expires.
    pub access_expires_at: UnixMillis,
    /// Now.
    pub at: UnixMillis,
}

/// How old something must be to be swept away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sweep {
    /// Codes that expired before this and were not redeemed go, with their grants.
    pub codes_before: UnixMillis,
    /// Grants go that ended before this: revoked, or their last refresh and access tokens expired.
    pub grants_before: UnixMillis,
    /// Clients that registered last before this and have no grant go.
    pub clients_before: UnixMillis,
    /// The most rows of each kind that go at once.
    pub max: u32,
}

/// Where clients and grants are kept.
///
/// Each method is one operation, atomic and durable when it returns: of two callers who redeem one code or replace one
/// refresh token exactly one is told `true`, whatever else happens at the same time. A caller who gives up may find the
/// operation done. The feature `conformance` has a suite of cases that prove a store right.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Registers a client and evicts others. When a client with the same digest is there already, also of two
    /// registrations at the same moment, that one is given as it is and nobody is evicted. It then counts as registered
    /// last at the moment of the new one, if that is at least [`REREGISTRATION_INTERVAL_MS`] later.
    async fn register_client(&self, client: NewClient) -> Result<Client, StoreError>;

    /// The client of that id.
    async fn client(&self, id: &str) -> Result<Option<Client>, StoreError>;

    /// Stores a code and its grant, and with them the client that describes itself. Of a code that is not new, nothing.
    async fn issue_code(&self, code: NewCode) -> Result<CodeStatus, StoreError>;

    /// The code of that hash, redeemed, expired and revoked ones included for as long as they are kept.
    async fn code(&self, hash: &SecretHash) -> Result<Option<IssuedCode>, StoreError>;

    /// Redeems a code if it is unredeemed, unexpired and its grant unrevoked; `false` when it is not, and then nothing
    /// changes.
    async fn redeem_code(&self, redemption: Redemption) -> Result<bool, StoreError>;

    /// The grant whose refresh tokens begin with the handle of that hash, revoked ones included.
    async fn refreshable_grant(&self, handle: &SecretHash) -> Result<Option<RefreshableGrant>, StoreError>;

    /// Replaces the refresh token of a grant if the presented one is current and unexpired and the grant unrevoked;
    /// `false` when not, and then nothing changes.
    async fn rotate_refresh_token(&self, rotation: Rotation) -> Result<bool, StoreError>;

    /// The grant of that id, revoked ones included.
    async fn grant(&self, id: &str) -> Result<Option<Grant>, StoreError>;

    /// Ends a grant, its tokens with it; `false` when there is none or it had ended.
    async fn revoke_grant(&self, id: &str, at: UnixMillis) -> Result<bool, StoreError>;

    /// The redeemed, unrevoked grants of a user, newest first.
    async fn connections(&self, subject: &str) -> Result<Vec<Connection>, StoreError>;

    /// Ends all grants of a user, unredeemed ones included; gives how many.
    async fn revoke_all(&self, subject: &str, at: UnixMillis) -> Result<u64, StoreError>;

    /// Notes that a grant was used. A later moment that is noted already stays.
    async fn record_use(&self, grant_id: &str, at: UnixMillis) -> Result<(), StoreError>;

    /// Deletes what nobody needs any more, a batch at a time; gives how many rows went.
    async fn sweep(&self, sweep: Sweep) -> Result<u64, StoreError>;
}
