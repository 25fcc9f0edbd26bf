use std::os::unix::fs::PermissionsExt;

use rustix::process::Signal;

use crate::{
    photos,
    program::{EMAIL, Instance, Outcome},
};

fn verdict<'a>(outcome: &'a Outcome, what: &str) -> &'a str {
    let line = outcome.stdout.lines().find(|line| line.get(6..).is_some_and(|rest| rest.starts_with(what)));
    line.unwrap_or_else(|| panic!("nothing on {what}: {outcome:?}"))
}

#[test]
fn a_library_in_use_is_well() {
    let instance = Instance::with_account();
    drop(instance.serve());
    let outcome = instance.run(["doctor"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{outcome:?}");
    for what in ["configuration", "data folder", "secret", "metadata store", "blob store", "queue"] {
        assert!(verdict(&outcome, what).starts_with("ok  "), "{outcome:?}");
    }
    let words = verdict(&outcome, "words in photos (OCR)");
    assert!(words.starts_with("ok  ") && words.contains(" reads eng"), "{words}");
    assert!(verdict(&outcome, "vision model").starts_with("ok    vision model: none"), "{outcome:?}");
}

#[test]
fn an_empty_machine_gets_advice_and_nothing_is_made() {
    let instance = Instance::without_folder();
    let outcome = instance.run(["doctor"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(verdict(&outcome, "data folder").starts_with("warn"));
    assert!(verdict(&outcome, "metadata store").contains("the first start makes it"));
    assert!(!instance.data_dir().exists());
}

#[test]
fn what_is_broken_fails_with_a_remedy() {
    let instance = Instance::with_account();
    // One that is killed leaves its WAL, in which the library may be whole although the file is not.
    instance.serve().end(Signal::TERM);
    let secret = instance.data_dir().join("secret");
    std::fs::set_permissions(&secret, PermissionsExt::from_mode(0o644)).unwrap();
    std::fs::write(instance.data_dir().join("library.sqlite"), "this is no database, whatever its name")
        .unwrap();
    std::fs::remove_dir_all(instance.data_dir().join("blobs")).unwrap();
    std::fs::write(instance.data_dir().join("blobs"), "no folder").unwrap();
    let outcome = instance.run(["doctor"]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    let mode = verdict(&outcome, "secret");
    assert!(mode.starts_with("FAIL") && mode.contains("0644") && mode.contains("chmod 600"), "{mode}");
    assert!(verdict(&outcome, "metadata store").starts_with("FAIL"), "{outcome:?}");
    assert!(verdict(&outcome, "blob store").starts_with("FAIL"), "{outcome:?}");
}

#[test]
fn bad_settings_and_slips_are_findings() {
    let instance = Instance::with_account();
    let run =
        |name: &str, value: &str| crate::program::outcome(instance.command(["doctor"]).env(name, value), "");
    let bad = run("PHOTOS_BASE_URL", "nonsense");
    assert_eq!(bad.code, Some(1), "{bad:?}");
    assert!(bad.stdout.starts_with("FAIL  configuration: base-url: "), "{bad:?}");
    let slip = run("PHOTOS_BASE_URI", "https://photos.example.org");
    assert_eq!(slip.code, Some(0), "{slip:?}");
    assert!(verdict(&slip, "environment").contains("PHOTOS_BASE_URI"));
    let open = run("PHOTOS_LISTEN", "0.0.0.0:8080");
    assert!(verdict(&open, "configuration").contains("--base-url"), "{open:?}");
    let given = run("PHOTOS_SECRET", "0123456789abcdef0123456789abcdef");
    assert!(verdict(&given, "secret").starts_with("ok") && !given.stdout.contains("0123456789abcdef"));
}

#[test]
fn left_over_files_and_failed_photos_are_named() {
    let instance = Instance::with_account();
    let photos = instance.beside("photos");
    photos::generate(&photos, 1);
    for number in 0..22 {
        // Each begins as a photo, ends at once, and differs from the others.
        let mut bytes = vec![0xff, 0xd8, 0xff, 0xe0, 0, 16];
        bytes.extend(format!("JFIF broken {number}").bytes());
        std::fs::write(photos.join(format!("broken-{number:02}.jpg")), bytes).unwrap();
    }
    assert_eq!(instance.run(["import", EMAIL, photos.to_str().unwrap()]).code, Some(1));
    let well = instance.run(["doctor"]);
    assert!(verdict(&well, "temporary files").starts_with("ok  "), "{well:?}");

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
    let files = verdict(&outcome, "temporary files");
    assert!(files.starts_with("warn") && files.contains("2 files") && files.contains("3.0 MB"), "{files}");
    assert!(files.contains("3 days"), "{files}");
    assert!(left.iter().all(|path| path.exists()), "it removes nothing");

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
