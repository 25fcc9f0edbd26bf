//! What is copied of a table.

use storage::{CopiedTable, Value};

use crate::sql::{
    SqlError,
    schema::{Column, ColumnType, TABLES},
};

/// Columns that the database computes.
const COMPUTED: [(&str, &str); 4] = [
    ("files", "last_modified_ms"),
    ("images", "live"),
    ("oauth_clients", "registered_last_at_ms"),
    ("oauth_grants", "ends_at_ms"),
];

/// The length of the values of a row that may be long, as SQL; `None` if all rows are short.
const fn long_values(table: CopiedTable) -> Option<&'static str> {
    match table {
        CopiedTable::OauthClients | CopiedTable::Uploads => Some("length(metadata)"),
        CopiedTable::Images => Some("coalesce(length(ocr_text), 0) + coalesce(length(description), 0)"),
        CopiedTable::Sidecars => Some("length(content)"),
        CopiedTable::ImageEdits => Some("coalesce(length(file_description), 0) + length(file_marks)"),
        CopiedTable::EditedImages => Some("length(changes)"),
        CopiedTable::ImageVectors => Some("length(vector)"),
        CopiedTable::Files => Some("coalesce(length(sidecar), 0)"),
        _ => None,
    }
}

/// A table, or a part of one.
#[derive(Debug)]
pub(super) struct Shape {
    pub(super) table: &'static str,
    /// The condition on rows that are copied, as SQL.
    pub(super) condition: &'static str,
    /// The columns that the database does not compute, those of the key first.
    pub(super) columns: Vec<Column>,
    pub(super) key_columns: usize,
    /// See [`long_values`].
    pub(super) long: Option<&'static str>,
}

impl Shape {
    pub(super) fn of(table: CopiedTable) -> Self {
        let (name, part) = match table.name().split_once('.') {
            Some((name, column)) => (name, Some(column)),
            None => (table.name(), None),
        };
        let defined = TABLES.iter().find(|table| table.name == name);
        let (columns, key_columns) = defined.map_or((&[][..], 0), |table| (table.columns, table.key_columns));
        let is_copied = |(index, column): &(usize, &Column)| match part {
            Some(part) => *index < key_columns || column.name == part,
            None => !COMPUTED.contains(&(name, column.name)),
        };
        Self {
            table: name,
            condition: if table == CopiedTable::FileParents { "parent_id > id" } else { "TRUE" },
            columns: columns.iter().enumerate().filter(is_copied).map(|(_, column)| *column).collect(),
            key_columns,
            long: long_values(table),
        }
    }

    pub(super) fn names(&self) -> Vec<&'static str> {
        self.columns.iter().map(|column| column.name).collect()
    }

    pub(super) fn key(&self) -> Vec<&'static str> {
        self.names().into_iter().take(self.key_columns).collect()
    }

    /// The column of the ids that the database assigns to new rows of the table.
    pub(super) fn id_column(&self) -> Option<&'static str> {
        match *self.key() {
            [key @ ("id" | "seq")] if self.condition == "TRUE" => Some(key),
            _ => None,
        }
    }

    /// The place of a column among the values of a row.
    pub(super) fn place(&self, column: &str) -> Option<usize> {
        self.columns.iter().position(|found| found.name == column)
    }

    /// Checks that a row of another store fits the table.
    pub(super) fn check(&self, values: &[Value]) -> Result<(), SqlError> {
        let fits = values.len() == self.columns.len()
            && values.iter().zip(&self.columns).all(|(value, column)| fits(value, *column));
        match fits {
            true => Ok(()),
            false => Err(SqlError::Refused(format!("a copied row does not fit the table {}", self.table))),
        }
    }
}

const fn fits(value: &Value, column: Column) -> bool {
    match value {
        Value::Null => column.nullable,
        Value::Integer(_) => matches!(column.sql_type, ColumnType::BigInt),
        Value::Real(_) => matches!(column.sql_type, ColumnType::Double),
        Value::Boolean(_) => matches!(column.sql_type, ColumnType::Bool),
        Value::Text(_) => matches!(column.sql_type, ColumnType::Text),
        Value::Bytes(_) => matches!(column.sql_type, ColumnType::Binary),
    }
}
