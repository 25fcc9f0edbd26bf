//! A store on an SQLite file, by diesel. Copy the file and change it as you like.
//!
//! ```toml
//! oauth-core = "0.1"
//! serde_json = "1"
//! tokio = { version = "1", features = ["rt"] }
//! diesel = { version = "2.3", default-features = false, features = ["32-column-tables", "r2d2", "sqlite"] }
//! libsqlite3-sys = { version = "0.37", features = ["bundled"] } # Or link the system's SQLite.
//! ```

use std::error::Error;

use diesel::{
    connection::SimpleConnection as _,
    dsl::case_when,
    prelude::*,
    r2d2::{ConnectionManager, CustomizeConnection, Pool},
    sql_query,
    sql_types::{BigInt, Binary, Nullable},
    sqlite::{Sqlite, SqliteConnection},
};
use oauth_core::{
    Client, ClientMetadata, ClientStore, CodeStatus, Connection as GrantConnection, CurrentRefreshToken,
    Eviction, Grant, GrantKey, GrantStore, Grants, IssuedCode, NewClient, NewCode,
    REREGISTRATION_INTERVAL_MS, Redemption, Rotation, SecretHash, StoreError, StoredGrant, Sweep, UnixMillis,
    UsedAssertion, async_trait,
};
use tokio::task::spawn_blocking;

/// With `synchronous = FULL`, a commit is on the disk when it returns.
const SETTINGS: &str = "PRAGMA busy_timeout = 30000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;";

/// Times are in milliseconds since 1970. A code and a refresh token are columns of their grant, because each of them
/// changes together with it.
const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS oauth_clients (
    id TEXT PRIMARY KEY NOT NULL,
    metadata TEXT NOT NULL, -- JSON
    secret BLOB,
    digest BLOB UNIQUE,
    issued_at INTEGER NOT NULL,
    last_registered_at INTEGER NOT NULL,
    had_grant INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS oauth_clients_by_age ON oauth_clients (last_registered_at);
CREATE INDEX IF NOT EXISTS oauth_clients_never_granted ON oauth_clients (last_registered_at) WHERE NOT had_grant;
CREATE TABLE IF NOT EXISTS oauth_grants (
    id TEXT PRIMARY KEY NOT NULL,
    client_id TEXT NOT NULL, -- No reference: a grant outlives its client.
    subject TEXT NOT NULL,
    resource TEXT NOT NULL,
    scopes TEXT NOT NULL, -- JSON
    created_at INTEGER NOT NULL,
    revoked_at INTEGER,
    last_used_at INTEGER,
    code_hash BLOB NOT NULL UNIQUE,
    redirect_uri TEXT NOT NULL,
    challenge TEXT NOT NULL,
    code_expires_at INTEGER NOT NULL,
    redeemed_at INTEGER,
    refresh_handle BLOB UNIQUE,
    refresh_hash BLOB,
    refresh_generation INTEGER,
    refresh_expires_at INTEGER,
    recent_rotations TEXT, -- JSON
    access_expires_at INTEGER,
    -- NULL for a pending code.
    ends_at INTEGER AS (coalesce(
        min(revoked_at, max(access_expires_at, coalesce(refresh_expires_at, access_expires_at))),
        revoked_at, max(access_expires_at, coalesce(refresh_expires_at, access_expires_at))
    ))
) STRICT;
CREATE INDEX IF NOT EXISTS oauth_grants_by_subject ON oauth_grants (subject);
CREATE INDEX IF NOT EXISTS oauth_grants_by_client ON oauth_grants (client_id);
CREATE INDEX IF NOT EXISTS oauth_grants_by_end ON oauth_grants (ends_at);
CREATE INDEX IF NOT EXISTS oauth_grants_pending ON oauth_grants (code_expires_at) WHERE redeemed_at IS NULL;
CREATE TABLE IF NOT EXISTS oauth_assertions (
    hash BLOB PRIMARY KEY NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS oauth_assertions_by_end ON oauth_assertions (expires_at);
";

const EVICT: &str = "DELETE FROM oauth_clients WHERE id IN (
    SELECT id FROM (
        SELECT id, last_registered_at FROM oauth_clients WHERE NOT had_grant
        ORDER BY last_registered_at DESC, id DESC LIMIT -1 OFFSET $1
    )
    WHERE last_registered_at < $2 ORDER BY last_registered_at, id LIMIT $3)";
const SWEEP_CODES: &str = "DELETE FROM oauth_grants WHERE id IN (
    SELECT id FROM oauth_grants WHERE redeemed_at IS NULL AND code_expires_at < $1
    ORDER BY code_expires_at LIMIT $2)";
const SWEEP_GRANTS: &str = "DELETE FROM oauth_grants WHERE id IN (
    SELECT id FROM oauth_grants WHERE ends_at < $1 ORDER BY ends_at LIMIT $2)";
const SWEEP_CLIENTS: &str = "DELETE FROM oauth_clients WHERE id IN (
    SELECT id FROM oauth_clients WHERE last_registered_at < $1
        AND NOT EXISTS (SELECT 1 FROM oauth_grants WHERE client_id = oauth_clients.id)
    ORDER BY last_registered_at LIMIT $2)";
const SWEEP_ASSERTIONS: &str = "DELETE FROM oauth_assertions WHERE hash IN (
    SELECT hash FROM oauth_assertions WHERE expires_at < $1 ORDER BY expires_at LIMIT $2)";

diesel::table! {
    oauth_clients (id) {
        id -> Text,
        metadata -> Text,
        secret -> Nullable<Binary>,
        digest -> Nullable<Binary>,
        issued_at -> BigInt,
        last_registered_at -> BigInt,
        had_grant -> Bool,
    }
}

diesel::table! {
    oauth_grants (id) {
        id -> Text,
        client_id -> Text,
        subject -> Text,
        resource -> Text,
        scopes -> Text,
        created_at -> BigInt,
        revoked_at -> Nullable<BigInt>,
        last_used_at -> Nullable<BigInt>,
        code_hash -> Binary,
        redirect_uri -> Text,
        challenge -> Text,
        code_expires_at -> BigInt,
        redeemed_at -> Nullable<BigInt>,
        refresh_handle -> Nullable<Binary>,
        refresh_hash -> Nullable<Binary>,
        refresh_generation -> Nullable<BigInt>,
        refresh_expires_at -> Nullable<BigInt>,
        recent_rotations -> Nullable<Text>,
        access_expires_at -> Nullable<BigInt>,
    }
}

diesel::allow_tables_to_appear_in_same_query!(oauth_clients, oauth_grants);

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = oauth_clients)]
struct ClientRow {
    id: String,
    metadata: String,
    secret: Option<Vec<u8>>,
    digest: Option<Vec<u8>>,
    issued_at: i64,
    last_registered_at: i64,
    had_grant: bool,
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = oauth_grants)]
struct GrantRow {
    id: String,
    client_id: String,
    subject: String,
    resource: String,
    scopes: String,
    created_at: i64,
    revoked_at: Option<i64>,
    last_used_at: Option<i64>,
    redirect_uri: String,
    challenge: String,
    code_expires_at: i64,
    redeemed_at: Option<i64>,
    #[diesel(embed)]
    refresh: TokenRow,
}

/// The columns of the current refresh token. A change writes all of them.
#[derive(Queryable, Selectable, AsChangeset)]
#[diesel(table_name = oauth_grants, treat_none_as_null = true)]
struct TokenRow {
    refresh_hash: Option<Vec<u8>>,
    refresh_generation: Option<i64>,
    refresh_expires_at: Option<i64>,
    recent_rotations: Option<String>,
}

type Failure = Box<dyn Error + Send + Sync>;

/// A store on an SQLite file. Any number of processes on one machine may share it.
#[derive(Debug, Clone)]
pub struct SqliteStore(Pool<ConnectionManager<SqliteConnection>>);

#[derive(Debug)]
struct Settings;

impl CustomizeConnection<SqliteConnection, diesel::r2d2::Error> for Settings {
    fn on_acquire(&self, connection: &mut SqliteConnection) -> Result<(), diesel::r2d2::Error> {
        connection.batch_execute(SETTINGS).map_err(diesel::r2d2::Error::QueryError)
    }
}

impl SqliteStore {
    /// Opens a file, and creates it and the tables if they are missing.
    pub async fn open(path: &str) -> Result<Self, StoreError> {
        let manager = ConnectionManager::new(path);
        // Connections are opened as needed. A write has its own connection, so reads do not wait for it.
        let pool = Pool::builder().max_size(8).min_idle(Some(0)).connection_customizer(Box::new(Settings));
        let store = Self(pool.build_unchecked(manager));
        store.write(|c| Ok(c.batch_execute(SCHEMA)?)).await?;
        Ok(store)
    }

    /// Runs an operation on a blocking thread.
    async fn run<T: Send + 'static>(
        &self,
        operation: impl FnOnce(&mut SqliteConnection) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, StoreError> {
        let pool = self.0.clone();
        let running = spawn_blocking(move || operation(&mut *pool.get()?));
        let result = running.await.map_err(Failure::from).and_then(|result| result);
        result.map_err(|error| StoreError(error.to_string()))
    }

    /// Runs an operation in a transaction that has the file's only write lock from its start. So all writes, also those
    /// of other processes, run one after another, and what an operation reads does not change before it writes.
    async fn write<T: Send + 'static>(
        &self,
        operation: impl FnOnce(&mut SqliteConnection) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.run(|c| c.immediate_transaction(operation)).await
    }
}

#[async_trait]
impl ClientStore for SqliteStore {
    async fn register_client(&self, new: NewClient) -> Result<Client, StoreError> {
        self.write(move |c| register(c, &new)).await
    }

    async fn client(&self, id: &str) -> Result<Option<Client>, StoreError> {
        let query = oauth_clients::table.find(id.to_owned()).select(ClientRow::as_select());
        self.run(move |c| query.first(c).optional()?.map(Client::try_from).transpose()).await
    }

    async fn record_assertion(&self, used: UsedAssertion) -> Result<bool, StoreError> {
        let insert = sql_query(
            "INSERT INTO oauth_assertions (hash, expires_at) VALUES ($1, $2) ON CONFLICT DO NOTHING",
        )
        .bind::<Binary, _>(used.hash.0.to_vec())
        .bind::<BigInt, _>(used.expires_at.0);
        self.write(move |c| Ok(insert.execute(c)? == 1)).await
    }
}

#[async_trait]
impl GrantStore for SqliteStore {
    async fn issue_code(&self, new: NewCode) -> Result<CodeStatus, StoreError> {
        self.write(move |c| issue(c, &new)).await
    }

    async fn redeem_code(&self, redemption: Redemption) -> Result<bool, StoreError> {
        self.write(move |c| redeem(c, &redemption)).await
    }

    async fn rotate_refresh_token(&self, rotation: Rotation) -> Result<bool, StoreError> {
        self.write(move |c| rotate(c, &rotation)).await
    }

    async fn grant(&self, key: GrantKey<'_>) -> Result<Option<StoredGrant>, StoreError> {
        let query = oauth_grants::table.select(GrantRow::as_select()).into_boxed::<Sqlite>();
        let query = match key {
            GrantKey::Id(id) => query.filter(oauth_grants::id.eq(id.to_owned())),
            GrantKey::Code(hash) => query.filter(oauth_grants::code_hash.eq(hash.0.to_vec())),
            GrantKey::RefreshHandle(hash) => query.filter(oauth_grants::refresh_handle.eq(hash.0.to_vec())),
        };
        self.run(move |c| query.first(c).optional()?.map(StoredGrant::try_from).transpose()).await
    }

    async fn revoke(&self, grants: Grants<'_>, at: UnixMillis) -> Result<u64, StoreError> {
        // The first of several concurrent revocations of a grant changes the row and counts it.
        let alive = oauth_grants::table.filter(oauth_grants::revoked_at.is_null());
        let revoked_at = oauth_grants::revoked_at.eq(at.0);
        let revoked = match grants {
            Grants::WithId(id) => {
                let update = diesel::update(alive.filter(oauth_grants::id.eq(id.to_owned()))).set(revoked_at);
                self.write(move |c| Ok(update.execute(c)?)).await?
            }
            Grants::OfSubject(subject) => {
                let of_subject = alive.filter(oauth_grants::subject.eq(subject.to_owned()));
                let update = diesel::update(of_subject).set(revoked_at);
                self.write(move |c| Ok(update.execute(c)?)).await?
            }
        };
        Ok(revoked as u64)
    }

    async fn connections(&self, subject: &str) -> Result<Vec<GrantConnection>, StoreError> {
        let query = oauth_grants::table
            .left_join(oauth_clients::table.on(oauth_clients::id.eq(oauth_grants::client_id)))
            .filter(oauth_grants::subject.eq(subject.to_owned()))
            .filter(oauth_grants::redeemed_at.is_not_null())
            .filter(oauth_grants::revoked_at.is_null())
            .order(oauth_grants::created_at.desc())
            .select((GrantRow::as_select(), oauth_clients::metadata.nullable()));
        self.run(move |c| query.load(c)?.into_iter().map(connection).collect()).await
    }

    async fn record_use(&self, grant_id: &str, at: UnixMillis) -> Result<(), StoreError> {
        // The latest of several concurrent uses stays.
        let is_later = oauth_grants::last_used_at.is_null().or(oauth_grants::last_used_at.lt(at.0));
        let update = diesel::update(oauth_grants::table.find(grant_id.to_owned()).filter(is_later))
            .set(oauth_grants::last_used_at.eq(at.0));
        self.write(move |c| update.execute(c).map(|_| ()).map_err(Failure::from)).await
    }

    async fn sweep(&self, sweep: Sweep) -> Result<u64, StoreError> {
        let Sweep { codes_before, grants_before, clients_before, assertions_before, max } = sweep;
        let deletions = [
            (SWEEP_CODES, codes_before),
            (SWEEP_GRANTS, grants_before),
            (SWEEP_CLIENTS, clients_before),
            (SWEEP_ASSERTIONS, assertions_before),
        ];
        self.write(move |c| {
            deletions.into_iter().try_fold(0, |deleted, (delete, before)| {
                let delete = sql_query(delete).bind::<BigInt, _>(before.0).bind::<BigInt, _>(i64::from(max));
                Ok(deleted + delete.execute(c)? as u64)
            })
        })
        .await
    }
}

fn register(c: &mut SqliteConnection, new: &NewClient) -> Result<Client, Failure> {
    let row = ClientRow::new(&new.client, new.digest, false)?;
    // The first of several equal registrations inserts the client. The others find it.
    let known: Option<ClientRow> = oauth_clients::table
        .filter(oauth_clients::digest.eq(&row.digest))
        .select(ClientRow::as_select())
        .first(c)
        .optional()?;
    if let Some(known) = known {
        if known.last_registered_at.saturating_add(REREGISTRATION_INTERVAL_MS) <= row.issued_at {
            diesel::update(oauth_clients::table.find(&known.id))
                .set(oauth_clients::last_registered_at.eq(row.issued_at))
                .execute(c)?;
        }
        return known.try_into();
    }
    diesel::insert_into(oauth_clients::table).values(row).execute(c)?;
    if let Some(Eviction { keep, before, max }) = new.eviction {
        sql_query(EVICT)
            .bind::<BigInt, _>(i64::from(keep))
            .bind::<BigInt, _>(before.0)
            .bind::<BigInt, _>(i64::from(max))
            .execute(c)?;
    }
    Ok(new.client.clone())
}

fn issue(c: &mut SqliteConnection, new: &NewCode) -> Result<CodeStatus, Failure> {
    let NewCode { hash, code, grant, client } = new;
    // The first of several equal consents inserts the code. The others find it.
    let known: Option<GrantRow> = oauth_grants::table
        .filter(oauth_grants::code_hash.eq(&hash.0[..]))
        .select(GrantRow::as_select())
        .first(c)
        .optional()?;
    if let Some(known) = known {
        return Ok(StoredGrant::try_from(known)?.status_for(new));
    }
    diesel::insert_into(oauth_grants::table)
        .values((
            oauth_grants::id.eq(&grant.id),
            oauth_grants::client_id.eq(&grant.client_id),
            oauth_grants::subject.eq(&grant.subject),
            oauth_grants::resource.eq(&grant.resource),
            oauth_grants::scopes.eq(serde_json::to_string(&grant.scopes)?),
            oauth_grants::created_at.eq(grant.created_at.0),
            oauth_grants::code_hash.eq(&hash.0[..]),
            oauth_grants::redirect_uri.eq(&code.redirect_uri),
            oauth_grants::challenge.eq(&code.challenge),
            oauth_grants::code_expires_at.eq(code.expires_at.0),
        ))
        .execute(c)?;
    match client {
        Some(client) => {
            let row = ClientRow::new(client, None, true)?;
            diesel::replace_into(oauth_clients::table).values(row).execute(c)?;
        }
        None => {
            diesel::update(oauth_clients::table.find(&grant.client_id))
                .set(oauth_clients::had_grant.eq(true))
                .execute(c)?;
        }
    }
    Ok(CodeStatus::Pending)
}

/// The first of several concurrent redemptions changes the row. The others find no pending code. A redemption after a
/// revocation finds none either.
fn redeem(c: &mut SqliteConnection, redemption: &Redemption) -> Result<bool, Failure> {
    let pending = oauth_grants::table
        .filter(oauth_grants::code_hash.eq(&redemption.code.0[..]))
        .filter(oauth_grants::redeemed_at.is_null())
        .filter(oauth_grants::code_expires_at.gt(redemption.at.0))
        .filter(oauth_grants::revoked_at.is_null());
    let refresh = redemption.refresh.as_ref();
    let redeemed = diesel::update(pending)
        .set((
            oauth_grants::redeemed_at.eq(redemption.at.0),
            oauth_grants::access_expires_at.eq(redemption.access_expires_at.0),
            oauth_grants::refresh_handle.eq(refresh.map(|refresh| &refresh.handle.0[..])),
            refresh.map(|refresh| TokenRow::new(&refresh.token)).transpose()?,
        ))
        .execute(c)?;
    Ok(redeemed == 1)
}

/// The first of several concurrent rotations changes the row. The others find another current token.
fn rotate(c: &mut SqliteConnection, rotation: &Rotation) -> Result<bool, Failure> {
    let current = oauth_grants::table
        .find(&rotation.grant_id)
        .filter(oauth_grants::refresh_hash.eq(&rotation.presented.0[..]))
        .filter(oauth_grants::refresh_expires_at.gt(rotation.at.0))
        .filter(oauth_grants::revoked_at.is_null());
    let new = Some(rotation.access_expires_at.0).into_sql::<Nullable<BigInt>>();
    let last =
        case_when(oauth_grants::access_expires_at.gt(new), oauth_grants::access_expires_at).otherwise(new);
    let access_expires_at = oauth_grants::access_expires_at.eq(last);
    let rotated =
        diesel::update(current).set((access_expires_at, TokenRow::new(&rotation.next)?)).execute(c)?;
    Ok(rotated == 1)
}

impl ClientRow {
    fn new(client: &Client, digest: Option<SecretHash>, had_grant: bool) -> Result<Self, Failure> {
        Ok(Self {
            id: client.id.clone(),
            metadata: serde_json::to_string(&client.metadata)?,
            secret: client.secret.map(|secret| secret.0.to_vec()),
            digest: digest.map(|digest| digest.0.to_vec()),
            issued_at: client.issued_at.0,
            last_registered_at: client.issued_at.0,
            had_grant,
        })
    }
}

impl TryFrom<ClientRow> for Client {
    type Error = Failure;

    fn try_from(row: ClientRow) -> Result<Self, Failure> {
        Ok(Self {
            id: row.id,
            metadata: serde_json::from_str(&row.metadata)?,
            secret: row.secret.as_deref().map(hash).transpose()?,
            issued_at: UnixMillis(row.issued_at),
        })
    }
}

impl TryFrom<GrantRow> for StoredGrant {
    type Error = Failure;

    fn try_from(row: GrantRow) -> Result<Self, Failure> {
        Ok(Self {
            grant: Grant {
                id: row.id,
                client_id: row.client_id,
                subject: row.subject,
                resource: row.resource,
                scopes: serde_json::from_str(&row.scopes)?,
                created_at: UnixMillis(row.created_at),
                revoked_at: row.revoked_at.map(UnixMillis),
            },
            code: IssuedCode {
                redirect_uri: row.redirect_uri,
                challenge: row.challenge,
                expires_at: UnixMillis(row.code_expires_at),
                redeemed_at: row.redeemed_at.map(UnixMillis),
            },
            refresh: row.refresh.token()?,
        })
    }
}

impl TokenRow {
    fn new(token: &CurrentRefreshToken) -> Result<Self, Failure> {
        let rotations: Vec<i64> = token.recent_rotations.iter().map(|at| at.0).collect();
        Ok(Self {
            refresh_hash: Some(token.hash.0.to_vec()),
            refresh_generation: Some(token.generation.into()),
            refresh_expires_at: Some(token.expires_at.0),
            recent_rotations: Some(serde_json::to_string(&rotations)?),
        })
    }

    fn token(self) -> Result<Option<CurrentRefreshToken>, Failure> {
        let Self {
            refresh_hash: Some(refresh_hash),
            refresh_generation: Some(generation),
            refresh_expires_at: Some(expires_at),
            recent_rotations: Some(rotations),
        } = self
        else {
            return Ok(None);
        };
        let rotations: Vec<i64> = serde_json::from_str(&rotations)?;
        Ok(Some(CurrentRefreshToken {
            hash: hash(&refresh_hash)?,
            generation: generation.try_into()?,
            expires_at: UnixMillis(expires_at),
            recent_rotations: rotations.into_iter().map(UnixMillis).collect(),
        }))
    }
}

fn hash(bytes: &[u8]) -> Result<SecretHash, Failure> {
    Ok(SecretHash(bytes.try_into()?))
}

fn connection((row, metadata): (GrantRow, Option<String>)) -> Result<GrantConnection, Failure> {
    let metadata: Option<ClientMetadata> = metadata.map(|json| serde_json::from_str(&json)).transpose()?;
    let last_used_at = row.last_used_at.map(UnixMillis);
    let StoredGrant { grant, code, .. } = row.try_into()?;
    let client_name = metadata.map(|metadata| metadata.client_name);
    Ok(GrantConnection { grant, client_name, redirect_uri: code.redirect_uri, last_used_at })
}
