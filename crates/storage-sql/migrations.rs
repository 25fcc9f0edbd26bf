use async_trait::async_trait;
use diesel::{
    OptionalExtension, QueryDsl, QueryableByName, RunQueryDsl,
    migration::{Migration, MigrationSource},
    sql_query,
};
use diesel_migrations::MigrationHarness;
use storage::{SchemaStore, StorageError};

use super::SqlError;
use crate::{
    Backend, SqlConnection, SqlStore, classify,
    schema::{FIND_MIGRATIONS_TABLE, MIGRATIONS},
};

diesel::table! {
    __diesel_schema_migrations (version) {
        version -> Text,
    }
}

#[async_trait]
impl SchemaStore for SqlStore {
    fn known_migrations(&self) -> Result<Vec<String>, StorageError> {
        Ok(embedded()?.into_iter().map(|known| known.name).collect())
    }

    async fn pending_migrations(&self) -> Result<Vec<String>, StorageError> {
        self.read(|c| {
            let applied = applied_versions(c)?;
            Ok(embedded()?
                .into_iter()
                .filter(|known| !applied.contains(&known.version))
                .map(|m| m.name)
                .collect())
        })
        .await
    }

    async fn newer_migrations(&self) -> Result<Vec<String>, StorageError> {
        self.read(|c| {
            let known = embedded()?;
            let mut newer = applied_versions(c)?;
            newer.retain(|version| known.iter().all(|migration| migration.version != *version));
            newer.sort_unstable();
            Ok(newer)
        })
        .await
    }

    async fn migrate(&self) -> Result<Vec<String>, StorageError> {
        // One transaction for all of them: a concurrent process waits, then finds nothing to do.
        self.write_alone(|c| {
            let known = embedded()?;
            let applied = c.run_pending_migrations(MIGRATIONS).map_err(migration_error)?;
            Ok(known
                .into_iter()
                .filter(|known| applied.iter().any(|version| version.to_string() == known.version))
                .map(|known| known.name)
                .collect())
        })
        .await
    }

    async fn revert_migration(&self) -> Result<Option<String>, StorageError> {
        self.write_alone(|c| {
            if applied_versions(c)?.is_empty() {
                return Ok(None);
            }
            let reverted = c.revert_last_migration(MIGRATIONS).map_err(migration_error)?.to_string();
            Ok(embedded()?.into_iter().find(|known| known.version == reverted).map(|known| known.name))
        })
        .await
    }
}

struct EmbeddedMigration {
    version: String,
    name: String,
}

/// The embedded migrations in order.
fn embedded() -> Result<Vec<EmbeddedMigration>, SqlError> {
    let migrations: Vec<Box<dyn Migration<Backend>>> = MIGRATIONS.migrations().map_err(migration_error)?;
    let mut known: Vec<EmbeddedMigration> = migrations
        .iter()
        .map(|migration| EmbeddedMigration {
            version: migration.name().version().to_string(),
            name: migration.name().to_string(),
        })
        .collect();
    known.sort_by(|a, b| a.version.cmp(&b.version));
    Ok(known)
}

#[derive(QueryableByName)]
struct TableName {
    #[diesel(sql_type = diesel::sql_types::Text)]
    #[expect(dead_code, reason = "only the existence of the row matters")]
    name: String,
}

/// The applied versions. Unlike diesel's harness this writes nothing, so a read-only connection can run it.
fn applied_versions(c: &mut SqlConnection) -> Result<Vec<String>, SqlError> {
    let table = sql_query(FIND_MIGRATIONS_TABLE).get_result::<TableName>(c).optional()?;
    match table {
        Some(_) => {
            Ok(__diesel_schema_migrations::table.select(__diesel_schema_migrations::version).load(c)?)
        }
        None => Ok(Vec::new()),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the signature that map_err needs")]
fn migration_error(error: Box<dyn std::error::Error + Send + Sync>) -> SqlError {
    SqlError::Refused(format!("a migration failed: {}", classify::describe(&error)))
}
