use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
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

use super::{
    SqlError,
    operation::{Operation, Outcome, Output},
};
use crate::SqlConnection;

#[derive(Debug, Clone, Copy)]
pub(crate) struct PoolLimits {
    /// Maximum number of connections; at least 1.
    pub(crate) connections: usize,
    /// How long an operation waits for a connection.
    pub(crate) wait: Duration,
    /// Maximum age of a connection. An older one is closed after its operation.
    pub(crate) age: Duration,
    /// How long an unused connection stays open.
    pub(crate) idle: Duration,
}

/// Opens a connection.
pub(crate) type Connect = dyn Fn() -> ConnectionResult<SqlConnection> + Send + Sync;

/// A pool of connections for operations on tokio's blocking threads. Connections are opened on first use.
#[derive(Clone)]
pub(crate) struct Pool {
    /// One permit for each connection that may be in use.
    permits: Arc<Semaphore>,
    limits: PoolLimits,
    connections: Arc<IdleConnections>,
}

impl Pool {
    pub(crate) fn new(
        limits: PoolLimits,
        connect: impl Fn() -> ConnectionResult<SqlConnection> + Send + Sync + 'static,
    ) -> Self {
        Self {
            permits: Arc::new(Semaphore::new(limits.connections.max(1))),
            limits,
            connections: Arc::new(IdleConnections { idle: Mutex::default(), connect: Box::new(connect) }),
        }
    }

    /// Waits until a connection may be used.
    pub(crate) async fn permit(&self) -> Result<OwnedSemaphorePermit, StorageError> {
        match timeout(self.limits.wait, self.permits.clone().acquire_owned()).await {
            Ok(Ok(permit)) => Ok(permit),
            Ok(Err(closed)) => Err(StorageError::Unavailable(closed.to_string())),
            Err(_) => Err(StorageError::Unavailable("all connections are in use".to_owned())),
        }
    }

    /// Runs an operation on this thread, which may block.
    pub(crate) fn run_here(
        &self,
        permit: OwnedSemaphorePermit,
        operation: impl FnOnce(&mut SqlConnection) -> Outcome,
    ) -> Outcome {
        let _permit = permit;
        self.connections.run(self.limits, operation)
    }

    /// Runs an operation on a blocking thread.
    ///
    /// The thread owns connection and permit: a caller that is cancelled cannot return a connection to the pool while
    /// its operation is running.
    pub(crate) async fn run(&self, operation: Operation) -> Result<Output, StorageError> {
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
    /// The most recently used connection is the last.
    idle: Mutex<Vec<Pooled>>,
    connect: Box<Connect>,
}

struct Pooled {
    connection: SqlConnection,
    opened: Instant,
    used: Instant,
}

impl IdleConnections {
    /// Runs an operation on an idle or a new connection. A connection whose operation panics or leaves a transaction
    /// open is closed.
    fn run(&self, limits: PoolLimits, operation: impl FnOnce(&mut SqlConnection) -> Outcome) -> Outcome {
        let mut pooled = match self.pop() {
            Some(pooled) => pooled,
            None => {
                let connection =
                    (self.connect)().map_err(|error| SqlError::Unavailable(error.to_string()))?;
                let now = Instant::now();
                Pooled { connection, opened: now, used: now }
            }
        };
        let outcome = operation(&mut pooled.connection);
        pooled.used = Instant::now();
        let is_broken = <SqlConnection as Connection>::TransactionManager::is_broken_transaction_manager(
            &mut pooled.connection,
        );
        if !is_broken && pooled.used.duration_since(pooled.opened) < limits.age {
            drop(self.push(pooled, limits.idle));
        }
        outcome
    }

    fn pop(&self) -> Option<Pooled> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    /// Adds a connection. Returns the connections that were unused for too long; the caller closes them.
    fn push(&self, pooled: Pooled, max_idle: Duration) -> Vec<Pooled> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh =
            idle.partition_point(|other| pooled.used.saturating_duration_since(other.used) >= max_idle);
        let closed = idle.drain(..fresh).collect();
        idle.push(pooled);
        closed
    }
}
