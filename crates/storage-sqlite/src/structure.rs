use diesel::{
    QueryableByName,
    prelude::*,
    sql_query,
    sql_types::{BigInt, Nullable, Text},
};
use storage::CheckDepth;

use crate::{SqlConnection, error::SqlError};

#[derive(QueryableByName)]
struct Message {
    #[diesel(sql_type = Text)]
    message: String,
}

/// Messages of SQLite about damage; none for a sound file. The full check also compares the indexes with the tables.
pub(crate) fn check(c: &mut SqlConnection, depth: CheckDepth, max: u32) -> Result<Vec<String>, SqlError> {
    let check = match depth {
        CheckDepth::Quick => "SELECT quick_check AS message FROM pragma_quick_check LIMIT $1",
        CheckDepth::Full => "SELECT integrity_check AS message FROM pragma_integrity_check LIMIT $1",
    };
    let messages: Vec<Message> = match sql_query(check).bind::<BigInt, _>(i64::from(max)).load(c) {
        Ok(messages) => messages,
        // The damage makes the check itself fail.
        Err(error) if is_damage(&error) => return Ok(vec![error.to_string()]),
        Err(error) => return Err(error.into()),
    };
    Ok(messages.into_iter().map(|message| message.message).filter(|message| message != "ok").collect())
}

fn is_damage(error: &diesel::result::Error) -> bool {
    let message = error.to_string();
    ["malformed", "not a database"].iter().any(|part| message.contains(part))
}

#[derive(QueryableByName)]
struct Dangling {
    #[diesel(sql_type = Text)]
    child: String,
    /// `None` for a table without row ids.
    #[diesel(sql_type = Nullable<BigInt>)]
    number: Option<i64>,
    #[diesel(sql_type = Text)]
    parent: String,
}

/// References to rows that do not exist.
pub(crate) fn dangling_references(c: &mut SqlConnection, max: u32) -> Result<Vec<String>, SqlError> {
    let dangling: Vec<Dangling> = sql_query(
        r#"SELECT "table" AS child, rowid AS number, parent FROM pragma_foreign_key_check LIMIT $1"#,
    )
    .bind::<BigInt, _>(i64::from(max))
    .load(c)?;
    let message = |Dangling { child, number, parent }| match number {
        Some(number) => format!("row {number} of the table {child} refers to a missing row of {parent}"),
        None => format!("a row of the table {child} refers to a missing row of {parent}"),
    };
    Ok(dangling.into_iter().map(message).collect())
}
