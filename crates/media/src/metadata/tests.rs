use std::collections::HashSet;

use super::*;
use crate::samples::ExifBlock;
use date_cases::{DATE_CASES_ADDED, DateCase};
use xmp::samples::packet_of;

#[path = "../../../../tests/src/date_cases.rs"]
#[expect(unreachable_pub, reason = "it belongs to another crate, too")]
mod date_cases;

fn cases() -> Vec<DateCase> {
    date_cases::date_cases(include_str!("../../../../fixtures/dates.json"))
}

fn read(case: &DateCase, read: impl Fn(&FileFacts<'_>) -> Metadata) -> CaptureTime {
    let sidecars: Vec<Sidecar<'_>> = case
        .sidecars
        .iter()
        .map(|sidecar| Sidecar { kind: sidecar.kind, content: &sidecar.content })
        .collect();
    let facts = FileFacts {
        file_name: Some(&case.file_name),
        modified: case.modified,
        added: Timestamp::parse_iso(DATE_CASES_ADDED).unwrap(),
        sidecars: &sidecars,
    };
    read(&facts).capture
}

fn check(case: &DateCase, found: CaptureTime) {
    let (name, expect) = (&case.name, &case.expect);
    assert_eq!(found.at.to_string(), expect.at, "{name}");
    assert_eq!(found.wall.map(|wall| wall.to_string()), expect.wall, "{name}");
    assert_eq!(found.offset_minutes, expect.offset_minutes, "{name}");
    assert_eq!(found.source.as_str(), expect.source, "{name}");
}

#[test]
fn every_case_from_its_blocks() {
    for case in cases() {
        let blocks = Blocks {
            exif: case.exif.as_deref().map(Into::into),
            xmp: case.xmp.as_deref().map(Into::into),
            iptc: case.iptc.as_deref().map(Into::into),
            colour: None,
        };
        check(&case, read(&case, |facts| metadata_of(&blocks, facts)));
    }
}

#[test]
fn every_case_as_a_file() {
    for case in &cases() {
        check(case, read(case, |facts| metadata(&case.jpeg, facts)));
    }
}

#[test]
fn an_import_knows_more_of_offsets_and_nothing_else() {
    for case in cases().iter().filter(|case| case.expect != case.expect_import) {
        assert_eq!(case.expect.offset_minutes, None, "{}", case.name);
        assert_eq!(case.expect.wall, case.expect_import.wall, "{}", case.name);
        assert_eq!(case.expect.source, case.expect_import.source, "{}", case.name);
    }
}

#[test]
fn the_cases_are_files_that_can_be_imported() {
    let cases = cases();
    let files: HashSet<&[u8]> = cases.iter().map(|case| case.jpeg.as_slice()).collect();
    let names: HashSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!((files.len(), names.len()), (cases.len(), cases.len()));
    for case in &cases {
        assert!(crate::probe(&case.jpeg, &crate::Limits::default()).is_ok(), "{}", case.name);
        let names: Vec<&str> = case.sidecars.iter().map(|sidecar| sidecar.name.as_str()).collect();
        let matches = match_sidecars(&[&case.file_name], &names);
        assert!(matches.unmatched.is_empty(), "{} {:?}", case.name, matches);
        for sidecar in &case.sidecars {
            assert_eq!(sidecar_kind(&sidecar.name), Some(sidecar.kind), "{}", case.name);
            assert!(is_sidecar_content(sidecar.kind, &sidecar.content), "{}", case.name);
        }
    }
}

/// The metadata of these attributes in EXIF, in XMP and in sidecars.
fn of(exif: ExifBlock, xmp: &str, sidecars: &[(SidecarKind, &str)]) -> Metadata {
    let sidecars: Vec<(SidecarKind, String)> = sidecars
        .iter()
        .map(|(kind, content)| {
            (*kind, if *kind == SidecarKind::Xmp { packet_of(content) } else { (*content).into() })
        })
        .collect();
    let sidecars: Vec<Sidecar<'_>> =
        sidecars.iter().map(|(kind, content)| Sidecar { kind: *kind, content: content.as_bytes() }).collect();
    let blocks = Blocks {
        exif: Some(exif.build().into()),
        xmp: Some(packet_of(xmp).into_bytes().into()),
        ..Blocks::default()
    };
    let added = Timestamp::parse_iso(DATE_CASES_ADDED).unwrap();
    metadata_of(&blocks, &FileFacts { file_name: None, modified: None, added, sidecars: &sidecars })
}

#[test]
fn positions_in_their_order() {
    let exif = |degrees| {
        ExifBlock::default()
            .text(Directory::Gps, tag::GPS_LATITUDE_REF, "N")
            .rationals(Directory::Gps, tag::GPS_LATITUDE, &[(degrees, 1), (0, 1), (0, 1)])
            .text(Directory::Gps, tag::GPS_LONGITUDE_REF, "E")
            .rationals(Directory::Gps, tag::GPS_LONGITUDE, &[(degrees, 1), (0, 1), (0, 1)])
    };
    let xmp = |degrees| format!("exif:GPSLatitude='{degrees},0N' exif:GPSLongitude='{degrees},0E'");
    let takeout = |degrees| {
        format!(r#"{{"photoTakenTime":{{}},"geoData":{{"latitude":{degrees},"longitude":{degrees}}}}}"#)
    };
    let check = |exif_degrees, xmp_degrees, takeout_degrees, sidecar_degrees, expect: f64| {
        let (takeout, sidecar) = (takeout(takeout_degrees), xmp(sidecar_degrees));
        let sidecars = [(SidecarKind::Takeout, takeout.as_str()), (SidecarKind::Xmp, &sidecar)];
        let found = of(exif(exif_degrees), &xmp(xmp_degrees), &sidecars).position;
        assert_eq!(found, Position::new(expect, expect).ok().filter(|_| expect > 0.0));
    };
    check(4, 3, 2, 1, 1.0);
    check(4, 3, 2, 0, 2.0);
    check(4, 3, 0, 0, 4.0);
    check(0, 3, 0, 0, 3.0);
    check(0, 0, 0, 0, 0.0);
}

#[test]
fn cameras_in_their_order() {
    let exif = ExifBlock::default().text(Directory::Primary, tag::MAKE, "Canon");
    let xmp = "tiff:Make='Nikon' tiff:Model=' EOS R '";
    let sidecar = (SidecarKind::Xmp, "tiff:Make='Sony' tiff:Model='A7'");
    let camera =
        |found: Metadata| (found.camera_make.unwrap_or_default(), found.camera_model.unwrap_or_default());
    assert_eq!(camera(of(exif, xmp, &[sidecar])), ("Canon".into(), "EOS R".into()));
    assert_eq!(camera(of(ExifBlock::default(), xmp, &[sidecar])), ("Nikon".into(), "EOS R".into()));
    assert_eq!(camera(of(ExifBlock::default(), "", &[sidecar])), ("Sony".into(), "A7".into()));
}

#[test]
fn sidecars_are_told_by_content() {
    let check = |kind, content: &str, expect| {
        assert_eq!(is_sidecar_content(kind, content.as_bytes()), expect, "{content}");
    };
    check(SidecarKind::Xmp, &packet_of(""), true);
    check(SidecarKind::Xmp, "<?xml version='1.0'?><lens/>", false);
    check(SidecarKind::Takeout, r#"{"photoTakenTime": {"timestamp": "1"}}"#, true);
    check(SidecarKind::Takeout, r#"{"title": "Holidays", "access": "protected"}"#, false);
    check(SidecarKind::Takeout, &packet_of(""), false);
}
