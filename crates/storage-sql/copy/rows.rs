//! Operations on a table by its name.

use std::ops::ControlFlow;

use diesel::prelude::*;
use storage::{CopiedRow, CopiedTable, PageLimit, RowKey, SnapshotPart, Value};

use super::{pages, shape::Shape};
use crate::{
    SqlConnection, id_sequence, place_index,
    sql::{SqlError, map, regions, schema::files, value::RowReader},
};

pub(super) fn read(
    c: &mut SqlConnection,
    table: CopiedTable,
    after: Option<&RowKey>,
    limit: PageLimit,
) -> Result<Vec<CopiedRow>, SqlError> {
    pages::read(c, &Shape::of(table), after, limit)
}

/// Passes on the rows of all tables, page by page, until the receiver has enough.
pub(super) fn read_snapshot(
    c: &mut SqlConnection,
    limit: PageLimit,
    receive: &(dyn Fn(SnapshotPart) -> ControlFlow<()> + Send + Sync),
) -> Result<(), SqlError> {
    if receive(SnapshotPart::Begin).is_break() {
        return Ok(());
    }
    for table in CopiedTable::ALL.iter().copied() {
        let highest_id = match ids(table) {
            Some((name, column)) => Some(id_sequence::highest(c, name, column)?),
            None => None,
        };
        if receive(SnapshotPart::Table { table, highest_id }).is_break() {
            return Ok(());
        }
        let mut after = None;
        loop {
            let rows = read(c, table, after.as_ref(), limit)?;
            let Some(last) = rows.last() else { break };
            after = Some(last.key());
            if receive(SnapshotPart::Rows(rows)).is_break() {
                return Ok(());
            }
        }
    }
    Ok(())
}

pub(super) fn last_key(c: &mut SqlConnection, table: CopiedTable) -> Result<Option<RowKey>, SqlError> {
    pages::last_key(c, &Shape::of(table))
}

/// The table and the column of the ids that the database assigns to its rows.
pub(super) fn ids(table: CopiedTable) -> Option<(&'static str, &'static str)> {
    let shape = Shape::of(table);
    shape.id_column().map(|column| (shape.table, column))
}

pub(super) fn add(c: &mut SqlConnection, table: CopiedTable, rows: &[CopiedRow]) -> Result<(), SqlError> {
    let shape = Shape::of(table);
    rows.iter().try_for_each(|row| shape.check(&row.values))?;
    let values = || rows.iter().map(|row| row.values.as_slice()).collect::<Vec<_>>();
    match table {
        CopiedTable::FileParents => rows.iter().try_for_each(|row| set_parent(c, &row.values)),
        CopiedTable::Files => {
            let files: Vec<_> = rows.iter().map(|row| with_existing_parent(&shape, &row.values)).collect();
            pages::insert(c, &shape, &files.iter().map(Vec::as_slice).collect::<Vec<_>>())
        }
        CopiedTable::Images => {
            pages::insert(c, &shape, &values())?;
            regions::begin_again(c)?;
            rows.iter().try_for_each(|row| index_place(c, &shape, &row.values))
        }
        _ => pages::insert(c, &shape, &values()),
    }
}

/// A file with a parent that exists already. A parent with a higher id is set later, by [`set_parent`]; until then, the file is
/// its own parent, which breaks no constraint.
fn with_existing_parent(shape: &Shape, file: &[Value]) -> Vec<Value> {
    let mut file = file.to_vec();
    let id = integer(shape, &file, "id");
    let parent = shape.place("parent_id").and_then(|place| file.get_mut(place));
    if let (Some(id), Some(Value::Integer(parent))) = (id, parent) {
        *parent = id.min(*parent);
    }
    file
}

fn set_parent(c: &mut SqlConnection, row: &[Value]) -> Result<(), SqlError> {
    if let [Value::Integer(id), Value::Integer(parent)] = row {
        diesel::update(files::table.find(id)).set(files::parent_id.eq(parent)).execute(c)?;
    }
    Ok(())
}

/// Adds the place of an image to the index and to the map.
fn index_place(c: &mut SqlConnection, shape: &Shape, image: &[Value]) -> Result<(), SqlError> {
    let (Some(seq), Some(account)) = (integer(shape, image, "seq"), integer(shape, image, "account_id"))
    else {
        return Ok(());
    };
    let degrees = |column| match value(shape, image, column) {
        Some(Value::Real(degrees)) => Some(*degrees),
        _ => None,
    };
    let position = RowReader::new("images", &seq).position(degrees("latitude"), degrees("longitude"))?;
    if let Some(position) = position {
        // The row may have existed, with its place.
        place_index::remove(c, seq)?;
        place_index::add(c, seq, account, position)?;
    }
    map::update(c, seq)
}

fn integer(shape: &Shape, row: &[Value], column: &str) -> Option<i64> {
    match value(shape, row, column) {
        Some(Value::Integer(number)) => Some(*number),
        _ => None,
    }
}

fn value<'a>(shape: &Shape, row: &'a [Value], column: &str) -> Option<&'a Value> {
    shape.place(column).and_then(|place| row.get(place))
}
