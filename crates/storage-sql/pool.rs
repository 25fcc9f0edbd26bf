use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use diesel::{
    ConnectionResult,
    connection::{Connection, TransactionManager},
};
use storage::StorageError;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    task::spawn_blocking,
    time::timeout,
};

use super::SqlError;
use crate::SqlConnection;

/// How long an operation waits for a connection or for its turn to write.
pub(crate) const WAIT_TIMEOUT: Duration = Duration::from_secs(30);

/// Opens a connection.
pub(crate) type Connect = dyn Fn() -> ConnectionResult<SqlConnection> + Send + Sync;

/// A pool of connections for operations on tokio's blocking threads. Connections are opened on first use.
#[derive(Clone)]
pub(crate) struct Pool {
    /// One permit for each connection that may be in use.
    permits: Arc<Semaphore>,
    connections: Arc<IdleConnections>,
}

impl Pool {
    pub(crate) fn new(
        max_connections: usize,
        connect: impl Fn() -> ConnectionResult<SqlConnection> + Send + Sync + 'static,
    ) -> Self {
        Self {
            permits: Arc::new(Semaphore::new(max_connections.max(1))),
            connections: Arc::new(IdleConnections { idle: Mutex::default(), connect: Box::new(connect) }),
        }
    }

    /// Waits until a connection may be used.
    pub(crate) async fn permit(&self) -> Result<OwnedSemaphorePermit, StorageError> {
        match timeout(WAIT_TIMEOUT, self.permits.clone().acquire_owned()).await {
            Ok(Ok(permit)) => Ok(permit),
            Ok(Err(closed)) => Err(StorageError::Unavailable(closed.to_string())),
            Err(_) => Err(StorageError::Unavailable("all connections are in use".to_owned())),
        }
    }

    /// Runs an operation on this thread, which may block.
    pub(crate) fn run_here<T>(
        &self,
        permit: OwnedSemaphorePermit,
        operation: impl FnOnce(&mut SqlConnection) -> Result<T, SqlError>,
    ) -> Result<T, SqlError> {
        let _permit = permit;
        self.connections.run(operation)
    }

    /// Runs an operation on a blocking thread.
    ///
    /// The thread owns connection and permit: a caller that is cancelled cannot return a connection to the pool while
    /// its operation is running.
    pub(crate) async fn run<T, F>(&self, operation: F) -> Result<T, StorageError>
    where
        T: Send + 'static,
        F: FnOnce(&mut SqlConnection) -> Result<T, SqlError> + Send + 'static,
    {
        let permit = self.permit().await?;
        let pool = self.clone();
        let running = spawn_blocking(move || pool.run_here(permit, operation));
        match running.await {
            Ok(outcome) => outcome.map_err(StorageError::from),
            Err(error) if error.is_panic() => Err(StorageError::Refused("an operation panicked".to_owned())),
            Err(error) => Err(StorageError::Unavailable(error.to_string())),
        }
    }
}

struct IdleConnections {
    idle: Mutex<Vec<SqlConnection>>,
    connect: Box<Connect>,
}

impl IdleConnections {
    /// Runs an operation on an idle or a new connection. A connection whose operation panics or leaves a transaction
    /// open is closed.
    fn run<T>(
        &self,
        operation: impl FnOnce(&mut SqlConnection) -> Result<T, SqlError>,
    ) -> Result<T, SqlError> {
        let mut c = match self.pop() {
            Some(connection) => connection,
            None => (self.connect)().map_err(|error| SqlError::Unavailable(error.to_string()))?,
        };
        let outcome = operation(&mut c);
        if !<SqlConnection as Connection>::TransactionManager::is_broken_transaction_manager(&mut c) {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(c);
        }
        outcome
    }

    fn pop(&self) -> Option<SqlConnection> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }
}
