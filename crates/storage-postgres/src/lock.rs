//! Locks as advisory locks of a transaction, which also work through a transaction pooler.

use diesel::{QueryableByName, prelude::*, sql_query, sql_types::Bool};

use crate::{Lock, SqlConnection, sql::SqlError};

/// The upper half of all keys of this service, so that other programs in the same database use other keys.
const NAMESPACE: i64 = 0x5048_4F54 << 32;

/// The first key of the locks of topics, such as the registration of clients. It is above all account ids.
const FIRST_TOPIC: i64 = 0xFFFF_FF00;

/// Takes a lock until the end of the transaction.
pub(crate) fn take(c: &mut SqlConnection, lock: Lock) -> Result<(), SqlError> {
    if let Some(statement) = statement(lock) {
        sql_query(statement).execute(c)?;
    }
    Ok(())
}

/// The statement that takes a lock; `None` for `Lock::Nothing`.
pub(crate) fn statement(lock: Lock) -> Option<String> {
    let (function, key) = match lock {
        Lock::Nothing => return None,
        Lock::Everything => ("pg_advisory_xact_lock", key(FIRST_TOPIC)),
        Lock::Account(account) => ("pg_advisory_xact_lock", key(account)),
        Lock::Setup => ("pg_advisory_xact_lock", key(FIRST_TOPIC + 1)),
        Lock::Clients => ("pg_advisory_xact_lock", key(FIRST_TOPIC + 2)),
        Lock::SigningKeys => ("pg_advisory_xact_lock", key(FIRST_TOPIC + 3)),
        Lock::Stages => ("pg_advisory_xact_lock", key(FIRST_TOPIC + 4)),
        Lock::SharedStages => ("pg_advisory_xact_lock_shared", key(FIRST_TOPIC + 4)),
        Lock::Words => ("pg_advisory_xact_lock", key(FIRST_TOPIC + 5)),
        Lock::SharedWords => ("pg_advisory_xact_lock_shared", key(FIRST_TOPIC + 5)),
        Lock::SignIn(network) => ("pg_advisory_xact_lock", of_network(&network)),
    };
    Some(format!("SELECT {function}({key})"))
}

/// The statement of the shared lock that every write takes, except one with `Lock::Everything`.
pub(crate) fn shared_by_all() -> String {
    format!("SELECT pg_advisory_xact_lock_shared({})", key(FIRST_TOPIC))
}

#[derive(QueryableByName)]
struct Taken {
    #[diesel(sql_type = Bool)]
    value: bool,
}

/// Takes the lock of migrations until the end of the transaction, if it is free.
pub(crate) fn try_migrations(c: &mut SqlConnection) -> Result<bool, SqlError> {
    let statement = format!("SELECT pg_try_advisory_xact_lock({}) AS value", key(FIRST_TOPIC + 6));
    Ok(sql_query(statement).get_result::<Taken>(c)?.value)
}

const fn key(number: i64) -> i64 {
    NAMESPACE | (number & 0xFFFF_FFFF)
}

/// Networks with the same key only wait for each other. Keys of networks are negative, all others are positive.
fn of_network(network: &[u8; 32]) -> i64 {
    let [a, b, c, d, e, f, g, h, ..] = *network;
    i64::from_be_bytes([a, b, c, d, e, f, g, h]) | i64::MIN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lock_has_a_key_of_its_own() {
        let locks = [
            Lock::Everything,
            Lock::Account(1),
            Lock::Account(2),
            Lock::Setup,
            Lock::Clients,
            Lock::SigningKeys,
            Lock::Stages,
            Lock::SharedStages,
            Lock::Words,
            Lock::SharedWords,
            Lock::SignIn([1; 32]),
            Lock::SignIn([2; 32]),
        ];
        let mut statements: Vec<_> = locks.into_iter().filter_map(statement).collect();
        assert_eq!(statements.len(), locks.len());
        statements.sort();
        statements.dedup();
        assert_eq!(statements.len(), locks.len());
        assert_eq!(statement(Lock::Nothing), None);
    }
}
