//! The rules of synced files. The queries terminate even if folders form a cycle.

use diesel::{
    OptionalExtension, QueryableByName,
    prelude::*,
    sql_types::{BigInt, Bool},
};
use domain::{ContentHash, Timestamp};

use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        blob_registry::keep_always,
        files::create_root_folder,
        originals::link_files,
        schema::{accounts, files, images},
        statement,
        value::RowReader,
    },
};

/// The files and folders `f` after `$1` up to `$2` for which the condition is true. Those of deleted accounts are left out.
macro_rules! files_with {
    ($condition:literal) => {
        concat!(
            "SELECT f.id AS key, CAST(NULL AS BIGINT) AS image,
                a.email || ': ' || CASE f.name WHEN '' THEN 'the root folder' ELSE f.name END
                    || ' (' || f.kind || ' number ' || f.id || ')' AS detail
            FROM files AS f JOIN accounts AS a ON a.id = f.account_id
            WHERE f.id > $1 AND f.id <= $2 AND a.deleted_at_ms IS NULL AND $3 IS NOT NULL AND (",
            $condition,
            ")"
        )
    };
}

pub(super) const PARTIAL_ORIGINAL_IS_KEPT: &str = files_with!(
    "f.kind = 'partial' AND NOT EXISTS (
        SELECT 1 FROM blobs AS b
        WHERE b.kind = 'original' AND b.hash = f.original AND b.state = 'kept' AND b.bytes = f.bytes
    )"
);

pub(super) const ROOT_FOLDER: &str = "
SELECT a.id AS key, CAST(NULL AS BIGINT) AS image, a.email AS detail
FROM accounts AS a
WHERE a.id > $1 AND a.id <= $2 AND a.deleted_at_ms IS NULL AND $3 IS NOT NULL
    AND NOT EXISTS (
        SELECT 1 FROM files AS f
        WHERE f.account_id = a.id AND f.parent_id IS NULL AND f.deleted_at_ms IS NULL AND f.kind = 'folder'
    )";

// Only a folder can be above another entry, so every cycle contains a folder.
pub(super) const FILE_PARENT: &str = files_with!(
    "f.parent_id IS NOT NULL AND (
        NOT EXISTS (
            SELECT 1 FROM files AS p
            WHERE p.id = f.parent_id AND p.kind = 'folder' AND p.account_id = f.account_id
        )
        OR f.kind = 'folder' AND NOT EXISTS (
            WITH RECURSIVE above (id, parent_id) AS (
                SELECT f.id, f.parent_id
                UNION
                SELECT p.id, p.parent_id FROM above JOIN files AS p ON p.id = above.parent_id
            )
            SELECT 1 FROM above WHERE parent_id IS NULL
        )
    )"
);

pub(super) const FILE_IMAGE: &str = files_with!(
    "f.image_seq IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM images AS i
        WHERE i.seq = f.image_seq AND i.account_id = f.account_id AND i.original = f.original
    )"
);

pub(super) const PHOTO_FILE_HAS_IMAGE: &str = files_with!(
    "f.kind = 'photo' AND f.image_seq IS NULL AND EXISTS (
        SELECT 1 FROM images AS i WHERE i.original = f.original AND i.account_id = f.account_id
    )"
);

// Checks only folders in the tree, because the sweep does not update the sums of the others.
pub(super) const FOLDER_BYTES: &str = files_with!(
    "f.kind = 'folder'
    AND f.bytes <> (SELECT coalesce(sum(m.bytes), 0) FROM files AS m WHERE m.parent_id = f.id)
    AND EXISTS (
        WITH RECURSIVE above (id, parent_id, deleted_at_ms) AS (
            SELECT f.id, f.parent_id, f.deleted_at_ms
            UNION
            SELECT p.id, p.parent_id, p.deleted_at_ms FROM above JOIN files AS p ON p.id = above.parent_id
        )
        SELECT 1 FROM above WHERE parent_id IS NULL AND deleted_at_ms IS NULL
    )"
);

const ADD_UP: &str = "
WITH members (bytes) AS (SELECT CAST(coalesce(sum(m.bytes), 0) AS BIGINT) FROM files AS m WHERE m.parent_id = $1)
UPDATE files SET version = version + 1, bytes = (SELECT bytes FROM members)
WHERE id = $1 AND kind = 'folder' AND ($2 OR bytes <> (SELECT bytes FROM members))";

#[derive(QueryableByName)]
struct Above {
    #[diesel(sql_type = BigInt)]
    id: i64,
}

const ABOVE: &str = "
WITH RECURSIVE above (id, parent_id, distance) AS (
    SELECT id, parent_id, CAST(0 AS BIGINT) FROM files WHERE id = $1
    UNION ALL
    SELECT p.id, p.parent_id, distance + 1 FROM above JOIN files AS p ON p.id = above.parent_id
    WHERE distance < $2
)
SELECT id FROM above ORDER BY distance";

/// Computes the sum of bytes of a folder, and then those of all folders above it. The sums of the folders in it are taken
/// as they are: when one of these is corrected later, this folder is corrected again.
pub(super) fn add_up(c: &mut SqlConnection, folder: i64) -> Result<(), SqlError> {
    let max_depth = i64::try_from(domain::FilePath::MAX_DEPTH).unwrap_or(i64::MAX);
    let above: Vec<Above> =
        statement(ABOVE).bind::<BigInt, _>(folder).bind::<BigInt, _>(max_depth).load(c)?;
    let mut has_changed = false;
    for Above { id } in above {
        // A folder's version rises with every change below it.
        let changed = statement(ADD_UP).bind::<BigInt, _>(id).bind::<Bool, _>(has_changed).execute(c)?;
        has_changed |= changed > 0;
    }
    Ok(())
}

pub(super) fn keep_partial_original(c: &mut SqlConnection, file: i64) -> Result<(), SqlError> {
    let partial = files::table.find(file).filter(files::kind.eq("partial"));
    let found = partial.select((files::original, files::bytes)).get_result::<(Option<Vec<u8>>, i64)>(c);
    let Some((Some(original), bytes)) = found.optional()? else { return Ok(()) };
    keep_always(c, domain::BlobKind::Original, &original, bytes)
}

/// Creates the root folder of an account that has no files. Files without a root are left to the operator.
pub(super) fn create_root(c: &mut SqlConnection, account: i64, at: Timestamp) -> Result<(), SqlError> {
    let known = accounts::table
        .find(account)
        .filter(accounts::deleted_at_ms.is_null())
        .select(accounts::id)
        .get_result::<i64>(c)
        .optional()?;
    let file =
        files::table.filter(files::account_id.eq(account)).select(files::id).first::<i64>(c).optional()?;
    match (known, file) {
        (Some(_), None) => create_root_folder(c, account, at),
        _ => Ok(()),
    }
}

/// Gives a photo file the image that its account has with the same content.
pub(super) fn link_photo_file(c: &mut SqlConnection, file: i64) -> Result<(), SqlError> {
    let found = files::table
        .find(file)
        .filter(files::image_seq.is_null())
        .select((files::account_id, files::original))
        .get_result::<(i64, Option<Vec<u8>>)>(c)
        .optional()?;
    let Some((account, Some(original))) = found else { return Ok(()) };
    let image = images::table
        .filter(images::account_id.eq(account))
        .filter(images::original.eq(&original))
        .select(images::seq)
        .get_result::<i64>(c)
        .optional()?;
    let Some(image) = image else { return Ok(()) };
    let original = RowReader::new("files", &file).required("original", ContentHash::from_slice(&original))?;
    link_files(c, account, &original, image)
}

/// Clears the mark of an image that is not deleted.
pub(super) fn clear_mark(c: &mut SqlConnection, seq: i64) -> Result<(), SqlError> {
    diesel::update(images::table.find(seq))
        .filter(images::deleted_at_ms.is_null())
        .set(images::deleted_with_files.eq(false))
        .execute(c)?;
    Ok(())
}
