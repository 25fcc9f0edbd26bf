//! Contact sheets: all thumbs in a grid.

use std::{
    fs,
    path::{Path, PathBuf},
};

use ::tests::black_box::{AnyError, Thumb};
use image::{DynamicImage, Rgba, RgbaImage, imageops};

const COLUMNS: u32 = 12;
const ROWS: u32 = 9;
/// The side of a cell, and the gap around each.
const CELL_PX: u32 = 160;
const GAP_PX: u32 = 4;
/// Shown where a picture is transparent.
const BACKGROUND: Rgba<u8> = Rgba([200, 200, 200, 255]);
/// Shown for a thumb that cannot be read.
const UNREADABLE: Rgba<u8> = Rgba([255, 0, 0, 255]);

/// Writes the thumbs row by row on as many sheets as they need, and a list of their positions. Returns the names of the
/// written files.
pub(crate) fn write(thumbs: &[Thumb], path: &Path) -> Result<Vec<String>, AnyError> {
    let mut written = Vec::new();
    let mut list = String::new();
    for (number, thumbs) in (1..).zip(thumbs.chunks((COLUMNS * ROWS) as usize)) {
        let sheet_path = numbered(path, number);
        let mut sheet = RgbaImage::from_pixel(span(COLUMNS), span(ROWS), BACKGROUND);
        for ((row, column), thumb) in cells().zip(thumbs) {
            place(&mut sheet, row, column, &picture(&thumb.path));
            list.push_str(&format!("{number}\t{}\t{}\t{}\n", row + 1, column + 1, thumb.file_name));
        }
        // The sheet is opaque, and not every format supports transparency.
        DynamicImage::from(sheet).to_rgb8().save(&sheet_path)?;
        written.push(sheet_path.display().to_string());
    }
    let list_path = path.with_extension("tsv");
    fs::write(&list_path, format!("sheet\trow\tcolumn\tfile\n{list}"))?;
    written.push(list_path.display().to_string());
    Ok(written)
}

fn cells() -> impl Iterator<Item = (u32, u32)> {
    (0..ROWS).flat_map(|row| (0..COLUMNS).map(move |column| (row, column)))
}

/// The length of this many cells with their gaps.
fn span(cells: u32) -> u32 {
    cells * (CELL_PX + GAP_PX) + GAP_PX
}

/// `name.png`, `name-2.png`, `name-3.png`.
fn numbered(path: &Path, number: u32) -> PathBuf {
    if number == 1 {
        return path.to_owned();
    }
    let part = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
    path.with_file_name(format!("{}-{number}.{}", part(path.file_stem()), part(path.extension())))
}

fn picture(path: &Path) -> RgbaImage {
    let decoded = fs::read(path)
        .ok()
        .and_then(|bytes| image::load_from_memory_with_format(&bytes, image::ImageFormat::WebP).ok());
    match decoded {
        Some(decoded) => decoded.thumbnail(CELL_PX, CELL_PX).into_rgba8(),
        None => RgbaImage::from_pixel(CELL_PX, CELL_PX, UNREADABLE),
    }
}

/// Centres a picture in a cell.
fn place(sheet: &mut RgbaImage, row: u32, column: u32, picture: &RgbaImage) {
    let corner = |cell: u32, side: u32| span(cell) + CELL_PX.saturating_sub(side) / 2;
    let (x, y) = (corner(column, picture.width()), corner(row, picture.height()));
    imageops::overlay(sheet, picture, x.into(), y.into());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_thumb_is_on_a_sheet() {
        let folder = tempfile::tempdir().unwrap();
        let thumb = folder.path().join("thumb");
        RgbaImage::from_pixel(512, 256, Rgba([0, 0, 255, 255]))
            .save_with_format(&thumb, image::ImageFormat::WebP)
            .unwrap();
        let named = |number: u32| Thumb { file_name: format!("{number}.jpg"), path: thumb.clone() };
        let mut thumbs: Vec<Thumb> = (0..=COLUMNS * ROWS).map(named).collect();
        thumbs[1].path = folder.path().join("missing");
        let sheet = folder.path().join("sheet.png");
        let written = write(&thumbs, &sheet).unwrap();
        assert_eq!(written.len(), 3, "{written:?}");
        let first = image::open(&sheet).unwrap().into_rgb8();
        let middle = GAP_PX + CELL_PX / 2;
        assert_eq!(first.get_pixel(middle, middle).0, [0, 0, 255]);
        assert_eq!(first.get_pixel(middle, GAP_PX + 10).0, [200, 200, 200], "the aspect ratio is kept");
        assert_eq!(first.get_pixel(middle + CELL_PX + GAP_PX, middle).0, [255, 0, 0]);
        let second = image::open(folder.path().join("sheet-2.png")).unwrap().into_rgb8();
        assert_eq!(second.get_pixel(middle, middle).0, [0, 0, 255]);
        assert_eq!(second.get_pixel(middle + CELL_PX + GAP_PX, middle).0, [200, 200, 200]);
        let list = fs::read_to_string(folder.path().join("sheet.tsv")).unwrap();
        assert!(list.ends_with(&format!("2\t1\t1\t{}.jpg\n", COLUMNS * ROWS)), "{list}");
    }
}
