use std::io::{Write as _, stderr};

use web::ConnectionGuide;

use super::{CommandError, Report};
use crate::{
    cli::McpConfigOptions,
    config::{Config, ConfigError},
    stores::{Absent, open_library},
};

pub(super) async fn run(options: &McpConfigOptions, config: &Config) -> Result<Report, CommandError> {
    let email = open_library(config, Absent::Refuse).await?.account(&options.email).await?.email;
    let base_url = config.base_url(&config.listen).map_err(ConfigError::BaseUrl)?;
    let ConnectionGuide { app, steps, snippet, obstacle, .. } = ConnectionGuide::new(options.app, &base_url);
    if config.assumes_base_url() {
        // Without stderr there is nobody to tell.
        let _ =
            writeln!(stderr(), "Assumes {}; give the --base-url that you give to serve", base_url.as_str());
    }
    if options.only_snippet {
        return Ok(snippet.into());
    }
    let mut text = format!("{}\n\n", app.title());
    if let Some(obstacle) = obstacle {
        text.push_str(&format!("Beware: {obstacle}\n\n"));
    }
    for (index, step) in steps.iter().enumerate() {
        text.push_str(&format!("{}. {step}\n", index.saturating_add(1)));
    }
    text.push_str(&format!(
        "\n{snippet}\nSign in as {email}. An app that cannot sign in takes a key that `server key create {email} --name NAME` \
         makes, and sends it as `Authorization: Bearer KEY`.\n"
    ));
    Ok(text.into())
}
