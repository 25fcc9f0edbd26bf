//! The commands. All but `serve` and `worker` return a [`Report`] instead of printing.

mod account;
mod backup;
mod copy;
mod doctor;
mod export;
mod fsck;
mod import;
mod key;
mod manual;
mod mcp_config;
mod migrate;
mod model;
mod password_input;
mod restore;
mod serve;
mod signing_key;
mod watch;
mod worker;

use std::{io, path::PathBuf};

use domain::{Email, KeyName};
use keys::RandomError;
use library::{
    AccountError, ExportError, ImportError, IntegrityError, KeyError, StorageError, Unavailable, WatchError,
};

use crate::{
    cli::{DocumentCommand, LibraryCommand},
    config::{Config, ConfigError, Environment},
    io_messages::absolute,
    logging::InvalidLogFilter,
    stores::OpenError,
    traces::TracesError,
};
use copy::CopyFailure;
pub(crate) use doctor::invalid_configuration;
use library_backup::BackupError;
use model::ModelError;
use password_input::PasswordInputError;
use restore::RestoreFailure;
use serve::ServeError;

/// The output of a command, for stdout.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) text: String,
    /// Part of the work failed, as the text explains.
    pub(crate) failed: bool,
}

impl From<String> for Report {
    fn from(text: String) -> Self {
        Self { text, failed: false }
    }
}

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    LogFilter(#[from] InvalidLogFilter),
    #[error(transparent)]
    Traces(#[from] TracesError),
    #[error(
        "this deletes the account with all its photos, albums and keys and cannot be undone; add --yes to confirm"
    )]
    NotConfirmed,
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Storage(#[from] StorageError),
    #[error(transparent)]
    Account(#[from] AccountError),
    #[error(transparent)]
    Key(#[from] KeyError),
    #[error(
        "There is no account for {email} in {}. `server account list` shows the accounts",
        folder.display()
    )]
    NoAccount { email: Email, folder: PathBuf },
    #[error("There is already an account for {0}")]
    EmailTaken(Email),
    #[error("There is no active key named {name}. `server key list {email}` shows the keys")]
    NoKey { email: Email, name: KeyName },
    #[error("{0}; use the secret of the server, or add --lost-secret if it is lost")]
    WrongSecret(Unavailable),
    #[error(transparent)]
    Unavailable(Unavailable),
    #[error(transparent)]
    Password(#[from] PasswordInputError),
    #[error(transparent)]
    Import(#[from] ImportError),
    #[error("interrupted; photos imported so far are kept. Run the command again to continue")]
    Interrupted,
    #[error(transparent)]
    Export(#[from] ExportError),
    #[error("interrupted; files written so far are kept. Run the command again to continue")]
    ExportInterrupted,
    #[error(transparent)]
    Check(#[from] IntegrityError),
    #[error(transparent)]
    Watch(#[from] WatchError),
    #[error(transparent)]
    Copy(#[from] CopyFailure),
    #[error(transparent)]
    Backup(#[from] BackupError),
    #[error(transparent)]
    Restore(#[from] RestoreFailure),
    #[error("interrupted; an earlier backup is still valid. Run the command again to continue")]
    BackupInterrupted,
    #[error("interrupted; repairs made so far are kept. Run the command again to continue")]
    CheckInterrupted,
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error("interrupted; nothing was installed")]
    InstallInterrupted,
    #[error("cannot install signal handlers: {0}")]
    Signals(io::Error),
    #[error(transparent)]
    Random(#[from] RandomError),
    #[error(transparent)]
    Serve(#[from] ServeError),
    #[error("cannot format the report: {0}")]
    Json(#[from] serde_json::Error),
    #[error("cannot start the async runtime: {0}")]
    Runtime(io::Error),
    #[error("cannot write to stdout: {0}")]
    Output(io::Error),
}

impl CommandError {
    /// 2 for wrong usage, 1 for a failure.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Config(_)
            | Self::LogFilter(_)
            | Self::NotConfirmed
            | Self::Copy(CopyFailure::SamePlace(_)) => 2,
            _ => 1,
        }
    }

    /// Adds the account's email address to errors about the account.
    fn with_email(self, email: Email, config: &Config) -> Self {
        match self {
            Self::Account(AccountError::NoAccount) | Self::Key(KeyError::NoAccount) => {
                Self::NoAccount { email, folder: absolute(&config.data_dir) }
            }
            Self::Account(AccountError::EmailTaken) => Self::EmailTaken(email),
            other => other,
        }
    }
}

/// The document that a command prints.
pub(crate) fn document(command: &DocumentCommand) -> Report {
    let text = match command {
        DocumentCommand::Openapi => web::openapi_document(),
        DocumentCommand::McpTools => web::mcp_tools_document(),
        DocumentCommand::ConnectingMarkdown => web::connecting_document(),
        DocumentCommand::HelpMarkdown => manual::markdown(),
    };
    text.into()
}

/// Runs a command that needs the configuration.
pub(crate) async fn run(
    command: LibraryCommand,
    config: &Config,
    environment: &Environment,
) -> Result<Report, CommandError> {
    let email = command.email().cloned();
    let outcome = match command {
        LibraryCommand::Serve(_) => Ok(serve::run(config).await.map(|()| Report::default())?),
        LibraryCommand::Worker => worker::run(config).await,
        LibraryCommand::Migrate(options) => migrate::run(&options, config).await,
        LibraryCommand::Account(command) => account::run(command, config).await,
        LibraryCommand::Key(command) => key::run(command, config).await,
        LibraryCommand::SigningKey(command) => signing_key::run(command, config).await,
        LibraryCommand::Model(command) => model::run(command, config).await,
        LibraryCommand::Import(options) => match &options.watch {
            Some(folder) => watch::run(folder, &options, config).await,
            None => import::run(&options, config).await,
        },
        LibraryCommand::McpConfig(options) => mcp_config::run(&options, config).await,
        LibraryCommand::Fsck(options) => fsck::run(&options, config).await,
        LibraryCommand::Copy(options) => copy::run(&options, config, environment).await,
        LibraryCommand::Export(options) => export::run(&options, config).await,
        LibraryCommand::Backup(options) => backup::run(&options, config).await,
        LibraryCommand::Restore(options) => restore::run(&options, config).await,
        LibraryCommand::Doctor(options) => doctor::run(&options, config, environment).await,
    };
    outcome.map_err(|error| match email {
        Some(email) => error.with_email(email, config),
        None => error,
    })
}
