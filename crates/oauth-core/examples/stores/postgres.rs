//! A store on Postgres, by sqlx. Copy the file and change it as you like.
//!
//! ```toml
//! oauth-core = "0.1"
//! serde_json = "1"
//! sqlx = { version = "0.9", default-features = false, features = ["postgres", "runtime-tokio"] } # And a feature for TLS.
//! ```

use oauth_core::{
    Client, ClientStore, CodeStatus, Connection, CurrentRefreshToken, Eviction, Grant, GrantKey, GrantStore,
    Grants, IssuedCode, NewClient, NewCode, REREGISTRATION_INTERVAL_MS, Redemption, Rotation, SecretHash,
    StoreError, StoredGrant, Sweep, UnixMillis, UsedAssertion, async_trait,
};
use sqlx::{PgPool, Postgres, Row, Transaction, postgres::PgRow};

/// Times are in milliseconds since 1970. A code and a refresh token are columns of their grant, because each of them
/// changes together with it. Postgres commits durably unless `synchronous_commit` is off.
const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS oauth_clients (
    id TEXT PRIMARY KEY,
    metadata TEXT NOT NULL, -- JSON
    secret BYTEA,
    digest BYTEA UNIQUE,
    issued_at BIGINT NOT NULL,
    last_registered_at BIGINT NOT NULL,
    had_grant BOOLEAN NOT NULL
);
CREATE INDEX IF NOT EXISTS oauth_clients_by_age ON oauth_clients (last_registered_at);
CREATE INDEX IF NOT EXISTS oauth_clients_never_granted ON oauth_clients (last_registered_at) WHERE NOT had_grant;
CREATE TABLE IF NOT EXISTS oauth_grants (
    id TEXT PRIMARY KEY,
    client_id TEXT NOT NULL, -- No reference: a grant outlives its client.
    subject TEXT NOT NULL,
    resource TEXT NOT NULL,
    scopes TEXT[] NOT NULL,
    created_at BIGINT NOT NULL,
    revoked_at BIGINT,
    last_used_at BIGINT,
    code_hash BYTEA NOT NULL UNIQUE,
    redirect_uri TEXT NOT NULL,
    challenge TEXT NOT NULL,
    code_expires_at BIGINT NOT NULL,
    redeemed_at BIGINT,
    refresh_handle BYTEA UNIQUE,
    refresh_hash BYTEA,
    refresh_generation BIGINT,
    refresh_expires_at BIGINT,
    recent_rotations BIGINT[],
    access_expires_at BIGINT,
    -- Both functions ignore NULL, so this is NULL for a pending code.
    ends_at BIGINT GENERATED ALWAYS AS (LEAST(revoked_at, GREATEST(access_expires_at, refresh_expires_at))) STORED
);
CREATE INDEX IF NOT EXISTS oauth_grants_by_subject ON oauth_grants (subject);
CREATE INDEX IF NOT EXISTS oauth_grants_by_client ON oauth_grants (client_id);
CREATE INDEX IF NOT EXISTS oauth_grants_by_end ON oauth_grants (ends_at);
CREATE INDEX IF NOT EXISTS oauth_grants_pending ON oauth_grants (code_expires_at) WHERE redeemed_at IS NULL;
CREATE TABLE IF NOT EXISTS oauth_assertions (
    hash BYTEA PRIMARY KEY,
    expires_at BIGINT NOT NULL
);
CREATE INDEX IF NOT EXISTS oauth_assertions_by_end ON oauth_assertions (expires_at);
";

/// A store on a Postgres database with the default isolation level, READ COMMITTED. Any number of processes may share it.
#[derive(Debug, Clone)]
pub struct PostgresStore(PgPool);

impl PostgresStore {
    /// Connects to a database and creates the tables if they are missing.
    pub async fn open(url: &str) -> Result<Self, StoreError> {
        let store = Self(PgPool::connect(url).await.map_err(unavailable)?);
        store.create_tables().await.map_err(unavailable)?;
        Ok(store)
    }

    async fn create_tables(&self) -> sqlx::Result<()> {
        let mut transaction = self.begin_exclusive().await?; // Two processes may start at the same time.
        sqlx::raw_sql(SCHEMA).execute(&mut *transaction).await?;
        transaction.commit().await
    }

    /// Begins a transaction that waits for all others of this kind. Registrations, consents and sweeps are rare, and
    /// each reads rows that another one inserts or deletes, so they run one after another. Redemptions, rotations and
    /// single revocations are frequent. Each is one statement that changes one row, which Postgres locks.
    async fn begin_exclusive(&self) -> sqlx::Result<Transaction<'_, Postgres>> {
        let mut transaction = self.0.begin().await?;
        sqlx::query("SELECT pg_advisory_xact_lock(6749)").execute(&mut *transaction).await?;
        Ok(transaction)
    }

    async fn register(&self, new: &NewClient) -> sqlx::Result<Client> {
        let NewClient { client, digest, eviction } = new;
        let mut transaction = self.begin_exclusive().await?;
        // The first of several equal registrations inserts the client. The others find it.
        let known = sqlx::query("SELECT * FROM oauth_clients WHERE digest = $1")
            .bind(digest.map(|digest| digest.0))
            .fetch_optional(&mut *transaction)
            .await?;
        if let Some(known) = known {
            let known = read_client(&known)?;
            sqlx::query(
                "UPDATE oauth_clients SET last_registered_at = $2 WHERE id = $1 AND last_registered_at <= $3",
            )
            .bind(&known.id)
            .bind(client.issued_at.0)
            .bind(client.issued_at.plus_ms(-REREGISTRATION_INTERVAL_MS).0)
            .execute(&mut *transaction)
            .await?;
            transaction.commit().await?;
            return Ok(known);
        }
        sqlx::query(
            "INSERT INTO oauth_clients (id, metadata, secret, digest, issued_at, last_registered_at, had_grant)
            VALUES ($1, $2, $3, $4, $5, $5, FALSE)",
        )
        .bind(&client.id)
        .bind(json(client)?)
        .bind(client.secret.map(|secret| secret.0))
        .bind(digest.map(|digest| digest.0))
        .bind(client.issued_at.0)
        .execute(&mut *transaction)
        .await?;
        if let Some(Eviction { keep, before, max }) = eviction {
            sqlx::query(
                "DELETE FROM oauth_clients WHERE id IN (
                    SELECT id FROM (
                        SELECT id, last_registered_at FROM oauth_clients WHERE NOT had_grant
                        ORDER BY last_registered_at DESC, id DESC OFFSET $1
                    ) AS excess
                    WHERE last_registered_at < $2 ORDER BY last_registered_at, id LIMIT $3
                )",
            )
            .bind(i64::from(*keep))
            .bind(before.0)
            .bind(i64::from(*max))
            .execute(&mut *transaction)
            .await?;
        }
        transaction.commit().await?;
        Ok(client.clone())
    }

    async fn issue(&self, new: &NewCode) -> sqlx::Result<CodeStatus> {
        let NewCode { hash, code, grant, client } = new;
        let mut transaction = self.begin_exclusive().await?;
        // The first of several equal consents inserts the code. The others find it.
        let known = sqlx::query("SELECT * FROM oauth_grants WHERE code_hash = $1")
            .bind(hash.0)
            .fetch_optional(&mut *transaction)
            .await?;
        if let Some(known) = known {
            transaction.rollback().await?;
            return Ok(read_grant(&known)?.status_for(new));
        }
        sqlx::query(
            "INSERT INTO oauth_grants (id, client_id, subject, resource, scopes, created_at, code_hash,
                redirect_uri, challenge, code_expires_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
        )
        .bind(&grant.id)
        .bind(&grant.client_id)
        .bind(&grant.subject)
        .bind(&grant.resource)
        .bind(&grant.scopes)
        .bind(grant.created_at.0)
        .bind(hash.0)
        .bind(&code.redirect_uri)
        .bind(&code.challenge)
        .bind(code.expires_at.0)
        .execute(&mut *transaction)
        .await?;
        let client = match client {
            Some(client) => sqlx::query(
                "INSERT INTO oauth_clients (id, metadata, issued_at, last_registered_at, had_grant)
                VALUES ($1, $2, $3, $3, TRUE)
                ON CONFLICT (id) DO UPDATE SET metadata = EXCLUDED.metadata, issued_at = EXCLUDED.issued_at,
                    last_registered_at = EXCLUDED.last_registered_at, had_grant = TRUE",
            )
            .bind(&client.id)
            .bind(json(client)?)
            .bind(client.issued_at.0),
            None => sqlx::query("UPDATE oauth_clients SET had_grant = TRUE WHERE id = $1 AND NOT had_grant")
                .bind(&grant.client_id),
        };
        client.execute(&mut *transaction).await?;
        transaction.commit().await?;
        Ok(CodeStatus::Pending)
    }

    async fn delete_expired(&self, sweep: Sweep) -> sqlx::Result<u64> {
        // A grant that a concurrent redemption, rotation or revocation has locked is left for the next sweep. The array
        // makes Postgres select and lock the rows only once.
        const CODES: &str = "DELETE FROM oauth_grants WHERE id = ANY(ARRAY(
            SELECT id FROM oauth_grants WHERE redeemed_at IS NULL AND code_expires_at < $1
            ORDER BY code_expires_at LIMIT $2 FOR UPDATE SKIP LOCKED))";
        const GRANTS: &str = "DELETE FROM oauth_grants WHERE id = ANY(ARRAY(
            SELECT id FROM oauth_grants WHERE ends_at < $1
            ORDER BY ends_at LIMIT $2 FOR UPDATE SKIP LOCKED))";
        // A consent waits for this transaction, so no client gets a grant meanwhile.
        const CLIENTS: &str = "DELETE FROM oauth_clients WHERE id IN (
            SELECT id FROM oauth_clients WHERE last_registered_at < $1
                AND NOT EXISTS (SELECT FROM oauth_grants WHERE client_id = oauth_clients.id)
            ORDER BY last_registered_at LIMIT $2)";
        const ASSERTIONS: &str = "DELETE FROM oauth_assertions WHERE hash = ANY(ARRAY(
            SELECT hash FROM oauth_assertions WHERE expires_at < $1
            ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED))";
        let Sweep { codes_before, grants_before, clients_before, assertions_before, max } = sweep;
        let deletions = [
            (CODES, codes_before),
            (GRANTS, grants_before),
            (CLIENTS, clients_before),
            (ASSERTIONS, assertions_before),
        ];
        let mut transaction = self.begin_exclusive().await?;
        let mut deleted = 0;
        for (delete, before) in deletions {
            let delete = sqlx::query(delete).bind(before.0).bind(i64::from(max));
            deleted += delete.execute(&mut *transaction).await?.rows_affected();
        }
        transaction.commit().await?;
        Ok(deleted)
    }
}

#[async_trait]
impl ClientStore for PostgresStore {
    async fn register_client(&self, client: NewClient) -> Result<Client, StoreError> {
        self.register(&client).await.map_err(unavailable)
    }

    async fn client(&self, id: &str) -> Result<Option<Client>, StoreError> {
        let found = sqlx::query("SELECT * FROM oauth_clients WHERE id = $1").bind(id).fetch_optional(&self.0);
        found.await.and_then(|row| row.as_ref().map(read_client).transpose()).map_err(unavailable)
    }

    async fn record_assertion(&self, used: UsedAssertion) -> Result<bool, StoreError> {
        let insert = "INSERT INTO oauth_assertions (hash, expires_at) VALUES ($1, $2) ON CONFLICT DO NOTHING";
        let inserting = sqlx::query(insert).bind(used.hash.0).bind(used.expires_at.0).execute(&self.0);
        Ok(inserting.await.map_err(unavailable)?.rows_affected() == 1)
    }
}

#[async_trait]
impl GrantStore for PostgresStore {
    async fn issue_code(&self, code: NewCode) -> Result<CodeStatus, StoreError> {
        self.issue(&code).await.map_err(unavailable)
    }

    async fn redeem_code(&self, redemption: Redemption) -> Result<bool, StoreError> {
        let refresh = redemption.refresh.as_ref();
        let token = refresh.map(|refresh| &refresh.token);
        // The second of two concurrent redemptions waits for the row, checks the condition again and changes nothing.
        // The same holds for a redemption that waits for a revocation.
        let redeemed = sqlx::query(
            "UPDATE oauth_grants SET redeemed_at = $2, access_expires_at = $3, refresh_handle = $4,
                refresh_hash = $5, refresh_generation = $6, refresh_expires_at = $7, recent_rotations = $8
            WHERE code_hash = $1 AND redeemed_at IS NULL AND code_expires_at > $2 AND revoked_at IS NULL",
        )
        .bind(redemption.code.0)
        .bind(redemption.at.0)
        .bind(redemption.access_expires_at.0)
        .bind(refresh.map(|refresh| refresh.handle.0))
        .bind(token.map(|token| token.hash.0))
        .bind(token.map(|token| i64::from(token.generation)))
        .bind(token.map(|token| token.expires_at.0))
        .bind(token.map(rotations))
        .execute(&self.0)
        .await
        .map_err(unavailable)?;
        Ok(redeemed.rows_affected() == 1)
    }

    async fn rotate_refresh_token(&self, rotation: Rotation) -> Result<bool, StoreError> {
        let next = &rotation.next;
        // The second of two concurrent rotations waits for the row, finds another current token and changes nothing.
        let rotated = sqlx::query(
            "UPDATE oauth_grants SET access_expires_at = GREATEST(access_expires_at, $4), refresh_hash = $5,
                refresh_generation = $6, refresh_expires_at = $7, recent_rotations = $8
            WHERE id = $1 AND refresh_hash = $2 AND refresh_expires_at > $3 AND revoked_at IS NULL",
        )
        .bind(&rotation.grant_id)
        .bind(rotation.presented.0)
        .bind(rotation.at.0)
        .bind(rotation.access_expires_at.0)
        .bind(next.hash.0)
        .bind(i64::from(next.generation))
        .bind(next.expires_at.0)
        .bind(rotations(next))
        .execute(&self.0)
        .await
        .map_err(unavailable)?;
        Ok(rotated.rows_affected() == 1)
    }

    async fn grant(&self, key: GrantKey<'_>) -> Result<Option<StoredGrant>, StoreError> {
        let found = match key {
            GrantKey::Id(id) => sqlx::query("SELECT * FROM oauth_grants WHERE id = $1").bind(id),
            GrantKey::Code(hash) => {
                sqlx::query("SELECT * FROM oauth_grants WHERE code_hash = $1").bind(hash.0)
            }
            GrantKey::RefreshHandle(hash) => {
                sqlx::query("SELECT * FROM oauth_grants WHERE refresh_handle = $1").bind(hash.0)
            }
        };
        let found = found.fetch_optional(&self.0).await;
        found.and_then(|row| row.as_ref().map(read_grant).transpose()).map_err(unavailable)
    }

    async fn revoke(&self, grants: Grants<'_>, at: UnixMillis) -> Result<u64, StoreError> {
        // Only one of several concurrent revocations of a grant counts it.
        let (revoke, whose) = match grants {
            Grants::WithId(id) => {
                ("UPDATE oauth_grants SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL", id)
            }
            Grants::OfSubject(subject) => {
                ("UPDATE oauth_grants SET revoked_at = $2 WHERE subject = $1 AND revoked_at IS NULL", subject)
            }
        };
        let revoked = sqlx::query(revoke).bind(whose).bind(at.0).execute(&self.0).await;
        Ok(revoked.map_err(unavailable)?.rows_affected())
    }

    async fn connections(&self, subject: &str) -> Result<Vec<Connection>, StoreError> {
        let rows = sqlx::query(
            "SELECT oauth_grants.*, metadata FROM oauth_grants
            LEFT JOIN oauth_clients ON oauth_clients.id = client_id
            WHERE subject = $1 AND redeemed_at IS NOT NULL AND revoked_at IS NULL
            ORDER BY created_at DESC",
        )
        .bind(subject)
        .fetch_all(&self.0)
        .await
        .map_err(unavailable)?;
        rows.iter().map(read_connection).collect::<sqlx::Result<_>>().map_err(unavailable)
    }

    async fn record_use(&self, grant_id: &str, at: UnixMillis) -> Result<(), StoreError> {
        // GREATEST ignores NULL. The latest of several concurrent uses stays.
        sqlx::query("UPDATE oauth_grants SET last_used_at = GREATEST(last_used_at, $2) WHERE id = $1")
            .bind(grant_id)
            .bind(at.0)
            .execute(&self.0)
            .await
            .map_err(unavailable)?;
        Ok(())
    }

    async fn sweep(&self, sweep: Sweep) -> Result<u64, StoreError> {
        self.delete_expired(sweep).await.map_err(unavailable)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the signature that map_err needs")]
fn unavailable(error: sqlx::Error) -> StoreError {
    StoreError(error.to_string())
}

fn json(client: &Client) -> sqlx::Result<String> {
    serde_json::to_string(&client.metadata).map_err(|error| sqlx::Error::Encode(error.into()))
}

fn read_metadata(json: &str) -> sqlx::Result<oauth_core::ClientMetadata> {
    serde_json::from_str(json).map_err(|error| sqlx::Error::Decode(error.into()))
}

fn read_client(row: &PgRow) -> sqlx::Result<Client> {
    Ok(Client {
        id: row.try_get("id")?,
        metadata: read_metadata(row.try_get("metadata")?)?,
        secret: row.try_get::<Option<_>, _>("secret")?.map(SecretHash),
        issued_at: UnixMillis(row.try_get("issued_at")?),
    })
}

fn read_grant(row: &PgRow) -> sqlx::Result<StoredGrant> {
    let refresh = row.try_get::<Option<_>, _>("refresh_hash")?.map(SecretHash);
    Ok(StoredGrant {
        grant: Grant {
            id: row.try_get("id")?,
            client_id: row.try_get("client_id")?,
            subject: row.try_get("subject")?,
            resource: row.try_get("resource")?,
            scopes: row.try_get("scopes")?,
            created_at: UnixMillis(row.try_get("created_at")?),
            revoked_at: row.try_get::<Option<_>, _>("revoked_at")?.map(UnixMillis),
        },
        code: IssuedCode {
            redirect_uri: row.try_get("redirect_uri")?,
            challenge: row.try_get("challenge")?,
            expires_at: UnixMillis(row.try_get("code_expires_at")?),
            redeemed_at: row.try_get::<Option<_>, _>("redeemed_at")?.map(UnixMillis),
        },
        refresh: refresh.map(|hash| read_token(row, hash)).transpose()?,
    })
}

fn read_token(row: &PgRow, hash: SecretHash) -> sqlx::Result<CurrentRefreshToken> {
    let generation: i64 = row.try_get("refresh_generation")?;
    let recent_rotations: Vec<i64> = row.try_get("recent_rotations")?;
    Ok(CurrentRefreshToken {
        hash,
        generation: generation.try_into().map_err(|error| sqlx::Error::Decode(Box::new(error)))?,
        expires_at: UnixMillis(row.try_get("refresh_expires_at")?),
        recent_rotations: recent_rotations.into_iter().map(UnixMillis).collect(),
    })
}

fn read_connection(row: &PgRow) -> sqlx::Result<Connection> {
    let StoredGrant { grant, code, .. } = read_grant(row)?;
    let metadata = row.try_get::<Option<&str>, _>("metadata")?.map(read_metadata).transpose()?;
    Ok(Connection {
        grant,
        client_name: metadata.map(|metadata| metadata.client_name),
        redirect_uri: code.redirect_uri,
        last_used_at: row.try_get::<Option<_>, _>("last_used_at")?.map(UnixMillis),
    })
}

fn rotations(token: &CurrentRefreshToken) -> Vec<i64> {
    token.recent_rotations.iter().map(|at| at.0).collect()
}
