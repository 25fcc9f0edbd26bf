use async_trait::async_trait;
use domain::Timestamp;

use crate::StorageError;

/// The clock of a store that several machines share.
///
/// The clocks of machines differ, and a process compares times that other processes stored with the current time. So
/// all processes of such a store use its clock.
#[async_trait]
pub trait StoreClock: Send + Sync + 'static {
    /// The current time of the store, in UTC; `None` for a store on this machine, which has no clock of its own.
    async fn store_time(&self) -> Result<Option<Timestamp>, StorageError>;
}
