//! The peer: a server made with rmcp, the official Rust library of MCP, and axum. Its package is in `tests/peers`.

use std::{
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use ::tests::black_box::{AnyError, UsageMonitor};

use super::message::Endpoint;
use crate::peer::PeerProcess;

const NAME: &str = "mcp-echo";
const HINT: &str = "--without-peer skips it";

/// A running peer, stopped when dropped.
pub(super) struct Peer {
    _process: PeerProcess,
    watch: UsageMonitor,
    base_url: String,
}

impl Peer {
    /// Builds the peer in release mode and starts it.
    pub(super) fn start() -> Result<Self, AnyError> {
        let mut child = Command::new(build()?)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{NAME} cannot be started: {error} ({HINT})"))?;
        let watch = UsageMonitor::start(child.id());
        let mut line = String::new();
        let output = child.stdout.take().ok_or("the peer has no output")?;
        let mut peer = Self { _process: PeerProcess(child), watch, base_url: String::new() };
        BufReader::new(output).read_line(&mut line)?;
        line.trim_end().clone_into(&mut peer.base_url);
        if peer.base_url.is_empty() { Err(format!("{NAME} did not start ({HINT})").into()) } else { Ok(peer) }
    }

    pub(super) fn endpoint(&self) -> Endpoint<'_> {
        Endpoint { base_url: &self.base_url, path: "/mcp", token: None }
    }

    pub(super) fn cpu(&self) -> Duration {
        self.watch.usage().cpu
    }
}

fn build() -> Result<PathBuf, AnyError> {
    let own = std::env::current_exe()?;
    let target = own.parent().and_then(Path::parent).ok_or("unknown build folder")?.join("peers");
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers").join(NAME).join("Cargo.toml");
    let status = Command::new("cargo")
        .args(["build", "--release", "--locked", "--quiet", "--manifest-path"])
        .arg(manifest)
        .arg("--target-dir")
        .arg(&target)
        .stdin(Stdio::null())
        .status()
        .map_err(|error| format!("cargo cannot be started: {error} ({HINT})"))?;
    if status.success() {
        Ok(target.join("release").join(NAME))
    } else {
        Err(format!("{NAME} cannot be built ({HINT})").into())
    }
}
