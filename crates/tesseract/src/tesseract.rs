//! Loads Tesseract and its trained data.

use std::fmt;
use std::sync::OnceLock;

use crate::functions::{Functions, NAME};
use crate::{LoadError, ReaderError, TextReader, Version, reader};

/// The oldest supported release.
const OLDEST: Version = Version { major: 4, minor: 0, patch: 0 };

/// The longest accepted language name, in bytes.
const MAX_NAME_BYTES: usize = 64;

/// Trained data for other purposes than languages: orientation and script detection, and formulas.
const NON_LANGUAGES: [&str; 2] = ["osd", "equ"];

pub struct Tesseract {
    pub(crate) functions: Functions,
    version: Version,
}

impl Tesseract {
    /// Opens the library on the first call in this process. That call must come before a sandbox closes the file system.
    ///
    /// # Errors
    /// [`LoadError`]; every later call returns the same one.
    pub fn load() -> Result<&'static Self, &'static LoadError> {
        static LIBRARY: OnceLock<Result<Tesseract, LoadError>> = OnceLock::new();
        LIBRARY.get_or_init(Self::open).as_ref()
    }

    fn open() -> Result<Self, LoadError> {
        let functions = Functions::load()?;
        let version = parse_version(&reader::version(&functions));
        if version < OLDEST {
            return Err(LoadError::TooOld { library: NAME, found: version, oldest: OLDEST });
        }
        Ok(Self { functions, version })
    }

    pub fn version(&self) -> Version {
        self.version
    }

    /// The languages with installed trained data, by name (`eng`, `deu`, `chi_sim`), in alphabetical order. Tesseract looks in the
    /// folder that the environment variable `TESSDATA_PREFIX` names, else in its built-in folder.
    pub fn available_languages(&self) -> Vec<String> {
        let mut languages = reader::available_languages(&self.functions);
        languages.retain(|name| is_language(name));
        languages.sort();
        languages.dedup();
        languages
    }

    /// Loads the trained data for these languages. Reading opens no files afterwards. The first language has priority, and
    /// each one makes reading slower.
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
        formatter.debug_struct("Tesseract").field("version", &self.version).finish_non_exhaustive()
    }
}

/// Parses `5.3.0`, or `5.0.0-rc1-14-gab1c2d` without its suffix. A part without digits is 0.
fn parse_version(text: &str) -> Version {
    let mut numbers = text.split('.').map(|part| {
        let end = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        part.get(..end).and_then(|digits| digits.parse().ok()).unwrap_or(0)
    });
    let mut next = || numbers.next().unwrap_or(0);
    Version { major: next(), minor: next(), patch: next() }
}

/// Whether this is the name of a language, and not of other trained data or a path.
fn is_language(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '/');
    (1..=MAX_NAME_BYTES).contains(&name.len())
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(plain)
        && !NON_LANGUAGES.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_text_is_parsed() {
        let check = |text, expect: &str| assert_eq!(parse_version(text).to_string(), expect, "{text}");
        check("5.3.0", "5.3.0");
        check("4.1.1-rc2-25-g9707", "4.1.1");
        check("5", "5.0.0");
        check("v5.x.99999999999", "0.0.0");
        check("", "0.0.0");
        assert!(parse_version("4.0.0") >= OLDEST && parse_version("3.05.02") < OLDEST);
    }

    #[test]
    fn only_language_names_are_accepted() {
        let check = |name: &str, expect| assert_eq!(is_language(name), expect, "{name}");
        for name in ["eng", "chi_sim", "script/Latin", "best-deu"] {
            check(name, true);
        }
        for name in ["", "osd", "equ", "../eng", "/etc/eng", "eng+deu", "~deu", "e\0", &"a".repeat(65)] {
            check(name, false);
        }
    }
}
