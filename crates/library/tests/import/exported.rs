//! Exports of this library, which an import reads back.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use blobs::content_hash;
use domain::{
    Account, AlbumChange, AlbumCover, AlbumMove, AlbumOrder, AlbumTitle, Correction, EditedField, Image,
    ImageId, Keywords, KeywordsEdit, Limit, ListQuery, Marks, MarksEdit, Offset, PhotoEdit, Position, Rating,
    TimeEdit, UtcOffset, Zone, parse_wall_time,
};
use library::{Caller, ExportError, ExportReport};

use crate::{Process, fixture, process};

/// A small photo without metadata whose bytes depend on the text.
fn photo(text: &str) -> Vec<u8> {
    let file = fs::read(fixture("media/grey.jpg")).unwrap();
    let length = u16::try_from(text.len() + 2).unwrap().to_be_bytes();
    [&[0xFF, 0xD8, 0xFF, 0xEF][..], &length, text.as_bytes(), &file[2..]].concat()
}

fn sidecar(time: &str, more: &str) -> Vec<u8> {
    format!(
        "<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>\
         <rdf:Description rdf:about='' xmlns:exif='http://ns.adobe.com/exif/1.0/' xmlns:dc='http://purl.org/dc/elements/1.1/'>\
         <exif:DateTimeOriginal>{time}</exif:DateTimeOriginal>{more}</rdf:Description></rdf:RDF></x:xmpmeta>"
    )
    .into_bytes()
}

/// A rating and keywords as other programs write them.
const RATED: &str = "<xmp:Rating xmlns:xmp='http://ns.adobe.com/xap/1.0/'>4</xmp:Rating>\
                     <dc:subject><rdf:Bag><rdf:li>Sea &amp; sun</rdf:li><rdf:li>Boat</rdf:li></rdf:Bag></dc:subject>";

const TOWER: &str = "<exif:GPSLatitude>48,51.49236N</exif:GPSLatitude><exif:GPSLongitude>2,17.66886E</exif:GPSLongitude>\
                     <dc:description>The tower &amp; me\nat night</dc:description>";

/// Writes photos with equal names, unusual names, time zones and places, and some of the bundled samples.
fn photos(folder: &Path) {
    let write = |name: &str, content: Vec<u8>| {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    };
    for (number, folder) in ["one", "two", "three"].into_iter().enumerate() {
        write(&format!("{folder}/IMG_1.jpg"), photo(folder));
        write(&format!("{folder}/IMG_1.jpg.xmp"), sidecar(&format!("2021-03-04T05:06:0{number}+02:00"), ""));
    }
    write("img_1.JPG", photo("upper case"));
    write("img_1.JPG.xmp", sidecar("2021-03-04T05:06:00.500-03:30", TOWER));
    // In local time, the first photo is of January and the second of December.
    write("new year.jpg", photo("new year"));
    write("new year.jpg.xmp", sidecar("2022-01-01T00:30:00+14:00", ""));
    write("old year.jpg", photo("old year"));
    write("old year.jpg.xmp", sidecar("2021-12-31T23:30:00-11:00", RATED));
    // Neither these marks nor those of the file are corrected.
    write("con.jpg.xmp", sidecar("2023-05-06T07:08:09Z", RATED));
    write("a: b?.jpg", photo("odd"));
    write("a: b?.jpg.xmp", sidecar("1912-04-14T23:40:00", ""));
    write("con.jpg", photo("device"));
    for name in ["cyclamen.jpg", "lorem-ipsum.png", "orange-lossless.webp", "sky-over-berlin.jpg"] {
        write(name, fs::read(fixture("samples").join(name)).unwrap());
    }
}

async fn caller(it: &Process, account: &Account) -> Caller {
    Caller::operator(it.library.accounts.account(&account.email).await.unwrap())
}

async fn images(it: &Process, account: &Account) -> Vec<Image> {
    let query = ListQuery { limit: Limit::new(100).unwrap(), ..ListQuery::default() };
    let hits = it.library.catalogue.list(&caller(it, account).await, &query).await.unwrap();
    hits.into_iter().map(|hit| hit.image).collect()
}

/// The properties of a photo that an export keeps: time, time zone, position to a centimetre, place, description, marks.
type Kept = (String, Option<String>, Option<(i64, i64)>, Option<String>, Option<String>, Marks);

#[expect(clippy::cast_possible_truncation, reason = "degrees are small")]
fn kept(image: &Image) -> Kept {
    let round = |degrees: f64| (degrees * 1e7).round() as i64;
    (
        image.captured_at.to_string(),
        image.utc_offset.map(|offset| offset.to_string()),
        image.details.position.map(|at| (round(at.latitude()), round(at.longitude()))),
        image.place.clone(),
        image.details.description.clone(),
        image.marks.clone(),
    )
}

async fn all_kept(it: &Process, account: &Account) -> Vec<Kept> {
    images(it, account).await.iter().map(kept).collect()
}

/// The properties of an album that an export keeps: the times of its photos, in its own order or sorted, its order, and the time of
/// a chosen cover.
type KeptAlbum = (Vec<String>, AlbumOrder, Option<String>);

/// The albums by title.
async fn albums(it: &Process, account: &Account) -> BTreeMap<String, KeptAlbum> {
    let times: BTreeMap<String, String> = images(it, account)
        .await
        .iter()
        .map(|image| (image.id.to_string(), image.captured_at.to_string()))
        .collect();
    let caller = caller(it, account).await;
    let page = it.library.catalogue.albums(&caller, Limit::default(), Offset::default()).await.unwrap();
    let mut albums = BTreeMap::new();
    for album in page.albums {
        let filter = domain::Filter { album: Some(album.id.clone()), ..domain::Filter::default() };
        let viewer = storage::Viewer { account: account.id, plan: domain::Plan::Paid, free_window: 1000 };
        let found = storage::ImageStore::filter_images(&it.store, viewer, &filter, Limit::new(100).unwrap());
        let mut photos: Vec<String> =
            found.await.unwrap().iter().map(|found| found.image.captured_at.to_string()).collect();
        photos.sort_unstable();
        if album.order == AlbumOrder::ByHand {
            let all = storage::Positions::From(0);
            let placed = it.library.catalogue.positioned_images(&caller, &album.id, all, Limit::default());
            let placed = placed.await.unwrap().unwrap();
            photos = placed.iter().map(|placed| placed.image.captured_at.to_string()).collect();
        }
        let cover = album.cover.filter(|_| album.is_cover_chosen).map(|cover| times[cover.as_str()].clone());
        albums.insert(album.title, (photos, album.order, cover));
    }
    albums
}

async fn export(it: &Process, account: &Account, folder: &Path) -> ExportReport {
    it.library.ingest.export(account.id, folder, |_| ()).await.unwrap()
}

fn files_below(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(inner) = open.pop() {
        for entry in fs::read_dir(&inner).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                files.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    files
}

/// Corrects three photos in different ways.
async fn correct(it: &Process, caller: &Caller, ids: &[String]) {
    let set = |wall: &str, zone| {
        let wall = parse_wall_time(wall).unwrap();
        Some(TimeEdit::Set { wall, zone })
    };
    let lisbon = Position::new(38.7167, -9.1333).unwrap();
    let edits = [
        // Some cameras write this text as a placeholder. Here it is a description that a person entered.
        PhotoEdit { description: Correction::Set("Image".to_owned()), ..PhotoEdit::default() },
        PhotoEdit { position: Correction::Set(lisbon), ..PhotoEdit::default() },
        PhotoEdit {
            description: Correction::Clear,
            time: set("1999-12-31T23:59", UtcOffset::from_minutes(345).map(Zone::Offset)),
            position: Correction::Clear,
            ..PhotoEdit::default()
        },
    ];
    for (id, edit) in ids.iter().rev().zip(edits) {
        let edit_id = it.library.catalogue.new_edit_id().unwrap();
        let id = ImageId::parse(id.clone()).unwrap();
        let edit_id = library::NewEdit::by_person(edit_id);
        let edited = it.library.catalogue.edit_images(caller, vec![id], edit_id, edit, false).await.unwrap();
        assert!(matches!(edited, storage::Lookup::Found(changed) if changed.len() == 1));
    }
}

/// Sets, changes and clears marks of three photos.
async fn correct_marks(it: &Process, account: &Account) {
    let keywords = |list: &[&str]| Keywords::parse(list.iter().copied()).unwrap();
    let edits = [
        (
            "new year.jpg",
            MarksEdit {
                favorite: Correction::Set(true),
                rating: Correction::Set(Rating::new(5).unwrap()),
                keywords: KeywordsEdit::Set(keywords(&["Été", "<Trip>"])),
                archived: Correction::Set(true),
            },
        ),
        (
            "old year.jpg",
            MarksEdit {
                rating: Correction::Clear,
                keywords: KeywordsEdit::Set(Keywords::default()),
                ..MarksEdit::default()
            },
        ),
        (
            "con.jpg",
            MarksEdit {
                keywords: KeywordsEdit::Change { add: keywords(&["Harbour"]), remove: keywords(&["boat"]) },
                ..MarksEdit::default()
            },
        ),
    ];
    let caller = caller(it, account).await;
    let images = images(it, account).await;
    for (name, marks) in edits {
        let image = images.iter().find(|image| image.file_name.as_deref() == Some(name)).unwrap();
        let edit = library::NewEdit::by_person(it.library.catalogue.new_edit_id().unwrap());
        let change = PhotoEdit { marks, ..PhotoEdit::default() };
        let ids = vec![image.id.clone()];
        let edited = it.library.catalogue.edit_images(&caller, ids, edit, change, false).await.unwrap();
        assert!(matches!(edited, storage::Lookup::Found(changed) if changed.len() == 1));
    }
}

/// The corrected fields of each photo, with the values from its file, in the order of the timeline.
async fn corrections(it: &Process, account: &Account) -> Vec<Option<(Vec<EditedField>, String)>> {
    let caller = caller(it, account).await;
    let mut corrections = Vec::new();
    for image in images(it, account).await {
        let found = it.library.catalogue.photo_edits(&caller, &image.id).await.unwrap();
        let storage::Lookup::Found((_, edits)) = found else { panic!("{found:?}") };
        corrections.push(edits.map(|edits| {
            let file = edits.of_file;
            let shown =
                (file.capture.at, file.capture.offset_minutes, file.position, file.place, file.description);
            (edits.fields, format!("{shown:?} {:?}", file.marks))
        }));
    }
    corrections
}

/// A library with an account and photos in two albums.
async fn filled(dir: &Path) -> (Process, Account) {
    photos(&dir.join("photos"));
    let data = dir.join("data");
    fs::create_dir(&data).unwrap();
    let it = process(&data).await;
    let ann = it.account("ann").await;
    let report = it.import(&ann, &[dir.join("photos")]).await;
    assert_eq!((report.imported, report.failed.as_slice()), (12, &[][..]));
    let caller = caller(&it, &ann).await;
    let all: Vec<String> = images(&it, &ann).await.iter().map(|image| image.id.to_string()).collect();
    correct(&it, &caller, &all).await;
    correct_marks(&it, &ann).await;
    for (title, ids) in [("Trip / \"quoted\"", all[..5].to_vec()), ("Everything", all.clone())] {
        let title = AlbumTitle::parse(title).unwrap();
        let cover = AlbumCover::Image(ids[1].clone());
        let written = it.library.catalogue.create_album(&caller, title, ids).await.unwrap();
        let storage::AlbumWrite::Done(album) = written else { panic!("{written:?}") };
        let change = AlbumChange {
            order: Some(AlbumOrder::OldestFirst),
            cover: Some(cover),
            ..AlbumChange::default()
        };
        if album.title == "Everything" {
            it.library.catalogue.change_album(&caller, album.id.as_str(), change).await.unwrap();
        } else {
            let change = AlbumChange { order: Some(AlbumOrder::ByHand), ..AlbumChange::default() };
            it.library.catalogue.change_album(&caller, album.id.as_str(), change).await.unwrap();
            let to_the_end = AlbumMove { images: vec![all[1].clone(), all[3].clone()], before: None };
            it.library.catalogue.move_images(&caller, &album.id, vec![to_the_end]).await.unwrap();
        }
    }
    (it, ann)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_imports_as_the_same_library() {
    let dir = tempfile::tempdir().unwrap();
    let (it, ann) = filled(dir.path()).await;
    let folder = dir.path().join("export");
    let report = export(&it, &ann, &folder).await;
    assert_eq!((report.photos, report.written, report.sidecars, report.albums), (12, 12, 12, 2));
    assert!(report.failed.is_empty(), "{:?}", report.failed);
    let files = files_below(&folder);
    assert_eq!(files.len(), 25, "{:?}", files.keys());
    for expected in ["1912/04/a_ b_.jpg", "2022/01/new year.jpg", "2021/12/old year.jpg"] {
        assert!(files.contains_key(expected), "{expected}: {:?}", files.keys());
        assert!(files.contains_key(&format!("{expected}.xmp")), "{expected}");
    }
    let names: BTreeSet<String> =
        files.keys().filter(|name| name.starts_with("2021/03/")).map(|name| name.to_lowercase()).collect();
    assert_eq!(names.len(), 8, "{names:?}");
    // One photo keeps the name. The names of the others contain the beginning of their SHA-256.
    let mut kept_names = 0;
    for content in ["one", "two", "three", "upper case"].map(photo) {
        let digits: String = content_hash(&content).to_string().chars().take(8).collect();
        let (name, _) = files.iter().find(|(_, other)| **other == content).unwrap();
        let name = name.to_lowercase();
        kept_names += u32::from(name == "2021/03/img_1.jpg");
        assert!(name == "2021/03/img_1.jpg" || name == format!("2021/03/img_1-{digits}.jpg"), "{name}");
    }
    assert_eq!(kept_names, 1);

    let bob = it.account("bob").await;
    let imported = it.import(&bob, std::slice::from_ref(&folder)).await;
    assert_eq!((imported.imported, imported.albums), (12, 2), "{imported:?}");
    assert!(imported.failed.is_empty(), "{:?}", imported.failed);
    assert_eq!(all_kept(&it, &bob).await, all_kept(&it, &ann).await);
    let corrected = corrections(&it, &ann).await;
    assert_eq!(corrected.iter().flatten().count(), 6);
    assert_eq!(corrections(&it, &bob).await, corrected);
    let albums_of_ann = albums(&it, &ann).await;
    assert!(
        albums_of_ann.values().any(|(_, order, cover)| *order == AlbumOrder::OldestFirst && cover.is_some())
    );
    let (by_hand, ..) = albums_of_ann.values().find(|(_, order, _)| *order == AlbumOrder::ByHand).unwrap();
    assert!(!by_hand.is_sorted() && !by_hand.iter().rev().is_sorted(), "{by_hand:?}");
    assert_eq!(albums(&it, &bob).await, albums_of_ann);

    // An export of the imported library has the same files, except for their names.
    let again = dir.path().join("again");
    export(&it, &bob, &again).await;
    let contents = |files: BTreeMap<String, Vec<u8>>| -> BTreeSet<Vec<u8>> {
        files.into_iter().filter(|(name, _)| name != "albums.json").map(|(_, content)| content).collect()
    };
    assert_eq!(contents(files_below(&again)), contents(files));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_export_writes_only_what_is_missing_or_different() {
    let dir = tempfile::tempdir().unwrap();
    let (it, ann) = filled(dir.path()).await;
    let folder = dir.path().join("export");
    export(&it, &ann, &folder).await;
    let before = files_below(&folder);
    let report = export(&it, &ann, &folder).await;
    assert_eq!((report.photos, report.written, report.sidecars), (12, 0, 0));

    let damaged = folder.join("2022/01/new year.jpg");
    let length = before["2022/01/new year.jpg"].len();
    fs::write(&damaged, vec![0; length]).unwrap();
    fs::remove_file(folder.join("2021/12/old year.jpg")).unwrap();
    fs::write(folder.join("2021/12/old year.jpg.xmp"), "other").unwrap();
    fs::write(folder.join("2021/12/.old year.jpg.partial"), "left by a killed export").unwrap();
    fs::write(folder.join("2021/my notes.txt"), "not ours").unwrap();
    let report = export(&it, &ann, &folder).await;
    assert_eq!((report.photos, report.written, report.sidecars), (12, 2, 1));
    let mut after = files_below(&folder);
    assert_eq!(after.remove("2021/my notes.txt").unwrap(), b"not ours");
    assert_eq!(after, before);

    // A deleted photo is not exported. A photo that is added later does not change the names of other files.
    let caller = caller(&it, &ann).await;
    let first = images(&it, &ann).await.remove(0).id.to_string();
    it.library.catalogue.delete_image(&caller, &first).await.unwrap();
    let later = dir.path().join("later");
    fs::create_dir(&later).unwrap();
    fs::write(later.join("IMG_1.jpg"), photo("later")).unwrap();
    fs::write(later.join("IMG_1.jpg.xmp"), sidecar("2021-03-01T00:00:00Z", "")).unwrap();
    assert_eq!(it.import(&ann, &[later]).await.imported, 1);
    let report = export(&it, &ann, &folder).await;
    assert_eq!((report.photos, report.written, report.sidecars), (12, 1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn lost_originals_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let (it, ann) = filled(dir.path()).await;
    let lost = crate::blob_path(&dir.path().join("data"), "originals", content_hash(&photo("old year")));
    let damaged = crate::blob_path(&dir.path().join("data"), "originals", content_hash(&photo("new year")));
    let length = fs::metadata(&damaged).unwrap().len();
    fs::remove_file(lost).unwrap();
    fs::write(&damaged, vec![7; usize::try_from(length).unwrap()]).unwrap();
    let folder = dir.path().join("export");
    let report = export(&it, &ann, &folder).await;
    assert_eq!((report.photos, report.failed.len()), (10, 2));
    let reasons: Vec<String> = report.failed.iter().map(|file| file.error.clone()).collect();
    assert!(reasons.iter().any(|reason| reason.contains("missing from the blob store")), "{reasons:?}");
    assert!(reasons.iter().any(|reason| reason.contains("is damaged")), "{reasons:?}");
    let names: Vec<String> = files_below(&folder).into_keys().collect();
    assert!(!names.iter().any(|name| name.contains(" year")), "{names:?}");
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn links_in_the_folder_are_not_followed() {
    let dir = tempfile::tempdir().unwrap();
    let (it, ann) = filled(dir.path()).await;
    let (folder, outside) = (dir.path().join("export"), dir.path().join("outside"));
    fs::create_dir_all(folder.join("2022/01")).unwrap();
    fs::create_dir(&outside).unwrap();
    let target: PathBuf = outside.join("precious.jpg");
    fs::write(&target, "precious").unwrap();
    // A link to a file is replaced.
    std::os::unix::fs::symlink(&target, folder.join("2022/01/new year.jpg")).unwrap();
    std::os::unix::fs::symlink(&target, folder.join("2022/01/.new year.jpg.xmp.partial")).unwrap();
    export(&it, &ann, &folder).await;
    assert_eq!(fs::read(&target).unwrap(), b"precious");
    assert_eq!(fs::read(folder.join("2022/01/new year.jpg")).unwrap(), photo("new year"));
    // A link to a folder is refused.
    fs::remove_dir_all(folder.join("2021")).unwrap();
    std::os::unix::fs::symlink(&outside, folder.join("2021")).unwrap();
    let refused = it.library.ingest.export(ann.id, &folder, |_| ()).await;
    assert!(matches!(refused, Err(ExportError::NotAFolder(_))), "{refused:?}");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
}
