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
use url::Url;

use super::{ConfigError, ListenAddress, Source};
use crate::traces::Collector;

/// Declares a group of settings. Each is declared once, by its name, its type and the attributes of its flag, and is then read from
/// all sources. A list names the function of [`Source`] that reads it.
macro_rules! settings {
    ($(#[$about:meta])* $group:ident { $($(#[$flag:meta])* $name:ident: $type:ty $(= $take:ident)?,)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
        pub(crate) struct $group {
            $($(#[$flag])* pub(crate) $name: Option<$type>,)*
        }

        impl $group {
            fn read(source: &mut impl Source) -> Result<Self, ConfigError> {
                Ok(Self { $($name: settings!(source, $name $(, $take)?)?,)* })
            }

            fn or(self, below: Self) -> Self {
                Self { $($name: self.$name.or(below.$name),)* }
            }
        }
    };
    ($source:ident, $name:ident) => { $source.take(stringify!($name)) };
    ($source:ident, $name:ident, $take:ident) => { $source.$take(stringify!($name)) };
}

settings! {
    /// Settings of every command.
    StoreOptions {
        /// Data folder: database, photos, secret and models [default: ./data] [env: PHOTOS_DATA_DIR]
        ///
        /// Created by `serve`, and by `copy` for the new place. With Postgres, every command creates it.
        #[arg(long, global = true, value_name = "DIR", help_heading = STORAGE)]
        data_dir: PathBuf,
        /// File with the secret that signs image URLs and encrypts signing keys [default: `secret` in the data folder]
        /// [env: PHOTOS_SECRET_FILE]
        ///
        /// Created at the first start, but not with Postgres, because all machines need the same secret. The variable
        /// PHOTOS_SECRET (at least 32 characters) overrides the file.
        #[arg(long, global = true, value_name = "FILE", help_heading = STORAGE, hide_short_help = true)]
        secret_file: PathBuf,
        /// Metadata store, such as sqlite:/srv/library.sqlite or postgres://user:password@host/database [default:
        /// `library.sqlite` in the data folder] [env: PHOTOS_DATABASE_URL]
        ///
        /// With Postgres, several machines can serve one library; each needs the same secret. The variable keeps the password
        /// from other users of the machine.
        #[arg(long, global = true, value_name = "URL", help_heading = STORAGE, hide_short_help = true)]
        database_url: String,
        /// Maximum number of connections to a Postgres database [default: 16] [env: PHOTOS_DATABASE_CONNECTIONS]
        #[arg(long, global = true, value_name = "NUMBER", help_heading = STORAGE, hide_short_help = true)]
        database_connections: WholeNumber<NonZeroUsize>,
        /// Store of originals and renditions: file:FOLDER or s3://BUCKET/PREFIX [default: `blobs` in the data folder] [env:
        /// PHOTOS_BLOB_URL]
        ///
        /// With s3, the keys come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (and AWS_SESSION_TOKEN), or from the role
        /// of the container or instance.
        #[arg(long, global = true, value_name = "URL", help_heading = STORAGE, hide_short_help = true)]
        blob_url: String,
        /// URL of the S3 server, such as https://s3.example.org [default: AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL, else AWS]
        /// [env: PHOTOS_S3_ENDPOINT]
        ///
        /// http:// is accepted for this machine and for private networks only.
        #[arg(long, global = true, value_name = "URL", help_heading = STORAGE, hide_short_help = true)]
        s3_endpoint: String,
        /// Region of the S3 bucket [default: AWS_REGION or AWS_DEFAULT_REGION, else us-east-1] [env: PHOTOS_S3_REGION]
        #[arg(long, global = true, value_name = "REGION", help_heading = STORAGE, hide_short_help = true)]
        s3_region: String,
        /// Bucket in the path of URLs, or in the host name: on or off [default: on, with AWS off] [env:
        /// PHOTOS_S3_PATH_STYLE]
        #[arg(
            long,
            global = true,
            value_name = "SWITCH",
            help_heading = STORAGE,
            hide_short_help = true,
            hide_possible_values = true
        )]
        s3_path_style: Switch,
        /// Number of newest photos visible on the free plan [default: 1000] [env: PHOTOS_FREE_WINDOW]
        #[arg(long, global = true, value_name = "PHOTOS", help_heading = PHOTOS, hide_short_help = true)]
        free_window: WholeNumber<u32>,
        /// Maximum size of a photo file, in bytes [default: 200000000] [env: PHOTOS_MAX_UPLOAD_BYTES]
        #[arg(long, global = true, value_name = "BYTES", help_heading = PHOTOS, hide_short_help = true)]
        max_upload_bytes: WholeNumber<NonZeroU64>,
        /// Maximum size of all photos and unfinished uploads of an account, in bytes [default: no limit] [env:
        /// PHOTOS_ACCOUNT_QUOTA_BYTES]
        ///
        /// Deleted photos count until they are purged after 30 days. Imports by `server import` are not limited.
        #[arg(long, global = true, value_name = "BYTES", help_heading = PHOTOS, hide_short_help = true)]
        account_quota_bytes: WholeNumber<NonZeroU64>,
        /// Maximum width times height of a photo, in pixels [default: 200000000] [env: PHOTOS_MAX_PIXELS]
        #[arg(long, global = true, value_name = "PIXELS", help_heading = PHOTOS, hide_short_help = true)]
        max_pixels: WholeNumber<NonZeroU64>,
        /// Maximum number of photos decoded at the same time [default: number of processors] [env: PHOTOS_DECODE_WORKERS]
        #[arg(long, global = true, value_name = "NUMBER", help_heading = PHOTOS, hide_short_help = true)]
        decode_workers: WholeNumber<NonZeroUsize>,
        /// Memory for decoding and OCR, in MiB [default: 300] [env: PHOTOS_DECODE_MEMORY_MB]
        ///
        /// Shared by a server and the imports that run beside it. A photo that needs more is decoded alone.
        #[arg(long, global = true, value_name = "MIB", help_heading = PHOTOS, hide_short_help = true)]
        decode_memory_mb: WholeNumber<NonZeroU64>,
        /// Languages for OCR, such as eng+deu; `auto` or `off` [default: auto] [env: PHOTOS_OCR_LANGUAGES]
        ///
        /// Named as Tesseract names them, the most frequent first. `auto` uses all installed languages, or English alone
        /// when more than four are installed. `off` disables OCR.
        #[arg(long, global = true, value_name = "LANGUAGES", help_heading = PHOTOS, hide_short_help = true)]
        ocr_languages: OcrLanguages,
        /// Memory for the embeddings that search compares, in MiB [default: 1024] [env: PHOTOS_SEARCH_MEMORY_MB]
        ///
        /// A photo takes about 550 bytes with a vision model of 512 dimensions.
        #[arg(long, global = true, value_name = "MIB", help_heading = SEARCH, hide_short_help = true)]
        search_memory_mb: WholeNumber<NonZeroUsize>,
        /// Folder of installed vision models [default: `models` in the data folder] [env: PHOTOS_MODELS_DIR]
        #[arg(long, global = true, value_name = "DIR", help_heading = SEARCH, hide_short_help = true)]
        models_dir: PathBuf,
        /// Hub to download vision models from, or a mirror of it [default: https://huggingface.co] [env:
        /// PHOTOS_MODEL_SOURCE]
        #[arg(long, global = true, value_name = "URL", help_heading = SEARCH, hide_short_help = true)]
        model_source: String,
        /// ONNX Runtime library, such as /usr/lib/libonnxruntime.so [default: ORT_DYLIB_PATH, then the system's library
        /// folders] [env: PHOTOS_ONNX_RUNTIME]
        ///
        /// ONNX Runtime runs vision models in about two thirds of the time that tract, the built-in engine, needs.
        #[arg(long, global = true, value_name = "FILE", help_heading = SEARCH, hide_short_help = true)]
        onnx_runtime: PathBuf,
    }
}

impl StoreOptions {
    /// Whether the URL of the database has a password.
    pub(super) fn has_password(&self) -> bool {
        let url = self.database_url.as_deref().and_then(|url| Url::parse(url).ok());
        url.is_some_and(|url| {
            url.password().is_some() || url.query_pairs().any(|(name, _)| name == "password")
        })
    }
}

const STORAGE: &str = "Storage options";
const PHOTOS: &str = "Photo options";
const SEARCH: &str = "Search options";
const TLS: &str = "TLS options";
const DIRECTORIES: &str = "Options for directories of apps";

settings! {
    /// Settings of `serve`; `mcp-config` takes the base URL, too.
    ServeOptions {
        /// Address or host name, and port, to listen on [default: 127.0.0.1:8080] [env: PHOTOS_LISTEN]
        ///
        /// Port 0 picks a free port. With a host name, the server listens on all its addresses.
        #[arg(long, value_name = "ADDR:PORT")]
        listen: ListenAddress,
        /// Public URL used in all links [default: http:// or https://, and the listen address] [env: PHOTOS_BASE_URL]
        ///
        /// Browsers and apps must reach the server at this URL, such as https://photos.example.org.
        #[arg(long, value_name = "URL")]
        base_url: String,
        /// File with the TLS certificate and its chain, as PEM: the server then speaks https [default: none]
        /// [env: PHOTOS_TLS_CERTIFICATE]
        ///
        /// Changed files are loaded within two minutes, without a restart. A reverse proxy with TLS needs neither this nor ACME.
        #[arg(long, value_name = "FILE", help_heading = TLS)]
        tls_certificate: PathBuf,
        /// File with the private key of the TLS certificate, as PEM [default: none] [env: PHOTOS_TLS_KEY]
        #[arg(long, value_name = "FILE", help_heading = TLS)]
        tls_key: PathBuf,
        /// Get and renew a TLS certificate for the name in the base URL by ACME: on or off [default: off] [env: PHOTOS_ACME]
        ///
        /// From Let's Encrypt; using it accepts their terms of service. Port 443 of the name must lead to the listen address.
        #[arg(
            long,
            value_name = "SWITCH",
            num_args = 0..=1,
            require_equals = true,
            default_missing_value = "on",
            hide_possible_values = true,
            help_heading = TLS
        )]
        acme: Switch,
        /// URL of the directory of another ACME authority [default: https://acme-v02.api.letsencrypt.org/directory]
        /// [env: PHOTOS_ACME_DIRECTORY]
        #[arg(long, value_name = "URL", help_heading = TLS, hide_short_help = true)]
        acme_directory: String,
        /// Address and port on which http is redirected to the base URL, such as 0.0.0.0:80 [default: none]
        /// [env: PHOTOS_REDIRECT_LISTEN]
        #[arg(long, value_name = "ADDR:PORT", help_heading = TLS, hide_short_help = true)]
        redirect_listen: ListenAddress,
        /// How long browsers use only https for the host of the base URL, in seconds [default: 31536000]
        /// [env: PHOTOS_HSTS_MAX_AGE]
        ///
        /// Sent in each response as Strict-Transport-Security, if the base URL begins with https://. 0 turns it off: browsers forget
        /// it at their next visit.
        #[arg(long, value_name = "SECONDS", help_heading = TLS, hide_short_help = true)]
        hsts_max_age: WholeNumber<u32>,
        /// Network of trusted reverse proxies, such as 10.0.0.0/8 [default: none] [env: PHOTOS_TRUSTED_PROXY]
        ///
        /// Their Forwarded and X-Forwarded-For headers give the client address for logs and rate limits. Repeat the option,
        /// or separate networks with commas. Single addresses are accepted, too.
        #[arg(long, value_name = "CIDR", value_delimiter = ',')]
        trusted_proxy: Vec<ProxyNetwork> = take_list,
        /// Log format on stderr: text or json [default: text] [env: PHOTOS_LOG_FORMAT]
        ///
        /// The variable RUST_LOG sets the log level, such as RUST_LOG=info,web=debug. Its default is info.
        #[arg(long, value_name = "FORMAT", hide_possible_values = true)]
        log_format: LogFormat,
        /// Address and port of metrics for Prometheus, at /metrics [default: none] [env: PHOTOS_METRICS_LISTEN]
        ///
        /// Metrics name no person and no photo, but need no sign-in: choose an address that only your monitoring reaches, such
        /// as 127.0.0.1:9400.
        #[arg(long, value_name = "ADDR:PORT")]
        metrics_listen: ListenAddress,
        /// URL of an OpenTelemetry collector that gets traces over HTTP, such as http://127.0.0.1:4318 [default:
        /// OTEL_EXPORTER_OTLP_TRACES_ENDPOINT or OTEL_EXPORTER_OTLP_ENDPOINT, else none] [env: PHOTOS_OTLP_ENDPOINT]
        ///
        /// Traces name no person and no photo. The variables OTEL_EXPORTER_OTLP_HEADERS, OTEL_SERVICE_NAME,
        /// OTEL_RESOURCE_ATTRIBUTES, OTEL_TRACES_SAMPLER and OTEL_BSP_… are read, too.
        #[arg(long, value_name = "URL")]
        otlp_endpoint: Collector,
        /// Accept apps that identify themselves by an https URL: on or off [default: on] [env: PHOTOS_CLIENT_DOCUMENTS]
        ///
        /// The server fetches the client ID metadata document at that URL from the internet. Use `off` where outgoing
        /// https is blocked; such apps then register instead.
        #[arg(long, value_name = "SWITCH", hide_possible_values = true)]
        client_documents: Switch,
        /// Apply pending migrations to a Postgres database at the start, instead of refusing to start [env: PHOTOS_MIGRATE]
        ///
        /// An SQLite file is always migrated.
        #[arg(
            long,
            value_name = "SWITCH",
            num_args = 0..=1,
            require_equals = true,
            default_missing_value = "on",
            hide_possible_values = true
        )]
        migrate: Switch,
        /// URL of your privacy policy, shown to people who connect an app [default: none] [env: PHOTOS_POLICY_URL]
        ///
        /// Directories of apps ask for it, and for the terms and the support page.
        #[arg(long, value_name = "URL", help_heading = DIRECTORIES, hide_short_help = true)]
        policy_url: HttpsUrl,
        /// URL of your terms of service, shown to people who connect an app [default: none] [env: PHOTOS_TERMS_URL]
        #[arg(long, value_name = "URL", help_heading = DIRECTORIES, hide_short_help = true)]
        terms_url: HttpsUrl,
        /// URL of your support page, shown to people who connect an app [default: none] [env: PHOTOS_SUPPORT_URL]
        #[arg(long, value_name = "URL", help_heading = DIRECTORIES, hide_short_help = true)]
        support_url: HttpsUrl,
        /// Token with which OpenAI verifies your domain, at /.well-known/openai-apps-challenge [default: none]
        /// [env: PHOTOS_OPENAI_APPS_CHALLENGE]
        #[arg(long, value_name = "TOKEN", help_heading = DIRECTORIES, hide_short_help = true)]
        openai_apps_challenge: ChallengeToken,
    }
}

/// An https URL of a page.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct HttpsUrl(pub(crate) String);

impl FromStr for HttpsUrl {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match Url::parse(text) {
            Ok(url) if url.scheme() == "https" => Ok(Self(url.into())),
            _ => Err("must be an https URL"),
        }
    }
}

impl TryFrom<String> for HttpsUrl {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

/// A token that is served as plain text.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct ChallengeToken(pub(crate) String);

impl FromStr for ChallengeToken {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_token = (1..=1024).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        if is_token { Ok(Self(text.to_owned())) } else { Err("must be a token without spaces") }
    }
}

impl TryFrom<String> for ChallengeToken {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

/// A whole number. Its parse error is clearer than that of the standard library.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub(crate) struct WholeNumber<T>(pub(crate) T);

impl<T: FromStr> FromStr for WholeNumber<T> {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self).map_err(|_| "must be a positive whole number")
    }
}

/// A setting that is on or off.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Switch {
    /// Enabled.
    #[default]
    On,
    /// Disabled.
    Off,
}

impl FromStr for Switch {
    type Err = &'static str;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        <Self as ValueEnum>::from_str(name, false).map_err(|_| "must be on or off")
    }
}

/// Whether OCR runs, and in which languages.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) enum OcrLanguages {
    /// No OCR.
    Off,
    /// OCR in these languages.
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

/// A network of proxies; a single address is a network of one.
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

/// The format of log lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    /// Plain text.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
}

impl FromStr for LogFormat {
    type Err = &'static str;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        <Self as ValueEnum>::from_str(name, false).map_err(|_| "must be text or json")
    }
}

/// The settings that one source (flags, environment or file) gives.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Layer {
    pub(crate) store: StoreOptions,
    pub(crate) serve: ServeOptions,
}

impl Layer {
    /// Reads every setting from a source.
    pub(crate) fn read(source: &mut impl Source) -> Result<Self, ConfigError> {
        Ok(Self { store: StoreOptions::read(source)?, serve: ServeOptions::read(source)? })
    }

    /// This layer, with missing settings taken from the layer below.
    pub(crate) fn or(self, below: Self) -> Self {
        Self { store: self.store.or(below.store), serve: self.serve.or(below.serve) }
    }
}
