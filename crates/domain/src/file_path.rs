use std::fmt;

use crate::Invalid;

/// Maximum length of a name in bytes, the limit of most file systems.
const MAX_NAME_BYTES: usize = 255;

/// The name of a synced file or folder: 1 to 255 bytes, without `/` and control characters, not `.` or `..`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileName(String);

impl FileName {
    /// Checks a name. The caller normalises it to Unicode form NFC first, because macOS sends decomposed names.
    ///
    /// # Errors
    /// [`Invalid`] naming `path`.
    pub fn parse(name: &str) -> Result<Self, Invalid> {
        let is_valid = (1..=MAX_NAME_BYTES).contains(&name.len())
            && !matches!(name, "." | "..")
            && !name.chars().any(|c| c == '/' || c.is_control());
        if is_valid {
            Ok(Self(name.to_owned()))
        } else {
            Err(Invalid::new(
                "path",
                "a name must have 1 to 255 bytes, without slashes and control characters, and not be . or ..",
            ))
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The path of a synced file or folder: up to 64 names from the root folder of the account, which has the empty path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct FilePath(Vec<FileName>);

impl FilePath {
    pub const ROOT: Self = Self(Vec::new());

    /// Maximum number of names.
    pub const MAX_DEPTH: usize = 64;

    /// A path with these names.
    ///
    /// # Errors
    /// [`Invalid`] naming `path`: there are more than 64 names.
    pub fn new(names: Vec<FileName>) -> Result<Self, Invalid> {
        if names.len() > Self::MAX_DEPTH {
            return Err(Invalid::new("path", "must have at most 64 levels"));
        }
        Ok(Self(names))
    }

    /// Parses names separated by `/`. Empty names are ignored, so a slash at either end has no meaning.
    ///
    /// # Errors
    /// [`Invalid`] naming `path`.
    pub fn parse(path: &str) -> Result<Self, Invalid> {
        let names = path.split('/').filter(|name| !name.is_empty()).map(FileName::parse);
        Self::new(names.collect::<Result<_, _>>()?)
    }

    /// The names, from the root.
    pub fn names(&self) -> &[FileName] {
        &self.0
    }

    /// The last name; `None` for the root.
    pub fn name(&self) -> Option<&FileName> {
        self.0.last()
    }

    /// The folder that contains this path; `None` for the root.
    pub fn parent(&self) -> Option<Self> {
        self.0.split_last().map(|(_, parent)| Self(parent.to_vec()))
    }

    /// Whether this path is `other` or below it.
    pub fn starts_with(&self, other: &Self) -> bool {
        self.0.starts_with(&other.0)
    }
}

impl fmt::Display for FilePath {
    /// The names, each with a slash before it; `/` for the root.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("/");
        }
        self.0.iter().try_for_each(|name| write!(f, "/{name}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked() {
        for good in ["a", "IMG 1.jpg", "ä", "...", "a\\b", &"x".repeat(255)] {
            assert!(FileName::parse(good).is_ok(), "{good:?}");
        }
        for bad in ["", ".", "..", "a/b", "a\0", "a\nb", "\u{7f}", &"x".repeat(256)] {
            assert!(FileName::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn paths_are_parsed_from_the_root() {
        let check = |path: &str, expect: &str| assert_eq!(FilePath::parse(path).unwrap().to_string(), expect);
        check("", "/");
        check("/", "/");
        check("a//b/", "/a/b");
        assert!(FilePath::parse("a/../b").is_err());
        assert!(FilePath::parse(&"a/".repeat(64)).is_ok());
        assert!(FilePath::parse(&"a/".repeat(65)).is_err());
    }

    #[test]
    fn a_path_knows_its_parent_and_its_ancestors() {
        let path = FilePath::parse("a/b").unwrap();
        assert_eq!(path.parent(), Some(FilePath::parse("a").unwrap()));
        assert_eq!(FilePath::ROOT.parent(), None);
        assert!(path.starts_with(&FilePath::ROOT) && path.starts_with(&path));
        assert!(!FilePath::parse("ab").unwrap().starts_with(&FilePath::parse("a").unwrap()));
    }
}
