//! Where the programs of Postgres are.

use std::fs;
use std::path::{Path, PathBuf};

use super::find_program;

/// Folders with one folder for each major version, which has the programs in `bin`: Debian's, and Homebrew's on macOS.
const VERSIONED: [(&str, &str); 3] =
    [("/usr/lib/postgresql", ""), ("/opt/homebrew/opt", "postgresql@"), ("/usr/local/opt", "postgresql@")];

/// The folder with `initdb` and `postgres`: of the newest installed version, otherwise on the path.
pub(crate) fn programs() -> Option<PathBuf> {
    let versioned = VERSIONED.iter().find_map(|(folder, prefix)| newest(Path::new(folder), prefix));
    versioned.or_else(|| {
        // A link on the path leads to a folder with all programs.
        let program = find_program("initdb")?.canonicalize().ok()?;
        program.parent().map(Path::to_owned)
    })
}

/// The folder of programs in the folder `{prefix}{version}` with the highest version.
fn newest(folder: &Path, prefix: &str) -> Option<PathBuf> {
    let installed = fs::read_dir(folder).ok()?.flatten().filter_map(|entry| {
        let version: u32 = entry.file_name().to_str()?.strip_prefix(prefix)?.parse().ok()?;
        let programs = entry.path().join("bin");
        programs.join("initdb").is_file().then_some((version, programs))
    });
    installed.max().map(|(_, programs)| programs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_complete_version_is_chosen() {
        let dir = tempfile::tempdir().unwrap();
        for version in ["9", "15", "17", "old"] {
            let programs = dir.path().join(version).join("bin");
            fs::create_dir_all(&programs).unwrap();
            if version != "17" {
                fs::write(programs.join("initdb"), "").unwrap();
            }
        }
        assert_eq!(newest(dir.path(), ""), Some(dir.path().join("15/bin")));
        assert_eq!(newest(dir.path(), "postgresql@"), None);
        assert_eq!(newest(&dir.path().join("none"), ""), None);
    }
}
