//! The peer: nginx with one worker, which sends a file.

use std::{
    fs,
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use ::tests::black_box::{AnyError, UsageMonitor};
use rustix::process::{Pid, Signal, geteuid, kill_process};

use super::SERVER_PROCESSOR;
use crate::peer::PeerProcess;

/// The path of the file.
pub(super) const PATH: &str = "/picture.webp";
const HINT: &str = "install nginx, or skip it with --without-peer";
const START: Duration = Duration::from_secs(5);

/// A running nginx, stopped when dropped.
pub(super) struct Nginx {
    process: PeerProcess,
    watch: UsageMonitor,
    base_url: String,
}

impl Nginx {
    /// Starts nginx in a folder, with a file of this content.
    pub(super) fn start(folder: &Path, body: &[u8]) -> Result<Self, AnyError> {
        // This port was free a moment ago. Another program may bind it before nginx does.
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let folder = folder.join("nginx");
        let root = folder.join("root");
        fs::create_dir_all(&root)?;
        fs::write(root.join(PATH.trim_start_matches('/')), body)?;
        let config = folder.join("nginx.conf");
        let user = if geteuid().is_root() { "user root;" } else { "" };
        let text = format!(
            "{user} daemon off; worker_processes 1; pid {0}/pid; error_log stderr error;\n\
             events {{ worker_connections 256; }}\n\
             http {{ access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000000;\n\
             open_file_cache max=100; types {{ image/webp webp; }}\n\
             server {{ listen {address}; root {0}/root; }} }}\n",
            folder.display()
        );
        fs::write(&config, text)?;
        let mut command = Command::new("taskset");
        command.args(["--cpu-list", &SERVER_PROCESSOR.to_string(), program(), "-e", "stderr", "-p"]);
        command.arg(&folder).arg("-c").arg(&config).stdin(Stdio::null());
        let child = command.spawn().map_err(|error| format!("nginx cannot be started: {error} ({HINT})"))?;
        let watch = UsageMonitor::start(child.id());
        let nginx = Self { process: PeerProcess(child), watch, base_url: format!("http://{address}") };
        let began = Instant::now();
        while TcpStream::connect(address).is_err() {
            if began.elapsed() > START {
                return Err(format!("nginx does not listen ({HINT})").into());
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(nginx)
    }

    pub(super) fn base_url(&self) -> &str {
        &self.base_url
    }

    pub(super) fn cpu(&self) -> Duration {
        self.watch.usage().cpu
    }
}

/// Debian installs nginx in a folder that is not on the `PATH` of every user.
fn program() -> &'static str {
    const DEBIAN: &str = "/usr/sbin/nginx";
    if Path::new(DEBIAN).exists() { DEBIAN } else { "nginx" }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // The process has not been waited for, so its ID has not been reused. If this fails, the process is killed later.
        let _ = kill_process(Pid::from_child(&self.process.0), Signal::TERM);
    }
}
