use std::{fs, path::Path};

use serde_json::{Value, json};

use crate::{
    photos,
    program::{EMAIL, Instance, Outcome, files_below},
};

fn import(instance: &Instance, paths: &[&Path]) -> (Outcome, Value) {
    let mut command = instance.command(["import", EMAIL, "--json"]);
    let outcome = crate::program::outcome(command.args(paths), "");
    let report = serde_json::from_str(&outcome.stdout).unwrap_or_else(|error| panic!("{error}: {outcome:?}"));
    (outcome, report)
}

#[test]
fn a_second_import_finds_only_duplicates() {
    let instance = Instance::with_account();
    let samples = photos::samples();
    let (first, report) = import(&instance, &[&samples]);
    assert_eq!((first.code, first.stderr.as_str()), (Some(0), ""), "{first:?}");
    let imported = report["imported"].as_u64().unwrap();
    assert!(imported > 0, "{report}");
    assert_eq!(report["failed"], json!([]));

    let duplicates = report["duplicates"].as_u64().unwrap();
    let (second, report) = import(&instance, &[&samples]);
    assert_eq!(second.code, Some(0), "{second:?}");
    let expect = format!("{{\"imported\":0,\"duplicates\":{},\"failed\":[]}}\n", imported + duplicates);
    assert_eq!((second.stdout, report["imported"].as_u64()), (expect, Some(0)));
    assert!(instance.ok(["account", "list"]).contains(" yes "));
}

#[test]
fn failed_files_are_reported_and_not_kept() {
    let instance = Instance::with_account();
    let folder = instance.beside("photos");
    photos::generate(&folder.join("inner"), 2);
    let (text, broken) = (folder.join("notes.txt"), folder.join("broken.jpg"));
    fs::write(&text, "these are notes, not a picture").unwrap();
    // A truncated photo.
    let whole = fs::read(folder.join("inner/photo-000.jpg")).unwrap();
    fs::write(&broken, &whole[..40]).unwrap();
    fs::write(folder.join(".DS_Store"), "junk").unwrap();
    let absent = instance.beside("absent");

    let (outcome, report) = import(&instance, &[&folder, &absent]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert_eq!((&report["imported"], &report["duplicates"]), (&json!(2), &json!(0)));
    let reason = |path: &Path| {
        let failed = report["failed"].as_array().unwrap();
        let found = failed.iter().find(|failure| failure["path"] == path.to_str().unwrap());
        found.unwrap_or_else(|| panic!("{}: {report}", path.display()))["error"].as_str().unwrap().to_owned()
    };
    assert_eq!(reason(&text), "this is not a JPEG, PNG, WebP, GIF, TIFF, HEIC, AVIF or RAW picture");
    assert!(reason(&absent).starts_with("cannot be read"));
    assert!(!reason(&broken).is_empty());
    assert_eq!(report["failed"].as_array().unwrap().len(), 3, "{report}");

    let blobs = files_below(&instance.data_dir().join("blobs"));
    let notes = fs::read(&text).unwrap();
    let kept = |name: &String| fs::read(instance.data_dir().join("blobs").join(name)).unwrap();
    assert!(blobs.iter().all(|name| kept(name) != notes), "{blobs:?}");

    let text_report = instance.run(["import", EMAIL, folder.to_str().unwrap()]);
    assert_eq!(text_report.code, Some(1));
    assert!(text_report.stdout.starts_with("imported: 0\nduplicates: 2\nfailed: 2\n"), "{text_report:?}");
    assert!(text_report.stdout.contains(&format!("  {}: this is not", text.display())), "{text_report:?}");
}

#[test]
fn ocr_runs_after_an_import_or_during_one_with_wait() {
    let instance = Instance::with_account();
    let page = photos::samples().join("lorem-ipsum.png");
    let import = |options: &[&str]| {
        let mut command = instance.command(["import", EMAIL, page.to_str().unwrap()]);
        let outcome = crate::program::outcome(command.env("PHOTOS_OCR_LANGUAGES", "eng").args(options), "");
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
        outcome.stdout
    };
    let key = instance.create_key("test");
    let is_found = || {
        let found = instance.serve().get("/api/ext/v2/search?query=consectetur&channels=text", &key);
        found.body["results"].as_array().unwrap().len() == 1
    };
    let report = import(&[]);
    assert!(report.starts_with("imported: 1\nduplicates: 0\nfailed: 0\n1 photo waits for text"), "{report}");
    assert!(report.contains("The next `server serve`"), "{report}");
    assert!(!is_found());
    assert_eq!(import(&["--wait"]), "imported: 0\nduplicates: 1\nfailed: 0\n");
    assert!(is_found());
}

#[test]
fn an_import_without_photos_says_so() {
    let instance = Instance::with_account();
    let folder = instance.beside("empty");
    fs::create_dir(&folder).unwrap();
    let report = instance.ok(["import", EMAIL, folder.to_str().unwrap()]);
    assert_eq!(report, "imported: 0\nduplicates: 0\nfailed: 0\nNo photos were found.\n");
    let absent = instance.beside("absent");
    let report = instance.run(["import", EMAIL, absent.to_str().unwrap()]);
    let expect = format!(
        "imported: 0\nduplicates: 0\nfailed: 1\n  {}: cannot be read: No such file",
        absent.display()
    );
    assert!(report.stdout.starts_with(&expect) && !report.stdout.contains("os error"), "{report:?}");
}

#[test]
fn wrong_usage_imports_nothing() {
    let instance = Instance::with_account();
    assert_eq!(instance.run(["import", EMAIL]).code, Some(2));
    let nobody = instance.run(["import", "bob@example.org", "."]);
    assert_eq!((nobody.code, nobody.stdout.as_str()), (Some(1), ""));
    let expect = format!(
        "error: There is no account for bob@example.org in {}. `server account list` shows the accounts\n",
        instance.data_dir().display()
    );
    assert_eq!(nobody.stderr, expect);
}
