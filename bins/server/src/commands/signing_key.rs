use library::Unavailable;

use super::{CommandError, Report};
use crate::{
    cli::SigningKeyCommand,
    config::Config,
    stores::{IfMissing, load_secret, open_library},
};

pub(super) async fn run(command: SigningKeyCommand, config: &Config) -> Result<Report, CommandError> {
    let SigningKeyCommand::Rotate { lost_secret } = command;
    let library = open_library(config, IfMissing::Fail).await?;
    let secret = load_secret(config)?;
    match library.accounts.signing_keys(secret).rotate(lost_secret).await {
        Ok(kid) => Ok(format!("Access tokens are now signed with a new key. Its ID:\n{kid}\n").into()),
        Err(error @ Unavailable::SigningKey(_)) => Err(CommandError::WrongSecret(error)),
        Err(error) => Err(CommandError::Unavailable(error)),
    }
}
