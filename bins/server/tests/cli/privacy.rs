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
