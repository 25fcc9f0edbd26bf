use diesel::prelude::*;
use storage::{StoredPart, UploadId};

use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        schema::{accounts, upload_parts, uploads},
        value::RowReader,
    },
};

/// Parts of uploads by the names of their files.
pub(super) fn page(
    c: &mut SqlConnection,
    after: Option<&str>,
    max: u32,
) -> Result<Vec<StoredPart>, SqlError> {
    let rows: Vec<(String, i64, i64, Option<String>)> = upload_parts::table
        .inner_join(uploads::table.inner_join(accounts::table))
        .filter(upload_parts::file.gt(after.unwrap_or_default()))
        .order(upload_parts::file)
        .limit(i64::from(max))
        .select((upload_parts::file, upload_parts::bytes, uploads::id, accounts::email))
        .load(c)?;
    rows.into_iter()
        .map(|(file, bytes, upload, account)| {
            let bytes = RowReader::new("upload_parts", &file).unsigned("bytes", bytes)?;
            Ok(StoredPart { file, bytes, upload: UploadId(upload), account })
        })
        .collect()
}
