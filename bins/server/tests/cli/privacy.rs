//! Files and folders are accessible only to the user who runs the server.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use rustix::process::Signal;

use crate::program::{EMAIL, Instance};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// All files and folders in a data folder and in its folder `blobs`.
fn entries_of(folder: &Path) -> Vec<PathBuf> {
    let entries = |folder: &Path| -> Vec<PathBuf> {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
    };
    let mut paths = entries(folder);
    paths.extend(entries(&folder.join("blobs")));
    paths
}

#[test]
fn created_files_are_private() {
    for first in ["serve", "account"] {
        let instance = Instance::without_folder();
        if first == "account" {
            fs::create_dir(instance.data_dir()).unwrap();
            instance.ok(["account", "create", EMAIL]);
        }
        let server = instance.serve();
        let paths = entries_of(&instance.data_dir());
        assert!(paths.len() >= 8, "{paths:?}");
        for path in paths {
            let expect = if path.is_dir() { 0o700 } else { 0o600 };
            assert_eq!(mode(&path), expect, "{}", path.display());
        }
        if first == "serve" {
            assert_eq!(mode(&instance.data_dir()), 0o700);
        }
        drop(server);
    }
}

/// A folder with everything in it.
fn all_below(folder: &Path) -> Vec<PathBuf> {
    let mut paths = vec![folder.to_owned()];
    let mut next = 0;
    while let Some(path) = paths.get(next).cloned() {
        next += 1;
        if path.is_dir() {
            paths.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    paths
}

#[test]
fn everything_in_library_backup_and_export_is_private() {
    let instance = Instance::without_folder();
    let run = |arguments: &str| {
        // The file mode creation mask that most users have.
        let mut command = std::process::Command::new("sh");
        let line = format!("umask 022; exec \"$0\" {arguments} --data-dir \"$1\"");
        command.args(["-c", &line, env!("CARGO_BIN_EXE_server")]).arg(instance.data_dir());
        let outcome = crate::program::outcome(command.env("PHOTOS_OCR_LANGUAGES", "off"), "");
        assert_eq!(outcome.code, Some(0), "{arguments}: {outcome:?}");
    };
    let at = |name: &str| instance.beside(name).display().to_string();
    crate::photos::generate(&instance.beside("photos"), 3);
    drop(instance.serve());
    run(&format!("account create {EMAIL}"));
    run(&format!("import {EMAIL} {}", at("photos")));
    run(&format!("backup {}", at("backup")));
    run(&format!("export {EMAIL} {}", at("export")));
    let folders = [instance.data_dir(), instance.beside("backup"), instance.beside("export")];
    let paths: Vec<PathBuf> = folders.iter().flat_map(|folder| all_below(folder)).collect();
    assert!(paths.iter().filter(|path| path.is_file()).count() > 20, "{paths:?}");
    for path in paths {
        let expect = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode(&path), expect, "{}", path.display());
    }
}

#[test]
fn a_configuration_with_a_password_that_others_can_read_gets_a_warning() {
    let instance = Instance::new();
    let file = instance.beside("photos.toml");
    for (line, file_mode, warns) in [
        ("database-url = 'postgres://u:hunter2@127.0.0.1:1/d'", 0o644, true),
        ("database-url = 'postgres://u:hunter2@127.0.0.1:1/d'", 0o600, false),
        ("database-url = 'postgres://u@127.0.0.1:1/d'", 0o644, false),
        ("free-window = 5", 0o644, false),
    ] {
        fs::write(&file, line).unwrap();
        set_mode(&file, file_mode);
        let stdout = instance.run(["doctor", "--config", file.to_str().unwrap()]).stdout;
        let advice = format!("warn  secrets: {} has mode {file_mode:04o}", file.display());
        assert_eq!(stdout.contains(&advice), warns, "{line}: {stdout}");
        assert!(!stdout.contains("hunter2"), "{stdout}");
    }
}

#[test]
fn open_modes_are_corrected_at_the_next_start() {
    let instance = Instance::with_account();
    drop(instance.serve());
    let data = instance.data_dir();
    let checked: Vec<PathBuf> = ["blobs", "blobs/originals", "blobs/.lock", "library.sqlite", "secret"]
        .map(|name| data.join(name))
        .to_vec();
    for path in &checked {
        // Some of the files are created on demand only.
        if !path.exists() {
            fs::write(path, "").unwrap();
        }
        set_mode(path, if path.is_dir() { 0o755 } else { 0o644 });
    }
    let (_, _, _, stderr) = instance.serve().stop(Signal::TERM);
    for path in &checked {
        assert_eq!(mode(path) & 0o077, 0, "{}", path.display());
    }
    for name in ["blobs", "library.sqlite", "/secret", "signing-key rotate --lost-secret"] {
        assert!(stderr.contains(name), "{name} is missing in the log: {stderr}");
    }
}
