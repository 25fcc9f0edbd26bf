use std::{collections::BTreeSet, ffi::OsString, fmt::Display, path::Path, str::FromStr};

use blobs::{S3Credentials, S3Options};
use clap::{CommandFactory as _, Parser as _};
use proptest::prelude::*;
use serde::de::DeserializeOwned;

use super::{source::variable, *};
use crate::cli::{Cli, Command, LibraryCommand};

fn environment(variables: &[(&str, &str)]) -> Environment {
    let variables = variables.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
    Environment::new(variables).unwrap()
}

fn flags(arguments: &[&str]) -> Layer {
    let cli = Cli::try_parse_from([&["server", "serve"], arguments].concat()).unwrap();
    assert!(
        matches!(&cli.command, Command::Library(command) if matches!(**command, LibraryCommand::Serve(_)))
    );
    cli.layer()
}

/// The configuration of these `serve` flags.
pub(crate) fn config_from_flags(arguments: &[&str]) -> Config {
    Config::resolve(flags(arguments), &Environment::default(), None).unwrap()
}

fn resolve(arguments: &[&str], variables: &[(&str, &str)], file: &str) -> Result<Config, String> {
    Config::resolve(flags(arguments), &environment(variables), Some((Path::new("photos.toml"), file)))
        .map_err(|error| error.to_string())
}

#[test]
fn flags_override_environment_overrides_file_overrides_defaults() {
    let (flag, variable, file) = (&["--free-window", "1"], &[("PHOTOS_FREE_WINDOW", "2")], "free-window = 3");
    let window = |flags: &[&str], variables: &[(&str, &str)], file| {
        resolve(flags, variables, file).unwrap().library.free_window
    };
    assert_eq!(window(flag, variable, file), 1);
    assert_eq!(window(&[], variable, file), 2);
    assert_eq!(window(&[], &[("PHOTOS_FREE_WINDOW", "")], file), 3);
    assert_eq!(window(&[], &[], file), 3);
    assert_eq!(window(&[], &[], "free_window = 3"), 3);
    assert_eq!(window(&[], &[], ""), 1000);
}

#[test]
fn defaults_match_the_manual() {
    let config = resolve(&[], &[], "").unwrap();
    assert_eq!(config.data_dir, Path::new("./data"));
    assert_eq!(config.database.file(), Some(Path::new("./data/library.sqlite")));
    assert_eq!(config.blobs, BlobLocation::Folder("./data/blobs".into()));
    assert!(matches!(&config.secret, SecretSource::File(path) if path == Path::new("./data/secret")));
    assert_eq!(config.library.limits.max_upload_bytes, 200_000_000);
    assert_eq!(config.library.limits.account_quota_bytes, None);
    assert_eq!(config.library.indexer.max_pixels, 200_000_000);
    assert_eq!(config.library.indexer.decode_memory_bytes, 300 << 20);
    assert_eq!(config.base_url(&config.listen).unwrap().as_str(), "http://127.0.0.1:8080");
    assert_eq!(config.hsts_max_age_s, None);
    assert!(config.trusted_proxies.is_empty());
    assert_eq!(config.log_format, LogFormat::Text);
    assert_eq!(config.client_documents, Switch::On);
    assert_eq!((config.links, config.openai_challenge), (ServiceLinks::default(), None));
    assert_eq!(config.models, Path::new("./data/models"));
    assert_eq!(config.model_source, "https://huggingface.co");
    assert_eq!(config.vision.library, None);
}

#[test]
fn ort_dylib_path_is_used_last() {
    let library = |variables: &[(&str, &str)]| resolve(&[], variables, "").unwrap().vision.library;
    let (theirs, ours) = (("ORT_DYLIB_PATH", "/their.so"), ("PHOTOS_ONNX_RUNTIME", "/our.so"));
    assert_eq!(library(&[theirs]).as_deref(), Some(Path::new("/their.so")));
    assert_eq!(library(&[theirs, ours]).as_deref(), Some(Path::new("/our.so")));
}

#[test]
fn every_setting_can_be_in_the_file() {
    let file = r#"
        data-dir = "/srv/photos"
        secret-file = "/etc/photos/secret"
        database-url = "sqlite:/fast/library.sqlite"
        blob-url = "file:/big/blobs"
        free-window = 5
        max-upload-bytes = 6
        account-quota-bytes = 23
        max-pixels = 7
        decode-workers = 8
        ocr-languages = "deu+eng"
        decode-memory-mb = 9
        models-dir = "/srv/models"
        model-source = "https://mirror.example.org"
        onnx-runtime = "/opt/libonnxruntime.so"
        listen = "[::]:80"
        base-url = "https://photos.example.org/"
        hsts-max-age = 0
        trusted-proxy = ["10.0.0.0/8", "::1"]
        log-format = "json"
        client-documents = "off"
        policy-url = "https://photos.example.org/privacy"
        terms-url = "https://photos.example.org/terms"
        support-url = "https://photos.example.org/help"
        openai-apps-challenge = "token"
    "#;
    let config = resolve(&[], &[], file).unwrap();
    assert_eq!(config.data_dir, Path::new("/srv/photos"));
    assert!(matches!(&config.secret, SecretSource::File(path) if path == Path::new("/etc/photos/secret")));
    assert_eq!(config.database.file(), Some(Path::new("/fast/library.sqlite")));
    assert_eq!(config.blobs, BlobLocation::Folder("/big/blobs".into()));
    let library = &config.library;
    assert_eq!((library.free_window, library.limits.max_upload_bytes, library.indexer.max_pixels), (5, 6, 7));
    assert_eq!(library.limits.account_quota_bytes, Some(23));
    assert_eq!((library.indexer.decode_workers, library.indexer.decode_memory_bytes), (8, 9 << 20));
    assert_eq!(library.indexer.ocr_languages.to_string(), "deu+eng");
    let reader = library.indexer.ocr_worker.clone().unwrap();
    assert_eq!(reader.args, ["decode-photos", "--read-text=deu+eng"]);
    assert_eq!(config.models, Path::new("/srv/models"));
    assert_eq!(config.model_source, "https://mirror.example.org");
    assert_eq!(config.vision.library.as_deref(), Some(Path::new("/opt/libonnxruntime.so")));
    assert_eq!(config.listen.to_string(), "[::]:80");
    assert_eq!(config.base_url(&config.listen).unwrap().as_str(), "https://photos.example.org");
    assert_eq!(config.hsts_max_age_s, Some(0));
    assert_eq!(config.trusted_proxies, ["10.0.0.0/8".parse().unwrap(), "::1/128".parse().unwrap()]);
    assert_eq!(config.log_format, LogFormat::Json);
    assert_eq!(config.client_documents, Switch::Off);
    let links: Vec<_> = config.links.iter().map(|(_, url)| url.to_owned()).collect();
    let pages = ["privacy", "terms", "help"].map(|page| format!("https://photos.example.org/{page}"));
    assert_eq!(links, pages);
    assert_eq!(config.openai_challenge.as_deref(), Some("token"));
}

fn bucket(variables: &[(&str, &str)], file: &str) -> Result<S3Options, String> {
    match resolve(&[], variables, file)?.blobs {
        BlobLocation::S3 { options, folder } => {
            assert_eq!(folder, Path::new("./data/blobs"));
            Ok(*options)
        }
        BlobLocation::Folder(folder) => panic!("{folder:?}"),
    }
}

#[test]
fn a_bucket_is_described_by_settings_or_by_the_variables_of_aws() {
    let file = "blob-url = 's3://photos/a'
        s3-endpoint = 'https://s3.example.org'
        s3-region = 'garage'
        s3-path-style = 'off'";
    let theirs = [
        ("AWS_ENDPOINT_URL", "https://other.example.org"),
        ("AWS_ENDPOINT_URL_S3", "http://localhost:3900"),
        ("AWS_DEFAULT_REGION", "eu-west-1"),
        ("AWS_ACCESS_KEY_ID", "id"),
        ("AWS_SECRET_ACCESS_KEY", "hunter2"),
    ];
    let shown = |options: &S3Options| options.endpoint.as_ref().map(ToString::to_string);
    let options = bucket(&theirs, file).unwrap();
    assert_eq!((options.location.bucket.as_str(), options.location.prefix.as_str()), ("photos", "a"));
    assert_eq!(shown(&options).as_deref(), Some("https://s3.example.org"));
    assert_eq!((options.region.as_deref(), options.path_style), (Some("garage"), Some(false)));
    assert_eq!(options.credentials, S3Credentials::key("id", "hunter2"));
    assert!(!format!("{options:?}").contains("hunter2"));

    let options = bucket(&theirs, "blob-url = 's3://photos'").unwrap();
    assert_eq!(shown(&options).as_deref(), Some("http://localhost:3900"));
    assert_eq!((options.region.as_deref(), options.path_style), (Some("eu-west-1"), None));
    let plain = bucket(&[("AWS_ENDPOINT_URL", "http://s3.example.org")], "blob-url = 's3://photos'");
    assert!(plain.unwrap_err().starts_with("AWS_ENDPOINT_URL: must begin with https://"));
    let plain = bucket(&[], "blob-url = 's3://photos'\ns3-endpoint = 'http://k:hunter2@h'").unwrap_err();
    assert!(plain.starts_with("s3-endpoint: must be a URL") && !plain.contains("hunter2"), "{plain}");
}

#[test]
fn lists_are_repeated_flags_comma_separated_or_single_values() {
    let proxies = |arguments: &[&str], variables: &[(&str, &str)], file| {
        let config = resolve(arguments, variables, file).unwrap();
        config.trusted_proxies.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let expect = ["10.0.0.0/8", "192.0.2.1/32"];
    let arguments = ["--trusted-proxy", "10.0.0.0/8", "--trusted-proxy", "192.0.2.1"];
    assert_eq!(proxies(&arguments, &[], ""), expect);
    assert_eq!(proxies(&["--trusted-proxy", "10.0.0.0/8,192.0.2.1"], &[], ""), expect);
    assert_eq!(proxies(&[], &[("PHOTOS_TRUSTED_PROXY", "10.0.0.0/8, 192.0.2.1")], ""), expect);
    assert_eq!(proxies(&[], &[], "trusted_proxy = '10.0.0.0/8'"), ["10.0.0.0/8"]);
}

#[test]
fn errors_name_the_setting_and_quote_no_value() {
    let check = |variables: &[(&str, &str)], file, expect: &str| {
        assert_eq!(resolve(&[], variables, file).unwrap_err(), expect, "{file}");
    };
    check(
        &[("PHOTOS_LISTEN", "here")],
        "",
        "PHOTOS_LISTEN: must be an address and a port, such as 127.0.0.1:8080 or localhost:8080",
    );
    check(&[("PHOTOS_LOG_FORMAT", "xml")], "", "PHOTOS_LOG_FORMAT: must be text or json");
    check(&[("PHOTOS_SECRET", "hunter2")], "", "PHOTOS_SECRET: the secret must have at least 32 characters");
    check(&[], "free-windw = 1\nsecret = 'x'", "photos.toml: unknown setting: free_windw, secret");
    check(&[], "listen = 1\n", "photos.toml: listen: invalid type: integer `1`, expected a string");
    check(&[], "max-pixels = 1\nmax_pixels = 2", "photos.toml: `max_pixels` is set twice");
    check(
        &[("PHOTOS_DATABASE_URL", "postgres://u:hunter2@h/d?sslmode=prefer")],
        "",
        "database-url: the parameter sslmode of the database URL must be disable, require or verify-full",
    );
    let syntax = resolve(&[], &[], "free-window = 1\ndatabase-url = \"postgres://u:hunter2").unwrap_err();
    assert!(syntax.starts_with("photos.toml, line 2: ") && !syntax.contains("hunter2"), "{syntax}");
    let secret = environment(&[("PHOTOS_SECRET", "hunter2")]);
    assert!(!format!("{secret:?}").contains("hunter2"));
}

#[test]
fn the_default_base_url_follows_the_bound_address() {
    let base = |listen: &str, port: u16| {
        let config = resolve(&["--listen", listen], &[], "").unwrap();
        config.base_url(&config.listen.with_port(port)).unwrap().as_str().to_owned()
    };
    assert_eq!(base("127.0.0.1:0", 4711), "http://127.0.0.1:4711");
    assert_eq!(base("0.0.0.0:80", 80), "http://127.0.0.1");
    assert_eq!(base("[::]:81", 81), "http://[::1]:81");
    assert_eq!(base("192.0.2.1:82", 82), "http://192.0.2.1:82");
    assert_eq!(base("localhost:0", 83), "http://localhost:83");
}

/// A source without settings that records the names it was asked for.
#[derive(Default)]
struct RecordingSource(BTreeSet<String>);

impl Source for RecordingSource {
    fn take<T>(&mut self, name: &'static str) -> Result<Option<T>, ConfigError>
    where
        T: FromStr<Err: Display> + DeserializeOwned,
    {
        self.0.insert(name.replace('_', "-"));
        Ok(None)
    }

    fn take_list<T>(&mut self, name: &'static str) -> Result<Option<Vec<T>>, ConfigError>
    where
        T: FromStr<Err: Display> + DeserializeOwned,
    {
        self.take::<T>(name).map(|_| None)
    }
}

#[test]
fn every_flag_has_a_variable_named_in_its_help() {
    let mut source = RecordingSource::default();
    Layer::read(&mut source).unwrap();
    let cli = Cli::command();
    let serve = cli.find_subcommand("serve").unwrap();
    for argument in cli.get_arguments().chain(serve.get_arguments()) {
        let flag = argument.get_long().unwrap();
        let help = argument.get_help().unwrap().to_string().replace('\n', " ");
        assert!(help.ends_with(&format!("[env: {}]", variable(flag))), "{flag}: {help}");
        assert!(source.0.contains(flag) || flag == "config", "{flag} is missing in environment and file");
    }
    assert_eq!(source.0.len() + 1, cli.get_arguments().count() + serve.get_arguments().count());
}

#[test]
fn unknown_variables_are_found() {
    let flags: BTreeSet<String> = ["free-window".to_owned()].into();
    let variables = environment(&[
        ("PHOTOS_FREE_WINDOW", "1"),
        ("PHOTOS_FREE_WINDWO", "1"),
        ("PHOTOS_SECRET", "x"),
        ("HOME", "/"),
        ("RUST_LOG", "debug"),
    ]);
    assert_eq!(variables.unknown(&flags), ["PHOTOS_FREE_WINDWO"]);
    assert_eq!(variables.log_filter(), Some("debug"));
}

proptest! {
    #[test]
    fn any_file_and_variable_gives_a_configuration_or_an_error(
        file in "((data-dir|free_window|listen|trusted-proxy|other)( = |=)(['\"\\[]{0,2}.{0,12}['\"\\]]{0,2}|[0-9]{1,25})\n){0,4}",
        variable in "[^\\x00]{0,24}",
    ) {
        let variables = [("PHOTOS_TRUSTED_PROXY", variable.as_str()), ("PHOTOS_LISTEN", "[::1]:1")];
        if let Ok(config) = resolve(&[], &variables, &file) {
            prop_assert_eq!(config.listen, "[::1]:1".parse().unwrap());
        }
    }

    #[test]
    fn lists_are_read_alike_from_flag_variable_and_file(networks in prop::collection::vec((0_u8..=255, 0_u8..=32), 1..5)) {
        let networks: Vec<String> = networks.iter().map(|(a, bits)| format!("{a}.0.0.0/{bits}")).collect();
        let list = networks.join(",");
        let by_variable = resolve(&[], &[("PHOTOS_TRUSTED_PROXY", &list)], "").unwrap();
        let by_flag = resolve(&["--trusted-proxy", &list], &[], "").unwrap();
        let by_file = resolve(&[], &[], &format!("trusted-proxy = {networks:?}")).unwrap();
        prop_assert_eq!(&by_variable.trusted_proxies, &by_flag.trusted_proxies);
        prop_assert_eq!(&by_variable.trusted_proxies, &by_file.trusted_proxies);
    }
}
