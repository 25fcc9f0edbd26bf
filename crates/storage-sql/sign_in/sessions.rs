use diesel::{OptionalExtension, prelude::*, sql_types::BigInt};
use domain::{Account, AccountId, Timestamp};
use storage::{MAX_SESSIONS, NewSession, SessionHash, SessionHolder, SessionInfo};

use crate::{
    SqlConnection,
    error::{SqlError, is_unique_violation},
    sql::{
        account_rows::{AccountRow, is_active},
        login_flows::end_confirmed as end_confirmed_flows,
        oauth::delete_unredeemed_codes,
        schema::{accounts, sessions},
        statement,
        value::{Hex, RowReader, row_count},
    },
};

pub(super) fn add(c: &mut SqlConnection, session: &NewSession) -> Result<bool, SqlError> {
    if !is_active(c, session.account.0)? {
        return Ok(false);
    }
    let inserted = diesel::insert_into(sessions::table)
        .values((
            sessions::hash.eq(session.hash.as_slice()),
            sessions::account_id.eq(session.account.0),
            sessions::user_agent.eq(session.user_agent.as_deref()),
            sessions::address.eq(&session.address),
            sessions::created_at_ms.eq(session.at.millis()),
            sessions::last_seen_at_ms.eq(session.at.millis()),
            sessions::expires_at_ms.eq(session.expires_at.millis()),
        ))
        .execute(c);
    match inserted {
        Ok(_) => {
            end_oldest(c, session.account)?;
            Ok(true)
        }
        Err(error) if is_unique_violation(&error) => {
            Err(SqlError::Refused("this session is stored already".to_owned()))
        }
        Err(error) => Err(error.into()),
    }
}

fn end_oldest(c: &mut SqlConnection, account: AccountId) -> Result<(), SqlError> {
    statement(
        "DELETE FROM sessions WHERE hash IN (
            SELECT hash FROM sessions WHERE account_id = $1 ORDER BY created_at_ms DESC, hash
            LIMIT 9223372036854775807 OFFSET $2
        )",
    )
    .bind::<BigInt, _>(account.0)
    .bind::<BigInt, _>(i64::from(MAX_SESSIONS))
    .execute(c)?;
    Ok(())
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = sessions, check_for_backend(crate::Backend))]
struct SessionRow {
    hash: Vec<u8>,
    user_agent: Option<String>,
    address: String,
    created_at_ms: i64,
    last_seen_at_ms: i64,
    expires_at_ms: i64,
}

impl TryFrom<SessionRow> for SessionInfo {
    type Error = SqlError;

    fn try_from(row: SessionRow) -> Result<Self, SqlError> {
        let key = Hex(&row.hash);
        let reader = RowReader::new("sessions", &key);
        Ok(Self {
            hash: reader.digest("hash", &row.hash)?,
            created_at: reader.timestamp("created_at_ms", row.created_at_ms)?,
            last_seen_at: reader.timestamp("last_seen_at_ms", row.last_seen_at_ms)?,
            expires_at: reader.timestamp("expires_at_ms", row.expires_at_ms)?,
            user_agent: row.user_agent,
            address: row.address,
        })
    }
}

pub(super) fn holder(
    c: &mut SqlConnection,
    hash: &SessionHash,
    at: Timestamp,
) -> Result<Option<SessionHolder>, SqlError> {
    let found = sessions::table
        .inner_join(accounts::table)
        .filter(sessions::hash.eq(hash.as_slice()))
        .filter(sessions::expires_at_ms.gt(at.millis()))
        .filter(accounts::deleted_at_ms.is_null())
        .select((SessionRow::as_select(), AccountRow::as_select()))
        .get_result::<(SessionRow, AccountRow)>(c)
        .optional()?;
    let Some((session, account)) = found else { return Ok(None) };
    let session = SessionInfo::try_from(session)?;
    Ok(Some(SessionHolder {
        account: Account::try_from(account)?,
        created_at: session.created_at,
        last_seen_at: session.last_seen_at,
        expires_at: session.expires_at,
    }))
}

/// Records a use. Concurrent requests may do so out of order: the latest times stay.
pub(super) fn touch(
    c: &mut SqlConnection,
    hash: &SessionHash,
    at: Timestamp,
    expires_at: Timestamp,
) -> Result<(), SqlError> {
    let own = || sessions::table.filter(sessions::hash.eq(hash.as_slice()));
    diesel::update(own().filter(sessions::last_seen_at_ms.lt(at.millis())))
        .set(sessions::last_seen_at_ms.eq(at.millis()))
        .execute(c)?;
    diesel::update(own().filter(sessions::expires_at_ms.lt(expires_at.millis())))
        .set(sessions::expires_at_ms.eq(expires_at.millis()))
        .execute(c)?;
    Ok(())
}

pub(super) fn all(c: &mut SqlConnection, account: AccountId) -> Result<Vec<SessionInfo>, SqlError> {
    sessions::table
        .filter(sessions::account_id.eq(account.0))
        .order((sessions::created_at_ms.desc(), sessions::hash))
        .select(SessionRow::as_select())
        .load(c)?
        .into_iter()
        .map(SessionInfo::try_from)
        .collect()
}

pub(super) fn end(c: &mut SqlConnection, hash: &SessionHash) -> Result<bool, SqlError> {
    Ok(diesel::delete(sessions::table.filter(sessions::hash.eq(hash.as_slice()))).execute(c)? > 0)
}

/// Ends all sessions of an account, except one. Also deletes permissions that were given in a session and not used yet.
/// Returns the number of ended sessions.
pub(crate) fn end_all(
    c: &mut SqlConnection,
    account: AccountId,
    except: Option<SessionHash>,
) -> Result<u64, SqlError> {
    let own = sessions::table.filter(sessions::account_id.eq(account.0));
    let ended = match except {
        Some(hash) => diesel::delete(own.filter(sessions::hash.ne(hash.as_slice()))).execute(c)?,
        None => diesel::delete(own).execute(c)?,
    };
    end_confirmed_flows(c, account)?;
    delete_unredeemed_codes(c, account)?;
    Ok(row_count(ended))
}

pub(super) fn sweep(c: &mut SqlConnection, before: Timestamp, max: u32) -> Result<u64, SqlError> {
    let swept = statement(
        "DELETE FROM sessions WHERE hash IN (
            SELECT hash FROM sessions WHERE expires_at_ms < $1 ORDER BY expires_at_ms LIMIT $2
        )",
    )
    .bind::<BigInt, _>(before.millis())
    .bind::<BigInt, _>(i64::from(max))
    .execute(c)?;
    Ok(row_count(swept))
}
