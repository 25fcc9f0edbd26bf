//! Whether browsers and apps will accept the TLS certificate.

use std::{fs, io};

use domain::Timestamp;
use rustls::pki_types::{CertificateDer, pem::PemObject as _};
use web::BaseUrl;

use super::Findings;
use crate::{
    config::Config,
    tls::{CertificateSource, Flaw, valid_until},
};

const SUBJECT: &str = "certificate";

pub(super) fn check(config: &Config, base_url: &BaseUrl, now: Timestamp, findings: &mut Findings) {
    let source = match config.certificate() {
        Ok(None) => return,
        Ok(Some(source)) => source,
        Err(error) => return findings.fail(SUBJECT, &error.to_string()),
    };
    let (certificate, file, remedy) = match source {
        CertificateSource::Files(files) => match files.load() {
            Ok(loaded) => (loaded.cert.into_iter().next(), files.certificate, "check what renews it"),
            Err(error) => return findings.fail(SUBJECT, &error.to_string()),
        },
        CertificateSource::Acme(order) => {
            let file = order.file(&config.data_dir);
            let pem = match fs::read(&file) {
                Ok(pem) => pem,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return findings.ok(SUBJECT, "there is none yet; the running server orders it");
                }
                Err(error) => {
                    let shown = file.display();
                    let message = format!("{shown} cannot be read: {error}; correct its owner or mode");
                    return findings.fail(SUBJECT, &message);
                }
            };
            let remedy = "the log of the running server says why it was not renewed";
            (CertificateDer::from_pem_slice(&pem).ok(), file, remedy)
        }
    };
    let file = file.display();
    let Some(certificate) = certificate else {
        return findings.fail(SUBJECT, &format!("{file} has no certificate; remove it"));
    };
    match valid_until(&certificate, base_url, now) {
        Ok(end) => findings.ok(SUBJECT, &format!("the one in {file} is valid until {end}")),
        Err(flaw @ Flaw::EndsSoon(_)) => {
            findings.warn(SUBJECT, &format!("the one in {file} {flaw}; {remedy}"));
        }
        Err(flaw @ Flaw::Expired(_)) => {
            findings.fail(SUBJECT, &format!("the one in {file} {flaw}; {remedy}"));
        }
        Err(flaw) => findings.fail(SUBJECT, &format!("the one in {file} {flaw}")),
    }
}
