use diesel::{
    OptionalExtension, QueryableByName,
    prelude::*,
    sql_types::{BigInt, Nullable},
};
use domain::{BlobKind, Timestamp};
use storage::StoreRule;

use super::files;
use crate::{
    SqlConnection,
    error::SqlError,
    place_index,
    sql::{
        blob_registry::keep_always,
        map, months,
        originals::recount_stored_bytes,
        queue::replace_job,
        regions,
        schema::{image_vectors, images, renditions},
        statement,
        text::{add_text, forget_words, remove_text},
        value::RowReader,
        vectors,
    },
};

/// Repairs a row. Does nothing if the row no longer exists.
pub(super) fn repair(
    c: &mut SqlConnection,
    rule: StoreRule,
    row: i64,
    at: Timestamp,
) -> Result<(), SqlError> {
    match rule {
        StoreRule::OriginalIsKept => keep_original(c, row),
        StoreRule::PartialOriginalIsKept => files::keep_partial_original(c, row),
        StoreRule::RenditionsAreKept => keep_renditions(c, row),
        // A worker makes the renditions that the image lacks.
        StoreRule::RenditionsExist | StoreRule::RenditionsExistOrQueued | StoreRule::PendingImageHasJob => {
            replace_job(c, row, at)
        }
        StoreRule::ImageCount => count_images(c, row),
        StoreRule::TimelineMonths => months::recount(c, row),
        StoreRule::StoredBytes => recount_stored_bytes(c, row),
        StoreRule::RootFolder => files::create_root(c, row, at),
        // Nothing says which of the rows is right.
        StoreRule::FileParent | StoreRule::FileImage => Ok(()),
        StoreRule::PhotoFileHasImage => files::link_photo_file(c, row),
        StoreRule::DeletedWithFiles => files::clear_mark(c, row),
        StoreRule::FolderBytes => files::add_up(c, row),
        StoreRule::AlbumCopies => copy_capture_time(c, row),
        StoreRule::Regions => regions::update(c, row),
        StoreRule::PlaceIndex => index_place(c, row),
        StoreRule::MapPoint => map::update(c, row),
        StoreRule::MapCells => map::rebuild_cells(c, row),
        StoreRule::WordIndex => index_words(c, row),
        StoreRule::WordsHaveImage => forget_words(c, row),
        StoreRule::VectorsHaveImage => assign_vector(c, row),
    }
}

fn keep_original(c: &mut SqlConnection, seq: i64) -> Result<(), SqlError> {
    let image = images::table.find(seq).select((images::original, images::original_bytes));
    let Some((original, bytes)) = image.get_result::<(Vec<u8>, i64)>(c).optional()? else { return Ok(()) };
    keep_always(c, BlobKind::Original, &original, bytes)
}

fn keep_renditions(c: &mut SqlConnection, seq: i64) -> Result<(), SqlError> {
    let original = images::table.filter(images::seq.eq(seq)).select(images::original);
    let blobs: Vec<(Vec<u8>, i64)> = renditions::table
        .filter(renditions::original.eq_any(original))
        .select((renditions::blob, renditions::bytes))
        .load(c)?;
    blobs.iter().try_for_each(|(blob, bytes)| keep_always(c, BlobKind::Rendition, blob, *bytes))
}

fn count_images(c: &mut SqlConnection, account: i64) -> Result<(), SqlError> {
    statement(
        "UPDATE accounts SET live_images = (
            SELECT count(*) FROM images WHERE images.account_id = accounts.id AND images.live = TRUE
        ) WHERE id = $1",
    )
    .bind::<BigInt, _>(account)
    .execute(c)?;
    Ok(())
}

macro_rules! copy_again {
    ($table:literal) => {
        (
            // Only an image that has been ready can be in an album or have a facet.
            concat!(
                "DELETE FROM ",
                $table,
                " WHERE image_seq = $1
                    AND EXISTS (SELECT 1 FROM images WHERE seq = $1 AND captured_at_ms IS NULL)"
            ),
            concat!(
                "UPDATE ",
                $table,
                " SET captured_at_ms = images.captured_at_ms, live = images.live
                FROM images WHERE images.seq = ",
                $table,
                ".image_seq AND ",
                $table,
                ".image_seq = $1"
            ),
        )
    };
}

fn copy_capture_time(c: &mut SqlConnection, seq: i64) -> Result<(), SqlError> {
    for (delete, update) in [copy_again!("album_images"), copy_again!("image_facets")] {
        statement(delete).bind::<BigInt, _>(seq).execute(c)?;
        statement(update).bind::<BigInt, _>(seq).execute(c)?;
    }
    Ok(())
}

fn index_place(c: &mut SqlConnection, seq: i64) -> Result<(), SqlError> {
    let image = images::table.find(seq).select((images::account_id, images::latitude, images::longitude));
    type Row = (i64, Option<f64>, Option<f64>);
    let Some((account, latitude, longitude)) = image.get_result::<Row>(c).optional()? else {
        return Ok(());
    };
    place_index::remove(c, seq)?;
    match RowReader::new("images", &seq).position(latitude, longitude)? {
        Some(position) => place_index::add(c, seq, account, position),
        None => Ok(()),
    }
}

fn index_words(c: &mut SqlConnection, seq: i64) -> Result<(), SqlError> {
    let image = images::table.find(seq).select(images::seq).get_result::<i64>(c).optional()?;
    if image.is_none() {
        return Ok(());
    }
    remove_text(c, &[seq])?;
    add_text(c, &[seq])
}

#[derive(QueryableByName)]
struct VectorOwner {
    #[diesel(sql_type = BigInt)]
    image_seq: i64,
    /// `None` when there is no such ready image.
    #[diesel(sql_type = Nullable<BigInt>)]
    account_id: Option<i64>,
}

/// Gives a vector the account of its image, or deletes it if there is no such image.
fn assign_vector(c: &mut SqlConnection, id: i64) -> Result<(), SqlError> {
    let owner: Option<VectorOwner> = statement(
        "SELECT v.image_seq, i.account_id
        FROM image_vectors AS v LEFT JOIN images AS i ON i.seq = v.image_seq AND i.state = 'ready'
        WHERE v.id = $1",
    )
    .bind::<BigInt, _>(id)
    .get_result(c)
    .optional()?;
    let Some(owner) = owner else { return Ok(()) };
    let vector = image_vectors::table.find(id);
    match owner.account_id {
        None => {
            diesel::delete(vector).execute(c)?;
            Ok(())
        }
        Some(account) => {
            diesel::update(vector).set(image_vectors::account_id.eq(account)).execute(c)?;
            // Caches load only vectors with ids above those that they have.
            vectors::renumber(c, owner.image_seq)
        }
    }
}
