use std::io::{Write as _, stderr};

use web::ConnectionGuide;

use super::{CommandError, Report};
use crate::{
    cli::McpConfigOptions,
    config::{Config, ConfigError},
    stores::{IfMissing, open_library},
};

pub(super) async fn run(options: &McpConfigOptions, config: &Config) -> Result<Report, CommandError> {
    let email = open_library(config, IfMissing::Fail).await?.accounts.account(&options.email).await?.email;
    let base_url = config.base_url(&config.listen).map_err(ConfigError::BaseUrl)?;
    let ConnectionGuide { app, steps, snippet, obstacle, .. } = ConnectionGuide::new(options.app, &base_url);
    if config.base_url_is_default() {
        // The note is optional, so a closed stderr is ignored.
        let _ = writeln!(
            stderr(),
            "Using the default base URL {}. If `serve` uses another one, set --base-url",
            base_url.as_str()
        );
    }
    if options.only_snippet {
        return Ok(snippet.into());
    }
    let mut text = format!("{}\n\n", app.title());
    if let Some(obstacle) = obstacle {
        text.push_str(&format!("Warning: {obstacle}\n\n"));
    }
    for (index, step) in steps.iter().enumerate() {
        text.push_str(&format!("{}. {step}\n", index.saturating_add(1)));
    }
    text.push_str(&format!(
        "\n{snippet}\nSign in as {email}. For an app that cannot sign in, create an API key with \
         `server key create {email} --name NAME`; the app sends it as `Authorization: Bearer KEY`.\n"
    ));
    Ok(text.into())
}
