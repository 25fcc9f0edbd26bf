use std::{path::Path, process::Command};

use crate::program::{EMAIL, Instance, Outcome, Server, outcome, program};

/// A working folder with one data folder per source of settings, each with an account of that name.
struct Folder(Instance);

impl Folder {
    fn new() -> Self {
        let folder = Self(Instance::without_folder());
        for source in ["flag", "environment", "file", "data"] {
            std::fs::create_dir(folder.path().join(source)).unwrap();
            let email = format!("{source}@example.org");
            let created = folder.command(["account", "create", &email, "--data-dir", source]);
            assert_eq!(outcome(&mut { created }, "").code, Some(0));
        }
        std::fs::write(folder.path().join("photos.toml"), "data-dir = 'file'\nlisten = '127.0.0.1:1'\n")
            .unwrap();
        folder
    }

    fn path(&self) -> std::path::PathBuf {
        self.0.beside("")
    }

    fn command<const N: usize>(&self, arguments: [&str; N]) -> Command {
        let mut command = program();
        command.args(arguments).current_dir(self.path());
        command
    }
}

#[test]
fn flags_override_environment_overrides_file_overrides_defaults() {
    let folder = Folder::new();
    let accounts = |mut command: Command| {
        let listed = outcome(command.args(["account", "list"]), "");
        assert_eq!(listed.code, Some(0), "{listed:?}");
        listed.stdout.lines().nth(1).unwrap().split('@').next().unwrap().to_owned()
    };
    assert_eq!(accounts(folder.command([])), "data");
    assert_eq!(accounts(folder.command(["--config", "photos.toml"])), "file");

    let mut by_variable = folder.command([]);
    by_variable.env("PHOTOS_CONFIG", "photos.toml");
    assert_eq!(accounts(by_variable), "file");

    let mut environment = folder.command(["--config", "photos.toml"]);
    environment.env("PHOTOS_DATA_DIR", "environment");
    assert_eq!(accounts(environment), "environment");

    let mut flag = folder.command(["--config", "photos.toml", "--data-dir", "flag"]);
    flag.env("PHOTOS_DATA_DIR", "environment");
    assert_eq!(accounts(flag), "flag");
}

#[test]
fn serve_reads_settings_from_the_same_sources() {
    let folder = Folder::new();
    let mut command = folder.command(["serve", "--config", "photos.toml"]);
    let server = Server::start(command.env("PHOTOS_LISTEN", "127.0.0.2:0"));
    assert!(server.address.starts_with("127.0.0.2:"), "{}", server.address);
    let mut command = folder.command(["serve", "--config", "photos.toml", "--listen", "127.0.0.3:0"]);
    let server = Server::start(command.env("PHOTOS_LISTEN", "127.0.0.2:0"));
    assert!(server.address.starts_with("127.0.0.3:"), "{}", server.address);
}

#[test]
fn invalid_settings_are_wrong_usage_and_not_quoted() {
    let folder = Folder::new();
    let check = |outcome: Outcome, expect: &str| {
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{outcome:?}");
        assert!(outcome.stderr.contains(expect) && !outcome.stderr.contains("hunter2"), "{outcome:?}");
    };
    let run = |arguments: &[&str]| outcome(folder.command([]).args(arguments), "");
    let list = ["account", "list"];
    check(run(&[&list[..], &["--database-url", "postgres://u:hunter2@h"]].concat()), "names no database");
    check(run(&[&list[..], &["--blob-url", "s3://k:hunter2@b/p"]].concat()), "must be s3://BUCKET");
    check(run(&[&list[..], &["--free-window", "many"]].concat()), "must be a positive whole number");
    check(run(&["serve", "--base-url", "photos"]), "base-url: the base URL must be");
    check(run(&["serve", "--trusted-proxy", "10.0.0.0/99"]), "must be a network");
    check(run(&["account", "list", "--config", "absent.toml"]), "absent.toml cannot be read");

    let with = |name: &str, value: &str| outcome(folder.command(list).env(name, value), "");
    check(with("PHOTOS_SECRET", "hunter2"), "at least 32 characters");
    check(with("PHOTOS_MAX_PIXELS", "0"), "PHOTOS_MAX_PIXELS: must be a positive whole number");
    check(with("RUST_LOG", "=hunter2="), "RUST_LOG: ");

    let file = |text: &str| {
        std::fs::write(folder.path().join("bad.toml"), text).unwrap();
        run(&["account", "list", "--config", "bad.toml"])
    };
    check(file("data-dir = 'x'\nlisten-on = 'hunter2'\n"), "bad.toml: unknown setting: listen_on");
    check(file("database-url = \"postgres://u:hunter2"), "bad.toml, line 1: ");
    check(file("free-window = 'many'\n"), "bad.toml: free_window: ");
    assert!(!folder.path().join("x").exists());
}

#[test]
fn stores_can_be_outside_the_data_folder() {
    let instance = Instance::without_folder();
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let database = format!("sqlite:{}", text(&instance.beside("fast.sqlite")));
    let blobs = format!("file:{}", text(&instance.beside("big")));
    instance.ok(["account", "create", EMAIL, "--database-url", &database, "--blob-url", &blobs]);
    assert!(instance.beside("fast.sqlite").is_file() && instance.beside("big").is_dir());
    assert!(!instance.data_dir().exists());
}
