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
        capture_time(&Sources { tags: Tags::read(&block).into_iter().collect(), ..Sources::default() }, &info)
    }

    fn check(&self, at: &str, source: CaptureSource, offset_minutes: Option<i32>) {
        let found = self.capture();
        let context = format!("{} {} {} {}", self.original, self.digitized, self.gps_date, self.name);
        assert_eq!(found.at.to_string(), at, "{context}");
        assert_eq!((found.source, found.offset_minutes), (source, offset_minutes), "{context}");
    }
}

#[test]
fn original_time_is_read_with_its_fraction_and_offset() {
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
fn plausible_times_are_used() {
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
fn the_offset_is_computed_from_gps() {
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
fn a_valid_gps_time_is_used_without_exif_times() {
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

#[test]
fn times_of_one_block_belong_together() {
    let exif = |time: &str, offset: &str| {
        let block = ExifBlock::default();
        let block =
            if time.is_empty() { block } else { block.text(Directory::Exif, tag::DATE_TIME_ORIGINAL, time) };
        let block = if offset.is_empty() {
            block
        } else {
            block.text(Directory::Exif, tag::OFFSET_TIME_ORIGINAL, offset)
        };
        block.build()
    };
    let check = |blocks: &[Vec<u8>], at: &str, offset| {
        let tags = blocks.iter().filter_map(|block| Tags::read(block)).collect();
        let info = FileInfo::added_at(moment(ADDED));
        let found = capture_time(&Sources { tags, ..Sources::default() }, &info);
        assert_eq!((found.at.to_string().as_str(), found.offset_minutes), (at, offset));
    };
    let time = "2019:07:04 18:03:22";
    check(&[exif("", ""), exif(time, "+02:00")], "2019-07-04T16:03:22.000Z", Some(120));
    check(&[b"broken".to_vec(), exif(time, "+02:00")], "2019-07-04T16:03:22.000Z", Some(120));
    check(&[exif(time, ""), exif("2018:01:01 00:00:00", "+02:00")], "2019-07-04T18:03:22.000Z", None);
    check(&[exif(time, ""), exif("", "+02:00")], "2019-07-04T18:03:22.000Z", None);
}

#[test]
fn the_gps_time_has_numbers_of_any_type() {
    let doubles: Vec<u8> = [16.0_f64, 3.0, 20.5].into_iter().flat_map(f64::to_le_bytes).collect();
    let longs: Vec<u8> = [16_u32, 3, 20].into_iter().flat_map(u32::to_le_bytes).collect();
    for (kind, count, value, at) in [
        (12, 3, doubles, "2019-07-04T16:03:20.500Z"),
        (4, 3, longs, "2019-07-04T16:03:20.000Z"),
        (1, 3, vec![16, 3, 20], "2019-07-04T16:03:20.000Z"),
        (1, 1, vec![16], "2019-07-04T16:00:00.000Z"),
    ] {
        let block = ExifBlock::default()
            .text(Directory::Gps, tag::GPS_DATE_STAMP, "2019:07:04")
            .values(Directory::Gps, tag::GPS_TIME_STAMP, kind, count, &value)
            .build();
        assert_eq!(gps_time(&Tags::read(&block).unwrap()).unwrap().to_string(), at, "{kind}");
    }
}

/// Candidates around one moment, so that many of them agree.
fn any_candidate() -> impl Strategy<Value = Candidate> {
    use Strength::{
        Created, Embedded, ExifChanged, ExifDigitized, ExifOriginal, Exported, Gps, Modified, Name,
        SidecarCreated, SidecarDigitized, SidecarShot, Takeout,
    };
    let strength = prop::sample::select(vec![
        SidecarShot,
        Takeout,
        ExifOriginal,
        SidecarDigitized,
        ExifDigitized,
        Embedded,
        SidecarCreated,
        Created,
        Gps,
        Exported,
        Name,
        ExifChanged,
        Modified,
    ]);
    let precision = prop::sample::select(vec![
        Precision::Day,
        Precision::Minute,
        Precision::Second,
        Precision::Millisecond,
    ]);
    let millis = prop::sample::select(vec![0, 250, 1000, 90_000, 900_000, 3_600_000, 86_400_000_i64]);
    let offset =
        prop::sample::select(vec![None, Some(0), Some(7), Some(120), Some(135), Some(345), Some(-210)]);
    (strength, precision, millis, offset, any::<bool>()).prop_map(
        |(strength, precision, millis, offset, is_wall)| {
            let at = moment("2019-07-04T16:03:22Z").plus_millis(millis);
            let unit_ms = precision.unit_ms();
            let cut = |at: Timestamp| at.plus_millis(-at.millis().rem_euclid(unit_ms));
            if !is_wall && precision > Precision::Day {
                return Candidate::moment(strength, cut(at), precision);
            }
            let wall = cut(at.plus_millis(i64::from(offset.unwrap_or(120)) * MINUTE_MS)).wall(0);
            let offset_minutes = offset.filter(|_| precision > Precision::Day);
            Candidate::written(strength, ParsedTime { wall, offset_minutes, precision }).unwrap()
        },
    )
}

#[test]
fn a_camera_keeps_its_offset_when_summer_time_begins_and_ends() {
    // Lord Howe, Newfoundland and Chatham: only one time zone has their offsets.
    for offsets in [[630, 660], [-210, -150], [765, 825]] {
        for day in 0..365 {
            let at = moment("2017-01-01").plus_millis(day * DAY_MS);
            for offset in offsets {
                assert!(was_set(offset, at), "{offset} {at}");
            }
        }
    }
    assert!(!was_set(-270, moment("2019-07-04")), "Venezuela until 2016");
}

proptest! {
    #[test]
    fn the_strongest_source_gives_the_moment(
        mut candidates in prop::collection::vec(any_candidate(), 1..6),
        is_in_berlin in any::<bool>(),
    ) {
        candidates.sort_by_key(|candidate| candidate.strength);
        let position = Position::new(52.52, 13.405).ok().filter(|_| is_in_berlin);
        let found = resolve(candidates.clone(), position, moment(ADDED)).unwrap();
        let best = strongest(&candidates).unwrap();
        let unit_ms = best.precision.unit_ms();
        let same = |one: Timestamp, other: Timestamp| {
            one.millis().div_euclid(unit_ms) == other.millis().div_euclid(unit_ms)
        };
        if let Some(at) = best.moment {
            prop_assert!(same(found.at, at));
        }
        if let Some(clock) = best.clock {
            prop_assert!(same(Timestamp::from_wall(found.wall.unwrap(), 0).unwrap(), clock));
        }
        prop_assert_eq!(found.source, best.strength.source());
        match (found.wall, found.offset_minutes) {
            (Some(wall), offset) => {
                prop_assert_eq!(Timestamp::from_wall(wall, offset.unwrap_or(0)), Some(found.at));
            }
            (None, offset) => prop_assert_eq!(offset, None),
        }
        prop_assert!(found.offset_minutes.is_none_or(|offset| was_set(offset, found.at)));
    }

    #[test]
    fn a_weaker_source_never_changes_what_is_known(
        mut candidates in prop::collection::vec(any_candidate(), 1..5), weaker in any_candidate(),
    ) {
        candidates.sort_by_key(|candidate| candidate.strength);
        let weakest = Candidate { strength: Strength::ExifChanged, ..weaker };
        candidates.retain(|candidate| candidate.strength < weakest.strength);
        prop_assume!(strongest(&candidates).is_some_and(|best| best.precision > Precision::Day));
        let before = resolve(candidates.clone(), None, moment(ADDED)).unwrap();
        candidates.push(weakest);
        let after = resolve(candidates, None, moment(ADDED)).unwrap();
        prop_assert_eq!(before.source, after.source);
        if before.offset_minutes.is_some() {
            prop_assert_eq!(before.offset_minutes, after.offset_minutes);
            prop_assert!((after.at.millis() - before.at.millis()).abs() < MINUTE_MS);
        }
    }

    #[test]
    fn there_is_always_a_time_that_is_not_in_the_future(
        original in "[0-9: ]{0,22}", offset in "[+-][0-9:]{0,5}", date in "[0-9:]{0,10}",
        time in prop::array::uniform3((any::<u32>(), any::<u32>())), name in "[0-9_-]{0,20}",
    ) {
        let times = Times { original: &original, original_offset: &offset, gps_date: &date, gps_time: Some(time), name: &name, ..NO_TIMES };
        prop_assert!(times.capture().at <= moment(ADDED).plus_millis(DAY_MS));
    }
}
