//! Backups and restores that are killed.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use fastrand::Rng;
use library_backup::{BackupError, BackupProgress, VerifiedBackup, back_up, begin_restore, verify};
use storage::LibraryState;
use tokio::sync::Notify;

use crate::places::{SERVICE_SECRET, Side, Target, backup_options, restore_options};

/// Runs work until a step of its progress: at every other step it panics there, otherwise it is cancelled where it
/// waits next.
async fn until<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
    step: usize,
    work: impl FnOnce(Box<dyn FnMut(BackupProgress) + Send>) -> F,
) -> Option<T> {
    let cancelled = Arc::new(Notify::new());
    let cancel = Arc::clone(&cancelled);
    let steps = AtomicUsize::new(0);
    let working = work(Box::new(move |_| {
        if steps.fetch_add(1, Ordering::Relaxed) == step {
            assert!(step.is_multiple_of(2), "it is killed");
            cancel.notify_one();
        }
    }));
    let running = tokio::spawn(async move {
        tokio::select! {
            biased;
            () = cancelled.notified() => None,
            outcome = working => Some(outcome),
        }
    });
    running.await.unwrap_or(None)
}

/// Verifies a backup. A cancelled backup may still write in the background for a moment, so this retries while it is in use.
async fn verified(target: &Target) -> VerifiedBackup {
    for _ in 0..500 {
        match target.verify().await {
            Err(BackupError::InUse(_)) => tokio::time::sleep(Duration::from_millis(10)).await,
            verified => return verified.unwrap(),
        }
    }
    panic!("the folder stays locked")
}

#[tokio::test(flavor = "multi_thread")]
async fn an_earlier_backup_stays_valid_until_the_new_one_is_complete() {
    let (side, target) = (Side::sqlite().await, Target::new());
    let mut random = Rng::with_seed(3);
    let first = side.fill(0, 6).await;
    target.back_up(&side, "original").await.unwrap();
    side.purge(first).await;
    side.fill(100, 8).await;
    let (mut killed, mut complete) = (0, 0);
    for number in 0..25 {
        let (place, path) = (side.place.clone(), target.path());
        let options = backup_options(&format!("id-{number}"));
        let made = until(random.usize(0..60), |progress| async move {
            back_up(&place, SERVICE_SECRET, &path, &options, progress).await
        });
        match made.await {
            Some(made) => {
                made.unwrap();
                complete += 1;
            }
            None => killed += 1,
        }
        let id = verified(&target).await.manifest().id.clone();
        assert!(complete > 0 || id == "original" || id == format!("id-{number}"), "{id}");
    }
    assert!(killed > 5, "{killed} of 25 were killed");
    verified(&target).await;
    target.back_up(&side, "last").await.unwrap();
    let restored = Side::sqlite().await;
    target.restore(&restored).await.unwrap().unwrap();
    assert_eq!(restored.contents().await, side.contents().await);
    assert_eq!(restored.tables().await, side.tables().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_restore_continues() {
    let (side, to, target) = (Side::sqlite().await, Side::sqlite().await, Target::new());
    let mut random = Rng::with_seed(5);
    side.fill(0, 8).await;
    target.back_up(&side, "one").await.unwrap();
    let mut killed = 0;
    for number in 0..6 {
        let (place, path) = (to.place.clone(), target.path());
        let restored = until(random.usize(0..20 + 25 * number), |mut progress| async move {
            let backup = verify(&path, 3, |_| ()).await?;
            let options = restore_options();
            match begin_restore(&backup, &place, &options).await? {
                Some(begun) => begun.complete(&mut progress).await.map(Some),
                None => Ok(None),
            }
        });
        if restored.await.is_none() {
            killed += 1;
            assert!(matches!(to.place.store.library_state().await.unwrap(), LibraryState::Receiving(_)));
        }
    }
    assert!(killed > 2, "{killed}");
    target.restore(&to).await.unwrap();
    assert!(matches!(to.place.store.library_state().await.unwrap(), LibraryState::Received(_)));
    assert_eq!(to.contents().await, side.contents().await);
    assert_eq!(to.tables().await, side.tables().await);
}
