//! What each command does. All but `serve` give a [`Report`] and print nothing themselves.

mod account;
mod doctor;
mod import;
mod key;
mod manual;
mod mcp_config;
mod migrate;
mod model;
mod password_input;
mod serve;
mod signing_key;

use std::{io, path::PathBuf};

use domain::{Email, KeyName};
use keys::RandomError;
use library::{AccountError, ImportError, KeyError, StorageError, Unavailable};

use crate::{
    cli::Command,
    config::{Config, ConfigError, Environment},
    logging::InvalidLevels,
    stores::{OpenError, absolute},
};
pub(crate) use doctor::unusable_configuration;
use model::ModelError;
pub(crate) use model::SOURCE as MODEL_SOURCE;
use password_input::PasswordInputError;
use serve::ServeError;

/// What a command has to say, on stdout.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) text: String,
    /// Something failed all the same, and the text says what.
    pub(crate) something_failed: bool,
}

impl From<String> for Report {
    fn from(text: String) -> Self {
        Self { text, something_failed: false }
    }
}

/// Why a command was not carried out.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Levels(#[from] InvalidLevels),
    #[error(
        "this deletes the account with all its photos, albums and keys, for good; if that is what you want, \
         add --yes"
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
    #[error("There is no key named {name} in use. `server key list {email}` shows the keys")]
    NoKey { email: Email, name: KeyName },
    #[error(
        "{0}; give this command the secret that the server has, or add --lost-secret if that one is lost"
    )]
    OtherSecret(Unavailable),
    #[error(transparent)]
    Unavailable(Unavailable),
    #[error(transparent)]
    Password(#[from] PasswordInputError),
    #[error(transparent)]
    Import(#[from] ImportError),
    #[error("interrupted; what came in until now stays, and a second run goes on")]
    Interrupted,
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error("interrupted; nothing was installed")]
    InstallInterrupted,
    #[error("the signals that end the program cannot be taken over: {0}")]
    Signals(io::Error),
    #[error(transparent)]
    Random(#[from] RandomError),
    #[error(transparent)]
    Serve(#[from] ServeError),
    #[error("the report cannot be made: {0}")]
    Json(#[from] serde_json::Error),
    #[error("the program cannot run: {0}")]
    Runtime(io::Error),
    #[error("the output cannot be written: {0}")]
    Output(io::Error),
}

impl CommandError {
    /// 2: used wrongly; 1: failed.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Config(_) | Self::Levels(_) | Self::NotConfirmed => 2,
            _ => 1,
        }
    }

    /// Names the account that is missing, or is there already.
    fn about(self, email: Email, config: &Config) -> Self {
        match self {
            Self::Account(AccountError::NoAccount) | Self::Key(KeyError::NoAccount) => {
                Self::NoAccount { email, folder: absolute(&config.data_dir) }
            }
            Self::Account(AccountError::EmailTaken) => Self::EmailTaken(email),
            other => other,
        }
    }
}

/// Carries out a command that needs no library.
pub(crate) fn run_without_library(command: &Command) -> Option<Report> {
    match command {
        Command::Openapi => Some(web::openapi_document().into()),
        Command::McpTools => Some(web::mcp_tools_document().into()),
        Command::ConnectingMarkdown => Some(web::connecting_document().into()),
        Command::HelpMarkdown => Some(manual::markdown().into()),
        _ => None,
    }
}

/// Carries out a command.
///
/// # Errors
/// [`CommandError`].
pub(crate) async fn run(
    command: Command,
    config: &Config,
    environment: &Environment,
) -> Result<Report, CommandError> {
    let email = command.email().cloned();
    let done = match command {
        Command::Serve(_) => Ok(serve::run(config).await.map(|()| Report::default())?),
        Command::Migrate(options) => migrate::run(&options, config).await,
        Command::Account(command) => account::run(command, config).await,
        Command::Key(command) => key::run(command, config).await,
        Command::SigningKey(command) => signing_key::run(command, config).await,
        Command::Model(command) => model::run(command, config).await,
        Command::Import(options) => import::run(&options, config).await,
        Command::McpConfig(options) => mcp_config::run(&options, config).await,
        Command::Doctor => Ok(doctor::run(config, environment).await),
        Command::Openapi
        | Command::McpTools
        | Command::ConnectingMarkdown
        | Command::HelpMarkdown
        | Command::Decoder(_) => Ok(run_without_library(&command).unwrap_or_default()),
    };
    done.map_err(|error| match email {
        Some(email) => error.about(email, config),
        None => error,
    })
}
