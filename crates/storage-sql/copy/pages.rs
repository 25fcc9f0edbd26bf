//! Pages of any table, by key.

use diesel::{
    QueryableByName, RunQueryDsl,
    query_builder::{BoxedSqlQuery, SqlQuery},
    sql_query,
    sql_types::{BigInt, Binary, Bool, Double, Text},
};
use storage::{CopiedRow, PageLimit, RowKey, Value};

use super::table::{CopiedRows, Shape};
use crate::{Backend, SqlConnection, sql::SqlError};

/// Number of rows in one statement. A statement may have 32,766 values on SQLite, and a row has up to 30.
const ROWS_PER_STATEMENT: usize = 500;

type Query<'a> = BoxedSqlQuery<'a, Backend, SqlQuery>;

impl Shape {
    /// Selects something from the rows after a key.
    fn select<'a>(&self, what: &str, after: Option<&'a RowKey>, rows: usize) -> Query<'a> {
        let Self { table, condition, .. } = self;
        let key = self.key().join(", ");
        let values: &[Value] = after.map_or(&[], |after| &after.0);
        let after = match after {
            Some(after) => {
                let places: Vec<String> = (1..=after.0.len()).map(|place| format!("${place}")).collect();
                format!("({key}) > ({})", places.join(", "))
            }
            None => "TRUE".to_owned(),
        };
        let query = sql_query(format!(
            "SELECT {what} FROM {table} WHERE {condition} AND {after} ORDER BY {key} LIMIT {rows}"
        ));
        values.iter().fold(query.into_boxed(), bind)
    }
}

fn bind<'a>(query: Query<'a>, value: &'a Value) -> Query<'a> {
    match value {
        // No column of a key is null.
        Value::Null => query.bind::<BigInt, _>(0),
        Value::Integer(number) => query.bind::<BigInt, _>(number),
        Value::Real(number) => query.bind::<Double, _>(number),
        Value::Boolean(is) => query.bind::<Bool, _>(is),
        Value::Text(text) => query.bind::<Text, _>(text),
        Value::Bytes(bytes) => query.bind::<Binary, _>(bytes),
    }
}

#[derive(QueryableByName)]
struct Length {
    #[diesel(sql_type = BigInt)]
    bytes: i64,
}

/// The number of rows after a key that are together no longer than the limit, and at least one.
fn rows_within(
    c: &mut SqlConnection,
    shape: &Shape,
    after: Option<&RowKey>,
    limit: PageLimit,
) -> Result<usize, SqlError> {
    let max = usize::try_from(limit.rows).unwrap_or(usize::MAX).max(1);
    let Some(long) = shape.long else { return Ok(max) };
    let lengths: Vec<Length> =
        shape.select(&format!("CAST({long} AS BIGINT) AS bytes"), after, max).load(c)?;
    let mut total = 0_u64;
    let fitting = lengths.iter().take_while(|length| {
        total = total.saturating_add(length.bytes.unsigned_abs());
        total <= limit.bytes
    });
    Ok(fitting.count().max(1))
}

pub(super) fn read<T: CopiedRows>(
    c: &mut SqlConnection,
    after: Option<&RowKey>,
    limit: PageLimit,
) -> Result<Vec<CopiedRow>, SqlError> {
    let rows = rows_within(c, &T::SHAPE, after, limit)?;
    let rows: Vec<T> = T::SHAPE.select(&T::SHAPE.columns.join(", "), after, rows).load(c)?;
    Ok(rows.into_iter().map(copied).collect())
}

fn copied<T: CopiedRows>(row: T) -> CopiedRow {
    CopiedRow { key_columns: T::SHAPE.key_columns, values: row.into_values() }
}

pub(super) fn last_key<T: CopiedRows>(c: &mut SqlConnection) -> Result<Option<RowKey>, SqlError> {
    let Shape { table, condition, columns, .. } = T::SHAPE;
    let descending: Vec<String> = T::SHAPE.key().iter().map(|column| format!("{column} DESC")).collect();
    let query = format!(
        "SELECT {} FROM {table} WHERE {condition} ORDER BY {} LIMIT 1",
        columns.join(", "),
        descending.join(", ")
    );
    let last: Vec<T> = sql_query(query).load(c)?;
    Ok(last.into_iter().next().map(|row| copied(row).key()))
}

/// The rows as structs.
pub(super) fn typed<T: CopiedRows>(rows: &[CopiedRow]) -> Result<Vec<T>, SqlError> {
    let typed = |row: &CopiedRow| {
        T::from_values(row.values.clone()).ok_or_else(|| {
            SqlError::Refused(format!("a copied row does not fit the table {}", T::SHAPE.table))
        })
    };
    rows.iter().map(typed).collect()
}

/// Inserts rows and leaves those that exist as they are.
pub(super) fn insert<T: CopiedRows>(c: &mut SqlConnection, rows: &[T]) -> Result<(), SqlError> {
    rows.chunks(ROWS_PER_STATEMENT).try_for_each(|rows| {
        T::insert(c, rows)?;
        Ok(())
    })
}
