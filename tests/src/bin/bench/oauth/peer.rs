//! The peer: the npm package `oidc-provider`, a common authorization server for Node, with SQLite by `better-sqlite3`.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use ::tests::black_box::{AnyError, UsageMonitor};
use serde::Deserialize;
use tempfile::TempDir;

use super::token_clients::TokenEndpoint;
use crate::peer::PeerProcess;

/// The newest versions that run with Node 20.
const PACKAGES: [(&str, &str); 2] = [("oidc-provider", "9.13.3"), ("better-sqlite3", "12.11.1")];
const SCRIPT: &str = include_str!("peer.mjs");
const HINT: &str = "--without-peer skips it";

/// The installed packages and the script that uses them.
pub(super) struct Peer {
    folder: PathBuf,
}

/// A running peer, stopped when dropped.
pub(super) struct RunningPeer {
    _process: PeerProcess,
    watch: UsageMonitor,
    pub(super) ready: Ready,
    _folder: TempDir,
}

/// What the script prints when it is ready.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Ready {
    pub(super) base_url: String,
    token_path: String,
    pub(super) resource_path: String,
    client: String,
    pub(super) refresh_tokens: Vec<String>,
}

impl Peer {
    /// Installs the packages into the build folder if they are missing.
    pub(super) fn install() -> Result<Self, AnyError> {
        let own = std::env::current_exe()?;
        let target = own.parent().and_then(Path::parent).ok_or("unknown build folder")?;
        let (name, version) = PACKAGES[0];
        let folder = target.join(format!("{name}-{version}"));
        fs::create_dir_all(&folder)?;
        if !is_installed(&folder) {
            println!("installing {} into {}", described(), folder.display());
            let status = Command::new("npm")
                .args(["install", "--no-save", "--no-audit", "--no-fund", "--loglevel", "error", "--prefix"])
                .arg(&folder)
                .args(PACKAGES.map(|(name, version)| format!("{name}@{version}")))
                .stdin(Stdio::null())
                .status()
                .map_err(|error| format!("npm cannot be started: {error} ({HINT})"))?;
            if !status.success() || !is_installed(&folder) {
                return Err(format!("npm could not install {} ({HINT})", described()).into());
            }
        }
        fs::write(folder.join("peer.mjs"), SCRIPT)?;
        Ok(Self { folder })
    }

    /// Starts a server with this many grants in a new database.
    pub(super) fn serve(&self, grants: usize) -> Result<RunningPeer, AnyError> {
        let folder = tempfile::tempdir()?;
        let log = fs::File::create(folder.path().join("peer.log"))?;
        let mut child = Command::new("node")
            .arg(self.folder.join("peer.mjs"))
            .arg(folder.path().join("peer.sqlite"))
            .arg(grants.to_string())
            .env("NODE_ENV", "production")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .map_err(|error| format!("node cannot be started: {error} ({HINT})"))?;
        let watch = UsageMonitor::start(child.id());
        let mut line = String::new();
        BufReader::new(child.stdout.take().ok_or("node has no output")?).read_line(&mut line)?;
        match serde_json::from_str(&line) {
            Ok(ready) => Ok(RunningPeer { _process: PeerProcess(child), watch, ready, _folder: folder }),
            Err(_) => {
                child.wait()?;
                let log = fs::read_to_string(folder.path().join("peer.log"))?;
                Err(format!("oidc-provider did not start ({HINT}): {log}").into())
            }
        }
    }
}

impl RunningPeer {
    pub(super) fn endpoint(&self) -> TokenEndpoint {
        TokenEndpoint {
            base_url: self.ready.base_url.clone(),
            path: self.ready.token_path.clone(),
            client_id: self.ready.client.clone(),
        }
    }

    pub(super) fn cpu(&self) -> Duration {
        self.watch.usage().cpu
    }
}

/// The packages with their versions.
pub(super) fn described() -> String {
    PACKAGES.map(|(name, version)| format!("{name} {version}")).join(" with ")
}

fn is_installed(folder: &Path) -> bool {
    PACKAGES.iter().all(|(name, version)| installed_version(folder, name).as_deref() == Some(version))
}

fn installed_version(folder: &Path, name: &str) -> Option<String> {
    let manifest = fs::read(folder.join("node_modules").join(name).join("package.json")).ok()?;
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).ok()?;
    Some(manifest["version"].as_str()?.to_owned())
}
