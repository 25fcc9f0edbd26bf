//! Checks and repairs of the rows.

mod blobs;
mod files;
mod parts;
mod repairs;
mod rules;

use domain::{BlobKind, ContentHash, Timestamp};
use storage::{
    BlobRef, BlobUse, CheckDepth, CheckedRows, IntegrityStore, RuleRow, StorageError, StoreRule, StoredPart,
};

use crate::{Lock, sql::blob_registry, structure};

operations! {
    impl IntegrityStore {
        query check_structure(depth: CheckDepth, max: u32) -> Vec<String> = structure::check;
        query check_references(max: u32) -> Vec<String> = structure::dangling_references;
        read check_rule(rule: StoreRule, after: Option<RuleRow>, max: u32) -> CheckedRows = rules::check;
        write(Lock::Everything) repair_rule(rule: StoreRule, rows: &[RuleRow], at: Timestamp) -> () {
            |c| rows.iter().try_for_each(|row| repairs::repair(c, rule, row.0, at))
        }
        read unregistered_blobs(kind: BlobKind, hashes: &[ContentHash]) -> Vec<ContentHash>
            = blob_registry::unregistered;
        read kept_blobs_without_use(kind: BlobKind, hashes: &[ContentHash]) -> Vec<ContentHash>
            = blobs::kept_without_use;
        write(Lock::Everything) release_blobs_without_use(
            kind: BlobKind, hashes: &[ContentHash], at: Timestamp
        ) -> () = blobs::release_without_use;
        write(Lock::Everything) correct_length(original: &ContentHash, bytes: u64) -> ()
            = blobs::correct_length;
        read blob_uses(kind: BlobKind, hash: &ContentHash, max: u32) -> Vec<BlobUse> = blobs::uses;
        write(Lock::Everything) discard_rendition(blob: BlobRef, at: Timestamp) -> u32
            = blobs::discard_rendition;
    }
    by hand {
        async fn upload_parts(&self, after: Option<&str>, max: u32) -> Result<Vec<StoredPart>, StorageError> {
            let after = after.map(str::to_owned);
            self.query(move |c| parts::page(c, after.as_deref(), max)).await
        }
    }
}
