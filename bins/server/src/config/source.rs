use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    fmt::Display,
    path::{Path, PathBuf},
    str::FromStr,
};

use serde::de::DeserializeOwned;
use toml::{Table, Value};

use super::ConfigError;
use crate::traces::Collector;

/// The prefix of this program's variables.
const PREFIX: &str = "PHOTOS_";
/// The variable with the secret. There is no such flag, because other users of the machine can see flags.
const SECRET: &str = "PHOTOS_SECRET";
/// The variable that other programs use for the path of ONNX Runtime.
const ORT_DYLIB_PATH: &str = "ORT_DYLIB_PATH";
/// The prefix of the variables that programs use for AWS and S3.
const AWS_PREFIX: &str = "AWS_";
/// The variables that programs use for the URLs of an OpenTelemetry collector. The first is for traces alone.
const OTEL_TRACES_ENDPOINT: &str = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
const OTEL_ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const OTEL_SERVICE_NAME: &str = "OTEL_SERVICE_NAME";
/// The protocol of these URLs. The first is for traces alone.
const OTEL_PROTOCOLS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"];
/// The protocol that this program speaks.
const PROTOCOL: &str = "http/protobuf";
/// Variables and their values that turn traces off.
const OTEL_OFF: [(&str, &str); 2] = [("OTEL_SDK_DISABLED", "true"), ("OTEL_TRACES_EXPORTER", "none")];
/// The prefix of the variables of OpenTelemetry.
const OTEL_PREFIX: &str = "OTEL_";
/// Variables without a prefix that this program reads.
const OTHERS: [&str; 2] = ["RUST_LOG", ORT_DYLIB_PATH];

/// A source of settings. Names are those of the flags, with underscores.
pub(crate) trait Source {
    /// Reads a single value.
    fn take<T>(&mut self, name: &'static str) -> Result<Option<T>, ConfigError>
    where
        T: FromStr<Err: Display> + DeserializeOwned;

    /// Reads a list.
    fn take_list<T>(&mut self, name: &'static str) -> Result<Option<Vec<T>>, ConfigError>
    where
        T: FromStr<Err: Display> + DeserializeOwned;
}

/// The environment variables that this program reads. `Debug` does not show their values.
#[derive(Clone, Default)]
pub(crate) struct Environment(BTreeMap<String, String>);

impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl Environment {
    /// Keeps the variables that this program reads and that are not empty.
    pub(crate) fn new(
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Self, ConfigError> {
        let mut kept = BTreeMap::new();
        for (name, value) in variables {
            let is_read = |name: &&str| {
                [PREFIX, AWS_PREFIX, OTEL_PREFIX].iter().any(|prefix| name.starts_with(prefix))
                    || OTHERS.contains(name)
            };
            let Some(name) = name.to_str().filter(is_read) else { continue };
            let value =
                value.into_string().map_err(|_| ConfigError::NotUnicode { variable: name.to_owned() })?;
            if !value.is_empty() {
                kept.insert(name.to_owned(), value);
            }
        }
        Ok(Self(kept))
    }

    pub(crate) fn secret(&self) -> Option<&str> {
        self.0.get(SECRET).map(String::as_str)
    }

    pub(crate) fn config_file(&self) -> Option<PathBuf> {
        self.0.get("PHOTOS_CONFIG").map(PathBuf::from)
    }

    /// The path of ONNX Runtime in `ORT_DYLIB_PATH`.
    pub(crate) fn onnx_runtime(&self) -> Option<PathBuf> {
        self.0.get(ORT_DYLIB_PATH).map(PathBuf::from)
    }

    pub(crate) fn aws(&self, name: &str) -> Option<&str> {
        self.0.get(name).filter(|_| name.starts_with(AWS_PREFIX)).map(String::as_str)
    }

    /// The OpenTelemetry collector for traces.
    pub(super) fn collector(&self) -> Result<Option<Collector>, ConfigError> {
        let is_off = |(name, off): &(&str, &str)| {
            self.0.get(*name).is_some_and(|value| value.eq_ignore_ascii_case(off))
        };
        if OTEL_OFF.iter().any(is_off) {
            return Ok(None);
        }
        let parse = |variable: &str| {
            self.0.get(variable).map(|text| FromEnvironment::parse::<Collector>(variable, text)).transpose()
        };
        let collector = match parse(OTEL_TRACES_ENDPOINT)? {
            Some(collector) => Some(collector),
            None => parse(OTEL_ENDPOINT)?.map(Collector::traces),
        };
        let protocol = OTEL_PROTOCOLS.into_iter().find(|name| self.0.contains_key(*name));
        match protocol {
            Some(variable) if collector.is_some() && self.0[variable] != PROTOCOL => {
                Err(ConfigError::Variable {
                    variable: variable.to_owned(),
                    reason: format!("this program speaks {PROTOCOL} only; give its URL by --otlp-endpoint"),
                })
            }
            _ => Ok(collector),
        }
    }

    /// The name of this service in traces.
    pub(crate) fn service_name(&self) -> Option<&str> {
        self.0.get(OTEL_SERVICE_NAME).map(String::as_str)
    }

    /// The log filter in `RUST_LOG`.
    pub(crate) fn log_filter(&self) -> Option<&str> {
        self.0.get("RUST_LOG").map(String::as_str)
    }

    /// Variables with the prefix that match none of these flags: probably typing errors.
    pub(crate) fn unknown(&self, flags: &BTreeSet<String>) -> Vec<String> {
        let known: BTreeSet<String> = flags.iter().map(|flag| variable(flag)).collect();
        let prefixed = self.0.keys().filter(|name| name.starts_with(PREFIX) && *name != SECRET);
        prefixed.filter(|name| !known.contains(*name)).cloned().collect()
    }
}

/// The name of the variable for a flag.
pub(crate) fn variable(flag: &str) -> String {
    format!("{PREFIX}{}", flag.replace('-', "_").to_ascii_uppercase())
}

/// Reads settings from the environment.
pub(super) struct FromEnvironment<'a>(pub(super) &'a Environment);

impl FromEnvironment<'_> {
    fn parse<T: FromStr<Err: Display>>(variable: &str, text: &str) -> Result<T, ConfigError> {
        text.trim().parse().map_err(|error: T::Err| ConfigError::Variable {
            variable: variable.to_owned(),
            reason: error.to_string(),
        })
    }
}

impl Source for FromEnvironment<'_> {
    fn take<T>(&mut self, name: &'static str) -> Result<Option<T>, ConfigError>
    where
        T: FromStr<Err: Display> + DeserializeOwned,
    {
        let variable = variable(name);
        self.0.0.get(&variable).map(|text| Self::parse(&variable, text)).transpose()
    }

    fn take_list<T>(&mut self, name: &'static str) -> Result<Option<Vec<T>>, ConfigError>
    where
        T: FromStr<Err: Display> + DeserializeOwned,
    {
        let variable = variable(name);
        let parse_all = |text: &String| text.split(',').map(|part| Self::parse(&variable, part)).collect();
        self.0.0.get(&variable).map(parse_all).transpose()
    }
}

/// Reads settings from a TOML file.
pub(super) struct FromFile<'a> {
    path: &'a Path,
    remaining: Table,
}

impl<'a> FromFile<'a> {
    /// Parses the file's text. Messages never quote it, because a URL in it may contain a password.
    pub(super) fn new(path: &'a Path, text: &str) -> Result<Self, ConfigError> {
        let table: Table = text.parse().map_err(|error: toml::de::Error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            ConfigError::Syntax {
                path: path.to_owned(),
                line: before.matches('\n').count() + 1,
                reason: error.message().to_owned(),
            }
        })?;
        let mut remaining = Table::new();
        for (key, value) in table {
            let name = key.replace('-', "_");
            if remaining.insert(name, value).is_some() {
                return Err(ConfigError::DuplicateKey { path: path.to_owned(), key });
            }
        }
        Ok(Self { path, remaining })
    }

    /// Fails if keys remain that are no settings.
    pub(super) fn finish(self) -> Result<(), ConfigError> {
        if self.remaining.is_empty() {
            return Ok(());
        }
        let keys: Vec<String> = self.remaining.into_iter().map(|(key, _)| key).collect();
        Err(ConfigError::UnknownKeys { path: self.path.to_owned(), keys: keys.join(", ") })
    }

    fn value<T: DeserializeOwned>(&self, key: &str, value: Value) -> Result<T, ConfigError> {
        value.try_into().map_err(|error: toml::de::Error| ConfigError::FileValue {
            path: self.path.to_owned(),
            key: key.to_owned(),
            reason: error.message().to_owned(),
        })
    }
}

impl Source for FromFile<'_> {
    fn take<T>(&mut self, name: &'static str) -> Result<Option<T>, ConfigError>
    where
        T: FromStr<Err: Display> + DeserializeOwned,
    {
        self.remaining.remove(name).map(|value| self.value(name, value)).transpose()
    }

    fn take_list<T>(&mut self, name: &'static str) -> Result<Option<Vec<T>>, ConfigError>
    where
        T: FromStr<Err: Display> + DeserializeOwned,
    {
        match self.remaining.remove(name) {
            Some(value @ Value::Array(_)) => self.value(name, value).map(Some),
            Some(value) => Ok(Some(vec![self.value(name, value)?])),
            None => Ok(None),
        }
    }
}
