use media::{Decoders, Format};
use sandbox::{Pool, PoolOptions, WorkerCommand};

use super::Findings;

const DECODERS: &str = "decoders";
const SANDBOX: &str = "sandbox";

/// Reports which formats can be decoded.
pub(super) fn check_decoders(findings: &mut Findings) {
    report(&media::decoders(), findings);
}

fn report(found: &Decoders, findings: &mut Findings) {
    let built_in: Vec<&str> = media::built_in_formats().map(Format::name).collect();
    findings.ok(DECODERS, &format!("built in: {}", built_in.join(", ")));
    for (format, decoder) in [("HEIC", &found.heic), ("AVIF", &found.avif)] {
        match decoder {
            Ok(decoder) => findings.ok(DECODERS, &format!("{format} by {decoder}")),
            Err(error) => findings.warn(DECODERS, &error.to_string()),
        }
    }
    if let Some(problem) = &found.load_error {
        findings.warn(DECODERS, problem);
    }
}

/// Starts a decoder, and reports how it is sandboxed.
pub(super) async fn check_sandbox(decoder: &WorkerCommand, findings: &mut Findings) {
    let protections = async {
        let pool = Pool::new(PoolOptions::new(decoder.clone()))?;
        let protections = pool.protections().await;
        pool.close().await;
        protections
    };
    match protections.await {
        Err(error) => findings.fail(SANDBOX, &format!("cannot start a decoder: {error}")),
        Ok(protections) => {
            let missing = protections.missing();
            if missing.is_empty() {
                findings.ok(
                    SANDBOX,
                    "decoders have no access to files and network; their memory and time are limited",
                );
            }
            for protection in missing {
                findings.warn(SANDBOX, protection);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use media::MediaError;

    use super::*;

    #[test]
    fn a_missing_decoder_is_reported_with_its_package() {
        let missing = MediaError::NoDecoder { format: "HEIC", missing: "a library", install: "libheif1" };
        let found = Decoders { heic: Err(missing), avif: Ok("libheif 1.15.1".into()), load_error: None };
        let mut findings = Findings::default();
        report(&found, &mut findings);
        let report = findings.report();
        assert!(!report.failed);
        assert!(
            report.text.contains("warn  decoders: HEIC pictures need a library; install libheif1"),
            "{}",
            report.text
        );
        assert!(report.text.contains("ok    decoders: AVIF by libheif 1.15.1"), "{}", report.text);
    }
}
