//! Exports of Google Photos and iCloud Photos, from archives in parts.

use std::{
    collections::BTreeMap,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use domain::{Account, ImageId, Keyword, Limit, ListQuery, Marks, Offset, Rating};
use flate2::{Compression, write::DeflateEncoder, write::GzEncoder};
use library::{Caller, FailedKind, ImportReport, IndexingScope, IngestLimits, Settings};
use rawzip::{CompressionMethod, ZipArchiveWriter, path::EntryPath};
use storage::IndexQueue as _;

use crate::{Process, decoder, fixture, limited, process, process_with};

type File = (String, Vec<u8>);
type Files = Vec<File>;

/// A small photo without metadata whose bytes depend on the text.
fn photo(text: &str) -> Vec<u8> {
    let file = fs::read(fixture("media/grey.jpg")).unwrap();
    let length = u16::try_from(text.len() + 2).unwrap().to_be_bytes();
    [&[0xFF, 0xD8, 0xFF, 0xEF][..], &length, text.as_bytes(), &file[2..]].concat()
}

/// A data folder beside the files to import.
fn data(dir: &Path) -> PathBuf {
    let data = dir.join("data");
    fs::create_dir(&data).unwrap();
    data
}

fn movie() -> Vec<u8> {
    [&b"\0\0\0\x14ftypisom\0\0\x02\0isom"[..], &[0; 5000]].concat()
}

fn zip(path: &Path, files: &[File]) {
    let mut archive = ZipArchiveWriter::new(fs::File::create(path).unwrap());
    for (name, content) in files {
        let file = archive.new_file(EntryPath::verbatim(name.as_bytes()));
        let (mut entry, config) = file.compression_method(CompressionMethod::DEFLATE).start().unwrap();
        let mut writer = config.wrap(DeflateEncoder::new(&mut entry, Compression::fast()));
        writer.write_all(content).unwrap();
        let (encoder, descriptor) = writer.finish().unwrap();
        encoder.finish().unwrap();
        entry.finish(descriptor).unwrap();
    }
    archive.finish().unwrap();
}

fn tgz(path: &Path, files: &[File]) {
    let encoder = GzEncoder::new(fs::File::create(path).unwrap(), Compression::fast());
    let mut archive = tar::Builder::new(encoder);
    for (name, content) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        archive.append_data(&mut header, name, content.as_slice()).unwrap();
    }
    archive.into_inner().unwrap().finish().unwrap();
}

fn folder(path: &Path, files: &[File]) {
    for (name, content) in files {
        fs::create_dir_all(path.join(name).parent().unwrap()).unwrap();
        fs::write(path.join(name), content).unwrap();
    }
}

/// The properties of a photo that the owner sees: time, position, description.
type Seen = (String, Option<(f64, f64)>, Option<String>);

async fn caller(it: &Process, account: &Account) -> Caller {
    Caller::operator(it.library.accounts.account(&account.email).await.unwrap())
}

async fn seen(it: &Process, account: &Account) -> BTreeMap<String, Seen> {
    let query = ListQuery { limit: Limit::new(100).unwrap(), ..ListQuery::default() };
    let images = it.library.catalogue.list(&caller(it, account).await, &query).await.unwrap();
    let seen = |image: domain::Image| {
        let position = image.details.position.map(|at| (at.latitude(), at.longitude()));
        let seen = (image.captured_at.to_string(), position, image.details.description);
        (image.file_name.unwrap(), seen)
    };
    images.into_iter().map(|hit| seen(hit.image)).collect()
}

/// The marks of the photos that have any: favourite, rating, keywords, archived.
async fn marks(it: &Process, account: &Account) -> BTreeMap<String, String> {
    let query = ListQuery { limit: Limit::new(100).unwrap(), ..ListQuery::default() };
    let images = it.library.catalogue.list(&caller(it, account).await, &query).await.unwrap();
    let marked = images.into_iter().map(|hit| hit.image).filter(|image| image.marks != Marks::default());
    let shown = |marks: Marks| {
        let keywords: Vec<&str> = marks.keywords.iter().map(Keyword::as_str).collect();
        let stars = marks.rating.map_or(0, Rating::stars);
        format!("{} {stars} {} {}", marks.favorite, keywords.join(";"), marks.archived)
    };
    marked.map(|image| (image.file_name.unwrap(), shown(image.marks))).collect()
}

/// The file names of the photos in the trash, with their ids.
async fn trash(it: &Process, account: &Account) -> BTreeMap<String, ImageId> {
    let trash = it.library.catalogue.trash(&caller(it, account).await, None, 100).await.unwrap();
    assert!(trash.iter().all(|deleted| deleted.image.is_some()), "they are indexed");
    trash.into_iter().map(|deleted| (deleted.file_name.unwrap(), deleted.id)).collect()
}

/// The titles of the albums with their numbers of images, and when they last changed.
async fn albums(it: &Process, account: &Account) -> BTreeMap<String, (u32, String)> {
    let caller = caller(it, account).await;
    let page = it.library.catalogue.albums(&caller, Limit::default(), Offset::default()).await.unwrap();
    let album = |album: domain::Album| (album.title, (album.image_count, album.updated_at.to_string()));
    page.albums.into_iter().map(album).collect()
}

fn counts(albums: &BTreeMap<String, (u32, String)>) -> Vec<(&str, u32)> {
    albums.iter().map(|(title, (count, _))| (title.as_str(), *count)).collect()
}

fn json(title: &str, seconds: u64, more: &str) -> Vec<u8> {
    let title = format!(r#""title": "{title}", "creationTime": {{"timestamp": "1700000000"}}"#);
    format!(r#"{{{title}, "photoTakenTime": {{"timestamp": "{seconds}"}}{more}}}"#).into_bytes()
}

/// A Takeout export: photos in the first part, sidecars and an album in the second.
fn takeout() -> (Files, Files) {
    let year = |name: &str| format!("Takeout/Google Fotos/Fotos von 2019/{name}");
    let album = |name: &str| format!("Takeout/Google Fotos/Trip(1)/{name}");
    let first =
        ["a.jpg", "a-bearbeitet.jpg", "b(1).jpg", "trashed.jpg", "none.jpg", "IMG-20190704-WA0001.jpg"];
    let mut first: Files = first.iter().map(|name| (year(name), photo(name))).collect();
    first.push((year("a.MP4"), movie()));
    first.push((year("notes.txt"), b"hello".to_vec()));
    let zero = r#"{"latitude": 0.0, "longitude": 0.0}"#;
    let paris = r#"{"latitude": 48.858206, "longitude": 2.294481}"#;
    let rome = r#"{"latitude": 41.89, "longitude": 12.49}"#;
    let more = format!(
        r#", "favorited": true, "description": "The tower", "geoData": {rome}, "geoDataExif": {paris}"#
    );
    let b = format!(r#", "geoData": {rome}, "geoDataExif": {zero}"#);
    let second: Files = vec![
        (year("a.jpg.supplemental-metadata.json"), json("a.jpg", 1_562_256_202, &more)),
        (year("b.jpg.supplemental-metadata(1).json"), json("b.jpg", 1_562_256_302, &b)),
        (year("trashed.jpg.json"), json("trashed.jpg", 1_562_256_402, r#", "trashed": true"#)),
        (year("gone.jpg.json"), json("gone.jpg", 1_562_256_502, "")),
        (album("a.jpg"), photo("a.jpg")),
        (album("c.jpg"), photo("c.jpg")),
        (album("c.jpg.json"), json("c.jpg", 1_562_256_602, r#", "archived": true"#)),
        (
            album("Metadaten.json"),
            br#"{"title": "Trip to Paris", "access": "protected", "date": {}}"#.to_vec(),
        ),
    ];
    (first, second)
}

fn assert_takeout(seen: &BTreeMap<String, Seen>) {
    let paris = Some((48.858_206, 2.294_481));
    let at = |name: &str| &seen[name];
    // Both photos were taken in the same second. The store moves equal capture times apart by milliseconds.
    for name in ["a.jpg", "a-bearbeitet.jpg"] {
        assert!(at(name).0.starts_with("2019-07-04T16:03:22.00"), "{name}: {:?}", at(name));
        assert_eq!((at(name).1, at(name).2.as_deref()), (paris, Some("The tower")), "{name}");
    }
    assert_eq!(*at("b(1).jpg"), ("2019-07-04T16:05:02.000Z".into(), Some((41.89, 12.49)), None));
    assert_eq!(at("c.jpg").0, "2019-07-04T16:10:02.000Z");
    assert_eq!(at("none.jpg").0, "2019-01-01T00:00:00.000Z");
    assert!(at("IMG-20190704-WA0001.jpg").0.starts_with("2019-07-04T"));
    assert_eq!(seen.len(), 6);
}

fn reasons(report: &ImportReport, kind: FailedKind) -> Vec<String> {
    let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
    let of_kind = report.failed.iter().filter(|file| file.kind == kind);
    let mut reasons: Vec<String> =
        of_kind.map(|file| format!("{}: {}", name(&file.path), file.error)).collect();
    reasons.sort();
    reasons
}

#[tokio::test(flavor = "multi_thread")]
async fn a_takeout_export_in_parts_is_imported_once() {
    let dir = tempfile::tempdir().unwrap();
    let it = process(&data(dir.path())).await;
    let ann = it.account("ann").await;
    let part = |name: &str| dir.path().join(name);
    let (first, second) = takeout();
    zip(&part("takeout-001.zip"), &first);
    zip(&part("takeout-002.zip"), &second);
    let report = it.import(&ann, &[part("takeout-001.zip"), part("takeout-002.zip")]).await;
    assert_eq!((report.imported, report.duplicates, report.albums), (6, 1, 1), "{report:?}");
    assert_eq!((report.trashed, report.skipped.len()), (1, 0), "{report:?}");
    assert_takeout(&seen(&it, &ann).await);
    let favorite = "true 0  false".to_owned();
    let expect = [
        ("a-bearbeitet.jpg".to_owned(), favorite.clone()),
        ("a.jpg".to_owned(), favorite),
        ("c.jpg".to_owned(), "false 0  true".to_owned()),
    ];
    assert_eq!(marks(&it, &ann).await, expect.into());
    let first_albums = albums(&it, &ann).await;
    assert_eq!(counts(&first_albums), [("Trip to Paris", 2)]);
    assert_eq!(
        reasons(&report, FailedKind::Movie),
        ["a.MP4: the file is a video; only photos can be imported"]
    );
    assert_eq!(
        reasons(&report, FailedKind::Unmatched),
        ["gone.jpg.json: describes no photo that is imported with it"]
    );
    assert_eq!(reasons(&report, FailedKind::File).len(), 1, "{report:?}");
    let in_trash = trash(&it, &ann).await;
    assert_eq!(in_trash.keys().collect::<Vec<_>>(), ["trashed.jpg"]);

    // Importing the same export again changes nothing, also from other archives or from a folder.
    let all = [first, second].concat();
    tgz(&part("takeout.tgz"), &all);
    folder(&part("unpacked"), &all);
    for again in [&["takeout-002.zip", "takeout-001.zip"][..], &["takeout.tgz"], &["unpacked"]] {
        let paths: Vec<PathBuf> = again.iter().map(|name| part(name)).collect();
        let report = it.import(&ann, &paths).await;
        assert_eq!((report.imported, report.duplicates, report.trashed), (0, 8, 0), "{again:?}: {report:?}");
        assert_takeout(&seen(&it, &ann).await);
        assert_eq!(albums(&it, &ann).await, first_albums, "{again:?}");
        assert_eq!(trash(&it, &ann).await, in_trash, "{again:?}");
    }

    // A photo that its owner restored stays.
    assert!(it.library.catalogue.restore_image(ann.id, &in_trash["trashed.jpg"]).await.unwrap());
    it.import(&ann, &[part("takeout.tgz")]).await;
    assert!(seen(&it, &ann).await.contains_key("trashed.jpg"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_photo_that_is_also_outside_of_the_trash_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let it = process(&data(dir.path())).await;
    let ann = it.account("ann").await;
    let file = |name: &str| (format!("Takeout/Fotos/{name}"), photo("same"));
    let trashed = |name: &str| {
        (format!("Takeout/Fotos/{name}.json"), json(name, 1_562_256_202, r#", "trashed": true"#))
    };
    let kept = ("Takeout/Fotos/kept.jpg.json".to_owned(), json("kept.jpg", 1_562_256_202, ""));
    // The deleted copy comes before the other one, and after it.
    let path = dir.path().join("takeout.zip");
    zip(&path, &[file("a.jpg"), file("kept.jpg"), file("z.jpg"), trashed("a.jpg"), trashed("z.jpg"), kept]);
    it.import(&ann, std::slice::from_ref(&path)).await;
    assert_eq!((seen(&it, &ann).await.len(), trash(&it, &ann).await.len()), (1, 0));

    let loose = dir.path().join("loose");
    folder(&loose, &[("live.jpg".into(), photo("live"))]);
    assert_eq!(it.import(&ann, &[loose]).await.imported, 1);
    zip(&path, &[("Takeout/Fotos/live.jpg".into(), photo("live")), trashed("live.jpg")]);
    let report = it.import(&ann, &[path]).await;
    assert_eq!((report.imported, report.trashed, report.duplicates), (0, 0, 1), "{report:?}");
    assert!(seen(&it, &ann).await.contains_key("live.jpg"));
}

/// The case: a library of a release that did not read marks is opened with this one.
#[tokio::test(flavor = "multi_thread")]
async fn photos_of_an_older_release_get_their_marks_from_originals_and_stored_sidecars() {
    let dir = tempfile::tempdir().unwrap();
    let data = data(dir.path());
    let it = process(&data).await;
    let ann = it.account("ann").await;
    let files = [
        ("Takeout/Fotos/a.jpg".to_owned(), photo("a")),
        ("Takeout/Fotos/a.jpg.json".to_owned(), json("a.jpg", 1_562_256_202, r#", "favorited": true"#)),
        ("Takeout/Fotos/b.jpg".to_owned(), rated("b")),
    ];
    let path = dir.path().join("takeout.zip");
    zip(&path, &files);
    assert_eq!(it.import(&ann, std::slice::from_ref(&path)).await.imported, 2);
    fs::remove_file(path).unwrap();
    let (expect, seen_before) = (marks(&it, &ann).await, seen(&it, &ann).await);
    assert_eq!(expect.values().collect::<Vec<_>>(), ["true 0  false", "false 4 Sea;Boat false"]);
    let older = media::PICTURE_VERSION;
    assert!(older < media::DECODER_VERSION);
    crate::integrity::break_rows(
        &data,
        &format!(
            "UPDATE images SET decoder_version = {older}; DELETE FROM image_facets; DELETE FROM image_marks;"
        ),
    );
    assert_eq!(marks(&it, &ann).await, BTreeMap::new());
    let indexing = it.library.indexer.start_indexing(IndexingScope::Everything).unwrap();
    while marks(&it, &ann).await != expect {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    indexing.stop().await;
    assert_eq!(seen(&it, &ann).await, seen_before);
}

/// A photo with a rating and keywords in its own XMP.
fn rated(text: &str) -> Vec<u8> {
    let packet = "http://ns.adobe.com/xap/1.0/\0<x:xmpmeta xmlns:x='adobe:ns:meta/'>\
        <rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><rdf:Description \
        xmlns:xmp='http://ns.adobe.com/xap/1.0/' xmlns:dc='http://purl.org/dc/elements/1.1/' xmp:Rating='4'>\
        <dc:subject><rdf:Bag><rdf:li>Sea</rdf:li><rdf:li>Boat</rdf:li></rdf:Bag></dc:subject></rdf:Description>\
        </rdf:RDF></x:xmpmeta>";
    let photo = photo(text);
    let length = u16::try_from(packet.len() + 2).unwrap().to_be_bytes();
    [&photo[..2], &[0xFF, 0xE1], &length, packet.as_bytes(), &photo[2..]].concat()
}

#[tokio::test(flavor = "multi_thread")]
async fn archives_in_a_folder_are_imported_and_may_be_damaged() {
    let dir = tempfile::tempdir().unwrap();
    let it = process(&data(dir.path())).await;
    let ann = it.account("ann").await;
    let exports = dir.path().join("exports");
    fs::create_dir(&exports).unwrap();
    let (first, second) = takeout();
    let all = [first, second].concat();
    tgz(&exports.join("takeout.tgz"), &all);
    zip(&exports.join("broken.zip"), &[("1.jpg".into(), photo("1")), ("2.jpg".into(), photo("2"))]);
    let whole = fs::read(exports.join("broken.zip")).unwrap();
    fs::write(exports.join("broken.zip"), &whole[..whole.len() * 2 / 3]).unwrap();
    let report = it.import(&ann, std::slice::from_ref(&exports)).await;
    assert_eq!((report.imported, report.duplicates, report.trashed), (7, 1, 1), "{report:?}");
    let reasons = reasons(&report, FailedKind::File);
    assert!(reasons.iter().any(|reason| reason.starts_with("broken.zip: is damaged")), "{reasons:?}");
    assert_eq!(counts(&albums(&it, &ann).await), [("Trip to Paris", 2)]);
}

const HEADER: &str =
    "imgName,fileChecksum,favorite,hidden,deleted,originalCreationDate,viewCount,importDate\n";

#[tokio::test(flavor = "multi_thread")]
async fn an_apple_export_in_parts_is_imported_once() {
    let dir = tempfile::tempdir().unwrap();
    let it = process(&data(dir.path())).await;
    let ann = it.account("ann").await;
    let row = |name: &str, marks: &str, date: &str| format!("{name},x,{marks},\"{date}\",1,\"\"\n");
    let date = "Saturday June 4,2022 12:11 AM GMT";
    let exif = fs::read(fixture("media/gps-time.jpg")).unwrap();
    let list =
        [row("1.jpg", "yes,no,no", date), row("2.jpg", "no,no,yes", ""), row("3.jpg", "no,yes,no", "")]
            .concat();
    let list = HEADER.to_owned() + &list;
    let first: Files = vec![
        ("iCloud Photos/Photos/1.jpg".into(), photo("1")),
        ("iCloud Photos/Photos/2.jpg".into(), photo("2")),
        ("iCloud Photos/Photos/3.jpg".into(), photo("3")),
        ("iCloud Photos/Photos/1.AAE".into(), b"<plist/>".to_vec()),
        ("iCloud Photos/Photos/Photo Details.csv".into(), list.into_bytes()),
        ("iCloud Photos/Recently Deleted/4.jpg".into(), photo("4")),
    ];
    let list = HEADER.to_owned() + &row("camera.jpg", "no,no,no", date) + &row("same.jpg", "no,no,no", date);
    let second: Files = vec![
        ("iCloud Photos/Photos/camera.jpg".into(), exif),
        ("iCloud Photos/Photos/Photo Details-1.csv".into(), list.into_bytes()),
        ("iCloud Photos/Photos/1.MOV".into(), movie()),
        ("iCloud Photos/Albums/Summer.csv".into(), b"Images\n1.jpg\ncamera.jpg\n2.jpg\n".to_vec()),
    ];
    let parts =
        ["iCloud Photos Part 1 of 2.zip", "iCloud Photos Part 2 of 2.zip"].map(|name| dir.path().join(name));
    zip(&parts[0], &first);
    zip(&parts[1], &second);
    let report = it.import(&ann, &parts).await;
    assert_eq!((report.imported, report.duplicates, report.albums), (3, 0, 1), "{report:?}");
    assert_eq!((report.trashed, report.skipped.len()), (2, 0), "{report:?}");
    assert_eq!(trash(&it, &ann).await.keys().collect::<Vec<_>>(), ["2.jpg", "4.jpg"]);
    let expect = [("1.jpg", "true 0  false"), ("3.jpg", "false 0  true")];
    let mut found = marks(&it, &ann).await;
    assert!(found.remove("camera.jpg").unwrap().contains("thompson springs"), "its file has keywords");
    assert_eq!(found, expect.map(|(name, marks)| (name.to_owned(), marks.to_owned())).into());
    let images = seen(&it, &ann).await;
    assert_eq!(images["1.jpg"].0, "2022-06-04T00:11:00.000Z");
    assert_eq!(images["camera.jpg"].0, "2022-01-10T21:15:44.310Z", "EXIF is better than the list");
    let first_albums = albums(&it, &ann).await;
    assert_eq!(counts(&first_albums), [("Summer", 2)]);
    let report = it.import(&ann, &parts).await;
    assert_eq!((report.imported, report.duplicates), (0, 5), "{report:?}");
    assert_eq!((seen(&it, &ann).await, albums(&it, &ann).await), (images, first_albums));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_waits_until_known_photos_are_indexed_with_their_new_sidecars() {
    let dir = tempfile::tempdir().unwrap();
    let it = process(&data(dir.path())).await;
    let ann = it.account("ann").await;
    let year = |name: &str| format!("Takeout/Google Fotos/Fotos von 2019/{name}");
    let names: Vec<String> = (0..12).map(|number| format!("{number}.jpg")).collect();
    let photos: Files = names.iter().map(|name| (year(name), photo(name))).collect();
    let described = |name: &String, seconds| (year(&format!("{name}.json")), json(name, seconds, ""));
    let part = |name: &str| dir.path().join(name);
    zip(&part("photos.zip"), &photos);
    assert_eq!(it.import(&ann, &[part("photos.zip")]).await.imported, 12);
    let all: Files =
        photos.into_iter().chain(names.iter().map(|name| described(name, 1_562_256_202))).collect();
    zip(&part("all.zip"), &all);
    let report = it.import(&ann, &[part("all.zip")]).await;
    assert_eq!((report.imported, report.duplicates), (0, 12), "{report:?}");
    let seen = seen(&it, &ann).await;
    assert!(seen.values().all(|(at, ..)| at.starts_with("2019-07-04T16:03:22")), "{seen:?}");
    assert_eq!(it.store.queue_length().await.unwrap().reindexes, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_date_in_a_list_is_applied_to_imported_photos_without_a_sidecar() {
    let dir = tempfile::tempdir().unwrap();
    let it = process(&data(dir.path())).await;
    let ann = it.account("ann").await;
    let xmp = br#"<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>
        <rdf:Description xmlns:photoshop='http://ns.adobe.com/photoshop/1.0/' photoshop:DateCreated='2001-02-03T04:05:06Z'/>
        </rdf:RDF></x:xmpmeta>"#;
    let loose = dir.path().join("loose");
    folder(
        &loose,
        &[("1.jpg".into(), photo("1")), ("2.jpg".into(), photo("2")), ("2.jpg.xmp".into(), xmp.to_vec())],
    );
    assert_eq!(it.import(&ann, &[loose]).await.imported, 2);
    let row = |name: &str| format!("{name},x,no,no,no,\"Saturday June 4,2022 12:11 AM GMT\",1,\"\"\n");
    let list = HEADER.to_owned() + &row("1.jpg") + &row("2.jpg");
    let path = dir.path().join("iCloud Photos.zip");
    zip(
        &path,
        &[
            ("iCloud Photos/Photos/1.jpg".into(), photo("1")),
            ("iCloud Photos/Photos/2.jpg".into(), photo("2")),
            ("iCloud Photos/Photos/Photo Details.csv".into(), list.into_bytes()),
        ],
    );
    for _ in 0..2 {
        let report = it.import(&ann, std::slice::from_ref(&path)).await;
        assert_eq!((report.imported, report.duplicates), (0, 2), "{report:?}");
        let seen = seen(&it, &ann).await;
        assert_eq!(seen["1.jpg"].0, "2022-06-04T00:11:00.000Z");
        assert!(seen["2.jpg"].0.starts_with("2001-02-03T04:05:06"), "{seen:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn albums_are_complete_on_the_free_plan_and_above_the_limit_of_a_call() {
    let dir = tempfile::tempdir().unwrap();
    let settings = Settings { free_window: 2, ..Settings::new(decoder()) };
    let it = process_with(&data(dir.path()), settings).await;
    let ann = it.account("ann").await;
    it.library.accounts.set_plan(&ann.email, domain::Plan::Free).await.unwrap();
    let mut files: Files = (0..103)
        .map(|number| (format!("Takeout/Fotos/Big/{number}.jpg"), photo(&number.to_string())))
        .collect();
    files.push(("Takeout/Fotos/Big/metadata.json".into(), br#"{"title": "Big", "access": ""}"#.to_vec()));
    let path = dir.path().join("takeout.zip");
    zip(&path, &files);
    let report = it.import(&ann, &[path]).await;
    assert_eq!((report.imported, report.albums), (103, 1), "{report:?}");
    assert_eq!(counts(&albums(&it, &ann).await), [("Big", 2)]);
    it.library.accounts.set_plan(&ann.email, domain::Plan::Paid).await.unwrap();
    assert_eq!(counts(&albums(&it, &ann).await), [("Big", 103)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entry_above_the_limit_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let bytes = photo("x");
    let settings =
        limited(IngestLimits { max_upload_bytes: bytes.len() as u64 - 1, ..IngestLimits::default() });
    let it = process_with(&data(dir.path()), settings).await;
    let ann = it.account("ann").await;
    let files: Files = vec![("x.jpg".into(), bytes)];
    zip(&dir.path().join("x.zip"), &files);
    tgz(&dir.path().join("x.tgz"), &files);
    let report = it.import(&ann, &[dir.path().join("x.zip"), dir.path().join("x.tgz")]).await;
    assert_eq!(report.failed.len(), 2);
    assert!(report.failed.iter().all(|file| file.error.contains("larger than the limit")), "{report:?}");
}
