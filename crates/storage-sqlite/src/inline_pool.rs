use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex},
    thread,
};

use diesel::{ConnectionResult, SqliteConnection};
use storage::StorageError;

use crate::sql::SqlError;

/// Upper bound on the connections, for machines with many processors.
const MAX_CONNECTIONS: usize = 8;

/// Connections for single-row look-ups on the calling async thread.
///
/// Switching to a blocking thread takes several times as long as such a look-up. An operation here never waits: when no
/// connection is free or the file is locked, the caller switches to a blocking thread.
#[derive(Clone)]
pub(crate) struct InlinePool {
    /// `None` is a connection that was lost to a panic.
    connections: Arc<[Mutex<Option<SqliteConnection>>]>,
}

impl InlinePool {
    /// Opens one connection per processor. `connect` must return connections that fail at once on a locked file.
    pub(crate) fn open(
        connect: impl Fn() -> ConnectionResult<SqliteConnection>,
    ) -> Result<Self, StorageError> {
        let count = thread::available_parallelism().map_or(1, usize::from).min(MAX_CONNECTIONS);
        let connections: ConnectionResult<Vec<_>> =
            (0..count).map(|_| Ok(Mutex::new(Some(connect()?)))).collect();
        match connections {
            Ok(connections) => Ok(Self { connections: connections.into() }),
            Err(error) => Err(StorageError::Unavailable(error.to_string())),
        }
    }

    /// Runs an operation; `None` when no connection is free, the file is locked, or the operation panics.
    pub(crate) fn try_run<T>(
        &self,
        operation: impl Fn(&mut SqliteConnection) -> Result<T, SqlError>,
    ) -> Option<Result<T, StorageError>> {
        let mut slot = self
            .connections
            .iter()
            .filter_map(|slot| slot.try_lock().ok())
            .find(|connection| connection.is_some())?;
        let mut connection = slot.take()?;
        let outcome = catch_unwind(AssertUnwindSafe(|| operation(&mut connection))).ok()?;
        *slot = Some(connection);
        match outcome.map_err(StorageError::from) {
            Err(StorageError::Unavailable(_)) => None,
            outcome => Some(outcome),
        }
    }
}

#[cfg(test)]
mod tests {
    use diesel::{Connection as _, RunQueryDsl as _, dsl::sql, select, sql_types::BigInt};

    use super::*;

    fn pool() -> InlinePool {
        InlinePool::open(|| SqliteConnection::establish(":memory:")).unwrap()
    }

    fn select_one(pool: &InlinePool) -> Option<i64> {
        pool.try_run(|c| Ok(select(sql::<BigInt>("1")).get_result(c)?)).map(Result::unwrap)
    }

    #[test]
    fn operations_run_while_a_connection_is_free() {
        fn nested(pool: &InlinePool, depth: usize) {
            assert_eq!(select_one(pool), (depth > 0).then_some(1));
            if depth > 0 {
                let inner = pool.try_run(|_| {
                    nested(pool, depth - 1);
                    Ok(())
                });
                assert!(inner.unwrap().is_ok());
            }
        }
        let pool = pool();
        nested(&pool, pool.connections.len());
        assert_eq!(select_one(&pool), Some(1));
    }

    #[test]
    fn transient_errors_and_panics_return_none() {
        let pool = pool();
        assert!(pool.try_run(|_| Err::<(), _>(SqlError::Unavailable("locked".to_owned()))).is_none());
        let refused = pool.try_run(|_| Err::<(), _>(SqlError::Refused("a defect".to_owned())));
        assert!(matches!(refused, Some(Err(StorageError::Refused(_)))));
        for left in (0..pool.connections.len()).rev() {
            assert_eq!(select_one(&pool), Some(1));
            assert!(pool.try_run::<()>(|_| panic!("a test of panics, {left} left")).is_none());
        }
        assert_eq!(select_one(&pool), None);
    }
}
