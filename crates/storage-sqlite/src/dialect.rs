//! What differs from other databases: words of SQL, and how a value of any type is read.

use diesel::{
    deserialize::{self, FromSql},
    sql_types::{BigInt, Binary, Double, Text},
    sqlite::{Sqlite, SqliteType, SqliteValue},
};
use storage::Value;

/// The name of SQLite in traces (OpenTelemetry's `db.system.name`).
pub(crate) const SYSTEM: &str = "sqlite";

/// A value of a column whose type is not known.
pub(crate) fn any_value(value: SqliteValue<'_, '_, '_>) -> deserialize::Result<Value> {
    match value.value_type() {
        Some(SqliteType::SmallInt | SqliteType::Integer | SqliteType::Long) => {
            FromSql::<BigInt, Sqlite>::from_sql(value).map(Value::Integer)
        }
        Some(SqliteType::Float | SqliteType::Double) => {
            FromSql::<Double, Sqlite>::from_sql(value).map(Value::Real)
        }
        Some(SqliteType::Text) => FromSql::<Text, Sqlite>::from_sql(value).map(Value::Text),
        Some(SqliteType::Binary) => FromSql::<Binary, Sqlite>::from_sql(value).map(Value::Bytes),
        None => Ok(Value::Null),
    }
}

/// A table of the integers in a JSON array, with the column `value`.
macro_rules! integers {
    ($json:literal) => {
        concat!("json_each(", $json, ")")
    };
}

/// A table of the strings in a JSON array, with the column `value`.
macro_rules! strings {
    ($json:literal) => {
        concat!("json_each(", $json, ")")
    };
}

/// A table of the pairs of strings in a JSON array, with the columns `first` and `second`.
macro_rules! string_pairs {
    ($json:literal) => {
        concat!("(SELECT value ->> 0 AS first, value ->> 1 AS second FROM json_each(", $json, "))")
    };
}

/// A table of the pairs of a string and an integer in a JSON array, with the columns `name` and `number`.
macro_rules! named_integers {
    ($json:literal) => {
        concat!("(SELECT value ->> 0 AS name, value ->> 1 AS number FROM json_each(", $json, "))")
    };
}

/// A table of the triples of a string and two integers in a JSON array, with the columns `name`, `first` and `second`.
macro_rules! named_integer_pairs {
    ($json:literal) => {
        concat!(
            "(SELECT value ->> 0 AS name, value ->> 1 AS first, value ->> 2 AS second FROM json_each(",
            $json,
            "))"
        )
    };
}

/// A table of the pairs of integers in a JSON array, with the columns `first` and `second`.
macro_rules! integer_pairs {
    ($json:literal) => {
        concat!("(SELECT value ->> 0 AS first, value ->> 1 AS second FROM json_each(", $json, "))")
    };
}

/// The month of a time in milliseconds since 1970, in UTC, as the number yyyymm.
macro_rules! month_of {
    ($millis:literal) => {
        concat!(
            "CAST(strftime('%Y%m', (",
            $millis,
            " - ((",
            $millis,
            " % 86400000) + 86400000) % 86400000) / 1000, 'unixepoch') AS INTEGER)"
        )
    };
}

/// A table of the triples of integers in a JSON array, with the columns `first`, `second` and `third`.
macro_rules! integer_triples {
    ($json:literal) => {
        concat!(
            "(SELECT value ->> 0 AS first, value ->> 1 AS second, value ->> 2 AS third FROM json_each(",
            $json,
            "))"
        )
    };
}

/// A join that looks up the rows of a table for each row of its left side.
macro_rules! join_after {
    ($table:literal, $alias:literal, $on:literal) => {
        concat!("CROSS JOIN ", $table, " AS ", $alias, " ON ", $on)
    };
}

/// Makes the planner use an index for the table before it.
macro_rules! by_index {
    ($index:literal) => {
        concat!("INDEXED BY ", $index)
    };
}

/// Locks the rows of a query until the end of the transaction; here one write runs at a time.
macro_rules! for_update {
    ($query:expr) => {
        $query
    };
}

/// Locks the rows of a query, and leaves out those that another transaction has locked; here one write runs at a time.
macro_rules! skip_locked {
    ($query:expr) => {
        $query
    };
}
