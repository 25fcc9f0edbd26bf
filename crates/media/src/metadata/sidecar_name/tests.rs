use proptest::prelude::*;

use super::*;

/// The names of each photo's XMP and Takeout sidecars, and of the unmatched ones.
fn matched<'a>(photos: &[&str], sidecars: &[&'a str]) -> (Vec<(&'a str, &'a str)>, Vec<&'a str>) {
    let found = match_sidecars(photos, sidecars);
    let name = |position: Option<usize>| position.map_or("", |position| sidecars[position]);
    let by_photo = found.by_photo.iter().map(|found| (name(found.xmp), name(found.takeout))).collect();
    (by_photo, found.unmatched.iter().map(|position| sidecars[*position]).collect())
}

#[test]
fn xmp_files_are_matched() {
    let check = |photos: &[&str], sidecars: &[&str], expect: &[&str], unmatched: &[&str]| {
        let (found, left) = matched(photos, sidecars);
        assert_eq!(found.iter().map(|(xmp, _)| *xmp).collect::<Vec<_>>(), expect, "{photos:?} {sidecars:?}");
        assert_eq!(left, unmatched, "{photos:?} {sidecars:?}");
    };
    check(&["x.jpg"], &["x.jpg.xmp"], &["x.jpg.xmp"], &[]);
    check(&["x.jpg"], &["x.xmp"], &["x.xmp"], &[]);
    check(&["x.jpg"], &["x.xmp", "x.jpg.xmp"], &["x.jpg.xmp"], &[]);
    check(&["x.jpg", "x.cr2"], &["x.xmp"], &["x.xmp", "x.xmp"], &[]);
    check(&["x.jpg", "x.cr2"], &["x.xmp", "x.cr2.xmp"], &["x.xmp", "x.cr2.xmp"], &[]);
    check(&["x.jpg"], &["x.cr2.xmp"], &[""], &["x.cr2.xmp"]);
    check(&["x.jpg"], &["y.xmp", ".xmp", "x.jpg"], &[""], &["y.xmp", ".xmp", "x.jpg"]);
    check(&["IMG_1.JPG"], &["img_1.jpg.XMP"], &["img_1.jpg.XMP"], &[]);
    check(&["IMG_1.JPG"], &["IMG_1.xmp"], &["IMG_1.xmp"], &[]);
    check(&["X.jpg", "x.jpg"], &["x.jpg.xmp", "X.jpg.xmp"], &["X.jpg.xmp", "x.jpg.xmp"], &[]);
    check(&["a.b.jpg", "a.jpg"], &["a.b.xmp", "a.xmp"], &["a.b.xmp", "a.xmp"], &[]);
    check(&["Zürich.jpg"], &["ZÜRICH.XMP"], &["ZÜRICH.XMP"], &[]);
    check(&["x"], &["x.xmp"], &["x.xmp"], &[]);
    check(&[], &["x.xmp"], &[], &["x.xmp"]);
}

#[test]
fn takeout_files_are_matched() {
    let check = |photo: &str, sidecar: &str| {
        let (found, left) = matched(&[photo], &[sidecar]);
        assert_eq!(found, [("", sidecar)], "{photo}");
        assert!(left.is_empty());
    };
    check("IMG_1.jpg", "IMG_1.jpg.json");
    check("IMG_1.jpg", "IMG_1.json");
    check("IMG_1.jpg", "IMG_1.jpg.supplemental-metadata.json");
    // Truncated to 46 characters.
    check("Screenshot_2017-07-05-10-05-26.png", "Screenshot_2017-07-05-10-05-26.png.supplementa.json");
    check("D7157814-D2D5-4A62-AFCE-9CF465CB7D66.jpeg", "D7157814-D2D5-4A62-AFCE-9CF465CB7D66.jpeg.supp.json");
    check("PXL_20210102_221126856.jpg", "PXL_20210102_221126856.jpg.supplemental-metada.json");
    check(
        "123456789_123456789_123456789_123456789_.jpg",
        "123456789_123456789_123456789_123456789_.jpg.s.json",
    );
    check(
        "123456789_123456789_123456789_123456789_1.jpg",
        "123456789_123456789_123456789_123456789_1.jpg..json",
    );
    check(
        "123456789_123456789_123456789_123456789_12.jpg",
        "123456789_123456789_123456789_123456789_12.jpg.json",
    );
    check(
        "Screenshot_20220207_102421_com.snapchat.android.jpg",
        "Screenshot_20220207_102421_com.snapchat.androi.json",
    );
    check(
        "123456789_123456789_123456789_123456789_1234.jpg",
        "123456789_123456789_123456789_123456789_1234.j.json",
    );
    check(
        "123456789_123456789_123456789_123456789_123456_P.jpg",
        "123456789_123456789_123456789_123456789_123456.json",
    );
    check(
        "Übergröße_Übergröße_Übergröße_Übergröße_Übergröße.jpg",
        "Übergröße_Übergröße_Übergröße_Übergröße_Übergr.json",
    );
    // Motion photos share one file.
    let uuid = "2b8a0b2c-6e0a-4b2c-9a55-0f1e2d3c4b5a";
    for photo in ["_P.jpg", "_P(1).jpg"] {
        check(&format!("original_{uuid}{photo}"), &format!("original_{uuid}_.json"));
    }
    // An emoji has two UTF-16 units.
    check(
        "😀😃😄😁😆😅😂🤣🥲😊😇🙂🙃😉😌😍🥰😘😗😙😚😋😛😝.jpg",
        "😀😃😄😁😆😅😂🤣🥲😊😇🙂🙃😉😌😍🥰😘😗😙😚😋😛.json",
    );
    check("🏔🏔🏔🏔🏔🏔🏔🏔🏔🏔🏔.jpg", "🏔🏔🏔🏔🏔🏔🏔🏔🏔🏔🏔.jpg.supplemental-metada.json");
    // Composed and decomposed letters.
    check("Zu\u{308}rich.jpg", "Zürich.jpg.supplemental-metadata.json");
    check("Zürich.jpg", "Zu\u{308}rich.jpg.json");
    // Names that the table of the export's quirks lists.
    check("20161105_170829.jpg", "20161105_170829.jpg.supplemental-metadata.json");
    check("Screenshot_20231027_123303_Facebook.jpg", "Screenshot_20231027_123303_Facebook.jpg.supple.json");
    check(
        "Screenshot_20231027_123303_Facebook(1).jpg",
        "Screenshot_20231027_123303_Facebook.jpg.supple(1).json",
    );
    check("Scan35(1).jpg", "Scan35.jpg.supplemental-metadata(1).json");
    check("DSC_0101(1).JPG", "DSC_0101.JPG(1).json");
    check("IMG_2367(1).HEIC", "IMG_2367.HEIC(1).supplemental-metadata.json");
    check(
        "PXL_20230809_203449253.LONG_EXPOSURE-02.ORIGINA.jpg",
        "PXL_20230809_203449253.LONG_EXPOSURE-02.ORIGIN.json",
    );
    // A truncated suffix of an edited photo.
    check(
        "PXL_20230809_203449253.LONG_EXPOSURE-02.OR-edit.jpg",
        "PXL_20230809_203449253.LONG_EXPOSURE-02.OR.jpg.json",
    );
    check(
        "PXL_20230809_203449253.LONG_EXPOSURE-02.CO-bear.jpg",
        "PXL_20230809_203449253.LONG_EXPOSURE-02.CO.jpg.json",
    );
    // Numbers.
    check("IMG_1(1).jpg", "IMG_1.jpg(1).json");
    check("IMG_1(1).jpg", "IMG_1(1).jpg.json");
    check("IMG_1(1).jpg", "IMG_1(1).json");
    check("IMG_1(12).jpg", "IMG_1.jpg.supplemental-metadata(12).json");
    check("IMG_1(1).jpg", "IMG_1.jpg.supplemental-met(1).json");
    check("IMG_1(1).jpg", "IMG_1(1).jpg.supplemental-metadata.json");
    check(
        "Backyard_wedding_photography_of_two_people_xxxx_m(494).jpg",
        "Backyard_wedding_photography_of_two_people_xxx(494).json",
    );
    // Edited photos.
    check("IMG_1-edited.jpg", "IMG_1.jpg.json");
    check("IMG_1-EDITED.jpg", "IMG_1.jpg.supplemental-metadata.json");
    check("IMG_1-bearbeitet.jpg", "IMG_1.jpg.json");
    check("IMG_1-modifié.jpg", "IMG_1.jpg.json");
    check("IMG_1-modifie\u{301}.jpg", "IMG_1.jpg.json");
    check("IMG_1-編集済み.jpg", "IMG_1.jpg.json");
    check("IMG_1-edited(2).jpg", "IMG_1.jpg(2).json");
    check("IMG_1(2)-edited.jpg", "IMG_1.jpg.supplemental-metadata(2).json");
    // Upper and lower case.
    check("img_1.JPG", "IMG_1.jpg.json");
    check("IMG_1.jpg", "IMG_1.jpg.JSON");
}

#[test]
fn unrelated_sidecars_match_no_photo() {
    let check = |photo: &str, sidecar: &str| {
        let (found, left) = matched(&[photo], &[sidecar]);
        assert_eq!((found, left), (vec![("", "")], vec![sidecar]), "{photo}");
    };
    for other in
        ["metadata.json", "print-subscriptions.json", "shared_album_comments.json", "Metadaten.json", ".json"]
    {
        check("IMG_1.jpg", other);
    }
    check("IMG_1.jpg", "IMG_1.png.json");
    check("IMG_1.jpg", "IMG_1(1).jpg.json");
    check("IMG_1.jpg", "IMG_1.jpg(1).json");
    check("IMG_1(1).jpg", "IMG_1.jpg.json");
    check("IMG_1(1).jpg", "IMG_1.jpg(2).json");
    check("IMG_1.jpg", "IMG_1.jpg.supplemental-x.json");
    check("IMG_12.jpg", "IMG_1.json");
    check("-edited.jpg", ".jpg.json");
    check("DSC_0101(1).JPG", "DSC_0101.JPG.json");
    check("IMG_1-edi.jpg", "IMG_1.jpg.json");
    // Shorter than an export truncates it.
    check(
        "123456789_123456789_123456789_123456789_123456_P.jpg",
        "123456789_123456789_123456789_123456789_.json",
    );
}

#[test]
fn similar_names_are_distinguished() {
    let photos = ["IMG_1.jpg", "IMG_1(1).jpg", "IMG_1-edited.jpg", "IMG_1(1)-edited.jpg", "IMG_2.jpg"];
    let sidecars =
        ["IMG_1.jpg.supplemental-metadata(1).json", "IMG_1.jpg.json", "metadata.json", "IMG_1.xmp"];
    let (found, left) = matched(&photos, &sidecars);
    let [numbered, plain, album, xmp] = sidecars;
    assert_eq!(found, [(xmp, plain), ("", numbered), ("", plain), ("", numbered), ("", "")]);
    assert_eq!(left, [album]);
}

#[test]
fn own_sidecar_comes_before_that_of_the_original() {
    let (found, left) =
        matched(&["IMG_1-edited.jpg", "IMG_1.jpg"], &["IMG_1.jpg.json", "IMG_1-edited.jpg.json"]);
    assert_eq!(found, [("", "IMG_1-edited.jpg.json"), ("", "IMG_1.jpg.json")]);
    assert!(left.is_empty());
}

#[test]
fn newer_export_format_is_preferred() {
    let (old, new) = ("IMG_1.jpg.json", "IMG_1.jpg.supplemental-metadata.json");
    for sidecars in [[old, new], [new, old]] {
        assert_eq!(matched(&["IMG_1.jpg"], &sidecars), (vec![("", new)], vec![]));
        assert_eq!(matched(&["IMG_2.jpg"], &sidecars).1, sidecars);
    }
}

#[test]
fn ambiguous_truncated_name_matches_no_photo() {
    let name = "123456789_123456789_123456789_123456789_123456";
    let (first, second) = (format!("{name}_A.jpg"), format!("{name}_B.jpg"));
    let sidecar = format!("{name}.json");
    let (found, left) = matched(&[&first, &second], &[&sidecar]);
    assert_eq!((found, left), (vec![("", ""), ("", "")], vec![sidecar.as_str()]));
    // Versions of one photo share it.
    for version in [format!("{name}_A-edited.jpg"), format!("{name}_A.dng")] {
        let (found, _) = matched(&[&first, &version], &[&sidecar]);
        assert_eq!(found, [("", sidecar.as_str()), ("", &sidecar)], "{version}");
    }
}

#[test]
fn photos_with_the_same_long_name_have_their_own_sidecars() {
    let name = "PXL_20230809_203449253.LONG_EXPOSURE-02.ORIGIN";
    let check = |photos: [&str; 3], sidecars: [&str; 2]| {
        let (photos, sidecars) =
            (photos.map(|end| format!("{name}{end}")), sidecars.map(|end| format!("{name}{end}")));
        let (plain, numbered) = (sidecars[0].as_str(), sidecars[1].as_str());
        let photos = photos.each_ref().map(String::as_str);
        let (found, left) = matched(&photos, &[plain, numbered]);
        assert_eq!(found, [("", plain), ("", numbered), ("", numbered)], "{photos:?}");
        assert!(left.is_empty());
    };
    for edited in ["A-edited(1).jpg", "A(1)-edited.jpg"] {
        check(["A.jpg", "A(1).jpg", edited], [".json", "(1).json"]);
    }
    check([".jpg", "(1).jpg", "-edited(1).jpg"], [".json", "(1).json"]);
    // The sidecar of another photo.
    assert_eq!(matched(&[&format!("{name}A(1).jpg")], &[&format!("{name}.json")]).0, [("", "")]);
}

#[test]
fn a_long_decomposed_name_is_truncated_as_it_is_stored() {
    let name = "U\u{308}bergro\u{308}\u{DF}e_".repeat(6);
    let photo = format!("{name}.jpg");
    let units: Vec<u16> = photo.encode_utf16().collect();
    let stored = format!("{}.json", String::from_utf16(&units[..TAKEOUT_NAME_UNITS]).unwrap());
    let composed: String = composed(&photo).chars().take(TAKEOUT_NAME_UNITS).chain(".json".chars()).collect();
    for sidecars in
        [vec![stored.as_str()], vec![&composed], vec![&composed, &stored], vec![&stored, &composed]]
    {
        let (found, left) = matched(&[&photo], &sidecars);
        assert_eq!(
            found,
            [("", if sidecars.contains(&stored.as_str()) { stored.as_str() } else { &composed })]
        );
        assert!(left.is_empty(), "{left:?}");
    }
}

#[test]
fn big_folders_are_fast() {
    let photos: Vec<String> = (0..50_000).map(|number| format!("IMG_{number}({number}).jpg")).collect();
    let sidecars: Vec<String> =
        (0..50_000).map(|number| format!("IMG_{number}.jpg.supplemental-metadata({number}).json")).collect();
    let found = match_sidecars(
        &photos.iter().map(String::as_str).collect::<Vec<_>>(),
        &sidecars.iter().map(String::as_str).collect::<Vec<_>>(),
    );
    assert!(found.unmatched.is_empty());
    assert!(found.by_photo.iter().enumerate().all(|(position, found)| found.takeout == Some(position)));
}

proptest! {
    #[test]
    fn indexes_are_valid(
        photos in prop::collection::vec("[xX]{1,2}(-edited)?(\\([0-9]{1,2}\\))?(\\.jpg)?|.{0,60}", 0..6),
        sidecars in prop::collection::vec("[xX]{1,2}(\\.jpg)?(\\.supp)?(\\([0-9]{1,2}\\))?\\.(json|xmp)|.{0,60}", 0..6),
    ) {
        let photos: Vec<&str> = photos.iter().map(String::as_str).collect();
        let sidecars: Vec<&str> = sidecars.iter().map(String::as_str).collect();
        let found = match_sidecars(&photos, &sidecars);
        prop_assert_eq!(found.by_photo.len(), photos.len());
        for photo in &found.by_photo {
            for (position, kind) in [(photo.xmp, SidecarKind::Xmp), (photo.takeout, SidecarKind::Takeout)] {
                if let Some(position) = position {
                    prop_assert_eq!(sidecar_kind(sidecars[position]), Some(kind));
                    prop_assert!(!found.unmatched.contains(&position));
                }
            }
        }
    }
}
