//! Searches for the library of ONNX Runtime.

use std::path::{Path, PathBuf};

/// Folders of system libraries and of manual installations.
const SYSTEM: [&str; 9] = [
    "/usr/local/lib",
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib64",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/opt/onnxruntime/lib",
    "/opt/homebrew/lib",
    "/opt/homebrew/opt/onnxruntime/lib",
];

/// Folders with a folder per version of Python.
const PYTHON: [&str; 3] = ["/usr/local/lib", "/usr/lib", "/opt/onnxruntime/lib"];

/// The installed libraries: by folder, the newest first.
pub(super) fn candidates() -> Vec<PathBuf> {
    let system = SYSTEM.iter().map(PathBuf::from);
    let python = PYTHON.iter().flat_map(|folder| {
        entries(Path::new(folder)).into_iter().filter(|path| name(path).starts_with("python3")).flat_map(
            |path| {
                ["site-packages", "dist-packages"]
                    .map(|packages| path.join(packages).join("onnxruntime/capi"))
            },
        )
    });
    system.chain(python).flat_map(|folder| libraries(&folder)).collect()
}

/// The libraries in a folder, newest version first.
fn libraries(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<_> = entries(folder).into_iter().filter(|path| is_library(&name(path))).collect();
    found.sort_by_key(|path| std::cmp::Reverse(version(&name(path))));
    found
}

/// Accepts `libonnxruntime.so`, `libonnxruntime.so.1.23.0` and `libonnxruntime.1.23.0.dylib`, not the libraries of providers.
fn is_library(name: &str) -> bool {
    let rest = name.strip_prefix("libonnxruntime.").unwrap_or_default();
    let number = |part: &str| part.chars().all(|c| c.is_ascii_digit() || c == '.');
    rest.strip_prefix("so").is_some_and(number) || rest.strip_suffix("dylib").is_some_and(number)
}

/// The numbers in a library's name, for sorting: 1.9 is older than 1.10.
fn version(name: &str) -> Vec<u32> {
    name.split('.').filter_map(|part| part.parse().ok()).collect()
}

fn name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The entries of a folder, sorted; nothing if it cannot be read.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_recognized_by_name() {
        for name in [
            "libonnxruntime.so",
            "libonnxruntime.so.1",
            "libonnxruntime.so.1.23.0",
            "libonnxruntime.1.23.0.dylib",
        ] {
            assert!(is_library(name), "{name}");
        }
        for name in [
            "libonnxruntime_providers_shared.so",
            "libonnxruntime.so.old",
            "libonnxruntime.a",
            "onnxruntime.so",
        ] {
            assert!(!is_library(name), "{name}");
        }
    }

    #[test]
    fn newest_library_comes_first() {
        let folder = tempfile::tempdir().unwrap();
        for name in
            ["libonnxruntime.so.1.9.0", "libonnxruntime.so.1.23.2", "libonnxruntime.so.1.10.1", "other.so"]
        {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let names: Vec<_> = libraries(folder.path()).iter().map(|path| name(path)).collect();
        assert_eq!(
            names,
            ["libonnxruntime.so.1.23.2", "libonnxruntime.so.1.10.1", "libonnxruntime.so.1.9.0"]
        );
        assert!(libraries(Path::new("/nowhere")).is_empty());
    }
}
