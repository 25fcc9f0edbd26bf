//! Records of imported photos.

use serde_json::Value;
use tests::{TestApp, fixture, fixtures};

#[tokio::test(flavor = "multi_thread")]
async fn a_record_contains_the_metadata_of_the_photo() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let names = ["samples/wisteria.jpg", "samples/sky-over-berlin.jpg", "media/date-and-position.jpg"];
    app.import_fixtures(&ann, &names).await;
    let list = app.get("/images", &ann.key).await;
    let of = |name: &str| list.results().iter().find(|record| record["fileName"] == name).unwrap();

    let wisteria = of("wisteria.jpg");
    assert_eq!(wisteria["cameraMake"], "Apple");
    assert_eq!(wisteria["cameraModel"], "iPhone 6");
    let near = |value: &Value, expect: f64| (value.as_f64().unwrap() - expect).abs() < 0.1;
    assert!(near(&wisteria["latitude"], 40.4) && near(&wisteria["longitude"], -3.7), "{wisteria}");
    assert_eq!(wisteria["addedAt"], tests::START_TIME);

    let berlin = of("sky-over-berlin.jpg");
    assert!(berlin["description"].as_str().is_some_and(|text| !text.is_empty()), "{berlin}");
    let word = berlin["description"].as_str().unwrap().split_whitespace().next().unwrap().to_owned();
    let found = app.get(&format!("/search?query={word}"), &ann.key).await;
    assert!(found.column("fileName").contains(&&Value::from("sky-over-berlin.jpg")));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_bytes_under_any_name_are_one_image() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let folder = tempfile::tempdir().unwrap();
    for name in ["one.jpg", "two.jpg", "three.png"] {
        std::fs::copy(fixture("media/grey.jpg"), folder.path().join(name)).unwrap();
    }
    let report = app.import(&ann, &[folder.path().to_owned()]).await;
    assert_eq!((report.imported, report.duplicates, report.failed.len()), (1, 2, 0));
    let again = app.import(&ann, &[folder.path().to_owned()]).await;
    assert_eq!((again.imported, again.duplicates, again.failed.len()), (0, 3, 0));
    assert_eq!(app.get("/images", &ann.key).await.ids().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn other_files_are_rejected_with_a_reason_and_photos_are_imported() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(fixture("media/grey.jpg"), folder.path().join("good.jpg")).unwrap();
    std::fs::write(folder.path().join("notes.jpg"), "no photo at all").unwrap();
    std::fs::write(folder.path().join("empty.png"), "").unwrap();
    std::fs::write(folder.path().join(".DS_Store"), "junk").unwrap();
    std::fs::write(folder.path().join("Thumbs.db"), "junk").unwrap();
    let report = app.import(&ann, &[folder.path().to_owned(), folder.path().join("missing.jpg")]).await;
    assert_eq!((report.imported, report.duplicates), (1, 0));
    let mut failed: Vec<String> = report
        .failed
        .iter()
        .map(|file| file.path.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    failed.sort_unstable();
    assert_eq!(failed, ["empty.png", "missing.jpg", "notes.jpg"]);
    assert!(report.failed.iter().all(|file| !file.error.is_empty()));
    assert_eq!(app.get("/images", &ann.key).await.column("fileName"), ["good.jpg"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_fixture_is_imported_with_a_valid_record() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let report = app.import(&ann, &[fixtures().join("media")]).await;
    let files = std::fs::read_dir(fixtures().join("media")).unwrap().count();
    assert_eq!(usize::try_from(report.imported).unwrap() + report.failed.len(), files, "{report:?}");
    assert_eq!(report.failed, []);
    let list = app.get("/images?limit=100", &ann.key).await;
    assert_eq!(list.ids().len(), files);
    for record in list.results() {
        assert!(record["width"].as_u64() > Some(0) && record["height"].as_u64() > Some(0), "{record}");
        assert_eq!(record["latitude"].is_null(), record["longitude"].is_null(), "{record}");
        app.fetch(record["url"].as_str().unwrap()).await.expect(200);
    }
}
