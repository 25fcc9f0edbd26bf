use diesel::{OptionalExtension, prelude::*};
use domain::{AccountId, ContentHash, ImageId, Rendition, Sidecar};
use storage::{BlobKind, RenditionSource, StoredRendition};

use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        blob_registry,
        image_rows::{ImageWithOwner, owner_columns, visible_to_owner},
        rendition_queue,
        schema::{accounts, images, renditions},
        sidecars,
        value::{RowReader, stored_bytes},
    },
};

#[derive(Queryable, Selectable)]
#[diesel(table_name = renditions, check_for_backend(crate::Backend))]
struct RenditionRow {
    name: String,
    blob: Vec<u8>,
    bytes: i64,
    width: i64,
    height: i64,
}

impl RenditionRow {
    fn read(self, original: &ContentHash) -> Result<StoredRendition, SqlError> {
        let reader = RowReader::new("renditions", original);
        Ok(StoredRendition {
            rendition: reader.required("name", Rendition::from_name(&self.name))?,
            blob: reader.hash("blob", &self.blob)?,
            bytes: reader.unsigned("bytes", self.bytes)?,
            size: reader.size(self.width, self.height)?,
        })
    }
}

/// The columns of an image that its renditions are made from.
#[derive(Queryable, Selectable)]
#[diesel(table_name = images, check_for_backend(crate::Backend))]
struct OriginalRow {
    original: Vec<u8>,
    original_bytes: i64,
    decoder_version: Option<i64>,
}

type SourceRow = (ImageWithOwner, OriginalRow, Option<RenditionRow>);

/// An image with its owner and one of its renditions.
macro_rules! source_rows {
    ($id:expr, $rendition:expr) => {
        images::table
            .inner_join(accounts::table)
            .left_join(
                renditions::table.on(renditions::original
                    .eq(images::original)
                    .and(renditions::name.eq($rendition.name()))),
            )
            .filter(images::id.eq($id.as_str()))
            .select((owner_columns!(), OriginalRow::as_select(), Option::<RenditionRow>::as_select()))
    };
}

/// The source of a rendition by a single query; `None` if the free window decides on it.
pub(crate) fn source_by_one_query(
    c: &mut SqlConnection,
    id: &ImageId,
    rendition: Rendition,
    free_window: u32,
) -> Result<Option<Option<RenditionSource>>, SqlError> {
    let found: Option<SourceRow> = source_rows!(id, rendition).get_result(c).optional()?;
    let Some(row) = found else { return Ok(Some(None)) };
    Ok(match row.0.is_visible_to_owner(free_window)? {
        None => None,
        Some(false) => Some(None),
        Some(true) => Some(Some(read_source(row)?)),
    })
}

fn read_source((image, row, stored): SourceRow) -> Result<RenditionSource, SqlError> {
    let reader = RowReader::new("images", &image.seq);
    let original = reader.hash("original", &row.original)?;
    Ok(RenditionSource {
        owner: AccountId(image.account),
        original,
        original_bytes: reader.unsigned("original_bytes", row.original_bytes)?,
        picture_version: reader.unsigned("decoder_version", row.decoder_version.unwrap_or(0))?,
        stored: stored.map(|stored| stored.read(&original)).transpose()?,
    })
}

/// The source of a rendition, if the image is visible to its owner.
pub(crate) fn source(
    c: &mut SqlConnection,
    id: &ImageId,
    rendition: Rendition,
    free_window: u32,
) -> Result<Option<RenditionSource>, SqlError> {
    let Some(image) = visible_to_owner(c, id, free_window)? else { return Ok(None) };
    let row = images::table.find(image.seq).select(OriginalRow::as_select()).get_result(c)?;
    let stored = renditions::table
        .find((&row.original, rendition.name()))
        .select(RenditionRow::as_select())
        .get_result(c)
        .optional()?;
    read_source((image, row, stored)).map(Some)
}

/// The source of a rendition of an account's deleted image.
pub(crate) fn trashed_source(
    c: &mut SqlConnection,
    account: AccountId,
    id: &ImageId,
    rendition: Rendition,
) -> Result<Option<RenditionSource>, SqlError> {
    let found: Option<SourceRow> = source_rows!(id, rendition)
        .filter(images::account_id.eq(account.0))
        .filter(images::deleted_at_ms.is_not_null())
        .filter(images::captured_at_ms.is_not_null())
        .filter(accounts::deleted_at_ms.is_null())
        .get_result(c)
        .optional()?;
    found.map(read_source).transpose()
}

fn blob_of(
    c: &mut SqlConnection,
    original: &ContentHash,
    rendition: Rendition,
) -> Result<Option<Vec<u8>>, SqlError> {
    Ok(renditions::table
        .find((original.as_bytes().as_slice(), rendition.name()))
        .select(renditions::blob)
        .get_result(c)
        .optional()?)
}

fn insert(
    c: &mut SqlConnection,
    original: &ContentHash,
    rendition: &StoredRendition,
) -> Result<(), SqlError> {
    let columns = (
        renditions::blob.eq(rendition.blob.as_bytes().as_slice()),
        renditions::bytes.eq(stored_bytes(rendition.bytes)?),
        renditions::width.eq(i64::from(rendition.size.width)),
        renditions::height.eq(i64::from(rendition.size.height)),
    );
    diesel::insert_into(renditions::table)
        .values((
            renditions::original.eq(original.as_bytes().as_slice()),
            renditions::name.eq(rendition.rendition.name()),
            columns,
        ))
        .on_conflict((renditions::original, renditions::name))
        .do_update()
        .set(columns)
        .execute(c)?;
    Ok(())
}

/// Adds a rendition that was made after its image became visible; an existing one stays.
pub(crate) fn add(
    c: &mut SqlConnection,
    original: &ContentHash,
    rendition: &StoredRendition,
) -> Result<bool, SqlError> {
    blob_registry::lock_original(c, original.as_bytes())?;
    let image = images::table
        .filter(images::original.eq(original.as_bytes().as_slice()))
        .select(images::seq)
        .first::<i64>(c)
        .optional()?;
    if image.is_none() {
        return Ok(false);
    }
    if blob_of(c, original, rendition.rendition)?.is_some() {
        return Ok(true);
    }
    if !blob_registry::keep(c, BlobKind::Rendition, &rendition.blob)? {
        return Ok(false);
    }
    insert(c, original, rendition)?;
    if rendition.rendition == Rendition::Full {
        rendition_queue::drop_unneeded_job(c, original.as_bytes())?;
    }
    Ok(true)
}

/// Replaces renditions with those that indexing made. The blobs of the new ones can be kept. If they differ, renditions that
/// indexing did not make are removed, to be made again: a sidecar may have turned the picture.
pub(crate) fn replace(
    c: &mut SqlConnection,
    original: &ContentHash,
    made: &[StoredRendition],
) -> Result<(), SqlError> {
    let mut differ = false;
    for rendition in made {
        let older = blob_of(c, original, rendition.rendition)?;
        insert(c, original, rendition)?;
        blob_registry::keep(c, BlobKind::Rendition, &rendition.blob)?;
        if let Some(older) = older {
            differ |= older != rendition.blob.as_bytes();
            release_unused(c, &older)?;
        }
    }
    let is_made = |rendition: Rendition| made.iter().any(|made| made.rendition == rendition);
    let later = Rendition::ALL.into_iter().filter(|rendition| !rendition.is_displayable());
    for rendition in later.filter(|rendition| differ && !is_made(*rendition)) {
        if let Some(older) = blob_of(c, original, rendition)? {
            let key = (original.as_bytes().as_slice(), rendition.name());
            diesel::delete(renditions::table.find(key)).execute(c)?;
            release_unused(c, &older)?;
        }
    }
    Ok(())
}

/// Removes all renditions of an original.
pub(crate) fn remove_all(c: &mut SqlConnection, original: &[u8]) -> Result<(), SqlError> {
    let of_original = renditions::table.filter(renditions::original.eq(original));
    let blobs: Vec<Vec<u8>> = of_original.select(renditions::blob).load(c)?;
    diesel::delete(of_original).execute(c)?;
    for blob in blobs {
        release_unused(c, &blob)?;
    }
    Ok(())
}

/// Releases a rendition's blob, unless another original has an identical rendition.
fn release_unused(c: &mut SqlConnection, blob: &[u8]) -> Result<(), SqlError> {
    blob_registry::lock_rendition(c, blob)?;
    let used = renditions::table
        .filter(renditions::blob.eq(blob))
        .select(renditions::name)
        .first::<String>(c)
        .optional()?;
    if used.is_none() {
        blob_registry::release(c, BlobKind::Rendition, blob)?;
    }
    Ok(())
}

/// The sidecars of the newest undeleted image with this original.
pub(crate) fn sidecars_of_original(
    c: &mut SqlConnection,
    original: &ContentHash,
) -> Result<Vec<Sidecar>, SqlError> {
    let newest: Option<i64> = images::table
        .filter(images::original.eq(original.as_bytes().as_slice()))
        .filter(images::live.eq(true))
        .order(images::seq.desc())
        .select(images::seq)
        .first(c)
        .optional()?;
    let Some(seq) = newest else { return Ok(Vec::new()) };
    Ok(sidecars::of(c, &[seq])?.remove(&seq).unwrap_or_default())
}
