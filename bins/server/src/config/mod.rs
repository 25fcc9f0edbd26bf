//! The configuration: flags before environment before file before defaults.
//!
//! A new setting is a field of [`StoreOptions`] or [`ServeOptions`], a line in each of [`Layer`]'s two functions,
//! and its default in [`Config::resolve`].

mod listen_address;
mod options;
mod source;
mod store_url;
#[cfg(test)]
pub(crate) mod tests;

use std::{
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    num::{NonZeroU64, NonZeroUsize},
    path::{Path, PathBuf},
    sync::Arc,
};

use ipnet::IpNet;
use keys::{Random, Secret, SecretError};
use library::{InstalledModels, Languages, Settings, WorkerCommand};
use vision::{clip, models::Models};
use web::{BaseUrl, InvalidBaseUrl};

use crate::{
    cli::{DECODER, READ_TEXT},
    commands::MODEL_SOURCE,
    stores::words,
};
pub(crate) use listen_address::ListenAddress;
pub(crate) use options::{Layer, LogFormat, OcrLanguages, ServeOptions, StoreOptions, Switch};
pub(crate) use source::{Environment, Source};
use source::{FromEnvironment, FromFile};
use store_url::StoreUrlError;

/// The data folder when none is given.
pub(crate) const DEFAULT_DATA_DIR: &str = "./data";
const DEFAULT_LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8080);
const MEBIBYTE: u64 = 1024 * 1024;

/// Why there is no configuration. No message holds a value that may be secret.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigError {
    #[error("the configuration file {} cannot be read: {}; name another with --config", path.display(), words(source))]
    File { path: PathBuf, source: io::Error },
    #[error("{}, line {line}: {reason}", path.display())]
    Syntax { path: PathBuf, line: usize, reason: String },
    #[error("{}: `{key}` is given twice", path.display())]
    KeyTwice { path: PathBuf, key: String },
    #[error("{}: unknown setting: {keys}", path.display())]
    UnknownKeys { path: PathBuf, keys: String },
    #[error("{}: {key}: {reason}", path.display())]
    FileValue { path: PathBuf, key: String, reason: String },
    #[error("{variable}: {reason}")]
    Variable { variable: String, reason: String },
    #[error("{variable}: is not Unicode text")]
    NotUnicode { variable: String },
    #[error("the system does not say which program this is, so that no decoder can be started: {0}")]
    Program(io::Error),
    #[error("PHOTOS_SECRET: {0}")]
    Secret(#[from] SecretError),
    #[error(transparent)]
    StoreUrl(#[from] StoreUrlError),
    #[error("base-url: {0}")]
    BaseUrl(#[from] InvalidBaseUrl),
}

/// Where the secret comes from.
#[derive(Debug, Clone)]
pub(crate) enum SecretSource {
    /// It was given.
    Given(Secret),
    /// It stands in this file, or will.
    File(PathBuf),
}

impl SecretSource {
    /// The secret; its file is created when there is none.
    pub(crate) fn load(&self, random: &dyn Random) -> Result<Secret, SecretError> {
        match self {
            Self::Given(secret) => Ok(secret.clone()),
            Self::File(path) => Secret::load_or_create(path, random),
        }
    }
}

/// All settings.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    pub(crate) data_dir: PathBuf,
    pub(crate) secret: SecretSource,
    pub(crate) database: PathBuf,
    pub(crate) blobs: PathBuf,
    pub(crate) library: Settings,
    pub(crate) listen: ListenAddress,
    pub(crate) trusted_proxies: Vec<IpNet>,
    pub(crate) log_format: LogFormat,
    pub(crate) client_documents: Switch,
    /// The folder of the installed vision models.
    pub(crate) models: PathBuf,
    /// Where vision models are downloaded from.
    pub(crate) model_source: String,
    /// How vision models are computed.
    pub(crate) vision: clip::Options,
    base_url: Option<BaseUrl>,
}

impl Config {
    /// Puts the flags before the environment, and before the file that one of the two names.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub(crate) fn load(
        flags: Layer,
        file: Option<&Path>,
        environment: &Environment,
    ) -> Result<Self, ConfigError> {
        let Some(path) = file.map(Path::to_owned).or_else(|| environment.config_file()) else {
            return Self::resolve(flags, environment, None);
        };
        match std::fs::read_to_string(&path) {
            Ok(text) => Self::resolve(flags, environment, Some((&path, &text))),
            Err(source) => Err(ConfigError::File { path, source }),
        }
    }

    /// The configuration that these flags, this environment and this file (its path and text) make.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub(crate) fn resolve(
        flags: Layer,
        environment: &Environment,
        file: Option<(&Path, &str)>,
    ) -> Result<Self, ConfigError> {
        let mut layer = flags.or(Layer::read(&mut FromEnvironment(environment))?);
        if let Some((path, text)) = file {
            let mut file = FromFile::new(path, text)?;
            layer = layer.or(Layer::read(&mut file)?);
            file.finish()?;
        }
        let mut library = settings(&layer.store)?;
        let (store, serve) = (layer.store, layer.serve);
        let data_dir = store.data_dir.unwrap_or_else(|| DEFAULT_DATA_DIR.into());
        let secret = match environment.secret() {
            Some(text) => SecretSource::Given(Secret::from_text(text)?),
            None => SecretSource::File(store.secret_file.unwrap_or_else(|| data_dir.join("secret"))),
        };
        let database = store.database_url.as_deref().map(store_url::sqlite_file).transpose()?.flatten();
        let blobs = store.blob_url.as_deref().map(store_url::blob_folder).transpose()?.flatten();
        let models = store.models_dir.unwrap_or_else(|| data_dir.join("models"));
        let vision = clip::Options {
            library: store.onnx_runtime.or_else(|| environment.onnx_runtime()),
            ..clip::Options::default()
        };
        library.models = Some(Arc::new(InstalledModels::new(Models::new(&models), vision.clone())));
        Ok(Self {
            database: database.unwrap_or_else(|| data_dir.join("library.sqlite")),
            blobs: blobs.unwrap_or_else(|| data_dir.join("blobs")),
            data_dir,
            secret,
            library,
            listen: serve.listen.unwrap_or(ListenAddress::Socket(DEFAULT_LISTEN)),
            trusted_proxies: serve.trusted_proxy.unwrap_or_default().iter().map(|proxy| proxy.0).collect(),
            log_format: serve.log_format.unwrap_or_default(),
            client_documents: serve.client_documents.unwrap_or_default(),
            models,
            model_source: store.model_source.unwrap_or_else(|| MODEL_SOURCE.to_owned()),
            vision,
            base_url: serve.base_url.as_deref().map(BaseUrl::parse).transpose()?,
        })
    }

    /// The base URL when the service listens here.
    ///
    /// # Errors
    /// The host name to listen on makes no URL.
    pub(crate) fn base_url(&self, listen: &ListenAddress) -> Result<BaseUrl, InvalidBaseUrl> {
        match &self.base_url {
            Some(base_url) => Ok(base_url.clone()),
            None => BaseUrl::parse(&format!("http://{}", listen.on_this_machine())),
        }
    }

    /// Whether no setting gives the base URL.
    pub(crate) fn assumes_base_url(&self) -> bool {
        self.base_url.is_none()
    }

    /// Whether the library is in the data folder, at least in part.
    pub(crate) fn uses_data_dir(&self) -> bool {
        self.database.starts_with(&self.data_dir) || self.blobs.starts_with(&self.data_dir)
    }
}

/// Where the loader and libheif look for libraries, when the system's own places do not do.
const LIBRARY_PATHS: [&str; 2] = ["LD_LIBRARY_PATH", "LIBHEIF_PLUGIN_PATH"];

/// Where Tesseract looks for its trained data, when its own folder does not do.
const TRAINED_DATA: &str = "TESSDATA_PREFIX";

/// This program as a decoder: of the environment it gets what it needs to load its libraries, and no more.
fn decoder() -> io::Result<WorkerCommand> {
    worker(&[DECODER.to_owned()], &LIBRARY_PATHS)
}

/// This program as a decoder that reads words.
fn text_reader(languages: &Languages) -> io::Result<WorkerCommand> {
    let [libraries, plugins] = LIBRARY_PATHS;
    let args = [DECODER.to_owned(), format!("--{READ_TEXT}={languages}")];
    worker(&args, &[libraries, plugins, TRAINED_DATA])
}

fn worker(args: &[String], variables: &[&str]) -> io::Result<WorkerCommand> {
    let given = |name: &&str| std::env::var_os(name).map(|value| (name.into(), value));
    let environment = variables.iter().filter_map(given).collect();
    Ok(WorkerCommand { environment, ..WorkerCommand::this_program(args)? })
}

fn settings(options: &StoreOptions) -> Result<Settings, ConfigError> {
    let defaults = Settings::new(decoder().map_err(ConfigError::Program)?);
    let languages = match options.ocr_languages.clone() {
        None => Some(defaults.ocr_languages.clone()),
        Some(OcrLanguages::On(languages)) => Some(languages),
        Some(OcrLanguages::Off) => None,
    };
    let text_reader = languages.as_ref().map(text_reader).transpose().map_err(ConfigError::Program)?;
    Ok(Settings {
        free_window: options.free_window.unwrap_or(defaults.free_window),
        max_upload_bytes: options.max_upload_bytes.map_or(defaults.max_upload_bytes, NonZeroU64::get),
        max_pixels: options.max_pixels.map_or(defaults.max_pixels, NonZeroU64::get),
        decode_workers: options.decode_workers.map_or(defaults.decode_workers, NonZeroUsize::get),
        decode_memory_bytes: options
            .decode_memory_mb
            .map_or(defaults.decode_memory_bytes, |mebibytes| mebibytes.get().saturating_mul(MEBIBYTE)),
        ocr_worker: text_reader,
        ocr_languages: languages.unwrap_or_else(|| defaults.ocr_languages.clone()),
        search_memory_bytes: options
            .search_memory_mb
            .map_or(defaults.search_memory_bytes, |mebibytes| mebibytes.get().saturating_mul(1 << 20)),
        ..defaults
    })
}
