use diesel::{OptionalExtension, prelude::*, sql_types};
use domain::{AccountId, SecurityEventKind};
use storage::{EVENT_MERGE_WINDOW_MS, MAX_EVENTS_PER_KIND, NewSecurityEvent, SecurityEvent};

use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        account_rows::is_active,
        schema::{
            security_events, security_events::account_id, security_events::address, security_events::at_ms,
            security_events::detail, security_events::kind, security_events::seq, security_events::times,
        },
        statement,
        value::RowReader,
    },
};

pub(super) fn record(c: &mut SqlConnection, event: &NewSecurityEvent) -> Result<(), SqlError> {
    let account = event.account.0;
    if !is_active(c, account)? {
        return Ok(());
    }
    let newest = security_events::table
        .filter(account_id.eq(account))
        .filter(kind.eq(event.kind.as_str()))
        .order(seq.desc())
        .limit(1)
        .select((seq, address, detail, at_ms))
        .get_result::<(i64, Option<String>, Option<String>, i64)>(c)
        .optional()?;
    let since = event.at.millis().saturating_sub(EVENT_MERGE_WINDOW_MS);
    if let Some((number, known_address, known_detail, last_ms)) = newest
        && (known_address, known_detail) == (event.address.clone(), event.detail.clone())
        && last_ms >= since
    {
        diesel::update(security_events::table.find(number))
            .set((at_ms.eq(event.at.millis().max(last_ms)), times.eq(times + 1)))
            .execute(c)?;
        return Ok(());
    }
    diesel::insert_into(security_events::table)
        .values((
            account_id.eq(account),
            kind.eq(event.kind.as_str()),
            address.eq(event.address.as_deref()),
            detail.eq(event.detail.as_deref()),
            at_ms.eq(event.at.millis()),
            times.eq(1),
        ))
        .execute(c)?;
    statement(
        "DELETE FROM security_events WHERE account_id = $1 AND kind = $2 AND seq <= (
            SELECT seq FROM security_events WHERE account_id = $1 AND kind = $2 ORDER BY seq DESC LIMIT 1 OFFSET $3
        )",
    )
    .bind::<sql_types::BigInt, _>(account)
    .bind::<sql_types::Text, _>(event.kind.as_str())
    .bind::<sql_types::BigInt, _>(i64::from(MAX_EVENTS_PER_KIND))
    .execute(c)?;
    Ok(())
}

/// The newest events. An account has at most [`MAX_EVENTS_PER_KIND`] of each kind, so they are sorted without an
/// index.
pub(super) fn newest(
    c: &mut SqlConnection,
    account: AccountId,
    max: u32,
) -> Result<Vec<SecurityEvent>, SqlError> {
    let rows = security_events::table
        .filter(account_id.eq(account.0))
        .order((at_ms.desc(), seq.desc()))
        .limit(i64::from(max))
        .select((seq, kind, address, detail, at_ms, times))
        .load::<(i64, String, Option<String>, Option<String>, i64, i64)>(c)?;
    rows.into_iter()
        .map(|(number, event_kind, client_address, event_detail, last_ms, count)| {
            let reader = RowReader::new("security_events", &number);
            Ok(SecurityEvent {
                kind: reader.required("kind", SecurityEventKind::from_name(&event_kind))?,
                at: reader.timestamp("at_ms", last_ms)?,
                count: reader.unsigned("times", count)?,
                address: client_address,
                detail: event_detail,
            })
        })
        .collect()
}

pub(crate) fn delete_all(c: &mut SqlConnection, account: AccountId) -> Result<(), SqlError> {
    diesel::delete(security_events::table.filter(account_id.eq(account.0))).execute(c)?;
    Ok(())
}
