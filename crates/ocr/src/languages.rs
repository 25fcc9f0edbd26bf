//! The languages to read.

use std::{fmt, str::FromStr};

/// The languages in which text is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Languages {
    /// All installed ones, English first; if there are more than four, English only.
    Installed,
    /// Languages by the names of their trained data (`eng`, `deu`, `chi_sim`). The first one has priority.
    Named(Vec<String>),
}

/// Stands for [`Languages::Installed`].
const INSTALLED: &str = "auto";

/// Upper bound on languages: each one takes time and memory.
const MAX_LANGUAGES: usize = 16;

/// The longest name of a language, in bytes.
const MAX_NAME_BYTES: usize = 64;

/// Why a list of languages is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidLanguages {
    /// The list or one of its names is empty.
    #[error("languages are expected, for example eng+deu, or `{INSTALLED}` for the installed ones")]
    Empty,
    #[error("`{0}` is not the name of a language; examples of names are eng, deu and chi_sim")]
    Name(String),
    /// The list has too many languages.
    #[error("there can be at most {MAX_LANGUAGES} languages")]
    TooMany,
}

impl FromStr for Languages {
    type Err = InvalidLanguages;

    /// Parses `auto`, or names separated by `+` or `,`.
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
            let starts_plain = name.starts_with(|c: char| c.is_ascii_alphanumeric());
            if !starts_plain || name.len() > MAX_NAME_BYTES || !name.chars().all(plain) {
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
