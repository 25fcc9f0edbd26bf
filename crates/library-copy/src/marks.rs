//! The marks in both stores, which prevent all other processes from changing them.

use futures_util::StreamExt as _;
use storage::{BlobKind, CopiedTable, LibraryState, SharedStore, StorageError, Transfer};

use crate::{CopyError, CopyOptions, Place};

/// The marks of a copy in progress.
pub(crate) struct Marks {
    from: LibraryState,
    to: LibraryState,
}

/// Marks both places, unless an earlier run did. `None` if the copy is complete.
///
/// The source is marked first. If the process is killed before the target is marked, the next run recognizes the target
/// by its name.
pub(crate) async fn begin(
    from: &Place,
    to: &Place,
    options: &CopyOptions,
) -> Result<Option<Marks>, CopyError> {
    use LibraryState::{Moved, Moving, Open, Received, Receiving};
    let source = from.store.library_state().await?;
    let target = to.store.library_state().await?;
    match (&source, &target) {
        (Receiving(transfer), _) => {
            Err(CopyError::Incomplete { from: from.name.clone(), transfer: transfer.clone() })
        }
        (Moving(known) | Moved(known), Receiving(other)) if known.id == other.id => {
            Ok(Some(Marks { from: source, to: target }))
        }
        (Moved(known), Received(other)) if known.id == other.id => Ok(None),
        (_, Receiving(transfer)) => {
            Err(CopyError::ReceivesOther { to: to.name.clone(), transfer: transfer.clone() })
        }
        (_, Received(_) | Moving(_) | Moved(_)) => {
            Err(CopyError::NotEmpty { to: to.name.clone(), found: "another library" })
        }
        (Moving(transfer) | Moved(transfer), Open) if transfer.peer != to.name => {
            Err(CopyError::MovesElsewhere { from: from.name.clone(), transfer: transfer.clone() })
        }
        (Moving(transfer) | Moved(transfer), Open) => {
            require_empty(to, options.same_files).await?;
            let marks = Marks { to: receiving(transfer, from), from: Moving(transfer.clone()) };
            change(from, &source, &marks.from).await?;
            change(to, &target, &marks.to).await?;
            Ok(Some(marks))
        }
        (Open | Received(_), Open) => {
            require_empty(to, options.same_files).await?;
            let transfer =
                Transfer { id: options.transfer.clone(), peer: to.name.clone(), began_at: options.at };
            let marks = Marks { to: receiving(&transfer, from), from: Moving(transfer) };
            change(from, &source, &marks.from).await?;
            change(to, &target, &marks.to).await?;
            Ok(Some(marks))
        }
    }
}

/// The mark of the target.
fn receiving(transfer: &Transfer, from: &Place) -> LibraryState {
    LibraryState::Receiving(Transfer { peer: from.name.clone(), ..transfer.clone() })
}

impl Marks {
    /// Completes the copy. The target may be used only after the source is known to stay closed.
    pub(crate) async fn finish(self, from: &Place, to: &Place) -> Result<(), CopyError> {
        if let LibraryState::Moving(transfer) = &self.from {
            change(from, &self.from, &LibraryState::Moved(transfer.clone())).await?;
        }
        match &self.to {
            LibraryState::Receiving(transfer) => {
                change(to, &self.to, &LibraryState::Received(transfer.clone())).await
            }
            _ => Ok(()),
        }
    }
}

async fn change(place: &Place, expected: &LibraryState, new: &LibraryState) -> Result<(), CopyError> {
    if expected == new || place.store.change_library_state(expected, new).await? {
        Ok(())
    } else {
        Err(CopyError::MarkChanged(place.name.clone()))
    }
}

/// Checks that a place has no rows, and no files unless those are shared with the source.
///
/// # Errors
/// [`CopyError::NotEmpty`], or a store failed.
pub async fn require_empty(place: &Place, same_files: bool) -> Result<(), CopyError> {
    let not_empty = |found| Err(CopyError::NotEmpty { to: place.name.clone(), found });
    for table in CopiedTable::ALL {
        if place.store.last_copied_key(*table).await?.is_some() {
            return not_empty(table.name());
        }
    }
    if same_files {
        return Ok(());
    }
    for (kind, found) in [(BlobKind::Original, "originals"), (BlobKind::Rendition, "renditions")] {
        if place.blobs.content.list(kind).next().await.transpose()?.is_some() {
            return not_empty(found);
        }
    }
    if place.blobs.parts.files().await?.is_empty() { Ok(()) } else { not_empty("parts of uploads") }
}

/// What [`reopen`] did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reopened {
    /// The library was not marked.
    WasOpen,
    /// It was being copied, and that copy is not complete.
    WasMoving(Transfer),
    /// It had been copied. There are two libraries now.
    WasMoved(Transfer),
}

/// Why a library was not opened again.
#[derive(Debug, thiserror::Error)]
pub enum ReopenError {
    /// It is an incomplete copy.
    #[error("this is an incomplete copy of {}; complete it with `server copy`, or delete it", .0.peer)]
    Incomplete(Transfer),
    /// Another process changed the mark.
    #[error("the mark was changed meanwhile; try again")]
    Changed,
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Removes the mark of a source, so that it may be used again. A copy of it that is not complete can then no longer be
/// completed.
pub async fn reopen(store: &SharedStore) -> Result<Reopened, ReopenError> {
    let state = store.library_state().await?;
    let reopened = match &state {
        LibraryState::Open | LibraryState::Received(_) => return Ok(Reopened::WasOpen),
        LibraryState::Receiving(transfer) => return Err(ReopenError::Incomplete(transfer.clone())),
        LibraryState::Moving(transfer) => Reopened::WasMoving(transfer.clone()),
        LibraryState::Moved(transfer) => Reopened::WasMoved(transfer.clone()),
    };
    if store.change_library_state(&state, &LibraryState::Open).await? {
        Ok(reopened)
    } else {
        Err(ReopenError::Changed)
    }
}
