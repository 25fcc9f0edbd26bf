use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use crate::AnyError;

/// Linux counts a process's time in hundredths of a second.
const TICKS_PER_S: f64 = 100.0;

/// The server's executable, which stands beside this one.
pub(crate) fn server_executable() -> Result<PathBuf, AnyError> {
    let path = std::env::current_exe()?.with_file_name("server");
    if path.exists() {
        Ok(path)
    } else {
        Err(format!("{} is missing: build it first", path.display()).into())
    }
}

/// What a process has used so far.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Usage {
    pub(crate) cpu: Duration,
    pub(crate) peak_bytes: u64,
}

/// Reads what a running process has used; `None` once it has ended.
pub(crate) fn usage(pid: u32) -> Option<Usage> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // Behind the name, which stands in parentheses and may hold spaces, user and system time are fields 12 and 13.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let ticks = fields.next()?.parse::<f64>().ok()? + fields.next()?.parse::<f64>().ok()?;
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let peak_kib: u64 = peak.split_whitespace().next()?.parse().ok()?;
    Some(Usage { cpu: Duration::from_secs_f64(ticks / TICKS_PER_S), peak_bytes: peak_kib * 1024 })
}

/// A server on a data folder, ended when dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) base_url: String,
}

impl Server {
    /// Starts it on a free port and waits until it says that it is ready.
    pub(crate) fn start(data_dir: &Path) -> Result<Self, AnyError> {
        let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        drop(listener);
        let mut child = Command::new(server_executable()?)
            .args(["serve", "--listen", &address.to_string(), "--data-dir"])
            .arg(data_dir)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let stdout = child.stdout.take().ok_or("the server has no output")?;
        let server = Self { child, base_url: format!("http://{address}") };
        let ready =
            BufReader::new(stdout).lines().map_while(Result::ok).any(|line| line.starts_with("listening"));
        if ready { Ok(server) } else { Err("the server ended before it was ready".into()) }
    }

    pub(crate) fn usage(&self) -> Usage {
        usage(self.child.id()).unwrap_or_default()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
