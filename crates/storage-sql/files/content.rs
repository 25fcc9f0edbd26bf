use diesel::{OptionalExtension, prelude::*};
use domain::{AccountId, ContentHash, Timestamp};
use storage::{FileChange, FileRefusal, NewFile, NewFileContent, NewImage, RestoreDeleted};

use super::error::FileError;
use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        account_rows::{adjust_stored_bytes, store_bytes},
        deletion::delete_without_files,
        originals::{self, Hold},
        queue,
        schema::{files, images},
        value::stored_bytes,
    },
};

/// The columns of a file that its content defines.
#[derive(Insertable, AsChangeset)]
#[diesel(table_name = files, treat_none_as_null = true)]
pub(super) struct ContentColumns<'a> {
    kind: &'static str,
    pub(super) bytes: i64,
    modified_at_ms: Option<i64>,
    created_at_ms: Option<i64>,
    received_at_ms: i64,
    sha1: Option<&'a [u8]>,
    original: Option<&'a [u8]>,
    media_type: Option<&'static str>,
    image_seq: Option<i64>,
    sidecar_kind: Option<&'static str>,
    sidecar: Option<&'a [u8]>,
}

/// Adds the image or holds the original of a new file.
pub(super) fn store<'a>(
    c: &mut SqlConnection,
    change: &FileChange,
    file: &'a NewFile,
) -> Result<ContentColumns<'a>, FileError> {
    let columns = ContentColumns {
        kind: "placeholder",
        bytes: stored_bytes(file.bytes)?,
        modified_at_ms: file.times.modified_at.map(Timestamp::millis),
        created_at_ms: file.times.created_at.map(Timestamp::millis),
        received_at_ms: change.at.millis(),
        sha1: file.sha1.as_ref().map(<[u8; 20]>::as_slice),
        original: None,
        media_type: None,
        image_seq: None,
        sidecar_kind: None,
        sidecar: None,
    };
    Ok(match &file.content {
        NewFileContent::Photo(image) => ContentColumns {
            kind: "photo",
            original: Some(image.original.as_bytes().as_slice()),
            image_seq: add_image(c, change.account, image)?,
            ..columns
        },
        NewFileContent::Partial { original, media_type } => {
            hold(c, change, original)?;
            ContentColumns {
                kind: "partial",
                original: Some(original.as_bytes().as_slice()),
                media_type: Some(media_type),
                ..columns
            }
        }
        NewFileContent::Sidecar(kind, content) => {
            if !store_bytes(c, change.account.0, columns.bytes, change.quota_bytes)? {
                return Err(FileRefusal::QuotaExceeded.into());
            }
            ContentColumns {
                kind: "sidecar",
                sidecar_kind: Some(kind.as_str()),
                sidecar: Some(content),
                ..columns
            }
        }
        NewFileContent::Junk => ContentColumns { kind: "junk", ..columns },
        NewFileContent::Placeholder => columns,
    })
}

fn hold(c: &mut SqlConnection, change: &FileChange, original: &ContentHash) -> Result<(), FileError> {
    match originals::hold(c, change.account.0, original, change.quota_bytes)? {
        Hold::Done => Ok(()),
        Hold::QuotaExceeded => Err(FileRefusal::QuotaExceeded.into()),
        Hold::Gone => Err(FileRefusal::OriginalGone.into()),
    }
}

/// Adds the image of a file; returns its number. `None` if the account's image with these bytes was purged and a file
/// of it still exists; such an image is not added again.
pub(super) fn add_image(
    c: &mut SqlConnection,
    account: AccountId,
    image: &NewImage,
) -> Result<Option<i64>, FileError> {
    if is_purged(c, account, &image.original)? {
        return Ok(None);
    }
    let image = NewImage { account, restore_deleted: RestoreDeleted::IfDeletedWithFiles, ..image.clone() };
    if let Some(refusal) = queue::add(c, &image)?.file_refusal() {
        return Err(refusal.into());
    }
    let seq = images::table
        .filter(images::account_id.eq(account.0))
        .filter(images::original.eq(image.original.as_bytes().as_slice()))
        .select(images::seq)
        .get_result(c)?;
    Ok(Some(seq))
}

fn is_purged(c: &mut SqlConnection, account: AccountId, original: &ContentHash) -> Result<bool, SqlError> {
    // If the account has the image, all files with these bytes refer to it. Checking each file would be slow, because
    // there may be very many.
    if originals::account_has_image(c, account.0, original.as_bytes())? {
        return Ok(false);
    }
    let file = files::table
        .filter(files::original.eq(original.as_bytes().as_slice()))
        .filter(files::account_id.eq(account.0))
        .filter(files::kind.eq("photo"))
        .filter(files::image_seq.is_null())
        .select(files::id)
        .first::<i64>(c)
        .optional()?;
    Ok(file.is_some())
}

/// What a file refers to.
#[derive(Debug, Queryable, Selectable)]
#[diesel(table_name = files, check_for_backend(crate::Backend))]
pub(super) struct References {
    account_id: i64,
    pub(super) kind: String,
    bytes: i64,
    pub(super) original: Option<Vec<u8>>,
    image_seq: Option<i64>,
}

impl References {
    pub(super) fn of(c: &mut SqlConnection, file: i64) -> Result<Self, SqlError> {
        Ok(files::table.find(file).select(Self::as_select()).get_result(c)?)
    }

    /// Frees the bytes of a sidecar that is removed or gets other content.
    pub(super) fn free_sidecar(&self, c: &mut SqlConnection) -> Result<(), SqlError> {
        match self.kind.as_str() {
            "sidecar" => adjust_stored_bytes(c, self.account_id, -self.bytes),
            _ => Ok(()),
        }
    }

    /// Releases the original of a partial file, and deletes the image whose last file this was. To be called after the
    /// file was removed or got other content.
    pub(super) fn end(&self, c: &mut SqlConnection, at: Timestamp) -> Result<(), SqlError> {
        if let Some(image) = self.image_seq {
            delete_without_files(c, image, at)?;
        }
        match &self.original {
            Some(original) if self.kind == "partial" => originals::release(c, self.account_id, original),
            _ => Ok(()),
        }
    }
}
