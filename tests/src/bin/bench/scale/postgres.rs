use std::{fs, time::Duration};

use ::tests::black_box::AnyError;
use storage::{SchemaStore as _, SharedStore};
use storage_postgres::{PostgresOptions, PostgresStore, PostgresUrl};
use tokio_postgres::NoTls;

/// A Postgres server.
pub(super) struct Server {
    url: String,
}

impl Server {
    pub(super) fn new(url: &str) -> Result<Self, AnyError> {
        Ok(Self { url: url.trim_end_matches('/').to_owned() })
    }

    /// The URL of a database.
    pub(super) fn url_of(&self, name: &str) -> String {
        format!("{}/{name}", self.url)
    }

    async fn client(&self) -> Result<tokio_postgres::Client, AnyError> {
        let (client, connection) = tokio_postgres::connect(&format!("{}/postgres", self.url), NoTls).await?;
        tokio::spawn(connection);
        Ok(client)
    }

    /// A database with the rows of another store, and whether this call filled it.
    pub(super) async fn library(
        &self,
        name: &str,
        from: &SharedStore,
        reuse: bool,
    ) -> Result<(SharedStore, bool), AnyError> {
        let client = self.client().await?;
        let known =
            client.query_opt("SELECT 1 FROM pg_database WHERE datname = $1", &[&name]).await?.is_some();
        let url = PostgresUrl::parse(&self.url_of(name))?;
        if !(known && reuse) {
            client.batch_execute(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await?;
            client.batch_execute(&format!("CREATE DATABASE {name}")).await?;
        }
        let store = PostgresStore::open(url, PostgresOptions::default()).await?;
        store.migrate().await?;
        let store: SharedStore = std::sync::Arc::new(store);
        if known && reuse {
            return Ok((store, false));
        }
        super::twins::copy(from, &store).await?;
        let (client, connection) = tokio_postgres::connect(&self.url_of(name), NoTls).await?;
        tokio::spawn(connection);
        client.batch_execute("VACUUM ANALYZE").await?;
        Ok((store, true))
    }

    pub(super) async fn database_bytes(&self, name: &str) -> Result<i64, AnyError> {
        Ok(self
            .client()
            .await?
            .query_one("SELECT pg_database_size($1::text::name)", &[&name])
            .await?
            .try_get(0)?)
    }

    pub(super) async fn delete(&self, name: &str) -> Result<(), AnyError> {
        Ok(self
            .client()
            .await?
            .batch_execute(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"))
            .await?)
    }
}

/// The processor time of this process and of all Postgres processes of this machine.
pub(super) fn processor_time() -> Duration {
    let own = std::process::id().to_string();
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ticks: u64 = processes
        .filter_map(|entry| {
            let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
            let (before, after) = stat.rsplit_once(')')?;
            let is_counted = before.ends_with("(postgres") || before.starts_with(&format!("{own} "));
            let mut fields = after.split_whitespace().skip(11);
            let (user, system) = (fields.next()?, fields.next()?);
            is_counted
                .then(|| user.parse::<u64>().ok().zip(system.parse::<u64>().ok()).map(|(a, b)| a + b))?
        })
        .sum();
    // A tick is a hundredth of a second on Linux.
    Duration::from_millis(ticks * 10)
}
