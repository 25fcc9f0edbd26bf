//! Pages of any table, by key.

use diesel::{
    QueryableByName, RunQueryDsl,
    deserialize::Result as ReadResult,
    query_builder::{BoxedSqlQuery, SqlQuery},
    row::{Field as _, NamedRow, Row},
    sql_query,
    sql_types::{BigInt, Binary, Bool, Double, Nullable, Text},
};
use storage::{CopiedRow, PageLimit, RowKey, Value};

use super::shape::Shape;
use crate::{
    Backend, SqlConnection, dialect,
    sql::{
        SqlError,
        schema::{Column, ColumnType},
    },
};

/// Number of rows in one statement. A statement may have 32,766 values on SQLite, and a row has up to 31.
const ROWS_PER_STATEMENT: usize = 500;

type Query<'a> = BoxedSqlQuery<'a, Backend, SqlQuery>;

/// The values of a row, as the database has them.
struct Values(Vec<Value>);

impl QueryableByName<Backend> for Values {
    fn build<'a>(row: &impl NamedRow<'a, Backend>) -> ReadResult<Self> {
        let value = |index| {
            let field = Row::get(row, index).ok_or("a column is missing")?;
            field.value().map_or(Ok(Value::Null), dialect::any_value)
        };
        (0..row.field_count()).map(value).collect::<ReadResult<_>>().map(Self)
    }
}

impl Shape {
    /// Selects something from the rows after a key.
    fn select<'a>(&self, what: &str, after: Option<&'a RowKey>, rows: usize) -> Query<'a> {
        let Self { table, condition, .. } = self;
        let key = self.key().join(", ");
        let values: &[Value] = after.map_or(&[], |after| &after.0);
        let after = match after {
            Some(after) => format!("({key}) > ({})", placeholders(1, after.0.len())),
            None => "TRUE".to_owned(),
        };
        let query = sql_query(format!(
            "SELECT {what} FROM {table} WHERE {condition} AND {after} ORDER BY {key} LIMIT {rows}"
        ));
        let columns = values.iter().zip(&self.columns);
        columns.fold(query.into_boxed(), |query, (value, column)| bind(query, value, column.sql_type))
    }

    fn copied(&self, Values(values): Values) -> CopiedRow {
        let typed = values.into_iter().zip(&self.columns).map(|(value, column)| typed(value, *column));
        CopiedRow { key_columns: self.key_columns, values: typed.collect() }
    }
}

/// Numbered places for values.
fn placeholders(first: usize, count: usize) -> String {
    let places: Vec<String> = (first..first + count).map(|place| format!("${place}")).collect();
    places.join(", ")
}

fn bind<'a>(query: Query<'a>, value: &'a Value, sql_type: ColumnType) -> Query<'a> {
    match value {
        Value::Null => match sql_type {
            ColumnType::BigInt => query.bind::<Nullable<BigInt>, _>(None::<i64>),
            ColumnType::Binary => query.bind::<Nullable<Binary>, _>(None::<Vec<u8>>),
            ColumnType::Bool => query.bind::<Nullable<Bool>, _>(None::<bool>),
            ColumnType::Double => query.bind::<Nullable<Double>, _>(None::<f64>),
            ColumnType::Text => query.bind::<Nullable<Text>, _>(None::<String>),
        },
        Value::Integer(number) => query.bind::<BigInt, _>(number),
        Value::Real(number) => query.bind::<Double, _>(number),
        Value::Boolean(is) => query.bind::<Bool, _>(is),
        Value::Text(text) => query.bind::<Text, _>(text),
        Value::Bytes(bytes) => query.bind::<Binary, _>(bytes),
    }
}

/// A value in the type of its column: SQLite stores truth values as numbers.
fn typed(value: Value, column: Column) -> Value {
    match (value, column.sql_type) {
        (Value::Integer(number), ColumnType::Bool) => Value::Boolean(number != 0),
        (value, _) => value,
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

pub(super) fn read(
    c: &mut SqlConnection,
    shape: &Shape,
    after: Option<&RowKey>,
    limit: PageLimit,
) -> Result<Vec<CopiedRow>, SqlError> {
    let rows = rows_within(c, shape, after, limit)?;
    let rows: Vec<Values> = shape.select(&shape.names().join(", "), after, rows).load(c)?;
    Ok(rows.into_iter().map(|values| shape.copied(values)).collect())
}

pub(super) fn last_key(c: &mut SqlConnection, shape: &Shape) -> Result<Option<RowKey>, SqlError> {
    let Shape { table, condition, .. } = shape;
    let key = shape.key();
    let descending: Vec<String> = key.iter().map(|column| format!("{column} DESC")).collect();
    let query = format!(
        "SELECT {} FROM {table} WHERE {condition} ORDER BY {} LIMIT 1",
        key.join(", "),
        descending.join(", ")
    );
    let last: Vec<Values> = sql_query(query).load(c)?;
    Ok(last.into_iter().next().map(|values| shape.copied(values).key()))
}

/// Inserts rows that fit, and leaves those that exist as they are.
pub(super) fn insert(c: &mut SqlConnection, shape: &Shape, rows: &[&[Value]]) -> Result<(), SqlError> {
    let width = shape.columns.len();
    let names = shape.names().join(", ");
    for rows in rows.chunks(ROWS_PER_STATEMENT) {
        let places = (0..rows.len()).map(|row| format!("({})", placeholders(row * width + 1, width)));
        let places: Vec<String> = places.collect();
        let query = sql_query(format!(
            "INSERT INTO {} ({names}) VALUES {} ON CONFLICT DO NOTHING",
            shape.table,
            places.join(", ")
        ));
        let values = rows.iter().flat_map(|row| row.iter().zip(&shape.columns));
        let bound =
            values.fold(query.into_boxed(), |query, (value, column)| bind(query, value, column.sql_type));
        bound.execute(c)?;
    }
    Ok(())
}
