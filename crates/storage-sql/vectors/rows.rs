use std::collections::HashMap;

use diesel::{
    OptionalExtension,
    connection::DefaultLoadingMode,
    dsl::max,
    prelude::*,
    sql_types::{BigInt, Binary},
};
use domain::AccountId;
use storage::{EncoderId, StoredVector, VectorId};

use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        schema::{encoders, image_vectors, images},
        statement,
        value::RowReader,
    },
};

pub(super) fn encoder(c: &mut SqlConnection, name: &str) -> Result<Option<EncoderId>, SqlError> {
    let id = encoders::table.filter(encoders::name.eq(name)).select(encoders::id).get_result(c).optional()?;
    Ok(id.map(EncoderId))
}

pub(super) fn newest(
    c: &mut SqlConnection,
    account: AccountId,
    encoder: EncoderId,
) -> Result<Option<VectorId>, SqlError> {
    let newest: Option<i64> = image_vectors::table
        .filter(image_vectors::encoder_id.eq(encoder.0))
        .filter(image_vectors::account_id.eq(account.0))
        .select(max(image_vectors::id))
        .get_result(c)?;
    Ok(newest.map(VectorId))
}

pub(super) fn visit(
    c: &mut SqlConnection,
    account: AccountId,
    encoder: EncoderId,
    (after, last): (Option<VectorId>, VectorId),
    visit: &dyn Fn(StoredVector),
) -> Result<(), SqlError> {
    type Row = (i64, i64, Vec<u8>, Option<i64>, Option<f64>, Option<f64>);
    let rows = image_vectors::table
        .inner_join(images::table)
        .filter(image_vectors::encoder_id.eq(encoder.0))
        .filter(image_vectors::account_id.eq(account.0))
        .filter(image_vectors::id.gt(after.map_or(0, |last| last.0)))
        .filter(image_vectors::id.le(last.0))
        .order(image_vectors::id)
        .select((
            image_vectors::id,
            image_vectors::image_seq,
            image_vectors::vector,
            images::captured_at_ms,
            images::latitude,
            images::longitude,
        ))
        // Loads one row at a time, because allocating memory for thousands of vectors costs more than reading them.
        .load_iter::<Row, DefaultLoadingMode>(c)?;
    for row in rows {
        let (id, seq, vector, captured_at_ms, latitude, longitude) = row?;
        let reader = RowReader::new("images", &seq);
        let captured_at_ms = reader.required("captured_at_ms", captured_at_ms)?;
        visit(StoredVector {
            id: VectorId(id),
            image: storage::ImageKey(seq),
            captured_at: reader.timestamp("captured_at_ms", captured_at_ms)?,
            position: reader.position(latitude, longitude)?,
            vector,
        });
    }
    Ok(())
}

pub(super) fn nth_after(
    c: &mut SqlConnection,
    account: AccountId,
    encoder: EncoderId,
    after: Option<VectorId>,
    n: u32,
) -> Result<Option<VectorId>, SqlError> {
    let id = image_vectors::table
        .filter(image_vectors::encoder_id.eq(encoder.0))
        .filter(image_vectors::account_id.eq(account.0))
        .filter(image_vectors::id.gt(after.map_or(0, |last| last.0)))
        .order(image_vectors::id)
        .offset(i64::from(n.saturating_sub(1)))
        .limit(1)
        .select(image_vectors::id)
        .get_result(c)
        .optional()?;
    Ok(id.map(VectorId))
}

const STORE: &str = "
INSERT INTO image_vectors (encoder_id, account_id, image_seq, vector)
SELECT $1, account_id, seq, $2 FROM images WHERE seq = $3";

/// Stores the vector of an image by an encoder. The row gets a new id, even if the image had a vector before.
pub(crate) fn store(c: &mut SqlConnection, seq: i64, name: &str, vector: &[u8]) -> Result<(), SqlError> {
    let known = encoder(c, name)?;
    let encoder = match known {
        Some(known) => known.0,
        None => {
            // Another write may add it at the same time.
            diesel::insert_into(encoders::table)
                .values(encoders::name.eq(name))
                .on_conflict_do_nothing()
                .execute(c)?;
            encoders::table.filter(encoders::name.eq(name)).select(encoders::id).get_result(c)?
        }
    };
    let former = image_vectors::table
        .filter(image_vectors::image_seq.eq(seq))
        .filter(image_vectors::encoder_id.eq(encoder));
    diesel::delete(former).execute(c)?;
    statement(STORE)
        .bind::<BigInt, _>(encoder)
        .bind::<Binary, _>(vector)
        .bind::<BigInt, _>(seq)
        .execute(c)?;
    Ok(())
}

/// Gives the vectors of an image new ids, because caches keep its capture time and position with them, and these may
/// have changed.
pub(crate) fn renumber(c: &mut SqlConnection, seq: i64) -> Result<(), SqlError> {
    let mut former: Vec<(i64, i64, i64, Vec<u8>)> =
        diesel::delete(image_vectors::table.filter(image_vectors::image_seq.eq(seq)))
            .returning((
                image_vectors::id,
                image_vectors::encoder_id,
                image_vectors::account_id,
                image_vectors::vector,
            ))
            .get_results(c)?;
    former.sort_unstable_by_key(|(id, ..)| *id);
    for (_, encoder, account, vector) in former {
        diesel::insert_into(image_vectors::table)
            .values((
                image_vectors::encoder_id.eq(encoder),
                image_vectors::account_id.eq(account),
                image_vectors::image_seq.eq(seq),
                image_vectors::vector.eq(vector),
            ))
            .execute(c)?;
    }
    Ok(())
}

/// The names of the encoders that each of these images has vectors of.
pub(crate) fn encoders_of(
    c: &mut SqlConnection,
    seqs: impl Iterator<Item = i64>,
) -> Result<HashMap<i64, Vec<String>>, SqlError> {
    let rows: Vec<(i64, String)> = image_vectors::table
        .inner_join(encoders::table)
        .filter(image_vectors::image_seq.eq_any(seqs))
        .select((image_vectors::image_seq, encoders::name))
        .load(c)?;
    let mut encoders: HashMap<i64, Vec<String>> = HashMap::new();
    for (seq, name) in rows {
        encoders.entry(seq).or_default().push(name);
    }
    Ok(encoders)
}

/// Whether there are encoders other than these.
pub(crate) fn any_prunable(c: &mut SqlConnection, names: &[String]) -> Result<bool, SqlError> {
    Ok(diesel::select(diesel::dsl::exists(encoders::table.filter(encoders::name.ne_all(names))))
        .get_result(c)?)
}

/// Deletes vectors of encoders other than these, and each such encoder with its last vector.
pub(crate) fn prune(c: &mut SqlConnection, names: &[String], max_rows: u32) -> Result<u32, SqlError> {
    let others: Vec<i64> =
        encoders::table.filter(encoders::name.ne_all(names)).select(encoders::id).load(c)?;
    let mut deleted = 0_usize;
    let max_rows = usize::try_from(max_rows).unwrap_or(usize::MAX);
    for encoder in others {
        let remaining = max_rows.saturating_sub(deleted);
        let ids: Vec<i64> = image_vectors::table
            .filter(image_vectors::encoder_id.eq(encoder))
            .select(image_vectors::id)
            .limit(i64::try_from(remaining).unwrap_or(i64::MAX))
            .load(c)?;
        for batch in ids.chunks(500) {
            deleted +=
                diesel::delete(image_vectors::table.filter(image_vectors::id.eq_any(batch))).execute(c)?;
        }
        if ids.len() < remaining {
            diesel::delete(encoders::table.find(encoder)).execute(c)?;
        }
    }
    Ok(u32::try_from(deleted).unwrap_or(u32::MAX))
}
