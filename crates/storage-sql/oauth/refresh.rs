use diesel::{
    dsl::case_when,
    prelude::*,
    sql_types::{BigInt, Nullable},
};
use oauth_core::{Rotation, UnixMillis};

use crate::{SqlConnection, error::SqlError, sql::schema::oauth_grants};

pub(super) fn rotations_json(rotations: &[UnixMillis]) -> Result<String, SqlError> {
    let millis: Vec<i64> = rotations.iter().map(|rotation| rotation.0).collect();
    serde_json::to_string(&millis).map_err(|error| SqlError::Refused(error.to_string()))
}

/// Rotates a refresh token. This is a single statement, so the second of two concurrent rotations changes no row.
pub(super) fn rotate(c: &mut SqlConnection, rotation: &Rotation) -> Result<bool, SqlError> {
    let current = oauth_grants::table
        .filter(oauth_grants::id.eq(&rotation.grant_id))
        .filter(oauth_grants::refresh_hash.eq(rotation.presented.0.as_slice()))
        .filter(oauth_grants::revoked_at_ms.is_null())
        .filter(oauth_grants::refresh_expires_at_ms.gt(rotation.at.0));
    let next = &rotation.next;
    // Earlier access tokens stay valid, so the one that expires last counts.
    let new = Some(rotation.access_expires_at.0).into_sql::<Nullable<BigInt>>();
    let last = case_when(oauth_grants::access_expires_at_ms.gt(new), oauth_grants::access_expires_at_ms)
        .otherwise(new);
    let rotated = diesel::update(current)
        .set((
            oauth_grants::refresh_hash.eq(next.hash.0.as_slice()),
            oauth_grants::refresh_generation.eq(i64::from(next.generation)),
            oauth_grants::refresh_expires_at_ms.eq(next.expires_at.0),
            oauth_grants::recent_rotations.eq(rotations_json(&next.recent_rotations)?),
            oauth_grants::access_expires_at_ms.eq(last),
        ))
        .execute(c)?;
    Ok(rotated == 1)
}
