use std::collections::HashMap;

use diesel::{
    OptionalExtension, SqliteConnection,
    dsl::max,
    prelude::*,
    sql_query,
    sql_types::{BigInt, Binary},
};
use domain::AccountId;
use storage::{EncoderId, StoredVector, VectorId};

use crate::{
    error::Failure,
    schema::{encoders, image_vectors, images},
    value::RowName,
};

pub(super) fn encoder(c: &mut SqliteConnection, name: &str) -> Result<Option<EncoderId>, Failure> {
    let id = encoders::table.filter(encoders::name.eq(name)).select(encoders::id).get_result(c).optional()?;
    Ok(id.map(EncoderId))
}

pub(super) fn newest(
    c: &mut SqliteConnection,
    account: AccountId,
    encoder: EncoderId,
) -> Result<Option<VectorId>, Failure> {
    let newest: Option<i64> = image_vectors::table
        .filter(image_vectors::encoder_id.eq(encoder.0))
        .filter(image_vectors::account_id.eq(account.0))
        .select(max(image_vectors::id))
        .get_result(c)?;
    Ok(newest.map(VectorId))
}

pub(super) fn after(
    c: &mut SqliteConnection,
    account: AccountId,
    encoder: EncoderId,
    after: Option<VectorId>,
    most: u32,
) -> Result<Vec<StoredVector>, Failure> {
    type Row = (i64, i64, Vec<u8>, Option<i64>, Option<f64>, Option<f64>);
    let rows: Vec<Row> = image_vectors::table
        .inner_join(images::table)
        .filter(image_vectors::encoder_id.eq(encoder.0))
        .filter(image_vectors::account_id.eq(account.0))
        .filter(image_vectors::id.gt(after.map_or(0, |last| last.0)))
        .order(image_vectors::id)
        .limit(i64::from(most))
        .select((
            image_vectors::id,
            image_vectors::image_seq,
            image_vectors::vector,
            images::captured_at_ms,
            images::latitude,
            images::longitude,
        ))
        .load(c)?;
    rows.into_iter()
        .map(|(id, seq, vector, captured_at_ms, latitude, longitude)| {
            let name = RowName::new("images", &seq);
            let captured_at_ms = name.some("captured_at_ms", captured_at_ms)?;
            Ok(StoredVector {
                id: VectorId(id),
                image: storage::ImageKey(seq),
                captured_at: name.timestamp("captured_at_ms", captured_at_ms)?,
                position: name.position(latitude, longitude)?,
                vector,
            })
        })
        .collect()
}

// REPLACE takes a row of the same image and encoder away, and the new one has a new id.
const PUT: &str = "
INSERT OR REPLACE INTO image_vectors (encoder_id, account_id, image_seq, vector)
SELECT ?1, account_id, seq, ?3 FROM images WHERE seq = ?2";

/// Puts down what an image looks like to an encoder.
pub(crate) fn put(c: &mut SqliteConnection, seq: i64, name: &str, vector: &[u8]) -> Result<(), Failure> {
    let known = encoder(c, name)?;
    let encoder = match known {
        Some(known) => known.0,
        None => diesel::insert_into(encoders::table)
            .values(encoders::name.eq(name))
            .returning(encoders::id)
            .get_result(c)?,
    };
    sql_query(PUT).bind::<BigInt, _>(encoder).bind::<BigInt, _>(seq).bind::<Binary, _>(vector).execute(c)?;
    Ok(())
}

const RENAME: &str = "
INSERT OR REPLACE INTO image_vectors (encoder_id, account_id, image_seq, vector)
SELECT encoder_id, account_id, image_seq, vector FROM image_vectors WHERE image_seq = ?
ORDER BY id";

/// Gives the vectors of an image new ids, because its time or place, which are remembered with them, may have changed.
pub(crate) fn rename(c: &mut SqliteConnection, seq: i64) -> Result<(), Failure> {
    sql_query(RENAME).bind::<BigInt, _>(seq).execute(c)?;
    Ok(())
}

/// The names of the encoders that have seen each of these images.
pub(crate) fn encoders_of(
    c: &mut SqliteConnection,
    seqs: impl Iterator<Item = i64>,
) -> Result<HashMap<i64, Vec<String>>, Failure> {
    let rows: Vec<(i64, String)> = image_vectors::table
        .inner_join(encoders::table)
        .filter(image_vectors::image_seq.eq_any(seqs))
        .select((image_vectors::image_seq, encoders::name))
        .load(c)?;
    let mut seen_by: HashMap<i64, Vec<String>> = HashMap::new();
    for (seq, name) in rows {
        seen_by.entry(seq).or_default().push(name);
    }
    Ok(seen_by)
}

/// Whether there are encoders other than these.
pub(crate) fn any_other(c: &mut SqliteConnection, names: &[String]) -> Result<bool, Failure> {
    Ok(diesel::select(diesel::dsl::exists(encoders::table.filter(encoders::name.ne_all(names))))
        .get_result(c)?)
}

/// Forgets vectors of encoders other than these; with the last one its encoder.
pub(crate) fn drop_others(c: &mut SqliteConnection, names: &[String], most: u32) -> Result<u32, Failure> {
    let others: Vec<i64> =
        encoders::table.filter(encoders::name.ne_all(names)).select(encoders::id).load(c)?;
    let mut dropped = 0_usize;
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    for encoder in others {
        let room = most.saturating_sub(dropped);
        let some: Vec<i64> = image_vectors::table
            .filter(image_vectors::encoder_id.eq(encoder))
            .select(image_vectors::id)
            .limit(i64::try_from(room).unwrap_or(i64::MAX))
            .load(c)?;
        for batch in some.chunks(500) {
            dropped +=
                diesel::delete(image_vectors::table.filter(image_vectors::id.eq_any(batch))).execute(c)?;
        }
        if some.len() < room {
            diesel::delete(encoders::table.find(encoder)).execute(c)?;
        }
    }
    Ok(u32::try_from(dropped).unwrap_or(u32::MAX))
}
