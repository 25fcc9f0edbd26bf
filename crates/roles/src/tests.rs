use std::{path::Path, sync::Arc};

use blobs::BlobStore;
use bytes::Bytes;
use clock::ManualClock;
use domain::{BlobKind, ContentHash, Plan, Timestamp};
use keys::SystemRandom;
use storage::{AnnounceOutcome, BlobRef, SchemaStore as _};
use storage_conformance::Seed;
use storage_sqlite::{SqliteOptions, SqliteStore};
use tempfile::TempDir;

use super::*;

/// An hour, after which an announced blob is idle.
const IDLE_MS: i64 = 3600 * 1000 + 1;

/// A process with its own connections to the stores.
async fn process(dir: &Path, clock: &Arc<ManualClock>) -> Roles {
    let store = SqliteStore::open(&dir.join("library.sqlite"), SqliteOptions::default()).await.unwrap();
    store.migrate().await.unwrap();
    let blobs = BlobStore::open_folder(&dir.join("blobs")).unwrap();
    Roles::new(Arc::new(store), blobs, clock.clone(), Arc::new(SystemRandom::new()))
}

async fn two_processes() -> (TempDir, Arc<ManualClock>, Roles, Roles) {
    let dir = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::new(Timestamp::from_millis(1_800_000_000_000).unwrap()));
    let (one, other) = (process(dir.path(), &clock).await, process(dir.path(), &clock).await);
    (dir, clock, one, other)
}

async fn sweeper(roles: &Roles) -> Option<HeldRole> {
    roles.try_role(Role::SWEEPER).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_role_is_renewed_while_it_is_used() {
    let (_dir, clock, one, other) = two_processes().await;
    let mut held = sweeper(&one).await.unwrap();
    for _ in 0..10 {
        clock.advance_ms(25_000);
        assert!(held.is_valid().await.unwrap());
        assert!(sweeper(&other).await.is_none());
    }
    held.release().await;
    assert!(sweeper(&other).await.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_role_of_a_killed_process_is_free_at_once_on_its_machine() {
    let (_dir, _, one, other) = two_processes().await;
    let killed = sweeper(&one).await.unwrap();
    assert!(sweeper(&other).await.is_none());
    drop(killed);
    assert!(sweeper(&other).await.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_role_of_another_machine_expires() {
    let (dir, clock, one, _) = two_processes().await;
    let machine = tempfile::tempdir().unwrap();
    let mut remote = process(dir.path(), &clock).await;
    let parts = Arc::get_mut(&mut remote.parts).unwrap();
    parts.blobs.locks = parts.blobs.locks.clone().of_machine(machine.path());
    drop(sweeper(&one).await.unwrap());
    assert!(sweeper(&remote).await.is_none(), "the other machine cannot know that the process was killed");
    clock.advance_ms(60_001);
    assert!(sweeper(&remote).await.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sweeper_that_lost_its_role_deletes_and_forgets_nothing() {
    let (_dir, clock, slow, quick) = two_processes().await;
    let blob = unreferenced_blob(&slow).await;
    clock.advance_ms(IDLE_MS);
    let mut suspended = sweeper(&slow).await.unwrap();
    assert!(suspended.is_valid().await.unwrap());
    clock.advance_ms(61_000);
    quick.finish_removals().await.unwrap();
    assert!(!is_stored(&quick, &blob).await, "the quick process has taken over");
    // The same bytes are written again, and the slow process wakes up.
    assert_eq!(unreferenced_blob(&quick).await, blob);
    clock.advance_ms(IDLE_MS);
    let taken = quick.parts.store.take_unreferenced_blobs(clock.now(), clock.now(), 10).await.unwrap();
    assert_eq!(taken, [blob]);
    slow.remove_idle_blobs(&mut suspended, || false).await.unwrap();
    assert!(is_stored(&quick, &blob).await);
    assert_eq!(quick.parts.store.taken_blobs(10).await.unwrap(), [blob]);
}

#[tokio::test(flavor = "multi_thread")]
async fn recovery_keeps_young_blobs() {
    let (_dir, clock, one, other) = two_processes().await;
    let blob = unreferenced_blob(&one).await;
    drop(one);
    other.recover().await.unwrap();
    assert!(is_stored(&other, &blob).await, "another machine may be about to refer to it");
    other.finish_removals().await.unwrap();
    assert!(is_stored(&other, &blob).await);
    clock.advance_ms(IDLE_MS);
    other.finish_removals().await.unwrap();
    assert!(!is_stored(&other, &blob).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn recovery_ends_only_leases_of_killed_processes() {
    let (_dir, _, one, other) = two_processes().await;
    let (killed, _alive) =
        (one.register_owner("killed").await.unwrap(), one.register_owner("alive").await.unwrap());
    let seed = Seed::new(one.parts.store.clone());
    let ann = seed.account(Plan::Paid).await.account;
    let images = seed.waiting(ann, 2).await;
    let at = one.parts.clock.now();
    for worker in ["killed", "alive"] {
        let request =
            storage::LeaseRequest { worker, at, until: at.plus_millis(15_000), max: 1, max_attempts: 9 };
        assert_eq!(one.parts.store.lease_jobs(request, 1).await.unwrap().len(), 1);
    }
    drop(killed);
    other.recover().await.unwrap();
    let request =
        storage::LeaseRequest { worker: "next", at, until: at.plus_millis(1), max: 9, max_attempts: 9 };
    let jobs = other.parts.store.lease_jobs(request, 1).await.unwrap();
    assert_eq!(jobs.iter().map(|job| (&job.image, job.attempts)).collect::<Vec<_>>(), [(&images[0], 2)]);
}

/// Announces and writes a rendition that nothing refers to.
async fn unreferenced_blob(roles: &Roles) -> BlobRef {
    let bytes = Bytes::from_static(b"rendition");
    let hash: ContentHash = blobs::content_hash(&bytes);
    let blob = BlobRef { kind: BlobKind::Rendition, hash, bytes: bytes.len() as u64 };
    let announced = roles.parts.store.announce_blobs(&[blob], roles.parts.clock.now()).await.unwrap();
    assert_eq!(announced, AnnounceOutcome::Ready);
    roles.parts.blobs.content.put_bytes(BlobKind::Rendition, bytes).await.unwrap();
    blob
}

async fn is_stored(roles: &Roles, blob: &BlobRef) -> bool {
    roles.parts.blobs.content.contains(blob.kind, blob.hash).await.unwrap()
}
