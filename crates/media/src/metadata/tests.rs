use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
};

use domain::{CaptureTime, Position, Timestamp};

use super::*;
use crate::samples::{ExifBlock, Number, png_chunk};
use date_cases::{DATE_CASES_ADDED, DateCase};
use xmp::samples::packet_of;

#[path = "../../../../tests/src/date_cases.rs"]
#[expect(unreachable_pub, reason = "another crate uses it as well")]
mod date_cases;

fn cases() -> Vec<DateCase> {
    date_cases::date_cases(include_str!("../../../../fixtures/dates.json"))
}

fn added() -> FileInfo {
    FileInfo::added_at(Timestamp::parse_iso(DATE_CASES_ADDED).unwrap())
}

fn read(case: &DateCase, read: impl Fn(&FileInfo) -> Metadata) -> CaptureTime {
    let sidecar = |file: &date_cases::SidecarFile| Sidecar { kind: file.kind, content: file.content.clone() };
    let info = FileInfo {
        name: Some(case.file_name.clone()),
        modified_at: case.modified,
        sidecars: case.sidecars.iter().map(sidecar).collect(),
        ..added()
    };
    read(&info).capture
}

fn check(case: &DateCase, found: CaptureTime) {
    let (name, expect) = (&case.name, &case.expect);
    assert_eq!(found.at.to_string(), expect.at, "{name}");
    assert_eq!(found.wall.map(|wall| wall.to_string()), expect.wall, "{name}");
    assert_eq!(found.offset_minutes, expect.offset_minutes, "{name}");
    assert_eq!(found.source.as_str(), expect.source, "{name}");
}

#[test]
fn metadata_of_every_case_are_read_from_blocks() {
    for case in cases() {
        let blocks = Blocks {
            exif: case.exif.as_deref().map(Into::into),
            xmp: case.xmp.as_deref().map(Into::into),
            iptc: case.iptc.as_deref().map(Into::into),
            ..Blocks::default()
        };
        check(&case, read(&case, |info| metadata_of(&blocks, info)));
    }
}

#[test]
fn metadata_of_every_case_are_read_from_a_file() {
    for case in &cases() {
        check(case, read(case, |info| metadata(&case.jpeg, info)));
    }
}

#[test]
fn import_adds_only_offsets() {
    for case in cases().iter().filter(|case| case.expect != case.expect_import) {
        assert_eq!(case.expect.offset_minutes, None, "{}", case.name);
        assert_eq!(case.expect.wall, case.expect_import.wall, "{}", case.name);
        assert_eq!(case.expect.source, case.expect_import.source, "{}", case.name);
    }
}

#[test]
fn cases_can_be_imported() {
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

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

#[test]
fn metadata_of_every_photo_in_the_import_folder_are_read() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let (sidecars, photos): (Vec<_>, Vec<_>) = files_below(&fixtures.join("import"))
        .into_iter()
        .partition(|path| sidecar_kind(path.to_str().unwrap()).is_some());
    let expected = fs::read_to_string(fixtures.join("import.json")).unwrap();
    let expected: serde_json::Value = serde_json::from_str(&expected).unwrap();
    assert_eq!(expected.as_object().unwrap().len(), photos.len());
    let mut wrong = Vec::new();
    for photo in photos {
        let name = photo.file_name().unwrap().to_str().unwrap().to_owned();
        let beside =
            sidecars.iter().filter(|sidecar| sidecar.to_str().unwrap().starts_with(photo.to_str().unwrap()));
        let read = |path: &PathBuf| Sidecar {
            kind: sidecar_kind(path.to_str().unwrap()).unwrap(),
            content: fs::read(path).unwrap(),
        };
        let added_at = Timestamp::parse_iso("2026-11-27T12:00:00Z").unwrap();
        let info = FileInfo {
            name: Some(name.clone()),
            sidecars: beside.map(read).collect(),
            ..FileInfo::added_at(added_at)
        };
        let file = fs::read(&photo).unwrap();
        let Metadata { capture, details, .. } = metadata(&file, &info);
        // Completes the offset from the position, as an import does.
        let zone = details.position.zip(capture.wall).filter(|_| capture.offset_minutes.is_none());
        let zone = zone.and_then(|(position, wall)| places::offset_minutes(position, wall));
        let at = capture.at.plus_millis(-i64::from(zone.unwrap_or(0)) * 60_000);
        let offset = capture.offset_minutes.or(zone).and_then(domain::UtcOffset::from_minutes);
        let rounded = |degrees: f64| (degrees * 1e6).round() / 1e6;
        let turn = sidecar_orientation(&info.sidecars);
        let size =
            Photo::open(&file).unwrap().turned(turn).probe(&crate::Limits::default()).unwrap().upright_size;
        let found = serde_json::json!({
            "capturedAt": at.to_string(),
            "utcOffset": offset.map(|offset| offset.to_string()),
            "latitude": details.position.map(|at| rounded(at.latitude())),
            "longitude": details.position.map(|at| rounded(at.longitude())),
            "description": details.description,
            "wh": [size.width, size.height],
        });
        for (field, expect) in expected[&name].as_object().unwrap() {
            if found[field] != *expect {
                wrong.push(format!("{name} {field}: expected {expect}, found {}", found[field]));
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
}

/// The metadata of these attributes in EXIF, in XMP and in sidecars.
fn of(exif: ExifBlock, xmp: &str, sidecars: &[(SidecarKind, &str)]) -> Metadata {
    let sidecar = |(kind, content): &(SidecarKind, &str)| {
        let content = if *kind == SidecarKind::Xmp { packet_of(content) } else { (*content).to_owned() };
        Sidecar { kind: *kind, content: content.into_bytes() }
    };
    let sidecars = sidecars.iter().map(sidecar).collect();
    let blocks = Blocks {
        exif: Some(exif.build().into()),
        xmp: Some(packet_of(xmp).into_bytes().into()),
        ..Blocks::default()
    };
    metadata_of(&blocks, &FileInfo { sidecars, ..added() })
}

#[test]
fn sources_of_positions_are_used_in_their_order() {
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
        let found = of(exif(exif_degrees), &xmp(xmp_degrees), &sidecars).details.position;
        assert_eq!(found, Position::new(expect, expect).ok().filter(|_| expect > 0.0));
    };
    check(4, 3, 2, 1, 1.0);
    check(4, 3, 2, 0, 2.0);
    check(4, 3, 0, 0, 4.0);
    check(0, 3, 0, 0, 3.0);
    check(0, 0, 0, 0, 0.0);
}

#[test]
fn orientation_in_a_sidecar_overrides_exif_and_not_the_container() {
    use crate::Limits;
    let sidecar = |kind, content: String| Sidecar { kind, content: content.into_bytes() };
    let xmp = |orientation: &str| {
        sidecar(SidecarKind::Xmp, packet_of(&format!("tiff:Orientation='{orientation}'")))
    };
    assert_eq!(sidecar_orientation(&[xmp("6")]), Some(Orientation::Rotate90));
    assert_eq!(sidecar_orientation(&[xmp("9")]), None);
    assert_eq!(sidecar_orientation(&[xmp("left")]), None);
    assert_eq!(sidecar_orientation(&[sidecar(SidecarKind::Takeout, r#"{"geoData":{}}"#.into())]), None);
    let picture = crate::samples::encode(&crate::samples::quarters(64, 48).into(), crate::Format::Jpeg);
    let exif = ExifBlock::default().number(Directory::Primary, tag::ORIENTATION, Number::Short(3)).build();
    let turned = crate::samples::with_exif(crate::Format::Jpeg, &picture, &exif);
    let check = |in_sidecar, expect| {
        let probe = Photo::open(&turned).unwrap().turned(in_sidecar).probe(&Limits::default()).unwrap();
        assert_eq!(probe.orientation, expect);
    };
    check(None, Orientation::Rotate180);
    check(Some(Orientation::Rotate90), Orientation::Rotate90);
    check(Some(Orientation::Normal), Orientation::Normal);
}

#[test]
fn values_that_the_first_exif_block_lacks_come_from_the_second() {
    let block = |orientation| {
        ExifBlock::default().number(Directory::Primary, tag::ORIENTATION, Number::Short(orientation)).build()
    };
    let picture = crate::samples::encode(&crate::samples::quarters(64, 48).into(), crate::Format::Jpeg);
    let check = |blocks: &[&[u8]], expect| {
        // A block that is inserted later comes before the others, so the blocks are inserted in reverse order.
        let file = blocks.iter().rev().fold(picture.clone(), |file, block| {
            crate::samples::with_exif(crate::Format::Jpeg, &file, block)
        });
        let probe = crate::probe(&file, &crate::Limits::default()).unwrap();
        assert_eq!(Some(probe.orientation), Orientation::from_exif(expect));
    };
    let empty = ExifBlock::default().text(Directory::Primary, tag::MAKE, "Canon").build();
    check(&[&block(6), &block(3)], 6);
    check(&[&empty, &block(3)], 3);
    check(&[b"broken", &block(3)], 3);
    check(&[&block(0), &block(3)], 3);
    check(&[&block(0)], 1);
}

#[test]
fn sources_of_cameras_are_used_in_their_order() {
    let exif = ExifBlock::default().text(Directory::Primary, tag::MAKE, "Canon");
    let xmp = "tiff:Make='Nikon' tiff:Model=' EOS R '";
    let sidecar = (SidecarKind::Xmp, "tiff:Make='Sony' tiff:Model='A7'");
    let camera = |Metadata { details, .. }| {
        (details.camera_make.unwrap_or_default(), details.camera_model.unwrap_or_default())
    };
    assert_eq!(camera(of(exif, xmp, &[sidecar])), ("Canon".into(), "EOS R".into()));
    assert_eq!(camera(of(ExifBlock::default(), xmp, &[sidecar])), ("Nikon".into(), "EOS R".into()));
    assert_eq!(camera(of(ExifBlock::default(), "", &[sidecar])), ("Sony".into(), "A7".into()));
}

#[test]
fn sidecars_are_detected_by_content() {
    let check = |kind, content: &str, expect| {
        assert_eq!(is_sidecar_content(kind, content.as_bytes()), expect, "{content}");
    };
    check(SidecarKind::Xmp, &packet_of(""), true);
    check(SidecarKind::Xmp, "<?xml version='1.0'?><lens/>", false);
    check(SidecarKind::Takeout, r#"{"photoTakenTime": {"timestamp": "1"}}"#, true);
    check(SidecarKind::Takeout, r#"{"title": "Holidays", "access": "protected"}"#, false);
    check(SidecarKind::Takeout, &packet_of(""), false);
}

/// The metadata of a PNG with these chunks before its picture.
fn of_png(chunks: &[Vec<u8>], file_name: Option<&str>) -> Metadata {
    let picture = crate::samples::encode(&crate::samples::quarters(8, 8).into(), crate::Format::Png);
    let info = FileInfo { name: file_name.map(ToOwned::to_owned), ..added() };
    metadata(&[&picture[..33], &chunks.concat(), &picture[33..]].concat(), &info)
}

fn plain_text(keyword: &str, text: &[u8]) -> Vec<u8> {
    png_chunk(b"tEXt", &[keyword.as_bytes(), &[0], text].concat())
}

fn packed_text(keyword: &str, text: &[u8]) -> Vec<u8> {
    png_chunk(b"zTXt", &[keyword.as_bytes(), &[0, 0], &zlib(text)].concat())
}

fn international_text(keyword: &str, text: &str) -> Vec<u8> {
    png_chunk(b"iTXt", &[keyword.as_bytes(), b"\0\0\0en\0words\0", text.as_bytes()].concat())
}

fn packed_international_text(keyword: &str, text: &str) -> Vec<u8> {
    png_chunk(b"iTXt", &[keyword.as_bytes(), b"\0\x01\0\0\0", &zlib(text.as_bytes())].concat())
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write as _;
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn png_text_gives_the_description() {
    let check = |chunks: &[Vec<u8>], expect: Option<&str>| {
        assert_eq!(of_png(chunks, Some("a/beach.png")).details.description.as_deref(), expect, "{chunks:?}");
    };
    check(&[plain_text("Description", b"On the beach")], Some("On the beach"));
    check(&[plain_text("Description", b"Z\xFCrich \x96 See")], Some("Zürich – See"));
    check(&[plain_text("Description", "Zürich".as_bytes())], Some("Zürich"));
    check(&[packed_text("Description", b"Z\xFCrich")], Some("Zürich"));
    check(&[international_text("Description", "東京")], Some("東京"));
    check(&[packed_international_text("Description", "東京")], Some("東京"));
    check(&[plain_text("Title", b"A title")], Some("A title"));
    check(&[plain_text("Comment", b"A comment")], Some("A comment"));
    // The description is preferred to the comment, and the comment to the title, whatever their order in the file.
    let (title, comment) = (plain_text("Title", b"A title"), plain_text("Comment", b"A comment"));
    check(&[title.clone(), comment.clone()], Some("A comment"));
    check(&[title.clone(), comment.clone(), packed_text("Description", b"Words")], Some("Words"));
    check(&[title.clone(), plain_text("Description", b"   ")], Some("A title"));
    // The first text of a kind counts.
    check(&[plain_text("Title", b"one"), plain_text("Title", b"two")], Some("one"));
    // Boilerplate of programs.
    for comment in ["Created with GIMP", "Created with The GIMP", "{\"prompt\": 1}"] {
        check(&[plain_text("Comment", comment.as_bytes())], None);
    }
    check(&[plain_text("Title", b"beach")], None);
    check(&[plain_text("Title", b"beach.png")], None);
    check(&[plain_text("Author", b"Ann"), plain_text("Software", b"Paint")], None);
    check(&[plain_text("description", b"another keyword")], None);
    check(&[png_chunk(b"tEXt", b"Description")], None);
    check(&[png_chunk(b"iTXt", b"Description\0\0\0")], None);
    check(&[png_chunk(b"zTXt", b"Description\0\x01packed otherwise")], None);
    check(&[packed_text("Description", &vec![b'x'; 2 << 20])], None);
}

#[test]
fn png_text_comes_after_xmp_and_before_titles() {
    let xmp = |properties: &str| {
        let packet = packet_of(properties);
        png_chunk(b"iTXt", &[b"XML:com.adobe.xmp\0\0\0\0\0", packet.as_bytes()].concat())
    };
    let check = |chunks: &[Vec<u8>], expect: &str| {
        assert_eq!(of_png(chunks, None).details.description.as_deref(), Some(expect));
    };
    let text = plain_text("Description", b"png");
    check(&[text.clone(), xmp("dc:description='xmp'")], "xmp");
    check(&[text.clone(), xmp("exif:UserComment='xmp'")], "xmp");
    check(&[text, xmp("dc:title='xmp'")], "png");
    check(&[plain_text("Title", b"png"), xmp("dc:title='xmp'")], "xmp");
}

#[test]
fn png_text_gives_the_creation_time() {
    let check = |text: &str, at: &str, offset: Option<i32>| {
        let found = of_png(&[plain_text("Creation Time", text.as_bytes())], None).capture;
        assert_eq!((found.at.to_string().as_str(), found.offset_minutes), (at, offset), "{text}");
        assert_eq!(found.source.as_str(), "embedded", "{text}");
    };
    check("Thu, 04 Jul 2019 18:03:22 +0200", "2019-07-04T16:03:22.000Z", Some(120));
    check("Thu, 4 Jul 2019 18:03:22 GMT", "2019-07-04T18:03:22.000Z", Some(0));
    check("04 Jul 2019 18:03:22 -0500", "2019-07-04T23:03:22.000Z", Some(-300));
    check("Mon, 04 Jul 2019 18:03:22 +0200", "2019-07-04T16:03:22.000Z", Some(120));
    check("2019-07-04T18:03:22+02:00", "2019-07-04T16:03:22.000Z", Some(120));
    check("2019-07-04T18:03:22Z", "2019-07-04T18:03:22.000Z", Some(0));
    check("2019-07-04 18:03:22", "2019-07-04T18:03:22.000Z", None);
    check("2019:07:04 18:03:22", "2019-07-04T18:03:22.000Z", None);
    check("2019:07:04 18:03:22\0", "2019-07-04T18:03:22.000Z", None);
    check("2019-07-04", "2019-07-04T00:00:00.000Z", None);
    for none in
        ["", "yesterday", "Thu, 34 Jul 2019 18:03:22 GMT", "2019", "1970:01:01 00:00:00", "2031-01-01"]
    {
        let found = of_png(&[plain_text("Creation Time", none.as_bytes())], None).capture;
        assert_eq!(found.source.as_str(), "added", "{none}");
    }
    let time = |text: &str| packed_international_text("Creation Time", text);
    let xmp = png_chunk(
        b"iTXt",
        &[b"XML:com.adobe.xmp\0\0\0\0\0", packet_of("xmp:CreateDate='2018-01-01T10:00:00'").as_bytes()]
            .concat(),
    );
    let exif = ExifBlock::default().text(Directory::Exif, tag::DATE_TIME_DIGITIZED, "2017:01:01 10:00:00");
    let exif = png_chunk(b"eXIf", &exif.build());
    let at = |chunks: &[Vec<u8>], name| of_png(chunks, name).capture.at.to_string();
    let chunks = [time("2019-07-04T18:03:22Z"), xmp, exif];
    assert_eq!(at(&chunks[..1], Some("IMG_20160101_100000.png")), "2019-07-04T18:03:22.000Z");
    assert_eq!(at(&chunks[..2], None), "2018-01-01T10:00:00.000Z");
    assert_eq!(at(&chunks, None), "2017-01-01T10:00:00.000Z");
}
