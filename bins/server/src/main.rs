//! The photo library service in one binary: the server and its administration commands.
//!
//! It reads the command line, the environment and the configuration file, opens the stores they name, and passes them
//! to the crates `library` and `web`. It knows no SQL, no HTTP and no image format.
//!
//! To add a command, add a variant to [`cli::LibraryCommand`] and a module to [`commands`] that returns a
//! [`commands::Report`].

mod addresses;
mod cli;
mod commands;
mod config;
mod decoder;
mod exposed_files;
mod file_descriptors;
mod io_messages;
mod logging;
mod progress;
mod public_hosts;
mod service_manager;
mod serving_lock;
mod shutdown;
mod stores;
mod suggestions;
mod table;
mod tls;
mod traces;
mod url_request;

use std::{
    env,
    io::{Write as _, stderr, stdout},
    path::PathBuf,
    process::ExitCode,
    time::Duration,
};

use clap::{CommandFactory as _, Parser as _};
use tokio::runtime;

use crate::{
    cli::{Cli, Command, DecoderOptions, LibraryCommand},
    commands::{CommandError, Report},
    config::{Config, Environment, Layer},
    traces::Traces,
};

/// How long unfinished blocking work may delay the exit.
const EXIT_TIMEOUT: Duration = Duration::from_millis(500);

fn main() -> ExitCode {
    let cli = Cli::try_parse().unwrap_or_else(|mut error| {
        suggestions::add(&mut error, &Cli::command(), env::args_os().skip(1));
        error.exit()
    });
    let layer = cli.layer();
    let outcome = match cli.command {
        Command::Decoder(options) => return run_decoder(&options),
        Command::Document(command) => Ok(commands::document(&command)),
        Command::Library(command) => run(*command, layer, cli.config),
    };
    match outcome.and_then(|report| print(&report)) {
        Ok(code) => code,
        Err(error) => {
            // If stderr is closed, the exit code still reports the failure.
            let _ = writeln!(stderr(), "error: {error}");
            error.exit_code().into()
        }
    }
}

fn run_decoder(options: &DecoderOptions) -> ExitCode {
    match &options.read_text {
        Some(languages) => sandbox::run_ocr_worker(languages),
        None => sandbox::run_worker(),
    }
}

fn run(command: LibraryCommand, flags: Layer, file: Option<PathBuf>) -> Result<Report, CommandError> {
    let environment = Environment::new(env::vars_os())?;
    let config = match Config::load(flags, file, &environment) {
        Err(error) => match &command {
            LibraryCommand::Doctor(options) => return commands::invalid_configuration(&error, options),
            _ => return Err(error.into()),
        },
        Ok(config) => config,
    };
    // Models are public, and the server that reads them may run as another user.
    if !matches!(command, LibraryCommand::Model(_)) {
        keep_new_files_private();
    }
    let runtime = runtime::Builder::new_multi_thread().enable_all().build().map_err(CommandError::Runtime)?;
    let collector = if is_service(&command) { config.collector(&environment)? } else { None };
    let traces = collector
        .map(|collector| Traces::start(&collector, environment.service_name(), runtime.handle().clone()))
        .transpose()?;
    logging::start(config.log_format, log_filter(&command, &environment), traces.as_ref())?;
    let outcome = runtime.block_on(commands::run(command, &config, &environment));
    if let Some(traces) = traces {
        traces.stop();
    }
    // Drops the remaining tasks, which closes the store. Decoding in progress is abandoned.
    runtime.shutdown_timeout(EXIT_TIMEOUT);
    outcome
}

/// Makes every file and folder that this process creates accessible to its user only, whatever creates it.
fn keep_new_files_private() {
    #[cfg(unix)]
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
}

/// The default log level is `info` for servers and workers, and `warn` for commands, which print a report.
fn log_filter<'a>(command: &LibraryCommand, environment: &'a Environment) -> &'a str {
    let default = if is_service(command) { "info" } else { "warn" };
    environment.log_filter().unwrap_or(default)
}

/// Whether a command runs until it is stopped.
fn is_service(command: &LibraryCommand) -> bool {
    matches!(command, LibraryCommand::Serve(_) | LibraryCommand::Worker)
}

fn print(report: &Report) -> Result<ExitCode, CommandError> {
    let mut out = stdout().lock();
    out.write_all(report.text.as_bytes()).and_then(|()| out.flush()).map_err(CommandError::Output)?;
    Ok(if report.failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
