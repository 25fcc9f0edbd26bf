//! `doctor`: looks at everything that the service needs. It makes nothing that a first start would make.

mod files;
mod findings;
mod models;
mod photos;
mod stores;
mod words;

use std::collections::BTreeSet;

use clap::CommandFactory as _;
use vision::models::Models;

use super::Report;
use crate::{
    addresses::{self, ThisMachine},
    cli::Cli,
    config::{Config, ConfigError, Environment},
};
use findings::Findings;

/// The report when there is no configuration to look at anything by.
pub(crate) fn unusable_configuration(error: &ConfigError) -> Report {
    let mut findings = Findings::default();
    findings.fail("configuration", &error.to_string());
    findings.report()
}

/// Looks at everything.
pub(super) async fn run(config: &Config, environment: &Environment) -> Report {
    let mut findings = Findings::default();
    check_configuration(config, environment, &mut findings);
    files::check_data_folder(&config.data_dir, &mut findings);
    files::check_secret(&config.secret, &mut findings);
    stores::check(config, &mut findings).await;
    photos::check_decoders(&mut findings);
    photos::check_sandbox(&config.library.decoder, &mut findings).await;
    words::check(config.library.ocr_worker.as_ref(), &mut findings).await;
    models::check(Models::new(&config.models), config.vision.clone(), &mut findings).await;
    findings.report()
}

fn check_configuration(config: &Config, environment: &Environment, findings: &mut Findings) {
    let unknown = environment.unknown(&flags());
    if !unknown.is_empty() {
        let said = format!("no setting has the name {}; correct or unset it", unknown.join(", "));
        findings.warn("environment", &said);
    }
    let base_url = match config.base_url(&config.listen) {
        Err(error) => return findings.fail("configuration", &error.to_string()),
        Ok(base_url) => base_url,
    };
    let problems = [
        addresses::unreachable(config, &config.listen, &base_url, &ThisMachine),
        addresses::unencrypted(&base_url),
    ];
    if problems.iter().all(Option::is_none) {
        let said = format!("listens on {}, reached at {}", config.listen, base_url.as_str());
        findings.ok("configuration", &said);
    }
    for problem in problems.into_iter().flatten() {
        findings.warn("configuration", &problem);
    }
}

/// The names of all flags that can be variables.
fn flags() -> BTreeSet<String> {
    let cli = Cli::command();
    let of = |command: &clap::Command| -> Vec<String> {
        command.get_arguments().filter_map(|argument| argument.get_long().map(str::to_owned)).collect()
    };
    let serve = cli.find_subcommand("serve").map(of).unwrap_or_default();
    of(&cli).into_iter().chain(serve).collect()
}
