//! Makes photos from `fixtures/dates.json`: test cases for every source of a capture time.
//!
//! A case lists what a JPEG's EXIF, XMP and IPTC blocks, its sidecars, its name and its modification time contain, and
//! the expected capture time. No two cases have the same bytes.

use std::io::Cursor;

use domain::{SidecarKind, Timestamp};
use image::{DynamicImage, ImageFormat, RgbImage};
use serde_json::{Map, Value};

/// When the photos are added to the library. `"added"` in an expected time means this.
pub const DATE_CASES_ADDED: &str = "2024-06-01T12:00:00.000Z";

/// A photo and its expected capture time.
#[derive(Debug, Clone)]
pub struct DateCase {
    /// What the case tests.
    pub name: String,
    /// The photo's file name. It contains a time only if the case tests that.
    pub file_name: String,
    /// The file.
    pub jpeg: Vec<u8>,
    /// Its EXIF block.
    pub exif: Option<Vec<u8>>,
    /// Its XMP packet.
    pub xmp: Option<Vec<u8>>,
    /// Its IPTC datasets.
    pub iptc: Option<Vec<u8>>,
    pub sidecars: Vec<SidecarFile>,
    /// The modification time. For `None`, set a copy on disk to 1970-01-01T00:00:00Z, which counts as missing.
    pub modified: Option<Timestamp>,
    /// The capture time from the metadata alone.
    pub expect: ExpectedTime,
    /// The capture time after an import, which also looks up the time zone of a position.
    pub expect_import: ExpectedTime,
}

/// A sidecar of a photo.
#[derive(Debug, Clone)]
pub struct SidecarFile {
    pub name: String,
    pub kind: SidecarKind,
    pub content: Vec<u8>,
}

/// The expected capture time of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedTime {
    /// The time, as the API writes it.
    pub at: String,
    /// The local time, for example `2019-07-04T18:03:22`.
    pub wall: Option<String>,
    /// Minutes east of UTC.
    pub offset_minutes: Option<i32>,
    /// The name of the source.
    pub source: String,
}

/// Parses `dates.json`.
///
/// # Panics
/// If the file is invalid.
pub fn date_cases(json: &str) -> Vec<DateCase> {
    let cases: Vec<Value> = serde_json::from_str(json).unwrap();
    cases.iter().enumerate().map(|(number, case)| DateCase::read(number, case)).collect()
}

impl DateCase {
    fn read(number: usize, case: &Value) -> Self {
        let name = case["name"].as_str().unwrap().to_owned();
        let file_name = case["file_name"].as_str().map_or(format!("photo-{number}.jpg"), ToOwned::to_owned);
        let exif = case["exif"].as_object().map(exif_block);
        let xmp = case["xmp"].as_object().map(xmp_packet);
        let iptc = case["iptc"].as_object().map(iptc_datasets);
        let beside = case["sidecars"].as_array().map_or(&[][..], Vec::as_slice);
        let expect = ExpectedTime::read(&case["expect"]);
        Self {
            jpeg: jpeg(&name, exif.as_deref(), xmp.as_deref(), iptc.as_deref()),
            sidecars: beside.iter().map(|sidecar| SidecarFile::read(sidecar, &file_name)).collect(),
            modified: case["modified"].as_str().map(|modified| Timestamp::parse_iso(modified).unwrap()),
            expect_import: case.get("expect_import").map_or_else(|| expect.clone(), ExpectedTime::read),
            name,
            file_name,
            exif,
            xmp,
            iptc,
            expect,
        }
    }
}

impl ExpectedTime {
    fn read(expect: &Value) -> Self {
        let at = expect["at"].as_str().unwrap();
        Self {
            at: if at == "added" { DATE_CASES_ADDED } else { at }.to_owned(),
            wall: expect["wall"].as_str().map(ToOwned::to_owned),
            offset_minutes: expect["offset_minutes"].as_i64().map(|minutes| i32::try_from(minutes).unwrap()),
            source: expect["source"].as_str().unwrap().to_owned(),
        }
    }
}

impl SidecarFile {
    fn read(sidecar: &Value, photo: &str) -> Self {
        let (kind, ending, content) = match (sidecar["xmp"].as_object(), &sidecar["takeout"]) {
            (Some(properties), _) => (SidecarKind::Xmp, "xmp", xmp_packet(properties)),
            (None, takeout) => {
                assert!(takeout.is_object(), "{sidecar}");
                (SidecarKind::Takeout, "supplemental-metadata.json", takeout.to_string().into_bytes())
            }
        };
        let name = sidecar["name"].as_str().map_or(format!("{photo}.{ending}"), ToOwned::to_owned);
        Self { name, kind, content }
    }
}

/// A small picture with its metadata in the first segments, and a comment that makes its bytes unique.
fn jpeg(comment: &str, exif: Option<&[u8]>, xmp: Option<&[u8]>, iptc: Option<&[u8]>) -> Vec<u8> {
    let mut picture = Cursor::new(Vec::new());
    DynamicImage::from(RgbImage::from_pixel(16, 16, image::Rgb([90, 140, 200])))
        .write_to(&mut picture, ImageFormat::Jpeg)
        .unwrap();
    let picture = picture.into_inner();
    let exif = exif.map(|exif| segment(0xE1, &[b"Exif\0\0", exif].concat())).unwrap_or_default();
    let xmp =
        xmp.map(|xmp| segment(0xE1, &[b"http://ns.adobe.com/xap/1.0/\0", xmp].concat())).unwrap_or_default();
    let iptc = iptc.map(|iptc| segment(0xED, &photoshop_block(iptc))).unwrap_or_default();
    let (start, rest) = picture.split_at(2);
    [start, &exif, &xmp, &iptc, &segment(0xFE, comment.as_bytes()), rest].concat()
}

fn segment(marker: u8, payload: &[u8]) -> Vec<u8> {
    let length = u16::try_from(payload.len() + 2).unwrap().to_be_bytes();
    [&[0xFF, marker], &length[..], payload].concat()
}

/// IPTC datasets in Photoshop's image resource 0x0404, with an empty name and padded to an even length.
fn photoshop_block(iptc: &[u8]) -> Vec<u8> {
    let length = u32::try_from(iptc.len()).unwrap().to_be_bytes();
    let padding = if iptc.len() % 2 == 1 { &[0][..] } else { &[] };
    [&b"Photoshop 3.0\08BIM\x04\x04\0\0"[..], &length, iptc, padding].concat()
}

/// Datasets from an object such as `{"2:55": "20190704"}`, in the order of its names.
fn iptc_datasets(datasets: &Map<String, Value>) -> Vec<u8> {
    let dataset = |(name, value): (&String, &Value)| {
        let (record, number) = name.split_once(':').unwrap();
        let value = value.as_str().unwrap();
        let length = u16::try_from(value.len()).unwrap().to_be_bytes();
        let head = [0x1C, record.parse().unwrap(), number.parse().unwrap()];
        [&head[..], &length, value.as_bytes()].concat()
    };
    datasets.iter().flat_map(dataset).collect()
}

/// A packet from an object such as `{"xmp:CreateDate": "2019-07-04"}`.
fn xmp_packet(properties: &Map<String, Value>) -> Vec<u8> {
    let property = |(name, value): (&String, &Value)| {
        let value = value.as_str().unwrap().replace('&', "&amp;").replace('<', "&lt;");
        format!("<{name}>{value}</{name}>")
    };
    let properties: String = properties.iter().map(property).collect();
    format!(
        "<?xpacket begin=\"\u{FEFF}\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>\n\
         <x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">\n\
         <rdf:Description rdf:about=\"\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\" \
         xmlns:exif=\"http://ns.adobe.com/exif/1.0/\" xmlns:exifEX=\"http://cipa.jp/exif/1.0/\" \
         xmlns:photoshop=\"http://ns.adobe.com/photoshop/1.0/\" xmlns:tiff=\"http://ns.adobe.com/tiff/1.0/\" \
         xmlns:xmp=\"http://ns.adobe.com/xap/1.0/\">{properties}</rdf:Description>\n\
         </rdf:RDF></x:xmpmeta>\n<?xpacket end=\"w\"?>"
    )
    .into_bytes()
}

/// A directory entry: tag, type, count, value.
type Entry = (u16, u16, u32, Vec<u8>);

/// An EXIF block from an object of tag names and values; for the GPS tags see [`gps_entries`].
fn exif_block(tags: &Map<String, Value>) -> Vec<u8> {
    let texts = |known: &[(&str, u16)]| -> Vec<Entry> {
        let tag = |(name, tag): &(&str, u16)| Some(text_entry(*tag, tags.get(*name)?.as_str().unwrap()));
        known.iter().filter_map(tag).collect()
    };
    let mut primary = texts(&[
        ("ImageDescription", 0x010E),
        ("Make", 0x010F),
        ("Model", 0x0110),
        ("DateTime", 0x0132),
        // Some programs write this tag into the first directory, too.
        ("IFD0:DateTimeOriginal", 0x9003),
    ]);
    let exif = texts(&[
        ("DateTimeOriginal", 0x9003),
        ("DateTimeDigitized", 0x9004),
        ("OffsetTime", 0x9010),
        ("OffsetTimeOriginal", 0x9011),
        ("OffsetTimeDigitized", 0x9012),
        ("SubSecTimeOriginal", 0x9291),
        ("SubSecTimeDigitized", 0x9292),
    ]);
    let gps = gps_entries(tags);
    // The positions of the directories depend only on their lengths.
    let start_of_exif = 8 + u32::try_from(directory(0, &with_pointers(&primary, 0, 0)).len()).unwrap();
    let start_of_gps = start_of_exif + u32::try_from(directory(0, &exif).len()).unwrap();
    primary = with_pointers(&primary, start_of_exif, start_of_gps);
    [
        &b"II*\0\x08\0\0\0"[..],
        &directory(8, &primary),
        &directory(start_of_exif, &exif),
        &directory(start_of_gps, &gps),
    ]
    .concat()
}

fn with_pointers(primary: &[Entry], exif: u32, gps: u32) -> Vec<Entry> {
    let pointer = |tag, start: u32| (tag, 4, 1, start.to_le_bytes().to_vec());
    [primary, &[pointer(0x8769, exif), pointer(0x8825, gps)]].concat()
}

/// `GPSLatitude` and `GPSLongitude` in degrees, `GPSDateStamp` as text, `GPSTimeStamp` as `16:03:20.5`.
fn gps_entries(tags: &Map<String, Value>) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (name, tag, [positive, negative]) in [("GPSLatitude", 1, ["N", "S"]), ("GPSLongitude", 3, ["E", "W"])]
    {
        if let Some(degrees) = tags.get(name).map(|degrees| degrees.as_f64().unwrap()) {
            entries.push(text_entry(tag, if degrees < 0.0 { negative } else { positive }));
            entries.push(rationals_entry(tag + 1, [degrees.abs().to_string().as_str(), "0", "0"]));
        }
    }
    if let Some(time) = tags.get("GPSTimeStamp") {
        let parts: Vec<&str> = time.as_str().unwrap().split(':').collect();
        entries.push(rationals_entry(7, parts.try_into().unwrap()));
    }
    entries.extend(tags.get("GPSDateStamp").map(|date| text_entry(0x1D, date.as_str().unwrap())));
    entries
}

fn text_entry(tag: u16, text: &str) -> Entry {
    let value = format!("{text}\0").into_bytes();
    (tag, 2, u32::try_from(value.len()).unwrap(), value)
}

/// Decimal numbers as fractions.
fn rationals_entry(tag: u16, numbers: [&str; 3]) -> Entry {
    let fraction = |number: &str| {
        let (whole, places) = number.split_once('.').unwrap_or((number, ""));
        let numerator: u32 = format!("{whole}{places}").parse().unwrap();
        let denominator = 10_u32.pow(u32::try_from(places.len()).unwrap());
        [numerator.to_le_bytes(), denominator.to_le_bytes()].concat()
    };
    (tag, 5, 3, numbers.into_iter().flat_map(fraction).collect())
}

/// A directory that starts at this position of its block, followed by the values that do not fit into it.
fn directory(start: u32, entries: &[Entry]) -> Vec<u8> {
    let count = u16::try_from(entries.len()).unwrap();
    let mut records = count.to_le_bytes().to_vec();
    let mut values = Vec::new();
    let values_start = start + 2 + u32::from(count) * 12 + 4;
    for (tag, kind, count, value) in entries {
        records.extend([&tag.to_le_bytes()[..], &kind.to_le_bytes(), &count.to_le_bytes()].concat());
        if value.len() <= 4 {
            records.extend([&value[..], &[0; 4][value.len()..]].concat());
        } else {
            records.extend((values_start + u32::try_from(values.len()).unwrap()).to_le_bytes());
            values.extend_from_slice(value);
            values.resize(values.len().next_multiple_of(2), 0);
        }
    }
    [records, vec![0; 4], values].concat()
}
