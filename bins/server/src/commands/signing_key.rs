use library::Unavailable;

use super::{CommandError, Report};
use crate::{
    cli::SigningKeyCommand,
    config::Config,
    stores::{Absent, load_secret, open_library},
};

pub(super) async fn run(command: SigningKeyCommand, config: &Config) -> Result<Report, CommandError> {
    let SigningKeyCommand::Rotate { lost_secret } = command;
    let library = open_library(config, Absent::Refuse).await?;
    let secret = load_secret(config)?;
    match library.signing_keys(secret).rotate(lost_secret).await {
        Ok(kid) => Ok(format!("Access tokens are signed with a new key from now on:\n{kid}\n").into()),
        Err(error @ Unavailable::SigningKey(_)) => Err(CommandError::OtherSecret(error)),
        Err(error) => Err(CommandError::Unavailable(error)),
    }
}
