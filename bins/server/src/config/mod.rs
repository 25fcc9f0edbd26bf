//! The configuration: flags override the environment, which overrides the file, which overrides the defaults.
//!
//! To add a setting, declare it in `options`, and add its default to [`Config::from_layer`].

mod blob_location;
mod database_location;
mod listen_address;
mod options;
mod place;
mod source;
mod store_url;
#[cfg(test)]
pub(crate) mod tests;
mod tls;

use std::{
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    sync::Arc,
};

use ipnet::IpNet;
use keys::{Random, Secret, SecretError};
use library::{IndexerSettings, IngestLimits, InstalledModels, SearchSettings, Settings};
use vision::{clip, models::Models};
use web::{BaseUrl, InvalidBaseUrl, ServiceLinks};

use crate::{
    decoder::{decoder, ocr_worker},
    io_messages::io_message,
    tls::CertificateSource,
    traces::Collector,
};
pub(crate) use blob_location::BlobLocation;
pub(crate) use database_location::DatabaseLocation;
pub(crate) use listen_address::ListenAddress;
pub(crate) use options::{Layer, LogFormat, OcrLanguages, ServeOptions, StoreOptions, Switch};
use place::{InvalidPlace, PlaceName};
pub(crate) use source::{Environment, Source};
use source::{FromEnvironment, FromFile};
use store_url::StoreUrlError;
pub(crate) use tls::TlsSettingsError;

/// The default data folder.
pub(crate) const DEFAULT_DATA_DIR: &str = "./data";
/// The default hub of vision models.
pub(crate) const DEFAULT_MODEL_SOURCE: &str = "https://huggingface.co";
const DEFAULT_LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8080);

/// Why the configuration is invalid. No message quotes a value that may be secret.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigError {
    #[error("the configuration file {} cannot be read: {}; choose another with --config", path.display(), io_message(source))]
    File { path: PathBuf, source: io::Error },
    #[error("{}, line {line}: {reason}", path.display())]
    Syntax { path: PathBuf, line: usize, reason: String },
    #[error("{}: `{key}` is set twice", path.display())]
    DuplicateKey { path: PathBuf, key: String },
    #[error("{}: unknown setting: {keys}", path.display())]
    UnknownKeys { path: PathBuf, keys: String },
    #[error("{}: {key}: {reason}", path.display())]
    FileValue { path: PathBuf, key: String, reason: String },
    #[error("{variable}: {reason}")]
    Variable { variable: String, reason: String },
    #[error("{variable}: the value is not valid Unicode")]
    NotUnicode { variable: String },
    #[error("cannot find the path of this program, which is needed to start decoders: {0}")]
    Program(io::Error),
    #[error("PHOTOS_SECRET: {0}")]
    Secret(#[from] SecretError),
    #[error(transparent)]
    StoreUrl(#[from] StoreUrlError),
    #[error("base-url: {0}")]
    BaseUrl(#[from] InvalidBaseUrl),
    #[error("{flag}: {reason}")]
    Place { flag: &'static str, reason: InvalidPlace },
}

/// Why there is no secret.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MissingSecret {
    #[error(transparent)]
    Unusable(#[from] SecretError),
    #[error(
        "With a Postgres database, every machine needs the same secret. Give it with PHOTOS_SECRET (at least 32 \
         characters) or --secret-file, for example: openssl rand -hex 32"
    )]
    NotGiven,
    #[error(
        "There is no secret file {}. With a Postgres database, every machine needs the same secret, so no new one is \
         made; copy the file of another machine, or make one with: openssl rand -hex 32", .0.display()
    )]
    NoFile(PathBuf),
}

/// Where the secret comes from.
#[derive(Debug, Clone)]
pub(crate) enum SecretSource {
    /// The variable `PHOTOS_SECRET`.
    Environment(Secret),
    /// A file, which is created when it is missing.
    File(PathBuf),
    /// A file that every machine has a copy of.
    ExistingFile(PathBuf),
    /// None is given although machines share the database.
    Missing,
}

impl SecretSource {
    /// Loads the secret, and creates its file when it is missing.
    pub(crate) fn load(&self, random: &dyn Random) -> Result<Secret, MissingSecret> {
        match self {
            Self::Environment(secret) => Ok(secret.clone()),
            Self::File(path) => Ok(Secret::load_or_create(path, random)?),
            Self::ExistingFile(path) if path.try_exists().is_ok_and(|exists| !exists) => {
                Err(MissingSecret::NoFile(path.clone()))
            }
            Self::ExistingFile(path) => Ok(Secret::load_or_create(path, random)?),
            Self::Missing => Err(MissingSecret::NotGiven),
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Config {
    pub(crate) data_dir: PathBuf,
    pub(crate) secret: SecretSource,
    pub(crate) database: DatabaseLocation,
    /// Whether `serve` applies migrations to a database that machines share.
    pub(crate) migrate: Switch,
    pub(crate) blobs: BlobLocation,
    pub(crate) library: Settings,
    pub(crate) listen: ListenAddress,
    pub(crate) metrics_listen: Option<ListenAddress>,
    /// Where http is redirected to the base URL.
    pub(crate) redirect_listen: Option<ListenAddress>,
    /// How long browsers use only https, in seconds; `None` is the default.
    pub(crate) hsts_max_age_s: Option<u32>,
    pub(crate) trusted_proxies: Vec<IpNet>,
    pub(crate) log_format: LogFormat,
    pub(crate) client_documents: Switch,
    pub(crate) links: ServiceLinks,
    /// The token at `/.well-known/openai-apps-challenge`.
    pub(crate) openai_challenge: Option<String>,
    /// Folder of the installed vision models.
    pub(crate) models: PathBuf,
    /// URL of the hub that vision models are downloaded from.
    pub(crate) model_source: String,
    /// How vision models are run.
    pub(crate) vision: clip::Options,
    /// The configuration file, if it has the password of the database.
    pub(crate) file_with_password: Option<PathBuf>,
    base_url: Option<BaseUrl>,
    /// The settings as they were given.
    layer: Layer,
}

impl Config {
    /// Resolves the configuration from flags, environment, and the file that `--config` or `PHOTOS_CONFIG` names.
    pub(crate) fn load(
        flags: Layer,
        file: Option<PathBuf>,
        environment: &Environment,
    ) -> Result<Self, ConfigError> {
        let Some(path) = file.or_else(|| environment.config_file()) else {
            return Self::resolve(flags, environment, None);
        };
        match std::fs::read_to_string(&path) {
            Ok(text) => Self::resolve(flags, environment, Some((&path, &text))),
            Err(source) => Err(ConfigError::File { path, source }),
        }
    }

    /// Resolves the configuration from flags, environment, and the path and text of a file.
    pub(crate) fn resolve(
        flags: Layer,
        environment: &Environment,
        file: Option<(&Path, &str)>,
    ) -> Result<Self, ConfigError> {
        let mut layer = flags.or(Layer::read(&mut FromEnvironment(environment))?);
        let mut file_with_password = None;
        if let Some((path, text)) = file {
            let mut file = FromFile::new(path, text)?;
            let of_file = Layer::read(&mut file)?;
            file.finish()?;
            file_with_password = of_file.store.has_password().then(|| path.to_owned());
            layer = layer.or(of_file);
        }
        Ok(Self { file_with_password, ..Self::from_layer(layer, environment)? })
    }

    /// The same configuration for a library in another place, as a flag names it.
    pub(crate) fn at_place(
        &self,
        flag: &'static str,
        place: &str,
        environment: &Environment,
    ) -> Result<Self, ConfigError> {
        let place = PlaceName::parse(place).map_err(|reason| ConfigError::Place { flag, reason })?;
        let mut layer = self.layer.clone();
        place.apply(&mut layer.store);
        Self::from_layer(layer, environment)
    }

    fn from_layer(layer: Layer, environment: &Environment) -> Result<Self, ConfigError> {
        let mut library = settings(&layer.store)?;
        let (store, serve) = (layer.store.clone(), layer.serve.clone());
        let data_dir = store.data_dir.clone().unwrap_or_else(|| DEFAULT_DATA_DIR.into());
        let blobs = BlobLocation::resolve(&store, &data_dir, environment)?;
        let database = DatabaseLocation::resolve(&store, &data_dir)?;
        let secret = match environment.secret() {
            Some(text) => SecretSource::Environment(Secret::from_text(text)?),
            None => match (store.secret_file, database.is_shared()) {
                (Some(file), true) => SecretSource::ExistingFile(file),
                (None, true) => SecretSource::Missing,
                (file, false) => SecretSource::File(file.unwrap_or_else(|| data_dir.join("secret"))),
            },
        };
        let models = store.models_dir.unwrap_or_else(|| data_dir.join("models"));
        let vision = clip::Options {
            library: store.onnx_runtime.or_else(|| environment.onnx_runtime()),
            ..clip::Options::default()
        };
        library.indexer.models = Some(Arc::new(InstalledModels::new(Models::new(&models), vision.clone())));
        Ok(Self {
            database,
            migrate: serve.migrate.unwrap_or(Switch::Off),
            blobs,
            data_dir,
            secret,
            library,
            listen: serve.listen.unwrap_or(ListenAddress::Socket(DEFAULT_LISTEN)),
            metrics_listen: serve.metrics_listen,
            redirect_listen: serve.redirect_listen,
            hsts_max_age_s: serve.hsts_max_age.map(|seconds| seconds.0),
            trusted_proxies: serve.trusted_proxy.unwrap_or_default().iter().map(|proxy| proxy.0).collect(),
            log_format: serve.log_format.unwrap_or_default(),
            client_documents: serve.client_documents.unwrap_or_default(),
            links: ServiceLinks {
                policy: serve.policy_url.map(|url| url.0),
                terms: serve.terms_url.map(|url| url.0),
                support: serve.support_url.map(|url| url.0),
            },
            openai_challenge: serve.openai_apps_challenge.map(|token| token.0),
            models,
            model_source: store.model_source.unwrap_or_else(|| DEFAULT_MODEL_SOURCE.to_owned()),
            vision,
            file_with_password: None,
            base_url: serve.base_url.as_deref().map(BaseUrl::parse).transpose()?,
            layer,
        })
    }

    /// Where the TLS certificate comes from; `None` serves http. Only the server and `doctor` need it.
    pub(crate) fn certificate(&self) -> Result<Option<CertificateSource>, TlsSettingsError> {
        tls::certificate(&self.layer.serve, self.base_url.as_ref())
    }

    /// Where traces are sent. Only servers and workers send any.
    ///
    /// # Errors
    /// A variable of OpenTelemetry has a value that this program cannot use.
    pub(crate) fn collector(&self, environment: &Environment) -> Result<Option<Collector>, ConfigError> {
        match &self.layer.serve.otlp_endpoint {
            Some(collector) => Ok(Some(collector.clone().traces())),
            None => environment.collector(),
        }
    }

    /// Whether the server itself speaks TLS.
    pub(crate) fn has_tls(&self) -> bool {
        tls::is_on(&self.layer.serve)
    }

    /// The scheme of the listen address.
    pub(crate) fn scheme(&self) -> &'static str {
        if self.has_tls() { "https" } else { "http" }
    }

    /// The configured base URL, else the scheme and the listen address.
    ///
    /// # Errors
    /// The host name to listen on is not valid in a URL.
    pub(crate) fn base_url(&self, listen: &ListenAddress) -> Result<BaseUrl, InvalidBaseUrl> {
        match &self.base_url {
            Some(base_url) => Ok(base_url.clone()),
            None => BaseUrl::parse(&format!("{}://{}", self.scheme(), listen.on_this_machine())),
        }
    }

    /// Whether the base URL is derived from the listen address.
    pub(crate) fn base_url_is_default(&self) -> bool {
        self.base_url.is_none()
    }

    /// Whether the database, the blobs or staged uploads are in the data folder.
    pub(crate) fn uses_data_dir(&self) -> bool {
        self.database.file().is_some_and(|file| file.starts_with(&self.data_dir))
            || self.blobs.folder().starts_with(&self.data_dir)
    }
}

fn settings(options: &StoreOptions) -> Result<Settings, ConfigError> {
    let Settings { free_window, passwords_waiting, limits, indexer, search } =
        Settings::new(decoder().map_err(ConfigError::Program)?);
    let languages = match options.ocr_languages.clone() {
        None => Some(indexer.ocr_languages.clone()),
        Some(OcrLanguages::On(languages)) => Some(languages),
        Some(OcrLanguages::Off) => None,
    };
    let ocr_worker = languages.as_ref().map(ocr_worker).transpose().map_err(ConfigError::Program)?;
    let limits = IngestLimits {
        max_upload_bytes: options.max_upload_bytes.map_or(limits.max_upload_bytes, |bytes| bytes.0.get()),
        account_quota_bytes: options.account_quota_bytes.map(|bytes| bytes.0.get()),
    };
    let indexer = IndexerSettings {
        max_pixels: options.max_pixels.map_or(indexer.max_pixels, |pixels| pixels.0.get()),
        decode_workers: options.decode_workers.map_or(indexer.decode_workers, |workers| workers.0.get()),
        decode_memory_bytes: options
            .decode_memory_mb
            .map_or(indexer.decode_memory_bytes, |mebibytes| mebibytes.0.get().saturating_mul(1 << 20)),
        ocr_worker,
        ocr_languages: languages.unwrap_or_else(|| indexer.ocr_languages.clone()),
        ..indexer
    };
    let search = SearchSettings {
        memory_bytes: options
            .search_memory_mb
            .map_or(search.memory_bytes, |mebibytes| mebibytes.0.get().saturating_mul(1 << 20)),
        ..search
    };
    let free_window = options.free_window.map_or(free_window, |photos| photos.0);
    Ok(Settings { free_window, passwords_waiting, limits, indexer, search })
}
