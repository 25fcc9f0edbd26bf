use std::sync::{Arc, Mutex, PoisonError};

use diesel::{
    ConnectionResult, SqliteConnection,
    connection::{AnsiTransactionManager, TransactionManager},
};
use storage::StorageError;
use tokio::{sync::Semaphore, task::spawn_blocking, time::timeout};

use crate::{
    connection::{Connect, WAIT_TIMEOUT},
    error::SqlError,
};

/// A pool of connections for operations on tokio's blocking threads. Connections are opened on first use.
#[derive(Clone)]
pub(crate) struct ReadPool {
    /// One permit for each connection that may be in use.
    permits: Arc<Semaphore>,
    connections: Arc<IdleConnections>,
}

impl ReadPool {
    pub(crate) fn new(
        max_connections: usize,
        connect: impl Fn() -> ConnectionResult<SqliteConnection> + Send + Sync + 'static,
    ) -> Self {
        Self {
            permits: Arc::new(Semaphore::new(max_connections.max(1))),
            connections: Arc::new(IdleConnections { idle: Mutex::default(), connect: Box::new(connect) }),
        }
    }

    /// Runs an operation on a blocking thread.
    ///
    /// The thread owns connection and permit: a caller that is cancelled cannot return a connection to the pool while
    /// its operation is running.
    pub(crate) async fn run<T, F>(&self, operation: F) -> Result<T, StorageError>
    where
        T: Send + 'static,
        F: FnOnce(&mut SqliteConnection) -> Result<T, SqlError> + Send + 'static,
    {
        let permit = match timeout(WAIT_TIMEOUT, self.permits.clone().acquire_owned()).await {
            Ok(Ok(permit)) => permit,
            Ok(Err(closed)) => return Err(StorageError::Unavailable(closed.to_string())),
            Err(_) => return Err(StorageError::Unavailable("all connections are in use".to_owned())),
        };
        let connections = Arc::clone(&self.connections);
        let running = spawn_blocking(move || {
            let _permit = permit;
            connections.run(operation)
        });
        match running.await {
            Ok(outcome) => outcome.map_err(StorageError::from),
            Err(error) if error.is_panic() => Err(StorageError::Refused("an operation panicked".to_owned())),
            Err(error) => Err(StorageError::Unavailable(error.to_string())),
        }
    }
}

struct IdleConnections {
    idle: Mutex<Vec<SqliteConnection>>,
    connect: Box<Connect>,
}

impl IdleConnections {
    /// Runs an operation on an idle or a new connection. A connection whose operation panics or leaves a transaction
    /// open is closed.
    fn run<T>(
        &self,
        operation: impl FnOnce(&mut SqliteConnection) -> Result<T, SqlError>,
    ) -> Result<T, SqlError> {
        let mut c = match self.pop() {
            Some(connection) => connection,
            None => (self.connect)().map_err(|error| SqlError::Unavailable(error.to_string()))?,
        };
        let outcome = operation(&mut c);
        if !AnsiTransactionManager::is_broken_transaction_manager(&mut c) {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(c);
        }
        outcome
    }

    fn pop(&self) -> Option<SqliteConnection> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc,
    };

    use diesel::{Connection as _, connection::SimpleConnection as _};

    use super::*;

    /// A pool of in-memory databases, with the number of connections that it opened.
    fn pool(max_connections: usize) -> (ReadPool, Arc<AtomicUsize>) {
        let opened = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&opened);
        let pool = ReadPool::new(max_connections, move || {
            count.fetch_add(1, Ordering::SeqCst);
            SqliteConnection::establish(":memory:")
        });
        (pool, opened)
    }

    #[tokio::test]
    async fn connections_are_reused() {
        let (pool, opened) = pool(2);
        for number in 0..5 {
            assert_eq!(pool.run(move |_| Ok(number)).await.unwrap(), number);
        }
        assert_eq!(opened.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn concurrent_operations_share_the_allowed_connections() {
        let (pool, opened) = pool(2);
        let (release, released) = mpsc::channel::<()>();
        let released = Arc::new(Mutex::new(released));
        let running: Vec<_> = (0..6)
            .map(|_| {
                let (pool, released) = (pool.clone(), Arc::clone(&released));
                tokio::spawn(async move {
                    pool.run(move |_| {
                        released.lock().unwrap().recv().unwrap();
                        Ok(())
                    })
                    .await
                })
            })
            .collect();
        for _ in 0..6 {
            release.send(()).unwrap();
        }
        for task in running {
            task.await.unwrap().unwrap();
        }
        assert!(opened.load(Ordering::SeqCst) <= 2);
    }

    #[tokio::test]
    async fn a_failed_operation_keeps_its_connection() {
        let (pool, opened) = pool(1);
        let refused = pool.run(|_| Err::<(), _>(SqlError::Refused("no".to_owned()))).await;
        assert!(matches!(refused, Err(StorageError::Refused(_))));
        pool.run(|_| Ok(())).await.unwrap();
        assert_eq!(opened.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn a_connection_is_closed_after_a_panic_or_an_open_transaction() {
        let (pool, opened) = pool(1);
        let panicked = pool.run::<(), _>(|_| panic!("a test of panics")).await;
        assert!(matches!(panicked, Err(StorageError::Refused(_))));
        pool.run(|c| Ok(AnsiTransactionManager::begin_transaction(c)?)).await.unwrap();
        pool.run(|c| Ok(c.batch_execute("BEGIN; COMMIT")?)).await.unwrap();
        assert_eq!(opened.load(Ordering::SeqCst), 3);
    }

    #[tokio::test]
    async fn a_failed_connection_is_unavailable_and_returns_its_permit() {
        let pool = ReadPool::new(1, || SqliteConnection::establish("/nowhere/library.sqlite"));
        for _ in 0..2 {
            let outcome = pool.run(|_| Ok(())).await;
            assert!(matches!(outcome, Err(StorageError::Unavailable(_))), "{outcome:?}");
        }
    }
}
