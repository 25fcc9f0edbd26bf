use diesel::{OptionalExtension, prelude::*};
use oauth_core::{CurrentRefreshToken, Grant, IssuedCode, SecretHash, StoredGrant, UnixMillis};

use super::row::GrantRow;
use crate::{
    SqlConnection,
    error::SqlError,
    sql::{schema::oauth_grants, value::RowReader},
};

#[derive(Queryable, Selectable)]
#[diesel(table_name = oauth_grants, check_for_backend(crate::Backend))]
struct StoredGrantRow {
    #[diesel(embed)]
    grant: GrantRow,
    redirect_uri: String,
    challenge: String,
    code_expires_at_ms: i64,
    redeemed_at_ms: Option<i64>,
    refresh_hash: Option<Vec<u8>>,
    refresh_generation: Option<i64>,
    refresh_expires_at_ms: Option<i64>,
    recent_rotations: Option<String>,
}

impl TryFrom<StoredGrantRow> for StoredGrant {
    type Error = SqlError;

    fn try_from(row: StoredGrantRow) -> Result<Self, SqlError> {
        let reader = RowReader::new("oauth_grants", &row.grant.id);
        let refresh = row.refresh_hash.map(|hash| {
            let generation = reader.required("refresh_generation", row.refresh_generation)?;
            let rotations: Option<Vec<i64>> =
                row.recent_rotations.and_then(|rotations| serde_json::from_str(&rotations).ok());
            let rotations = reader.required("recent_rotations", rotations)?;
            Ok::<_, SqlError>(CurrentRefreshToken {
                hash: SecretHash(reader.digest("refresh_hash", &hash)?),
                generation: reader.unsigned("refresh_generation", generation)?,
                expires_at: UnixMillis(reader.required("refresh_expires_at_ms", row.refresh_expires_at_ms)?),
                recent_rotations: rotations.into_iter().map(UnixMillis).collect(),
            })
        });
        Ok(Self {
            refresh: refresh.transpose()?,
            grant: Grant::try_from(row.grant)?,
            code: IssuedCode {
                redirect_uri: row.redirect_uri,
                challenge: row.challenge,
                expires_at: UnixMillis(row.code_expires_at_ms),
                redeemed_at: row.redeemed_at_ms.map(UnixMillis),
            },
        })
    }
}

/// The grant that matches a condition on an indexed column.
macro_rules! stored_where {
    ($c:ident, $condition:expr) => {
        oauth_grants::table
            .filter($condition)
            .select(StoredGrantRow::as_select())
            .get_result($c)
            .optional()?
            .map(StoredGrant::try_from)
            .transpose()
    };
}

pub(super) fn by_id(c: &mut SqlConnection, id: &str) -> Result<Option<StoredGrant>, SqlError> {
    stored_where!(c, oauth_grants::id.eq(id))
}

pub(super) fn by_code(c: &mut SqlConnection, hash: &SecretHash) -> Result<Option<StoredGrant>, SqlError> {
    stored_where!(c, oauth_grants::code_hash.eq(hash.0.as_slice()))
}

pub(super) fn by_refresh_handle(
    c: &mut SqlConnection,
    hash: &SecretHash,
) -> Result<Option<StoredGrant>, SqlError> {
    stored_where!(c, oauth_grants::refresh_handle.eq(hash.0.as_slice()))
}
