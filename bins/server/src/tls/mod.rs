//! TLS of the service: where its certificate comes from, and how it is replaced while the server runs.

mod acme;
mod files;
mod validity;

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use domain::Timestamp;
use rustls::{ServerConfig, crypto::ring, server::ResolvesServerCert};
use web::BaseUrl;

pub(crate) use acme::AcmeOrder;
pub(crate) use files::{CertificateError, CertificateFiles};
pub(crate) use validity::{Flaw, valid_until};

/// Where the certificate comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CertificateSource {
    /// Files, which another program replaces before the certificate expires.
    Files(CertificateFiles),
    /// A certificate authority, by ACME (RFC 8555).
    Acme(AcmeOrder),
}

/// Why TLS cannot be set up.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TlsError {
    #[error("cannot use the TLS certificate: {0}")]
    Certificate(#[from] CertificateError),
    #[error("the folder {} cannot be used for TLS certificates: {source}; correct its owner or mode", path.display())]
    Folder { path: PathBuf, source: io::Error },
    #[error("cannot set up TLS: {0}")]
    Tls(#[from] rustls::Error),
}

/// TLS of a running server.
pub(crate) struct Tls {
    pub(crate) config: Arc<ServerConfig>,
    source: Source,
}

enum Source {
    Files(files::Watched),
    Acme(acme::Orders),
}

/// Called with the expiry time of the certificate in use.
type Report = Arc<dyn Fn(Timestamp) + Send + Sync>;

impl Tls {
    /// Loads certificate files. A certificate of an authority is loaded or ordered by [`Self::renew`]; until then, connections
    /// fail.
    pub(crate) fn new(
        source: &CertificateSource,
        base_url: &BaseUrl,
        data_dir: &Path,
    ) -> Result<Self, TlsError> {
        let source = match source {
            CertificateSource::Files(files) => {
                Source::Files(files::Watched::load(files.clone(), base_url.clone())?)
            }
            CertificateSource::Acme(order) => Source::Acme(acme::Orders::new(order, data_dir)?),
        };
        let config = match &source {
            Source::Files(watched) => server_config(watched.resolver(), &[])?,
            Source::Acme(orders) => server_config(orders.resolver(), &[acme::CHALLENGE_PROTOCOL])?,
        };
        Ok(Self { config, source })
    }

    /// Replaces the certificate before it expires, until the future is dropped. `report` gets the expiry time of the certificate in
    /// use.
    pub(crate) async fn renew(self, report: impl Fn(Timestamp) + Send + Sync + 'static) {
        let report: Report = Arc::new(report);
        match self.source {
            Source::Files(watched) => watched.reload(report).await,
            Source::Acme(orders) => orders.run(report).await,
        }
    }
}

fn server_config(
    resolver: Arc<dyn ResolvesServerCert>,
    more_protocols: &[&[u8]],
) -> Result<Arc<ServerConfig>, rustls::Error> {
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_cert_resolver(resolver);
    let protocols = [b"h2".as_slice(), b"http/1.1"].into_iter().chain(more_protocols.iter().copied());
    config.alpn_protocols = protocols.map(<[u8]>::to_vec).collect();
    Ok(Arc::new(config))
}
