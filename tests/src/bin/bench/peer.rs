//! The process of a peer: another server that this one is compared with.

use std::{
    process::Child,
    thread,
    time::{Duration, Instant},
};

/// How long the process may take to exit.
const GRACE: Duration = Duration::from_secs(5);

/// A process that exits when its stdin is closed. Dropping this value stops it.
pub(crate) struct PeerProcess(pub(crate) Child);

impl Drop for PeerProcess {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let began = Instant::now();
        while began.elapsed() < GRACE {
            if let Ok(Some(_)) = self.0.try_wait() {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
        // The process may have exited already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
