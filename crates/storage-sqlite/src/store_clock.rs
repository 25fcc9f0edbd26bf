use async_trait::async_trait;
use domain::Timestamp;
use storage::{StorageError, StoreClock};

use crate::SqliteStore;

#[async_trait]
impl StoreClock for SqliteStore {
    /// `None`: a file has no clock, and all its processes run on one machine.
    async fn store_time(&self) -> Result<Option<Timestamp>, StorageError> {
        Ok(None)
    }
}
