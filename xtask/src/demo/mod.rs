//! `demo`: builds the server, imports photos, serves them and prints commands to try.

mod curl;
mod preview;
mod sign_in;
mod verify;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;

use crate::http::{self, HttpError};
use crate::instance::{Import, Instance, ServeError, Wait, free_port};
use crate::process::{ProcessError, Runner, Running};
use crate::system::{self, SystemError, Tools};
use crate::workspace;
use curl::Target;
use sign_in::{SignIn, SignInError};
use verify::VerifyError;

const EMAIL: &str = "demo@example.org";
const SAMPLES: &str = "fixtures/samples";
const POLL: Duration = Duration::from_millis(200);
/// Processor time of a first build, in seconds: measured on two slow processors. Faster ones finish earlier than the demo says.
const FIRST_BUILD_CPU_S: u64 = 900;

#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Folder of photos to import [default: the bundled samples]
    photo_dir: Option<PathBuf>,
    /// Port to serve on; if it is in use, the next free port
    #[arg(long, default_value_t = 8080)]
    port: u16,
    /// Data folder; a second run reuses its library, sign-in and key
    #[arg(long, default_value = "demo-data")]
    data_dir: PathBuf,
    /// Run every printed curl line, check its result, and exit
    #[arg(long)]
    once: bool,
    /// Use the debug build of the tests instead of a release build
    #[arg(long)]
    debug: bool,
}

/// Why the demo failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DemoError {
    #[error(transparent)]
    System(#[from] SystemError),
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error(transparent)]
    Serve(#[from] ServeError),
    #[error(transparent)]
    SignIn(#[from] SignInError),
    #[error(transparent)]
    Http(#[from] HttpError),
    #[error(transparent)]
    Verify(#[from] VerifyError),
    #[error("cannot use {}: {source}", path.display())]
    Folder { path: PathBuf, source: std::io::Error },
    #[error("the server rejected the demo's API key with status {status}: {body}")]
    Key { status: u16, body: String },
    #[error("no image was imported from {}", photos.display())]
    Empty { photos: PathBuf },
    #[error("the server stopped ({status}); see its log {}", log.display())]
    ServerStopped { status: std::process::ExitStatus, log: PathBuf },
}

pub(crate) fn run(runner: &Runner, options: &Options) -> Result<(), DemoError> {
    let photos = options.photo_dir.clone().unwrap_or_else(|| workspace::path(SAMPLES));
    let photos = photos.canonicalize().map_err(|source| DemoError::Folder { path: photos, source })?;
    let relative = if options.debug { "debug/server" } else { "release/server" };
    println!("{}", plan(workspace::target(relative).exists(), &photos, options.once));
    system::ensure(runner, if options.once { Tools::Curl } else { Tools::Build })?;
    println!("\n[1/3] Building the server");
    let started = Instant::now();
    if options.debug {
        workspace::build_programs(runner, &["server"])?;
    } else {
        workspace::build_release(runner, &[])?;
    }
    println!("Built in {}", minutes(started.elapsed().as_secs()));

    let data_dir = make_data_dir(&options.data_dir)?;
    let instance = Instance { runner, program: workspace::target(relative), data_dir, uses_ocr: true };
    let mut sign_in = prepare(&instance)?;
    println!("\n[2/3] Importing {}", photos.display());
    // The samples are few, and the curl lines search for a word in one of them.
    let wait = if options.photo_dir.is_some() { Wait::UntilVisible } else { Wait::UntilRecognised };
    if instance.import(EMAIL, &photos, wait)? == Import::SomeFailed {
        println!("Some files could not be imported; they are listed above. The others are in the library");
    }
    let port = choose_port(options.port);
    println!("\n[3/3] Starting the server");
    let mut server = instance.serve(port)?;
    ensure_key(&instance, port, &mut sign_in)?;
    present(&instance, &mut server, port, &sign_in, &photos, options.once)
}

/// Says what the demo will do, and how long it takes.
fn plan(is_built: bool, photos: &Path, once: bool) -> String {
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get) as u64;
    let build = if is_built {
        "seconds if nothing has changed".to_owned()
    } else {
        format!("the first time about {} on {processors} processors", minutes(FIRST_BUILD_CPU_S / processors))
    };
    let serve =
        if once { "runs the printed commands against it and stops it" } else { "serves until Ctrl-C" };
    format!(
        "The demo
  1. builds the server ({build})
  2. imports the photos in {}
  3. starts the server, prints how to use it, and {serve}",
        photos.display()
    )
}

/// A duration in words: whole seconds below a minute, else whole minutes.
fn minutes(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        _ => format!("{} min", (seconds + 30) / 60),
    }
}

fn make_data_dir(dir: &Path) -> Result<PathBuf, DemoError> {
    std::fs::create_dir_all(dir)
        .and_then(|()| dir.canonicalize())
        .map_err(|source| DemoError::Folder { path: dir.to_owned(), source })
}

/// Creates the store and its account. The password is saved first, so that an interrupted run can be continued.
fn prepare(instance: &Instance<'_>) -> Result<SignIn, DemoError> {
    instance.migrate()?;
    let sign_in = SignIn::load_or_make(&instance.data_dir)?;
    instance.ensure_account(EMAIL, &sign_in.password)?;
    Ok(sign_in)
}

fn choose_port(wanted: u16) -> u16 {
    let port = free_port(wanted);
    if port != wanted {
        println!("Port {wanted} is in use; using port {port} instead");
    }
    port
}

/// Keeps the saved key if it is valid, else creates another.
fn ensure_key(instance: &Instance<'_>, port: u16, sign_in: &mut SignIn) -> Result<(), DemoError> {
    let try_key = |key: &str| http::get(port, "/api/ext/v2/library", Some(key));
    if let Some(key) = &sign_in.key
        && try_key(key)?.status == 200
    {
        return Ok(());
    }
    let key = instance.create_key(EMAIL, "demo")?;
    let response = try_key(&key)?;
    if response.status != 200 {
        return Err(DemoError::Key { status: response.status, body: response.body });
    }
    sign_in.key = Some(key);
    Ok(sign_in.save(&instance.data_dir)?)
}

fn present(
    instance: &Instance<'_>,
    server: &mut Running,
    port: u16,
    sign_in: &SignIn,
    photos: &Path,
    once: bool,
) -> Result<(), DemoError> {
    let base_url = format!("http://127.0.0.1:{port}");
    let key = sign_in.key.clone().unwrap_or_default();
    let preview = preview::find(port, &key)?;
    if once && preview.is_none() {
        return Err(DemoError::Empty { photos: photos.to_owned() });
    }
    let lines = curl::lines(&Target { base_url: base_url.clone(), key: key.clone(), preview });
    println!("{}", welcome(&base_url, &sign_in.password, &key));
    for line in &lines {
        println!("# {}\n{}\n", line.title, line.command);
    }
    let log = instance.data_dir.join("server.log");
    if once {
        verify::run(instance.runner, &lines)?;
        let status = server.stop()?;
        return if status.success() { Ok(()) } else { Err(DemoError::ServerStopped { status, log }) };
    }
    println!("Serving. Stop with Ctrl-C. The server's log is {}", log.display());
    wait_for_end(instance.runner, server, log)
}

/// The text that says how to use the library.
pub(crate) fn welcome(base_url: &str, password: &str, key: &str) -> String {
    format!(
        "
  Account   {base_url}/account   (connected apps, API keys, password)
  Sign in   {EMAIL}
  Password  {password}
  API key   {key}
  MCP URL   {base_url}/api/mcp/v1   (apps sign in by themselves; scripts send the API key as bearer token)

Commands to paste into a shell:
"
    )
}

/// Waits for Ctrl-C, the normal end of the demo.
fn wait_for_end(runner: &Runner, server: &mut Running, log: PathBuf) -> Result<(), DemoError> {
    loop {
        if let Some(status) = server.exited()? {
            return Err(DemoError::ServerStopped { status, log });
        }
        if runner.pause(POLL).is_err() {
            println!("\nStopping the server");
            server.stop()?;
            return Ok(());
        }
    }
}
