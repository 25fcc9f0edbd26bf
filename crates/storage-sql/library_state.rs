//! The state of the library as a whole.

use diesel::{
    QueryableByName,
    prelude::*,
    sql_types::{BigInt, Nullable, Text},
};
use storage::{LibraryState, LibraryStateStore, Transfer};

use super::{SqlError, statement, value::RowReader};
use crate::{Lock, SqlConnection};

/// Why a write fails while the library is not open.
pub(crate) const CLOSED: &str =
    "the library is closed, because it is being moved or was moved to another store";

operations! {
    impl LibraryStateStore {
        query library_state() -> LibraryState = load;
        write_in_any_state(Lock::Everything) change_library_state(
            expected: &LibraryState, new: &LibraryState
        ) -> bool = change;
    }
}

/// Replaces the state if it is `expected`. `Lock::Everything` excludes all other writes meanwhile, and every write
/// checks the state when it begins.
fn change(c: &mut SqlConnection, expected: &LibraryState, new: &LibraryState) -> Result<bool, SqlError> {
    if load(c)? != *expected {
        return Ok(false);
    }
    save(c, new)?;
    Ok(true)
}

#[derive(QueryableByName)]
struct StateRow {
    #[diesel(sql_type = Text)]
    phase: String,
    #[diesel(sql_type = Nullable<Text>)]
    transfer: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    peer: Option<String>,
    #[diesel(sql_type = Nullable<BigInt>)]
    began_at_ms: Option<i64>,
}

fn load(c: &mut SqlConnection) -> Result<LibraryState, SqlError> {
    let row: StateRow =
        statement("SELECT phase, transfer, peer, began_at_ms FROM library_state").get_result(c)?;
    let reader = RowReader::new("library_state", &1);
    let began_at = reader.optional_timestamp("began_at_ms", row.began_at_ms)?;
    let transfer = match (row.transfer, row.peer, began_at) {
        (Some(id), Some(peer), Some(began_at)) => Some(Transfer { id, peer, began_at }),
        _ => None,
    };
    match (row.phase.as_str(), transfer) {
        ("open", None) => Ok(LibraryState::Open),
        ("open", Some(transfer)) => Ok(LibraryState::Received(transfer)),
        ("moving", Some(transfer)) => Ok(LibraryState::Moving(transfer)),
        ("moved", Some(transfer)) => Ok(LibraryState::Moved(transfer)),
        ("receiving", Some(transfer)) => Ok(LibraryState::Receiving(transfer)),
        _ => Err(reader.unreadable("phase")),
    }
}

fn save(c: &mut SqlConnection, state: &LibraryState) -> Result<(), SqlError> {
    let phase = match state {
        LibraryState::Open | LibraryState::Received(_) => "open",
        LibraryState::Moving(_) => "moving",
        LibraryState::Moved(_) => "moved",
        LibraryState::Receiving(_) => "receiving",
    };
    let transfer = state.transfer();
    statement("UPDATE library_state SET phase = $1, transfer = $2, peer = $3, began_at_ms = $4")
        .bind::<Text, _>(phase)
        .bind::<Nullable<Text>, _>(transfer.map(|transfer| transfer.id.as_str()))
        .bind::<Nullable<Text>, _>(transfer.map(|transfer| transfer.peer.as_str()))
        .bind::<Nullable<BigInt>, _>(transfer.map(|transfer| transfer.began_at.millis()))
        .execute(c)?;
    Ok(())
}
