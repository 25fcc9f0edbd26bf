//! The highest ids that were assigned, in SQLite's table for `AUTOINCREMENT`.

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
pub(crate) fn highest(c: &mut SqlConnection, table: &str, _column: &str) -> Result<i64, SqlError> {
    let highest: Highest =
        statement("SELECT coalesce(max(seq), 0) AS id FROM sqlite_sequence WHERE name = $1")
            .bind::<Text, _>(table)
            .get_result(c)?;
    Ok(highest.id)
}

/// Makes the next row get a higher id.
pub(crate) fn raise(c: &mut SqlConnection, table: &str, _column: &str, id: i64) -> Result<(), SqlError> {
    let raised = statement("UPDATE sqlite_sequence SET seq = max(seq, $1) WHERE name = $2")
        .bind::<BigInt, _>(id)
        .bind::<Text, _>(table)
        .execute(c)?;
    // There is no row before the first insertion.
    if raised == 0 {
        statement("INSERT INTO sqlite_sequence (name, seq) VALUES ($1, $2)")
            .bind::<Text, _>(table)
            .bind::<BigInt, _>(id)
            .execute(c)?;
    }
    Ok(())
}
