use std::collections::HashMap;

use diesel::{
    prelude::*,
    sql_types::{BigInt, Binary, Text},
};
use domain::{Sidecar, SidecarKind};

use crate::{
    SqlConnection,
    error::SqlError,
    sql::{schema::sidecars, statement, value::RowReader},
};

const STORE: &str = "
INSERT INTO sidecars (image_seq, kind, content) VALUES ($1, $2, $3)
ON CONFLICT (image_seq, kind) DO UPDATE SET content = excluded.content WHERE sidecars.content <> excluded.content";

/// Stores the sidecars of an image; returns whether any is new or differs.
pub(crate) fn store(c: &mut SqlConnection, seq: i64, sidecars: &[Sidecar]) -> Result<bool, SqlError> {
    insert(c, STORE, seq, sidecars)
}

/// Returns whether any row changed.
fn insert(
    c: &mut SqlConnection,
    insert: &'static str,
    seq: i64,
    sidecars: &[Sidecar],
) -> Result<bool, SqlError> {
    // The last of each kind, so that storing the same ones again changes nothing.
    let of_each_kind =
        SidecarKind::ALL.into_iter().filter_map(|kind| sidecars.iter().rfind(|sidecar| sidecar.kind == kind));
    let mut changed = 0;
    for sidecar in of_each_kind {
        changed += statement(insert)
            .bind::<BigInt, _>(seq)
            .bind::<Text, _>(sidecar.kind.as_str())
            .bind::<Binary, _>(&sidecar.content)
            .execute(c)?;
    }
    Ok(changed > 0)
}

const STORE_MISSING: &str = "
INSERT INTO sidecars (image_seq, kind, content) VALUES ($1, $2, $3) ON CONFLICT (image_seq, kind) DO NOTHING";

/// Stores sidecars whose kind the image lacks; returns whether there are any.
pub(crate) fn store_missing(c: &mut SqlConnection, seq: i64, sidecars: &[Sidecar]) -> Result<bool, SqlError> {
    insert(c, STORE_MISSING, seq, sidecars)
}

/// The sidecars of images; those of each image in order of kind.
pub(crate) fn of(c: &mut SqlConnection, seqs: &[i64]) -> Result<HashMap<i64, Vec<Sidecar>>, SqlError> {
    let rows: Vec<(i64, String, Vec<u8>)> = sidecars::table
        .filter(sidecars::image_seq.eq_any(seqs.iter().copied()))
        .select((sidecars::image_seq, sidecars::kind, sidecars::content))
        .load(c)?;
    let mut of: HashMap<i64, Vec<Sidecar>> = HashMap::new();
    for (seq, kind, content) in rows {
        let kind = RowReader::new("sidecars", &seq).required("kind", SidecarKind::from_name(&kind))?;
        of.entry(seq).or_default().push(Sidecar { kind, content });
    }
    for sidecars in of.values_mut() {
        sidecars.sort_by_key(|sidecar| sidecar.kind);
    }
    Ok(of)
}
