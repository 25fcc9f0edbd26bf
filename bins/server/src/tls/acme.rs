//! Certificates that an authority issues to the server itself, by ACME (RFC 8555) with the challenge TLS-ALPN-01 (RFC 8737).
//!
//! `rustls-acme` loads the certificate and orders the next one after two thirds of its lifetime. It is started anew every day and
//! after each failure, so that its waiting follows the wall clock, no order hangs for ever, and failures have equal pauses.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use async_trait::async_trait;
use blobs::create_private_folder;
use futures_util::StreamExt as _;
use https_client::Roots;
use rustls::{
    ClientConfig,
    crypto::ring,
    pki_types::{CertificateDer, pem::PemObject as _},
    server::{ClientHello, ResolvesServerCert},
    sign::CertifiedKey,
};
use rustls_acme::{
    AccountCache, AcmeConfig, AcmeState, CertCache, EventError, EventOk, ResolvesServerCertAcme,
    is_tls_alpn_challenge,
};
use tempfile::NamedTempFile;
use tokio::{task::spawn_blocking, time};
use url::Url;

use super::{Report, TlsError, validity::lifetime};

/// The protocol that an authority asks for to check that this server has the name (RFC 8737, section 3).
pub(super) const CHALLENGE_PROTOCOL: &[u8] = b"acme-tls/1";
/// Pause after a failure. Let's Encrypt allows five failures an hour.
const RETRY_AFTER: Duration = Duration::from_secs(15 * 60);
/// How long a certificate is used before its age is checked again, and how long an order may take.
const CHECK_INTERVAL: Duration = Duration::from_secs(24 * 60 * 60);

/// A certificate to order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AcmeOrder {
    /// The host name in the certificate.
    pub(crate) name: String,
    /// URL of the authority's directory.
    pub(crate) directory: Url,
}

impl AcmeOrder {
    /// The directory of Let's Encrypt.
    pub(crate) const LETS_ENCRYPT: &str = "https://acme-v02.api.letsencrypt.org/directory";

    /// The folder of the certificates and of the account of this authority, such as `acme/example.org-directory`.
    fn folder(&self, data_dir: &Path) -> PathBuf {
        let url = self.directory.as_str().trim_start_matches("https://");
        let kept = |letter: char| letter.is_ascii_alphanumeric() || letter == '.';
        data_dir
            .join("acme")
            .join(url.chars().map(|letter| if kept(letter) { letter } else { '-' }).collect::<String>())
    }

    /// The file with the certificate, once there is one.
    pub(crate) fn file(&self, data_dir: &Path) -> PathBuf {
        self.folder(data_dir).join(certificate_file(std::slice::from_ref(&self.name)))
    }
}

/// Orders certificates, the first one and each renewal.
pub(super) struct Orders {
    order: AcmeOrder,
    client: Arc<ClientConfig>,
    folder: Folder,
    certificates: Arc<Certificates>,
}

/// The certificate in use, and the answers to challenges of the order that is running.
#[derive(Debug)]
struct Certificates {
    in_use: RwLock<Arc<ResolvesServerCertAcme>>,
    ordered: RwLock<Arc<ResolvesServerCertAcme>>,
}

impl ResolvesServerCert for Certificates {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let from = if is_tls_alpn_challenge(&hello) { &self.ordered } else { &self.in_use };
        from.read().unwrap_or_else(PoisonError::into_inner).resolve(hello)
    }
}

impl Orders {
    /// Fails if the folder cannot be used: each start would order another certificate, and authorities limit them.
    pub(super) fn new(order: &AcmeOrder, data_dir: &Path) -> Result<Self, TlsError> {
        let folder = Folder(order.folder(data_dir));
        folder.prepare(&order.name).map_err(|source| TlsError::Folder { path: folder.0.clone(), source })?;
        let client = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(Roots::WebPkiAndSystem.store()?)
            .with_no_client_auth();
        let (order, client) = (order.clone(), Arc::new(client));
        let resolver = state(&order, &client, &folder).resolver();
        let certificates =
            Certificates { in_use: RwLock::new(resolver.clone()), ordered: RwLock::new(resolver) };
        Ok(Self { order, client, folder, certificates: Arc::new(certificates) })
    }

    pub(super) fn resolver(&self) -> Arc<dyn ResolvesServerCert> {
        self.certificates.clone()
    }

    /// Loads the certificate from the folder or orders one, and later orders the next one in time.
    pub(super) async fn run(self, report: Report) {
        loop {
            let state = state(&self.order, &self.client, &self.folder);
            let turn = Turn {
                name: self.order.name.clone(),
                certificates: self.certificates.clone(),
                folder: self.folder.clone(),
                report: report.clone(),
            };
            // A panic of the library must not end the renewals.
            match tokio::spawn(time::timeout(CHECK_INTERVAL, turn.run(state))).await {
                // A day has passed.
                Ok(Err(_)) => continue,
                Ok(Ok(())) => {}
                Err(error) => tracing::error!(%error, "the order of the TLS certificate failed"),
            }
            time::sleep(RETRY_AFTER).await;
        }
    }
}

fn state(order: &AcmeOrder, client: &Arc<ClientConfig>, folder: &Folder) -> AcmeState<io::Error> {
    AcmeConfig::new_with_client_config([&order.name], client.clone())
        .directory(&order.directory)
        .cache(folder.clone())
        .state()
}

/// One run of `rustls-acme`, with a state of its own.
struct Turn {
    name: String,
    certificates: Arc<Certificates>,
    folder: Folder,
    report: Report,
}

impl Turn {
    /// Uses the certificate, and orders the next one if it is time, until something fails.
    async fn run(self, mut state: AcmeState<io::Error>) {
        let name = self.name.as_str();
        let resolver = state.resolver();
        let set = |slot: &RwLock<_>| *slot.write().unwrap_or_else(PoisonError::into_inner) = resolver.clone();
        set(&self.certificates.ordered);
        while let Some(event) = state.next().await {
            match event {
                Ok(EventOk::DeployedCachedCert) => {
                    set(&self.certificates.in_use);
                    tracing::info!(name, "the TLS certificate was loaded");
                    self.report_end().await;
                }
                Ok(EventOk::DeployedNewCert) => {
                    set(&self.certificates.in_use);
                    tracing::info!(name, "the authority issued a TLS certificate");
                }
                Ok(EventOk::AccountCacheStore) => {}
                Ok(EventOk::CertCacheStore) => {
                    self.report_end().await;
                    // Waits until the day has passed and the age is checked again. With a wrong clock, the next order
                    // could otherwise follow at once.
                    std::future::pending::<()>().await;
                }
                Err(EventError::Order(error)) => {
                    tracing::error!(
                        name, %error,
                        "there is no new TLS certificate; the next attempt is in 15 minutes. The authority must reach this \
                         server at port 443 of the name, and the clock must be right"
                    );
                    return;
                }
                Err(error) => {
                    tracing::error!(name, %error, "the TLS certificate cannot be read or stored");
                    return;
                }
            }
        }
    }

    async fn report_end(&self) {
        let Ok(Some(pem)) = self.folder.load(certificate_file(std::slice::from_ref(&self.name))).await else {
            return;
        };
        let certificate = CertificateDer::from_pem_slice(&pem).ok();
        if let Some(Ok((_, end))) = certificate.map(|certificate| lifetime(&certificate)) {
            (self.report)(end);
        }
    }
}

/// A private folder with the key of the account, and a file with the certificate and key of each name.
#[derive(Clone)]
struct Folder(PathBuf);

impl Folder {
    const ACCOUNT: &str = "account";

    /// Creates the folder. Fails if it cannot be written, or a file in it cannot be read.
    fn prepare(&self, name: &str) -> io::Result<()> {
        create_private_folder(self.0.parent().unwrap_or(&self.0))?;
        create_private_folder(&self.0)?;
        NamedTempFile::new_in(&self.0)?;
        for file in [Self::ACCOUNT.to_owned(), certificate_file(&[name.to_owned()])] {
            read(&self.0.join(file))?;
        }
        Ok(())
    }

    async fn load(&self, file: String) -> io::Result<Option<Vec<u8>>> {
        let path = self.0.join(file);
        blocking(move || read(&path)).await
    }

    async fn store(&self, file: String, bytes: &[u8]) -> io::Result<()> {
        let (folder, bytes) = (self.0.clone(), bytes.to_vec());
        blocking(move || {
            // Only its owner can read it.
            let mut draft = NamedTempFile::new_in(&folder)?;
            io::Write::write_all(&mut draft, &bytes)?;
            draft.as_file().sync_all()?;
            draft.persist(folder.join(file)).map_err(|failed| failed.error)?;
            Ok(())
        })
        .await
    }
}

fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    spawn_blocking(work).await.map_err(io::Error::other)?
}

/// The file of a certificate for these names, of which there is only one.
fn certificate_file(names: &[String]) -> String {
    format!("{}.pem", names.join("+"))
}

#[async_trait]
impl CertCache for Folder {
    type EC = io::Error;

    async fn load_cert(&self, names: &[String], _: &str) -> io::Result<Option<Vec<u8>>> {
        self.load(certificate_file(names)).await
    }

    async fn store_cert(&self, names: &[String], _: &str, certificate: &[u8]) -> io::Result<()> {
        self.store(certificate_file(names), certificate).await
    }
}

#[async_trait]
impl AccountCache for Folder {
    type EA = io::Error;

    async fn load_account(&self, _: &[String], _: &str) -> io::Result<Option<Vec<u8>>> {
        self.load(Self::ACCOUNT.to_owned()).await
    }

    async fn store_account(&self, _: &[String], _: &str, account: &[u8]) -> io::Result<()> {
        self.store(Self::ACCOUNT.to_owned(), account).await
    }
}
