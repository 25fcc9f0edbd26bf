use diesel::{dsl::exists, prelude::*};
use domain::Timestamp;
use storage::{NewSigningKey, StoredSigningKey};

use crate::{
    SqlConnection,
    error::{SqlError, is_unique_violation},
    sql::{
        schema::signing_keys,
        value::{RowReader, row_count},
    },
};

#[derive(Queryable, Selectable)]
#[diesel(table_name = signing_keys, check_for_backend(crate::Backend))]
struct SigningKeyRow {
    kid: String,
    sealed: Vec<u8>,
    created_at_ms: i64,
    retired_at_ms: Option<i64>,
}

impl TryFrom<SigningKeyRow> for StoredSigningKey {
    type Error = SqlError;

    fn try_from(row: SigningKeyRow) -> Result<Self, SqlError> {
        let reader = RowReader::new("signing_keys", &row.kid);
        Ok(Self {
            created_at: reader.timestamp("created_at_ms", row.created_at_ms)?,
            retired_at: reader.optional_timestamp("retired_at_ms", row.retired_at_ms)?,
            sealed: row.sealed,
            kid: row.kid,
        })
    }
}

pub(super) fn all(c: &mut SqlConnection) -> Result<Vec<StoredSigningKey>, SqlError> {
    signing_keys::table
        .order(signing_keys::seq.desc())
        .select(SigningKeyRow::as_select())
        .load(c)?
        .into_iter()
        .map(StoredSigningKey::try_from)
        .collect()
}

pub(super) fn add(
    c: &mut SqlConnection,
    key: &NewSigningKey,
    only_if_none_active: bool,
    at: Timestamp,
) -> Result<bool, SqlError> {
    let active = signing_keys::table.filter(signing_keys::retired_at_ms.is_null());
    if only_if_none_active && diesel::select(exists(active)).get_result(c)? {
        return Ok(false);
    }
    diesel::update(active).set(signing_keys::retired_at_ms.eq(at.millis())).execute(c)?;
    let inserted = diesel::insert_into(signing_keys::table)
        .values((
            signing_keys::kid.eq(&key.kid),
            signing_keys::sealed.eq(&key.sealed),
            signing_keys::created_at_ms.eq(at.millis()),
        ))
        .execute(c);
    match inserted {
        Ok(_) => Ok(true),
        Err(error) if is_unique_violation(&error) => {
            Err(SqlError::Refused("a signing key with this id is stored already".to_owned()))
        }
        Err(error) => Err(error.into()),
    }
}

pub(super) fn delete_retired(c: &mut SqlConnection, before: Timestamp) -> Result<u64, SqlError> {
    // Scans the table, which never has more than a few keys.
    let retired = signing_keys::table.filter(signing_keys::retired_at_ms.lt(before.millis()));
    Ok(row_count(diesel::delete(retired).execute(c)?))
}
