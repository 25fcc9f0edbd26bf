use std::{thread, time::Duration};

use diesel::{
    Connection as _, ConnectionError, ConnectionResult, QueryResult, RunQueryDsl, SqliteConnection,
    connection::SimpleConnection,
    define_sql_function,
    result::Error,
    sql_query,
    sql_types::{Double, Nullable},
};
use domain::Position;

/// When a commit returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// After the data is on disk: a commit survives a power failure.
    #[default]
    Full,
    /// Without waiting for the disk. Only for benchmarks, and for tests that build large libraries.
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

/// What a connection is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConnectionRole {
    Writer,
    Reader,
    /// A reader on an async thread: it fails instead of waiting for a lock.
    InlineReader,
}

define_sql_function! {
    /// The great-circle distance between two positions in metres; null when one is missing.
    fn distance_m(
        lat_a: Nullable<Double>, lon_a: Nullable<Double>, lat_b: Nullable<Double>, lon_b: Nullable<Double>
    ) -> Nullable<Double>;
}

/// Opens and configures a connection.
pub(crate) fn connect(
    url: &str,
    role: ConnectionRole,
    durability: Durability,
) -> ConnectionResult<SqliteConnection> {
    let mut connection = SqliteConnection::establish(url)?;
    configure(&mut connection, role, durability).map_err(ConnectionError::CouldntSetupConfiguration)?;
    Ok(connection)
}

fn configure(c: &mut SqliteConnection, role: ConnectionRole, durability: Durability) -> QueryResult<()> {
    // First, so that the next statement waits for a lock of another process instead of failing.
    c.batch_execute("PRAGMA busy_timeout = 10000")?;
    enter_wal(c)?;
    c.batch_execute(durability.pragma())?;
    c.batch_execute("PRAGMA foreign_keys = ON")?;
    c.batch_execute("PRAGMA temp_store = MEMORY")?;
    c.batch_execute("PRAGMA cache_size = -16000")?;
    c.batch_execute("PRAGMA journal_size_limit = 67108864")?;
    distance_m_utils::register_impl(c, distance)?;
    match role {
        ConnectionRole::Writer => Ok(()),
        // mmap pays off for scans only: a connection maps the file again after every commit, which costs a look-up
        // more than it saves. 2 GB is SQLite's maximum. What is mapped is the system's cache of the file, and not memory of its own.
        ConnectionRole::Reader => c.batch_execute("PRAGMA query_only = ON; PRAGMA mmap_size = 2147418112"),
        ConnectionRole::InlineReader => c.batch_execute("PRAGMA query_only = ON; PRAGMA busy_timeout = 0"),
    }
}

/// Switches the file to WAL. That takes an exclusive lock, and `busy_timeout` does not always wait for it: so retry.
fn enter_wal(c: &mut SqliteConnection) -> QueryResult<()> {
    const MAX_ATTEMPTS: u32 = 100;
    for _ in 1..MAX_ATTEMPTS {
        match sql_query("PRAGMA journal_mode = WAL").execute(c) {
            Err(Error::DatabaseError(_, information)) if information.message().contains("locked") => {
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
