use diesel::{
    OptionalExtension, QueryableByName,
    dsl::{exists, max},
    prelude::*,
    select,
    sql_types::{BigInt, Nullable, Text},
};
use storage::{Stage, StageId, VersionPolicy};

use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        schema::{images, stage_failures, stage_jobs, stages},
        statement,
        value::RowReader,
    },
};

#[derive(Queryable, Selectable)]
#[diesel(table_name = stages, check_for_backend(crate::Backend))]
pub(super) struct StageRow {
    id: i64,
    name: String,
    version: String,
    complete_version: Option<String>,
    revision: i64,
}

impl TryFrom<StageRow> for Stage {
    type Error = SqlError;

    fn try_from(row: StageRow) -> Result<Self, SqlError> {
        Ok(Self {
            id: StageId(row.id),
            revision: RowReader::new("stages", &row.id).unsigned("revision", row.revision)?,
            name: row.name,
            version: row.version,
            complete_version: row.complete_version,
        })
    }
}

pub(super) fn stage(c: &mut SqlConnection, name: &str) -> Result<Option<Stage>, SqlError> {
    let known: Option<StageRow> =
        stages::table.filter(stages::name.eq(name)).select(StageRow::as_select()).get_result(c).optional()?;
    known.map(Stage::try_from).transpose()
}

/// The stage; `None` if it has to be added or changed to this version.
pub(super) fn opened(
    c: &mut SqlConnection,
    name: &str,
    (version, revision): (&str, u32),
    other_version: VersionPolicy,
) -> Result<Option<Stage>, SqlError> {
    Ok(stage(c, name)?.filter(|known| {
        known.revision > revision
            || (known.version == version && known.revision == revision)
            || other_version == VersionPolicy::Keep
    }))
}

pub(super) fn open(
    c: &mut SqlConnection,
    name: &str,
    (version, revision): (&str, u32),
    other_version: VersionPolicy,
) -> Result<Stage, SqlError> {
    if let Some(known) = opened(c, name, (version, revision), other_version)? {
        return Ok(known);
    }
    match stage(c, name)? {
        Some(known) => {
            let id = known.id.0;
            diesel::update(stages::table.find(id))
                .set((
                    stages::version.eq(version),
                    stages::revision.eq(i64::from(revision)),
                    stages::fill_below.eq(next_seq(c)?),
                ))
                .execute(c)?;
            diesel::delete(stage_failures::table.filter(stage_failures::stage_id.eq(id))).execute(c)?;
            // Workers of the previous version lose their leases.
            statement(
                "UPDATE stage_jobs
                SET attempts = 0, not_before_ms = 0, leased_by = NULL, leased_until_ms = NULL
                WHERE stage_id = $1 AND (attempts <> 0 OR not_before_ms <> 0 OR leased_by IS NOT NULL)",
            )
            .bind::<BigInt, _>(id)
            .execute(c)?;
            Ok(Stage { version: version.to_owned(), revision, ..known })
        }
        None => {
            let fill_below = next_seq(c)?;
            let row: StageRow = diesel::insert_into(stages::table)
                .values((
                    stages::name.eq(name),
                    stages::version.eq(version),
                    stages::revision.eq(i64::from(revision)),
                    stages::fill_below.eq(fill_below),
                ))
                .returning(StageRow::as_returning())
                .get_result(c)?;
            row.try_into()
        }
    }
}

/// A row number above those of all images.
fn next_seq(c: &mut SqlConnection) -> Result<i64, SqlError> {
    let last: Option<i64> = images::table.select(max(images::seq)).get_result(c)?;
    Ok(last.unwrap_or(0).saturating_add(1))
}

pub(super) fn restart_backfill(c: &mut SqlConnection, stage: StageId) -> Result<(), SqlError> {
    let fill_below = next_seq(c)?;
    diesel::update(stages::table.find(stage.0)).set(stages::fill_below.eq(fill_below)).execute(c)?;
    Ok(())
}

/// Whether the backfill has images left to check.
pub(super) fn has_backfill(c: &mut SqlConnection, stage: StageId) -> Result<bool, SqlError> {
    let below = stages::table.find(stage.0).select(stages::fill_below).get_result::<i64>(c).optional()?;
    Ok(below.is_some_and(|below| below > 0))
}

#[derive(QueryableByName)]
struct BatchStart {
    #[diesel(sql_type = Nullable<BigInt>)]
    seq: Option<i64>,
}

// Reads a limited number of images from the end of the table.
const BATCH_START: &str = "
SELECT min(seq) AS seq FROM (SELECT seq FROM images WHERE seq < $1 ORDER BY seq DESC LIMIT $2) AS batch";

const BACKFILL: &str = "
INSERT INTO stage_jobs (stage_id, image_seq)
SELECT $1, i.seq FROM images AS i
WHERE i.seq >= $2 AND i.seq < $3 AND i.state = 'ready'
    AND NOT EXISTS (SELECT 1 FROM stage_failures AS f WHERE f.stage_id = $1 AND f.image_seq = i.seq)
    AND ($4 IS NULL OR NOT EXISTS (
        SELECT 1 FROM image_vectors AS v
        WHERE v.image_seq = i.seq AND v.encoder_id = (SELECT id FROM encoders WHERE name = $4)
    ))
ORDER BY i.seq DESC
ON CONFLICT DO NOTHING";

pub(super) fn backfill(
    c: &mut SqlConnection,
    stage: StageId,
    encoder: Option<&str>,
    max: u32,
) -> Result<bool, SqlError> {
    let below = stages::table.find(stage.0).select(stages::fill_below).get_result::<i64>(c).optional()?;
    let Some(below) = below.filter(|below| *below > 0) else { return Ok(false) };
    let start: BatchStart =
        statement(BATCH_START).bind::<BigInt, _>(below).bind::<BigInt, _>(i64::from(max)).get_result(c)?;
    if let Some(start) = start.seq {
        statement(BACKFILL)
            .bind::<BigInt, _>(stage.0)
            .bind::<BigInt, _>(start)
            .bind::<BigInt, _>(below)
            .bind::<Nullable<Text>, _>(encoder)
            .execute(c)?;
    }
    diesel::update(stages::table.find(stage.0))
        .set(stages::fill_below.eq(start.seq.unwrap_or(0)))
        .execute(c)?;
    Ok(start.seq.is_some())
}

pub(super) fn mark_complete(c: &mut SqlConnection, stage: StageId, version: &str) -> Result<bool, SqlError> {
    let has_jobs =
        select(exists(stage_jobs::table.filter(stage_jobs::stage_id.eq(stage.0)))).get_result(c)?;
    if has_jobs {
        return Ok(false);
    }
    let updated = diesel::update(
        stages::table.find(stage.0).filter(stages::version.eq(version)).filter(stages::fill_below.le(0)),
    )
    .set(stages::complete_version.eq(version))
    .execute(c)?;
    Ok(updated > 0)
}
