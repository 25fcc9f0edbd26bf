use diesel::{
    QueryableByName,
    prelude::*,
    sql_types::{BigInt, Nullable},
};
use domain::{AccountId, ImageId};
use storage::{Stage, StageId, StageProgress};

use super::registry::StageRow;
use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        schema::{images, stage_jobs, stages},
        statement,
        value::RowReader,
    },
};

#[derive(QueryableByName)]
struct StageCounts {
    #[diesel(sql_type = BigInt)]
    queued: i64,
    #[diesel(sql_type = BigInt)]
    not_checked: i64,
    #[diesel(sql_type = BigInt)]
    failed: i64,
}

// An image that the backfill has not checked yet may be queued already; it counts once. For a stage that was complete
// before, unchecked images do not count.
const COUNTS: &str = "
SELECT
    (SELECT count(*) FROM stage_jobs AS j
        WHERE j.stage_id = $1 AND j.image_seq >= s.below
            AND ($2 IS NULL OR EXISTS (
                SELECT 1 FROM images AS i WHERE i.seq = j.image_seq AND i.account_id = $2
            ))) AS queued,
    (SELECT count(*) FROM images AS i
        WHERE i.seq < s.below AND i.state = 'ready' AND ($2 IS NULL OR i.account_id = $2)
    ) AS not_checked,
    (SELECT count(*) FROM stage_failures AS f
        WHERE f.stage_id = $1 AND ($2 IS NULL OR EXISTS (
            SELECT 1 FROM images AS i WHERE i.seq = f.image_seq AND i.account_id = $2
        ))) AS failed
FROM (
    SELECT CASE WHEN complete_version = version THEN 0 ELSE fill_below END AS below FROM stages WHERE id = $1
) AS s";

pub(super) fn progress(
    c: &mut SqlConnection,
    account: Option<AccountId>,
) -> Result<Vec<StageProgress>, SqlError> {
    let known: Vec<StageRow> = stages::table.order(stages::id).select(StageRow::as_select()).load(c)?;
    known
        .into_iter()
        .map(|row| {
            let stage = Stage::try_from(row)?;
            let counts: StageCounts = statement(COUNTS)
                .bind::<BigInt, _>(stage.id.0)
                .bind::<Nullable<BigInt>, _>(account.map(|account| account.0))
                .get_result(c)?;
            let id = stage.id.0;
            let reader = RowReader::new("stages", &id);
            let waiting = counts.queued.saturating_add(counts.not_checked);
            Ok(StageProgress {
                waiting: reader.unsigned("waiting", waiting)?,
                failed: reader.unsigned("failed", counts.failed)?,
                stage,
            })
        })
        .collect()
}

pub(super) fn pending_images(
    c: &mut SqlConnection,
    ids: &[ImageId],
    stages: &[StageId],
) -> Result<Vec<ImageId>, SqlError> {
    let mut found = Vec::new();
    // In batches, because each id is a parameter of the statement.
    for batch in ids.chunks(500) {
        let waiting: Vec<String> = images::table
            .filter(images::id.eq_any(batch.iter().map(ImageId::as_str)))
            .filter(diesel::dsl::exists(
                stage_jobs::table
                    .filter(stage_jobs::image_seq.eq(images::seq))
                    .filter(stage_jobs::stage_id.eq_any(stages.iter().map(|stage| stage.0))),
            ))
            .select(images::id)
            .load(c)?;
        found.extend(waiting.into_iter().filter_map(ImageId::parse));
    }
    Ok(found)
}
