use diesel::{OptionalExtension, prelude::*};
use oauth_core::{CurrentRefreshToken, Grant, RefreshableGrant, Rotation, SecretHash, UnixMillis};

use super::row::GrantRow;
use crate::{
    SqlConnection,
    error::SqlError,
    sql::{schema::oauth_grants, value::RowReader},
};

#[derive(Queryable, Selectable)]
#[diesel(table_name = oauth_grants, check_for_backend(crate::Backend))]
struct RefreshableRow {
    #[diesel(embed)]
    grant: GrantRow,
    refresh_hash: Option<Vec<u8>>,
    refresh_generation: Option<i64>,
    refresh_expires_at_ms: Option<i64>,
    recent_rotations: Option<String>,
}

impl TryFrom<RefreshableRow> for RefreshableGrant {
    type Error = SqlError;

    fn try_from(row: RefreshableRow) -> Result<Self, SqlError> {
        let reader = RowReader::new("oauth_grants", &row.grant.id);
        let hash = reader.required("refresh_hash", row.refresh_hash)?;
        let generation = reader.required("refresh_generation", row.refresh_generation)?;
        let rotations: Option<Vec<i64>> =
            row.recent_rotations.and_then(|rotations| serde_json::from_str(&rotations).ok());
        let current = CurrentRefreshToken {
            hash: SecretHash(reader.digest("refresh_hash", &hash)?),
            generation: reader.unsigned("refresh_generation", generation)?,
            expires_at: UnixMillis(reader.required("refresh_expires_at_ms", row.refresh_expires_at_ms)?),
            recent_rotations: reader
                .required("recent_rotations", rotations)?
                .into_iter()
                .map(UnixMillis)
                .collect(),
        };
        Ok(Self { grant: Grant::try_from(row.grant)?, current })
    }
}

pub(super) fn rotations_json(rotations: &[UnixMillis]) -> Result<String, SqlError> {
    let millis: Vec<i64> = rotations.iter().map(|rotation| rotation.0).collect();
    serde_json::to_string(&millis).map_err(|error| SqlError::Refused(error.to_string()))
}

pub(super) fn by_handle(
    c: &mut SqlConnection,
    handle: &SecretHash,
) -> Result<Option<RefreshableGrant>, SqlError> {
    oauth_grants::table
        .filter(oauth_grants::refresh_handle.eq(handle.0.as_slice()))
        .select(RefreshableRow::as_select())
        .get_result(c)
        .optional()?
        .map(RefreshableGrant::try_from)
        .transpose()
}

/// Rotates a refresh token. A single statement, so that of two concurrent rotations the second changes no row.
pub(super) fn rotate(c: &mut SqlConnection, rotation: &Rotation) -> Result<bool, SqlError> {
    let current = oauth_grants::table
        .filter(oauth_grants::id.eq(&rotation.grant_id))
        .filter(oauth_grants::refresh_hash.eq(rotation.presented.0.as_slice()))
        .filter(oauth_grants::revoked_at_ms.is_null())
        .filter(oauth_grants::refresh_expires_at_ms.gt(rotation.at.0));
    let next = &rotation.next;
    let rotated = diesel::update(current)
        .set((
            oauth_grants::refresh_hash.eq(next.hash.0.as_slice()),
            oauth_grants::refresh_generation.eq(i64::from(next.generation)),
            oauth_grants::refresh_expires_at_ms.eq(next.expires_at.0),
            oauth_grants::recent_rotations.eq(rotations_json(&next.recent_rotations)?),
            oauth_grants::access_expires_at_ms.eq(rotation.access_expires_at.0),
        ))
        .execute(c)?;
    Ok(rotated == 1)
}
