use std::{thread, time::Duration};

use async_trait::async_trait;
use diesel::{
    Connection, OptionalExtension, QueryDsl, QueryableByName, RunQueryDsl,
    migration::{Migration, MigrationSource},
    pg::Pg,
    sql_query,
    sql_types::Bool,
};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};
use storage::{SchemaStore, StorageError};

use crate::{SqlConnection, SqlStore, lock, sql::SqlError};

const MIGRATIONS: EmbeddedMigrations = embed_migrations!("../../migrations/postgres");
