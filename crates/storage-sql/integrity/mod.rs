//! Checks and repairs of the rows.

mod blobs;
mod files;
mod parts;
mod repairs;
mod rules;

use async_trait::async_trait;
use domain::{BlobKind, ContentHash, Timestamp};
use storage::{
    BlobRef, BlobUse, CheckDepth, CheckedRows, IntegrityStore, RuleRow, StorageError, StoreRule, StoredPart,
};

use crate::{Lock, SqlStore, sql::blob_registry, structure};

#[async_trait]
impl IntegrityStore for SqlStore {
    async fn check_structure(&self, depth: CheckDepth, max: u32) -> Result<Vec<String>, StorageError> {
        self.query(move |c| structure::check(c, depth, max)).await
    }

    async fn check_references(&self, max: u32) -> Result<Vec<String>, StorageError> {
        self.query(move |c| structure::dangling_references(c, max)).await
    }

    async fn check_rule(
        &self,
        rule: StoreRule,
        after: Option<RuleRow>,
        max: u32,
    ) -> Result<CheckedRows, StorageError> {
        self.read(move |c| rules::check(c, rule, after, max)).await
    }

    async fn repair_rule(
        &self,
        rule: StoreRule,
        rows: &[RuleRow],
        at: Timestamp,
    ) -> Result<(), StorageError> {
        let rows = rows.to_vec();
        self.write(Lock::Everything, move |c| {
            rows.iter().try_for_each(|row| repairs::repair(c, rule, row.0, at))
        })
        .await
    }

    async fn unregistered_blobs(
        &self,
        kind: BlobKind,
        hashes: &[ContentHash],
    ) -> Result<Vec<ContentHash>, StorageError> {
        let hashes = hashes.to_vec();
        self.read(move |c| blob_registry::unregistered(c, kind, &hashes)).await
    }

    async fn kept_blobs_without_use(
        &self,
        kind: BlobKind,
        hashes: &[ContentHash],
    ) -> Result<Vec<ContentHash>, StorageError> {
        let hashes = hashes.to_vec();
        self.read(move |c| blobs::kept_without_use(c, kind, &hashes)).await
    }

    async fn release_blobs_without_use(
        &self,
        kind: BlobKind,
        hashes: &[ContentHash],
        at: Timestamp,
    ) -> Result<(), StorageError> {
        let hashes = hashes.to_vec();
        self.write(Lock::Everything, move |c| {
            blobs::kept_without_use(c, kind, &hashes)?
                .iter()
                .try_for_each(|hash| blob_registry::release_at(c, kind, hash, at))
        })
        .await
    }

    async fn correct_length(&self, original: &ContentHash, bytes: u64) -> Result<(), StorageError> {
        let original = *original;
        self.write(Lock::Everything, move |c| blobs::correct_length(c, &original, bytes)).await
    }

    async fn upload_parts(&self, after: Option<&str>, max: u32) -> Result<Vec<StoredPart>, StorageError> {
        let after = after.map(str::to_owned);
        self.query(move |c| parts::page(c, after.as_deref(), max)).await
    }

    async fn blob_uses(
        &self,
        kind: BlobKind,
        hash: &ContentHash,
        max: u32,
    ) -> Result<Vec<BlobUse>, StorageError> {
        let hash = *hash;
        self.read(move |c| blobs::uses(c, kind, &hash, max)).await
    }

    async fn discard_rendition(&self, blob: BlobRef, at: Timestamp) -> Result<u32, StorageError> {
        self.write(Lock::Everything, move |c| blobs::discard_rendition(c, blob, at)).await
    }
}
