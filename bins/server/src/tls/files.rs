//! A certificate in files.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use library::{Clock as _, SystemClock};
use rustls::{
    InconsistentKeys,
    crypto::ring,
    pki_types::{
        CertificateDer, PrivateKeyDer,
        pem::{self, PemObject as _},
    },
    server::{ClientHello, ResolvesServerCert},
    sign::CertifiedKey,
};
use tokio::{task::spawn_blocking, time};
use web::BaseUrl;

use super::{Flaw, Report, valid_until, validity::lifetime};

/// How often the files are read again.
const RELOAD_INTERVAL: Duration = Duration::from_secs(60);

/// The paths of a certificate with its chain, and of its key, both as PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CertificateFiles {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

/// Why certificate files cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CertificateError {
    #[error("{} cannot be read: {source}; the user who runs the server must be able to read it", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{} has no certificate in PEM format", .0.display())]
    NoCertificate(PathBuf),
    #[error("{} is not PEM: {source}", path.display())]
    Pem { path: PathBuf, source: pem::Error },
    #[error("{} has no private key in PEM format; a key with a passphrase cannot be used", .0.display())]
    NoKey(PathBuf),
    #[error("the key in {} belongs to another certificate than that in {}", key.display(), certificate.display())]
    OtherKey { certificate: PathBuf, key: PathBuf },
    #[error("the certificate in {} or its key cannot be used: {source}", certificate.display())]
    Unusable { certificate: PathBuf, source: rustls::Error },
}

/// The bytes of both files.
#[derive(PartialEq, Eq)]
struct Contents {
    certificate: Vec<u8>,
    key: Vec<u8>,
}

impl CertificateFiles {
    /// The certificate with its chain, its own certificate first, and the key.
    pub(crate) fn load(&self) -> Result<CertifiedKey, CertificateError> {
        self.parse(&self.read()?)
    }

    fn read(&self) -> Result<Contents, CertificateError> {
        let read = |path: &Path| {
            fs::read(path).map_err(|source| CertificateError::Read { path: path.to_owned(), source })
        };
        Ok(Contents { certificate: read(&self.certificate)?, key: read(&self.key)? })
    }

    fn parse(&self, contents: &Contents) -> Result<CertifiedKey, CertificateError> {
        let chain = CertificateDer::pem_slice_iter(&contents.certificate).collect::<Result<Vec<_>, _>>();
        let chain =
            chain.map_err(|source| CertificateError::Pem { path: self.certificate.clone(), source })?;
        if chain.is_empty() {
            return Err(CertificateError::NoCertificate(self.certificate.clone()));
        }
        let key = PrivateKeyDer::from_pem_slice(&contents.key).map_err(|error| match error {
            pem::Error::NoItemsFound => CertificateError::NoKey(self.key.clone()),
            source => CertificateError::Pem { path: self.key.clone(), source },
        })?;
        CertifiedKey::from_der(chain, key, &ring::default_provider()).map_err(|error| match error {
            rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => {
                CertificateError::OtherKey { certificate: self.certificate.clone(), key: self.key.clone() }
            }
            source => CertificateError::Unusable { certificate: self.certificate.clone(), source },
        })
    }
}

/// The certificate for new connections.
#[derive(Debug)]
struct Current(RwLock<Arc<CertifiedKey>>);

impl Current {
    fn certificate(&self) -> Result<CertificateDer<'static>, Flaw> {
        let certified = self.0.read().unwrap_or_else(PoisonError::into_inner);
        certified.cert.first().cloned().ok_or(Flaw::Unreadable)
    }
}

impl ResolvesServerCert for Current {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.read().unwrap_or_else(PoisonError::into_inner).clone())
    }
}

/// Certificate files that are loaded again when they change.
pub(super) struct Watched {
    files: CertificateFiles,
    base_url: BaseUrl,
    loaded: Contents,
    current: Arc<Current>,
}

/// A problem of the certificate in use or of its files.
#[derive(Debug, thiserror::Error)]
enum Problem {
    #[error("it cannot be replaced, and the previous one stays in use: {0}")]
    NotReplaced(#[from] CertificateError),
    #[error("browsers and apps refuse it, or soon will: it {0}")]
    Flaw(Flaw),
}

impl Watched {
    pub(super) fn load(files: CertificateFiles, base_url: BaseUrl) -> Result<Self, CertificateError> {
        let loaded = files.read()?;
        let current = Arc::new(Current(RwLock::new(Arc::new(files.parse(&loaded)?))));
        Ok(Self { files, base_url, loaded, current })
    }

    pub(super) fn resolver(&self) -> Arc<dyn ResolvesServerCert> {
        self.current.clone()
    }

    /// Reads the files every minute, and logs each problem once. While the files cannot be used, for example because only one
    /// was replaced so far, the previous certificate stays in use.
    pub(super) async fn reload(mut self, report: Report) {
        let mut last_problem = None;
        loop {
            let checking = spawn_blocking(move || {
                let checked = self.check();
                (self, checked)
            });
            let Ok((watched, checked)) = checking.await else { return };
            self = watched;
            if let Ok((_, end)) = self.current.certificate().and_then(|certificate| lifetime(&certificate)) {
                report(end);
            }
            let problem = checked.err().map(|problem| problem.to_string());
            if let Some(problem) = problem.as_ref().filter(|problem| last_problem.as_ref() != Some(*problem))
            {
                tracing::warn!(file = %self.files.certificate.display(), problem, "the TLS certificate has a problem");
            }
            last_problem = problem;
            time::sleep(RELOAD_INTERVAL).await;
        }
    }

    /// Replaces the certificate if the files have changed.
    fn check(&mut self) -> Result<(), Problem> {
        let contents = self.files.read()?;
        if contents != self.loaded {
            let certified = Arc::new(self.files.parse(&contents)?);
            *self.current.0.write().unwrap_or_else(PoisonError::into_inner) = certified;
            self.loaded = contents;
            tracing::info!(file = %self.files.certificate.display(), "the TLS certificate was replaced");
        }
        let certificate = self.current.certificate().map_err(Problem::Flaw)?;
        valid_until(&certificate, &self.base_url, SystemClock.now()).map_err(Problem::Flaw)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Folder {
        _dir: tempfile::TempDir,
        files: CertificateFiles,
    }

    impl Folder {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let files = CertificateFiles {
                certificate: dir.path().join("certificate.pem"),
                key: dir.path().join("key.pem"),
            };
            Self { _dir: dir, files }
        }

        /// Writes what is given, and returns the certificate in DER.
        fn write(&self, pair: &rcgen::CertifiedKey<rcgen::KeyPair>, key: Option<&str>) -> Vec<u8> {
            fs::write(&self.files.certificate, pair.cert.pem()).unwrap();
            if let Some(key) = key {
                fs::write(&self.files.key, key).unwrap();
            }
            pair.cert.der().to_vec()
        }
    }

    fn pair() -> rcgen::CertifiedKey<rcgen::KeyPair> {
        rcgen::generate_simple_self_signed(["photos.test".to_owned()]).unwrap()
    }

    fn served(current: &Current) -> Vec<u8> {
        current.0.read().unwrap().end_entity_cert().unwrap().to_vec()
    }

    #[test]
    fn unusable_files_have_clear_errors() {
        let folder = Folder::new();
        let [pair, other] = [pair(), pair()];
        let message = || folder.files.load().unwrap_err().to_string();
        assert!(message().ends_with("certificate.pem cannot be read: No such file or directory (os error 2); the user who runs the server must be able to read it"));
        let key = pair.signing_key.serialize_pem();
        fs::write(&folder.files.certificate, &key).unwrap();
        fs::write(&folder.files.key, pair.cert.pem()).unwrap();
        assert!(message().ends_with("certificate.pem has no certificate in PEM format"), "{}", message());
        folder.write(&pair, None);
        let expected = "key.pem has no private key in PEM format; a key with a passphrase cannot be used";
        assert!(message().ends_with(expected), "{}", message());
        folder.write(&pair, Some(&other.signing_key.serialize_pem()));
        assert!(message().contains("belongs to another certificate than that in"), "{}", message());
        fs::write(&folder.files.certificate, "-----BEGIN CERTIFICATE-----\n%%%\n-----END CERTIFICATE-----\n")
            .unwrap();
        assert!(message().contains("certificate.pem is not PEM"), "{}", message());
        let der = folder.write(&pair, Some(&key));
        assert_eq!(folder.files.load().unwrap().end_entity_cert().unwrap().to_vec(), der);
    }

    #[test]
    fn changed_files_are_loaded_and_unusable_ones_are_not() {
        let folder = Folder::new();
        let [first, second] = [pair(), pair()];
        let old = folder.write(&first, Some(&first.signing_key.serialize_pem()));
        let mut watched =
            Watched::load(folder.files.clone(), BaseUrl::parse("https://photos.test").unwrap()).unwrap();
        let current = watched.current.clone();
        watched.check().unwrap();
        assert_eq!(served(&current), old);
        // Only one file has been replaced so far.
        let new = folder.write(&second, None);
        assert!(matches!(watched.check(), Err(Problem::NotReplaced(CertificateError::OtherKey { .. }))));
        assert_eq!(served(&current), old);
        folder.write(&second, Some(&second.signing_key.serialize_pem()));
        watched.check().unwrap();
        assert_eq!(served(&current), new);
        fs::remove_file(&folder.files.key).unwrap();
        assert!(matches!(watched.check(), Err(Problem::NotReplaced(CertificateError::Read { .. }))));
        assert_eq!(served(&current), new);
        let other = rcgen::generate_simple_self_signed(["pictures.test".to_owned()]).unwrap();
        folder.write(&other, Some(&other.signing_key.serialize_pem()));
        assert!(matches!(watched.check(), Err(Problem::Flaw(Flaw::OtherName(_)))));
    }
}
