use media::Decoders;
use sandbox::{Pool, PoolOptions, WorkerCommand};

use super::Findings;

const DECODERS: &str = "decoders";
const SANDBOX: &str = "sandbox";

/// Tells which photos can be decoded here.
pub(super) fn check_decoders(findings: &mut Findings) {
    tell(&media::decoders(), findings);
}

fn tell(found: &Decoders, findings: &mut Findings) {
    findings.ok(DECODERS, "JPEG, PNG, WebP, GIF, TIFF and the previews of RAW files are built in");
    for (format, decoder) in [("HEIC", &found.heic), ("AVIF", &found.avif)] {
        match decoder {
            Ok(by) => findings.ok(DECODERS, &format!("{format} by {by}")),
            Err(error) => findings.warn(DECODERS, &error.to_string()),
        }
    }
    if let Some(problem) = &found.load_error {
        findings.warn(DECODERS, problem);
    }
}

/// Starts a decoder, and tells what holds it back.
pub(super) async fn check_sandbox(decoder: &WorkerCommand, findings: &mut Findings) {
    let protections = async {
        let pool = Pool::new(PoolOptions::new(decoder.clone()))?;
        let protections = pool.protections().await;
        pool.close().await;
        protections
    };
    match protections.await {
        Err(error) => findings.fail(SANDBOX, &format!("no decoder can be started: {error}")),
        Ok(protections) => {
            let missing = protections.missing();
            if missing.is_empty() {
                findings.ok(
                    SANDBOX,
                    "decoders reach no file and no network, and their memory and time are limited",
                );
            }
            for lack in missing {
                findings.warn(SANDBOX, lack);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use media::MediaError;

    use super::*;

    #[test]
    fn a_missing_decoder_is_told_with_its_package() {
        let missing = MediaError::NoDecoder { format: "HEIC", missing: "a library", install: "libheif1" };
        let found = Decoders { heic: Err(missing), avif: Ok("libheif 1.15.1".into()), load_error: None };
        let mut findings = Findings::default();
        tell(&found, &mut findings);
        let report = findings.report();
        assert!(!report.something_failed);
        assert!(
            report.text.contains("warn  decoders: HEIC pictures need a library; install libheif1"),
            "{}",
            report.text
        );
        assert!(report.text.contains("ok    decoders: AVIF by libheif 1.15.1"), "{}", report.text);
    }
}
