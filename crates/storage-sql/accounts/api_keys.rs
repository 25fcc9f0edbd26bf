use diesel::{OptionalExtension, prelude::*};
use domain::{Account, AccountId, KeyName, Timestamp};
use storage::{KeyHash, KeyHolder, KeyId, KeyInfo, KeyKind, NewKey};

use crate::{
    SqlConnection,
    error::{SqlError, is_unique_violation},
    sql::{
        account_rows::{AccountRow, is_active},
        schema::{accounts, api_keys},
        value::RowReader,
    },
};

/// The outcome of creating a key.
pub(super) enum Creation {
    Done,
    NameTaken,
    NoAccount,
}

pub(super) fn create(c: &mut SqlConnection, key: &NewKey) -> Result<Creation, SqlError> {
    if !is_active(c, key.account.0)? {
        return Ok(Creation::NoAccount);
    }
    let in_use = api_keys::table
        .filter(api_keys::account_id.eq(key.account.0))
        .filter(api_keys::kind.eq(key.kind.as_str()))
        .filter(api_keys::name.eq(key.name.as_str()))
        .filter(api_keys::revoked_at_ms.is_null())
        .select(api_keys::id)
        .get_result::<i64>(c)
        .optional()?;
    if in_use.is_some() {
        return Ok(Creation::NameTaken);
    }
    let inserted = diesel::insert_into(api_keys::table)
        .values((
            api_keys::account_id.eq(key.account.0),
            api_keys::kind.eq(key.kind.as_str()),
            api_keys::name.eq(key.name.as_str()),
            api_keys::hash.eq(key.hash.0.as_slice()),
            api_keys::created_at_ms.eq(key.created_at.millis()),
        ))
        .execute(c);
    match inserted {
        Ok(_) => Ok(Creation::Done),
        Err(error) if is_unique_violation(&error) => {
            Err(SqlError::Refused("this key is stored already".to_owned()))
        }
        Err(error) => Err(error.into()),
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = api_keys, check_for_backend(crate::Backend))]
struct ApiKeyRow {
    id: i64,
    name: String,
    created_at_ms: i64,
    last_used_at_ms: Option<i64>,
    revoked_at_ms: Option<i64>,
}

impl TryFrom<ApiKeyRow> for KeyInfo {
    type Error = SqlError;

    fn try_from(row: ApiKeyRow) -> Result<Self, SqlError> {
        let reader = RowReader::new("api_keys", &row.id);
        Ok(Self {
            name: KeyName::parse(&row.name).map_err(|_| reader.unreadable("name"))?,
            created_at: reader.timestamp("created_at_ms", row.created_at_ms)?,
            last_used_at: reader.optional_timestamp("last_used_at_ms", row.last_used_at_ms)?,
            revoked_at: reader.optional_timestamp("revoked_at_ms", row.revoked_at_ms)?,
        })
    }
}

pub(super) fn all(
    c: &mut SqlConnection,
    account: AccountId,
    kind: KeyKind,
) -> Result<Vec<KeyInfo>, SqlError> {
    api_keys::table
        .filter(api_keys::account_id.eq(account.0))
        .filter(api_keys::kind.eq(kind.as_str()))
        .order((api_keys::created_at_ms.desc(), api_keys::id.desc()))
        .select(ApiKeyRow::as_select())
        .load(c)?
        .into_iter()
        .map(KeyInfo::try_from)
        .collect()
}

pub(super) fn revoke(
    c: &mut SqlConnection,
    account: AccountId,
    kind: KeyKind,
    name: &KeyName,
    at: Timestamp,
) -> Result<bool, SqlError> {
    let in_use = api_keys::table
        .filter(api_keys::account_id.eq(account.0))
        .filter(api_keys::kind.eq(kind.as_str()))
        .filter(api_keys::name.eq(name.as_str()))
        .filter(api_keys::revoked_at_ms.is_null());
    Ok(diesel::update(in_use).set(api_keys::revoked_at_ms.eq(at.millis())).execute(c)? > 0)
}

pub(super) fn revoke_by_id(
    c: &mut SqlConnection,
    key: KeyId,
    at: Timestamp,
) -> Result<Option<KeyName>, SqlError> {
    let in_use = api_keys::table.find(key.0).filter(api_keys::revoked_at_ms.is_null());
    let name = diesel::update(in_use)
        .set(api_keys::revoked_at_ms.eq(at.millis()))
        .returning(api_keys::name)
        .get_result::<String>(c)
        .optional()?;
    let reader = RowReader::new("api_keys", &key.0);
    name.map(|name| KeyName::parse(&name).map_err(|_| reader.unreadable("name"))).transpose()
}

pub(super) fn name(c: &mut SqlConnection, key: KeyId) -> Result<Option<KeyName>, SqlError> {
    let name = api_keys::table.find(key.0).select(api_keys::name).get_result::<String>(c).optional()?;
    let reader = RowReader::new("api_keys", &key.0);
    name.map(|name| KeyName::parse(&name).map_err(|_| reader.unreadable("name"))).transpose()
}

pub(super) fn holder(c: &mut SqlConnection, hash: &KeyHash) -> Result<Option<KeyHolder>, SqlError> {
    let found = api_keys::table
        .inner_join(accounts::table)
        .filter(api_keys::hash.eq(hash.0.as_slice()))
        .filter(api_keys::revoked_at_ms.is_null())
        .filter(accounts::deleted_at_ms.is_null())
        .select((api_keys::id, api_keys::kind, api_keys::last_used_at_ms, AccountRow::as_select()))
        .get_result::<(i64, String, Option<i64>, AccountRow)>(c)
        .optional()?;
    let Some((id, kind, last_used_at_ms, account)) = found else { return Ok(None) };
    let reader = RowReader::new("api_keys", &id);
    Ok(Some(KeyHolder {
        key: KeyId(id),
        kind: reader.required("kind", KeyKind::from_name(&kind))?,
        account: Account::try_from(account)?,
        last_used_at: reader.optional_timestamp("last_used_at_ms", last_used_at_ms)?,
    }))
}

/// Records a use. Concurrent requests may do so out of order: the latest time stays.
pub(super) fn touch(c: &mut SqlConnection, key: KeyId, at: Timestamp) -> Result<(), SqlError> {
    let older = api_keys::last_used_at_ms.is_null().or(api_keys::last_used_at_ms.lt(at.millis()));
    diesel::update(api_keys::table.find(key.0))
        .filter(older)
        .set(api_keys::last_used_at_ms.eq(at.millis()))
        .execute(c)?;
    Ok(())
}
