use std::{
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

use blobs::{BlobError, BlobStore, TemporaryFile};
use domain::{BlobKind, ContentHash, Timestamp};
use library::{Clock as _, SearchStage, StorageError, SystemClock};
use storage::{SharedStore, StageProgress};
use vision::models::{ActiveModel, Models};

use super::Findings;
use crate::{
    config::Config,
    stores::{Absent, open_store},
};

const METADATA: &str = "metadata store";
const BLOBS: &str = "blob store";
const TEMPORARY: &str = "temporary files";
const QUEUE: &str = "queue";
const FAILED: &str = "failed photo";
const SEARCH: &str = "search";
/// How many failed photos are named.
const NAMED: u32 = 20;
/// A temporary file that is older than this belongs to no running upload.
const LEFT_OVER_MS: i64 = 3600 * 1000;

/// Looks at both stores, and at what waits in them.
pub(super) async fn check(config: &Config, findings: &mut Findings) {
    let store = check_metadata(config, findings).await;
    check_blobs(&config.blobs, findings).await;
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

/// Tells how far searches know what photos hold. What was switched off is told elsewhere.
async fn check_search(
    store: &SharedStore,
    config: &Config,
    findings: &mut Findings,
) -> Result<(), StorageError> {
    let is_off = |name: &str| match SearchStage::from_name(name) {
        Some(SearchStage::Text) => config.library.ocr_worker.is_none(),
        Some(SearchStage::Model) => {
            matches!(Models::new(&config.models).active_model(), Ok(ActiveModel::BuiltIn))
        }
        _ => false,
    };
    for StageProgress { stage, waiting, failed } in store.stage_progress(None).await? {
        if is_off(&stage.name) {
            continue;
        }
        let by = format!("{} ({})", stage.name, stage.version);
        let failures = match failed {
            0 => String::new(),
            failed => format!("; {failed} photos could not be done, and searches know less of them"),
        };
        let said = match waiting {
            0 => format!("{by} has seen all photos{failures}"),
            waiting
                if SearchStage::from_name(&stage.name)
                    .is_some_and(|known| stage.revision > known.revision()) =>
            {
                format!(
                    "{by} has yet to see {waiting} photos, which is left to a newer version of this program{failures}"
                )
            }
            waiting => {
                format!("{by} has yet to see {waiting} photos, on which a running server works{failures}")
            }
        };
        findings.ok(SEARCH, &said);
    }
    Ok(())
}

/// The store, if it is there and its tables are up to date.
async fn check_metadata(config: &Config, findings: &mut Findings) -> Option<SharedStore> {
    let shown = config.database.display();
    if is_absent(&config.database) {
        findings.warn(METADATA, &format!("{shown} is not there; the first start makes it"));
        return None;
    }
    let store = match open_store(config, Absent::Refuse).await {
        Ok(store) => store,
        Err(error) => {
            findings.fail(METADATA, &error.to_string());
            return None;
        }
    };
    match store.pending_migrations().await {
        Ok(pending) if pending.is_empty() => {
            findings.ok(METADATA, &format!("{shown} is reachable, migrations current"));
            Some(store)
        }
        Ok(pending) => {
            let names = pending.join(", ");
            findings
                .warn(METADATA, &format!("{shown} lacks {names}; the next start or `migrate` applies it"));
            None
        }
        Err(error) => {
            findings.fail(METADATA, &error.to_string());
            None
        }
    }
}

async fn check_blobs(folder: &Path, findings: &mut Findings) {
    let shown = folder.display();
    if is_absent(folder) {
        return findings
            .warn(BLOBS, &format!("{shown} is not there; the next command that needs it makes it"));
    }
    match probe(folder.to_owned()).await {
        Ok(temporary) => {
            findings.ok(BLOBS, &format!("{shown} is reachable"));
            tell_temporary(&temporary, SystemClock.now(), findings);
        }
        Err(error) => findings.fail(BLOBS, &error),
    }
}

/// Proves that the store can be reached, and gives its temporary files.
async fn probe(folder: PathBuf) -> Result<Vec<TemporaryFile>, String> {
    let told = |error: BlobError| error.to_string();
    // It may wait for a process that tidies up.
    let opened = tokio::task::spawn_blocking(move || BlobStore::open_folder(&folder)).await;
    let blobs = opened.map_err(|error| error.to_string())?.map_err(told)?;
    blobs.content.contains(BlobKind::Original, ContentHash::new([0; 32])).await.map_err(told)?;
    blobs.temporary_files().await.map_err(told)
}

/// Tells how many temporary files there are, of what size and age. Recent ones may belong to running uploads.
fn tell_temporary(files: &[TemporaryFile], now: Timestamp, findings: &mut Findings) {
    let age_ms = |file: &TemporaryFile| {
        let since_epoch = file.modified.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        now.millis().saturating_sub(i64::try_from(since_epoch).unwrap_or(i64::MAX)).max(0)
    };
    let Some(oldest_ms) = files.iter().map(age_ms).max() else {
        return findings.ok(TEMPORARY, "none is left over");
    };
    let bytes = files.iter().fold(0_u64, |sum, file| sum.saturating_add(file.bytes));
    let said = format!(
        "{}, {}.{} MB, the oldest {}",
        counted(files.len() as u64, "file"),
        bytes / 1_000_000,
        bytes % 1_000_000 / 100_000,
        age(oldest_ms)
    );
    if oldest_ms < LEFT_OVER_MS {
        findings.ok(TEMPORARY, &format!("{said}; they belong to running uploads"));
    } else {
        let remedy =
            "killed processes left them; restart the server while nothing is imported, and it removes them";
        findings.warn(TEMPORARY, &format!("{said}; {remedy}"));
    }
}

fn age(ms: i64) -> String {
    const MINUTE_MS: u64 = 60_000;
    let minutes = ms.unsigned_abs() / MINUTE_MS;
    match (minutes / (24 * 60), minutes / 60) {
        (0, 0) => format!("{} old", counted(minutes, "minute")),
        (0, hours) => format!("{} old", counted(hours, "hour")),
        (days, _) => format!("{} old", counted(days, "day")),
    }
}

fn counted(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

async fn check_queue(store: &SharedStore, findings: &mut Findings) -> Result<(), StorageError> {
    let length = store.queue_length().await?;
    if length.renditions > 0 || length.reindexes > 0 {
        let said = format!(
            "{} full renditions wait to be made, {} photos to be read again; a running server works on them when \
             nothing else waits",
            length.renditions, length.reindexes
        );
        findings.ok(QUEUE, &said);
    }
    match (length.pending, length.failed) {
        (0, 0) => findings.ok(QUEUE, "no photo waits to be indexed, none failed"),
        (pending, 0) => findings
            .ok(QUEUE, &format!("{pending} photos wait to be indexed; a running server works on them")),
        (pending, failed) => {
            findings.warn(QUEUE, &format!("{pending} photos wait to be indexed, {failed} failed"));
            name_failed(store, failed, findings).await?;
        }
    }
    Ok(())
}

/// Names the newest photos that failed.
async fn name_failed(store: &SharedStore, failed: u64, findings: &mut Findings) -> Result<(), StorageError> {
    let named = store.failed_images(NAMED).await?;
    for image in &named {
        let name = image.file_name.as_deref().unwrap_or("a file without a name");
        findings.warn(FAILED, &format!("{name} of {}: {}", image.email, image.reason));
    }
    let more = failed.saturating_sub(named.len() as u64);
    if more > 0 {
        findings.warn(FAILED, &format!("and {more} more"));
    }
    Ok(())
}

fn is_absent(path: &Path) -> bool {
    matches!(path.try_exists(), Ok(false))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn temporary_files_are_told_by_count_size_and_age() {
        let now = Timestamp::parse_iso("2026-05-01T12:00:00Z").unwrap();
        let file = |minutes: i64, bytes| TemporaryFile {
            bytes,
            modified: UNIX_EPOCH + Duration::from_millis((now.millis() - minutes * 60_000).unsigned_abs()),
        };
        for (files, expect) in [
            (vec![], "ok    temporary files: none is left over\n"),
            (vec![file(1, 90_000)], "ok    temporary files: 1 file, 0.0 MB, the oldest 1 minute old; "),
            (vec![file(59, 0)], "ok    temporary files: 1 file, 0.0 MB, the oldest 59 minutes old; "),
            (
                vec![file(1, 1), file(61, 2_550_000)],
                "warn  temporary files: 2 files, 2.5 MB, the oldest 1 hour old; ",
            ),
            (vec![file(3 * 24 * 60, 7)], "warn  temporary files: 1 file, 0.0 MB, the oldest 3 days old; "),
        ] {
            let mut findings = Findings::default();
            tell_temporary(&files, now, &mut findings);
            assert!(findings.report().text.starts_with(expect), "{expect}");
        }
    }
}
