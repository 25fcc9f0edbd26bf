use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use super::*;
use crate::samples;

mod albums;

/// The plan for archives or folders with these names and files. Paths are shown without the temporary folder.
struct Planned {
    dir: tempfile::TempDir,
    plan: Plan,
}

fn planned(parts: &[(&str, &samples::Files<'_>)]) -> Planned {
    let dir = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = parts.iter().map(|(name, _)| dir.path().join(name)).collect();
    for (path, (_, files)) in paths.iter().zip(parts) {
        samples::write(path, files);
    }
    let plan = plan(&paths);
    Planned { dir, plan }
}

impl Planned {
    fn short(&self, path: &Path) -> String {
        path.strip_prefix(self.dir.path()).unwrap_or(path).display().to_string()
    }

    /// The names of the sidecars of each photo, by the photo's path without the part of the export.
    fn pairs(&self) -> BTreeMap<String, Vec<String>> {
        let pair = |photo: &PlannedPhoto| {
            let path = self.short(&photo.path);
            let path = path.split_once('/').map_or(path.clone(), |(_, path)| path.to_owned());
            let name =
                |sidecar: &SidecarFile| sidecar.path.file_name().unwrap().to_string_lossy().into_owned();
            (path, photo.sidecars.iter().map(name).collect())
        };
        self.plan.photos.iter().map(pair).collect()
    }

    fn albums(&self) -> Vec<(String, Vec<String>)> {
        let name = |photo: &usize| self.plan.photos[*photo].name.clone();
        let album = |album: &PlannedAlbum| {
            let mut photos: Vec<String> = album.photos.iter().map(name).collect();
            photos.sort();
            (album.title.clone(), photos)
        };
        self.plan.albums.iter().map(album).collect()
    }

    fn problems(&self, problems: &[Problem]) -> Vec<String> {
        problems.iter().map(|problem| format!("{}: {}", self.short(&problem.path), problem.reason)).collect()
    }
}

/// Photos and sidecars of an export, one pair for each quirk of its names. `-` stands for no sidecar.
const NAMES: [(&str, &str); 22] = [
    ("20161105_170829.jpg", "20161105_170829.jpg.supplemental-metadata.json"),
    ("Screenshot_20231027_123303_Facebook.jpg", "Screenshot_20231027_123303_Facebook.jpg.supple.json"),
    ("Screenshot_20231027_123303_Facebook(1).jpg", "Screenshot_20231027_123303_Facebook.jpg.supple(1).json"),
    ("Scan35(1).jpg", "Scan35.jpg.supplemental-metadata(1).json"),
    ("DSC_0101.JPG", "DSC_0101.JPG.json"),
    ("DSC_0101(1).JPG", "DSC_0101.JPG(1).json"),
    ("IMG_2367(1).HEIC", "IMG_2367.HEIC(1).supplemental-metadata.json"),
    (
        "PXL_20230809_203449253.LONG_EXPOSURE-02.ORIGINA.jpg",
        "PXL_20230809_203449253.LONG_EXPOSURE-02.ORIGIN.json",
    ),
    (
        "PXL_20230809_203449253.LONG_EXPOSURE-02.ORIGINA(1).jpg",
        "PXL_20230809_203449253.LONG_EXPOSURE-02.ORIGIN(1).json",
    ),
    ("Screenshot_20220207_102421_com.my.snapchat.jpg", "Screenshot_20220207_102421_com.my.snapchat.jpg.json"),
    (
        "😀😃😄😁😆😅😂🤣🥲😊😇🙂🙃😉😌😍🥰😘😗😙😚😋😛😝.jpg",
        "😀😃😄😁😆😅😂🤣🥲😊😇🙂🙃😉😌😍🥰😘😗😙😚😋😛.json",
    ),
    ("Zu\u{308}rich.jpg", "Zürich.jpg.supplemental-metadata.json"),
    ("x.jpg", "x.jpg.supplemental-metadata.json"),
    ("x-edited.jpg", "x.jpg.supplemental-metadata.json"),
    ("x-bearbeitet.jpg", "x.jpg.supplemental-metadata.json"),
    ("x-modifié.jpg", "x.jpg.supplemental-metadata.json"),
    ("x-bewerkt.jpg", "x.jpg.supplemental-metadata.json"),
    (
        "original_2b8a0b2c-6e0a-4b2c-9a55-0f1e2d3c4b5a_P.jpg",
        "original_2b8a0b2c-6e0a-4b2c-9a55-0f1e2d3c4b5a_.json",
    ),
    (
        "original_2b8a0b2c-6e0a-4b2c-9a55-0f1e2d3c4b5a_P(1).jpg",
        "original_2b8a0b2c-6e0a-4b2c-9a55-0f1e2d3c4b5a_.json",
    ),
    ("IMG_0503.HEIC", "IMG_0503.HEIC.supplemental-metadata.json"),
    ("IMG_0503.MP4", "-"),
    ("none.jpg", "-"),
];

const JSON: &str = r#"{"title": "?", "photoTakenTime": {"timestamp": "1562256202"}}"#;
const YEAR: &str = "Takeout/Google Fotos/Fotos von 2019";

/// The photos in the first part and the sidecars in the last one.
fn assert_pairs_across(parts: [&str; 2]) {
    let at = |name: &str| format!("{YEAR}/{name}");
    let photos: Vec<(String, String)> =
        NAMES.iter().map(|(photo, _)| (at(photo), (*photo).to_owned())).collect();
    let names: std::collections::BTreeSet<&str> =
        NAMES.iter().map(|(_, sidecar)| *sidecar).filter(|sidecar| *sidecar != "-").collect();
    let sidecars: Vec<String> = names.into_iter().map(at).collect();
    let photos: Vec<(&str, &[u8])> =
        photos.iter().map(|(path, content)| (path.as_str(), content.as_bytes())).collect();
    let sidecars: Vec<(&str, &[u8])> = sidecars.iter().map(|path| (path.as_str(), JSON.as_bytes())).collect();
    let it = planned(&[(parts[0], &photos), (parts[1], &sidecars)]);
    let expected: BTreeMap<String, Vec<String>> = NAMES
        .iter()
        .map(|(photo, sidecar)| {
            let sidecar = (*sidecar != "-").then(|| (*sidecar).to_owned());
            (at(photo), sidecar.into_iter().collect())
        })
        .collect();
    assert_eq!(it.pairs(), expected, "{parts:?}");
    assert!(it.plan.failed.is_empty() && it.plan.unmatched.is_empty(), "{:?}", it.plan);
}

#[test]
fn every_quirk_of_names_is_matched_across_parts() {
    for parts in [
        ["takeout-001.zip", "takeout-003.zip"],
        ["takeout-001.tgz", "takeout-002.tgz"],
        ["takeout-001.tar", "takeout-002.zip"],
        ["part 1", "part 2"],
        ["unpacked", "takeout-002.zip"],
        ["a.zip", "b.tgz"],
    ] {
        assert_pairs_across(parts);
    }
}

#[test]
fn names_of_two_exports_are_not_mixed_up() {
    let photo = format!("{YEAR}/IMG_1.jpg");
    let json = format!("{YEAR}/IMG_1.jpg.json");
    let (one, other) = (JSON.replace('?', "one"), JSON.replace('?', "other"));
    let it = planned(&[
        ("takeout-2019-001.zip", &[(&photo, b"1".as_slice())]),
        ("takeout-2019-002.zip", &[(&json, one.as_bytes())]),
        ("takeout-2020-001.zip", &[(&json, other.as_bytes())]),
        ("takeout-2020-002.zip", &[(&photo, b"2".as_slice())]),
    ]);
    let sidecar = |photo: &PlannedPhoto| it.short(&photo.sidecars[0].path);
    let sidecars: Vec<String> = it.plan.photos.iter().map(sidecar).collect();
    assert_eq!(sidecars, [format!("takeout-2019-002.zip/{json}"), format!("takeout-2020-001.zip/{json}")]);
}

#[test]
fn a_copy_in_an_album_has_the_sidecar_of_the_year_and_the_reverse() {
    let album = "Takeout/Google Fotos/Trip";
    let at = |folder: &str, name: &str| format!("{folder}/{name}");
    let (in_year, in_album) = (at(YEAR, "a.jpg"), at(album, "a.jpg"));
    let (other_year, other_album) = (at(YEAR, "b.jpg"), at(album, "b.jpg"));
    let (json_in_year, json_in_album) = (at(YEAR, "a.jpg.json"), at(album, "b.jpg.json"));
    let other = at("Takeout/Google Fotos/Fotos von 2020", "a.jpg");
    let (left, title) = (at(album, "c.json"), JSON.replace('?', "c.jpg"));
    let c = at(YEAR, "c.jpg");
    for name in ["takeout.zip", "takeout.tgz", "takeout.tar", "takeout"] {
        let it = planned(&[(
            name,
            &[
                (&in_year, b"a".as_slice()),
                (&in_album, b"a"),
                (&other_year, b"bb"),
                (&other_album, b"bb"),
                (&json_in_year, JSON.as_bytes()),
                (&json_in_album, JSON.as_bytes()),
                (&at(album, "Metadaten.json"), br#"{"title": "Trip", "access": "protected"}"#),
                // The same name and length, other content.
                (&other, b"x"),
                // The sidecar of a photo that is only in the folder of its year.
                (&left, title.as_bytes()),
                (&c, b"c"),
            ],
        )]);
        let pairs = it.pairs();
        for path in [&in_year, &in_album] {
            assert_eq!(pairs[path], ["a.jpg.json"], "{name}");
        }
        for path in [&other_year, &other_album] {
            assert_eq!(pairs[path], ["b.jpg.json"], "{name}");
        }
        assert_eq!(pairs[&c], ["c.json"], "{name}");
        assert!(pairs[&other].is_empty(), "{name}");
        let members = ["a.jpg", "b.jpg", "c.jpg"].map(str::to_owned).to_vec();
        assert_eq!(it.albums(), [("Trip".into(), members)], "{name}");
        assert!(it.plan.unmatched.is_empty());
    }
}

/// A sidecar with a title, the seconds of its capture time, and more members.
fn sidecar(title: &str, seconds: u64, more: &str) -> String {
    format!(r#"{{"title": "{title}", "photoTakenTime": {{"timestamp": "{seconds}"}}{more}}}"#)
}

#[test]
fn edited_versions_in_any_language_have_the_sidecar_of_the_original() {
    let own = sidecar("x-y.jpg", 9, "");
    let files = |folder: &str| {
        let at = |name: &str| format!("{folder}/{name}");
        let year = at("Photos from 2019");
        [
            (format!("{year}/x.jpg"), b"1".to_vec()),
            (format!("{year}/x.jpg.json"), JSON.into()),
            (format!("{year}/x-szerkesztett.jpg"), b"2".to_vec()),
            (format!("{year}/x-yy.jpg"), b"3".to_vec()),
            (format!("{year}/x(1)-แก้ไขแล้ว.jpg"), b"4".to_vec()),
            (format!("{year}/x.jpg(1).json"), JSON.into()),
            (format!("{year}/x-2.jpg"), b"5".to_vec()),
            // The sidecar of this photo is only beside its copy.
            (at("Trip/x-yy.jpg"), b"3".to_vec()),
            (at("Trip/x-yy.jpg.json"), own.clone().into_bytes()),
            (at("Trip/x-szerkesztett.jpg"), b"2".to_vec()),
        ]
    };
    let pairs = |folder: &str| {
        let files = files(folder);
        let files: Vec<(&str, &[u8])> =
            files.iter().map(|(path, content)| (path.as_str(), content.as_slice())).collect();
        let pairs = planned(&[("x.zip", &files)]).pairs();
        let name = |path: String| path.rsplit_once('/').unwrap().1.to_owned();
        pairs.into_iter().map(|(path, sidecars)| (name(path), sidecars)).collect::<Vec<_>>()
    };
    let found = pairs("Takeout/Google Photos");
    let expect: [(&str, &[&str]); 7] = [
        ("x(1)-แก้ไขแล้ว.jpg", &["x.jpg(1).json"]),
        ("x-2.jpg", &[]),
        ("x-szerkesztett.jpg", &["x.jpg.json"]),
        ("x-yy.jpg", &["x-yy.jpg.json"]),
        ("x.jpg", &["x.jpg.json"]),
        ("x-szerkesztett.jpg", &["x.jpg.json"]),
        ("x-yy.jpg", &["x-yy.jpg.json"]),
    ];
    let owned = |(name, sidecars): (&str, &[&str])| {
        (name.to_owned(), sidecars.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
    };
    assert_eq!(found, expect.map(owned));
    // The sidecars tell that a renamed folder is an export.
    assert_eq!(pairs("Pictures"), expect.map(owned));
}

#[test]
fn deleted_photos_are_marked_and_in_no_album() {
    let list =
        format!("{HEADER}b.jpg,a,no,no,yes,\"Saturday June 4,2022 12:11 AM GMT\",1,\nc.jpg,a,no,no,no,,1,\n");
    let it = planned(&[(
        "takeout.zip",
        &[
            ("Takeout/x/metadata.json", br#"{"title": "Trip", "access": ""}"#.as_slice()),
            ("Takeout/x/kept.jpg", b"0"),
            ("iCloud/Photos/Photo Details.csv", list.as_bytes()),
            ("iCloud/Photos/c.jpg", b"6"),
            ("iCloud/Recently Deleted/c.jpg", b"another"),
            ("iCloud/Albums/Summer.csv", b"Images\nb.jpg\nc.jpg\n"),
            ("Takeout/x/a.jpg", b"1"),
            ("Takeout/x/a.jpg.json", br#"{"trashed": true, "photoTakenTime": {"timestamp": "5"}}"#),
            ("iCloud/Recently Deleted/b.jpg", b"2"),
            ("iCloud/Photos/IMG_1.AAE", b"3"),
            ("__MACOSX/._c.jpg", b"4"),
            ("x/@eaDir/d.jpg", b"5"),
        ],
    )]);
    let found: BTreeMap<String, bool> =
        it.plan.photos.iter().map(|photo| (it.short(&photo.path), photo.is_trashed)).collect();
    let expect = [
        ("Takeout/x/a.jpg", true),
        ("Takeout/x/kept.jpg", false),
        ("iCloud/Photos/c.jpg", false),
        ("iCloud/Recently Deleted/b.jpg", true),
        ("iCloud/Recently Deleted/c.jpg", true),
    ];
    assert_eq!(found, expect.map(|(path, is)| (format!("takeout.zip/{path}"), is)).into());
    let dated: Vec<&str> = it
        .plan
        .photos
        .iter()
        .filter(|photo| photo.listed.is_some())
        .map(|photo| photo.name.as_str())
        .collect();
    assert_eq!(dated, ["b.jpg"]);
    assert!(it.plan.skipped.is_empty() && it.plan.ambiguous.is_empty(), "{:?}", it.plan);
    assert_eq!(
        it.albums(),
        [("Trip".to_owned(), vec!["kept.jpg".to_owned()]), ("Summer".to_owned(), vec!["c.jpg".to_owned()])]
    );
}

#[test]
fn the_year_of_the_folder_dates_a_photo_without_a_sidecar() {
    for name in ["takeout.zip", "takeout.tgz", "takeout"] {
        let it = planned(&[(
            name,
            &[
                ("Takeout/Google Fotos/Fotos von 2019/a.jpg", b"1".as_slice()),
                ("Takeout/Google Fotos/Fotos von 2019/b.jpg", b"22"),
                ("Takeout/Google Fotos/Fotos von 2019/b.jpg.json", JSON.as_bytes()),
            ],
        )]);
        let [a, b] = it.plan.photos.as_slice() else { panic!("{:?}", it.plan) };
        assert_eq!(a.modified_at.unwrap().to_string(), "2019-01-01T00:00:00.000Z", "{name}");
        assert!(b.modified_at.is_none_or(|at| at.to_string().as_str() > "2020"), "{name}");
    }
}

const HEADER: &str =
    "imgName,fileChecksum,favorite,hidden,deleted,originalCreationDate,viewCount,importDate\n";

#[test]
fn lists_of_an_apple_export_date_photos_and_name_albums() {
    let first = format!(
        "{HEADER}IMG_1.HEIC,a,no,no,no,\"Saturday June 4,2022 12:11 AM GMT\",1,\"x\"\n\
         IMG_2.HEIC,a,no,no,yes,,1,\nIMG_3.HEIC,a,no,no,no,,1,\nIMG_9.HEIC,a,no,no,no,\"x\",1,\n"
    );
    let second = format!(
        "{HEADER}IMG_1.HEIC,b,no,no,no,\"Sunday June 5,2022 12:11 PM GMT\",1,\"x\"\n\
         IMG_4.HEIC,b,no,no,no,\"Sunday June 5,2022 1:00 PM GMT\",1,\nSAME.HEIC,b,no,no,no,,1,\n"
    );
    let one: [(&str, &[u8]); 7] = [
        ("iCloud Photos Part 1 of 2/Photos/Photo Details.csv", first.as_bytes()),
        ("iCloud Photos Part 1 of 2/Photos/IMG_1.HEIC", b"1"),
        ("iCloud Photos Part 1 of 2/Photos/IMG_2.HEIC", b"2"),
        ("iCloud Photos Part 1 of 2/Photos/IMG_3.HEIC", b"3"),
        ("iCloud Photos Part 1 of 2/Photos/SAME.HEIC", b"same"),
        ("iCloud Photos Part 1 of 2/Albums/Summer.csv", b"Images\nIMG_3.HEIC\nIMG_4.HEIC\nSAME.HEIC\n"),
        ("iCloud Photos Part 1 of 2/Albums/Doubt.csv", b"Images\nIMG_1.HEIC\nIMG_4.HEIC\nGONE.HEIC\n"),
    ];
    let two: [(&str, &[u8]); 4] = [
        ("iCloud Photos Part 2 of 2/Photos/Photo Details-1.csv", second.as_bytes()),
        ("iCloud Photos Part 2 of 2/Photos/IMG_1.HEIC", b"another"),
        ("iCloud Photos Part 2 of 2/Photos/IMG_4.HEIC", b"4"),
        ("iCloud Photos Part 2 of 2/Photos/SAME.HEIC", b"same"),
    ];
    for names in [["Part 1.zip", "Part 2.zip"], ["1.tgz", "2.tar"], ["one", "two"]] {
        let it = planned(&[(names[0], &one), (names[1], &two)]);
        let dates: BTreeMap<&str, bool> =
            it.plan.photos.iter().map(|photo| (photo.name.as_str(), photo.listed.is_some())).collect();
        let expected = [
            ("IMG_1.HEIC", true),
            ("IMG_2.HEIC", false),
            ("IMG_3.HEIC", false),
            ("IMG_4.HEIC", true),
            ("SAME.HEIC", false),
        ];
        assert_eq!(dates, BTreeMap::from(expected), "{names:?}");
        let dated = |part: &str, date: &str| {
            it.plan.photos.iter().any(|photo| {
                let listed = photo.listed.as_ref().map(|listed| String::from_utf8_lossy(&listed.content));
                it.short(&photo.path).starts_with(part) && listed.is_some_and(|listed| listed.contains(date))
            })
        };
        assert!(dated(names[0], "2022-06-04T00:11") && dated(names[1], "2022-06-05T12:11"), "{names:?}");
        let mut albums = it.albums();
        albums.sort();
        let files = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(
            albums,
            [
                ("Doubt".to_owned(), files(&["IMG_4.HEIC"])),
                ("Summer".to_owned(), files(&["IMG_3.HEIC", "IMG_4.HEIC", "SAME.HEIC", "SAME.HEIC"])),
            ],
            "{names:?}"
        );
        let reasons = |problems: &[Problem]| -> Vec<String> {
            problems.iter().map(|problem| problem.reason.clone()).collect()
        };
        assert_eq!(reasons(&it.plan.ambiguous), ["lists IMG_1.HEIC, which is the name of several photos"]);
        let trashed: Vec<&str> =
            it.plan.photos.iter().filter(|photo| photo.is_trashed).map(|photo| &*photo.name).collect();
        assert_eq!(trashed, ["IMG_2.HEIC"]);
        assert!(it.plan.skipped.is_empty());
        assert_eq!(
            reasons(&it.plan.unmatched),
            [
                "lists GONE.HEIC, which is not imported with it",
                "lists IMG_9.HEIC, which is not imported with it"
            ]
        );
    }
}

#[test]
fn sidecars_in_ordinary_folders_stay_with_their_folder() {
    const XMP: &[u8] = b"<x:xmpmeta xmlns:x='adobe:ns:meta/'/>";
    let it = planned(&[(
        "Pictures",
        &[
            ("a/x.jpg", b"1".as_slice()),
            ("a/x.jpg.xmp", XMP),
            ("b/x.jpg", b"1"),
            ("b/x.jpg.json", JSON.as_bytes()),
            ("b/x.xmp", XMP),
            ("b/y.xmp", XMP),
            ("c/x.jpg", b"1"),
            ("c/table.csv", b"a,b\n1,2\n"),
        ],
    )]);
    let expect = |sidecars: &[&str]| sidecars.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    assert_eq!(
        it.pairs(),
        BTreeMap::from([
            ("a/x.jpg".into(), expect(&["x.jpg.xmp"])),
            ("b/x.jpg".into(), expect(&["x.xmp", "x.jpg.json"])),
            ("c/table.csv".into(), expect(&[])),
            ("c/x.jpg".into(), expect(&[])),
        ])
    );
    assert_eq!(
        it.problems(&it.plan.unmatched),
        ["Pictures/b/y.xmp: describes no photo that is imported with it"]
    );
    assert!(it.plan.albums.is_empty());
}
