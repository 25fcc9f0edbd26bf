//! `server backup`, `server restore` and `server export`.

use std::{
    fs,
    path::PathBuf,
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use s3_test_server::{BUCKET, KEY_ID, S3Server, SECRET};
use serde_json::{Value, json};
use test_postgres::TestDatabase;

use crate::{
    apps::{App, BASE_URL, Browser, Http, PASSWORD, Tokens, serve},
    photos,
    program::{EMAIL, Instance, Outcome, Server, files_below, outcome},
};

const IMAGES: &str = "/api/ext/v2/images?limit=100";

fn ok(command: &mut Command) -> String {
    let outcome = outcome(command, "");
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    outcome.stdout
}

fn assert_failed(outcome: &Outcome, words: &str) {
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(outcome.stderr.contains(words), "{outcome:?}");
}

fn backup_folder(instance: &Instance) -> PathBuf {
    instance.beside("backup")
}

fn back_up(instance: &Instance) -> Value {
    let folder = backup_folder(instance);
    serde_json::from_str(&instance.ok(["backup", folder.to_str().unwrap(), "--json"])).unwrap()
}

/// The path of the signed URL of the newest image.
fn signed_path(server: &Server, key: &str) -> String {
    let page = server.get(IMAGES, key).body;
    let url = page["results"][0]["url"].as_str().unwrap();
    url.strip_prefix(BASE_URL).unwrap().to_owned()
}

fn ids(server: &Server, key: &str) -> Vec<String> {
    let page = server.get(IMAGES, key).body;
    page["results"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect()
}

/// An app that refreshes its token until it is told to stop; returns its last tokens.
async fn refresh_until(http: Http, app: App, mut tokens: Tokens, stop: &AtomicBool) -> Tokens {
    while !stop.load(Ordering::Relaxed) {
        tokens = http.refresh(&app, &tokens.refresh).await.unwrap().tokens();
    }
    tokens
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_backup_under_load_restores_tokens_keys_and_urls() {
    let instance = Instance::with_password(PASSWORD);
    let samples = instance.beside("photos");
    photos::generate(&samples, 12);
    instance.ok(["import", EMAIL, samples.to_str().unwrap()]);
    let key = instance.create_key("before");
    let server = serve(&instance);
    let http = Http::to(&server);
    let mut browser = Browser::new(http.clone());
    browser.sign_in(PASSWORD).await.expect(303);
    let app = http.register(json!({"client_name": "An app"})).await;
    let idle = http.redeem(&app, &browser.consent(&app).await).await.unwrap().tokens();
    let mut busy = Vec::new();
    for _ in 0..4 {
        busy.push(http.redeem(&app, &browser.consent(&app).await).await.unwrap().tokens());
    }
    let stop = AtomicBool::new(false);
    let more = instance.beside("more");
    photos::generate_from(&more, 100, 12);
    let folder = backup_folder(&instance);
    let (made, before) = thread::scope(|scope| {
        // Photos are added and deleted while apps refresh.
        scope.spawn(|| instance.ok(["import", EMAIL, more.to_str().unwrap()]));
        let storm = scope.spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let apps =
                    busy.into_iter().map(|tokens| refresh_until(http.clone(), app.clone(), tokens, &stop));
                futures_util::future::join_all(apps).await
            })
        });
        let mut made = Vec::new();
        for _ in 0..3 {
            made.push(back_up(&instance));
        }
        stop.store(true, Ordering::Relaxed);
        let last = storm.join().unwrap();
        (made, last)
    });
    assert_eq!(made[0]["lost"], json!([]));
    // The final state, which the restored library must have.
    back_up(&instance);
    let verified = instance.ok(["backup", folder.to_str().unwrap(), "--verify"]);
    assert!(verified.contains("is whole: 24 originals"), "{verified}");
    let (images, signed) = (ids(&server, &key), signed_path(&server, &key));
    drop(server);

    let restored = Instance::without_folder();
    let report = restored.ok(["restore", folder.to_str().unwrap()]);
    assert!(report.contains("24 originals"), "{report}");
    assert!(restored.ok(["fsck", "--checksums"]).contains("Everything agrees."));
    assert_failed(&instance.run(["restore", folder.to_str().unwrap()]), "is not empty");
    let again = restored.ok(["restore", folder.to_str().unwrap()]);
    assert!(again.contains("before"), "{again}");
    #[cfg(unix)]
    for name in ["secret", "library.sqlite"] {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = restored.data_dir().join(name).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    let server = serve(&restored);
    assert_eq!(ids(&server, &key), images, "the key is valid");
    assert_eq!(crate::http::status(&server.address, &signed), 200, "a URL of before is valid");
    let http = Http::to(&server);
    assert_eq!(http.mcp_status(&idle.access).await, 200, "an access token of before is valid");
    http.refresh(&app, &idle.refresh).await.unwrap().tokens();
    for tokens in before {
        assert_eq!(http.mcp_status(&tokens.access).await, 200);
        http.refresh(&app, &tokens.refresh).await.unwrap().tokens();
    }
    browser.reconnect(http);
    // The session is valid: consent needs no sign-in.
    browser.consent(&app).await;
}

/// A Postgres database and a bucket.
struct Shared {
    database: TestDatabase,
    s3: S3Server,
    _bucket: tempfile::TempDir,
}

impl Shared {
    async fn new() -> Self {
        let bucket = tempfile::tempdir().unwrap();
        let s3 = S3Server::start(bucket.path()).await.unwrap();
        Self { database: TestDatabase::empty().await, s3, _bucket: bucket }
    }

    fn configure(&self, mut command: Command) -> Command {
        command
            .env("PHOTOS_DATABASE_URL", self.database.url())
            .env("PHOTOS_BLOB_URL", format!("s3://{BUCKET}/library"))
            .env("AWS_ENDPOINT_URL_S3", self.s3.url())
            .env("AWS_ACCESS_KEY_ID", KEY_ID)
            .env("AWS_SECRET_ACCESS_KEY", SECRET);
        command
    }
}

#[test]
fn a_restore_refuses_a_folder_of_photos() {
    let instance = Instance::with_account();
    back_up(&instance);
    let folder = backup_folder(&instance);
    let other = Instance::new();
    photos::generate(&other.data_dir(), 1);
    // These files are not a user's: the file system, an administrator or a file manager creates them.
    fs::create_dir(other.data_dir().join("lost+found")).unwrap();
    fs::create_dir(other.data_dir().join("models")).unwrap();
    fs::write(other.data_dir().join(".directory"), "").unwrap();
    let refused = other.run(["restore", folder.to_str().unwrap()]);
    assert_failed(&refused, "has other files, such as photo-000.jpg; choose an empty folder");
    assert!(!files_below(&other.data_dir()).contains(&"library.sqlite".to_owned()));

    fs::remove_file(other.data_dir().join("photo-000.jpg")).unwrap();
    other.ok(["restore", folder.to_str().unwrap()]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_moves_a_library_to_postgres_and_back() {
    let instance = Instance::with_account();
    let samples = instance.beside("photos");
    photos::generate(&samples, 8);
    instance.ok(["import", EMAIL, samples.to_str().unwrap()]);
    let key = instance.create_key("before");
    let server = serve(&instance);
    let (before, signed) = (ids(&server, &key), signed_path(&server, &key));
    drop(server);
    back_up(&instance);

    let (shared, elsewhere) = (Shared::new().await, Instance::without_folder());
    let folder = backup_folder(&instance);
    let restore = || shared.configure(elsewhere.command(["restore", folder.to_str().unwrap()]));
    assert_failed(&outcome(&mut restore(), ""), "--secret-file");
    let other = "another secret of more than 32 characters";
    assert_failed(&outcome(restore().env("PHOTOS_SECRET", other), ""), "PHOTOS_SECRET is not the secret");
    let secret = elsewhere.beside("secret");
    ok(restore().env("PHOTOS_SECRET_FILE", &secret));
    let with_secret = |command: Command| {
        let mut command = shared.configure(command);
        command.env("PHOTOS_SECRET_FILE", &secret);
        command
    };
    let checked = ok(&mut with_secret(elsewhere.command(["fsck", "--checksums"])));
    assert!(checked.contains("Everything agrees."), "{checked}");
    let server = Server::start(
        with_secret(elsewhere.command(["serve", "--listen", "127.0.0.1:0", "--base-url", BASE_URL]))
            .env("X", ""),
    );
    assert_eq!(ids(&server, &key), before);
    assert_eq!(crate::http::status(&server.address, &signed), 200);
    // The library moves back, while the server runs.
    let second = elsewhere.beside("second");
    ok(&mut with_secret(elsewhere.command(["backup", second.to_str().unwrap()])));
    drop(server);
    let back = Instance::without_folder();
    back.ok(["restore", second.to_str().unwrap()]);
    assert!(back.ok(["fsck", "--checksums"]).contains("Everything agrees."));
    let server = serve(&back);
    assert_eq!(ids(&server, &key), before);
    assert_eq!(crate::http::status(&server.address, &signed), 200);
}

/// Starts a command and kills it after a while, or lets it exit.
fn kill_after(mut command: Command, wait: Duration) {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let began = Instant::now();
    while child.try_wait().unwrap().is_none() && began.elapsed() < wait {
        thread::sleep(Duration::from_millis(2));
    }
    // It may have exited.
    let _ = child.kill();
    child.wait().unwrap();
}

#[test]
fn killed_backups_and_restores_are_continued() {
    let instance = Instance::with_account();
    let samples = instance.beside("photos");
    photos::generate(&samples, 60);
    instance.ok(["import", EMAIL, samples.to_str().unwrap()]);
    let folder = backup_folder(&instance);
    let folder = folder.to_str().unwrap();
    let began = Instant::now();
    instance.ok(["backup", instance.beside("timing").to_str().unwrap()]);
    let whole = began.elapsed();
    for number in 1..=6 {
        kill_after(instance.command(["backup", folder]), whole * number / 8);
        let check = instance.run(["backup", folder, "--verify"]);
        let is_none = check.stderr.contains("no complete backup");
        assert!(check.code == Some(0) || is_none, "{check:?}");
    }
    instance.ok(["backup", folder]);
    instance.ok(["backup", folder, "--verify"]);
    let restored = Instance::without_folder();
    for number in 1..=6 {
        kill_after(restored.command(["restore", folder]), whole * number / 6);
        let used = restored.run(["account", "list"]);
        if used.code != Some(0) {
            let words = ["incomplete copy", "There is no", "no such table"];
            assert!(words.iter().any(|word| used.stderr.contains(word)), "{used:?}");
        }
    }
    restored.ok(["restore", folder]);
    assert!(restored.ok(["fsck", "--checksums"]).contains("Everything agrees."));
}

#[test]
fn a_damaged_backup_is_refused_and_leaves_nothing() {
    let instance = Instance::with_account();
    let samples = instance.beside("photos");
    photos::generate(&samples, 3);
    instance.ok(["import", EMAIL, samples.to_str().unwrap()]);
    back_up(&instance);
    let folder = backup_folder(&instance);
    let blob = files_below(&folder).into_iter().find(|name| name.starts_with("blobs/originals/")).unwrap();
    let whole = fs::read(folder.join(&blob)).unwrap();
    fs::write(folder.join(&blob), &whole[1..]).unwrap();
    let restored = Instance::without_folder();
    for arguments in [["restore", folder.to_str().unwrap()], ["backup", folder.to_str().unwrap()]] {
        let refused = match arguments[0] {
            "restore" => restored.run(arguments),
            _ => instance.run(["backup", folder.to_str().unwrap(), "--verify"]),
        };
        assert_failed(&refused, &blob);
    }
    assert!(!restored.data_dir().exists(), "nothing was created");
    // The next backup replaces a file of another length.
    instance.ok(["backup", folder.to_str().unwrap()]);
    instance.ok(["backup", folder.to_str().unwrap(), "--verify"]);
    assert_failed(&instance.run(["backup", samples.to_str().unwrap()]), "has no backup");
    assert_failed(&restored.run(["restore", samples.to_str().unwrap()]), "no complete backup");
}

#[cfg(target_os = "linux")]
mod planted {
    use std::{
        fs, io,
        os::unix::fs::symlink,
        path::{Path, PathBuf},
    };

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::{assert_failed, back_up, backup_folder};
    use crate::{
        photos,
        program::{EMAIL, Instance, files_below},
    };

    /// A library with a backup, and a file outside the backup.
    fn with_backup() -> (Instance, PathBuf, PathBuf) {
        let instance = Instance::with_account();
        let samples = instance.beside("photos");
        photos::generate(&samples, 2);
        instance.ok(["import", EMAIL, samples.to_str().unwrap()]);
        back_up(&instance);
        let (folder, outside) = (backup_folder(&instance), instance.beside("outside"));
        fs::write(&outside, "outside").unwrap();
        (instance, folder, outside)
    }

    type Plant = fn(&Path, &Path) -> io::Result<()>;

    fn hard_link(to: &Path, at: &Path) -> io::Result<()> {
        fs::hard_link(to, at)
    }

    fn symbolic_link(to: &Path, at: &Path) -> io::Result<()> {
        symlink(to, at)
    }

    fn pipe(_: &Path, at: &Path) -> io::Result<()> {
        Ok(mknodat(CWD, at, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?)
    }

    fn device(_: &Path, at: &Path) -> io::Result<()> {
        symlink("/dev/zero", at)
    }

    #[test]
    fn a_backup_writes_to_no_file_outside() {
        let (instance, folder, outside) = with_backup();
        let arguments = ["backup", folder.to_str().unwrap()];
        let plants: [(Plant, bool); 3] = [(symbolic_link, false), (hard_link, true), (pipe, false)];
        for name in ["backup.json.new", "blobs/.lock", "backup.lock", "backup.json"] {
            let path = folder.join(name);
            for (plant, is_hard_link) in plants {
                let _ = fs::remove_file(&path);
                plant(&outside, &path).unwrap();
                let outcome = instance.run(arguments);
                assert_eq!(fs::read_to_string(&outside).unwrap(), "outside", "{name}");
                // A lock file is used as it is.
                let is_refused = name.ends_with("lock") && !is_hard_link;
                assert_eq!(outcome.code, Some(i32::from(is_refused)), "{name}: {outcome:?}");
                if is_refused {
                    assert!(
                        outcome.stderr.contains("special file") && outcome.stderr.contains("lock"),
                        "{outcome:?}"
                    );
                    fs::remove_file(&path).unwrap();
                }
            }
        }
        instance.ok(arguments);
        instance.ok(["backup", folder.to_str().unwrap(), "--verify"]);
    }

    #[test]
    fn a_backup_writes_to_no_folder_outside() {
        let (instance, folder, _) = with_backup();
        let elsewhere = instance.beside("elsewhere");
        let shard = files_below(&folder.join("blobs/originals")).remove(0);
        let shard = format!("blobs/originals/{}", shard.split('/').next().unwrap());
        for name in ["blobs", "blobs/originals", "blobs/renditions", "blobs/staging", "blobs/uploads", &shard]
        {
            fs::create_dir(&elsewhere).unwrap();
            let (path, aside) = (folder.join(name), instance.beside("aside"));
            fs::rename(&path, &aside).unwrap();
            symlink(&elsewhere, &path).unwrap();
            let refused = instance.run(["backup", folder.to_str().unwrap()]);
            assert_failed(&refused, "is not a folder; a backup has no links");
            assert_eq!(files_below(&elsewhere), [""; 0], "{name}");
            fs::remove_file(&path).unwrap();
            fs::rename(&aside, &path).unwrap();
            fs::remove_dir(&elsewhere).unwrap();
        }
        // The folder itself may be a link, because the operator named it.
        let link = instance.beside("link");
        symlink(&folder, &link).unwrap();
        instance.ok(["backup", link.to_str().unwrap()]);
    }

    #[test]
    fn a_backup_replaces_links_pipes_and_devices_in_the_place_of_photos() {
        let (instance, folder, _) = with_backup();
        let names: Vec<String> =
            files_below(&folder).into_iter().filter(|name| name.starts_with("blobs/originals/")).collect();
        let same = instance.beside("same");
        for plant in [symbolic_link as Plant, pipe, device] {
            for name in &names {
                let path = folder.join(name);
                fs::copy(&path, &same).unwrap();
                fs::remove_file(&path).unwrap();
                plant(&same, &path).unwrap();
            }
            let verified = instance.run(["backup", folder.to_str().unwrap(), "--verify"]);
            assert_failed(&verified, "is missing");
            back_up(&instance);
            assert!(names.iter().all(|name| fs::symlink_metadata(folder.join(name)).unwrap().is_file()));
            instance.ok(["backup", folder.to_str().unwrap(), "--verify"]);
        }
    }

    #[test]
    fn a_restore_waits_for_no_pipe_or_device() {
        let (_instance, folder, _) = with_backup();
        for name in files_below(&folder) {
            if name == "blobs/.lock" {
                continue;
            }
            let (path, aside) = (folder.join(&name), folder.join("aside"));
            for plant in [pipe as Plant, device] {
                fs::rename(&path, &aside).unwrap();
                plant(&path, &path).unwrap();
                let target = Instance::without_folder();
                let outcome = target.run(["restore", folder.to_str().unwrap()]);
                assert_eq!(outcome.code, Some(1), "{name}: {outcome:?}");
                fs::remove_file(&path).unwrap();
                fs::rename(&aside, &path).unwrap();
            }
        }
        Instance::without_folder().ok(["restore", folder.to_str().unwrap()]);
    }

    #[test]
    fn a_copy_inside_the_library_is_refused() {
        let (instance, folder, _) = with_backup();
        let data = instance.data_dir();
        let link = instance.beside("link");
        symlink(&data, &link).unwrap();
        let at = |path: PathBuf| path.to_str().unwrap().to_owned();
        // A path that leads through a folder that does not exist.
        let dotted = instance.beside("new").join("..").join(data.file_name().unwrap()).join("x");
        for inside in [
            data.clone(),
            data.join("backup"),
            data.join("blobs/a/b"),
            link.join("new"),
            data.join("x/../y"),
            dotted,
        ] {
            for arguments in
                [["backup", &at(inside.clone())].to_vec(), ["export", EMAIL, &at(inside.clone())].to_vec()]
            {
                let mut command = instance.command([]);
                let refused = crate::program::outcome(command.args(arguments), "");
                assert_failed(&refused, "keep the library and its copies in folders outside each other");
            }
        }
        assert!(!data.join("backup").exists() && !data.join("new").exists());
        // Photos may be outside the data folder.
        let blobs = instance.beside("blobs");
        let mut command = instance.command(["backup", &at(blobs.join("backup"))]);
        command.arg("--blob-url").arg(format!("file:{}", blobs.display()));
        assert_failed(&crate::program::outcome(&mut command, ""), "outside each other");
        // The library may not be restored into its backup.
        let mut command = crate::program::program();
        command.args(["restore", &at(folder.clone()), "--data-dir", &at(folder.join("data"))]);
        assert_failed(&crate::program::outcome(&mut command, ""), "outside each other");
        assert!(!folder.join("data").exists());
    }
}

#[test]
fn an_export_is_imported_into_another_account() {
    let instance = Instance::with_account();
    let samples = instance.beside("photos");
    photos::generate(&samples, 5);
    instance.ok(["import", EMAIL, samples.to_str().unwrap()]);
    let folder = instance.beside("export");
    let folder = folder.to_str().unwrap();
    let report: Value = serde_json::from_str(&instance.ok(["export", EMAIL, folder, "--json"])).unwrap();
    assert_eq!(
        (&report["photos"], &report["written"], &report["failed"]),
        (&json!(5), &json!(5), &json!([]))
    );
    let text = instance.ok(["export", EMAIL, folder]);
    assert!(text.contains("written now: 0 originals"), "{text}");
    instance.ok(["account", "create", "bob@example.org"]);
    let imported: Value =
        serde_json::from_str(&instance.ok(["import", "bob@example.org", folder, "--json"])).unwrap();
    assert_eq!((&imported["imported"], &imported["failed"]), (&json!(5), &json!([])));
    assert_failed(&instance.run(["export", "nobody@example.org", folder]), "There is no account");
}
