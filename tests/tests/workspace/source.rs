//! Checks lints and file lengths.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The longest allowed Rust file, in lines.
const MAX_LINES: usize = 600;

fn manifest(path: &Path) -> toml::Table {
    fs::read_to_string(path).unwrap().parse().unwrap()
}

/// The crates that may contain unsafe code, because they call C libraries: bindings to libheif, libwebp and Tesseract, and the
/// loader of system libraries.
const UNSAFE: [&str; 4] = ["heif", "system-library", "tesseract", "webp-encoder"];

fn may_be_unsafe(package: &serde_json::Value) -> bool {
    package["name"].as_str().is_some_and(|name| UNSAFE.contains(&name))
}

#[test]
fn unsafe_code_is_forbidden_in_all_other_crates() {
    let workspace = manifest(&super::root().join("Cargo.toml"));
    assert_eq!(workspace["workspace"]["lints"]["rust"]["unsafe_code"].as_str(), Some("forbid"));
    for package in super::packages().iter().filter(|package| !may_be_unsafe(package)) {
        let path = package["manifest_path"].as_str().unwrap();
        let lints =
            manifest(Path::new(path)).get("lints").and_then(|lints| lints.get("workspace")?.as_bool());
        assert_eq!(lints, Some(true), "{path} must say `[lints] workspace = true`");
    }
}

#[test]
fn crates_with_unsafe_code_have_all_other_lints_and_more() {
    let root = super::root();
    let workspace = manifest(&root.join("Cargo.toml"))["workspace"]["lints"].clone();
    for name in UNSAFE {
        let own = manifest(&root.join("crates").join(name).join("Cargo.toml"))["lints"].clone();
        for (tool, lints) in workspace.as_table().unwrap() {
            for (lint, level) in lints.as_table().unwrap().iter().filter(|(lint, _)| *lint != "unsafe_code") {
                assert_eq!(own[tool].get(lint), Some(level), "{name}: {tool}::{lint}");
            }
        }
        assert_eq!(own["rust"]["unsafe_op_in_unsafe_fn"].as_str(), Some("deny"), "{name}");
        assert_eq!(own["clippy"]["undocumented_unsafe_blocks"].as_str(), Some("deny"), "{name}");
    }
}

#[test]
fn no_file_is_too_long() {
    let mut files = Vec::new();
    for folder in ["crates", "bins", "xtask", "tests"] {
        rust_files(&super::root().join(folder), &mut files);
    }
    assert!(files.len() > 100, "all crates are searched");
    for file in files {
        let lines = fs::read_to_string(&file).unwrap().lines().count();
        assert!(lines <= MAX_LINES, "{} has {lines} lines, more than {MAX_LINES}", file.display());
    }
}

fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}
