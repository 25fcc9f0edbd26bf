use std::path::Path;

use blobs::BlobStore;
use domain::{BlobKind, ContentHash};
use library::{SearchStage, StorageError};
use storage::{SharedStore, StageProgress};
use vision::models::{InUse, Models};

use super::Findings;
use crate::{config::Config, stores::open_store};

const METADATA: &str = "metadata store";
const BLOBS: &str = "blob store";
const QUEUE: &str = "queue";
const SEARCH: &str = "search";

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
    let is_off = |name: &str| match SearchStage::named(name) {
        Some(SearchStage::Text) => config.library.text_reader.is_none(),
        Some(SearchStage::Model) => matches!(Models::new(&config.models).in_use(), Ok(InUse::BuiltIn)),
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
                if SearchStage::named(&stage.name).is_some_and(|known| stage.revision > known.revision()) =>
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
    let store = match open_store(config).await {
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
    let probed = match BlobStore::open_folder(folder) {
        Ok(blobs) => blobs.contains(BlobKind::Original, ContentHash::new([0; 32])).await.map(drop),
        Err(error) => Err(error),
    };
    match probed {
        Ok(()) => findings.ok(BLOBS, &format!("{shown} is reachable")),
        Err(error) => findings.fail(BLOBS, &error.to_string()),
    }
}

async fn check_queue(store: &SharedStore, findings: &mut Findings) -> Result<(), StorageError> {
    let length = store.queue_length().await?;
    if length.renditions > 0 || length.refreshes > 0 {
        let said = format!(
            "{} full renditions wait to be made, {} photos to be read again; a running server works on them when \
             nothing else waits",
            length.renditions, length.refreshes
        );
        findings.ok(QUEUE, &said);
    }
    match (length.pending, length.failed) {
        (0, 0) => findings.ok(QUEUE, "no image waits to be indexed, none failed"),
        (pending, 0) => findings
            .ok(QUEUE, &format!("{pending} images wait to be indexed; a running server works on them")),
        (pending, failed) => findings.warn(
            QUEUE,
            &format!(
                "{pending} images wait to be indexed, {failed} failed; importing their files again says why"
            ),
        ),
    }
    Ok(())
}

fn is_absent(path: &Path) -> bool {
    matches!(path.try_exists(), Ok(false))
}
