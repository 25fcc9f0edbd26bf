use async_trait::async_trait;
use domain::Timestamp;

use crate::StorageError;

/// Whether a library may be used.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum LibraryState {
    /// It is in use.
    #[default]
    Open,
    /// It is in use, and was copied here.
    Received(Transfer),
    /// It is being copied to another store. It must not change.
    Moving(Transfer),
    /// It was copied to another store, which is in use instead.
    Moved(Transfer),
    /// It is being copied here and is not complete.
    Receiving(Transfer),
}

/// The copying of a library from one store to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transfer {
    /// The same in both stores, and different from that of every other transfer.
    pub id: String,
    /// The other store, as messages name it. It contains no password.
    pub peer: String,
    pub began_at: Timestamp,
}

impl LibraryState {
    /// Whether the library may be used.
    pub const fn is_open(&self) -> bool {
        matches!(self, Self::Open | Self::Received(_))
    }

    /// The transfer that the library takes or took part in.
    pub const fn transfer(&self) -> Option<&Transfer> {
        match self {
            Self::Open => None,
            Self::Received(transfer)
            | Self::Moving(transfer)
            | Self::Moved(transfer)
            | Self::Receiving(transfer) => Some(transfer),
        }
    }
}

/// The state of the library as a whole.
///
/// While the library is not open, every operation of other traits that writes fails with
/// [`StorageError::Unavailable`]. Migrations and [`CopyStore`](crate::CopyStore) are not affected.
#[async_trait]
pub trait LibraryStateStore: Send + Sync + 'static {
    async fn library_state(&self) -> Result<LibraryState, StorageError>;

    /// Replaces the state if it is still `expected`; returns whether it was. Running writes end before the change, and
    /// later writes see the new state.
    async fn change_library_state(
        &self,
        expected: &LibraryState,
        new: &LibraryState,
    ) -> Result<bool, StorageError>;
}
