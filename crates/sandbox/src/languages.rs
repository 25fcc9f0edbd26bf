//! In which languages words are read.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// The languages in which a worker reads words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Languages {
    /// Those that are installed, English first; where there are more than four, English alone.
    Installed,
    /// These, by the names of their trained data (`eng`, `deu`, `chi_sim`). The first counts most.
    Named(Vec<String>),
}

/// The word for [`Languages::Installed`].
const INSTALLED: &str = "auto";

/// As many languages are read at once as nobody needs: each one takes time and memory.
const MAX_LANGUAGES: usize = 16;

/// The longest name of a language, in bytes.
const MAX_NAME_BYTES: usize = 64;

/// Why a text names no languages.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidLanguages {
    /// There is none in it, or an empty place.
    #[error(
        "names of languages are expected, for example eng+deu, or `{INSTALLED}` for those that are installed"
    )]
    Empty,
    /// That is no name.
    #[error("`{0}` is no name of a language; names are like eng, deu or chi_sim")]
    Name(String),
    /// There are too many.
    #[error("at most {MAX_LANGUAGES} languages are read at once")]
    TooMany,
}

impl FromStr for Languages {
    type Err = InvalidLanguages;

    /// `auto`, or names with `+` or `,` between them.
    fn from_str(text: &str) -> Result<Self, InvalidLanguages> {
        if text.trim() == INSTALLED {
            return Ok(Self::Installed);
        }
        let mut names = Vec::new();
        for name in text.split(['+', ',']).map(str::trim) {
            if name.is_empty() {
                return Err(InvalidLanguages::Empty);
            }
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '/');
            let begins = name.starts_with(|c: char| c.is_ascii_alphanumeric());
            if !begins || name.len() > MAX_NAME_BYTES || !name.chars().all(plain) {
                return Err(InvalidLanguages::Name(name.chars().take(MAX_NAME_BYTES).collect()));
            }
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        if names.len() > MAX_LANGUAGES { Err(InvalidLanguages::TooMany) } else { Ok(Self::Named(names)) }
    }
}

impl fmt::Display for Languages {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Installed => formatter.write_str(INSTALLED),
            Self::Named(names) => formatter.write_str(&names.join("+")),
        }
    }
}

/// Whether a worker reads words, as it says itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum OcrStatus {
    /// It was not started to.
    Off,
    /// It does.
    Ready {
        /// The release of Tesseract, for example `5.3.0`.
        version: String,
        /// The languages that it reads, the first of which counts most.
        languages: Vec<String>,
        /// The languages that it should read, too, but that are not installed.
        missing: Vec<String>,
        /// All languages that are installed.
        installed: Vec<String>,
    },
    /// It was started to, but cannot.
    Unavailable {
        /// Why, in words for whoever runs the service.
        reason: String,
        /// The languages that it should read but that are not installed, if that is known to be why.
        missing: Vec<String>,
    },
}
