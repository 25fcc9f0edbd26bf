use diesel::{
    OptionalExtension,
    dsl::sql,
    prelude::*,
    sql_types::{BigInt, Bool},
};
use domain::ContentHash;
use storage::BlobKind;

use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        account_rows::{adjust_stored_bytes, store_bytes},
        blob_registry,
        schema::{files, images},
        statement,
    },
};

/// The definition of `accounts.stored_bytes`, which all operations keep up to date: the bytes that the account `a` stores.
/// An original counts once, whether images or partial files refer to it. To count something new, add a term here.
macro_rules! stored_bytes_of_account {
    () => {
        "(
            coalesce((SELECT sum(i.original_bytes) FROM images AS i WHERE i.account_id = a.id), 0)
            + coalesce((
                SELECT sum(bytes) FROM (
                    SELECT DISTINCT f.original, f.bytes FROM files AS f
                    WHERE f.account_id = a.id AND f.kind = 'partial' AND NOT EXISTS (
                        SELECT 1 FROM images AS i WHERE i.account_id = a.id AND i.original = f.original
                    )
                ) AS partial_files
            ), 0)
            + coalesce((SELECT sum(f.bytes) FROM files AS f WHERE f.account_id = a.id AND f.kind = 'sidecar'), 0)
            + coalesce((
                SELECT sum(p.bytes) FROM uploads AS u JOIN upload_parts AS p ON p.upload_id = u.id
                WHERE u.account_id = a.id
            ), 0)
        )"
    };
}

/// Finds the accounts after `$1` up to `$2` whose stored bytes are wrong. `$3` is not null.
pub(crate) const WRONG_STORED_BYTES: &str = concat!(
    "SELECT id AS key, CAST(NULL AS BIGINT) AS image, email || ': ' || stored || ' bytes stored, ' || counted || ' counted' AS detail
    FROM (
        SELECT a.id, a.email, a.stored_bytes AS stored, ",
    stored_bytes_of_account!(),
    " AS counted FROM accounts AS a
        WHERE a.id > $1 AND a.id <= $2 AND a.deleted_at_ms IS NULL AND $3 IS NOT NULL
    ) AS counts
    WHERE stored <> counted"
);

/// Recomputes how many bytes an account stores.
pub(crate) fn recount_stored_bytes(c: &mut SqlConnection, account: i64) -> Result<(), SqlError> {
    statement(concat!(
        "UPDATE accounts AS a SET stored_bytes = ",
        stored_bytes_of_account!(),
        " WHERE a.id = $1"
    ))
    .bind::<BigInt, _>(account)
    .execute(c)?;
    Ok(())
}

/// The outcome of holding an original.
pub(crate) enum Hold {
    Done,
    QuotaExceeded,
    /// The blob is not announced, or is being removed.
    Gone,
}

/// Keeps an original that an image or a partial file of the account is about to refer to. The account stores the bytes
/// of an original once, however many of its images and files refer to it.
pub(crate) fn hold(
    c: &mut SqlConnection,
    account: i64,
    original: &ContentHash,
    quota_bytes: Option<u64>,
) -> Result<Hold, SqlError> {
    if !blob_registry::can_keep(c, BlobKind::Original, original)? {
        return Ok(Hold::Gone);
    }
    let hash = original.as_bytes().as_slice();
    if !is_held(c, account, hash)? {
        let bytes = blob_registry::length(c, BlobKind::Original, hash)?;
        if !store_bytes(c, account, bytes, quota_bytes)? {
            return Ok(Hold::QuotaExceeded);
        }
    }
    blob_registry::keep(c, BlobKind::Original, original)?;
    Ok(Hold::Done)
}

/// Ends the hold of an image or partial file that no longer refers to the original.
pub(crate) fn release(c: &mut SqlConnection, account: i64, original: &[u8]) -> Result<(), SqlError> {
    blob_registry::lock_original(c, original)?;
    if !is_held(c, account, original)? {
        let bytes = blob_registry::length(c, BlobKind::Original, original)?;
        adjust_stored_bytes(c, account, -bytes)?;
    }
    if !has_image(c, original)? && !has_partial_file(c, original)? {
        blob_registry::release(c, BlobKind::Original, original)?;
    }
    Ok(())
}

/// Whether an image or a partial file of the account refers to the original.
pub(crate) fn is_held(c: &mut SqlConnection, account: i64, original: &[u8]) -> Result<bool, SqlError> {
    if account_has_image(c, account, original)? {
        return Ok(true);
    }
    let partial = files::table
        .filter(files::original.eq(original))
        .filter(files::account_id.eq(account))
        // A literal, because SQLite does not match a partial index with a parameter.
        .filter(sql::<Bool>("kind = 'partial'"))
        .select(files::id)
        .first::<i64>(c)
        .optional()?;
    Ok(partial.is_some())
}

pub(crate) fn account_has_image(
    c: &mut SqlConnection,
    account: i64,
    original: &[u8],
) -> Result<bool, SqlError> {
    let image = images::table
        .filter(images::account_id.eq(account))
        .filter(images::original.eq(original))
        .select(images::seq)
        .get_result::<i64>(c)
        .optional()?;
    Ok(image.is_some())
}

/// Whether an image of any account has the original.
pub(crate) fn has_image(c: &mut SqlConnection, original: &[u8]) -> Result<bool, SqlError> {
    let image =
        images::table.filter(images::original.eq(original)).select(images::seq).first::<i64>(c).optional()?;
    Ok(image.is_some())
}

pub(crate) fn has_partial_file(c: &mut SqlConnection, original: &[u8]) -> Result<bool, SqlError> {
    let partial = files::table
        .filter(files::original.eq(original))
        .filter(sql::<Bool>("kind = 'partial'"))
        .select(files::id)
        .first::<i64>(c)
        .optional()?;
    Ok(partial.is_some())
}

/// Links a new image to the account's files with the same bytes, whose former image was purged.
pub(crate) fn link_files(
    c: &mut SqlConnection,
    account: i64,
    original: &ContentHash,
    image: i64,
) -> Result<(), SqlError> {
    let of_original = files::table
        .filter(files::original.eq(original.as_bytes().as_slice()))
        .filter(files::account_id.eq(account))
        .filter(files::kind.eq("photo"));
    diesel::update(of_original).set(files::image_seq.eq(image)).execute(c)?;
    Ok(())
}
