use async_trait::async_trait;

use crate::StorageError;

/// Migrations of the store's schema.
#[async_trait]
pub trait SchemaStore: Send + Sync + 'static {
    /// The names of all migrations that this program knows, in order.
    fn known_migrations(&self) -> Result<Vec<String>, StorageError>;

    /// The names of the migrations that are not applied yet, in order. A result also proves that the store is
    /// reachable.
    async fn pending_migrations(&self) -> Result<Vec<String>, StorageError>;

    /// The versions of applied migrations that this program does not know, in order: a newer program applied them.
    async fn newer_migrations(&self) -> Result<Vec<String>, StorageError>;

    /// Applies the pending migrations and returns their names.
    async fn migrate(&self) -> Result<Vec<String>, StorageError>;

    /// Reverts the latest migration and returns its name; `None` when none is applied.
    async fn revert_migration(&self) -> Result<Option<String>, StorageError>;
}
