use diesel::{OptionalExtension, prelude::*, sql_types::BigInt};
use domain::Timestamp;
use storage::{AttemptId, SignInAttempt, SignInDecision, SignInLimits};

use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        schema::{
            sign_in_attempts, sign_in_attempts::address, sign_in_attempts::at_ms, sign_in_attempts::network,
            sign_in_attempts::pair,
        },
        statement,
        value::{RowReader, row_count},
    },
};

/// The moment until which an attempt is refused; `None` when it is allowed.
pub(super) fn locked_until(
    c: &mut SqlConnection,
    attempt: &SignInAttempt,
    at: Timestamp,
    limits: SignInLimits,
) -> Result<Option<Timestamp>, SqlError> {
    let counts = at_ms.gt(at.millis().saturating_sub(limits.window_ms)).and(at_ms.le(at.millis()));
    // With a limit of n, the lock ends when the n-th newest attempt leaves the window.
    let of_pair = sign_in_attempts::table
        .filter(pair.eq(attempt.pair.as_slice()))
        .filter(counts)
        .order(at_ms.desc())
        .offset(i64::from(limits.per_pair.saturating_sub(1)))
        .select((sign_in_attempts::id, at_ms))
        .first::<(i64, i64)>(c)
        .optional()?;
    let of_address = sign_in_attempts::table
        .filter(address.eq(attempt.address.as_slice()))
        .filter(counts)
        .order(at_ms.desc())
        .offset(i64::from(limits.per_address.saturating_sub(1)))
        .select((sign_in_attempts::id, at_ms))
        .first::<(i64, i64)>(c)
        .optional()?;
    let of_network = sign_in_attempts::table
        .filter(network.eq(attempt.network.as_slice()))
        .filter(counts)
        .order(at_ms.desc())
        .offset(i64::from(limits.per_network.saturating_sub(1)))
        .select((sign_in_attempts::id, at_ms))
        .first::<(i64, i64)>(c)
        .optional()?;
    let mut until = None;
    for (id, started_at_ms) in of_pair.into_iter().chain(of_address).chain(of_network) {
        let started_at = RowReader::new("sign_in_attempts", &id).timestamp("at_ms", started_at_ms)?;
        until = until.max(Some(started_at.plus_millis(limits.window_ms)));
    }
    Ok(until)
}

pub(super) fn begin(
    c: &mut SqlConnection,
    attempt: &SignInAttempt,
    at: Timestamp,
    limits: SignInLimits,
) -> Result<SignInDecision, SqlError> {
    if let Some(until) = locked_until(c, attempt, at, limits)? {
        return Ok(SignInDecision::LockedUntil(until));
    }
    let id = diesel::insert_into(sign_in_attempts::table)
        .values((
            pair.eq(attempt.pair.as_slice()),
            address.eq(attempt.address.as_slice()),
            network.eq(attempt.network.as_slice()),
            at_ms.eq(at.millis()),
        ))
        .returning(sign_in_attempts::id)
        .get_result(c)?;
    Ok(SignInDecision::Allowed(AttemptId(id)))
}

pub(super) fn delete(c: &mut SqlConnection, attempt: AttemptId) -> Result<(), SqlError> {
    diesel::delete(sign_in_attempts::table.find(attempt.0)).execute(c)?;
    Ok(())
}

pub(super) fn sweep(c: &mut SqlConnection, before: Timestamp, max: u32) -> Result<u64, SqlError> {
    let swept = statement(
        "DELETE FROM sign_in_attempts WHERE id IN (
            SELECT id FROM sign_in_attempts WHERE at_ms < $1 ORDER BY at_ms LIMIT $2
        )",
    )
    .bind::<BigInt, _>(before.millis())
    .bind::<BigInt, _>(i64::from(max))
    .execute(c)?;
    Ok(row_count(swept))
}
