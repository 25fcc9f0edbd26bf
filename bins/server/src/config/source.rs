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

/// How every variable of ours begins.
const PREFIX: &str = "PHOTOS_";
/// The variable with the secret itself, which is never a flag: other users of the machine see flags.
const SECRET: &str = "PHOTOS_SECRET";
/// By which other programs are told where ONNX Runtime is.
const ORT_DYLIB_PATH: &str = "ORT_DYLIB_PATH";
/// What concerns the program without being its own.
const OTHERS: [&str; 2] = ["RUST_LOG", ORT_DYLIB_PATH];

/// Where settings are taken from, by their flags' names with underscores.
pub(crate) trait Source {
    /// One value.
    fn take<T>(&mut self, name: &'static str) -> Result<Option<T>, ConfigError>
    where
        T: FromStr<Err: Display> + DeserializeOwned;

    /// Several values.
    fn take_list<T>(&mut self, name: &'static str) -> Result<Option<Vec<T>>, ConfigError>
    where
        T: FromStr<Err: Display> + DeserializeOwned;
}

/// The environment's variables that concern the program. `Debug` does not show their values.
#[derive(Clone, Default)]
pub(crate) struct Environment(BTreeMap<String, String>);

impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl Environment {
    /// Keeps what concerns the program and is not empty.
    ///
    /// # Errors
    /// [`ConfigError::NotUnicode`].
    pub(crate) fn new(
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Self, ConfigError> {
        let mut kept = BTreeMap::new();
        for (name, value) in variables {
            let Some(name) = name.to_str().filter(|name| name.starts_with(PREFIX) || OTHERS.contains(name))
            else {
                continue;
            };
            let value =
                value.into_string().map_err(|_| ConfigError::NotUnicode { variable: name.to_owned() })?;
            if !value.is_empty() {
                kept.insert(name.to_owned(), value);
            }
        }
        Ok(Self(kept))
    }

    /// The secret itself.
    pub(crate) fn secret(&self) -> Option<&str> {
        self.0.get(SECRET).map(String::as_str)
    }

    /// The file of settings.
    pub(crate) fn config_file(&self) -> Option<PathBuf> {
        self.0.get("PHOTOS_CONFIG").map(PathBuf::from)
    }

    /// Where ONNX Runtime is, as other programs are told it.
    pub(crate) fn onnx_runtime(&self) -> Option<PathBuf> {
        self.0.get(ORT_DYLIB_PATH).map(PathBuf::from)
    }

    /// Which log lines are wanted.
    pub(crate) fn log_levels(&self) -> Option<&str> {
        self.0.get("RUST_LOG").map(String::as_str)
    }

    /// Variables of ours that name none of these flags, likely by a slip of the keyboard.
    pub(crate) fn unknown(&self, flags: &BTreeSet<String>) -> Vec<String> {
        let known: BTreeSet<String> = flags.iter().map(|flag| variable(flag)).collect();
        let ours = self.0.keys().filter(|name| name.starts_with(PREFIX) && *name != SECRET);
        ours.filter(|name| !known.contains(*name)).cloned().collect()
    }
}

/// The variable of a flag.
pub(crate) fn variable(flag: &str) -> String {
    format!("{PREFIX}{}", flag.replace('-', "_").to_ascii_uppercase())
}

/// Takes settings from the environment.
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

/// Takes settings from a TOML file.
pub(super) struct FromFile<'a> {
    path: &'a Path,
    left: Table,
}

impl<'a> FromFile<'a> {
    /// Reads the file's text. Messages never quote it: a URL in it may hold a password.
    pub(super) fn new(path: &'a Path, text: &str) -> Result<Self, ConfigError> {
        let table: Table = text.parse().map_err(|error: toml::de::Error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            ConfigError::Syntax {
                path: path.to_owned(),
                line: before.matches('\n').count() + 1,
                reason: error.message().to_owned(),
            }
        })?;
        let mut left = Table::new();
        for (key, value) in table {
            let name = key.replace('-', "_");
            if left.insert(name, value).is_some() {
                return Err(ConfigError::KeyTwice { path: path.to_owned(), key });
            }
        }
        Ok(Self { path, left })
    }

    /// Fails on keys that nobody took.
    pub(super) fn finish(self) -> Result<(), ConfigError> {
        if self.left.is_empty() {
            return Ok(());
        }
        let keys: Vec<String> = self.left.into_iter().map(|(key, _)| key).collect();
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
        self.left.remove(name).map(|value| self.value(name, value)).transpose()
    }

    fn take_list<T>(&mut self, name: &'static str) -> Result<Option<Vec<T>>, ConfigError>
    where
        T: FromStr<Err: Display> + DeserializeOwned,
    {
        match self.left.remove(name) {
            Some(value @ Value::Array(_)) => self.value(name, value).map(Some),
            Some(value) => Ok(Some(vec![self.value(name, value)?])),
            None => Ok(None),
        }
    }
}
