//! Backups while the library changes.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use library_backup::{BackupError, back_up};
use tokio::{runtime::Handle, task::block_in_place};

use crate::places::{SERVICE_SECRET, Side, Target, backup_options};

#[tokio::test(flavor = "multi_thread")]
async fn a_blob_that_vanishes_before_it_is_copied_needs_another_snapshot() {
    let (side, target) = (Side::sqlite().await, Target::new());
    let first = side.fill(0, 10).await;
    side.fill(100, 4).await;
    let (snapshots, purged) = (AtomicU32::new(0), AtomicBool::new(false));
    let options = backup_options("one");
    let made = back_up(&side.place, SERVICE_SECRET, &target.path(), &options, |progress| {
        match (progress.step, progress.done) {
            ("reading", _) => {
                snapshots.fetch_add(1, Ordering::Relaxed);
            }
            // The snapshot names the photos of both accounts, and only few files are copied yet.
            ("copying", 2) if !purged.swap(true, Ordering::Relaxed) => {
                block_in_place(|| Handle::current().block_on(side.purge(first)));
            }
            _ => {}
        }
    })
    .await
    .unwrap();
    assert_eq!(snapshots.load(Ordering::Relaxed), 2);
    assert_eq!((made.manifest.originals.files, made.lost.len()), (4, 0));
    let restored = Side::sqlite().await;
    target.restore(&restored).await.unwrap().unwrap();
    assert_eq!(restored.contents().await, side.contents().await);
    assert_eq!(restored.tables().await, side.tables().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn blobs_that_vanish_again_and_again_fail_the_backup_and_keep_the_earlier_one() {
    let (side, target) = (Side::sqlite().await, Target::new());
    side.fill(0, 2).await;
    target.back_up(&side, "one").await.unwrap();
    let mut photos = 1000;
    let mut added = None;
    let options = backup_options("two");
    let made = back_up(&side.place, SERVICE_SECRET, &target.path(), &options, |progress| {
        let now = |work: &mut dyn FnMut()| block_in_place(work);
        match (progress.step, progress.done) {
            ("reading", _) => now(&mut || {
                photos += 100;
                added = Some(Handle::current().block_on(side.fill(photos, 1)));
            }),
            ("copying", 0) => now(&mut || {
                if let Some(viewer) = added.take() {
                    Handle::current().block_on(side.purge(viewer));
                }
            }),
            _ => {}
        }
    })
    .await;
    assert!(matches!(made, Err(BackupError::Unstable(_))));
    assert_eq!(target.verify().await.unwrap().manifest().id, "one");
}

#[tokio::test(flavor = "multi_thread")]
async fn lost_blobs_are_named_and_everything_else_is_backed_up() {
    let (side, target) = (Side::sqlite().await, Target::new());
    side.fill(0, 4).await;
    let originals = side.place.store.kept_blobs(domain::BlobKind::Original, None, 9).await.unwrap();
    let path = |at: usize| side.place.blobs.content.location(originals[at].kind, originals[at].hash);
    std::fs::remove_file(path(0)).unwrap();
    let length = usize::try_from(originals[1].bytes).unwrap();
    std::fs::write(path(1), vec![0; length]).unwrap();
    let made = target.back_up(&side, "one").await.unwrap();
    let mut lost = made.lost;
    lost.sort();
    assert_eq!(lost, [path(0), path(1)]);
    target.verify().await.unwrap();
    let restored = Side::sqlite().await;
    let report = target.restore(&restored).await.unwrap().unwrap();
    assert_eq!((report.files, report.lost), (10, 2));
    assert_eq!(restored.tables().await, side.tables().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn writes_during_a_snapshot_are_not_part_of_it() {
    for side in [Side::sqlite().await, Side::postgres().await] {
        side.fill(0, 3).await;
        let target = Target::new();
        let stop = AtomicBool::new(false);
        let writes = async {
            let mut number = 1000;
            while !stop.load(Ordering::Relaxed) {
                side.fill(number, 1).await;
                number += 100;
            }
            number
        };
        let backing_up = async {
            for number in 0..4 {
                let made = target.back_up(&side, &format!("id-{number}")).await.unwrap();
                // Each photo has an original and two renditions. Only one that is being indexed has no renditions.
                let (originals, renditions) = (made.manifest.originals, made.manifest.renditions);
                let indexed = renditions.files / 2;
                assert!(indexed == originals.files || indexed + 1 == originals.files, "{originals:?}");
                assert!(made.lost.is_empty(), "{:?}", made.lost);
                let restored = Side::sqlite().await;
                target.restore(&restored).await.unwrap().unwrap();
                let store = &restored.place.store;
                assert_eq!(store.check_references(9).await.unwrap(), [""; 0]);
                restored.contents().await;
            }
            stop.store(true, Ordering::Relaxed);
        };
        let (number, ()) = tokio::join!(writes, backing_up);
        assert!(number > 1100, "photos were added meanwhile");
    }
}
