//! Reads the CSV files of an iCloud Photos export from Apple's data and privacy page.
//!
//! `Photo Details.csv` has a row for each photo: `imgName,fileChecksum,favorite,hidden,deleted,originalCreationDate,
//! viewCount,importDate`. A file in the folder `Albums` has one column, the names of the album's photos.

use domain::Timestamp;
use jiff::civil::{Date, DateTime, Time};

use super::xmp::EXPORT;

/// Maximum number of rows that are read from one file.
const MAX_ROWS: usize = 1_000_000;

/// What an Apple export says about a photo.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ApplePhoto {
    pub name: String,
    /// When it was taken, in UTC and to the minute. `None` if the export does not say so.
    pub taken_at: Option<Timestamp>,
    pub is_favorite: bool,
    /// Whether the photo was hidden.
    pub is_hidden: bool,
    /// Whether the photo was deleted.
    pub is_deleted: bool,
}

impl ApplePhoto {
    /// An XMP sidecar with what is known about the photo; `None` if nothing is known.
    ///
    /// The date is written as a property of its own. As a creation date it would be preferred to the photo's EXIF time,
    /// which is better because it has seconds and the local time.
    pub fn xmp(&self) -> Option<Vec<u8>> {
        let date = self.taken_at.map(|date| format!(" export:CreationDate='{date}'"));
        let favorite = self.is_favorite.then(|| " export:Favorite='True'".to_owned());
        let archived = self.is_hidden.then(|| " export:Archived='True'".to_owned());
        let properties: Vec<String> = [date, favorite, archived].into_iter().flatten().collect();
        let packet = format!(
            "<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>\
             <rdf:Description rdf:about='' xmlns:export='{EXPORT}'{}/></rdf:RDF></x:xmpmeta>",
            properties.concat()
        );
        (!properties.is_empty()).then(|| packet.into_bytes())
    }
}

/// The rows of a `Photo Details.csv`. `None` for any other file: the header decides. Rows without a name are left out.
///
/// ```
/// let rows = media::apple_photos_csv(
///     b"imgName,fileChecksum,favorite,hidden,deleted,originalCreationDate,viewCount,importDate\n\
///       IMG_1.HEIC,x,no,no,no,\"Saturday June 4,2022 12:11 PM GMT\",1,\"Sunday June 5,2022 1:00 AM GMT\"\n",
/// )
/// .unwrap();
/// assert_eq!(rows[0].taken_at.unwrap().to_string(), "2022-06-04T12:11:00.000Z");
/// ```
pub fn apple_photos_csv(file: &[u8]) -> Option<Vec<ApplePhoto>> {
    let mut records = records(file);
    let header = records.next()?;
    let column = |name: &str| header.iter().position(|column| column.trim().eq_ignore_ascii_case(name));
    let (name, date) = (column("imgName")?, column("originalCreationDate")?);
    let [favorite, hidden, deleted] = ["favorite", "hidden", "deleted"].map(column);
    let is_set = |row: &[String], column: Option<usize>| {
        column.and_then(|column| row.get(column)).is_some_and(|cell| is_yes(cell))
    };
    let photo = |row: Vec<String>| {
        let photo = ApplePhoto {
            name: row.get(name)?.trim().to_owned(),
            taken_at: row.get(date).and_then(|date| parse_date(date)),
            is_favorite: is_set(&row, favorite),
            is_hidden: is_set(&row, hidden),
            is_deleted: is_set(&row, deleted),
        };
        (!photo.name.is_empty()).then_some(photo)
    };
    Some(records.filter_map(photo).collect())
}

/// The photo names in the CSV file of an album, perhaps with the column's header before them. `None` if a row has more
/// than one column.
pub fn apple_album_csv(file: &[u8]) -> Option<Vec<String>> {
    let rows: Vec<Vec<String>> = records(file).collect();
    let is_album = !rows.is_empty() && rows.iter().all(|row| row.len() == 1);
    let names = rows.into_iter().flatten().map(|name| name.trim().to_owned());
    is_album.then(|| names.filter(|name| !name.is_empty()).collect())
}

/// The rows of a CSV file up to the first one that cannot be read.
fn records(file: &[u8]) -> impl Iterator<Item = Vec<String>> + '_ {
    let file = file.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(file);
    let reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(file);
    let text = |record: csv::ByteRecord| {
        record.iter().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect()
    };
    reader.into_byte_records().map_while(Result::ok).take(MAX_ROWS).map(text)
}

fn is_yes(cell: &str) -> bool {
    ["yes", "true", "1"].iter().any(|yes| cell.trim().eq_ignore_ascii_case(yes))
}

/// Parses `Saturday June 4,2022 12:11 PM GMT`. The day of the week is ignored.
fn parse_date(text: &str) -> Option<Timestamp> {
    let is_separator = |c: char| c.is_whitespace() || c == ',';
    let parts: Vec<&str> = text.split(is_separator).filter(|part| !part.is_empty()).collect();
    let [_, month, day, year, time, half, zone] = parts.as_slice() else { return None };
    let is_utc = ["GMT", "UTC"].contains(zone);
    let date = Date::new(number(year, 4)?, month_number(month)?, number(day, 2)?).ok()?;
    let (hour, minute) = time.split_once(':')?;
    let time = Time::new(hour_of_day(number(hour, 2)?, half)?, number(minute, 2)?, 0, 0).ok()?;
    Timestamp::from_wall(DateTime::from_parts(date, time), 0).filter(|_| is_utc)
}

/// 12 AM is midnight and 12 PM is noon.
fn hour_of_day(hour: i8, half: &str) -> Option<i8> {
    let first = match half.to_ascii_uppercase().as_str() {
        "AM" => 0,
        "PM" => 12,
        _ => return None,
    };
    (1..=12).contains(&hour).then_some(hour % 12 + first)
}

fn month_number(name: &str) -> Option<i8> {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let name = name.to_ascii_lowercase();
    let position = MONTHS.iter().position(|month| *month == name)?;
    i8::try_from(position + 1).ok()
}

/// Parses a number of at most that many digits.
fn number<T: std::str::FromStr>(text: &str, max_digits: usize) -> Option<T> {
    let is_number = text.len() <= max_digits && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

#[cfg(test)]
mod tests {
    use domain::{CaptureSource, FileInfo, Sidecar, SidecarKind};
    use proptest::prelude::*;

    use super::*;

    const HEADER: &str =
        "imgName,fileChecksum,favorite,hidden,deleted,originalCreationDate,viewCount,importDate";

    #[test]
    fn dates_are_parsed() {
        let check = |text: &str, expect: Option<&str>| {
            assert_eq!(parse_date(text).map(|date| date.to_string()).as_deref(), expect, "{text}");
        };
        check("Saturday June 4,2022 12:11 PM GMT", Some("2022-06-04T12:11:00.000Z"));
        check("Saturday June 4,2022 12:11 AM GMT", Some("2022-06-04T00:11:00.000Z"));
        check("Saturday June 4,2022 1:05 AM GMT", Some("2022-06-04T01:05:00.000Z"));
        check("Saturday June 4,2022 11:59 PM GMT", Some("2022-06-04T23:59:00.000Z"));
        check("Thursday February 29, 2024 9:00\u{202f}AM GMT", Some("2024-02-29T09:00:00.000Z"));
        check("Wednesday December 31,1969 11:59 PM GMT", Some("1969-12-31T23:59:00.000Z"));
        for missing in [
            "",
            "Saturday June 4,2022 0:11 PM GMT",
            "Saturday June 4,2022 13:11 PM GMT",
            "Saturday June 4,2022 12:60 PM GMT",
            "Saturday June 4,2022 12:11 XM GMT",
            "Saturday June 4,2022 12:11 PM PST",
            "Saturday June 31,2022 12:11 PM GMT",
            "Saturday Juny 4,2022 12:11 PM GMT",
            "Saturday June 4,+022 12:11 PM GMT",
            "Saturday June 4,2022 12:11 PM",
            "2022-06-04 12:11",
        ] {
            check(missing, None);
        }
    }

    #[test]
    fn photo_details_are_read() {
        let file = format!(
            "\u{feff}{HEADER}\r\nIMG_1.HEIC,abc,yes,no,no,\"Saturday June 4,2022 12:11 AM GMT\",1,\"x\"\r\n\
             \"a, \"\"b\"\".jpg\",,no,Yes,yes,,,\n,,,,,,,\nshort.jpg\n"
        );
        let photo = |name: &str, taken_at: Option<&str>, [is_favorite, is_hidden, is_deleted]: [bool; 3]| {
            let taken_at = taken_at.map(|at| Timestamp::parse_iso(at).unwrap());
            ApplePhoto { name: name.into(), taken_at, is_favorite, is_hidden, is_deleted }
        };
        assert_eq!(
            apple_photos_csv(file.as_bytes()).unwrap(),
            [
                photo("IMG_1.HEIC", Some("2022-06-04T00:11:00Z"), [true, false, false]),
                photo("a, \"b\".jpg", None, [false, true, true]),
                photo("short.jpg", None, [false; 3]),
            ]
        );
        for other in ["", "Images\nIMG_1.HEIC\n", "imgName,fileChecksum\n", "a,b,c\n1,2,3\n"] {
            assert_eq!(apple_photos_csv(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn albums_have_one_column() {
        let names = |file: &str| apple_album_csv(file.as_bytes());
        assert_eq!(
            names("Images\nIMG_1.HEIC\n\n\"a,b.jpg\"\n").unwrap(),
            ["Images", "IMG_1.HEIC", "a,b.jpg"]
        );
        assert_eq!(names("a,b\n"), None);
        assert_eq!(names("a\nb,c\n"), None);
        assert_eq!(names(""), None);
    }

    /// The capture time of a file with this sidecar.
    fn captured(content: &[u8], name: &str) -> (String, CaptureSource, Option<i32>) {
        let taken_at = Timestamp::parse_iso("2022-01-10T21:15:00Z").ok();
        let photo = ApplePhoto { name: name.to_owned(), taken_at, ..ApplePhoto::default() };
        let sidecar = Sidecar { kind: SidecarKind::Xmp, content: photo.xmp().unwrap() };
        assert!(super::super::is_sidecar_content(sidecar.kind, &sidecar.content));
        let info = FileInfo {
            sidecars: vec![sidecar],
            name: Some(name.into()),
            ..FileInfo::added_at(Timestamp::MAX)
        };
        let capture = super::super::metadata(content, &info).capture;
        (capture.at.to_string(), capture.source, capture.offset_minutes)
    }

    #[test]
    fn the_exported_date_comes_after_exif_and_before_the_file_name() {
        let (at, source, _) = captured(b"", "IMG_20180725_163423.jpg");
        assert_eq!((at.as_str(), source), ("2022-01-10T21:15:00.000Z", CaptureSource::Sidecar));
        // EXIF: 2022-01-10 16:15:44, five hours behind UTC.
        let exif = crate::samples::ExifBlock::default()
            .text(crate::tiff::Directory::Exif, crate::tiff::tag::DATE_TIME_ORIGINAL, "2022:01:10 16:15:44")
            .build();
        let segment = [b"Exif\0\0", exif.as_slice()].concat();
        let length = u16::try_from(segment.len() + 2).unwrap().to_be_bytes();
        let jpeg = [&[0xFF, 0xD8, 0xFF, 0xE1][..], &length, &segment, &[0xFF, 0xD9]].concat();
        let (at, source, offset) = captured(&jpeg, "x.jpg");
        assert_eq!((at.as_str(), source), ("2022-01-10T21:15:44.000Z", CaptureSource::ExifOriginal));
        assert_eq!(offset, Some(-300), "the date in UTC gives the offset of the camera's clock");
    }

    #[test]
    fn marks_are_in_the_sidecar() {
        for (is_favorite, is_hidden) in [(true, false), (false, true)] {
            let photo = ApplePhoto { is_favorite, is_hidden, ..ApplePhoto::default() };
            let sidecar = Sidecar { kind: SidecarKind::Xmp, content: photo.xmp().unwrap() };
            let info = FileInfo { sidecars: vec![sidecar], ..FileInfo::added_at(Timestamp::MAX) };
            let marks = super::super::metadata(b"", &info).marks;
            assert_eq!((marks.favorite, marks.archived), (is_favorite, is_hidden));
        }
    }

    #[test]
    fn a_photo_of_which_nothing_is_known_needs_no_sidecar() {
        assert_eq!(ApplePhoto { name: "x.jpg".into(), ..ApplePhoto::default() }.xmp(), None);
    }

    proptest! {
        #[test]
        fn arbitrary_text_never_panics(date in "[A-Za-z]{0,9} June [0-9]{1,3},[0-9]{1,5} [0-9:]{1,5} [AP]M GMT|.*", rest in ".*") {
            let _ = parse_date(&date);
            let file = format!("{HEADER}\n{rest},,,,,\"{date}\"\n{rest}");
            let rows = apple_photos_csv(file.as_bytes()).unwrap();
            prop_assert!(rows.iter().all(|row| !row.name.is_empty()));
            let _ = apple_album_csv(rest.as_bytes());
        }
    }
}
