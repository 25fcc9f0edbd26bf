//! The months of the timeline, with the number of their photos. Archived photos do not count.

use diesel::{
    QueryableByName,
    prelude::*,
    sql_types::{BigInt, Text},
};
use domain::{LocalRange, LocalTime, Month};
use storage::{MonthTotal, Viewer};

use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        image_rows::Visibility,
        local_time::{captured_since, local_month, local_time, timeline_range},
        marks::is_not_archived,
        schema::timeline_months,
        statement,
        value::{RowReader, json_text},
    },
};

/// The ratio of width to height of the image `i` in thousandths, within the limits of [`MonthTotal`].
macro_rules! ratio {
    () => {
        "(CASE WHEN i.width * 10 < i.height * 4 THEN 400 WHEN i.width * 10 > i.height * 26 THEN 2600
            ELSE i.width * 1000 / i.height END)"
    };
}

#[derive(Queryable, QueryableByName)]
struct TotalRow {
    #[diesel(sql_type = BigInt)]
    month: i64,
    #[diesel(sql_type = BigInt)]
    photos: i64,
    #[diesel(sql_type = BigInt)]
    ratio_sum: i64,
}

impl TotalRow {
    fn read(self) -> Result<MonthTotal, SqlError> {
        let reader = RowReader::new("timeline_months", &self.month);
        let month = u32::try_from(self.month).ok().and_then(Month::from_number);
        Ok(MonthTotal {
            month: reader.required("month", month)?,
            photos: reader.unsigned("photos", self.photos)?,
            // A program of the previous release may have counted a photo in another month. The sum is corrected later.
            ratio_sum: reader.unsigned("ratio_sum", self.ratio_sum.max(0))?,
        })
    }
}

pub(crate) fn months(c: &mut SqlConnection, viewer: Viewer) -> Result<Vec<MonthTotal>, SqlError> {
    let Some(visibility) = Visibility::of(c, viewer)? else { return Ok(Vec::new()) };
    let Some(oldest) = domain::Timestamp::from_millis(visibility.oldest_ms) else {
        return match visibility.oldest_ms {
            i64::MAX => Ok(Vec::new()),
            _ => totals(c, visibility.account, 0),
        };
    };
    // All photos of later months are in the free window. In this one and the one before, some may be outside.
    let cut = Month::of(oldest.plus_millis(LocalTime::MAX_OFFSET_MS));
    let mut months = totals(c, visibility.account, i64::from(cut.number()))?;
    months.retain(|total| total.month != cut);
    let visible_part = LocalRange { first: visibility.oldest_place(), ..LocalRange::of_month(cut) };
    months.extend(totals_between(c, visibility, visible_part)?);
    Ok(months)
}

fn totals(c: &mut SqlConnection, account: i64, first_month: i64) -> Result<Vec<MonthTotal>, SqlError> {
    let rows: Vec<TotalRow> = timeline_months::table
        .filter(timeline_months::account_id.eq(account))
        .filter(timeline_months::month.ge(first_month))
        .filter(timeline_months::photos.gt(0))
        .order(timeline_months::month.desc())
        .select((timeline_months::month, timeline_months::photos, timeline_months::ratio_sum))
        .load(c)?;
    rows.into_iter().map(TotalRow::read).collect()
}

/// The months with visible photos in a part of the timeline, counted.
fn totals_between(
    c: &mut SqlConnection,
    visibility: Visibility,
    range: LocalRange,
) -> Result<Vec<MonthTotal>, SqlError> {
    let rows: Vec<TotalRow> = statement(concat!(
        "SELECT ",
        local_month!(),
        " AS month, count(*) AS photos, CAST(sum(",
        ratio!(),
        ") AS BIGINT) AS ratio_sum ",
        timeline_range!(),
        " GROUP BY ",
        local_month!(),
        " ORDER BY month DESC"
    ))
    .bind::<BigInt, _>(visibility.account)
    .bind::<BigInt, _>(range.first.number())
    .bind::<BigInt, _>(range.last.number())
    .bind::<BigInt, _>(visibility.oldest_ms)
    .load(c)?;
    rows.into_iter().map(TotalRow::read).collect()
}

/// Counts images that appear in the timeline. Their capture times and sizes are stored already.
pub(crate) fn add(c: &mut SqlConnection, seqs: &[i64]) -> Result<(), SqlError> {
    change(c, seqs, 1)
}

/// Subtracts images that leave the timeline, or whose capture time, offset or size is about to change.
pub(crate) fn remove(c: &mut SqlConnection, seqs: &[i64]) -> Result<(), SqlError> {
    change(c, seqs, -1)
}

fn change(c: &mut SqlConnection, seqs: &[i64], sign: i64) -> Result<(), SqlError> {
    statement(concat!(
        "INSERT INTO timeline_months (account_id, month, photos, ratio_sum)
        SELECT i.account_id, ",
        local_month!(),
        " AS month, CAST($1 AS BIGINT) * count(*), CAST($1 AS BIGINT) * CAST(sum(",
        ratio!(),
        ") AS BIGINT)
        FROM ",
        integers!("$2"),
        " AS chosen JOIN images AS i ON i.seq = chosen.value
        WHERE i.captured_at_ms IS NOT NULL AND i.width IS NOT NULL AND ",
        is_not_archived!(),
        " GROUP BY i.account_id, ",
        local_month!(),
        "
        ON CONFLICT (account_id, month) DO UPDATE SET
            photos = timeline_months.photos + excluded.photos,
            ratio_sum = timeline_months.ratio_sum + excluded.ratio_sum"
    ))
    .bind::<BigInt, _>(sign)
    .bind::<Text, _>(json_text(seqs))
    .execute(c)?;
    Ok(())
}

/// Counts the images of an account again.
pub(crate) fn recount(c: &mut SqlConnection, account: i64) -> Result<(), SqlError> {
    diesel::delete(timeline_months::table.filter(timeline_months::account_id.eq(account))).execute(c)?;
    statement(concat!(
        "INSERT INTO timeline_months (account_id, month, photos, ratio_sum)
        SELECT i.account_id, ",
        local_month!(),
        " AS month, count(*), CAST(sum(",
        ratio!(),
        ") AS BIGINT)
        FROM images AS i WHERE i.account_id = $1 AND i.live = TRUE AND ",
        is_not_archived!(),
        " GROUP BY i.account_id, ",
        local_month!(),
    ))
    .bind::<BigInt, _>(account)
    .execute(c)?;
    Ok(())
}

/// The accounts whose stored months differ from their photos, as a query of
/// [`StoreRule::TimelineMonths`](storage::StoreRule::TimelineMonths).
pub(crate) const WRONG_MONTHS: &str = concat!(
    "SELECT a.id AS key, CAST(NULL AS BIGINT) AS image, a.email AS detail
    FROM accounts AS a
    WHERE a.id > $1 AND a.id <= $2 AND a.deleted_at_ms IS NULL AND $3 IS NOT NULL AND EXISTS (
        SELECT 1 FROM (
            SELECT m.month AS month, m.photos AS photos, m.ratio_sum AS ratio_sum
            FROM timeline_months AS m WHERE m.account_id = a.id
            UNION ALL
            SELECT ",
    local_month!(),
    " AS month, -count(*) AS photos, -CAST(sum(",
    ratio!(),
    ") AS BIGINT) AS ratio_sum
            FROM images AS i WHERE i.account_id = a.id AND i.live = TRUE AND ",
    is_not_archived!(),
    " GROUP BY ",
    local_month!(),
    "
        ) AS both_sides
        GROUP BY month HAVING sum(photos) <> 0 OR sum(ratio_sum) <> 0
    )"
);
