//! `doctor`: checks everything the server needs. It creates nothing that the first start would create.

mod base_url;
mod certificate;
mod files;
mod findings;
mod models;
mod ocr;
mod photos;
mod stores;

use std::collections::BTreeSet;

use clap::CommandFactory as _;
use library::{Clock as _, SystemClock};
use vision::models::Models;
use web::BaseUrl;

use super::{CommandError, Report};
use crate::{
    addresses::{self, ThisMachine},
    cli::{Cli, DoctorOptions},
    config::{Config, ConfigError, Environment},
    exposed_files,
};
use findings::Findings;

/// The report for an invalid configuration, with which nothing else can be checked.
pub(crate) fn invalid_configuration(
    error: &ConfigError,
    options: &DoctorOptions,
) -> Result<Report, CommandError> {
    let mut findings = Findings::default();
    findings.fail("configuration", &error.to_string());
    report(findings, options)
}

/// Runs all checks.
pub(super) async fn run(
    options: &DoctorOptions,
    config: &Config,
    environment: &Environment,
) -> Result<Report, CommandError> {
    let mut findings = Findings::default();
    let base_url = check_configuration(config, environment, &mut findings);
    if let Some(base_url) = base_url {
        certificate::check(config, &base_url, SystemClock.now(), &mut findings);
        base_url::check(&base_url, config.has_tls(), &mut findings).await;
    }
    files::check_data_folder(&config.data_dir, !config.database.is_shared(), &mut findings);
    exposed_files::advice(config).iter().for_each(|advice| findings.warn("secrets", advice));
    files::check_secret(&config.secret, &mut findings);
    stores::check(config, &mut findings).await;
    photos::check_decoders(&mut findings);
    photos::check_sandbox(&config.library.indexer.decoder, &mut findings).await;
    let (ocr_worker, languages) =
        (config.library.indexer.ocr_worker.as_ref(), &config.library.indexer.ocr_languages);
    ocr::check(ocr_worker, languages, &mut findings).await;
    models::check(Models::new(&config.models), config.vision.clone(), &mut findings).await;
    report(findings, options)
}

fn report(findings: Findings, options: &DoctorOptions) -> Result<Report, CommandError> {
    if options.json { Ok(findings.json()?) } else { Ok(findings.report()) }
}

/// Returns the base URL if it is valid.
fn check_configuration(
    config: &Config,
    environment: &Environment,
    findings: &mut Findings,
) -> Option<BaseUrl> {
    let unknown = environment.unknown(&flags());
    if !unknown.is_empty() {
        let message = format!("unknown variable {}; correct or unset it", unknown.join(", "));
        findings.warn("environment", &message);
    }
    let base_url = match config.base_url(&config.listen) {
        Err(error) => {
            findings.fail("configuration", &error.to_string());
            return None;
        }
        Ok(base_url) => base_url,
    };
    let problems = [
        addresses::reachability_advice(config, &config.listen, &base_url, &ThisMachine),
        addresses::encryption_advice(&base_url),
        addresses::proxy_advice(config, &base_url),
    ];
    if problems.iter().all(Option::is_none) {
        let message = format!("listen address {}, base URL {}", config.listen, base_url.as_str());
        findings.ok("configuration", &message);
    }
    for problem in problems.into_iter().flatten() {
        findings.warn("configuration", &problem);
    }
    Some(base_url)
}

/// The names of all flags that have a variable.
fn flags() -> BTreeSet<String> {
    let cli = Cli::command();
    let of = |command: &clap::Command| -> Vec<String> {
        command.get_arguments().filter_map(|argument| argument.get_long().map(str::to_owned)).collect()
    };
    let serve = cli.find_subcommand("serve").map(of).unwrap_or_default();
    of(&cli).into_iter().chain(serve).collect()
}
