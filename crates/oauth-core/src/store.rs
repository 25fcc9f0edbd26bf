use async_trait::async_trait;

use crate::{
    Client, Connection, CurrentRefreshToken, Grant, IssuedCode, SecretHash, StoredGrant, UnixMillis,
};

/// A failure of the store. The caller responds with 503, and clients retry.
///
/// An adapter returns this error whenever it does not know whether an operation succeeded or was refused, for instance
/// because the database did not confirm a commit. The change may have been made then. An adapter must not repeat such
/// an operation and return the second result: if the first attempt made the change, the second result is `false` or
/// [`CodeStatus::Spent`].
///
/// If an unconfirmed rotation or redemption was made, the client does not have the new tokens, and its retry with the
/// old token or code is refused with `invalid_grant`. The client then asks its user to connect again. An adapter can
/// prevent that: it reads the grant on a new connection, and returns `true` if the grant has the new token
/// ([`Rotation::next`], [`Redemption::refresh`]), which no other operation stores.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the authorization store is unavailable: {0}")]
pub struct StoreError(pub String);

/// A client to be registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewClient {
    /// The client, with a new id. Its [`issued_at`](Client::issued_at) is the current time. The store also uses it as
    /// the time of the client's last registration.
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
    /// The code, not redeemed.
    pub code: IssuedCode,
    /// Its grant, with a new id, not revoked.
    pub grant: Grant,
    /// The client from its metadata document, to be stored with the grant, replacing an earlier version; `None` for a
    /// registered client. Its id is a URL, which no registered client has, and it has no secret.
    pub client: Option<Client>,
}

/// The outcome of issuing a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeStatus {
    /// The code was stored now. Or it was stored before for the same client, user, resource, scopes, redirect URI and
    /// challenge, and is neither redeemed nor revoked; then nothing was changed.
    Pending,
    /// The code belongs to another consent, or was redeemed or revoked.
    Spent,
}

impl StoredGrant {
    /// What [`GrantStore::issue_code`] returns for a new code if the store has this grant with the same code. A form
    /// that is sent twice makes two new codes that differ in the id of their grant and in their times.
    pub fn status_for(&self, new: &NewCode) -> CodeStatus {
        let consent = |grant: &Grant, code: &IssuedCode| {
            let Grant { client_id, subject, resource, scopes, .. } = grant.clone();
            (client_id, subject, resource, scopes, code.redirect_uri.clone(), code.challenge.clone())
        };
        let is_pending = self.code.redeemed_at.is_none() && self.grant.revoked_at.is_none();
        if is_pending && consent(&self.grant, &self.code) == consent(&new.grant, &new.code) {
            CodeStatus::Pending
        } else {
            CodeStatus::Spent
        }
    }
}

/// The redemption of a code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redemption {
    /// The hash of the code.
    pub code: SecretHash,
    /// The current time. A code that expires at this time has expired.
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
    /// When the access token that is issued with it expires. If the grant already has a later time, it keeps that one,
    /// because a rotation does not end earlier access tokens.
    pub access_expires_at: UnixMillis,
    /// The current time. A token that expires at this time has expired.
    pub at: UnixMillis,
}

/// An assertion with which a client authenticated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsedAssertion {
    /// The hash of the client's id and the assertion's `jti`.
    pub hash: SecretHash,
    /// When it expires: from then on, its record is not needed.
    pub expires_at: UnixMillis,
}

/// What a sweep deletes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sweep {
    /// Unredeemed codes that expired before this, with their grants, revoked or not.
    pub codes_before: UnixMillis,
    /// Grants that ended before this. A grant ends when it is revoked, even if its code is pending, or when both its
    /// refresh token and its last access token have expired.
    pub grants_before: UnixMillis,
    /// Clients without a grant whose last registration is before this.
    pub clients_before: UnixMillis,
    /// Used assertions that expired before this.
    pub assertions_before: UnixMillis,
    /// The most rows of each kind to delete.
    pub max: u32,
}

/// The key of a grant in a lookup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrantKey<'a> {
    /// Its id.
    Id(&'a str),
    /// The hash of its code.
    Code(&'a SecretHash),
    /// The hash of the handle of its refresh tokens.
    RefreshHandle(&'a SecretHash),
}

/// Which grants to revoke.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grants<'a> {
    /// The grant with that id.
    WithId(&'a str),
    /// All grants of that user, also unredeemed ones.
    OfSubject(&'a str),
}

/// The storage of an [`AuthorizationServer`](crate::AuthorizationServer), implemented by every type that implements both
/// parts. Both are in one database, because an operation on one part reads or changes the other.
///
/// Each method of both parts is one atomic operation, durable when it returns, and decides its races itself: processes
/// that share the database need no other lock. A call whose future is dropped may still take effect.
/// [A store of your own](crate#a-store-of-your-own) says what each guarantee is for, and which adapters to copy. The macro
/// [`async_trait`](crate::async_trait) stands above each implementation.
pub trait Store: ClientStore + GrantStore {}

impl<T: ClientStore + GrantStore + ?Sized> Store for T {}

/// The clients, and the assertions with which they authenticated.
#[async_trait]
pub trait ClientStore: Send + Sync + 'static {
    /// Registers a client and evicts others. If a client with the same digest exists, also from a concurrent
    /// registration, it is returned unchanged and none is evicted. Its last registration is updated if the new one is
    /// at least [`REREGISTRATION_INTERVAL_MS`] later.
    async fn register_client(&self, client: NewClient) -> Result<Client, StoreError>;

    /// The client with that id.
    async fn client(&self, id: &str) -> Result<Option<Client>, StoreError>;

    /// Records that a client used an assertion. Returns `false` and changes nothing if one with the same hash is recorded
    /// and was not swept. Exactly one of several concurrent calls for one hash returns `true`.
    async fn record_assertion(&self, used: UsedAssertion) -> Result<bool, StoreError>;
}

/// The grants, each with its code and its refresh token.
#[async_trait]
pub trait GrantStore: Send + Sync + 'static {
    /// Stores a new code with its grant and, if given, its client. Changes nothing if the code exists.
    async fn issue_code(&self, code: NewCode) -> Result<CodeStatus, StoreError>;

    /// Redeems a code that is neither redeemed nor expired and whose grant is not revoked. Otherwise returns `false`
    /// and changes nothing. Exactly one of several concurrent calls for one code returns `true`. Neither a redemption
    /// nor a rotation counts as a use of the grant.
    async fn redeem_code(&self, redemption: Redemption) -> Result<bool, StoreError>;

    /// Replaces the refresh token of a grant if the presented one is current and not expired and the grant is not
    /// revoked. Otherwise returns `false` and changes nothing. Exactly one of several concurrent calls for one token
    /// returns `true`.
    async fn rotate_refresh_token(&self, rotation: Rotation) -> Result<bool, StoreError>;

    /// The grant with that key. A revoked grant, or one whose code has expired, is found until it is swept.
    async fn grant(&self, key: GrantKey<'_>) -> Result<Option<StoredGrant>, StoreError>;

    /// Revokes grants with their codes and tokens; returns how many were not revoked before.
    async fn revoke(&self, grants: Grants<'_>, at: UnixMillis) -> Result<u64, StoreError>;

    /// The redeemed grants of a user that are not revoked, newest first. Those created at the same time are in any order.
    async fn connections(&self, subject: &str) -> Result<Vec<Connection>, StoreError>;

    /// Records that a grant was used, unless a later use is recorded. Does nothing if there is no such grant. The
    /// service may call this method whenever it likes. The authorization server never calls it.
    async fn record_use(&self, grant_id: &str, at: UnixMillis) -> Result<(), StoreError>;

    /// Deletes one batch of expired data, also of clients; returns the number of deleted rows.
    async fn sweep(&self, sweep: Sweep) -> Result<u64, StoreError>;
}
