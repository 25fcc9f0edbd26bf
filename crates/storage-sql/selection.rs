//! Selections: images chosen by ids and ranges of the timeline, visited in batches.
//!
//! Visible images of a range are those of the timeline, which hides archived ones.

use diesel::{
    QueryableByName,
    prelude::*,
    sql_types::{BigInt, Nullable, Text},
};
use domain::{AccountId, AlbumId, ImageId, LocalRange, LocalTime, Selection, Timestamp};
use storage::{
    ImageKey, SelectedImage, SelectionCount, SelectionCursor, SelectionStep, SelectionStore, Viewer,
};

use crate::{
    Lock, SqlConnection,
    error::SqlError,
    sql::{
        account_rows::is_active,
        albums,
        deletion::{mark_deleted, undelete},
        image_rows::Visibility,
        local_time::{captured_since, local_time, timeline_range},
        marks::is_not_archived,
        statement,
        value::{RowReader, json_array, json_text},
    },
};

operations! {
    impl SelectionStore {
        read count_selection(viewer: Viewer, selection: &Selection) -> SelectionCount = count;
        read selected_images(
            viewer: Viewer, selection: &Selection, cursor: SelectionCursor, max: u32
        ) -> (Vec<SelectedImage>, Option<SelectionCursor>) = page;
        write(Lock::Account(viewer.account.0)) delete_selection(
            viewer: Viewer, selection: &Selection, at: Timestamp, cursor: SelectionCursor, max: u32
        ) -> SelectionStep = delete;
        write(Lock::Account(account.0)) restore_selection(
            account: AccountId,
            selection: &Selection,
            deleted_at: Option<Timestamp>,
            cursor: SelectionCursor,
            max: u32,
        ) -> SelectionStep { |c| restore(c, account.0, &selection, deleted_at, cursor, max) }
        write(Lock::Account(viewer.account.0)) add_selection_to_album(
            viewer: Viewer,
            selection: &Selection,
            album: &AlbumId,
            at: Timestamp,
            cursor: SelectionCursor,
            max: u32,
        ) -> Option<SelectionStep> {
            |c| change_album(c, viewer, &selection, (&album, albums::add, at), cursor, max)
        }
        write(Lock::Account(viewer.account.0)) remove_selection_from_album(
            viewer: Viewer,
            selection: &Selection,
            album: &AlbumId,
            at: Timestamp,
            cursor: SelectionCursor,
            max: u32,
        ) -> Option<SelectionStep> {
            |c| change_album(c, viewer, &selection, (&album, albums::remove, at), cursor, max)
        }
    }
}

/// Which images a selection chooses from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Selectable {
    /// The visible images of a viewer.
    Visible(Visibility),
    /// The deleted images of an account; with a time only those that were deleted then.
    Deleted { account: i64, at_ms: Option<i64> },
}

/// A row of a selection.
#[derive(Debug, QueryableByName)]
pub(crate) struct SelectedRow {
    #[diesel(sql_type = BigInt)]
    pub(crate) seq: i64,
    #[diesel(sql_type = Text)]
    id: String,
    /// `None` only for a deleted image that was never indexed.
    #[diesel(sql_type = Nullable<BigInt>)]
    captured_at_ms: Option<i64>,
    /// Its place in the timeline; likewise.
    #[diesel(sql_type = Nullable<BigInt>)]
    place: Option<i64>,
}

/// A batch of a selection, and where the next one begins.
pub(crate) struct Batch {
    pub(crate) images: Vec<SelectedRow>,
    pub(crate) next: Option<SelectionCursor>,
}

impl Batch {
    pub(crate) fn seqs(&self) -> Vec<i64> {
        self.images.iter().map(|image| image.seq).collect()
    }
}

/// The visible images that a selection of a viewer chooses from, and the cursor that remembers the free window of the
/// first batch; `None` if the account does not exist.
pub(crate) fn visible(
    c: &mut SqlConnection,
    viewer: Viewer,
    cursor: SelectionCursor,
) -> Result<Option<(Selectable, SelectionCursor)>, SqlError> {
    let Some(mut visibility) = Visibility::of(c, viewer)? else { return Ok(None) };
    visibility.oldest_ms = visibility.oldest_ms.max(cursor.visible_from_ms);
    let cursor = SelectionCursor { visible_from_ms: visibility.oldest_ms, ..cursor };
    Ok(Some((Selectable::Visible(visibility), cursor)))
}

/// The next images of a selection, at most `max`, each in one batch only.
pub(crate) fn batch(
    c: &mut SqlConnection,
    from: Selectable,
    selection: &Selection,
    cursor: SelectionCursor,
    max: u32,
) -> Result<Batch, SqlError> {
    let max = max.max(1);
    let visited = usize::try_from(cursor.ids).unwrap_or(usize::MAX);
    let left = selection.ids().get(visited..).unwrap_or_default();
    if left.is_empty() {
        return batch_of_ranges(c, from, selection, cursor, max);
    }
    let count = left.len().min(usize::try_from(max).unwrap_or(usize::MAX));
    let mut images = by_ids(c, from, left.iter().take(count))?;
    // Images that a range covers are visited with the ranges instead.
    images.retain(|image| !is_covered(selection, image));
    let ids = cursor.ids.saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
    let complete = count == left.len() && selection.ranges().is_empty();
    Ok(Batch { images, next: (!complete).then_some(SelectionCursor { ids, ..cursor }) })
}

fn batch_of_ranges(
    c: &mut SqlConnection,
    from: Selectable,
    selection: &Selection,
    cursor: SelectionCursor,
    max: u32,
) -> Result<Batch, SqlError> {
    let mut images = Vec::new();
    let mut left = i64::from(max);
    let mut next = None;
    for range in selection.ranges() {
        let range = range.and(LocalRange::before(cursor.before));
        if range.last < range.first {
            continue;
        }
        let rows = in_range(c, from, range, left)?;
        left = left.saturating_sub(i64::try_from(rows.len()).unwrap_or(i64::MAX));
        if left == 0 {
            next = rows.last().and_then(|row| row.place);
        }
        images.extend(rows);
        if left == 0 {
            break;
        }
    }
    images.retain(|image| !is_excluded(selection, image));
    let next = next.map(|place| SelectionCursor { before: LocalTime::from_number(place), ..cursor });
    Ok(Batch { images, next })
}

fn is_covered(selection: &Selection, image: &SelectedRow) -> bool {
    image.place.is_some_and(|place| selection.covers(LocalTime::from_number(place)))
}

fn is_excluded(selection: &Selection, image: &SelectedRow) -> bool {
    selection.exceptions().len() > 0 && ImageId::parse(&*image.id).is_some_and(|id| selection.excludes(&id))
}

macro_rules! columns {
    () => {
        concat!("i.seq AS seq, i.id AS id, i.captured_at_ms AS captured_at_ms, ", local_time!(), " AS place")
    };
}

macro_rules! by_ids {
    ($condition:literal) => {
        concat!(
            "SELECT ",
            columns!(),
            " FROM ",
            strings!("$1"),
            " AS chosen ",
            join_after!("images", "i", "i.id = chosen.value"),
            " WHERE i.account_id = $2 AND ",
            $condition
        )
    };
}

/// The images of these ids.
fn by_ids<'a>(
    c: &mut SqlConnection,
    from: Selectable,
    ids: impl Iterator<Item = &'a ImageId>,
) -> Result<Vec<SelectedRow>, SqlError> {
    let ids: Vec<&str> = ids.map(ImageId::as_str).collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let (query, account, first, last) = match from {
        Selectable::Visible(Visibility { account, oldest_ms }) => {
            (by_ids!("i.live = TRUE AND i.captured_at_ms BETWEEN $3 AND $4"), account, oldest_ms, i64::MAX)
        }
        Selectable::Deleted { account, at_ms } => {
            let (first, last) = at_ms.map_or((i64::MIN, i64::MAX), |at| (at, at));
            (by_ids!("i.deleted_at_ms BETWEEN $3 AND $4"), account, first, last)
        }
    };
    Ok(statement(query)
        .bind::<Text, _>(json_text(&ids))
        .bind::<BigInt, _>(account)
        .bind::<BigInt, _>(first)
        .bind::<BigInt, _>(last)
        .load(c)?)
}

const VISIBLE_IN_RANGE: &str =
    concat!("SELECT ", columns!(), " ", timeline_range!(), " ORDER BY ", local_time!(), " DESC LIMIT $5");

const DELETED_IN_RANGE: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM images AS i ",
    by_index!("images_local"),
    " WHERE i.account_id = $1 AND i.live = FALSE AND ",
    local_time!(),
    " BETWEEN $2 AND $3 AND i.deleted_at_ms BETWEEN $4 AND $5
    ORDER BY ",
    local_time!(),
    " DESC LIMIT $6"
);

/// The newest images of a range.
fn in_range(
    c: &mut SqlConnection,
    from: Selectable,
    range: LocalRange,
    max: i64,
) -> Result<Vec<SelectedRow>, SqlError> {
    match from {
        Selectable::Visible(visibility) => Ok(statement(VISIBLE_IN_RANGE)
            .bind::<BigInt, _>(visibility.account)
            .bind::<BigInt, _>(range.first.max(visibility.oldest_place()).number())
            .bind::<BigInt, _>(range.last.number())
            .bind::<BigInt, _>(visibility.oldest_ms)
            .bind::<BigInt, _>(max)
            .load(c)?),
        Selectable::Deleted { account, at_ms } => {
            let (first_at, last_at) = at_ms.map_or((i64::MIN, i64::MAX), |at| (at, at));
            Ok(statement(DELETED_IN_RANGE)
                .bind::<BigInt, _>(account)
                .bind::<BigInt, _>(range.first.number())
                .bind::<BigInt, _>(range.last.number())
                .bind::<BigInt, _>(first_at)
                .bind::<BigInt, _>(last_at)
                .bind::<BigInt, _>(max)
                .load(c)?)
        }
    }
}

#[derive(QueryableByName)]
struct RangeCount {
    #[diesel(sql_type = BigInt)]
    images: i64,
    #[diesel(sql_type = Nullable<BigInt>)]
    newest: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    oldest: Option<i64>,
}

macro_rules! count_ranges {
    ($condition:expr) => {
        concat!(
            "SELECT count(*) AS images, max(",
            local_time!(),
            ") AS newest, min(",
            local_time!(),
            ") AS oldest FROM ",
            integer_pairs!("$1"),
            " AS chosen CROSS JOIN images AS i ",
            by_index!("images_local"),
            " WHERE i.account_id = $2 AND i.live = TRUE AND ",
            local_time!(),
            " BETWEEN chosen.first AND chosen.second AND ",
            is_not_archived!(),
            " AND i.seq NOT IN (SELECT value FROM ",
            integers!("$3"),
            " AS excluded)",
            $condition
        )
    };
}

const COUNT_RANGES: &str = count_ranges!("");

/// With a free window. Postgres would not use the index if this condition were in all queries.
const COUNT_RANGES_IN_WINDOW: &str = count_ranges!(concat!(" AND ", captured_since!("$4")));

fn count(c: &mut SqlConnection, viewer: Viewer, selection: &Selection) -> Result<SelectionCount, SqlError> {
    let Some(visibility) = Visibility::of(c, viewer)? else { return Ok(SelectionCount::default()) };
    let from = Selectable::Visible(visibility);
    let by_id = by_ids(c, from, selection.ids().iter())?;
    let excluded: Vec<i64> = by_ids(c, from, selection.exceptions())?.iter().map(|image| image.seq).collect();
    let ranges: Vec<(i64, i64)> = selection
        .ranges()
        .iter()
        .map(|range| (range.first.max(visibility.oldest_place()).number(), range.last.number()))
        .collect();
    let is_windowed = visibility.oldest_ms > i64::MIN;
    let query = statement(if is_windowed { COUNT_RANGES_IN_WINDOW } else { COUNT_RANGES })
        .bind::<Text, _>(json_text(&ranges))
        .bind::<BigInt, _>(viewer.account.0)
        .bind::<Text, _>(json_array(&excluded));
    let in_ranges: RangeCount = if is_windowed {
        query.bind::<BigInt, _>(visibility.oldest_ms).get_result(c)?
    } else {
        query.get_result(c)?
    };
    let others: Vec<i64> =
        by_id.iter().filter(|image| !is_covered(selection, image)).filter_map(|image| image.place).collect();
    let count = u32::try_from(in_ranges.images).unwrap_or(u32::MAX);
    Ok(SelectionCount {
        count: count.saturating_add(u32::try_from(others.len()).unwrap_or(u32::MAX)),
        newest: in_ranges.newest.into_iter().chain(others.iter().copied()).max().map(LocalTime::from_number),
        oldest: in_ranges.oldest.into_iter().chain(others.iter().copied()).min().map(LocalTime::from_number),
    })
}

fn page(
    c: &mut SqlConnection,
    viewer: Viewer,
    selection: &Selection,
    cursor: SelectionCursor,
    max: u32,
) -> Result<(Vec<SelectedImage>, Option<SelectionCursor>), SqlError> {
    let Some((from, cursor)) = visible(c, viewer, cursor)? else { return Ok((Vec::new(), None)) };
    let Batch { images, next } = batch(c, from, selection, cursor, max)?;
    let read = |row: SelectedRow| {
        let reader = RowReader::new("images", &row.seq);
        let captured_at = reader.optional_timestamp("captured_at_ms", row.captured_at_ms)?;
        Ok(SelectedImage {
            image_key: ImageKey(row.seq),
            captured_at: reader.required("captured_at_ms", captured_at)?,
            id: reader.required("id", ImageId::parse(&*row.id))?,
        })
    };
    Ok((images.into_iter().map(read).collect::<Result<_, SqlError>>()?, next))
}

/// The step of an operation that finds nothing.
const NOTHING: SelectionStep = SelectionStep { changed: 0, next: None };

fn delete(
    c: &mut SqlConnection,
    viewer: Viewer,
    selection: &Selection,
    at: Timestamp,
    cursor: SelectionCursor,
    max: u32,
) -> Result<SelectionStep, SqlError> {
    let Some((from, cursor)) = visible(c, viewer, cursor)? else { return Ok(NOTHING) };
    let batch = batch(c, from, selection, cursor, max)?;
    let changed = mark_deleted(c, viewer.account.0, &batch.seqs(), at, false)?;
    Ok(SelectionStep { changed, next: batch.next })
}

fn restore(
    c: &mut SqlConnection,
    account: i64,
    selection: &Selection,
    deleted_at: Option<Timestamp>,
    cursor: SelectionCursor,
    max: u32,
) -> Result<SelectionStep, SqlError> {
    if !is_active(c, account)? {
        return Ok(NOTHING);
    }
    let from = Selectable::Deleted { account, at_ms: deleted_at.map(Timestamp::millis) };
    let batch = batch(c, from, selection, cursor, max)?;
    let changed = undelete(c, account, &batch.seqs())?;
    Ok(SelectionStep { changed, next: batch.next })
}

/// Adds or removes images; returns how many changed.
type AlbumOperation = fn(&mut SqlConnection, i64, &[(i64, i64)]) -> Result<usize, SqlError>;

fn change_album(
    c: &mut SqlConnection,
    viewer: Viewer,
    selection: &Selection,
    (album, operation, at): (&AlbumId, AlbumOperation, Timestamp),
    cursor: SelectionCursor,
    max: u32,
) -> Result<Option<SelectionStep>, SqlError> {
    let Some(album_seq) = albums::seq(c, viewer.account.0, album)? else { return Ok(None) };
    let Some((from, cursor)) = visible(c, viewer, cursor)? else { return Ok(None) };
    let batch = batch(c, from, selection, cursor, max)?;
    let mut images: Vec<(i64, i64)> =
        batch.images.iter().filter_map(|image| Some((image.seq, image.captured_at_ms?))).collect();
    // The newest first, as in the timeline. An album in its own order shows them so.
    images.sort_unstable_by_key(|(_, captured_at_ms)| std::cmp::Reverse(*captured_at_ms));
    let changed = operation(c, album_seq, &images)?;
    if changed > 0 {
        albums::set_updated(c, album_seq, at)?;
    }
    Ok(Some(SelectionStep { changed: u32::try_from(changed).unwrap_or(u32::MAX), next: batch.next }))
}
