//! Previews of a few bytes.

use domain::Thumbhash;

use crate::pixels::{Layout, Pixels};

/// The largest picture that a preview is made of.
pub(super) const LONGEST_SIDE_PX: u32 = 100;

/// The preview of RGB or RGBA pixels, at most [`LONGEST_SIDE_PX`] wide and high.
pub(super) fn of(pixels: &Pixels) -> Option<Thumbhash> {
    let rgba: Vec<u8> = match pixels.layout {
        Layout::Rgb => {
            pixels.bytes.as_chunks::<3>().0.iter().flat_map(|[r, g, b]| [*r, *g, *b, 255]).collect()
        }
        Layout::Rgba => pixels.bytes.clone(),
        Layout::Gray | Layout::GrayAlpha | Layout::Cmyk { .. } => return None,
    };
    let side = |pixels: u32| usize::try_from(pixels).ok();
    let (width, height) = (side(pixels.size.width)?, side(pixels.size.height)?);
    Thumbhash::new(thumbhash::rgba_to_thumb_hash(width, height, &rgba))
}

#[cfg(test)]
mod tests {
    use domain::PixelSize;

    use super::*;

    fn preview(width: u32, height: u32, pixel: &[u8]) -> Vec<u8> {
        let layout = if pixel.len() == 4 { Layout::Rgba } else { Layout::Rgb };
        let bytes = pixel.repeat(usize::try_from(width * height).unwrap());
        let pixels = Pixels { size: PixelSize { width, height }, layout, bytes };
        of(&pixels).unwrap().as_bytes().to_vec()
    }

    #[test]
    fn the_preview_has_the_colour_of_the_picture() {
        for (width, height) in [(100, 75), (75, 100), (100, 1), (1, 100), (1, 1)] {
            let hash = preview(width, height, &[200, 40, 40]);
            let (r, g, b, a) = thumbhash::thumb_hash_to_average_rgba(&hash).unwrap();
            assert!(r > 0.7 && g < 0.3 && b < 0.3 && a > 0.99, "{width}x{height}: {r} {g} {b} {a}");
        }
    }

    #[test]
    fn transparency_is_kept() {
        let hash = preview(10, 10, &[0, 0, 0, 0]);
        let (_, _, _, alpha) = thumbhash::thumb_hash_to_average_rgba(&hash).unwrap();
        assert!(alpha < 0.01);
    }
}
