//! What a table looks like.

use diesel::{QueryResult, QueryableByName};
use storage::Value;

use crate::{Backend, SqlConnection};

/// A table, or a part of one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub(super) table: &'static str,
    /// The rows that count, as SQL.
    pub(super) condition: &'static str,
    /// The columns, those of the key first.
    pub(super) columns: &'static [&'static str],
    pub(super) key_columns: usize,
    /// The length of the long values, as SQL; `None` if all rows are short.
    pub(super) long: Option<&'static str>,
    /// Whether the key is an id that the database assigns.
    pub(super) has_ids: bool,
}

impl Shape {
    pub(super) fn key(&self) -> &'static [&'static str] {
        self.columns.split_at_checked(self.key_columns).map_or(&[], |(key, _)| key)
    }
}

/// The rows of a table.
pub(super) trait CopiedRows: QueryableByName<Backend> + Sized + 'static {
    const SHAPE: Shape;

    fn into_values(self) -> Vec<Value>;

    /// `None` if the values are not those of such a row.
    fn from_values(values: Vec<Value>) -> Option<Self>;

    /// Inserts rows and leaves those that exist as they are.
    fn insert(c: &mut SqlConnection, rows: &[Self]) -> QueryResult<usize>;
}

/// Defines the row of a table, without the columns that the database computes.
///
/// `ids` marks a key that the database assigns, `key` any other key. `long` is the SQL of the length of long values.
macro_rules! copied_rows {
    (
        $row:ident of $table:ident,
        $kind:ident { $($key:ident: $key_type:ty),+ },
        { $($column:ident: $type:ty),* $(,)? }
        $(, long $long:literal)?
    ) => {
        #[derive(diesel::QueryableByName, diesel::Insertable)]
        #[diesel(table_name = $table, treat_none_as_default_value = false)]
        pub(super) struct $row {
            $(pub(super) $key: $key_type,)+
            $(pub(super) $column: $type,)*
        }

        impl CopiedRows for $row {
            const SHAPE: Shape = Shape {
                table: stringify!($table),
                condition: "TRUE",
                columns: &[$(stringify!($key),)+ $(stringify!($column),)*],
                key_columns: [$(stringify!($key)),+].len(),
                long: copied_rows!(@long $($long)?),
                has_ids: copied_rows!(@$kind),
            };

            fn into_values(self) -> Vec<Value> {
                vec![$(self.$key.into_value(),)+ $(self.$column.into_value(),)*]
            }

            fn from_values(values: Vec<Value>) -> Option<Self> {
                let mut values = values.into_iter();
                let row = Self {
                    $($key: Column::from_value(values.next()?)?,)+
                    $($column: Column::from_value(values.next()?)?,)*
                };
                values.next().is_none().then_some(row)
            }

            fn insert(c: &mut SqlConnection, rows: &[Self]) -> QueryResult<usize> {
                diesel::insert_into($table::table).values(rows).on_conflict_do_nothing().execute(c)
            }
        }
    };
    (@long) => { None };
    (@long $long:literal) => { Some($long) };
    (@ids) => { true };
    (@key) => { false };
}
pub(super) use copied_rows;
