use diesel::{OptionalExtension, SqliteConnection, prelude::*};
use oauth_core::{Client, ClientMetadata, NewClient, SecretHash, UnixMillis};

use crate::{error::Failure, schema::oauth_clients, value::RowName};

#[derive(Queryable, Selectable)]
#[diesel(table_name = oauth_clients, check_for_backend(diesel::sqlite::Sqlite))]
struct ClientRow {
    id: String,
    metadata: String,
    secret_hash: Option<Vec<u8>>,
    issued_at_ms: i64,
}

impl TryFrom<ClientRow> for Client {
    type Error = Failure;

    fn try_from(row: ClientRow) -> Result<Self, Failure> {
        let name = RowName::new("oauth_clients", &row.id);
        let secret = row.secret_hash.as_deref().map(|hash| name.digest("secret_hash", hash)).transpose()?;
        Ok(Self {
            metadata: metadata(name, &row.metadata)?,
            secret: secret.map(SecretHash),
            issued_at: UnixMillis(row.issued_at_ms),
            id: row.id,
        })
    }
}

/// What a client told of itself, as it is stored.
pub(super) fn metadata(name: RowName<'_>, json: &str) -> Result<ClientMetadata, Failure> {
    name.some("metadata", serde_json::from_str(json).ok())
}

pub(super) fn by_id(c: &mut SqliteConnection, id: &str) -> Result<Option<Client>, Failure> {
    oauth_clients::table
        .filter(oauth_clients::id.eq(id))
        .select(ClientRow::as_select())
        .get_result(c)
        .optional()?
        .map(Client::try_from)
        .transpose()
}

/// The public client with that digest.
pub(super) fn by_digest(
    c: &mut SqliteConnection,
    digest: Option<SecretHash>,
) -> Result<Option<Client>, Failure> {
    let Some(digest) = digest else { return Ok(None) };
    oauth_clients::table
        .filter(oauth_clients::digest.eq(digest.0.as_slice()))
        .select(ClientRow::as_select())
        .get_result(c)
        .optional()?
        .map(Client::try_from)
        .transpose()
}

fn metadata_json(client: &Client) -> Result<String, Failure> {
    serde_json::to_string(&client.metadata).map_err(|error| Failure::Refused(error.to_string()))
}

/// Keeps a client that describes itself, as it does now.
pub(super) fn remember(c: &mut SqliteConnection, client: &Client) -> Result<(), Failure> {
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

pub(super) fn register(c: &mut SqliteConnection, new: NewClient) -> Result<Client, Failure> {
    if let Some(known) = by_digest(c, new.digest)? {
        return Ok(known);
    }
    let client = new.client;
    let metadata = metadata_json(&client)?;
    diesel::insert_into(oauth_clients::table)
        .values((
            oauth_clients::id.eq(&client.id),
            oauth_clients::metadata.eq(metadata),
            oauth_clients::digest.eq(new.digest.as_ref().map(|digest| digest.0.as_slice())),
            oauth_clients::secret_hash.eq(client.secret.as_ref().map(|secret| secret.0.as_slice())),
            oauth_clients::issued_at_ms.eq(client.issued_at.0),
        ))
        .execute(c)?;
    Ok(client)
}
