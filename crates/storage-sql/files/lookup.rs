use diesel::{OptionalExtension, dsl::sql, prelude::*, sql_types::Bool};
use domain::{AccountId, FilePath};
use storage::{FileEntry, FileId, FileListing, LocatedFile, PairedKind};

use super::{
    rows::{self, EntryRow, FileImageRow, FileRow},
    trail::Trail,
    tree::{is_in_tree, path_of},
};
use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        account_rows::is_active,
        schema::{files, images},
    },
};

pub(super) fn file(
    c: &mut SqlConnection,
    account: AccountId,
    path: &FilePath,
) -> Result<Option<FileEntry>, SqlError> {
    let Some(trail) = Trail::find(c, account, path)? else { return Ok(None) };
    trail.entry().map(|node| rows::entry(c, node.id)).transpose()
}

pub(super) fn by_id(
    c: &mut SqlConnection,
    account: AccountId,
    id: FileId,
) -> Result<Option<FileEntry>, SqlError> {
    if !belongs_to(c, account, id)? {
        return Ok(None);
    }
    rows::entry(c, id.0).map(Some)
}

/// Whether an undeleted account has this entry in its tree.
fn belongs_to(c: &mut SqlConnection, account: AccountId, id: FileId) -> Result<bool, SqlError> {
    let owner = files::table.find(id.0).select(files::account_id).get_result::<i64>(c).optional()?;
    Ok(owner == Some(account.0) && is_active(c, account.0)? && is_in_tree(c, id.0)?)
}

pub(super) fn located(
    c: &mut SqlConnection,
    account: AccountId,
    id: FileId,
) -> Result<Option<LocatedFile>, SqlError> {
    let Some(entry) = by_id(c, account, id)? else { return Ok(None) };
    Ok(Some(LocatedFile { path: path_of(c, id.0)?, entry }))
}

pub(super) fn list(
    c: &mut SqlConnection,
    account: AccountId,
    path: &FilePath,
) -> Result<Option<FileListing>, SqlError> {
    let Some(trail) = Trail::find(c, account, path)? else { return Ok(None) };
    let Some(node) = trail.entry() else { return Ok(None) };
    let members: Vec<EntryRow> = files::table
        .left_join(images::table)
        .filter(files::account_id.eq(account.0))
        .filter(files::parent_id.eq(node.id))
        .order(files::name)
        .select((FileRow::as_select(), Option::<FileImageRow>::as_select()))
        .load(c)?;
    let members = members.into_iter().map(rows::read).collect::<Result<_, _>>()?;
    Ok(Some(FileListing { entry: rows::entry(c, node.id)?, members }))
}

pub(super) fn with_prefix(
    c: &mut SqlConnection,
    account: AccountId,
    folder: &FilePath,
    kind: PairedKind,
    prefix: &str,
    max: u32,
) -> Result<Vec<FileEntry>, SqlError> {
    let Some(trail) = Trail::find(c, account, folder)? else { return Ok(Vec::new()) };
    let Some(node) = trail.entry() else { return Ok(Vec::new()) };
    // Literals, because SQLite does not match a partial index with a parameter.
    let is_of_kind = sql::<Bool>(match kind {
        PairedKind::Photo => "files.kind = 'photo'",
        PairedKind::Sidecar => "files.kind = 'sidecar'",
    });
    let query = files::table
        .left_join(images::table)
        .filter(files::account_id.eq(account.0))
        .filter(files::parent_id.eq(node.id))
        .filter(is_of_kind)
        .filter(files::name.ge(prefix))
        .order(files::name)
        .limit(i64::from(max))
        .select((FileRow::as_select(), Option::<FileImageRow>::as_select()));
    let rows: Vec<EntryRow> = match after_prefix(prefix) {
        Some(end) => query.filter(files::name.lt(end)).load(c)?,
        None => query.load(c)?,
    };
    rows.into_iter().map(rows::read).collect()
}

/// The least text above all texts that begin with `prefix`; `None` if there is none.
fn after_prefix(prefix: &str) -> Option<String> {
    let mut chars: Vec<char> = prefix.chars().collect();
    while let Some(last) = chars.pop() {
        // The range leaves out surrogates, which no text has.
        if let Some(next) = (last..=char::MAX).nth(1) {
            chars.push(next);
            return Some(chars.into_iter().collect());
        }
    }
    None
}

pub(super) fn sidecar(
    c: &mut SqlConnection,
    account: AccountId,
    id: FileId,
) -> Result<Option<Vec<u8>>, SqlError> {
    if !belongs_to(c, account, id)? {
        return Ok(None);
    }
    Ok(files::table.find(id.0).select(files::sidecar).get_result(c)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_with_a_prefix_are_below_the_text_after_it() {
        let check = |prefix: &str, expected: Option<&str>| {
            assert_eq!(after_prefix(prefix).as_deref(), expected, "{prefix:?}");
        };
        check("IMG_1", Some("IMG_2"));
        check("", None);
        check("a\u{10ffff}", Some("b"));
        check("\u{10ffff}", None);
        check("\u{d7ff}", Some("\u{e000}"));
    }
}
