//! Turns pixels upright.

use crate::Orientation;
use crate::pixels::Pixels;

/// Turns the picture upright. Mirroring and rotation by 180° work in place; other rotations need a second copy.
pub(crate) fn orient(pixels: Pixels, orientation: Orientation) -> Pixels {
    match pixels.layout.channels() {
        1 => orient_channels::<1>(pixels, orientation),
        2 => orient_channels::<2>(pixels, orientation),
        3 => orient_channels::<3>(pixels, orientation),
        _ => orient_channels::<4>(pixels, orientation),
    }
}

fn orient_channels<const N: usize>(mut pixels: Pixels, orientation: Orientation) -> Pixels {
    let Ok(width) = usize::try_from(pixels.size.width) else { return pixels };
    let (grid, _) = pixels.bytes.as_chunks_mut::<N>();
    match orientation {
        Orientation::Normal => return pixels,
        Orientation::FlipHorizontal => grid.chunks_exact_mut(width).for_each(<[_]>::reverse),
        Orientation::Rotate180 => grid.reverse(),
        Orientation::FlipVertical => {
            grid.reverse();
            grid.chunks_exact_mut(width).for_each(<[_]>::reverse);
        }
        Orientation::Transpose | Orientation::Rotate90 | Orientation::Transverse | Orientation::Rotate270 => {
            pixels.bytes = columns_as_rows(grid, width, orientation).into_flattened();
            pixels.size = pixels.size.transposed();
        }
    }
    pixels
}

/// Each row of the result is a column of the source. Some columns are copied at a time, so that the rows of the result
/// fit into the processor's cache.
fn columns_as_rows<const N: usize>(grid: &[[u8; N]], width: usize, orientation: Orientation) -> Vec<[u8; N]> {
    const COLUMNS: usize = 32;
    let from_left = matches!(orientation, Orientation::Transpose | Orientation::Rotate90);
    let from_top = matches!(orientation, Orientation::Transpose | Orientation::Rotate270);
    let height = grid.len() / width;
    let mut turned = vec![[0; N]; grid.len()];
    for (block, rows) in turned.chunks_mut(COLUMNS * height).enumerate() {
        let first = block * COLUMNS;
        for (index, source) in grid.chunks_exact(width).enumerate() {
            let place = if from_top { index } else { height - 1 - index };
            let columns = rows.chunks_exact_mut(height).filter_map(|row| row.get_mut(place));
            if from_left {
                columns.zip(source.iter().skip(first)).for_each(|(to, from)| *to = *from);
            } else {
                columns.zip(source.iter().rev().skip(first)).for_each(|(to, from)| *to = *from);
            }
        }
    }
    turned
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pixels::Layout;
    use domain::PixelSize;

    #[test]
    fn large_pictures_are_turned_like_small_ones() {
        let bytes: Vec<u8> = (0..100 * 70_u32).map(|at| u8::try_from(at % 251).unwrap()).collect();
        let stored = Pixels { size: PixelSize { width: 100, height: 70 }, layout: Layout::Gray, bytes };
        for exif in 5..=8 {
            let orientation = Orientation::from_exif(exif).unwrap();
            let turned = orient(stored.clone(), orientation);
            assert_eq!(turned.size, PixelSize { width: 70, height: 100 });
            for (x, y) in (0..70).flat_map(|x| (0..100).map(move |y| (x, y))) {
                let (column, row) = match orientation {
                    Orientation::Transpose => (y, x),
                    Orientation::Rotate90 => (y, 69 - x),
                    Orientation::Transverse => (99 - y, 69 - x),
                    _ => (99 - y, x),
                };
                assert_eq!(turned.bytes[y * 70 + x], stored.bytes[row * 100 + column], "{exif} {x} {y}");
            }
        }
    }

    /// A picture of 3 × 2 pixels, stored in each EXIF orientation, must become
    /// ```text
    /// 1 2 3
    /// 4 5 6
    /// ```
    #[test]
    fn every_orientation_becomes_upright() {
        let check = |exif: u16, (width, height): (u32, u32), stored: [u8; 6]| {
            for channels in [1, 3, 4] {
                let layout = [Layout::Gray, Layout::Gray, Layout::Rgb, Layout::Rgba][channels - 1];
                let bytes = stored.iter().flat_map(|value| vec![*value; layout.channels()]).collect();
                let pixels = Pixels { size: PixelSize { width, height }, layout, bytes };
                let upright = orient(pixels, Orientation::from_exif(exif).unwrap_or_default());
                assert_eq!(upright.size, PixelSize { width: 3, height: 2 });
                let values: Vec<u8> = upright.bytes.iter().step_by(layout.channels()).copied().collect();
                assert_eq!(values, [1, 2, 3, 4, 5, 6], "orientation {exif}");
            }
        };
        check(0, (3, 2), [1, 2, 3, 4, 5, 6]);
        check(1, (3, 2), [1, 2, 3, 4, 5, 6]);
        check(2, (3, 2), [3, 2, 1, 6, 5, 4]);
        check(3, (3, 2), [6, 5, 4, 3, 2, 1]);
        check(4, (3, 2), [4, 5, 6, 1, 2, 3]);
        check(5, (2, 3), [1, 4, 2, 5, 3, 6]);
        check(6, (2, 3), [3, 6, 2, 5, 1, 4]);
        check(7, (2, 3), [6, 3, 5, 2, 4, 1]);
        check(8, (2, 3), [4, 1, 5, 2, 6, 3]);
    }
}
