use diesel::{OptionalExtension, prelude::*, sql_types::BigInt};
use oauth_core::{
    Client, ClientMetadata, Eviction, NewClient, REREGISTRATION_INTERVAL_MS, SecretHash, UnixMillis,
};

use crate::{
    SqlConnection,
    error::SqlError,
    sql::{schema::oauth_clients, statement, value::RowReader},
};

/// Deletes the oldest clients that never had a grant, beyond the newest `$2` of these. An older version of the
/// program, which may use the same file, does not record the first grant, so the grants are checked too.
const EVICT: &str = "
DELETE FROM oauth_clients WHERE seq IN (
    SELECT seq FROM oauth_clients
    WHERE first_granted_at_ms IS NULL AND registered_last_at_ms < $1
        AND (registered_last_at_ms, seq) <= (
            SELECT registered_last_at_ms, seq FROM oauth_clients WHERE first_granted_at_ms IS NULL
            ORDER BY registered_last_at_ms DESC, seq DESC LIMIT 1 OFFSET $2
        )
        AND NOT EXISTS (SELECT 1 FROM oauth_grants WHERE oauth_grants.client_id = oauth_clients.id)
    ORDER BY registered_last_at_ms, seq LIMIT $3
)";

#[derive(Queryable, Selectable)]
#[diesel(table_name = oauth_clients, check_for_backend(crate::Backend))]
struct ClientRow {
    id: String,
    metadata: String,
    secret_hash: Option<Vec<u8>>,
    issued_at_ms: i64,
}

impl TryFrom<ClientRow> for Client {
    type Error = SqlError;

    fn try_from(row: ClientRow) -> Result<Self, SqlError> {
        let reader = RowReader::new("oauth_clients", &row.id);
        let secret = row.secret_hash.as_deref().map(|hash| reader.digest("secret_hash", hash)).transpose()?;
        Ok(Self {
            metadata: metadata(reader, &row.metadata)?,
            secret: secret.map(SecretHash),
            issued_at: UnixMillis(row.issued_at_ms),
            id: row.id,
        })
    }
}

/// Reads stored metadata of a client.
pub(super) fn metadata(reader: RowReader<'_>, json: &str) -> Result<ClientMetadata, SqlError> {
    reader.required("metadata", serde_json::from_str(json).ok())
}

pub(super) fn by_id(c: &mut SqlConnection, id: &str) -> Result<Option<Client>, SqlError> {
    oauth_clients::table
        .filter(oauth_clients::id.eq(id))
        .select(ClientRow::as_select())
        .get_result(c)
        .optional()?
        .map(Client::try_from)
        .transpose()
}

/// The public client with that digest, and its latest registration.
pub(super) fn by_digest(
    c: &mut SqlConnection,
    digest: Option<SecretHash>,
) -> Result<Option<(Client, UnixMillis)>, SqlError> {
    let Some(digest) = digest else { return Ok(None) };
    let found: Option<(ClientRow, Option<i64>)> = oauth_clients::table
        .filter(oauth_clients::digest.eq(digest.0.as_slice()))
        .select((ClientRow::as_select(), oauth_clients::registered_last_at_ms))
        .get_result(c)
        .optional()?;
    let Some((row, registered_last_at_ms)) = found else { return Ok(None) };
    let registered_last_at_ms =
        RowReader::new("oauth_clients", &row.id).required("registered_last_at_ms", registered_last_at_ms)?;
    Ok(Some((Client::try_from(row)?, UnixMillis(registered_last_at_ms))))
}

/// Whether the latest registration is long enough ago to record another.
pub(super) fn should_record_registration(registered_last_at: UnixMillis, now: UnixMillis) -> bool {
    registered_last_at.plus_ms(REREGISTRATION_INTERVAL_MS) <= now
}

fn metadata_json(client: &Client) -> Result<String, SqlError> {
    serde_json::to_string(&client.metadata).map_err(|error| SqlError::Refused(error.to_string()))
}

/// Records the time of a client's first grant. Later grants change nothing.
pub(super) fn record_first_grant(c: &mut SqlConnection, id: &str, at: UnixMillis) -> Result<(), SqlError> {
    let never_granted = oauth_clients::table
        .filter(oauth_clients::id.eq(id))
        .filter(oauth_clients::first_granted_at_ms.is_null());
    diesel::update(never_granted).set(oauth_clients::first_granted_at_ms.eq(at.0)).execute(c)?;
    Ok(())
}

/// Stores the current metadata of a client with a metadata document.
pub(super) fn upsert(c: &mut SqlConnection, client: &Client) -> Result<(), SqlError> {
    let metadata = metadata_json(client)?;
    let now = (oauth_clients::metadata.eq(&metadata), oauth_clients::issued_at_ms.eq(client.issued_at.0));
    diesel::insert_into(oauth_clients::table)
        .values((oauth_clients::id.eq(&client.id), now))
        .on_conflict(oauth_clients::id)
        .do_update()
        .set(now)
        .execute(c)?;
    Ok(())
}

pub(super) fn register(c: &mut SqlConnection, new: &NewClient) -> Result<Client, SqlError> {
    let now = new.client.issued_at;
    if let Some((known, registered_last_at)) = by_digest(c, new.digest)? {
        if should_record_registration(registered_last_at, now) {
            diesel::update(oauth_clients::table.filter(oauth_clients::id.eq(&known.id)))
                .set(oauth_clients::registered_again_at_ms.eq(now.0))
                .execute(c)?;
        }
        return Ok(known);
    }
    let client = &new.client;
    let metadata = metadata_json(client)?;
    diesel::insert_into(oauth_clients::table)
        .values((
            oauth_clients::id.eq(&client.id),
            oauth_clients::metadata.eq(metadata),
            oauth_clients::digest.eq(new.digest.as_ref().map(|digest| digest.0.as_slice())),
            oauth_clients::secret_hash.eq(client.secret.as_ref().map(|secret| secret.0.as_slice())),
            oauth_clients::issued_at_ms.eq(now.0),
        ))
        .execute(c)?;
    if let Some(Eviction { keep, before, max }) = &new.eviction {
        statement(EVICT)
            .bind::<BigInt, _>(before.0)
            .bind::<BigInt, _>(i64::from(*keep))
            .bind::<BigInt, _>(i64::from(*max))
            .execute(c)?;
    }
    Ok(client.clone())
}
