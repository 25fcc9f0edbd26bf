//! The migrations of Postgres.

use diesel_migrations::{EmbeddedMigrations, embed_migrations};

pub(crate) const MIGRATIONS: EmbeddedMigrations = embed_migrations!("../../migrations/postgres");

/// Finds the table of the applied migrations.
pub(crate) const FIND_MIGRATIONS_TABLE: &str = "
SELECT name FROM (SELECT CAST(to_regclass('__diesel_schema_migrations') AS TEXT) AS name) AS found
WHERE name IS NOT NULL";
