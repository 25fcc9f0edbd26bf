//! The photo library service in one binary: it serves the library and administers it.
//!
//! It reads the command line, the environment and the configuration file, opens the stores that they name, and
//! hands everything else to the crates `library` and `web`. It knows no SQL, no HTTP and no image format.
//!
//! The commonest change is a new command: a variant of [`cli::Command`] and a module in [`commands`] that turns
//! it into a [`commands::Report`].

mod addresses;
mod cli;
mod commands;
mod config;
mod file_descriptors;
mod logging;
mod serving_lock;
mod shutdown;
mod stores;
mod table;

use std::{
    env,
    io::{Write as _, stderr, stdout},
    process::ExitCode,
    time::Duration,
};

use clap::Parser as _;
use tokio::runtime;

use crate::{
    cli::{Cli, Command},
    commands::{CommandError, Report},
    config::{Config, Environment, Layer, ServeOptions},
};

/// How long what was cut off may take to let go of the store.
const LAST_MOMENT: Duration = Duration::from_millis(500);

fn main() -> ExitCode {
    let cli = Cli::parse();
    if let Command::Decoder(options) = &cli.command {
        return match &options.read_text {
            Some(languages) => sandbox::run_ocr_worker(languages),
            None => sandbox::run_worker(),
        };
    }
    match run(cli).and_then(|report| print(&report)) {
        Ok(code) => code,
        Err(error) => {
            // Without stderr there is nobody to tell.
            let _ = writeln!(stderr(), "error: {error}");
            error.exit_code().into()
        }
    }
}

fn run(cli: Cli) -> Result<Report, CommandError> {
    if let Some(report) = commands::run_without_library(&cli.command) {
        return Ok(report);
    }
    let environment = Environment::new(env::vars_os())?;
    let serve = match &cli.command {
        Command::Serve(options) => options.clone(),
        Command::McpConfig(options) => {
            ServeOptions { base_url: options.base_url.clone(), ..Default::default() }
        }
        _ => ServeOptions::default(),
    };
    let config = match Config::load(Layer { store: cli.store, serve }, cli.config.as_deref(), &environment) {
        Err(error) if matches!(cli.command, Command::Doctor) => {
            return Ok(commands::unusable_configuration(&error));
        }
        config => config?,
    };
    logging::start(config.log_format, log_levels(&cli.command, &environment))?;
    let runtime = runtime::Builder::new_multi_thread().enable_all().build().map_err(CommandError::Runtime)?;
    let outcome = runtime.block_on(commands::run(cli.command, &config, &environment));
    // What still runs is dropped, and the last connections to the store are closed with it. Decoding that was cut off
    // is not waited for.
    runtime.shutdown_timeout(LAST_MOMENT);
    outcome
}

/// A command's own words are its report: there, log lines are for trouble only.
fn log_levels<'a>(command: &Command, environment: &'a Environment) -> &'a str {
    let default = if matches!(command, Command::Serve(_)) { "info" } else { "warn" };
    environment.log_levels().unwrap_or(default)
}

fn print(report: &Report) -> Result<ExitCode, CommandError> {
    let mut out = stdout().lock();
    out.write_all(report.text.as_bytes()).and_then(|()| out.flush()).map_err(CommandError::Output)?;
    Ok(if report.something_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
