use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex},
    thread,
};

use diesel::{ConnectionResult, SqliteConnection};
use storage::StorageError;

use crate::error::Failure;

/// The most connections, however many threads there are.
const MOST: usize = 8;

/// Connections for look-ups on the thread that asks for them.
///
/// To hand a look-up to another thread takes several times as long as the look-up does, and some are what every request
/// begins with. They find one row by its key, and wait for nobody: when no connection is free or something is in the
/// way, the caller takes the long way instead.
#[derive(Clone)]
pub(crate) struct Here {
    /// An empty one is a connection that was lost.
    connections: Arc<[Mutex<Option<SqliteConnection>>]>,
}

impl Here {
    /// Opens as many connections as there are threads; each must fail at once when the file is locked.
    pub(crate) fn open(
        connect: impl Fn() -> ConnectionResult<SqliteConnection>,
    ) -> Result<Self, StorageError> {
        let count = thread::available_parallelism().map_or(1, usize::from).min(MOST);
        let connections: ConnectionResult<Vec<_>> =
            (0..count).map(|_| Ok(Mutex::new(Some(connect()?)))).collect();
        match connections {
            Ok(connections) => Ok(Self { connections: connections.into() }),
            Err(error) => Err(StorageError::Unavailable(error.to_string())),
        }
    }

    /// What a look-up finds; `None` when it could not be made here and now.
    pub(crate) fn look_up<T>(
        &self,
        operation: impl Fn(&mut SqliteConnection) -> Result<T, Failure>,
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

    fn here() -> Here {
        Here::open(|| SqliteConnection::establish(":memory:")).unwrap()
    }

    fn one(here: &Here) -> Option<i64> {
        here.look_up(|c| Ok(select(sql::<BigInt>("1")).get_result(c)?)).map(Result::unwrap)
    }

    #[test]
    fn it_answers_until_no_connection_is_free() {
        fn inside(here: &Here, depth: usize) {
            assert_eq!(one(here), (depth > 0).then_some(1));
            if depth > 0 {
                let deeper = here.look_up(|_| {
                    inside(here, depth - 1);
                    Ok(())
                });
                assert!(deeper.unwrap().is_ok());
            }
        }
        let here = here();
        inside(&here, here.connections.len());
        assert_eq!(one(&here), Some(1));
    }

    #[test]
    fn what_may_pass_or_panics_is_left_to_the_long_way() {
        let here = here();
        assert!(here.look_up(|_| Err::<(), _>(Failure::Unavailable("locked".to_owned()))).is_none());
        let refused = here.look_up(|_| Err::<(), _>(Failure::Refused("a defect".to_owned())));
        assert!(matches!(refused, Some(Err(StorageError::Refused(_)))));
        for left in (0..here.connections.len()).rev() {
            assert_eq!(one(&here), Some(1));
            assert!(here.look_up::<()>(|_| panic!("a test of panics, {left} left")).is_none());
        }
        assert_eq!(one(&here), None);
    }
}
