//! Computes the size after crops, rotations and mirroring: ISO/IEC 23008-12, sections 6.5.9 to 6.5.12; ISO/IEC 14496-12,
//! section 12.1.4 (`clap`). The decoder applies them.

use domain::PixelSize;

use super::meta::Property;
use crate::container::boxes::Reader;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DisplaySize {
    pub(super) size: PixelSize,
    /// Whether the container declares a rotation or mirroring, even a rotation by 0.
    pub(super) turned: bool,
}

/// Applies the properties in their order. Unreadable ones are ignored; the decoder refuses them later.
pub(super) fn display_size<'a>(
    stored: PixelSize,
    properties: impl Iterator<Item = Property<'a>>,
) -> DisplaySize {
    properties.fold(DisplaySize { size: stored, turned: false }, |DisplaySize { size, turned }, property| {
        match (&property.kind, property.body) {
            (b"irot", [angle, ..]) => {
                DisplaySize { size: if angle & 1 == 1 { size.transposed() } else { size }, turned: true }
            }
            (b"imir", _) => DisplaySize { size, turned: true },
            (b"clap", body) => DisplaySize { size: cropped(size, body).unwrap_or(size), turned },
            _ => DisplaySize { size, turned },
        }
    })
}

fn cropped(size: PixelSize, body: &[u8]) -> Option<PixelSize> {
    let mut reader = Reader::new(body);
    let width = Fraction::read(&mut reader)?;
    let height = Fraction::read(&mut reader)?;
    let right = Fraction::read(&mut reader)?;
    let down = Fraction::read(&mut reader)?;
    let left = first(size.width, width, right).round_down()?;
    let top = first(size.height, height, down).round()?;
    Some(PixelSize { width: kept(size.width, left, width)?, height: kept(size.height, top, height)? })
}

/// The first pixel of a crop to `count` pixels, whose centre is `from_middle` pixels away from the middle of the side.
fn first(side: u32, count: Fraction, from_middle: Fraction) -> Fraction {
    // from_middle + (side - 1) / 2 - (count - 1) / 2
    let both = from_middle.denominator * count.denominator;
    Fraction {
        numerator: 2 * from_middle.numerator * count.denominator + (i128::from(side) - 1) * both
            - (count.numerator - count.denominator) * from_middle.denominator,
        denominator: 2 * both,
    }
}

/// The number of pixels of a side after a crop, without those outside of the picture.
fn kept(side: u32, first: i128, count: Fraction) -> Option<u32> {
    let end = (first + count.round()?).min(side.into());
    u32::try_from(end - first.max(0)).ok().filter(|kept| *kept > 0)
}

#[derive(Debug, Clone, Copy)]
struct Fraction {
    numerator: i128,
    denominator: i128,
}

impl Fraction {
    /// The numerator is signed, because offsets are.
    fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let numerator = i128::from(reader.u32()?.cast_signed());
        Some(Self { numerator, denominator: i128::from(reader.u32()?) })
    }

    /// Rounds towards zero, like libheif.
    fn round_down(self) -> Option<i128> {
        self.numerator.checked_div(self.denominator)
    }

    /// Rounds to the nearest integer, like libheif; negative numbers are rounded up.
    fn round(self) -> Option<i128> {
        (self.numerator + self.denominator / 2).checked_div(self.denominator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clap(numbers: [(i32, u32); 4]) -> Vec<u8> {
        numbers.iter().flat_map(|(n, d)| [n.to_be_bytes(), d.to_be_bytes()].concat()).collect()
    }

    #[test]
    fn properties_apply_in_their_order() {
        let check = |properties: &[(&[u8; 4], &[u8])], expect: (u32, u32), turned| {
            let properties = properties.iter().map(|(kind, body)| Property { kind: **kind, body });
            let found = display_size(PixelSize { width: 60, height: 40 }, properties);
            let size = PixelSize { width: expect.0, height: expect.1 };
            assert_eq!(found, DisplaySize { size, turned });
        };
        let strip = clap([(60, 1), (10, 1), (0, 1), (0, 1)]);
        let narrow = clap([(10, 1), (60, 1), (0, 1), (0, 1)]);
        check(&[], (60, 40), false);
        check(&[(b"irot", &[0])], (60, 40), true);
        check(&[(b"irot", &[1])], (40, 60), true);
        check(&[(b"irot", &[2]), (b"imir", &[0])], (60, 40), true);
        check(&[(b"irot", &[3]), (b"imir", &[1])], (40, 60), true);
        check(&[(b"clap", &strip)], (60, 10), false);
        check(&[(b"clap", &strip), (b"irot", &[1])], (10, 60), true);
        check(&[(b"irot", &[1]), (b"clap", &narrow)], (10, 60), true);
        check(&[(b"irot", &[]), (b"clap", &[1, 2, 3]), (b"ispe", &[])], (60, 40), false);
    }

    #[test]
    fn crops_end_at_the_edge_of_the_picture() {
        let check = |kept: (i32, u32), from_middle: (i32, u32), expect| {
            let body = clap([kept, (40, 1), from_middle, (0, 1)]);
            let size = cropped(PixelSize { width: 60, height: 40 }, &body);
            assert_eq!(size.map(|size| size.width), expect, "{kept:?} {from_middle:?}");
        };
        check((59, 1), (1, 2), Some(59));
        check((59, 1), (-1, 2), Some(59));
        check((177, 3), (0, 1), Some(59));
        check((601, 10), (0, 1), Some(60));
        check((100, 1), (0, 1), Some(60));
        check((20, 1), (30, 1), Some(10));
        check((20, 1), (-30, 1), Some(10));
        for nothing in
            [((0, 1), (0, 1)), ((-5, 1), (0, 1)), ((20, 1), (90, 1)), ((20, 0), (0, 1)), ((20, 1), (0, 0))]
        {
            check(nothing.0, nothing.1, None);
        }
        check((i32::MAX, u32::MAX), (i32::MIN, u32::MAX), None);
        check((i32::MAX, 1), (i32::MIN, u32::MAX), Some(60));
    }
}
