//! Rebuilds the index of an older tokenizer version, and leaves the index of a newer version unchanged.

use std::collections::BTreeSet;

use diesel::{
    QueryableByName,
    prelude::*,
    sql_types::{BigInt, Nullable},
};

use super::{
    add::{add_text, remove_text},
    vocabulary,
};
use crate::{
    Lock, SqlConnection,
    error::SqlError,
    lock,
    sql::{schema::images, statement},
};

/// The progress of a rebuild; see the table `word_index`.
#[derive(QueryableByName)]
struct IndexState {
    #[diesel(sql_type = BigInt)]
    version: i64,
    #[diesel(sql_type = BigInt)]
    indexed_to: i64,
    #[diesel(sql_type = BigInt)]
    until: i64,
    #[diesel(sql_type = BigInt)]
    stale_to: i64,
}

fn state(c: &mut SqlConnection) -> Result<IndexState, SqlError> {
    Ok(statement("SELECT version, indexed_to, until, stale_to FROM word_index").get_result(c)?)
}

impl IndexState {
    fn is_newer(&self) -> bool {
        self.version > i64::from(words::VERSION)
    }

    fn is_older(&self) -> bool {
        self.version < i64::from(words::VERSION)
    }
}

/// Sets the version of an older index to the running version, so that its images are indexed again. `has_words` is
/// false if the index has no words; then no word lacks stems.
fn set_version(c: &mut SqlConnection, has_words: bool) -> Result<(), SqlError> {
    statement(
        "UPDATE word_index SET version = $1, indexed_to = 0, stale_to = $2,
            until = (SELECT coalesce(max(seq), 0) FROM images)
        WHERE version < $1",
    )
    .bind::<BigInt, _>(i64::from(words::VERSION))
    .bind::<BigInt, _>(if has_words { i64::MAX } else { 0 })
    .execute(c)?;
    Ok(())
}

/// The version of the index, compared to the running one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IndexVersion {
    /// The running version. Stems of words with ids up to `stale_to` may be missing.
    Current { stale_to: i64 },
    /// Another version. Only a program of that version can compute its stems.
    Other,
}

/// The version of the index. An index without words becomes one of the running version.
pub(super) fn index_version(c: &mut SqlConnection) -> Result<IndexVersion, SqlError> {
    let mut state = state(c)?;
    if state.is_older() && vocabulary::is_empty(c)? {
        set_version(c, false)?;
        state = self::state(c)?;
    }
    Ok(if state.version == i64::from(words::VERSION) {
        IndexVersion::Current { stale_to: state.stale_to }
    } else {
        IndexVersion::Other
    })
}

/// Number of stems that one write deletes.
const STEMS_BATCH: i64 = 20_000;

/// Deletes stems of an older version, which cannot be computed from the words. Returns whether some may be left.
pub(crate) fn delete_older_stems(c: &mut SqlConnection) -> Result<bool, SqlError> {
    if !state(c)?.is_older() {
        return Ok(false);
    }
    let deleted = statement(
        "DELETE FROM word_stems WHERE (account_id, stem, word_id) IN (
            SELECT account_id, stem, word_id FROM word_stems ORDER BY account_id, stem, word_id LIMIT $1)",
    )
    .bind::<BigInt, _>(STEMS_BATCH)
    .execute(c)?;
    Ok(i64::try_from(deleted).is_ok_and(|deleted| deleted == STEMS_BATCH))
}

/// Begins to rebuild the index of an older version. No other write may run: the images and stems that programs of the
/// older version have added until then belong to the rebuild, and later ones are marked for it.
pub(crate) fn begin(c: &mut SqlConnection) -> Result<(), SqlError> {
    if state(c)?.is_older() {
        statement("DELETE FROM word_stems").execute(c)?;
        set_version(c, true)?;
    }
    Ok(())
}

/// Whether an older version made the index, and its rebuild has not begun.
pub(crate) fn is_older(c: &mut SqlConnection) -> Result<bool, SqlError> {
    Ok(state(c)?.is_older())
}

/// Whether a newer version made the index.
pub(crate) fn is_newer(c: &mut SqlConnection) -> Result<bool, SqlError> {
    Ok(state(c)?.is_newer())
}

/// The images whose words in the index are of the running version.
pub(super) enum ComparableImages {
    /// All but those after the first number up to the second one.
    AllBut { after: i64, until: i64 },
    /// None, because another version made the index.
    None,
}

impl ComparableImages {
    pub(super) fn contains(&self, seq: i64) -> bool {
        match self {
            Self::AllBut { after, until } => seq <= *after || seq > *until,
            Self::None => false,
        }
    }
}

pub(super) fn comparable_images(c: &mut SqlConnection) -> Result<ComparableImages, SqlError> {
    let state = state(c)?;
    Ok(if state.version == i64::from(words::VERSION) {
        ComparableImages::AllBut { after: state.indexed_to, until: state.until }
    } else {
        ComparableImages::None
    })
}

/// Marks images to be indexed again by the newer version, if the index is of one.
pub(super) fn mark_for_newer_version(
    c: &mut SqlConnection,
    seqs: impl Iterator<Item = i64>,
) -> Result<(), SqlError> {
    if !state(c)?.is_newer() {
        return Ok(());
    }
    lock::take(c, Lock::SharedWords)?;
    let (mut first, mut last) = (i64::MAX, i64::MIN);
    for seq in seqs {
        (first, last) = (first.min(seq), last.max(seq));
    }
    if first > last {
        return Ok(());
    }
    statement(
        "UPDATE word_index SET
            indexed_to = CASE WHEN indexed_to < until AND indexed_to < $1 - 1 THEN indexed_to ELSE $1 - 1 END,
            until = CASE WHEN indexed_to < until AND until > $2 THEN until ELSE $2 END,
            stale_to = (SELECT coalesce(max(id), 0) FROM words)
        WHERE version > $3",
    )
    .bind::<BigInt, _>(first)
    .bind::<BigInt, _>(last)
    .bind::<BigInt, _>(i64::from(words::VERSION))
    .execute(c)?;
    Ok(())
}

/// Indexes up to `max` images again; returns their number, 0 when none was left.
pub(crate) fn reindex(c: &mut SqlConnection, max: u32) -> Result<u32, SqlError> {
    // An index without words becomes one of this version.
    index_version(c)?;
    let accounts: BTreeSet<i64> =
        current_batch(c, max)?.iter().flat_map(|batch| &batch.images).map(|(_, account)| *account).collect();
    for account in &accounts {
        lock::take(c, Lock::Account(*account))?;
    }
    lock::take(c, Lock::Words)?;
    // Other writes may have changed the batch before the locks were taken.
    let Some(mut batch) = current_batch(c, max)? else { return Ok(0) };
    if let Some(unlocked) = batch.images.iter().position(|(_, account)| !accounts.contains(account)) {
        batch.images.truncate(unlocked);
        batch.last = batch.images.last().map_or(batch.after, |(seq, _)| *seq);
    }
    let seqs: Vec<i64> = batch.images.iter().map(|(seq, _)| *seq).collect();
    remove_text(c, &seqs)?;
    add_text(c, &seqs)?;
    let all = batch.last >= batch.until;
    statement("UPDATE word_index SET indexed_to = $1, stale_to = coalesce($2, stale_to) WHERE version = $3")
        .bind::<BigInt, _>(batch.last)
        .bind::<Nullable<BigInt>, _>(all.then_some(0))
        .bind::<BigInt, _>(i64::from(words::VERSION))
        .execute(c)?;
    Ok(u32::try_from(batch.images.len()).unwrap_or(u32::MAX))
}

/// Images to index again.
struct Batch {
    after: i64,
    until: i64,
    /// Each with its account.
    images: Vec<(i64, i64)>,
    /// All images up to this one are indexed once these are.
    last: i64,
}

/// The next images to index again; `None` when none is left.
fn current_batch(c: &mut SqlConnection, max: u32) -> Result<Option<Batch>, SqlError> {
    let state = state(c)?;
    if state.version != i64::from(words::VERSION) || state.indexed_to >= state.until || max == 0 {
        return Ok(None);
    }
    let images: Vec<(i64, i64)> = images::table
        .filter(images::seq.gt(state.indexed_to))
        .filter(images::seq.le(state.until))
        .filter(images::state.eq("ready"))
        .order(images::seq)
        .limit(i64::from(max))
        .select((images::seq, images::account_id))
        .load(c)?;
    let is_full = u32::try_from(images.len()).is_ok_and(|number| number == max);
    let last = images.last().map(|(seq, _)| *seq).filter(|_| is_full).unwrap_or(state.until);
    Ok(Some(Batch { after: state.indexed_to, until: state.until, images, last }))
}

#[derive(QueryableByName)]
struct Count {
    #[diesel(sql_type = BigInt)]
    count: i64,
}

/// Number of images that this version has yet to index; 0 when a newer version made the index.
pub(crate) fn outdated(c: &mut SqlConnection) -> Result<u64, SqlError> {
    let state = state(c)?;
    let (from, until) = if state.is_older() { (0, i64::MAX) } else { (state.indexed_to, state.until) };
    if state.is_newer() || from >= until {
        return Ok(0);
    }
    // A covering index, because the rows of images are long.
    let left: Count = statement(concat!(
        "SELECT count(*) AS count FROM images ",
        by_index!("images_read_by"),
        " WHERE state = 'ready' AND seq > $1 AND seq <= $2"
    ))
    .bind::<BigInt, _>(from)
    .bind::<BigInt, _>(until)
    .get_result(c)?;
    Ok(u64::try_from(left.count).unwrap_or(0))
}
