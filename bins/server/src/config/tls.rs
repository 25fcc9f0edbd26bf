//! The TLS settings.

use url::{Host, Url};
use web::BaseUrl;

use super::{ServeOptions, Switch};
use crate::{
    public_hosts::is_public_name,
    tls::{AcmeOrder, CertificateFiles, CertificateSource},
};

/// Why the TLS settings contradict each other.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TlsSettingsError {
    #[error("tls-certificate and tls-key go together; give both files")]
    HalfOfPair,
    #[error("acme and tls-certificate exclude each other; give only one of them")]
    TwoCertificates,
    #[error("acme needs the host name for the certificate as base-url, such as https://photos.example.org")]
    NoName,
    #[error(
        "Let’s Encrypt issues no certificate for {0}, because this is no public name; use tls-certificate and tls-key, or name \
         another authority with acme-directory"
    )]
    PrivateName(String),
    #[error("base-url must begin with https://, because the server has a TLS certificate")]
    NotHttps,
    #[error("acme-directory must be an https:// URL")]
    Directory,
    #[error("acme-directory has no effect without acme; give both")]
    DirectoryAlone,
}

/// Whether the settings turn TLS on.
pub(super) fn is_on(options: &ServeOptions) -> bool {
    options.acme == Some(Switch::On) || options.tls_certificate.is_some() || options.tls_key.is_some()
}

/// Where the certificate comes from, if TLS is on.
pub(super) fn certificate(
    options: &ServeOptions,
    base_url: Option<&BaseUrl>,
) -> Result<Option<CertificateSource>, TlsSettingsError> {
    let uses_acme = options.acme == Some(Switch::On);
    if options.acme_directory.is_some() && !uses_acme {
        return Err(TlsSettingsError::DirectoryAlone);
    }
    let source = match (&options.tls_certificate, &options.tls_key) {
        (None, None) if !uses_acme => return Ok(None),
        (None, None) => CertificateSource::Acme(order(options, base_url)?),
        _ if uses_acme => return Err(TlsSettingsError::TwoCertificates),
        (Some(certificate), Some(key)) => {
            CertificateSource::Files(CertificateFiles { certificate: certificate.clone(), key: key.clone() })
        }
        _ => return Err(TlsSettingsError::HalfOfPair),
    };
    match base_url {
        Some(base_url) if !base_url.is_https() => Err(TlsSettingsError::NotHttps),
        _ => Ok(Some(source)),
    }
}

fn order(options: &ServeOptions, base_url: Option<&BaseUrl>) -> Result<AcmeOrder, TlsSettingsError> {
    let base_url = base_url.filter(|base_url| base_url.is_https()).ok_or(TlsSettingsError::NoName)?;
    let url = Url::parse(base_url.as_str()).map_err(|_| TlsSettingsError::NoName)?;
    let Some(Host::Domain(name)) = url.host() else { return Err(TlsSettingsError::NoName) };
    if options.acme_directory.is_none() && !is_public_name(name) {
        return Err(TlsSettingsError::PrivateName(name.to_owned()));
    }
    let directory = options.acme_directory.as_deref().unwrap_or(AcmeOrder::LETS_ENCRYPT);
    let directory = Url::parse(directory).ok().filter(|url| url.scheme() == "https" && url.has_host());
    Ok(AcmeOrder { name: name.to_owned(), directory: directory.ok_or(TlsSettingsError::Directory)? })
}
