//! Albums of Takeout exports, and the folders of years.

use super::*;

#[test]
fn albums_are_recognised_by_content() {
    let metadata = |title: &str| format!(r#"{{"title": "{title}", "date": {{"timestamp": "1"}}}}"#);
    let long = "é".repeat(150);
    let it = planned(&[(
        "takeout.zip",
        &[
            ("Takeout/Google Fotos/Italy 2019/x.jpg", b"1".as_slice()),
            ("Takeout/Google Fotos/Italy 2019/метаданные.json", metadata("Italy 2019").as_bytes()),
            ("Takeout/Google Fotos/Italy 2019(1)/y.jpg", b"2"),
            ("Takeout/Google Fotos/Italy 2019(1)/metadata.json", metadata(" Italy 2019 ").as_bytes()),
            ("Takeout/Google Fotos/Fotos von 2019/z.jpg", b"3"),
            ("Takeout/Google Fotos/Fotos von 2019/Metadaten.json", metadata("Fotos von 2019").as_bytes()),
            ("Takeout/Google Fotos/Old/o.jpg", b"4"),
            ("Takeout/Google Fotos/Old/metadata.json", br#"{"albumData": {"title": "Old one"}}"#),
            ("Takeout/Google Fotos/Long/l.jpg", b"5"),
            ("Takeout/Google Fotos/Long/metadata.json", metadata(&long).as_bytes()),
            ("Takeout/Google Fotos/Untitled/u.jpg", b"6"),
            ("Takeout/Google Fotos/Untitled/metadata.json", metadata("").as_bytes()),
            ("Takeout/Google Fotos/Empty/metadata.json", metadata("Empty").as_bytes()),
            ("Takeout/Google Fotos/print-subscriptions.json", b"{}"),
            ("Takeout/archive_browser.html", b"<html>"),
        ],
    )]);
    let mut albums = it.albums();
    albums.sort();
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    assert_eq!(
        albums,
        [
            ("Italy 2019".to_owned(), names(&["x.jpg", "y.jpg"])),
            ("Old one".to_owned(), names(&["o.jpg"])),
            ("é".repeat(100), names(&["l.jpg"])),
        ]
    );
    assert_eq!(it.plan.photos.len(), 6);
    assert_eq!(it.plan.skipped.len(), 2, "{:?}", it.problems(&it.plan.skipped));
}

const ALBUM: &str = r#"{"title": "Trip", "access": "protected"}"#;

#[test]
fn an_album_of_sidecars_gets_the_photos_with_the_same_facts() {
    let there = r#", "geoData": {"latitude": 1.0, "longitude": 2.0}"#;
    let (a, b, other_b) = (
        sidecar("a.jpg", 5, there),
        sidecar("b.jpg", 6, ""),
        sidecar("b.jpg", 6, r#", "geoData": {"latitude": 3.0, "longitude": 4.0}"#),
    );
    let (gone, movie) = (sidecar("gone.jpg", 7, ""), sidecar("c.mp4", 8, ""));
    let year = |name: &str| format!("Takeout/Google Photos/Photos from 2019/{name}");
    let album = |name: &str| format!("Takeout/Google Photos/Trip/{name}");
    for parts in
        [["takeout-001.zip", "takeout-002.zip"], ["takeout-001.tgz", "takeout-002.tgz"], ["one", "two"]]
    {
        let it = planned(&[
            (
                parts[0],
                &[
                    (&year("a.jpg"), b"a".as_slice()),
                    (&year("a-edited.jpg"), b"edited"),
                    (&year("a.jpg.json"), a.as_bytes()),
                    (&year("b.jpg"), b"b"),
                    (&year("b.jpg.json"), b.as_bytes()),
                    (&year("b(1).jpg"), b"another b"),
                    (&year("b.jpg(1).json"), other_b.as_bytes()),
                    (&year("c.mp4"), b"c"),
                    (&year("c.mp4.json"), movie.as_bytes()),
                ],
            ),
            (
                parts[1],
                &[
                    (&album("metadata.json"), ALBUM.as_bytes()),
                    (&album("a.jpg.supplemental-metadata.json"), a.as_bytes()),
                    (&album("b.jpg.supplemental-metadata.json"), other_b.as_bytes()),
                    (&album("c.mp4.supplemental-metadata.json"), movie.as_bytes()),
                    (&album("gone.jpg.supplemental-metadata.json"), gone.as_bytes()),
                ],
            ),
        ]);
        let [(title, photos)] = <[_; 1]>::try_from(it.albums()).unwrap();
        assert_eq!(
            (title.as_str(), photos),
            ("Trip", ["a-edited.jpg", "a.jpg", "b(1).jpg", "c.mp4"].map(str::to_owned).to_vec()),
            "{parts:?}"
        );
        let unmatched = it.problems(&it.plan.unmatched);
        assert_eq!(unmatched.len(), 1, "{unmatched:?}");
        assert!(unmatched[0].contains("gone.jpg"));
        assert!(it.plan.ambiguous.is_empty());
    }
}

#[test]
fn a_sidecar_of_an_album_that_describes_several_photos_is_ambiguous() {
    let uploaded = |seconds: u64| format!(r#", "creationTime": {{"timestamp": "{seconds}"}}"#);
    let (first, second, third) = (
        sidecar("a.jpg", 5, &uploaded(10)),
        sidecar("a.jpg", 5, &uploaded(20)),
        sidecar("a.jpg", 5, &uploaded(30)),
    );
    let check = |in_album: &str, other: &[u8], photos: &[&str], ambiguous: usize| {
        let it = planned(&[(
            "takeout.zip",
            &[
                ("Takeout/Google Photos/Photos from 1970/a.jpg", b"a".as_slice()),
                ("Takeout/Google Photos/Photos from 1970/a.jpg.json", first.as_bytes()),
                ("Takeout/Google Photos/Photos from 1970/a(1).jpg", other),
                ("Takeout/Google Photos/Photos from 1970/a.jpg(1).json", second.as_bytes()),
                ("Takeout/Google Photos/Trip/metadata.json", ALBUM.as_bytes()),
                ("Takeout/Google Photos/Trip/a.jpg.json", in_album.as_bytes()),
            ],
        )]);
        let found: Vec<String> = it.albums().into_iter().flat_map(|(_, photos)| photos).collect();
        assert_eq!(found, photos);
        assert_eq!(it.plan.ambiguous.len(), ambiguous, "{:?}", it.plan.ambiguous);
        assert!(it.plan.unmatched.is_empty());
    };
    check(&third, b"b", &[], 1);
    check(&second, b"b", &["a(1).jpg"], 0);
    check(&third, b"a", &["a(1).jpg", "a.jpg"], 0);
}

/// The titles of the albums of an export with these folders. Each has a file with its title, and photos by content with the
/// year in their sidecars, 0 for none.
fn album_titles(folders: &[(&str, &[(&str, i16)])]) -> Vec<String> {
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    for (title, photos) in folders {
        let at = |name: &str| format!("Takeout/Photos/{title}/{name}");
        files.push((at("metadata.json"), format!(r#"{{"title": "{title}", "date": {{}}}}"#).into_bytes()));
        for (content, year) in *photos {
            files.push((at(&format!("{content}.jpg")), content.as_bytes().to_vec()));
            if *year > 0 {
                let start = Timestamp::parse_iso(&format!("{year}-07-01")).unwrap();
                let seconds = u64::try_from(start.millis() / 1000).unwrap();
                let json = sidecar(&format!("{content}.jpg"), seconds, "");
                files.push((at(&format!("{content}.jpg.json")), json.into_bytes()));
            }
        }
    }
    let files: Vec<(&str, &[u8])> =
        files.iter().map(|(path, content)| (path.as_str(), content.as_slice())).collect();
    let mut titles: Vec<String> =
        planned(&[("takeout.tgz", &files)]).albums().into_iter().map(|(title, _)| title).collect();
    titles.sort();
    titles
}

#[test]
fn folders_of_years_in_other_languages_are_recognised_by_their_photos() {
    let check = |folders: &[(&str, &[(&str, i16)])], expect: &[&str]| {
        assert_eq!(album_titles(folders), expect, "{folders:?}");
    };
    let (a, b, c) = (("a", 2019), ("b", 2019), ("c", 2020));
    // An album has copies of the photos.
    check(&[("2019年の写真", &[a, b]), ("京都", &[("a", 0)])], &["京都"]);
    check(&[("รูปภาพจากปี 2019", &[a, b]), ("Kyoto 2019", &[("a", 0)])], &["Kyoto 2019"]);
    check(&[("2019년의 사진", &[a]), ("2020년의 사진", &[c])], &[]);
    // Photos of other years, or none with a date.
    check(&[("京都 2019", &[a, c])], &["京都 2019"]);
    check(&[("京都 2019", &[("a", 0)]), ("x", &[("a", 0)])], &["x", "京都 2019"]);
    // Exports of albums only.
    check(&[("Italy 2019", &[a]), ("Rome 2020", &[c])], &["Italy 2019", "Rome 2020"]);
    // A shared album with the photos of others.
    check(&[("Photos from 2019", &[a]), ("Italy 2019", &[a, b])], &["Italy 2019"]);
}

#[test]
fn only_folders_of_takeout_date_photos_by_their_year() {
    let it = planned(&[("Pictures.tar", &[("2019/scan.jpg", b"1".as_slice())])]);
    assert_eq!(it.plan.photos[0].modified_at.unwrap().to_string(), "2020-09-13T12:26:40.000Z");
    let files: [(&str, &[u8]); 5] = [
        ("Takeout/Google Photos/Photos from 2019/a.jpg", b"1"),
        (
            "Takeout/Google Photos/Photos from 2019/metadata.json",
            br#"{"title": "Photos from 2019", "date": {}}"#,
        ),
        ("Takeout/Google Photos/Italy 2018/b.jpg", b"2"),
        ("Takeout/Google Photos/Italy 2018/metadata.json", br#"{"title": "Italy 2018", "date": {}}"#),
        ("Takeout/Google Photos/Italy 2018/a.jpg", b"1"),
    ];
    let it = planned(&[("takeout.tar", &files)]);
    let dates: Vec<String> =
        it.plan.photos.iter().map(|photo| photo.modified_at.unwrap().to_string()[..4].to_owned()).collect();
    assert_eq!(dates, ["2019", "2020", "2020"], "the year of an album is none");
}

#[test]
fn a_takeout_below_a_renamed_folder_is_recognised() {
    let (a, b) = (sidecar("a.jpg", 1_562_256_202, ""), sidecar("b.jpg", 1_562_256_202, ""));
    let trip = r#"{"title": "Trip to Rome", "date": {"timestamp": "1"}}"#;
    let year = r#"{"title": "Photos from 2019"}"#;
    // The photos of the album are in one part, some of their sidecars in another one.
    let first = |root: &str| {
        [
            (format!("{root}/Photos from 2019/metadata.json"), year.as_bytes().to_vec()),
            (format!("{root}/Photos from 2019/a.jpg"), b"a".to_vec()),
            (format!("{root}/Photos from 2019/a.jpg.supplemental-metadata.json"), a.as_bytes().to_vec()),
            (format!("{root}/Photos from 2019/c.jpg"), b"c".to_vec()),
            (format!("{root}/Trip/b.jpg"), b"b".to_vec()),
            (format!("{root}/print-subscriptions.json"), b"{}".to_vec()),
        ]
    };
    let second = |root: &str| {
        [
            (format!("{root}/Trip/metadata.json"), trip.as_bytes().to_vec()),
            (format!("{root}/Trip/b.jpg.supplemental-metadata.json"), b.as_bytes().to_vec()),
            // A copy whose sidecar is in the folder of its year, and a sidecar whose photo is there.
            (format!("{root}/Trip/a.jpg"), b"a".to_vec()),
        ]
    };
    for (parts, roots) in [
        (["one", "two"], ["Takeout/Google Photos", "Takeout/Google Photos"]),
        (["one", "two"], ["Google Photos", "Google Photos"]),
        (["one", "two"], ["old phone/Takeout 2/Google Fotos", "Google export/Google Fotos"]),
        (["one", "two"], ["My Google pictures", "My Google pictures"]),
        (["one", "two.zip"], ["Google Photos", "Takeout/Google Photos"]),
        (["one.zip", "two.zip"], ["backup/x/Google Photos", "Google Photos"]),
        (["one.zip", "two.tgz"], ["backup/Pictures", "Pictures"]),
        (["one.tar", "two.tgz"], ["renamed/Google Photos", "Takeout/Google Photos"]),
    ] {
        let files = [first(roots[0]).to_vec(), second(roots[1]).to_vec()];
        let files = files.each_ref().map(|files| {
            files.iter().map(|(path, content)| (path.as_str(), content.as_slice())).collect::<Vec<_>>()
        });
        let it = planned(&[(parts[0], &files[0]), (parts[1], &files[1])]);
        let expect = ("Trip to Rome".to_owned(), vec!["a.jpg".to_owned(), "b.jpg".to_owned()]);
        assert_eq!(it.albums(), [expect], "{parts:?} {roots:?}");
        let without: Vec<&str> = it
            .plan
            .photos
            .iter()
            .filter(|photo| photo.sidecars.is_empty())
            .map(|photo| photo.name.as_str())
            .collect();
        assert_eq!(without, ["c.jpg"], "{parts:?} {roots:?}");
        let dated = it.plan.photos.iter().find(|photo| photo.name == "c.jpg").unwrap().modified_at;
        assert_eq!(dated.unwrap().to_string(), "2019-01-01T00:00:00.000Z", "{parts:?} {roots:?}");
        assert!(it.plan.unmatched.is_empty(), "{:?}", it.problems(&it.plan.unmatched));
    }
}

#[test]
fn folders_beside_an_export_are_not_part_of_it() {
    let a = sidecar("a.jpg", 1_562_256_202, "");
    let it = planned(&[(
        "pictures",
        &[
            ("Google Photos/Trip/a.jpg", b"a".as_slice()),
            ("Google Photos/Trip/a.jpg.json", a.as_bytes()),
            ("Google Photos/Trip/metadata.json", ALBUM.as_bytes()),
            ("2018/x.jpg", b"x"),
            ("Other/Trip/y.jpg", b"y"),
            ("Google Photos/2017/z.jpg", b"z"),
        ],
    )]);
    assert_eq!(it.albums(), [("Trip".to_owned(), vec!["a.jpg".to_owned()])]);
    let dated: Vec<&str> = it
        .plan
        .photos
        .iter()
        .filter(|photo| photo.modified_at.is_some())
        .map(|photo| photo.name.as_str())
        .collect();
    assert_eq!(dated, [""; 0], "files on disk keep their own time");
}
