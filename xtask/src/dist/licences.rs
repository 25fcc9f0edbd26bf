//! The licence texts of all packages in the server, which must be distributed with it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::packages::Package;

/// First words of the names of files with a licence or with notes that must accompany it.
const NAMES: [&str; 7] = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE", "COPYRIGHT", "README.IJG"];
/// Extensions of source files, such as `license.rs`.
const NOT_TEXT: [&str; 6] = ["rs", "c", "h", "py", "pl", "toml"];
/// Sources of C libraries are in folders of their packages.
const DEPTH: u32 = 3;
const LINE: &str = "================================================================================";

/// Why the licences cannot be collected.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LicencesError {
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{name} {version} declares no licence and has no file with one")]
    None { name: String, version: String },
}

/// All licence texts, each once, with the packages that have it. `data` is the attribution of bundled data.
pub(super) fn of(packages: &[Package], data: &str) -> Result<String, LicencesError> {
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut declared = String::new();
    let mut list = String::new();
    for package in packages.iter().filter(|package| package.source.is_some()) {
        let title = format!("{} {}", package.name, package.version);
        let _ = writeln!(list, "{title}: {}", package.license_expression());
        let files = files(&package.folder(), DEPTH)?;
        if files.is_empty() {
            declare(&mut declared, package, &title)?;
        }
        for file in files {
            let text = read(&file)?;
            let name = file.strip_prefix(package.folder()).unwrap_or(&file).display().to_string();
            texts.entry(text.trim().to_owned()).or_default().push(format!("{title} ({name})"));
        }
    }

    let mut output = format!(
        "The photo library contains the packages below. Each is listed with its licence. The texts of the licences follow.\n\n{list}"
    );
    if !declared.is_empty() {
        let _ = write!(
            output,
            "\n{LINE}\nThese packages declare a licence and contain no text of it. The texts of other packages with the same licence \
             apply.\n\n{declared}"
        );
    }
    let mut texts: Vec<_> = texts.into_iter().map(|(text, owners)| (owners, text)).collect();
    texts.sort();
    for (owners, text) in texts {
        let _ = write!(output, "\n{LINE}\n{}\n\n{text}\n", owners.join("\n"));
    }
    let _ = write!(output, "\n{LINE}\n{data}");
    Ok(output)
}

fn declare(declared: &mut String, package: &Package, title: &str) -> Result<(), LicencesError> {
    let Some(license) = &package.license else {
        return Err(LicencesError::None { name: package.name.clone(), version: package.version.clone() });
    };
    let authors =
        if package.authors.is_empty() { "its authors".to_owned() } else { package.authors.join(", ") };
    let _ = writeln!(declared, "{title}: {license}, by {authors}");
    Ok(())
}

/// The files with licences in a folder and the folders below it, sorted.
fn files(folder: &Path, depth: u32) -> Result<Vec<PathBuf>, LicencesError> {
    let failed = |source| LicencesError::Read { path: folder.to_owned(), source };
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(failed)?);
        if kind.is_dir() && depth > 0 {
            found.extend(files(&path, depth - 1)?);
        } else if kind.is_file() && is_licence(&path) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn is_licence(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_uppercase();
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    NAMES.iter().any(|first| name.starts_with(first)) && !NOT_TEXT.contains(&extension.as_str())
}

/// Old licence files are not always UTF-8.
fn read(file: &Path) -> Result<String, LicencesError> {
    let bytes = fs::read(file).map_err(|source| LicencesError::Read { path: file.to_owned(), source })?;
    Ok(String::from_utf8_lossy(&bytes).replace("\r\n", "\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::packages::tests::package;

    #[test]
    fn each_text_is_printed_once() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let file = dir.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        write("a/LICENSE-MIT", "Permission is granted.\r\n");
        write("b/license.md", "Permission is granted.\n");
        write("b/src/licence.rs", "fn no_licence() {}");
        write("b/vendor/c/COPYING", "Text of a C library.");
        write("c/src/lib.rs", "");
        let packages = ["a", "b", "c"].map(|name| package(name, "MIT", &dir.path().join(name)));
        let text = of(&packages, "Attribution of data.").unwrap();

        assert_eq!(text.matches("Permission is granted.").count(), 1, "{text}");
        assert!(text.contains("a 1.2.3 (LICENSE-MIT)\nb 1.2.3 (license.md)\n\nPermission"), "{text}");
        assert!(text.contains("b 1.2.3 (vendor/c/COPYING)\n\nText of a C library."), "{text}");
        assert!(text.contains("c 1.2.3: MIT, by Ann <ann@example.org>"), "{text}");
        assert!(!text.contains("no_licence"), "{text}");
        assert!(text.ends_with("Attribution of data."), "{text}");
    }

    #[test]
    fn a_package_without_any_licence_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let mut bare = package("bare", "MIT", dir.path());
        bare.license = None;
        let error = of(&[bare], "").unwrap_err();
        assert_eq!(error.to_string(), "bare 1.2.3 declares no licence and has no file with one");
    }
}
