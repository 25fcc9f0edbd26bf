//! Runs computations with the lowest scheduling priority.

use std::{io, thread};

use tokio::sync::oneshot;

/// Runs `work` on a thread of its own, to which all other threads are preferred.
///
/// # Errors
/// The thread cannot be started, or `work` panicked.
pub async fn run_low_priority<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> io::Result<T> {
    let (sender, result) = oneshot::channel();
    thread::Builder::new().name("low-priority".into()).spawn(move || {
        if let Err(error) = lower_priority() {
            tracing::debug!(%error, "the priority of a thread cannot be lowered");
        }
        // Fails if the caller was dropped.
        let _ = sender.send(work());
    })?;
    result.await.map_err(|_| io::Error::other("the thread panicked"))
}

/// On Linux, a priority belongs to one thread and not to the whole process.
#[cfg(target_os = "linux")]
fn lower_priority() -> io::Result<()> {
    const LOWEST: i32 = 19;
    Ok(rustix::process::setpriority_process(Some(rustix::thread::gettid()), LOWEST)?)
}

#[cfg(not(target_os = "linux"))]
fn lower_priority() -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use rustix::process::getpriority_process;

    use super::*;

    #[tokio::test]
    async fn only_the_thread_has_the_lowest_priority() {
        let before = getpriority_process(None).unwrap();
        let there =
            run_low_priority(|| getpriority_process(Some(rustix::thread::gettid())).unwrap()).await.unwrap();
        assert_eq!((there, getpriority_process(None).unwrap()), (19, before));
    }
}
