//! Checks for tests that no table and no column is forgotten.

use std::collections::{BTreeMap, BTreeSet};

use diesel::{QueryableByName, RunQueryDsl, sql_query, sql_types::Text};
use storage::CopiedTable;

use super::shape::Shape;
use crate::SqlConnection;

/// Tables that are not copied, and those whose names continue with an underscore. Indexes are derived, roles are held by
/// processes that use the store, and the state and the migrations belong to the store.
const LEFT_OUT: [&str; 11] = [
    "image_places",
    "image_words",
    "map",
    "region_fill",
    "words",
    "word",
    "indexed_words",
    "roles",
    "library_state",
    "sqlite",
    "__diesel_schema",
];

#[derive(QueryableByName)]
struct Column {
    #[diesel(sql_type = Text)]
    table_name: String,
    #[diesel(sql_type = Text)]
    column_name: String,
}

/// Compares the copied columns with those that the database does not compute, which the query lists.
pub(crate) fn assert_complete(c: &mut SqlConnection, all_columns: &str) {
    let mut expected: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let is_left_out = |table: &str| {
        LEFT_OUT
            .iter()
            .any(|name| table.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('_')))
    };
    for column in sql_query(all_columns).load::<Column>(c).unwrap() {
        if !is_left_out(&column.table_name) {
            expected.entry(column.table_name).or_default().insert(column.column_name);
        }
    }
    let copied = CopiedTable::ALL.iter().filter(|table| **table != CopiedTable::FileParents).map(|table| {
        (table.name().to_owned(), Shape::of(*table).names().into_iter().map(ToOwned::to_owned).collect())
    });
    assert_eq!(copied.collect::<BTreeMap<_, _>>(), expected);
}
