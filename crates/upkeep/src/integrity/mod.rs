//! Checks that the metadata store agrees with itself and with the blob store, and repairs what can be made again.
//!
//! A check may run beside a server: every batch reads one snapshot of the metadata store, and a finding about a file is
//! confirmed by a second look, because the file may just have been removed or written. Memory does not depend on the
//! size of the library.
//!
//! To add a check, add a [`FindingKind`], and a method on `Audit` that is called in [`Upkeep::check_integrity`]. A rule
//! about rows is a [`StoreRule`](storage::StoreRule) instead.

mod files;
mod findings;
mod orphans;
mod parts;
mod renditions;
mod rows;

use std::time::Duration;

use blobs::BlobError;
use roles::{HeldRole, Role};
use storage::{CheckDepth, ImageReference, StorageError};

use crate::Upkeep;

pub use findings::{Example, FindingKind, Findings, IntegrityReport};

/// How many rows or files one batch covers.
const BATCH: u32 = 500;
/// How long a repair waits for another process that has the sweeper's role. This is longer than the role of a killed
/// process stays valid.
const SWEEPER_WAIT: Duration = Duration::from_secs(90);
/// How often a repair tries to take the sweeper's role.
const SWEEPER_POLL: Duration = Duration::from_millis(500);

/// What a check covers, and whether it repairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IntegrityOptions {
    /// Whether to repair what was found.
    pub repair: bool,
    /// Whether to read every file and compare its checksum.
    pub depth: CheckDepth,
    /// How many findings of each kind are reported with their details.
    pub max_examples: usize,
}

/// The progress of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IntegrityProgress {
    /// What is being checked.
    pub step: &'static str,
    /// How many rows or files of this step have been checked.
    pub checked: u64,
}

/// Why a check ended early.
#[derive(Debug, thiserror::Error)]
pub enum IntegrityError {
    /// The metadata store failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The blob store failed.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// The folder of uploads cannot be read or written.
    #[error("the folder of uploads cannot be used: {0}")]
    Parts(#[from] std::io::Error),
    /// The random source failed, so the worker that makes renditions again has no name.
    #[error(transparent)]
    Random(#[from] keys::RandomError),
}

impl Upkeep {
    /// Checks both stores, and repairs them if requested. Repairs make renditions again, so the call then waits for a
    /// decoder of this or of another process.
    ///
    /// # Errors
    /// [`IntegrityError`]. Repairs made until then are kept.
    pub async fn check_integrity(
        &self,
        options: IntegrityOptions,
        mut progress: impl FnMut(IntegrityProgress) + Send,
    ) -> Result<IntegrityReport, IntegrityError> {
        // Without this, every blob of a bucket that does not exist would count as lost.
        self.probe_blobs().await?;
        let mut audit = Audit {
            upkeep: self,
            options,
            report: IntegrityReport::default(),
            progress: &mut progress,
            awaits_renditions: false,
        };
        audit.check_structure().await?;
        if audit.report.left() > 0 {
            // What a damaged store says about files is not reliable.
            return Ok(audit.report);
        }
        audit.check_rules().await?;
        audit.check_files().await?;
        audit.check_orphans().await?;
        audit.check_temporary_files().await?;
        audit.check_parts().await?;
        audit.check_part_files().await?;
        audit.await_renditions().await?;
        audit.check_references().await?;
        Ok(audit.report)
    }
}

/// A running check.
struct Audit<'a> {
    upkeep: &'a Upkeep,
    options: IntegrityOptions,
    report: IntegrityReport,
    progress: &'a mut (dyn FnMut(IntegrityProgress) + Send),
    /// Whether images were queued to have their renditions made again.
    awaits_renditions: bool,
}

impl Audit<'_> {
    fn add(&mut self, kind: FindingKind, repaired: bool, text: String) {
        self.report.add(kind, repaired, self.options.max_examples, text);
    }

    fn show(&mut self, step: &'static str, checked: u64) {
        (self.progress)(IntegrityProgress { step, checked });
    }

    /// The role of the sweeper; `None` if another process holds it for too long.
    async fn sweeper(&self) -> Result<Option<HeldRole>, StorageError> {
        for _ in 0..SWEEPER_WAIT.as_millis() / SWEEPER_POLL.as_millis() {
            if let Some(sweeper) = self.upkeep.parts.roles.try_role(Role::SWEEPER).await? {
                return Ok(Some(sweeper));
            }
            tokio::time::sleep(SWEEPER_POLL).await;
        }
        Ok(None)
    }
}

/// Account and file name of a photo.
fn describe(image: &ImageReference) -> String {
    let account = image.account.as_deref().unwrap_or("a deleted account");
    let name = image.file_name.as_deref().unwrap_or("a photo without a file name");
    format!("{account}: {name} (image {})", image.id)
}
