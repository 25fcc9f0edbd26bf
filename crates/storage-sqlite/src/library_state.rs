//! Checks before a write that the library is open.

use diesel::{QueryableByName, prelude::*, sql_types::Text};

use crate::{
    SqlConnection,
    sql::{CLOSED, SqlError, statement},
};

#[derive(QueryableByName)]
struct Phase {
    #[diesel(sql_type = Text)]
    phase: String,
}

/// Fails unless the library is open.
pub(crate) fn require_open(c: &mut SqlConnection) -> Result<(), SqlError> {
    let state: Phase = statement("SELECT phase FROM library_state").get_result(c)?;
    if state.phase == "open" { Ok(()) } else { Err(SqlError::Unavailable(CLOSED.to_owned())) }
}
