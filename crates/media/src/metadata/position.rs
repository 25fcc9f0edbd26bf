//! The position of a photo (EXIF 2.32, section 4.6.6; XMP specification, part 2, section 2.6).

use domain::Position;

use super::{Sidecars, Sources, xmp::Xmp};
use crate::tiff::{Directory, Tags, tag};

/// The position from a sidecar (somebody placed the photo on a map), else from EXIF, else from XMP.
pub(super) fn position(sources: &Sources<'_>) -> Option<Position> {
    let Sidecars { xmp, takeout } = &sources.sidecars;
    let in_sidecars = xmp.iter().find_map(Xmp::position);
    in_sidecars
        .or_else(|| takeout.iter().find_map(|takeout| takeout.position))
        .or_else(|| sources.tags.iter().find_map(from_tags))
        .or_else(|| sources.xmp.position())
}

/// The position in the EXIF tags, if it is complete and plausible.
fn from_tags(tags: &Tags<'_>) -> Option<Position> {
    let latitude = degrees(tags, tag::GPS_LATITUDE, tag::GPS_LATITUDE_REF, ['N', 'S'])?;
    let longitude = degrees(tags, tag::GPS_LONGITUDE, tag::GPS_LONGITUDE_REF, ['E', 'W'])?;
    plausible(latitude, longitude, is_measuring(tags))
}

/// The position, unless it is impossible or a placeholder. Cameras without a GPS fix write zeros, so 0, 0 counts only if
/// the receiver reports a measurement.
pub(crate) fn plausible(latitude: f64, longitude: f64, is_measuring: bool) -> Option<Position> {
    if latitude == 0.0 && longitude == 0.0 && !is_measuring {
        return None;
    }
    Position::new(latitude, longitude).ok()
}

fn is_measuring(tags: &Tags<'_>) -> bool {
    tags.text(Directory::Gps, tag::GPS_STATUS).is_some_and(|status| status.trim() == "A")
}

/// Reads an angle from one to three numbers (degrees, minutes and seconds) and the hemisphere. The sign of the degrees is the sign
/// of the angle. `None` for positive numbers without the hemisphere, because the sign is unknown then.
fn degrees(tags: &Tags<'_>, value: u16, hemisphere: u16, [positive, negative]: [char; 2]) -> Option<f64> {
    let parts = tags.reals(Directory::Gps, value)?;
    let is_negative = parts.first()?.is_sign_negative();
    let has_negative_fraction = parts.iter().skip(1).any(|part| *part < 0.0);
    let parts: Vec<f64> = parts.iter().map(|part| part.abs()).collect();
    let angle = from_sixtieths(&parts);
    if angle.is_nan() || (has_negative_fraction && !is_negative) {
        return None;
    }
    let hemisphere = tags.text(Directory::Gps, hemisphere).and_then(|text| text.trim().chars().next());
    if is_negative {
        // The hemisphere may be missing, because there is a sign, but it must not contradict the sign.
        let hemisphere = hemisphere.unwrap_or(negative);
        return signed(angle, hemisphere, [positive, negative]).filter(|angle| *angle <= 0.0);
    }
    signed(angle, hemisphere?, [positive, negative])
}

/// Adds up degrees, minutes and seconds to degrees, or hours, minutes and seconds to hours.
pub(super) fn from_sixtieths(parts: &[f64]) -> f64 {
    parts.iter().rev().fold(0.0, |sum, part| sum / 60.0 + part)
}

fn signed(angle: f64, hemisphere: char, [positive, negative]: [char; 2]) -> Option<f64> {
    match hemisphere.to_ascii_uppercase() {
        hemisphere if hemisphere == positive => Some(angle),
        // The subtraction avoids −0.
        hemisphere if hemisphere == negative => Some(0.0 - angle),
        _ => None,
    }
}

/// Parses an XMP coordinate: `48,51.4923N`, `48,51,29N`, or decimal degrees with a sign or a hemisphere. `reference` is
/// the hemisphere from a separate property.
pub(super) fn parse_angle(text: &str, reference: Option<&str>, hemispheres: [char; 2]) -> Option<f64> {
    let text = text.trim();
    let (number, own) = match text.strip_suffix(|c: char| c.is_ascii_alphabetic()) {
        Some(number) => (number.trim_end(), text.chars().next_back()),
        None => (text, None),
    };
    let hemisphere = own.or_else(|| reference?.trim().chars().next());
    let parts: Vec<&str> = number.splitn(4, ',').collect();
    let (degrees, minutes, seconds) = match parts.as_slice() {
        [degrees] => (*degrees, None, None),
        [degrees, minutes] => (*degrees, Some(*minutes), None),
        [degrees, minutes, seconds] => (*degrees, Some(*minutes), Some(*seconds)),
        _ => return None,
    };
    if let Some(hemisphere) = hemisphere {
        let sixtieths = |part: Option<&str>| part.map_or(Some(0.0), decimal).filter(|number| *number <= 60.0);
        let angle = decimal(degrees)? + sixtieths(minutes)? / 60.0 + sixtieths(seconds)? / 3600.0;
        return signed(angle, hemisphere, hemispheres);
    }
    // Minutes without a hemisphere: the sign is unknown.
    let (None, None) = (minutes, seconds) else { return None };
    match degrees.strip_prefix('-') {
        Some(degrees) => decimal(degrees).map(|angle| 0.0 - angle),
        None => decimal(degrees.strip_prefix('+').unwrap_or(degrees)),
    }
}

/// Parses a decimal number without a sign or exponent.
fn decimal(text: &str) -> Option<f64> {
    let text = text.trim();
    let is_plain = text.starts_with(|c: char| c.is_ascii_digit())
        && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    text.parse().ok().filter(|_| is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::ExifBlock;
    use proptest::prelude::*;

    fn check(
        lat: (&str, [(u32, u32); 3]),
        lon: (&str, [(u32, u32); 3]),
        status: &str,
        expect: Option<(f64, f64)>,
    ) {
        let block = ExifBlock::default()
            .text(Directory::Gps, tag::GPS_LATITUDE_REF, lat.0)
            .rationals(Directory::Gps, tag::GPS_LATITUDE, &lat.1)
            .text(Directory::Gps, tag::GPS_LONGITUDE_REF, lon.0)
            .rationals(Directory::Gps, tag::GPS_LONGITUDE, &lon.1)
            .text(Directory::Gps, tag::GPS_STATUS, status)
            .build();
        let found = from_tags(&Tags::read(&block).unwrap());
        let rounded =
            found.map(|at| ((at.latitude() * 1e6).round() / 1e6, (at.longitude() * 1e6).round() / 1e6));
        assert_eq!(rounded, expect, "{lat:?} {lon:?}");
    }

    #[test]
    fn positions_are_read_from_exif() {
        let paris = ("N", [(48, 1), (51, 1), (2954, 100)]);
        let east = ("E", [(2, 1), (17, 1), (4013, 100)]);
        check(paris, east, "", Some((48.858_206, 2.294_481)));
        check(("S", paris.1), ("W", east.1), "", Some((-48.858_206, -2.294_481)));
        check(("s", paris.1), ("west", east.1), "", Some((-48.858_206, -2.294_481)));
        check(("N", [(48_858_206, 1_000_000), (0, 1), (0, 1)]), east, "", Some((48.858_206, 2.294_481)));
        check(("N", [(90, 1), (0, 1), (0, 1)]), ("W", [(180, 1), (0, 1), (0, 1)]), "", Some((90.0, -180.0)));
        check(("N", [(0, 1); 3]), east, "", Some((0.0, 2.294_481)));
    }

    #[test]
    fn implausible_positions_are_dropped() {
        let paris = ("N", [(48, 1), (51, 1), (2954, 100)]);
        let east = ("E", [(2, 1), (17, 1), (4013, 100)]);
        check(("", paris.1), east, "", None);
        check(("X", paris.1), east, "", None);
        check(paris, ("N", east.1), "", None);
        check(("N", [(48, 0), (51, 1), (0, 1)]), east, "", None);
        check(("N", [(48, 1), (51, 1), (0, 0)]), east, "", None);
        check(("N", [(0, 0); 3]), ("E", [(0, 0); 3]), "", None);
        check(("N", [(90, 1), (0, 1), (1, 1)]), east, "", None);
        check(paris, ("E", [(180, 1), (1, 1), (0, 1)]), "", None);
        check(("N", [(u32::MAX, 1); 3]), east, "", None);
        check(("N", [(0, 1); 3]), ("E", [(0, 1); 3]), "", None);
        check(("N", [(0, 1); 3]), ("E", [(0, 1); 3]), "V", None);
    }

    #[test]
    fn angles_have_one_to_three_numbers_of_any_type() {
        let reals =
            |numbers: &[f64]| -> Vec<u8> { numbers.iter().flat_map(|number| number.to_le_bytes()).collect() };
        let floats =
            |numbers: &[f32]| -> Vec<u8> { numbers.iter().flat_map(|number| number.to_le_bytes()).collect() };
        let longs =
            |numbers: &[i32]| -> Vec<u8> { numbers.iter().flat_map(|number| number.to_le_bytes()).collect() };
        let check = |kind, count, value: &[u8], hemisphere: &str, expect: Option<f64>| {
            let block = ExifBlock::default()
                .text(Directory::Gps, tag::GPS_LATITUDE_REF, hemisphere)
                .values(Directory::Gps, tag::GPS_LATITUDE, kind, count, value)
                .build();
            let tags = Tags::read(&block).unwrap();
            let found = degrees(&tags, tag::GPS_LATITUDE, tag::GPS_LATITUDE_REF, ['N', 'S']);
            assert_eq!(
                found.map(|angle| (angle * 1e6).round() / 1e6),
                expect,
                "{kind} {value:?} {hemisphere}"
            );
        };
        check(12, 3, &reals(&[36.0, 26.0, 54.0]), "N", Some(36.448_333));
        check(12, 2, &reals(&[36.0, 26.9]), "N", Some(36.448_333));
        check(12, 1, &reals(&[36.448_333]), "S", Some(-36.448_333));
        check(11, 3, &floats(&[36.0, 26.0, 54.0]), "N", Some(36.448_333));
        check(4, 3, &longs(&[36, 26, 54]), "N", Some(36.448_333));
        check(9, 3, &longs(&[36, 26, 54]), "N", Some(36.448_333));
        check(3, 3, &[36, 0, 26, 0, 54, 0], "N", Some(36.448_333));
        check(1, 3, &[36, 26, 54], "N", Some(36.448_333));
        check(5, 1, &longs(&[387_167, 10_000]), "N", Some(38.7167));
        check(10, 1, &longs(&[387_167, 10_000]), "N", Some(38.7167));
        // A sign instead of the hemisphere, or in addition to it.
        check(10, 1, &longs(&[-387_167, 10_000]), "S", Some(-38.7167));
        check(12, 1, &reals(&[-38.7167]), "", Some(-38.7167));
        check(12, 1, &reals(&[-38.7167]), "N", None);
        check(12, 1, &reals(&[38.7167]), "", None);
        check(12, 2, &reals(&[38.0, -1.0]), "N", None);
        check(12, 3, &reals(&[-36.0, 26.0, 54.0]), "S", Some(-36.448_333));
        check(12, 3, &reals(&[-36.0, 26.0, 54.0]), "", Some(-36.448_333));
        check(12, 3, &reals(&[-36.0, 26.0, 54.0]), "N", None);
        check(12, 3, &reals(&[-36.0, -26.0, -54.0]), "S", Some(-36.448_333));
        check(12, 3, &reals(&[-36.0, -26.0, -54.0]), "", Some(-36.448_333));
        check(12, 3, &reals(&[-0.0, 26.0, 54.0]), "", Some(-0.448_333));
        check(12, 3, &reals(&[-0.0, 26.0, 54.0]), "N", None);
        check(12, 3, &reals(&[-0.0, 0.0, 0.0]), "N", Some(0.0));
        check(12, 3, &reals(&[0.0, -26.0, 0.0]), "S", None);
        check(12, 1, &reals(&[f64::NAN]), "N", None);
        check(12, 1, &reals(&[f64::INFINITY]), "N", None);
        check(5, 1, &longs(&[387_167, 0]), "N", None);
        check(2, 3, b"36\0", "N", None);
    }

    #[test]
    fn xmp_coordinates_are_parsed() {
        let check = |text: &str, reference: Option<&str>, expect: Option<f64>| {
            let found = parse_angle(text, reference, ['N', 'S']).map(|angle| (angle * 1e6).round() / 1e6);
            assert_eq!(found, expect, "{text:?} {reference:?}");
        };
        check("53,7.9535400N", None, Some(53.132_559));
        check("53,7,57S", None, Some(-53.1325));
        check("53,7,57.5 n", None, Some(53.132_639));
        check("53N", None, Some(53.0));
        check("53.132559", None, Some(53.132_559));
        check("-53.132559", None, Some(-53.132_559));
        check("+53.5", None, Some(53.5));
        check("53.132559", Some("S"), Some(-53.132_559));
        check("53,7.95354", Some("South"), Some(-53.132_559));
        check("53,7.95354N", Some("S"), Some(53.132_559));
        check("0,0N", None, Some(0.0));
        for missing in [
            "",
            "N",
            "53,7.95",
            "53,7,57,1N",
            "53,61N",
            "53,,7N",
            "53E",
            "-53N",
            "nan",
            "inf",
            "1e1",
            ".5",
            "5 3N",
            "53;7N",
            "５３N",
        ] {
            check(missing, None, None);
        }
        check("53", Some("X"), None);
        check("-53", Some("N"), None);
    }

    proptest! {
        #[test]
        fn arbitrary_coordinates_never_panic(text in "[0-9,.NSEW+-]{0,20}|.*", reference in ".?") {
            let angle = parse_angle(&text, Some(&reference), ['N', 'S']);
            prop_assert!(angle.is_none_or(f64::is_finite));
        }
    }

    #[test]
    fn measured_zero_is_kept() {
        check(("N", [(0, 1); 3]), ("E", [(0, 1); 3]), "A", Some((0.0, 0.0)));
    }
}
