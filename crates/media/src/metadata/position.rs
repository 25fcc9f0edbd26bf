//! Where a photo was taken (EXIF 2.32, section 4.6.6).

use domain::Position;

use crate::tiff::{Directory, Rational, Tags, tag};

/// The position, unless a part of it is missing, impossible or a placeholder.
pub(super) fn position(tags: &Tags<'_>) -> Option<Position> {
    let latitude = degrees(tags, tag::GPS_LATITUDE, tag::GPS_LATITUDE_REF, ['N', 'S'])?;
    let longitude = degrees(tags, tag::GPS_LONGITUDE, tag::GPS_LONGITUDE_REF, ['E', 'W'])?;
    // Cameras without a fix write zeros; only a receiver that says it measures is believed to be off Africa.
    if latitude == 0.0 && longitude == 0.0 && !is_measuring(tags) {
        return None;
    }
    Position::new(latitude, longitude).ok()
}

fn is_measuring(tags: &Tags<'_>) -> bool {
    tags.text(Directory::Gps, tag::GPS_STATUS).is_some_and(|status| status.trim() == "A")
}

/// Degrees, minutes and seconds with their hemisphere. Without the hemisphere the sign is unknown, and no position
/// is better than one on the wrong side of the Earth.
fn degrees(tags: &Tags<'_>, value: u16, hemisphere: u16, [positive, negative]: [char; 2]) -> Option<f64> {
    let parts = tags.three_rationals(Directory::Gps, value)?;
    let [degrees, minutes, seconds] = [number(parts[0])?, number(parts[1])?, number(parts[2])?];
    let angle = degrees + minutes / 60.0 + seconds / 3600.0;
    let hemisphere = tags.text(Directory::Gps, hemisphere)?.trim().chars().next()?.to_ascii_uppercase();
    match hemisphere {
        _ if hemisphere == positive => Some(angle),
        // Not −0.
        _ if hemisphere == negative => Some(0.0 - angle),
        _ => None,
    }
}

#[expect(clippy::cast_precision_loss, reason = "both come from 32 bits, which a double holds exactly")]
fn number(Rational { numerator, denominator }: Rational) -> Option<f64> {
    (denominator > 0 && numerator >= 0).then(|| numerator as f64 / denominator as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::ExifBlock;

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
        let found = position(&Tags::read(&block).unwrap());
        let rounded =
            found.map(|at| ((at.latitude() * 1e6).round() / 1e6, (at.longitude() * 1e6).round() / 1e6));
        assert_eq!(rounded, expect, "{lat:?} {lon:?}");
    }

    #[test]
    fn positions() {
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
    fn what_counts_as_missing() {
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
    fn a_measured_zero_is_believed() {
        check(("N", [(0, 1); 3]), ("E", [(0, 1); 3]), "A", Some((0.0, 0.0)));
    }
}
