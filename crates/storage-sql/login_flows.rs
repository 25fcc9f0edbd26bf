use diesel::{OptionalExtension, prelude::*, sql_types::BigInt};
use domain::{AccountId, Timestamp};
use storage::{LoginFlow, LoginFlowStore, LoginTokenHash, MAX_LOGIN_FLOWS, NewLoginFlow, StorageError};

use crate::{
    Lock, SqlConnection,
    error::{SqlError, is_unique_violation},
    sql::{
        account_rows::is_active,
        schema::{accounts, login_flows},
        statement,
        value::row_count,
    },
};

operations! {
    impl LoginFlowStore {
        write(Lock::Nothing) begin_login_flow(flow: NewLoginFlow as ref) -> () = begin;
        query_inline login_flow(page: LoginTokenHash as ref, at: Timestamp) -> Option<LoginFlow> = of_page;
        write(Lock::Nothing) confirm_login_flow(
            page: LoginTokenHash as ref, account: AccountId, at: Timestamp
        ) -> bool = confirm;
        write(Lock::Nothing) deny_login_flow(page: LoginTokenHash as ref) -> bool = deny;
        write(Lock::Nothing) sweep_login_flows(before: Timestamp, max: u32) -> u64 = sweep;
    }
    by hand {
        async fn take_login_flow(
            &self,
            poll: LoginTokenHash,
            at: Timestamp,
        ) -> Result<Option<(AccountId, String)>, StorageError> {
            // Apps poll every second, so waiting must not need the write lock.
            if self.query_inline(move |c| confirmed(c, &poll, at)).await?.is_none() {
                return Ok(None);
            }
            self.write(Lock::Nothing, move |c| take(c, &poll, at)).await
        }
    }
}

fn begin(c: &mut SqlConnection, flow: &NewLoginFlow) -> Result<(), SqlError> {
    let inserted = diesel::insert_into(login_flows::table)
        .values((
            login_flows::page.eq(flow.page.as_slice()),
            login_flows::poll.eq(flow.poll.as_slice()),
            login_flows::device.eq(&flow.device),
            login_flows::created_at_ms.eq(flow.at.millis()),
            login_flows::expires_at_ms.eq(flow.expires_at.millis()),
        ))
        .execute(c);
    match inserted {
        Ok(_) => end_surplus(c),
        Err(error) if is_unique_violation(&error) => {
            Err(SqlError::Refused("this login flow is stored already".to_owned()))
        }
        Err(error) => Err(error.into()),
    }
}

/// Deletes flows above the maximum: unconfirmed flows first, then the oldest. So a stranger who begins many flows does
/// not displace confirmed ones.
fn end_surplus(c: &mut SqlConnection) -> Result<(), SqlError> {
    let surplus = login_flows::table.count().get_result::<i64>(c)? - i64::from(MAX_LOGIN_FLOWS);
    if surplus > 0 {
        statement(
            "DELETE FROM login_flows WHERE page IN (
                SELECT page FROM login_flows ORDER BY account_id IS NOT NULL, created_at_ms, page LIMIT $1
            )",
        )
        .bind::<BigInt, _>(surplus)
        .execute(c)?;
    }
    Ok(())
}

fn of_page(
    c: &mut SqlConnection,
    page: &LoginTokenHash,
    at: Timestamp,
) -> Result<Option<LoginFlow>, SqlError> {
    let found = login_flows::table
        .filter(login_flows::page.eq(page.as_slice()))
        .filter(login_flows::expires_at_ms.gt(at.millis()))
        .select((login_flows::device, login_flows::account_id))
        .get_result::<(String, Option<i64>)>(c)
        .optional()?;
    Ok(found.map(|(device, account)| LoginFlow { device, account: account.map(AccountId) }))
}

fn confirm(
    c: &mut SqlConnection,
    page: &LoginTokenHash,
    account: AccountId,
    at: Timestamp,
) -> Result<bool, SqlError> {
    if !is_active(c, account.0)? {
        return Ok(false);
    }
    let waiting = login_flows::table
        .filter(login_flows::page.eq(page.as_slice()))
        .filter(login_flows::expires_at_ms.gt(at.millis()))
        .filter(login_flows::account_id.is_null());
    Ok(diesel::update(waiting).set(login_flows::account_id.eq(account.0)).execute(c)? > 0)
}

/// Deletes the flows that an account confirmed and whose device has not fetched its password yet.
pub(crate) fn end_confirmed(c: &mut SqlConnection, account: AccountId) -> Result<(), SqlError> {
    diesel::delete(login_flows::table.filter(login_flows::account_id.eq(account.0))).execute(c)?;
    Ok(())
}

fn deny(c: &mut SqlConnection, page: &LoginTokenHash) -> Result<bool, SqlError> {
    let waiting = login_flows::table
        .filter(login_flows::page.eq(page.as_slice()))
        .filter(login_flows::account_id.is_null());
    Ok(diesel::delete(waiting).execute(c)? > 0)
}

/// The account and the device of a confirmed flow.
fn confirmed(
    c: &mut SqlConnection,
    poll: &LoginTokenHash,
    at: Timestamp,
) -> Result<Option<(AccountId, String)>, SqlError> {
    let found = login_flows::table
        .inner_join(accounts::table)
        .filter(login_flows::poll.eq(poll.as_slice()))
        .filter(login_flows::expires_at_ms.gt(at.millis()))
        .filter(accounts::deleted_at_ms.is_null())
        .select((accounts::id, login_flows::device))
        .get_result::<(i64, String)>(c)
        .optional()?;
    Ok(found.map(|(account, device)| (AccountId(account), device)))
}

fn take(
    c: &mut SqlConnection,
    poll: &LoginTokenHash,
    at: Timestamp,
) -> Result<Option<(AccountId, String)>, SqlError> {
    let Some(flow) = confirmed(c, poll, at)? else { return Ok(None) };
    let taken =
        diesel::delete(login_flows::table.filter(login_flows::poll.eq(poll.as_slice()))).execute(c)?;
    Ok((taken > 0).then_some(flow))
}

fn sweep(c: &mut SqlConnection, before: Timestamp, max: u32) -> Result<u64, SqlError> {
    let swept = statement(
        "DELETE FROM login_flows WHERE page IN (
            SELECT page FROM login_flows WHERE expires_at_ms < $1 ORDER BY expires_at_ms LIMIT $2
        )",
    )
    .bind::<BigInt, _>(before.millis())
    .bind::<BigInt, _>(i64::from(max))
    .execute(c)?;
    Ok(row_count(swept))
}
