use std::io::{Write as _, stderr};

use domain::Email;
use web::{BaseUrl, ConnectionGuide, McpApp, registry_entry};

use super::{CommandError, Report};
use crate::{
    cli::{McpConfigOptions, McpTarget},
    config::{Config, ConfigError},
    stores::{IfMissing, open_library},
};

pub(super) async fn run(options: &McpConfigOptions, config: &Config) -> Result<Report, CommandError> {
    let base_url = config.base_url(&config.listen).map_err(ConfigError::BaseUrl)?;
    let text = match (options.target, &options.email) {
        (McpTarget::App(app), Some(email)) => {
            let email = open_library(config, IfMissing::Fail).await?.accounts.account(email).await?.email;
            guide(app, &base_url, &email, options.only_snippet)
        }
        // An app has an email: the command line requires it.
        _ => registry_entry(&base_url, env!("CARGO_PKG_VERSION")),
    };
    if config.base_url_is_default() {
        // The note is optional, so a closed stderr is ignored.
        let _ = writeln!(
            stderr(),
            "Using the default base URL {}. If `serve` uses another one, set --base-url",
            base_url.as_str()
        );
    }
    Ok(text.into())
}

fn guide(app: McpApp, base_url: &BaseUrl, email: &Email, only_snippet: bool) -> String {
    let ConnectionGuide { app, steps, snippet, obstacle, .. } = ConnectionGuide::new(app, base_url);
    if only_snippet {
        return snippet;
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
    text
}
