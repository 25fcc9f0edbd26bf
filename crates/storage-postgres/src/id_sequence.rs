//! The highest ids that were assigned, in the sequences of identity columns.

use diesel::{
    QueryableByName,
    prelude::*,
    sql_types::{BigInt, Text},
};

use crate::{
    SqlConnection,
    sql::{SqlError, statement},
};

#[derive(QueryableByName)]
struct Highest {
    #[diesel(sql_type = BigInt)]
    id: i64,
}

/// The highest id that was assigned to a row of the table; 0 if there was none.
///
/// Rows that were inserted with their ids do not advance the sequence.
pub(crate) fn highest(c: &mut SqlConnection, table: &str, column: &str) -> Result<i64, SqlError> {
    let highest: Highest = statement(
        "SELECT coalesce(pg_sequence_last_value(CAST(pg_get_serial_sequence($1, $2) AS regclass)), 0) AS id",
    )
    .bind::<Text, _>(table)
    .bind::<Text, _>(column)
    .get_result(c)?;
    Ok(highest.id)
}

/// Makes the next row get a higher id.
pub(crate) fn raise(c: &mut SqlConnection, table: &str, column: &str, id: i64) -> Result<(), SqlError> {
    if highest(c, table, column)? < id {
        statement("SELECT setval(CAST(pg_get_serial_sequence($1, $2) AS regclass), $3)")
            .bind::<Text, _>(table)
            .bind::<Text, _>(column)
            .bind::<BigInt, _>(id)
            .execute(c)?;
    }
    Ok(())
}
