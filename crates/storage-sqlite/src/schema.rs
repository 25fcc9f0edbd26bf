//! The migrations of SQLite.

use diesel_migrations::{EmbeddedMigrations, embed_migrations};

pub(crate) const MIGRATIONS: EmbeddedMigrations = embed_migrations!("../../migrations/sqlite");

/// Finds the table of the applied migrations.
pub(crate) const FIND_MIGRATIONS_TABLE: &str =
    "SELECT name FROM sqlite_master WHERE name = '__diesel_schema_migrations'";
