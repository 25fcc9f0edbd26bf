use std::collections::HashMap;

use diesel::{dsl::sql, prelude::*, sql_types::Bool};
use domain::{AccountId, FilePath, Timestamp};
use storage::{FilePosition, LocatedFile, RecentFiles};

use super::{
    rows::{self, FileImageRow, FileRow},
    tree::{is_in_tree, path_of},
};
use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        account_rows::is_active,
        schema::{files, images},
        value::RowReader,
    },
};

/// The id of the folder of a file or folder, its row, and the row of its image.
type MemberRow = (Option<i64>, FileRow, Option<FileImageRow>);

pub(super) fn page(
    c: &mut SqlConnection,
    account: AccountId,
    since: Timestamp,
    before: FilePosition,
    max: u32,
) -> Result<RecentFiles, SqlError> {
    if !is_active(c, account.0)? {
        return Ok(RecentFiles { files: Vec::new(), next: None });
    }
    let rows = rows(c, account, since, before, max)?;
    let is_last = rows.len() < max as usize;
    let mut folders = Folders::default();
    let mut files = Vec::with_capacity(rows.len());
    let mut next = None;
    for (parent, row, image) in rows {
        let entry = rows::read((row, image))?;
        next = Some(FilePosition::of(&entry));
        let folder = parent.map(|parent| folders.path(c, parent)).transpose()?.flatten();
        if let Some(folder) = folder {
            let id = entry.id.0;
            let file = LocatedFile::in_folder(&folder, entry);
            files.push(RowReader::new("files", &id).required("name", file)?);
        }
    }
    Ok(RecentFiles { files, next: next.filter(|_| !is_last) })
}

fn rows(
    c: &mut SqlConnection,
    account: AccountId,
    since: Timestamp,
    before: FilePosition,
    max: u32,
) -> Result<Vec<MemberRow>, SqlError> {
    let query = || {
        files::table
            .left_join(images::table)
            .filter(files::account_id.eq(account.0))
            // A literal, because SQLite does not match a partial index with a parameter.
            .filter(sql::<Bool>("files.parent_id IS NOT NULL"))
            .filter(files::last_modified_ms.ge(since.millis()))
            .order((files::last_modified_ms.desc(), files::id.desc()))
            .select((files::parent_id, FileRow::as_select(), Option::<FileImageRow>::as_select()))
            .into_boxed()
    };
    // Two ranges of the index, because SQLite does not use a single range to compare the pair of time and row number.
    let of_same_time = query()
        .filter(files::last_modified_ms.eq(before.modified_at.millis()))
        .filter(files::id.lt(before.id.0))
        .limit(i64::from(max));
    let mut rows: Vec<MemberRow> = of_same_time.load(c)?;
    let left = i64::from(max) - i64::try_from(rows.len()).unwrap_or(i64::MAX);
    if left > 0 {
        let earlier = query().filter(files::last_modified_ms.lt(before.modified_at.millis())).limit(left);
        rows.extend(earlier.load::<MemberRow>(c)?);
    }
    Ok(rows)
}

/// The paths of folders that were looked up. Most files of a page are in a few folders.
#[derive(Default)]
pub(crate) struct Folders(HashMap<i64, Option<FilePath>>);

impl Folders {
    /// The path of a folder; `None` if it is no longer in the tree.
    pub(crate) fn path(&mut self, c: &mut SqlConnection, id: i64) -> Result<Option<FilePath>, SqlError> {
        if let Some(known) = self.0.get(&id) {
            return Ok(known.clone());
        }
        let path = if is_in_tree(c, id)? { Some(path_of(c, id)?) } else { None };
        self.0.insert(id, path.clone());
        Ok(path)
    }
}
