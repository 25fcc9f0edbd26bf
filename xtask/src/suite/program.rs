//! Starts a server for tests, and waits until it responds.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::http;
use crate::process::{ProcessError, Runner, Running};

/// Ends the wait for a server that does not start. Long enough for a busy machine.
const START_TIMEOUT: Duration = Duration::from_secs(120);
const POLL: Duration = Duration::from_millis(50);

/// Why the server does not respond.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error("the server {name} stopped, or was not ready after {} s", START_TIMEOUT.as_secs())]
    NotReady { name: String },
}

/// Starts a server that will listen on this port of 127.0.0.1. Dropping the handle stops it.
pub(super) fn start(
    runner: &Runner,
    name: &str,
    command: &mut Command,
    port: u16,
) -> Result<Running, StartError> {
    let mut running = runner.spawn(command)?;
    let started = Instant::now();
    // Any response means ready, although the path may have no GET.
    while http::get(port, "/", None).is_err() {
        if started.elapsed() > START_TIMEOUT || running.exited()?.is_some() {
            return Err(StartError::NotReady { name: name.to_owned() });
        }
        runner.pause(POLL)?;
    }
    Ok(running)
}
