//! `server copy`: a library moves between stores.

use std::{
    collections::BTreeSet,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use s3_test_server::{BUCKET, KEY_ID, S3Server, SECRET};
use serde_json::Value;
use tempfile::TempDir;
use test_postgres::TestDatabase;

use crate::{
    photos,
    program::{EMAIL, Instance, Outcome, Server, files_below, outcome},
};

const IMAGES: &str = "/api/ext/v2/images?limit=100";

/// 5,000 photos with `PHOTOS_TEST_FULL=1`.
fn photo_count() -> u32 {
    let full = std::env::vars_os().any(|(name, value)| name == "PHOTOS_TEST_FULL" && value == "1");
    if full { 5000 } else { 200 }
}

fn ok(command: &mut Command) -> String {
    let outcome = outcome(command, "");
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    outcome.stdout
}

fn serve(command: &mut Command) -> Server {
    Server::start(command.args(["--listen", "127.0.0.1:0"]))
}

/// The ids of all images, page by page.
fn ids(server: &Server, key: &str) -> BTreeSet<String> {
    let (mut ids, mut end) = (BTreeSet::new(), String::new());
    loop {
        let page = server.get(&format!("{IMAGES}{end}"), key).body;
        let images = page["results"].as_array().unwrap();
        let known = ids.len();
        ids.extend(images.iter().map(|image| image["id"].as_str().unwrap().to_owned()));
        let Some(last) = images.last().filter(|_| ids.len() > known) else { return ids };
        end = format!("&endDate={}", last["capturedAt"].as_str().unwrap());
    }
}

/// The path of the signed URL of the newest image.
fn signed_path(server: &Server, key: &str) -> String {
    let page = server.get(IMAGES, key).body;
    let url = page["results"][0]["url"].as_str().unwrap();
    let (_, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    format!("/{path}")
}

/// A Postgres database and a bucket.
struct Shared {
    database: TestDatabase,
    s3: S3Server,
    _bucket: TempDir,
}

impl Shared {
    async fn new() -> Self {
        let bucket = tempfile::tempdir().unwrap();
        let s3 = S3Server::start(bucket.path()).await.unwrap();
        Self { database: TestDatabase::empty().await, s3, _bucket: bucket }
    }

    /// Configures a command for these stores.
    fn configure<'a>(&self, command: &'a mut Command, secret: &Path) -> &'a mut Command {
        command
            .env("PHOTOS_DATABASE_URL", self.database.url())
            .env("PHOTOS_BLOB_URL", format!("s3://{BUCKET}/library"))
            .env("PHOTOS_SECRET_FILE", secret)
            .env("AWS_ENDPOINT_URL_S3", self.s3.url())
            .env("AWS_ACCESS_KEY_ID", KEY_ID)
            .env("AWS_SECRET_ACCESS_KEY", SECRET)
    }
}

/// Starts a command and kills it when `is_due`, or lets it exit.
fn kill_when(command: &mut Command, is_due: impl Fn() -> bool) {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let began = Instant::now();
    while child.try_wait().unwrap().is_none() && !is_due() {
        assert!(began.elapsed() < Duration::from_secs(60), "nothing is copied");
        thread::sleep(Duration::from_millis(1));
    }
    // It may have exited.
    let _ = child.kill();
    child.wait().unwrap();
}

fn assert_refused(outcome: &Outcome, words: &str) {
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(outcome.stderr.contains(words), "{outcome:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_library_moves_to_postgres_and_a_bucket_and_back_while_it_is_killed() {
    let instance = Instance::with_account();
    let photos = instance.beside("photos");
    photos::generate(&photos, photo_count());
    instance.ok(["import", EMAIL, photos.to_str().unwrap()]);
    let key = instance.create_key("before");
    let secret = instance.data_dir().join("secret");
    let server = instance.serve();
    let (before, signed) = (ids(&server, &key), signed_path(&server, &key));
    assert_eq!(before.len(), photo_count() as usize);

    let shared = Shared::new().await;
    let elsewhere = Instance::without_folder();
    let data = instance.data_dir();
    let there = || {
        let mut copy = elsewhere.command(["copy", "--from", data.to_str().unwrap()]);
        shared.configure(&mut copy, &secret);
        copy
    };
    for number in 1..=5 {
        let due = photo_count() as usize * number / 3;
        kill_when(&mut there(), || shared.s3.keys().unwrap().len() >= due);
        if number == 1 {
            assert_eq!(server.get("/readyz", "").status, 503, "the running server notices");
            assert_refused(&instance.run(["account", "list"]), "is being moved to postgres://");
            assert_refused(&instance.run(["serve", "--listen", "127.0.0.1:0"]), "server copy --reopen");
            let mut premature = elsewhere.command(["serve", "--listen", "127.0.0.1:0"]);
            assert_refused(&outcome(shared.configure(&mut premature, &secret), ""), "incomplete copy");
        }
    }
    let report = ok(&mut there());
    assert!(report.contains("All rows are equal on both sides"), "{report}");
    assert_refused(&instance.run(["import", EMAIL, photos.to_str().unwrap()]), "was moved to postgres://");
    assert!(ok(&mut there()).contains("was moved to postgres://"), "it is complete");
    drop(server);

    let mut command = elsewhere.command(["serve"]);
    let server = serve(shared.configure(&mut command, &secret));
    assert_eq!(server.get("/readyz", "").status, 200);
    assert_eq!(ids(&server, &key), before);
    assert_eq!(crate::http::status(&server.address, &signed), 200, "a URL of before is valid");
    drop(server);
    let mut command = elsewhere.command(["fsck", "--checksums"]);
    let checked = ok(shared.configure(&mut command, &secret));
    assert!(checked.contains("Everything agrees."), "{checked}");

    let back = Instance::without_folder();
    let target = back.data_dir();
    let copy_back = || {
        let mut copy = elsewhere.command(["copy", "--to", target.to_str().unwrap()]);
        shared.configure(&mut copy, &secret);
        copy
    };
    let copied = || files_below(&back.beside("")).iter().filter(|name| name.contains("/blobs/")).count();
    for number in 1..=5 {
        kill_when(&mut copy_back(), || copied() >= photo_count() as usize * number / 3);
    }
    ok(&mut copy_back());
    let with_secret = |mut command: Command| {
        command.env("PHOTOS_SECRET_FILE", &secret);
        command
    };
    let checked = ok(&mut with_secret(back.command(["fsck", "--checksums"])));
    assert!(checked.contains("Everything agrees."), "{checked}");
    let server = serve(&mut with_secret(back.command(["serve"])));
    assert_eq!(ids(&server, &key), before);
    assert_eq!(crate::http::status(&server.address, &signed), 200);
    let found: Value = server.get("/api/ext/v2/search?query=photo", &key).body;
    assert!(!found["results"].as_array().unwrap().is_empty(), "file names are found");
}

#[test]
fn a_library_moves_to_another_folder_with_its_secret() {
    let (from, to) = (Instance::with_account(), Instance::without_folder());
    let photos = from.beside("photos");
    photos::generate(&photos, 3);
    from.ok(["import", EMAIL, photos.to_str().unwrap()]);
    let key = from.create_key("before");
    let server = from.serve();
    let (before, signed) = (ids(&server, &key), signed_path(&server, &key));
    drop(server);
    let path = |instance: &Instance| instance.data_dir().to_str().unwrap().to_owned();
    from.ok(["copy", "--from", &path(&from), "--to", &path(&to)]);
    let secret = |instance: &Instance| std::fs::read(instance.data_dir().join("secret")).unwrap();
    assert_eq!(secret(&from), secret(&to));
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::PermissionsExt::mode(
            &to.data_dir().join("secret").metadata().unwrap().permissions(),
        );
        assert_eq!(mode & 0o777, 0o600);
    }
    assert!(to.ok(["fsck", "--checksums"]).contains("Everything agrees."));
    let server = to.serve();
    assert_eq!(ids(&server, &key), before);
    assert_eq!(crate::http::status(&server.address, &signed), 200);

    let moved = from.run(["key", "list", EMAIL]);
    assert_refused(&moved, &format!("was moved to {}", path(&to)));
    assert!(from.run(["doctor"]).stdout.contains("was moved to"));
    assert!(from.ok(["copy", "--reopen"]).contains("can be used again"));
    assert!(from.ok(["copy", "--reopen"]).contains("nothing was changed"));
    assert_eq!(ids(&from.serve(), &key), before);
}

#[test]
fn places_that_cannot_be_used_are_named() {
    let (from, other) = (Instance::with_account(), Instance::with_account());
    let path = |instance: &Instance| instance.data_dir().to_str().unwrap().to_owned();
    let check = |outcome: Outcome, code: i32, words: &str| {
        assert_eq!(outcome.code, Some(code), "{outcome:?}");
        assert!(outcome.stderr.contains(words), "{outcome:?}");
        assert!(!outcome.stderr.contains("hunter2"), "{outcome:?}");
    };
    check(from.run(["copy"]), 2, "--from");
    check(from.run(["copy", "--from", &path(&from)]), 2, "same place");
    check(from.run(["copy", "--to", "postgres://u:hunter2@h/d"]), 2, "--to: names no store of photos");
    check(from.run(["copy", "--to", "s3://hunter2/x"]), 2, "--to: must be a data folder");
    check(from.run(["copy", "--to", "postgres://u:hunter2@h,s3://b"]), 2, "names no database");
    check(from.run(["copy", "--to", &path(&other)]), 1, "is not empty");
    check(from.run(["copy", "--from", "/nonexistent", "--to", &path(&other)]), 1, "There is no folder");
    // Neither library was marked as being moved.
    from.ok(["account", "list"]);
    other.ok(["account", "list"]);
    let inside = from.data_dir().join("new");
    from.serve();
    std::fs::create_dir(&inside).unwrap();
    std::fs::write(inside.join("secret"), "another secret of more than 32 characters").unwrap();
    check(
        from.run(["copy", "--to", inside.to_str().unwrap()]),
        1,
        "differ, but both places need the same secret",
    );
}
