//! The program that ours is measured beside.

use std::{
    process::Child,
    thread,
    time::{Duration, Instant},
};

/// How long it may take to end when it is told to.
const GRACE: Duration = Duration::from_secs(5);

/// A program that ends when its standard input does; dropping this ends it.
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
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
