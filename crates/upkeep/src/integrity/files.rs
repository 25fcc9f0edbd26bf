//! Checks that every kept blob is in the blob store and is undamaged.

use blobs::BlobError;
use domain::BlobKind;
use futures_util::{StreamExt as _, stream};
use roles::HeldRole;
use storage::{BlobRef, BlobUse, BlobUser, CheckDepth};

use super::{Audit, BATCH, FindingKind, IntegrityError, describe};

/// How many files are looked at or read at once.
const CONCURRENT: usize = 4;
/// How many photos are named in a finding about one file.
const MAX_USES: u32 = 3;

#[derive(Debug, Clone, PartialEq, Eq)]
enum FileState {
    Sound,
    Lost,
    /// It has the right checksum, and this length instead of the registered one.
    WrongLength(u64),
    Damaged(String),
    Unreadable(String),
}

impl Audit<'_> {
    /// Checks originals before renditions, because renditions are made again from sound originals only.
    pub(super) async fn check_files(&mut self) -> Result<(), IntegrityError> {
        for (kind, step) in [(BlobKind::Original, "originals"), (BlobKind::Rendition, "renditions")] {
            let (mut after, mut checked) = (None, 0);
            loop {
                let blobs = self.upkeep.parts.store.kept_blobs(kind, after, BATCH).await?;
                let Some(last) = blobs.last() else { break };
                after = Some(last.hash);
                self.check_use(kind, &blobs).await?;
                self.check_batch(&blobs).await?;
                checked += blobs.len() as u64;
                self.report.files += blobs.len() as u64;
                self.show(step, checked);
            }
        }
        Ok(())
    }

    /// Finds files that nothing refers to, and releases renditions. An original stays: no operation leaves it without a
    /// reference, so the rows of its photo were lost.
    async fn check_use(&mut self, kind: BlobKind, blobs: &[BlobRef]) -> Result<(), IntegrityError> {
        let parts = &self.upkeep.parts;
        let hashes: Vec<_> = blobs.iter().map(|blob| blob.hash).collect();
        let unused = parts.store.kept_blobs_without_use(kind, &hashes).await?;
        let (finding, repair) = match kind {
            BlobKind::Original => (FindingKind::OriginalWithoutPhoto, false),
            BlobKind::Rendition => (FindingKind::UnusedFile, self.options.repair),
        };
        if repair && !unused.is_empty() {
            parts.store.release_blobs_without_use(kind, &unused, parts.clock.now()).await?;
        }
        for hash in unused {
            self.add(finding, repair, parts.blobs.content.location(kind, hash));
        }
        Ok(())
    }

    async fn check_batch(&mut self, blobs: &[BlobRef]) -> Result<(), IntegrityError> {
        let (upkeep, depth) = (self.upkeep, self.options.depth);
        let inspections =
            blobs.iter().map(|blob| async move { (*blob, inspect(upkeep, *blob, depth).await) });
        let inspected: Vec<_> = stream::iter(inspections).buffer_unordered(CONCURRENT).collect().await;
        for (blob, state) in inspected {
            if depth == CheckDepth::Full && state != FileState::Lost {
                self.report.bytes_read = self.report.bytes_read.saturating_add(blob.bytes);
            }
            if state != FileState::Sound {
                self.confirm(blob).await?;
            }
        }
        Ok(())
    }

    /// Reports a file that is not sound, if it is still in use.
    async fn confirm(&mut self, blob: BlobRef) -> Result<(), IntegrityError> {
        let uses = self.upkeep.parts.store.blob_uses(blob.kind, &blob.hash, MAX_USES).await?;
        if uses.is_empty() {
            return Ok(());
        }
        // It may have been written again in the meantime.
        let state = inspect(self.upkeep, blob, self.options.depth).await;
        let reason = match &state {
            FileState::Sound => return Ok(()),
            FileState::Lost => "missing".to_owned(),
            FileState::WrongLength(bytes) => format!("{bytes} bytes long instead of {}", blob.bytes),
            FileState::Damaged(reason) | FileState::Unreadable(reason) => reason.clone(),
        };
        let text = format!("{}; {} {}, {reason}", names(&uses), blob.kind.as_str(), blob.hash);
        match (blob.kind, &state) {
            (_, FileState::Unreadable(_)) => self.add(FindingKind::UnreadableFile, false, text),
            (BlobKind::Original, FileState::Lost) => self.add(FindingKind::LostOriginal, false, text),
            (BlobKind::Original, FileState::WrongLength(bytes)) => {
                if self.options.repair {
                    self.upkeep.parts.store.correct_length(&blob.hash, *bytes).await?;
                }
                self.add(FindingKind::WrongLength, self.options.repair, text);
            }
            (BlobKind::Original, _) => self.set_aside(blob, text).await?,
            (BlobKind::Rendition, state) => {
                let repaired = self.options.repair && self.replace_rendition(blob, &uses).await?;
                let lost = *state == FileState::Lost;
                let kind = if lost { FindingKind::LostRendition } else { FindingKind::DamagedRendition };
                self.add(kind, repaired, text);
            }
        }
        Ok(())
    }

    /// Renames a damaged original, so that the same bytes are stored when they are sent again. Only this new upload
    /// repairs the original.
    async fn set_aside(&mut self, blob: BlobRef, mut text: String) -> Result<(), IntegrityError> {
        if self.options.repair {
            let aside = self.upkeep.parts.blobs.content.set_aside(blob.kind, blob.hash).await?;
            text = format!("{text}; set aside as {aside}");
        }
        self.add(FindingKind::DamagedOriginal, false, text);
        Ok(())
    }

    /// Deletes a lost or damaged rendition and queues it, if an original exists to make it from.
    async fn replace_rendition(&mut self, blob: BlobRef, uses: &[BlobUse]) -> Result<bool, IntegrityError> {
        if !self.any_original_is_sound(uses).await? {
            return Ok(false);
        }
        let Some(mut sweeper) = self.sweeper().await? else { return Ok(false) };
        let replaced = self.discard_rendition(blob, &mut sweeper).await;
        sweeper.release().await;
        self.awaits_renditions = true;
        replaced
    }

    /// Deletes a rendition and queues its images. If the role is lost in between, the next sweeper deletes the file.
    async fn discard_rendition(&self, blob: BlobRef, sweeper: &mut HeldRole) -> Result<bool, IntegrityError> {
        let parts = &self.upkeep.parts;
        parts.store.discard_rendition(blob, parts.clock.now()).await?;
        if sweeper.is_valid().await? {
            self.upkeep.parts.roles.delete_blob(&blob).await?;
        }
        if sweeper.is_valid().await? {
            parts.store.forget_blobs(&[blob]).await?;
        }
        Ok(true)
    }

    async fn any_original_is_sound(&self, uses: &[BlobUse]) -> Result<bool, IntegrityError> {
        let content = &self.upkeep.parts.blobs.content;
        for used in uses {
            if content.length(BlobKind::Original, used.original).await? == Some(used.original_bytes) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Compares a file with its registration.
async fn inspect(upkeep: &crate::Upkeep, blob: BlobRef, depth: CheckDepth) -> FileState {
    let content = &upkeep.parts.blobs.content;
    let outcome = async {
        let Some(bytes) = content.length(blob.kind, blob.hash).await? else { return Ok(FileState::Lost) };
        let has_length = bytes == blob.bytes;
        if has_length && depth == CheckDepth::Quick {
            return Ok(FileState::Sound);
        }
        // The row may be wrong instead of the file.
        let is_sound = content.read_hash(blob.kind, blob.hash).await? == blob.hash;
        Ok(match (is_sound, has_length) {
            (true, true) => FileState::Sound,
            (true, false) => FileState::WrongLength(bytes),
            (false, true) => FileState::Damaged("with a wrong checksum".to_owned()),
            (false, false) => FileState::Damaged(format!("{bytes} bytes long instead of {}", blob.bytes)),
        })
    };
    match outcome.await {
        Ok(state) => state,
        Err(BlobError::Missing { .. }) => FileState::Lost,
        // The disk may be failing or the folder may not be mounted, so nothing is known about the bytes.
        Err(error) => FileState::Unreadable(error.to_string()),
    }
}

fn names(uses: &[BlobUse]) -> String {
    let mut names: Vec<String> = uses.iter().map(|used| name(&used.user)).collect();
    names.dedup();
    names.join(", ")
}

fn name(user: &BlobUser) -> String {
    match user {
        BlobUser::Image(image) => describe(image),
        BlobUser::PartialFile { account, name } => {
            let account = account.as_deref().unwrap_or("a deleted account");
            format!("{account}: {name} (unfinished upload)")
        }
    }
}
