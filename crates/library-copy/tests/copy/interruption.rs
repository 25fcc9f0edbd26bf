//! Copies that are killed.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use fastrand::Rng;
use library_copy::{CopyError, CopyOptions, CopyReport, Place, copy};
use tokio::sync::Notify;

/// How a copy is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kill {
    /// It panics between two steps.
    Panic,
    /// It is cancelled where it next waits.
    Cancel,
}

/// Copies until a step, and returns the report if the copy ends before it.
async fn copy_until(
    from: &Place,
    to: &Place,
    options: &CopyOptions,
    kill: Kill,
    step: usize,
) -> Option<Result<Option<CopyReport>, CopyError>> {
    let (from, to, options) = (from.clone(), to.clone(), options.clone());
    let cancelled = Arc::new(Notify::new());
    let cancel = Arc::clone(&cancelled);
    let steps = AtomicUsize::new(0);
    let copying = tokio::spawn(async move {
        let progress = move |_| {
            if steps.fetch_add(1, Ordering::Relaxed) == step {
                match kill {
                    Kill::Panic => panic!("the copy is killed"),
                    Kill::Cancel => cancel.notify_one(),
                }
            }
        };
        tokio::select! {
            biased;
            () = cancelled.notified() => None,
            copied = copy(&from, &to, &options, progress) => Some(copied),
        }
    });
    copying.await.unwrap_or(None)
}

/// Copies with this many interruptions, then to the end.
pub(crate) async fn copy_interrupted(
    from: &Place,
    to: &Place,
    options: &CopyOptions,
    kills: usize,
    random: &mut Rng,
) -> CopyReport {
    // The random number of steps has a low maximum at first, so that most runs advance only a little.
    let mut max = 20;
    for number in 0..kills {
        let kill = if number % 2 == 0 { Kill::Panic } else { Kill::Cancel };
        let options = CopyOptions { transfer: format!("{}-{number}", options.transfer), ..options.clone() };
        if let Some(report) = copy_until(from, to, &options, kill, random.usize(0..max)).await {
            return report.unwrap().unwrap();
        }
        max += 60;
    }
    copy(from, to, options, |_| ()).await.unwrap().unwrap()
}
