//! The lens and the settings of the camera (EXIF 2.32, sections 4.6.5 and 4.6.6).

use domain::CameraSettings;

use crate::tiff::{Directory, Tags, tag};

/// In place of a sensitivity that does not fit 16 bits.
const IN_ANOTHER_TAG: u32 = 65_535;

/// The settings in one EXIF block; `None` if it has none.
pub(super) fn camera_settings(tags: &Tags<'_>) -> Option<CameraSettings> {
    let real = |tag| tags.reals(Directory::Exif, tag)?.first().copied();
    // A real number that is no whole number is cut off, and one that is no number becomes zero.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
    let whole = |tag| real(tag).map(|number| number as u32);
    let iso = match whole(tag::PHOTOGRAPHIC_SENSITIVITY) {
        Some(IN_ANOTHER_TAG) => whole(tag::RECOMMENDED_EXPOSURE_INDEX).or(Some(IN_ANOTHER_TAG)),
        iso => iso,
    };
    // Some cameras write dashes for a lens that they do not know.
    let lens = tags.text(Directory::Exif, tag::LENS_MODEL);
    let settings = CameraSettings {
        lens: lens.filter(|lens| lens.chars().any(char::is_alphanumeric)),
        f_number: real(tag::F_NUMBER),
        exposure_s: real(tag::EXPOSURE_TIME),
        iso,
        focal_length_mm: real(tag::FOCAL_LENGTH),
        focal_length_35mm: whole(tag::FOCAL_LENGTH_IN_35MM_FILM),
    };
    settings.cleaned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{ExifBlock, Number};

    fn read(block: ExifBlock) -> Option<CameraSettings> {
        camera_settings(&Tags::read(&block.build()).unwrap())
    }

    #[test]
    fn the_settings_are_read() {
        let block = ExifBlock::default()
            .text(Directory::Exif, tag::LENS_MODEL, "EF50mm f/1.8 STM")
            .rationals(Directory::Exif, tag::F_NUMBER, &[(18, 10)])
            .rationals(Directory::Exif, tag::EXPOSURE_TIME, &[(1, 125)])
            .rationals(Directory::Exif, tag::FOCAL_LENGTH, &[(50, 1)])
            .number(Directory::Exif, tag::PHOTOGRAPHIC_SENSITIVITY, Number::Short(400))
            .number(Directory::Exif, tag::FOCAL_LENGTH_IN_35MM_FILM, Number::Short(80));
        let expected = CameraSettings {
            lens: Some("EF50mm f/1.8 STM".to_owned()),
            f_number: Some(1.8),
            exposure_s: Some(0.008),
            iso: Some(400),
            focal_length_mm: Some(50.0),
            focal_length_35mm: Some(80),
        };
        assert_eq!(read(block), Some(expected));
    }

    #[test]
    fn unknown_values_are_left_out() {
        let block = ExifBlock::default()
            .text(Directory::Exif, tag::LENS_MODEL, "----")
            .rationals(Directory::Exif, tag::F_NUMBER, &[(0, 0)])
            .rationals(Directory::Exif, tag::EXPOSURE_TIME, &[(0, 1)])
            .number(Directory::Exif, tag::FOCAL_LENGTH_IN_35MM_FILM, Number::Short(0));
        assert_eq!(read(block), None);
    }

    #[test]
    fn a_high_sensitivity_is_in_another_tag() {
        let block = ExifBlock::default().number(
            Directory::Exif,
            tag::PHOTOGRAPHIC_SENSITIVITY,
            Number::Short(u16::MAX),
        );
        let iso = |block| read(block).unwrap().iso;
        assert_eq!(iso(block.clone()), Some(65_535));
        let index = Number::Long(102_400);
        assert_eq!(iso(block.number(Directory::Exif, tag::RECOMMENDED_EXPOSURE_INDEX, index)), Some(102_400));
    }
}
