use std::{
    net::IpAddr,
    num::{NonZeroU64, NonZeroUsize},
    path::PathBuf,
    str::FromStr,
};

use clap::{Args, ValueEnum};
use ipnet::IpNet;
use library::{InvalidLanguages, Languages};
use serde::Deserialize;

use super::{ConfigError, ListenAddress, Source};

/// Settings that every command takes. What is not given stays open for the next source.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "Store options")]
pub(crate) struct StoreOptions {
    /// Folder of the store, the blobs and the secret file; `serve` creates it [default: ./data] [env: PHOTOS_DATA_DIR]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// File of the secret that signs URLs and seals signing keys, made at the first start; the variable
    /// PHOTOS_SECRET (at least 32 characters) comes before it [default: `secret` in the data folder] [env: PHOTOS_SECRET_FILE]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) secret_file: Option<PathBuf>,
    /// Metadata store, `sqlite:PATH` [default: `library.sqlite` in the data folder] [env: PHOTOS_DATABASE_URL]
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) database_url: Option<String>,
    /// Store of originals and renditions, `file:FOLDER` [default: `blobs` in the data folder] [env:
    /// PHOTOS_BLOB_URL]
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) blob_url: Option<String>,
    /// How many of its newest photos an account on the free plan sees [default: 1000] [env: PHOTOS_FREE_WINDOW]
    #[arg(long, global = true, value_name = "PHOTOS")]
    pub(crate) free_window: Option<u32>,
    /// Longest file that is taken in, in bytes [default: 200000000] [env: PHOTOS_MAX_UPLOAD_BYTES]
    #[arg(long, global = true, value_name = "BYTES")]
    pub(crate) max_upload_bytes: Option<NonZeroU64>,
    /// Most pixels that a photo may have [default: 200000000] [env: PHOTOS_MAX_PIXELS]
    #[arg(long, global = true, value_name = "PIXELS")]
    pub(crate) max_pixels: Option<NonZeroU64>,
    /// How many photos are decoded at once [default: the number of processors] [env: PHOTOS_DECODE_WORKERS]
    #[arg(long, global = true, value_name = "NUMBER")]
    pub(crate) decode_workers: Option<NonZeroUsize>,
    /// Memory for decoding photos and reading words in them, in MiB; a photo that needs more is decoded alone. A server
    /// and the imports beside it share it [default: 300] [env: PHOTOS_DECODE_MEMORY_MB]
    #[arg(long, global = true, value_name = "MIB")]
    pub(crate) decode_memory_mb: Option<NonZeroU64>,
    /// Languages in which words in photos are read, by Tesseract's names for them: eng+deu; `auto` for those that are
    /// installed, or English alone where there are more than four; `off` to read none [default: auto] [env:
    /// PHOTOS_OCR_LANGUAGES]
    #[arg(long, global = true, value_name = "LANGUAGES")]
    pub(crate) ocr_languages: Option<OcrLanguages>,
    /// Memory that may hold what photos look like, for searches, in MiB; about 550 bytes a photo with a vision model of
    /// 512 dimensions [default: 1024] [env: PHOTOS_SEARCH_MEMORY_MB]
    #[arg(long, global = true, value_name = "MIB")]
    pub(crate) search_memory_mb: Option<NonZeroUsize>,
    /// Folder of the installed vision models [default: `models` in the data folder] [env: PHOTOS_MODELS_DIR]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) models_dir: Option<PathBuf>,
    /// Where vision models are downloaded from: a mirror of huggingface.co [default: https://huggingface.co] [env:
    /// PHOTOS_MODEL_SOURCE]
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) model_source: Option<String>,
    /// The library of ONNX Runtime, such as libonnxruntime.so, which computes vision models in two thirds of the time
    /// of what is built in [default: the variable ORT_DYLIB_PATH, else where systems keep it] [env:
    /// PHOTOS_ONNX_RUNTIME]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) onnx_runtime: Option<PathBuf>,
}

/// Settings of `serve`; `mcp-config` takes the base URL, too.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct ServeOptions {
    /// Address or host name, and port, to listen on; port 0 takes a free one [default: 127.0.0.1:8080] [env:
    /// PHOTOS_LISTEN]
    #[arg(long, value_name = "ADDR:PORT")]
    pub(crate) listen: Option<ListenAddress>,
    /// Public URL used in all links: where browsers reach the service [default: http:// and the address that is
    /// listened on] [env: PHOTOS_BASE_URL]
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// Network of proxies whose Forwarded and X-Forwarded-For headers are believed, such as 10.0.0.0/8; repeated
    /// or with commas in between [default: none] [env: PHOTOS_TRUSTED_PROXY]
    #[arg(long, value_name = "CIDR", value_delimiter = ',')]
    pub(crate) trusted_proxy: Option<Vec<ProxyNetwork>>,
    /// How log lines look on stderr: `text` or `json`; RUST_LOG sets their levels (`info` when absent) [default:
    /// text] [env: PHOTOS_LOG_FORMAT]
    #[arg(long, value_name = "FORMAT", hide_possible_values = true)]
    pub(crate) log_format: Option<LogFormat>,
    /// Whether apps may name themselves by an https URL, which the server then fetches from the internet: `on` or
    /// `off`. Where outgoing https is closed, `off` has them register instead [default: on] [env:
    /// PHOTOS_CLIENT_DOCUMENTS]
    #[arg(long, value_name = "SWITCH", hide_possible_values = true)]
    pub(crate) client_documents: Option<Switch>,
}

/// Whether something is done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Switch {
    /// It is.
    #[default]
    On,
    /// It is not.
    Off,
}

impl FromStr for Switch {
    type Err = &'static str;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        <Self as ValueEnum>::from_str(name, false).map_err(|_| "must be on or off")
    }
}

/// Whether words in photos are read, and in which languages.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) enum OcrLanguages {
    /// They are not read.
    Off,
    /// They are.
    On(Languages),
}

impl FromStr for OcrLanguages {
    type Err = InvalidLanguages;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "off" { Ok(Self::Off) } else { text.parse().map(Self::On) }
    }
}

impl TryFrom<String> for OcrLanguages {
    type Error = InvalidLanguages;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

/// Addresses of proxies: a network, or one address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct ProxyNetwork(pub(crate) IpNet);

impl FromStr for ProxyNetwork {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let network = text.parse().or_else(|_| text.parse::<IpAddr>().map(IpNet::from));
        network.map(Self).map_err(|_| "must be a network such as 10.0.0.0/8, or one address")
    }
}

impl TryFrom<String> for ProxyNetwork {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

/// How log lines look.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

impl FromStr for LogFormat {
    type Err = &'static str;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        <Self as ValueEnum>::from_str(name, false).map_err(|_| "must be text or json")
    }
}

/// What one source (flags, environment, file) says about every setting.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Layer {
    pub(crate) store: StoreOptions,
    pub(crate) serve: ServeOptions,
}

impl Layer {
    /// Takes every setting out of a source.
    pub(crate) fn read(source: &mut impl Source) -> Result<Self, ConfigError> {
        Ok(Self {
            store: StoreOptions {
                data_dir: source.take("data_dir")?,
                secret_file: source.take("secret_file")?,
                database_url: source.take("database_url")?,
                blob_url: source.take("blob_url")?,
                free_window: source.take("free_window")?,
                max_upload_bytes: source.take("max_upload_bytes")?,
                max_pixels: source.take("max_pixels")?,
                decode_workers: source.take("decode_workers")?,
                decode_memory_mb: source.take("decode_memory_mb")?,
                ocr_languages: source.take("ocr_languages")?,
                search_memory_mb: source.take("search_memory_mb")?,
                models_dir: source.take("models_dir")?,
                model_source: source.take("model_source")?,
                onnx_runtime: source.take("onnx_runtime")?,
            },
            serve: ServeOptions {
                listen: source.take("listen")?,
                base_url: source.take("base_url")?,
                trusted_proxy: source.take_list("trusted_proxy")?,
                log_format: source.take("log_format")?,
                client_documents: source.take("client_documents")?,
            },
        })
    }

    /// This layer, with what it leaves open taken from the one below.
    pub(crate) fn or(self, below: Self) -> Self {
        let (store, serve) = (self.store, self.serve);
        Self {
            store: StoreOptions {
                data_dir: store.data_dir.or(below.store.data_dir),
                secret_file: store.secret_file.or(below.store.secret_file),
                database_url: store.database_url.or(below.store.database_url),
                blob_url: store.blob_url.or(below.store.blob_url),
                free_window: store.free_window.or(below.store.free_window),
                max_upload_bytes: store.max_upload_bytes.or(below.store.max_upload_bytes),
                max_pixels: store.max_pixels.or(below.store.max_pixels),
                decode_workers: store.decode_workers.or(below.store.decode_workers),
                decode_memory_mb: store.decode_memory_mb.or(below.store.decode_memory_mb),
                ocr_languages: store.ocr_languages.or(below.store.ocr_languages),
                search_memory_mb: store.search_memory_mb.or(below.store.search_memory_mb),
                models_dir: store.models_dir.or(below.store.models_dir),
                model_source: store.model_source.or(below.store.model_source),
                onnx_runtime: store.onnx_runtime.or(below.store.onnx_runtime),
            },
            serve: ServeOptions {
                listen: serve.listen.or(below.serve.listen),
                base_url: serve.base_url.or(below.serve.base_url),
                trusted_proxy: serve.trusted_proxy.or(below.serve.trusted_proxy),
                log_format: serve.log_format.or(below.serve.log_format),
                client_documents: serve.client_documents.or(below.serve.client_documents),
            },
        }
    }
}
