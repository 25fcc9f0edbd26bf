//! The library as the rest of the program sees it.

use std::fmt;
use std::sync::OnceLock;

use crate::functions::Functions;
use crate::reading::{self, TextReader};

/// The oldest release whose functions are known to do what is expected of them.
const OLDEST: Version = Version { major: 4, minor: 0, patch: 0 };

/// The longest name of a language that is looked at, in bytes.
const MAX_NAME_BYTES: usize = 64;

/// Trained data that read no words: they tell how a page lies, and what is a formula.
const NO_LANGUAGES: [&str; 2] = ["osd", "equ"];

/// A release of Tesseract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// The first number.
    pub major: u32,
    /// The second number.
    pub minor: u32,
    /// The third number.
    pub patch: u32,
}

impl Version {
    /// From what Tesseract says: `5.3.0`, or `5.0.0-rc1-14-gab1c2d`, of which the numbers count.
    fn parse(text: &str) -> Self {
        let mut numbers = text.split('.').map(|part| {
            let end = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
            part.get(..end).and_then(|digits| digits.parse().ok()).unwrap_or(0)
        });
        let mut next = || numbers.next().unwrap_or(0);
        Self { major: next(), minor: next(), patch: next() }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// Why there is no Tesseract to use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// The system's loader does not find it, or not all that it is linked with.
    #[error("Tesseract cannot be loaded: {reason}")]
    NotFound {
        /// What the loader says.
        reason: String,
    },
    /// A function is missing that every release has.
    #[error("Tesseract lacks the function {function}")]
    Incomplete {
        /// Its name in C.
        function: &'static str,
    },
    /// The release is too old.
    #[error("Tesseract is {found}, but at least {OLDEST} is needed")]
    TooOld {
        /// The release that was found.
        found: Version,
    },
}

/// Why there is nobody to read with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReaderError {
    /// No language was named.
    #[error("no language is named")]
    NoLanguage,
    /// There is no trained data for a language.
    #[error("Tesseract has no trained data for the language `{language}`")]
    Missing {
        /// Its name.
        language: String,
    },
    /// Tesseract cannot load the trained data.
    #[error("Tesseract cannot load its trained data for {languages}")]
    Refused {
        /// The names of the languages, with `+` between them.
        languages: String,
    },
    /// There is not enough memory for it.
    #[error("there is not enough memory for the trained data")]
    NoMemory,
}

/// The system's Tesseract.
pub struct Tesseract {
    pub(crate) functions: Functions,
    version: Version,
}

impl Tesseract {
    /// The library, opened by the first call in this process. Make that call before a sandbox closes the file system.
    ///
    /// # Errors
    /// When there is none that can be used; every later call gives the same error.
    pub fn load() -> Result<&'static Self, &'static LoadError> {
        static LIBRARY: OnceLock<Result<Tesseract, LoadError>> = OnceLock::new();
        LIBRARY.get_or_init(Self::open).as_ref()
    }

    fn open() -> Result<Self, LoadError> {
        let functions = Functions::load()?;
        let version = Version::parse(&reading::version(&functions));
        if version < OLDEST {
            return Err(LoadError::TooOld { found: version });
        }
        Ok(Self { functions, version })
    }

    /// Its release.
    pub fn version(&self) -> Version {
        self.version
    }

    /// The languages that it has trained data for, by name (`eng`, `deu`, `chi_sim`), in alphabetical order. Looked for
    /// in the folder `TESSDATA_PREFIX` of the environment, or in the one that Tesseract was built with.
    pub fn available_languages(&self) -> Vec<String> {
        let mut languages = reading::available_languages(&self.functions);
        languages.retain(|name| is_language(name));
        languages.sort();
        languages.dedup();
        languages
    }

    /// Loads the trained data for these languages, and whatever else it takes to read. Afterwards no file is opened any
    /// more. The first language counts most, and each one makes reading slower.
    ///
    /// # Errors
    /// Any [`ReaderError`].
    pub fn reader(&self, languages: &[impl AsRef<str>]) -> Result<TextReader<'_>, ReaderError> {
        let languages: Vec<&str> = languages.iter().map(AsRef::as_ref).collect();
        if languages.is_empty() {
            return Err(ReaderError::NoLanguage);
        }
        let available = self.available_languages();
        let missing = languages.iter().find(|language| !available.iter().any(|name| name == *language));
        match missing {
            Some(language) => Err(ReaderError::Missing { language: (*language).to_owned() }),
            None => TextReader::new(&self.functions, &languages),
        }
    }
}

impl fmt::Debug for Tesseract {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Library").field("version", &self.version).finish_non_exhaustive()
    }
}

/// Whether that is the name of a language, and no other thing that stands among them.
fn is_language(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '/');
    (1..=MAX_NAME_BYTES).contains(&name.len())
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(plain)
        && !NO_LANGUAGES.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_their_text() {
        let check = |text, expect: &str| assert_eq!(Version::parse(text).to_string(), expect, "{text}");
        check("5.3.0", "5.3.0");
        check("4.1.1-rc2-25-g9707", "4.1.1");
        check("5", "5.0.0");
        check("v5.x.99999999999", "0.0.0");
        check("", "0.0.0");
        assert!(Version::parse("4.0.0") >= OLDEST && Version::parse("3.05.02") < OLDEST);
    }

    #[test]
    fn names_of_languages_are_told_from_others() {
        let check = |name: &str, expect| assert_eq!(is_language(name), expect, "{name}");
        for name in ["eng", "chi_sim", "script/Latin", "best-deu"] {
            check(name, true);
        }
        for name in ["", "osd", "equ", "../eng", "/etc/eng", "eng+deu", "~deu", "e\0", &"a".repeat(65)] {
            check(name, false);
        }
    }
}
