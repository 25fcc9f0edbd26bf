use std::{path::Path, time::UNIX_EPOCH};

use blobs::{BlobError, BlobStore, StagingError, TemporaryFile};
use domain::Timestamp;
use futures_util::TryStreamExt as _;
use library::{Clock as _, SearchStage, StorageError, SystemClock};
use storage::{SharedStore, StageProgress};
use vision::models::{ActiveModel, Models};

use super::Findings;
use crate::{
    config::{BlobLocation, Config},
    stores::{IfMissing, closed_advice, open_store},
};

const METADATA: &str = "metadata store";
const CLOCK: &str = "clock";
const BLOBS: &str = "blob store";
const TEMPORARY: &str = "temporary files";
const QUEUE: &str = "queue";
const FAILED: &str = "failed photo";
const SEARCH: &str = "search";
/// The largest difference between the clocks of this machine and of the metadata store that is not reported.
const MAX_CLOCK_DIFFERENCE_MS: i64 = 5000;
/// Maximum number of failed photos that are named.
const MAX_NAMED: u32 = 20;
/// Temporary files older than this do not belong to a running import.
const MAX_IMPORT_MS: i64 = 3600 * 1000;

/// Checks both stores and their queues.
pub(super) async fn check(config: &Config, findings: &mut Findings) {
    let store = check_metadata(config, findings).await;
    if let Some(store) = &store {
        check_state(store, findings).await;
    }
    check_blobs(&config.blobs, findings).await;
    if let Some(store) = &store {
        check_clock(store, findings).await;
    }
    if let Some(store) = &store
        && let Err(error) = check_queue(store, findings).await
    {
        findings.fail(QUEUE, &error.to_string());
    }
    if let Some(store) = store
        && let Err(error) = check_search(&store, config, findings).await
    {
        findings.fail(SEARCH, &error.to_string());
    }
}

/// Reports a library that is being moved or was moved.
async fn check_state(store: &SharedStore, findings: &mut Findings) {
    match store.library_state().await {
        Ok(state) if state.is_open() => {}
        Ok(state) => findings.fail(METADATA, &closed_advice(&state)),
        Err(error) => findings.fail(METADATA, &error.to_string()),
    }
}

/// Compares the clock of this machine with that of a store that machines share.
async fn check_clock(store: &SharedStore, findings: &mut Findings) {
    match store.store_time().await {
        Ok(None) => {}
        Ok(Some(store_time)) => report_clock(store_time, SystemClock.now(), findings),
        Err(error) => findings.fail(CLOCK, &error.to_string()),
    }
}

fn report_clock(store_time: Timestamp, local: Timestamp, findings: &mut Findings) {
    let ahead_ms = local.millis().saturating_sub(store_time.millis());
    let seconds = ahead_ms.unsigned_abs() / 1000;
    if ahead_ms.saturating_abs() <= MAX_CLOCK_DIFFERENCE_MS {
        return findings.ok(CLOCK, "the clock of this machine agrees with that of the metadata store");
    }
    let direction = if ahead_ms > 0 { "ahead of" } else { "behind" };
    let message = format!(
        "the clock of this machine is {seconds} s {direction} that of the metadata store, which the service uses; \
         synchronise both with NTP"
    );
    findings.warn(CLOCK, &message);
}

/// Reports the progress of the search stages. Disabled stages are reported by other checks.
async fn check_search(
    store: &SharedStore,
    config: &Config,
    findings: &mut Findings,
) -> Result<(), StorageError> {
    let is_disabled = |name: &str| match SearchStage::from_name(name) {
        Some(SearchStage::Text) => config.library.indexer.ocr_worker.is_none(),
        Some(SearchStage::Model) => {
            matches!(Models::new(&config.models).active_model(), Ok(ActiveModel::BuiltIn))
        }
        _ => false,
    };
    for StageProgress { stage, waiting, failed } in store.stage_progress(None).await? {
        if is_disabled(&stage.name) {
            continue;
        }
        let name = format!("{} ({})", stage.name, stage.version);
        let failures = match failed {
            0 => String::new(),
            failed => format!("; {failed} photos failed, so search finds them less well"),
        };
        let is_newer =
            SearchStage::from_name(&stage.name).is_some_and(|known| stage.revision > known.revision());
        if is_newer {
            findings.warn(SEARCH, &newer_stage(&name, waiting));
            continue;
        }
        let message = match waiting {
            0 => format!("{name} has processed all photos{failures}"),
            waiting => format!("{name}: {waiting} photos pending; a running server processes them{failures}"),
        };
        findings.ok(SEARCH, &message);
    }
    if store.word_index_is_newer().await? {
        let message = "a newer version of this program made the word index; this version leaves it unchanged. Update this \
                       installation";
        findings.warn(SEARCH, message);
    }
    Ok(())
}

fn newer_stage(name: &str, waiting: u64) -> String {
    format!(
        "{name} belongs to a newer version of this program, {waiting} photos pending; this version leaves it unchanged. \
         Update this installation"
    )
}

/// The metadata store, if it exists and no migration is pending.
async fn check_metadata(config: &Config, findings: &mut Findings) -> Option<SharedStore> {
    let shown = &config.database;
    if config.database.file().is_some_and(is_missing) {
        findings.warn(METADATA, &format!("{shown} does not exist yet; the first start creates it"));
        return None;
    }
    let store = match open_store(config, IfMissing::Fail).await {
        Ok(store) => store,
        Err(error) => {
            findings.fail(METADATA, &error.to_string());
            return None;
        }
    };
    match store.pending_migrations().await {
        Ok(pending) if pending.is_empty() => {
            match store.newer_migrations().await {
                Ok(newer) if !newer.is_empty() => {
                    let newer = newer.join(", ");
                    let message = format!(
                        "a newer version of this program migrated {shown} ({newer}); update this installation"
                    );
                    findings.warn(METADATA, &message);
                }
                _ => findings.ok(METADATA, &format!("{shown} is reachable, no migration is pending")),
            }
            Some(store)
        }
        Ok(pending) => {
            let names = pending.join(", ");
            let message = match config.database.is_shared() {
                false => format!(
                    "{shown} has pending migrations: {names}; the next start or `server migrate` applies them"
                ),
                true => format!("{shown} has pending migrations: {names}; apply them with `server migrate`"),
            };
            findings.warn(METADATA, &message);
            None
        }
        Err(error) => {
            findings.fail(METADATA, &error.to_string());
            None
        }
    }
}

async fn check_blobs(location: &BlobLocation, findings: &mut Findings) {
    if matches!(location, BlobLocation::Folder(folder) if is_missing(folder)) {
        let message = format!("{location} does not exist yet; it is created when it is needed");
        return findings.warn(BLOBS, &message);
    }
    match probe(location).await {
        Ok(temporary) => {
            findings.ok(BLOBS, &format!("{location} can be read, written and listed"));
            report_temporary(&temporary, SystemClock.now(), findings);
        }
        Err(error) => findings.fail(BLOBS, &format!("{location}: {error}")),
    }
}

/// Accesses the store and returns its temporary files.
async fn probe(location: &BlobLocation) -> Result<Vec<TemporaryFile>, AccessError> {
    // The folder for staged uploads beside a bucket is created at the first start.
    let substitute = if is_missing(location.folder()) { Some(tempfile::tempdir()?) } else { None };
    let folder = substitute.as_ref().map_or(location.folder(), |folder| folder.path());
    let blobs = location.open_with(folder.to_owned()).await?;
    check_access(&blobs).await?;
    Ok(blobs.temporary_files().await?)
}

/// Why the blob store cannot be used.
#[derive(Debug, thiserror::Error)]
enum AccessError {
    #[error(transparent)]
    Blob(#[from] BlobError),
    #[error(transparent)]
    Write(#[from] StagingError),
    #[error("{0}")]
    Io(#[from] std::io::Error),
    #[error("what was written is not listed; the blob store does not keep what it accepts")]
    NotListed,
}

/// Reads, and writes, lists and deletes a part of an upload.
async fn check_access(blobs: &BlobStore) -> Result<(), AccessError> {
    blobs.content.probe().await?;
    let mut part = blobs.parts.create(None).await?;
    part.write(b"doctor").await?;
    let bytes = part.bytes();
    let name = part.finish().await?;
    blobs.parts.read(vec![(name.clone(), bytes)]).try_collect::<Vec<_>>().await?;
    let is_listed = blobs.parts.files().await?.iter().any(|part| part.name == name);
    blobs.parts.delete(vec![name]).await?;
    if is_listed { Ok(()) } else { Err(AccessError::NotListed) }
}

/// Reports number, size and age of temporary files. Recent files may belong to running imports.
fn report_temporary(files: &[TemporaryFile], now: Timestamp, findings: &mut Findings) {
    let age_ms = |file: &TemporaryFile| {
        let since_epoch = file.modified.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        now.millis().saturating_sub(i64::try_from(since_epoch).unwrap_or(i64::MAX)).max(0)
    };
    let Some(oldest_ms) = files.iter().map(age_ms).max() else {
        return findings.ok(TEMPORARY, "none");
    };
    let bytes = files.iter().filter_map(|file| file.bytes).fold(0_u64, u64::saturating_add);
    let summary = format!(
        "{}, {}.{} MB, the oldest {}",
        count(files.len() as u64, "file"),
        bytes / 1_000_000,
        bytes % 1_000_000 / 100_000,
        age(oldest_ms)
    );
    if oldest_ms < MAX_IMPORT_MS {
        findings.ok(TEMPORARY, &format!("{summary}; probably in use by a running import"));
    } else {
        let remedy = "left by a killed process; restart the server while no import runs to remove them";
        findings.warn(TEMPORARY, &format!("{summary}; {remedy}"));
    }
}

fn age(ms: i64) -> String {
    const MINUTE_MS: u64 = 60_000;
    let minutes = ms.unsigned_abs() / MINUTE_MS;
    match (minutes / (24 * 60), minutes / 60) {
        (0, 0) => format!("{} old", count(minutes, "minute")),
        (0, hours) => format!("{} old", count(hours, "hour")),
        (days, _) => format!("{} old", count(days, "day")),
    }
}

/// A number with its noun in singular or plural.
fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

async fn check_queue(store: &SharedStore, findings: &mut Findings) -> Result<(), StorageError> {
    let length = store.queue_length().await?;
    if length.renditions > 0 || length.reindexes > 0 {
        let message = format!(
            "{} full renditions and {} photos to reindex are pending; a running server processes them when idle",
            length.renditions, length.reindexes
        );
        findings.ok(QUEUE, &message);
    }
    match (length.pending, length.failed) {
        (0, 0) => findings.ok(QUEUE, "no photo is pending, none failed"),
        (pending, 0) => {
            findings.ok(QUEUE, &format!("{pending} photos are pending; a running server indexes them"));
        }
        (pending, failed) => {
            findings.warn(QUEUE, &format!("{pending} photos are pending, {failed} failed"));
            report_failed(store, failed, findings).await?;
        }
    }
    Ok(())
}

/// Names the newest failed photos.
async fn report_failed(
    store: &SharedStore,
    failed: u64,
    findings: &mut Findings,
) -> Result<(), StorageError> {
    let named = store.failed_images(MAX_NAMED).await?;
    for image in &named {
        let name = image.file_name.as_deref().unwrap_or("an unnamed file");
        findings.warn(FAILED, &format!("{name} of {}: {}", image.email, image.reason));
    }
    let more = failed.saturating_sub(named.len() as u64);
    if more > 0 {
        findings.warn(FAILED, &format!("and {more} more"));
    }
    Ok(())
}

fn is_missing(path: &Path) -> bool {
    matches!(path.try_exists(), Ok(false))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use storage::VersionPolicy;

    use super::*;
    use crate::config::tests::config_from_flags;

    #[tokio::test]
    async fn stages_of_a_newer_program_are_reported() {
        let dir = tempfile::tempdir().unwrap();
        let database = dir.path().join("library.sqlite");
        let store = storage_sqlite::SqliteStore::open(&database, storage_sqlite::SqliteOptions::default())
            .await
            .unwrap();
        let store: SharedStore = std::sync::Arc::new(store);
        store.migrate().await.unwrap();
        store.open_stage("appearance", "built-in 9999", 9999, VersionPolicy::Replace).await.unwrap();
        let mut findings = Findings::default();
        let config = config_from_flags(&["--models-dir", dir.path().to_str().unwrap()]);
        check_search(&store, &config, &mut findings).await.unwrap();
        let text = findings.report().text;
        assert!(
            text.starts_with("warn  search: appearance (built-in 9999) belongs to a newer version"),
            "{text}"
        );
    }

    #[test]
    fn a_clock_that_differs_by_more_than_five_seconds_is_reported() {
        let store_time = Timestamp::parse_iso("2026-05-01T12:00:00Z").unwrap();
        for (ahead_ms, expect) in [
            (0, "ok    clock: the clock of this machine agrees"),
            (-5000, "ok    clock: "),
            (5000, "ok    clock: "),
            (5001, "warn  clock: the clock of this machine is 5 s ahead of that of the metadata store"),
            (-90_000, "warn  clock: the clock of this machine is 90 s behind that of the metadata store"),
        ] {
            let mut findings = Findings::default();
            report_clock(store_time, store_time.plus_millis(ahead_ms), &mut findings);
            assert!(findings.report().text.starts_with(expect), "{expect}");
        }
    }

    #[test]
    fn temporary_files_are_reported_by_number_size_and_age() {
        let now = Timestamp::parse_iso("2026-05-01T12:00:00Z").unwrap();
        let file = |minutes: i64, bytes| {
            let at = UNIX_EPOCH + Duration::from_millis((now.millis() - minutes * 60_000).unsigned_abs());
            TemporaryFile::local("upload-1".into(), bytes, at)
        };
        for (files, expect) in [
            (vec![], "ok    temporary files: none\n"),
            (vec![file(1, 90_000)], "ok    temporary files: 1 file, 0.0 MB, the oldest 1 minute old; "),
            (vec![file(59, 0)], "ok    temporary files: 1 file, 0.0 MB, the oldest 59 minutes old; "),
            (
                vec![file(1, 1), file(61, 2_550_000)],
                "warn  temporary files: 2 files, 2.5 MB, the oldest 1 hour old; ",
            ),
            (vec![file(3 * 24 * 60, 7)], "warn  temporary files: 1 file, 0.0 MB, the oldest 3 days old; "),
        ] {
            let mut findings = Findings::default();
            report_temporary(&files, now, &mut findings);
            assert!(findings.report().text.starts_with(expect), "{expect}");
        }
    }
}
