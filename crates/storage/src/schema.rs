use async_trait::async_trait;

use crate::StorageError;

/// The shape of the store itself.
#[async_trait]
pub trait SchemaStore: Send + Sync + 'static {
    /// The names of migrations that are yet to be applied, in order. An answer also proves that the store can be
    /// reached.
    async fn pending_migrations(&self) -> Result<Vec<String>, StorageError>;

    /// Applies them and returns their names.
    async fn migrate(&self) -> Result<Vec<String>, StorageError>;

    /// Takes back the latest migration and returns its name; `None` when there is none.
    async fn revert_migration(&self) -> Result<Option<String>, StorageError>;
}
