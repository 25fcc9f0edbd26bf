//! What differs from other databases: words of SQL, and how a value of any type is read.

use diesel::{
    deserialize::{self, FromSql},
    pg::{Pg, PgValue},
    sql_types::{BigInt, Binary, Bool, Double, Text},
};
use storage::Value;

/// The name of Postgres in traces (OpenTelemetry's `db.system.name`).
pub(crate) const SYSTEM: &str = "postgresql";

/// A value of a column whose type is not known.
pub(crate) fn any_value(value: PgValue<'_>) -> deserialize::Result<Value> {
    // The object ids of the types that the columns have, in `pg_type.dat` of Postgres.
    match value.get_oid().get() {
        16 => FromSql::<Bool, Pg>::from_sql(value).map(Value::Boolean),
        17 => FromSql::<Binary, Pg>::from_sql(value).map(Value::Bytes),
        20 => FromSql::<BigInt, Pg>::from_sql(value).map(Value::Integer),
        25 => FromSql::<Text, Pg>::from_sql(value).map(Value::Text),
        701 => FromSql::<Double, Pg>::from_sql(value).map(Value::Real),
        other => Err(format!("a column has the unknown type {other}").into()),
    }
}

/// A table of the integers in a JSON array, with the column `value`.
macro_rules! integers {
    ($json:literal) => {
        concat!(
            "(SELECT CAST(item AS BIGINT) AS value FROM json_array_elements_text(CAST(",
            $json,
            " AS JSON)) AS item)"
        )
    };
}

/// A table of the strings in a JSON array, with the column `value`.
macro_rules! strings {
    ($json:literal) => {
        concat!("(SELECT item AS value FROM json_array_elements_text(CAST(", $json, " AS JSON)) AS item)")
    };
}

/// A table of the pairs of strings in a JSON array, with the columns `first` and `second`.
macro_rules! string_pairs {
    ($json:literal) => {
        concat!(
            "(SELECT item ->> 0 AS first, item ->> 1 AS second FROM json_array_elements(CAST(",
            $json,
            " AS JSON)) AS item)"
        )
    };
}

/// A table of the pairs of a string and an integer in a JSON array, with the columns `name` and `number`.
macro_rules! named_integers {
    ($json:literal) => {
        concat!(
            "(SELECT item ->> 0 AS name, CAST(item ->> 1 AS BIGINT) AS number FROM json_array_elements(CAST(",
            $json,
            " AS JSON)) AS item)"
        )
    };
}

/// A table of the triples of a string and two integers in a JSON array, with the columns `name`, `first` and `second`.
macro_rules! named_integer_pairs {
    ($json:literal) => {
        concat!(
            "(SELECT item ->> 0 AS name, CAST(item ->> 1 AS BIGINT) AS first, CAST(item ->> 2 AS BIGINT) AS second
            FROM json_array_elements(CAST(",
            $json,
            " AS JSON)) AS item)"
        )
    };
}

/// A table of the pairs of integers in a JSON array, with the columns `first` and `second`.
macro_rules! integer_pairs {
    ($json:literal) => {
        concat!(
            "(SELECT CAST(item ->> 0 AS BIGINT) AS first, CAST(item ->> 1 AS BIGINT) AS second
            FROM json_array_elements(CAST(",
            $json,
            " AS JSON)) AS item)"
        )
    };
}

/// The month of a time in milliseconds since 1970, in UTC, as the number yyyymm.
macro_rules! month_of {
    ($millis:literal) => {
        concat!(
            "CAST(to_char(to_timestamp((",
            $millis,
            " - ((",
            $millis,
            " % 86400000) + 86400000) % 86400000) / 1000) AT TIME ZONE 'UTC', 'YYYYMM') AS BIGINT)"
        )
    };
}

/// A table of the triples of integers in a JSON array, with the columns `first`, `second` and `third`.
macro_rules! integer_triples {
    ($json:literal) => {
        concat!(
            "(SELECT CAST(item ->> 0 AS BIGINT) AS first, CAST(item ->> 1 AS BIGINT) AS second,
                CAST(item ->> 2 AS BIGINT) AS third
            FROM json_array_elements(CAST(",
            $json,
            " AS JSON)) AS item)"
        )
    };
}

/// A join that looks up the rows of a table for each row of its left side. As a subquery with an offset, it stays one: for
/// conditions whose values are parameters, the planner of a prepared statement would assume that few rows of the whole
/// table pass, and begin with them.
macro_rules! join_after {
    ($table:literal, $alias:literal, $on:literal) => {
        concat!(
            "CROSS JOIN LATERAL (SELECT * FROM ",
            $table,
            " AS ",
            $alias,
            " WHERE ",
            $on,
            " OFFSET 0) AS ",
            $alias
        )
    };
}

/// Makes the planner use an index for the table before it; it decides by itself.
macro_rules! by_index {
    ($index:literal) => {
        ""
    };
}

/// Locks the rows of a query until the end of the transaction.
macro_rules! for_update {
    ($query:expr) => {
        $query.for_update()
    };
}

/// Locks the rows of a query, and leaves out those that another transaction has locked.
macro_rules! skip_locked {
    ($query:expr) => {
        $query.for_update().skip_locked()
    };
}
