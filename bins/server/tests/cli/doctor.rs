use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
    os::unix::fs::PermissionsExt,
    process::Command,
};

use rustix::process::Signal;
use serde_json::Value;

use crate::{
    photos,
    program::{EMAIL, Instance, Outcome, Server},
};

fn finding<'a>(outcome: &'a Outcome, subject: &str) -> &'a str {
    let line =
        outcome.stdout.lines().find(|line| line.get(6..).is_some_and(|rest| rest.starts_with(subject)));
    line.unwrap_or_else(|| panic!("no finding about {subject}: {outcome:?}"))
}

#[test]
fn a_working_library_has_no_problems() {
    let instance = Instance::with_account();
    drop(instance.serve());
    let outcome = instance.run(["doctor"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{outcome:?}");
    for subject in ["configuration", "data folder", "secret", "metadata store", "blob store", "queue"] {
        assert!(finding(&outcome, subject).starts_with("ok  "), "{outcome:?}");
    }
    let ocr = finding(&outcome, "text in photos (OCR)");
    assert!(ocr.starts_with("ok  ") && ocr.contains(" reads eng"), "{ocr}");
    assert!(finding(&outcome, "vision model").starts_with("ok    vision model: none"), "{outcome:?}");
}

#[test]
fn findings_are_printed_as_json() {
    let instance = Instance::with_account();
    let document = |command: &mut Command| {
        let outcome = crate::program::outcome(command, "");
        let document: Value = serde_json::from_str(&outcome.stdout).unwrap();
        (outcome.code, document)
    };
    let (code, good) = document(&mut instance.command(["doctor", "--json"]));
    assert_eq!((code, &good["ok"]), (Some(0), &Value::Bool(true)), "{good}");
    let disk =
        good["findings"].as_array().unwrap().iter().find(|finding| finding["subject"] == "data folder");
    assert!(disk.unwrap()["message"].as_str().unwrap().contains("safe on the disk after "), "{good}");

    let (code, bad) = document(instance.command(["doctor", "--json"]).env("PHOTOS_BASE_URL", "nonsense"));
    assert_eq!((code, &bad["ok"]), (Some(1), &Value::Bool(false)), "{bad}");
    assert_eq!(bad["findings"][0]["verdict"], "fail", "{bad}");
    assert_eq!(bad["findings"][0]["subject"], "configuration", "{bad}");
}

#[test]
fn the_base_url_is_opened() {
    let instance = Instance::with_account();
    let base_url = |address: &str| {
        let outcome = instance.run(["doctor", "--listen", address]);
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
        finding(&outcome, "base URL").to_owned()
    };
    let server = instance.serve();
    let address = server.address.clone();
    assert!(
        base_url(&address).starts_with("ok  ") && base_url(&address).ends_with("leads to a running server")
    );
    drop(server);
    assert!(base_url(&address).starts_with("ok    base URL: no server is running at"));

    let arguments = ["serve", "--listen", &address, "--base-url", "https://photos.example.org"];
    let server = Server::start(&mut instance.command(arguments));
    let other = base_url(&address);
    assert!(
        other.starts_with("warn")
            && other.contains("has another base URL, as its issuer https://photos.example.org/api says"),
        "{other}"
    );
    drop(server);

    let program = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = program.local_addr().unwrap().to_string();
    let answering = std::thread::spawn(move || {
        for status in ["200 OK", "404 Not Found"] {
            let (mut stream, _) = program.accept().unwrap();
            let _ = stream.read(&mut [0; 4096]).unwrap();
            write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 5\r\n\r\nhello").unwrap();
        }
    });
    assert!(base_url(&address).contains("another program answers"));
    assert!(base_url(&address).contains("has status 404 Not Found"));
    answering.join().unwrap();

    let https = instance.run(["doctor", "--base-url", "https://localhost:1"]);
    let unreachable = finding(&https, "base URL");
    assert!(unreachable.starts_with("warn") && unreachable.contains("no connection"), "{unreachable}");
    assert!(https.stdout.contains("Name the proxy with --trusted-proxy"), "{https:?}");
}

#[test]
fn doctor_creates_nothing() {
    let instance = Instance::without_folder();
    let outcome = instance.run(["doctor"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(finding(&outcome, "data folder").starts_with("warn"));
    assert!(finding(&outcome, "metadata store").contains("the first start creates it"));
    assert!(!instance.data_dir().exists());
}

#[test]
fn broken_parts_fail_with_a_remedy() {
    let instance = Instance::with_account();
    // A killed server leaves its WAL, from which SQLite could recover the library.
    instance.serve().stop(Signal::TERM);
    let secret = instance.data_dir().join("secret");
    std::fs::set_permissions(&secret, PermissionsExt::from_mode(0o644)).unwrap();
    std::fs::write(instance.data_dir().join("library.sqlite"), "this is no database, whatever its name")
        .unwrap();
    std::fs::remove_dir_all(instance.data_dir().join("blobs")).unwrap();
    std::fs::write(instance.data_dir().join("blobs"), "no folder").unwrap();
    let outcome = instance.run(["doctor"]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    let mode = finding(&outcome, "secret");
    assert!(mode.starts_with("FAIL") && mode.contains("0644") && mode.contains("chmod 600"), "{mode}");
    assert!(finding(&outcome, "metadata store").starts_with("FAIL"), "{outcome:?}");
    assert!(finding(&outcome, "blob store").starts_with("FAIL"), "{outcome:?}");
}

#[test]
fn invalid_and_unknown_settings_are_findings() {
    let instance = Instance::with_account();
    let run =
        |name: &str, value: &str| crate::program::outcome(instance.command(["doctor"]).env(name, value), "");
    let bad = run("PHOTOS_BASE_URL", "nonsense");
    assert_eq!(bad.code, Some(1), "{bad:?}");
    assert!(bad.stdout.starts_with("FAIL  configuration: base-url: "), "{bad:?}");
    let unknown = run("PHOTOS_BASE_URI", "https://photos.example.org");
    assert_eq!(unknown.code, Some(0), "{unknown:?}");
    assert!(finding(&unknown, "environment").contains("PHOTOS_BASE_URI"));
    let open = run("PHOTOS_LISTEN", "0.0.0.0:8080");
    assert!(finding(&open, "configuration").contains("--base-url"), "{open:?}");
    let given = run("PHOTOS_SECRET", "0123456789abcdef0123456789abcdef");
    assert!(finding(&given, "secret").starts_with("ok") && !given.stdout.contains("0123456789abcdef"));
}

#[test]
fn temporary_files_and_failed_photos_are_reported() {
    let instance = Instance::with_account();
    let photos = instance.beside("photos");
    photos::generate(&photos, 1);
    for number in 0..22 {
        // A different truncated JPEG each time.
        let mut bytes = vec![0xff, 0xd8, 0xff, 0xe0, 0, 16];
        bytes.extend(format!("JFIF broken {number}").bytes());
        std::fs::write(photos.join(format!("broken-{number:02}.jpg")), bytes).unwrap();
    }
    assert_eq!(instance.run(["import", EMAIL, photos.to_str().unwrap()]).code, Some(1));
    let outcome = instance.run(["doctor"]);
    assert!(finding(&outcome, "temporary files").starts_with("ok  "), "{outcome:?}");

    let staging = instance.data_dir().join("blobs/staging");
    let hash = "0f".repeat(32);
    std::fs::create_dir_all(instance.data_dir().join("blobs/originals/0f")).unwrap();
    let left = [staging.join("upload-abc"), instance.data_dir().join(format!("blobs/originals/0f/{hash}#1"))];
    for (path, day) in left.iter().zip([1, 3]) {
        std::fs::write(path, vec![0; 1_500_000]).unwrap();
        let file = std::fs::File::options().write(true).open(path).unwrap();
        let age = std::time::Duration::from_secs(day * 24 * 3600 + 60);
        file.set_modified(std::time::UNIX_EPOCH + now().checked_sub(age).unwrap()).unwrap();
    }
    let outcome = instance.run(["doctor"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let files = finding(&outcome, "temporary files");
    assert!(files.starts_with("warn") && files.contains("2 files") && files.contains("3.0 MB"), "{files}");
    assert!(files.contains("3 days"), "{files}");
    assert!(left.iter().all(|path| path.exists()), "doctor removes nothing");

    let named: Vec<&str> = outcome.stdout.lines().filter(|line| line.contains("broken-")).collect();
    assert_eq!(named.len(), 20, "{outcome:?}");
    assert!(named.iter().all(|line| line.starts_with("warn") && line.contains(EMAIL)), "{named:?}");
    let newest = named[0].split_once("broken-").unwrap().1;
    let (file, rest) = newest.split_once(' ').unwrap();
    let reason = rest.strip_prefix(&format!("of {EMAIL}: ")).unwrap();
    let again = instance.run(["import", EMAIL, photos.join(format!("broken-{file}")).to_str().unwrap()]);
    assert!(again.stdout.contains(&format!("broken-{file}: {reason}\n")), "{reason}: {again:?}");
    assert!(outcome.stdout.contains("and 2 more"), "{outcome:?}");
}

fn now() -> std::time::Duration {
    use library::Clock as _;
    std::time::Duration::from_millis(library::SystemClock.now().millis().unsigned_abs())
}
