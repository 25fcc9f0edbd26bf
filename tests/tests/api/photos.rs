//! Photos of every kind, from a folder to their record.

use std::{
    collections::HashMap,
    fs,
    path::Path,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use domain::{Rendition, Timestamp};
use image::GenericImageView as _;
use library::{ImportReport, IndexingScope};
use serde_json::{Value, json};
use tests::{DateCase, TestAccount, TestApp, black_box::StoredCaptureTime, date_cases, fixture};

fn write_case(folder: &Path, case: &DateCase) {
    fs::create_dir_all(folder).unwrap();
    let photo = folder.join(&case.file_name);
    fs::write(&photo, &case.jpeg).unwrap();
    let modified_ms = case.modified.map_or(0, Timestamp::millis);
    let modified: SystemTime = UNIX_EPOCH + Duration::from_millis(u64::try_from(modified_ms).unwrap());
    fs::File::options().write(true).open(&photo).unwrap().set_modified(modified).unwrap();
    for sidecar in &case.sidecars {
        fs::write(folder.join(&sidecar.name), &sidecar.content).unwrap();
    }
}

/// An offset in the format of records, such as `-03:30`.
fn written_offset(minutes: i32) -> String {
    let sign = if minutes < 0 { '-' } else { '+' };
    format!("{sign}{:02}:{:02}", minutes.abs() / 60, minutes.abs() % 60)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_date_case_is_imported_with_its_time() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let cases = date_cases(&fs::read_to_string(fixture("dates.json")).unwrap());
    assert!(cases.len() >= 60);
    let folder = tempfile::tempdir().unwrap();
    for (number, case) in cases.iter().enumerate() {
        write_case(&folder.path().join(number.to_string()), case);
    }
    let report = app.import(&ann, &[folder.path().to_owned()]).await;
    assert_eq!((report.imported, report.failed), (cases.len() as u64, Vec::new()));

    let captures = app.capture_times().await;
    let by_file: HashMap<&[u8], &StoredCaptureTime> =
        captures.iter().map(|capture| (capture.original.as_slice(), capture)).collect();
    for case in &cases {
        let original = blobs::content_hash(&case.jpeg);
        let kept = by_file[original.as_bytes().as_slice()];
        let expect = &case.expect_import;
        let at = Timestamp::from_millis(kept.at_ms).unwrap().to_string();
        assert_eq!((&at, &kept.source), (&expect.at, &expect.source), "{}", case.name);
        assert_eq!(kept.offset_minutes, expect.offset_minutes.map(i64::from), "{}", case.name);
        assert_eq!(kept.wall, expect.wall, "{}", case.name);
        let record = app.get(&format!("/images/{}", kept.image), &ann.key).await.expect(200);
        let offset = expect.offset_minutes.map(written_offset);
        assert_eq!(record.result()["utcOffset"].as_str(), offset.as_deref(), "{}", case.name);
    }
}

/// Whether a field of a record has the expected value.
fn has_expected(record: &Value, field: &str, expect: &Value) -> bool {
    match (field, expect.as_f64()) {
        ("wh", _) => *expect == json!([record["width"], record["height"]]),
        (_, Some(number)) => record[field].as_f64().is_some_and(|found| (found - number).abs() < 1e-5),
        (_, None) => record[field] == *expect,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_is_imported_with_metadata_from_files_sidecars_and_names() {
    let app = TestApp::start().await;
    // The newest photo was taken in 2026. A time in the future would not be accepted as its capture time.
    app.advance(Duration::from_secs(3 * 365 * 24 * 3600));
    let ann = app.account("ann").await;
    let report = app.import(&ann, &[fixture("import")]).await;
    let expected: Value = serde_json::from_str(&fs::read_to_string(fixture("import.json")).unwrap()).unwrap();
    let expected = expected.as_object().unwrap();
    assert_eq!((report.imported, report.failed), (expected.len() as u64, Vec::new()));
    let list = app.get("/images?limit=100", &ann.key).await;
    let records = list.results();
    let mut wrong = Vec::new();
    for (name, fields) in expected {
        let record = records.iter().find(|record| record["fileName"] == name.as_str());
        for (field, expect) in fields.as_object().unwrap() {
            if !record.is_some_and(|record| has_expected(record, field, expect)) {
                wrong.push(format!("{name} {field}: expected {expect}, found {record:?}"));
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
}

const XMP: &str = "<x:xmpmeta xmlns:x='adobe:ns:meta/'>\
    <rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>\
    <rdf:Description xmlns:exif='http://ns.adobe.com/exif/1.0/' exif:DateTimeOriginal='2001-02-03T04:05:06+01:00'\
     exif:GPSLatitude='48,51.5N' exif:GPSLongitude='2,17.7E'>\
    <dc:description xmlns:dc='http://purl.org/dc/elements/1.1/'><rdf:Alt>\
    <rdf:li xml:lang='x-default'>the tower at noon</rdf:li></rdf:Alt></dc:description>\
    </rdf:Description></rdf:RDF></x:xmpmeta>";

async fn import(app: &TestApp, account: &TestAccount, path: &Path) -> ImportReport {
    app.library.ingest.import_folder(account.id, &[path.to_owned()], IndexingScope::Search, |_| {}).await
}

/// Waits until the queue meets a condition.
async fn until(app: &TestApp, reached: impl Fn(&library::QueueLength) -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let queue = app.store.queue_length().await.unwrap();
        if reached(&queue) {
            return;
        }
        assert!(Instant::now() < deadline, "the queue stays as it is: {queue:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_later_sidecar_updates_the_record() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let folder = tempfile::tempdir().unwrap();
    fs::copy(fixture("media/grey.jpg"), folder.path().join("photo.jpg")).unwrap();
    app.import(&ann, &[folder.path().to_owned()]).await;
    let record = |list: tests::TestResponse| list.results()[0].clone();
    let before = record(app.get("/images", &ann.key).await);
    assert_eq!((&before["description"], &before["place"]), (&Value::Null, &Value::Null));

    fs::write(folder.path().join("photo.xmp"), XMP).unwrap();
    let (library, path) = (app.library.clone(), folder.path().to_owned());
    let account = ann.id;
    let importing = tokio::spawn(async move {
        library.ingest.import_folder(account, &[path], IndexingScope::Search, |_| {}).await
    });
    until(&app, |queue| queue.reindexes == 1).await;
    assert_eq!(record(app.get("/images", &ann.key).await)["id"], before["id"], "it stays visible");
    let indexing = app.library.indexer.start_indexing(IndexingScope::Search).unwrap();
    let report = importing.await.unwrap();
    assert_eq!((report.imported, report.duplicates, report.failed.len()), (0, 1, 0));
    assert_eq!(app.store.queue_length().await.unwrap().reindexes, 0, "the import waits for it");
    indexing.stop().await;
    let after = record(app.get("/images", &ann.key).await);
    assert_eq!(after["id"], before["id"]);
    assert_eq!(after["capturedAt"], "2001-02-03T03:05:06.000Z");
    assert_eq!(after["place"], "Paris, France");
    assert_eq!(app.get("/search?query=tower", &ann.key).await.ids(), [after["id"].as_str().unwrap()]);
    // The same sidecar again changes nothing.
    import(&app, &ann, folder.path()).await;
    assert_eq!(app.store.queue_length().await.unwrap().reindexes, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_orientation_in_a_sidecar_rotates_every_rendition() {
    let app = TestApp::start().await;
    let (ann, bob) = (app.account("ann").await, app.account("bob").await);
    let folder = tempfile::tempdir().unwrap();
    fs::copy(fixture("samples/wisteria.jpg"), folder.path().join("photo.jpg")).unwrap();
    let import = async |account: &TestAccount, sidecar: Option<String>| {
        if let Some(sidecar) = sidecar {
            fs::write(folder.path().join("photo.xmp"), sidecar).unwrap();
        }
        app.import(account, &[folder.path().to_owned()]).await;
        let list = app.get("/images", &account.key).await;
        let record = app.get(&format!("/images/{}", list.ids()[0]), &account.key).await;
        let record = record.result();
        let size = (record["width"].as_u64().unwrap(), record["height"].as_u64().unwrap());
        for (name, url) in record["renditions"].as_object().unwrap() {
            let file = app.fetch(url.as_str().unwrap()).await.expect(200).body;
            let (width, height) = image::load_from_memory(&file).unwrap().dimensions();
            assert_eq!(width < height, size.0 < size.1, "{name} {width} {height}");
        }
        size
    };
    let (width, height) = import(&ann, None).await;
    assert!(width > height);
    // The sidecar arrives after the photo, when the renditions exist.
    let turned = XMP.replace("exif:GPSLatitude", TURNED);
    assert_eq!(import(&ann, Some(turned.clone())).await, (height, width));
    assert_eq!(import(&ann, Some(XMP.to_owned())).await, (width, height), "the new sidecar turns nothing");
    // A photo of another account with the same file has the same renditions.
    assert_eq!(import(&bob, Some(turned)).await, (height, width));
}

/// Replaces an attribute in `XMP` by an orientation and the same attribute.
const TURNED: &str = "xmlns:tiff='http://ns.adobe.com/tiff/1.0/' tiff:Orientation='6' exif:GPSLatitude";

#[tokio::test(flavor = "multi_thread")]
async fn a_sidecar_without_a_photo_is_reported() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let folder = tempfile::tempdir().unwrap();
    fs::copy(fixture("media/grey.jpg"), folder.path().join("photo.jpg")).unwrap();
    fs::write(folder.path().join("other.xmp"), XMP).unwrap();
    let report = app.import(&ann, &[folder.path().to_owned()]).await;
    assert_eq!(report.imported, 1);
    let failed: Vec<_> = report.failed.iter().map(|file| (file.path.clone(), file.error.as_str())).collect();
    assert_eq!(failed, [(folder.path().join("other.xmp"), "describes no photo that is imported with it")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn full_renditions_are_created_in_the_background() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let ids = app.import_fixtures(&ann, &["samples/wisteria.jpg", "samples/autumn-leaf.jpg"]).await;
    assert_eq!(app.store.queue_length().await.unwrap().renditions, 2);
    let indexing = app.library.indexer.start_indexing(IndexingScope::Everything).unwrap();
    until(&app, |queue| queue.renditions == 0).await;
    indexing.stop().await;
    for id in ids.values() {
        let id = domain::ImageId::parse(id.as_str()).unwrap();
        let source = app.store.rendition(&id, Rendition::Full, u32::MAX).await.unwrap().unwrap();
        assert!(source.stored.is_some());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_and_the_indexer_create_a_full_rendition_only_once() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let ids = app.import_fixtures(&ann, &["samples/wisteria.jpg"]).await;
    let id = &ids["wisteria.jpg"];
    let record = app.get(&format!("/images/{id}"), &ann.key).await;
    let url = record.result()["renditions"]["webp-full"].as_str().unwrap().to_owned();
    let indexing = app.library.indexer.start_indexing(IndexingScope::Everything).unwrap();
    let (first, second) = tokio::join!(app.fetch(&url), app.fetch(&url));
    assert_eq!(first.expect(200).body, second.expect(200).body);
    until(&app, |queue| queue.renditions == 0).await;
    indexing.stop().await;
    // Every blob is referenced: none was created twice.
    assert_eq!(app.stored_renditions().await.len(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn heic_avif_and_rotated_photos_are_upright() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let upright = fixture("media/rot0mir0.avif");
    let names = [
        "media/rot0mir0.avif",
        "media/rot1mir0.avif",
        "media/rot2mir1.avif",
        "media/rot3mir1.avif",
        "media/hopper.heif",
        "media/hopper.avif",
        "media/10-bit.heif",
    ];
    assert!(upright.is_file());
    let ids = app.import_fixtures(&ann, &names).await;
    assert_eq!(ids.len(), names.len());
    let picture = async |name: &str| {
        let record = app.get(&format!("/images/{}", ids[name]), &ann.key).await;
        let answer = app.fetch(record.result()["url"].as_str().unwrap()).await.expect(200);
        image::load_from_memory_with_format(&answer.body, image::ImageFormat::WebP).unwrap()
    };
    // The four files store the same picture, rotated and mirrored in four ways.
    let expect = picture("rot0mir0.avif").await.thumbnail_exact(8, 8);
    for name in ["rot1mir0.avif", "rot2mir1.avif", "rot3mir1.avif"] {
        let found = picture(name).await.thumbnail_exact(8, 8);
        for (x, y, pixel) in expect.pixels() {
            let other = found.get_pixel(x, y);
            let difference = pixel.0.iter().zip(other.0).map(|(a, b)| a.abs_diff(b)).max();
            assert!(difference < Some(40), "{name} at {x}, {y}: {pixel:?} {other:?}");
        }
    }
}
