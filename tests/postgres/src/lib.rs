//! Databases for tests, on the Postgres server that the developer tool starts for them.
//!
//! Each test has a database of its own, a copy of one that was migrated once.
#![expect(clippy::disallowed_methods, reason = "the developer tool configures tests by variables")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::{env, fs, path::Path, thread};

use ring::digest::{Context, SHA256};
use tokio_postgres::{Client, NoTls, SimpleQueryMessage};

/// The variable with the URL of the server, without a database: `postgres://postgres@127.0.0.1:54321`.
pub const SERVER: &str = "PHOTOS_TEST_POSTGRES";

/// The variable with the URL of a `PgBouncer` before that server, in transaction mode. If it is set, stores connect through it.
pub const POOLER: &str = "PHOTOS_TEST_PGBOUNCER";

/// A database that is deleted when this value is dropped.
#[derive(Debug)]
pub struct TestDatabase {
    name: String,
}

fn server() -> String {
    env::var(SERVER).unwrap_or_else(|_| {
        panic!(
            "{SERVER} is not set: these tests need a Postgres server. `cargo xtask test` starts one; \
             `cargo xtask postgres` starts one for single tests and prints the variable"
        )
    })
}

fn url_of(name: &str) -> String {
    format!("{}/{name}", server())
}

async fn connect(database: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(&url_of(database), NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// The strategy that copies a template file by file. Postgres 14 has no other. The default of later versions also writes each page
/// to the write-ahead log.
async fn strategy(client: &Client) -> &'static str {
    let version = "SELECT current_setting('server_version_num')::int";
    let version: i32 = client.query_one(version, &[]).await.unwrap().get(0);
    if version >= 150_000 { "STRATEGY FILE_COPY" } else { "" }
}

/// The name of the template, which changes with the migrations.
fn template_name() -> String {
    let migrations = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations/postgres");
    let mut folders: Vec<_> = fs::read_dir(migrations).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    let mut digest = Context::new(&SHA256);
    for folder in folders {
        digest.update(folder.file_name().unwrap().as_encoded_bytes());
        digest.update(&fs::read(folder.join("up.sql")).unwrap());
    }
    let digest = digest.finish();
    let hex: String = digest.as_ref().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("template_{hex}")
}

/// A new name of a database. Its prefix differs from that of API keys, because tests search the log for API keys.
fn new_name() -> String {
    format!("test_{:016x}", fastrand::u64(..))
}

impl TestDatabase {
    pub async fn empty() -> Self {
        let name = new_name();
        connect("postgres").await.batch_execute(&format!("CREATE DATABASE {name}")).await.unwrap();
        Self { name }
    }

    /// A copy of a migrated template database. `migrate` gets the URL of the template. It is called once for all tests on a server.
    pub async fn migrated(migrate: impl AsyncFnOnce(String)) -> Self {
        let (name, template) = (new_name(), template_name());
        let client = connect("postgres").await;
        // Only one test of all processes copies the template at a time: a database with open connections cannot be copied.
        client.batch_execute("SELECT pg_advisory_lock(1)").await.unwrap();
        let known = client
            .query_opt("SELECT 1 FROM pg_database WHERE datname = $1 AND datistemplate", &[&template])
            .await
            .unwrap();
        if known.is_none() {
            client.batch_execute(&format!("DROP DATABASE IF EXISTS {template}")).await.unwrap();
            client.batch_execute(&format!("CREATE DATABASE {template}")).await.unwrap();
            migrate(url_of(&template)).await;
            let end_connections = format!(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{template}';
                ALTER DATABASE {template} IS_TEMPLATE true"
            );
            client.batch_execute(&end_connections).await.unwrap();
        }
        client
            .batch_execute(&format!("CREATE DATABASE {name} TEMPLATE {template} {}", strategy(&client).await))
            .await
            .unwrap();
        Self { name }
    }

    /// The URL of the database for a store, through the pooler if there is one.
    pub fn url(&self) -> String {
        match env::var(POOLER) {
            // The pooler gives each transaction another connection, and does not support prepared statements.
            Ok(pooler) => format!("{pooler}/{}?statement_cache=off", self.name),
            Err(_) => url_of(&self.name),
        }
    }

    /// The URL of the database itself, not through a pooler.
    pub fn direct_url(&self) -> String {
        url_of(&self.name)
    }

    /// Connects to the database itself, not through a pooler.
    pub async fn connect(&self) -> Client {
        connect(&self.name).await
    }

    /// All rows of all tables as text. Tests search it for secrets that must not be stored.
    pub async fn text(&self) -> String {
        let client = self.connect().await;
        let tables = "SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = 'public'";
        let mut text = String::new();
        for table in client.query(tables, &[]).await.unwrap() {
            let table: &str = table.get(0);
            // The other format shows bytes as hexadecimal digits.
            let rows = format!("SET bytea_output = 'escape'; SELECT t::text FROM {table} t");
            for message in client.simple_query(&rows).await.unwrap() {
                if let SimpleQueryMessage::Row(row) = message {
                    text.push_str(row.get(0).unwrap_or_default());
                    text.push('\n');
                }
            }
        }
        text
    }
}

/// A session that stays open until this value is dropped.
#[derive(Debug)]
pub struct Session {
    _client: Client,
}

impl TestDatabase {
    /// Runs statements in the database, as its administrator.
    pub async fn administer(&self, statements: &str) {
        connect(&self.name).await.batch_execute(statements).await.unwrap();
    }

    /// Runs statements in the database and keeps the session, for example with the locks that it took.
    pub async fn hold(&self, statements: &str) -> Session {
        let client = connect(&self.name).await;
        client.batch_execute(statements).await.unwrap();
        Session { _client: client }
    }

    /// Ends all other sessions of the database.
    pub async fn end_sessions(&self) {
        let end =
            format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{}'", self.name);
        connect("postgres").await.batch_execute(&end).await.unwrap();
    }

    /// Makes the database accept or refuse connections. Refusing also ends open connections.
    pub async fn accept_connections(&self, accepted: bool) {
        let change = format!("ALTER DATABASE {} ALLOW_CONNECTIONS {accepted}", self.name);
        connect("postgres").await.batch_execute(&change).await.unwrap();
        if !accepted {
            self.end_sessions().await;
        }
    }

    /// Makes new sessions read-only, as after a failover, or writable again. Ends open sessions.
    pub async fn set_read_only(&self, is_read_only: bool) {
        let change =
            format!("ALTER DATABASE {} SET default_transaction_read_only = {is_read_only}", self.name);
        connect("postgres").await.batch_execute(&change).await.unwrap();
        self.end_sessions().await;
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        let name = self.name.clone();
        // In another thread, because the runtime of the test may have only this thread.
        let deleting = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let client = connect("postgres").await;
                client.batch_execute(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await.unwrap();
            });
        });
        // The test does not fail if the server has stopped already.
        let _ = deleting.join();
    }
}
