use domain::CaptureSource::{Added, ExifDigitized, ExifOriginal, FileModified, FileName, Gps};
use proptest::prelude::*;

use super::*;
use crate::samples::ExifBlock;

const ADDED: &str = "2024-05-01T12:00:00Z";

fn moment(text: &str) -> Timestamp {
    Timestamp::parse_iso(text).unwrap()
}

/// The time sources of a file; blank means absent.
#[derive(Clone, Copy, Default)]
struct Times<'a> {
    original: &'a str,
    original_sub_sec: &'a str,
    original_offset: &'a str,
    digitized: &'a str,
    digitized_sub_sec: &'a str,
    digitized_offset: &'a str,
    gps_date: &'a str,
    gps_time: Option<[(u32, u32); 3]>,
    changed: &'a str,
    name: &'a str,
    modified: &'a str,
}

const NO_TIMES: Times<'_> = Times {
    original: "",
    original_sub_sec: "",
    original_offset: "",
    digitized: "",
    digitized_sub_sec: "",
    digitized_offset: "",
    gps_date: "",
    gps_time: None,
    changed: "2023:12:31 23:59:59",
    name: "",
    modified: "",
};

impl Times<'_> {
    fn capture(&self) -> CaptureTime {
        let mut block = ExifBlock::default();
        for (tag, text) in [
            (tag::DATE_TIME_ORIGINAL, self.original),
            (tag::SUB_SEC_TIME_ORIGINAL, self.original_sub_sec),
            (tag::OFFSET_TIME_ORIGINAL, self.original_offset),
            (tag::DATE_TIME_DIGITIZED, self.digitized),
            (tag::SUB_SEC_TIME_DIGITIZED, self.digitized_sub_sec),
            (tag::OFFSET_TIME_DIGITIZED, self.digitized_offset),
        ] {
            if !text.is_empty() {
                block = block.text(Directory::Exif, tag, text);
            }
        }
        if !self.changed.is_empty() {
            block = block.text(Directory::Primary, 0x0132, self.changed);
        }
        if !self.gps_date.is_empty() {
            block = block.text(Directory::Gps, tag::GPS_DATE_STAMP, self.gps_date);
        }
        if let Some(time) = self.gps_time {
            block = block.rationals(Directory::Gps, tag::GPS_TIME_STAMP, &time);
        }
        let block = block.build();
        let info = FileInfo {
            name: (!self.name.is_empty()).then(|| self.name.to_owned()),
            modified_at: (!self.modified.is_empty()).then(|| moment(self.modified)),
            ..FileInfo::added_at(moment(ADDED))
        };
        capture_time(&Sources { tags: Tags::read(&block), ..Sources::default() }, &info)
    }

    fn check(&self, at: &str, source: CaptureSource, offset_minutes: Option<i32>) {
        let found = self.capture();
        let context = format!("{} {} {} {}", self.original, self.digitized, self.gps_date, self.name);
        assert_eq!(found.at.to_string(), at, "{context}");
        assert_eq!((found.source, found.offset_minutes), (source, offset_minutes), "{context}");
    }
}

#[test]
fn original_time_with_its_fraction_and_offset() {
    let times = Times {
        original: "2019:07:04 18:03:22",
        digitized: "2020:01:01 00:00:00",
        digitized_sub_sec: "999",
        digitized_offset: "-05:00",
        ..NO_TIMES
    };
    times.check("2019-07-04T18:03:22.000Z", ExifOriginal, None);
    Times { original_sub_sec: "12", ..times }.check("2019-07-04T18:03:22.120Z", ExifOriginal, None);
    Times { original_offset: "+02:00", ..times }.check("2019-07-04T16:03:22.000Z", ExifOriginal, Some(120));
    Times { original_offset: "-09:30", original_sub_sec: "5", ..times }.check(
        "2019-07-05T03:33:22.500Z",
        ExifOriginal,
        Some(-570),
    );
    Times { original_offset: "Z", ..times }.check("2019-07-04T18:03:22.000Z", ExifOriginal, Some(0));
    Times { original_offset: "   :  ", ..times }.check("2019-07-04T18:03:22.000Z", ExifOriginal, None);
    Times { original_offset: "+25:00", ..times }.check("2019-07-04T18:03:22.000Z", ExifOriginal, None);
}

#[test]
fn local_time_is_kept() {
    let times = Times { original: "2019:07:04 18:03:22", original_offset: "+02:00", ..NO_TIMES };
    let wall = times.capture().wall.unwrap();
    assert_eq!(wall.to_string(), "2019-07-04T18:03:22");
}

#[test]
fn digitized_time_replaces_an_implausible_original_time() {
    let times = Times {
        digitized: "2019:07:04 18:03:22",
        digitized_sub_sec: "7",
        digitized_offset: "+01:00",
        original_offset: "-08:00",
        ..NO_TIMES
    };
    for original in [
        "",
        "0000:00:00 00:00:00",
        "    :  :     :  :  ",
        "1970:01:01 00:00:00",
        "2019:02:30 10:00:00",
        "2019:07:04 25:00:00",
        "2024:05:09 12:00:00",
        "2080:01:01 00:00:00",
        "0001:01:01 00:00:00",
        "1825:06:01 12:00:00",
        "unknown",
    ] {
        Times { original, ..times }.check("2019-07-04T17:03:22.700Z", ExifDigitized, Some(60));
    }
}

#[test]
fn plausible_times() {
    let check = |original, offset, at: &str, minutes| {
        Times { original, original_offset: offset, ..NO_TIMES }.check(at, ExifOriginal, minutes);
    };
    check("1970:01:01 00:00:01", "", "1970-01-01T00:00:01.000Z", None);
    check("1931:06:01 12:00:00", "", "1931-06-01T12:00:00.000Z", None);
    check("1826:01:01 00:00:00", "", "1826-01-01T00:00:00.000Z", None);
    // A clock may be a day ahead in another time zone.
    check("2024:05:02 12:00:00", "", "2024-05-02T12:00:00.000Z", None);
    check("2024:05:02 13:00:00", "+02:00", "2024-05-02T11:00:00.000Z", Some(120));
}

#[test]
fn epoch_is_implausible_in_any_zone() {
    let times = Times { name: "IMG_20180725_163423.jpg", ..NO_TIMES };
    Times { original: "1970:01:01 00:00:00", original_offset: "+02:00", ..times }.check(
        "2018-07-25T16:34:23.000Z",
        FileName,
        None,
    );
    Times { original: "1970:01:01 02:00:00", original_offset: "+02:00", ..times }.check(
        "2018-07-25T16:34:23.000Z",
        FileName,
        None,
    );
}

#[test]
fn the_offset_from_gps() {
    let check = |gps_date, (h, m, s), at: &str, offset| {
        let gps_time = Some([(h, 1), (m, 1), (s, 1)]);
        Times { original: "2019:07:04 18:03:22", gps_date, gps_time, ..NO_TIMES }.check(
            at,
            ExifOriginal,
            offset,
        );
    };
    check("2019:07:04", (16, 3, 20), "2019-07-04T16:03:22.000Z", Some(120));
    check("2019:07:04", (16, 6, 0), "2019-07-04T16:03:22.000Z", Some(120));
    check("2019:07:04", (12, 18, 22), "2019-07-04T12:18:22.000Z", Some(345));
    check("2019:07:05", (4, 3, 22), "2019-07-05T04:03:22.000Z", Some(-600));
    check("2019:07:04", (4, 3, 22), "2019-07-04T04:03:22.000Z", Some(840));
    check("2019:07:04", (18, 3, 0), "2019-07-04T18:03:22.000Z", Some(0));
    // An old fix, another day, and a difference of more than fourteen hours give no offset.
    check("2019:07:04", (15, 55, 50), "2019-07-04T18:03:22.000Z", None);
    check("2019:07:01", (16, 3, 20), "2019-07-04T18:03:22.000Z", None);
    check("2019:07:04", (3, 3, 22), "2019-07-04T18:03:22.000Z", None);
    check("2099:07:04", (16, 3, 20), "2019-07-04T18:03:22.000Z", None);
}

#[test]
fn own_offset_comes_before_gps() {
    Times {
        original: "2019:07:04 18:03:22",
        original_offset: "+01:00",
        gps_date: "2019:07:04",
        gps_time: Some([(16, 1), (3, 1), (20, 1)]),
        ..NO_TIMES
    }
    .check("2019-07-04T17:03:22.000Z", ExifOriginal, Some(60));
}

#[test]
fn the_gps_time() {
    let times = Times { gps_date: "2019:07:04", name: "IMG_20180725_163423.jpg", ..NO_TIMES };
    let check = |gps_time, at: &str, source| Times { gps_time, ..times }.check(at, source, None);
    check(Some([(16, 1), (3, 1), (2050, 100)]), "2019-07-04T16:03:20.500Z", Gps);
    check(Some([(0, 1), (0, 1), (0, 1)]), "2019-07-04T00:00:00.000Z", Gps);
    check(None, "2018-07-25T16:34:23.000Z", FileName);
    check(Some([(24, 1), (0, 1), (0, 1)]), "2018-07-25T16:34:23.000Z", FileName);
    check(Some([(16, 1), (3, 1), (20, 0)]), "2018-07-25T16:34:23.000Z", FileName);
    check(Some([(16, 1), (60, 1), (0, 1)]), "2018-07-25T16:34:23.000Z", FileName);
    check(Some([(u32::MAX, 1), (0, 1), (0, 1)]), "2018-07-25T16:34:23.000Z", FileName);
    for gps_date in ["1970:01:01", "2030:01:01", "0000:00:00", "    :  :  "] {
        Times { gps_date, gps_time: Some([(0, 1), (0, 1), (0, 1)]), ..times }.check(
            "2018-07-25T16:34:23.000Z",
            FileName,
            None,
        );
    }
}

#[test]
fn fallback_order_of_times() {
    let times = Times { modified: "2020-02-02T10:00:00Z", ..NO_TIMES };
    Times { name: "IMG-20190704-WA0001.jpg", ..times }.check("2019-07-04T00:00:00.000Z", FileName, None);
    times.check("2023-12-31T23:59:59.000Z", FileModified, None);
    Times { modified: "", ..times }.check("2023-12-31T23:59:59.000Z", FileModified, None);
    let times = Times { changed: "2030:01:01 00:00:00", ..times };
    Times { name: "IMG-20190704-WA0001.jpg", ..times }.check("2019-07-04T00:00:00.000Z", FileName, None);
    Times { name: "PXL_20210102_030405123.jpg", ..times }.check("2021-01-02T03:04:05.123Z", FileName, None);
    assert_eq!(Times { name: "PXL_20210102_030405123.jpg", ..times }.capture().wall, None);
    Times { name: "IMG_20300101_000000.jpg", ..times }.check("2020-02-02T10:00:00.000Z", FileModified, None);
    Times { name: "IMG_1234.jpg", ..times }.check("2020-02-02T10:00:00.000Z", FileModified, None);
    times.check("2020-02-02T10:00:00.000Z", FileModified, None);
    for modified in ["", "1970-01-01", "2024-05-03", "1601-01-01"] {
        Times { modified, changed: "", ..NO_TIMES }.check("2024-05-01T12:00:00.000Z", Added, None);
    }
}

proptest! {
    #[test]
    fn there_is_always_a_time_that_is_not_in_the_future(
        original in "[0-9: ]{0,22}", offset in "[+-][0-9:]{0,5}", date in "[0-9:]{0,10}",
        time in prop::array::uniform3((any::<u32>(), any::<u32>())), name in "[0-9_-]{0,20}",
    ) {
        let times = Times { original: &original, original_offset: &offset, gps_date: &date, gps_time: Some(time), name: &name, ..NO_TIMES };
        prop_assert!(times.capture().at <= moment(ADDED).plus_millis(DAY_MS));
    }
}
