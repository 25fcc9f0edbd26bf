use std::{thread, time::Duration};

use diesel::{
    Connection as _, ConnectionError, ConnectionResult, QueryResult, SqliteConnection,
    connection::SimpleConnection, sql_query,
};
use diesel::{RunQueryDsl, define_sql_function, result::Error};
use diesel_async::sync_connection_wrapper::{SpawnBlocking, SyncConnectionWrapper};
use domain::Position;
use futures_util::{FutureExt as _, future::BoxFuture};

pub(crate) type Connection = SyncConnectionWrapper<SqliteConnection, InPlace>;

/// Runs a connection's work where it is asked for it. An operation goes to a blocking thread as a whole, with its
/// connection, so the connection must not send each piece of it to another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InPlace;

impl SpawnBlocking for InPlace {
    fn spawn_blocking<'a, R: Send + 'static>(
        &mut self,
        task: impl FnOnce() -> R + Send + 'static,
    ) -> BoxFuture<'a, Result<R, Box<dyn std::error::Error + Send + Sync + 'static>>> {
        let done = task();
        async move { Ok(done) }.boxed()
    }

    fn get_runtime() -> Self {
        Self
    }
}

/// What a commit waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// The disk: what was committed survives a loss of power.
    #[default]
    Full,
    /// Nothing. Only for benchmarks and for tests that build big libraries.
    Off,
}

impl Durability {
    const fn pragma(self) -> &'static str {
        match self {
            Self::Full => "PRAGMA synchronous = FULL",
            Self::Off => "PRAGMA synchronous = OFF",
        }
    }
}

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Writer,
    Reader,
    /// Reads, and would rather fail than wait.
    Hasty,
}

define_sql_function! {
    /// The great-circle distance between two places in metres; null when there is none.
    fn distance_m(
        lat_a: diesel::sql_types::Nullable<diesel::sql_types::Double>,
        lon_a: diesel::sql_types::Nullable<diesel::sql_types::Double>,
        lat_b: diesel::sql_types::Nullable<diesel::sql_types::Double>,
        lon_b: diesel::sql_types::Nullable<diesel::sql_types::Double>
    ) -> diesel::sql_types::Nullable<diesel::sql_types::Double>;
}

/// Opens a connection for a pool.
pub(crate) async fn establish(
    url: String,
    role: Role,
    durability: Durability,
) -> ConnectionResult<Connection> {
    let opened = tokio::task::spawn_blocking(move || connect(&url, role, durability));
    let connection = opened.await.map_err(|error| ConnectionError::BadConnection(error.to_string()))??;
    Ok(Connection::with_runtime(connection, InPlace))
}

/// Opens one connection and makes it ready.
pub(crate) fn connect(url: &str, role: Role, durability: Durability) -> ConnectionResult<SqliteConnection> {
    let mut connection = SqliteConnection::establish(url)?;
    prepare(&mut connection, role, durability).map_err(ConnectionError::CouldntSetupConfiguration)?;
    Ok(connection)
}

fn prepare(c: &mut SqliteConnection, role: Role, durability: Durability) -> QueryResult<()> {
    // First of all, so that the next statement waits for another process instead of failing.
    c.batch_execute("PRAGMA busy_timeout = 10000")?;
    enter_wal(c)?;
    c.batch_execute(durability.pragma())?;
    c.batch_execute("PRAGMA foreign_keys = ON")?;
    c.batch_execute("PRAGMA temp_store = MEMORY")?;
    c.batch_execute("PRAGMA cache_size = -16000")?;
    c.batch_execute("PRAGMA journal_size_limit = 67108864")?;
    distance_m_utils::register_impl(c, distance)?;
    match role {
        Role::Writer => Ok(()),
        // Worth its while for scans only: after every commit a connection maps the file anew, which costs a look-up
        // more than it saves.
        Role::Reader => c.batch_execute("PRAGMA query_only = ON; PRAGMA mmap_size = 268435456"),
        Role::Hasty => c.batch_execute("PRAGMA query_only = ON; PRAGMA busy_timeout = 0"),
    }
}

/// Turning a new file to WAL needs it alone for a moment, and SQLite does not always wait for that by itself.
fn enter_wal(c: &mut SqliteConnection) -> QueryResult<()> {
    const TRIES: u32 = 100;
    for _ in 1..TRIES {
        match sql_query("PRAGMA journal_mode = WAL").execute(c) {
            Err(Error::DatabaseError(_, said)) if said.message().contains("locked") => {
                thread::sleep(Duration::from_millis(20));
            }
            outcome => return outcome.map(drop),
        }
    }
    sql_query("PRAGMA journal_mode = WAL").execute(c).map(drop)
}

fn distance(lat_a: Option<f64>, lon_a: Option<f64>, lat_b: Option<f64>, lon_b: Option<f64>) -> Option<f64> {
    let from = Position::new(lat_a?, lon_a?).ok()?;
    let to = Position::new(lat_b?, lon_b?).ok()?;
    Some(from.distance_m(to))
}
