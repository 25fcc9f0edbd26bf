use domain::Rendition::{Medium, Thumb};
use image::RgbImage;
use webp_encoder::{Picture, Samples, Settings};

use super::*;
use crate::samples::quarters;

/// Less than what callers allow.
const MAX_BYTES: usize = 400_000;

const PHOTOS: [&[u8]; 4] = [
    include_bytes!("../../../../fixtures/samples/wisteria.jpg"),
    include_bytes!("../../../../fixtures/samples/japanese-shop.jpg"),
    include_bytes!("../../../../fixtures/media/portrait-6.jpg"),
    include_bytes!("../../../../fixtures/samples/lorem-ipsum.png"),
];

fn options(rendition: Rendition, sheet: bool) -> ViewOptions {
    ViewOptions { rendition, sheet, max_bytes: MAX_BYTES }
}

fn rendition_of(file: &[u8], rendition: Rendition) -> Vec<u8> {
    crate::render(file, &[rendition], &Limits::default()).unwrap().renditions.remove(0).webp
}

fn views_of(files: &[Vec<u8>], options: &ViewOptions) -> Result<Vec<Vec<u8>>, MediaError> {
    let photos: Vec<_> = files.iter().map(|file| Photo::open(file).unwrap()).collect();
    views(&photos, options, &Limits::default())
}

fn unpack(jpeg: &[u8]) -> RgbImage {
    image::load_from_memory_with_format(jpeg, image::ImageFormat::Jpeg).unwrap().to_rgb8()
}

fn size(picture: &RgbImage) -> PixelSize {
    PixelSize { width: picture.width(), height: picture.height() }
}

/// Mean difference of all channels.
fn difference(one: &[u8], other: &[u8]) -> u64 {
    assert_eq!(one.len(), other.len());
    let sum: u64 = one.iter().zip(other).map(|(one, other)| u64::from(one.abs_diff(*other))).sum();
    sum / u64::try_from(one.len()).unwrap()
}

/// A picture that no encoder can compress.
fn noise(side: u32, seed: u32) -> Vec<u8> {
    let mut state = 0x9E37_79B9 ^ seed;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state.to_le_bytes()[0]
    };
    let rgb: Vec<u8> = (0..side * side * 3).map(|_| next()).collect();
    let picture = Picture { width: side, height: side, samples: Samples::Rgb(&rgb) };
    webp_encoder::encode(&picture, Settings { quality: 0.0, method: 0, lossless: true }).unwrap()
}

#[test]
fn pictures_look_like_their_renditions() {
    for rendition in [Thumb, Medium] {
        let files = PHOTOS.map(|photo| rendition_of(photo, rendition)).to_vec();
        let made = views_of(&files, &options(rendition, false)).unwrap();
        assert_eq!(made.len(), files.len());
        assert!(made.iter().map(Vec::len).sum::<usize>() <= MAX_BYTES);
        for (file, jpeg) in files.iter().zip(&made) {
            let picture = unpack(jpeg);
            let limits = Limits::default();
            let whole = crate::probe(file, &limits).unwrap().upright_size;
            let longest = size(&picture).longest();
            assert_eq!(size(&picture), whole.fit_within(longest));
            assert!(longest >= 400.min(whole.longest()), "{longest}");
            let expect = crate::decode_rgb(file, &[longest], &limits).unwrap().pictures.remove(0);
            assert!(difference(&expect.rgb, &picture) < 8, "{}", difference(&expect.rgb, &picture));
        }
        assert_eq!(views_of(&files, &options(rendition, false)).unwrap(), made);
    }
}

#[test]
fn small_pictures_are_not_enlarged_and_transparency_is_white() {
    let file = rendition_of(include_bytes!("../../../../fixtures/media/palette-transparent.png"), Medium);
    let expect = crate::decode_rgb(&file, &[1200], &Limits::default()).unwrap().pictures.remove(0);
    let made = views_of(&[file], &options(Medium, false)).unwrap();
    let picture = unpack(&made[0]);
    assert_eq!(size(&picture), expect.size);
    assert!(difference(&expect.rgb, &picture) < 8);
}

#[test]
fn jpegs_are_baseline_and_contain_no_metadata() {
    let files = PHOTOS.map(|photo| rendition_of(photo, Thumb)).to_vec();
    for sheet in [false, true] {
        for jpeg in views_of(&files, &options(Thumb, sheet)).unwrap() {
            let mut markers = Vec::new();
            let mut rest = &jpeg[2..];
            while rest[1] != 0xDA {
                markers.push(rest[1]);
                rest = &rest[2 + usize::from(u16::from_be_bytes([rest[2], rest[3]]))..];
            }
            markers.dedup();
            assert_eq!(markers, [0xE0, 0xDB, 0xC0, 0xC4]);
        }
    }
}

/// Compares a number with its digits, dot by dot.
fn check_number(sheet: &RgbImage, index: usize, number: NumberBox) {
    let NumberBox { x, y, size, dot_px } = number;
    let digits: Vec<_> = digits::digits(index + 1).collect();
    for row in 0..size.height / dot_px {
        for column in 0..size.width / dot_px {
            let digit = column.checked_sub(2).map(|column| (column / 6, column % 6));
            let is_white = digit.zip(row.checked_sub(2)).is_some_and(|((digit, column), row)| {
                let digit = digits.get(usize::try_from(digit).unwrap()).copied();
                digit.is_some_and(|digit| digits::dots(digit).any(|dot| dot == (column, row)))
            });
            let middle = sheet.get_pixel(x + column * dot_px + dot_px / 2, y + row * dot_px + dot_px / 2);
            let brightness = middle.0[1];
            assert!(
                if is_white { brightness > 170 } else { brightness < 85 },
                "{number:?}: {column}, {row}: {brightness}"
            );
        }
    }
}

#[test]
fn sheets_have_numbered_pictures_in_their_cells() {
    for rendition in [Thumb, Medium] {
        let files: Vec<_> =
            PHOTOS.iter().cycle().take(11).map(|photo| rendition_of(photo, rendition)).collect();
        let made = views_of(&files, &options(rendition, true)).unwrap();
        assert_eq!(made.len(), 1);
        let sheet = unpack(&made[0]);
        let layout = [1568, 1092, 768]
            .map(|side| SheetLayout::new(files.len(), side, rendition))
            .into_iter()
            .find(|layout| layout.size() == size(&sheet))
            .unwrap();
        assert_eq!((layout.columns, layout.rows), (4, 3));
        assert!(layout.cell_px >= 260, "{layout:?}");
        for (index, file) in files.iter().enumerate() {
            let number = layout.number(index);
            check_number(&sheet, index, number);
            let tile =
                crate::decode_rgb(file, &[layout.cell_px], &Limits::default()).unwrap().pictures.remove(0);
            let (x, y) = layout.cell(index);
            let margin = |side: u32| (layout.cell_px - side) / 2;
            let (left, top) = (x + margin(tile.size.width), y + margin(tile.size.height));
            // The right half, where the number is not.
            let (half, width) = (tile.size.width / 2, tile.size.width);
            let expect = RgbImage::from_raw(width, tile.size.height, tile.rgb).unwrap();
            let crop = |picture: &RgbImage, x, y| {
                image::imageops::crop_imm(picture, x, y, width - half, tile.size.height).to_image()
            };
            let difference = difference(&crop(&expect, half, 0), &crop(&sheet, left + half, top));
            assert!(difference < 12, "{index}: {difference}");
        }
        // The empty cell is grey.
        let (x, y) = layout.cell(11);
        let middle = sheet.get_pixel(x + layout.cell_px / 2, y + layout.cell_px / 2);
        assert!(middle.0.iter().all(|channel| channel.abs_diff(119) < 8), "{middle:?}");
    }
}

#[test]
fn layouts_fit_on_the_sheet() {
    for count in 1..=16 {
        for (side, rendition) in [(1568, Medium), (1092, Thumb), (512, Thumb)] {
            let layout = SheetLayout::new(count, side, rendition);
            assert!(layout.size().longest() <= side && layout.cell_px <= rendition.longest_side_px());
            assert!(layout.cell_px >= 112, "{layout:?}");
            let (x, y) = layout.cell(count - 1);
            let PixelSize { width, height } = layout.size();
            assert!(x + layout.cell_px < width && y + layout.cell_px < height);
            let number = layout.number(count - 1);
            assert!(number.size.longest() <= layout.cell_px / 2, "{number:?} {layout:?}");
        }
    }
    assert_eq!(SheetLayout::new(1, 1092, Thumb).cell_px, 512);
    assert_eq!(SheetLayout::new(0, 1092, Thumb).columns, 1);
}

#[test]
fn noise_always_fits() {
    let thumbs: Vec<_> = (0..16).map(|seed| noise(512, seed)).collect();
    let medium = noise(1200, 99);
    for count in [1, 3, 16] {
        for sheet in [false, true] {
            let made = views_of(&thumbs[..count], &options(Thumb, sheet)).unwrap();
            assert_eq!(made.len(), if sheet { 1 } else { count });
            assert!(made.iter().map(Vec::len).sum::<usize>() <= MAX_BYTES);
            let files = vec![medium.clone(); count];
            let made = views_of(&files, &options(Medium, sheet)).unwrap();
            assert!(made.iter().map(Vec::len).sum::<usize>() <= MAX_BYTES);
            if sheet {
                let sheet = unpack(&made[0]);
                let layout = [1568, 1092, 768, 512].map(|side| SheetLayout::new(count, side, Medium));
                let layout = layout.into_iter().find(|layout| layout.size() == size(&sheet)).unwrap();
                (0..count).for_each(|index| check_number(&sheet, index, layout.number(index)));
            }
        }
    }
}

#[test]
fn one_large_picture_does_not_shrink_the_others() {
    let files = vec![noise(512, 1), rendition_of(PHOTOS[0], Thumb), rendition_of(PHOTOS[1], Thumb)];
    let made = views_of(&files, &ViewOptions { max_bytes: 150_000, ..options(Thumb, false) }).unwrap();
    let sides: Vec<_> = made.iter().map(|jpeg| size(&unpack(jpeg)).longest()).collect();
    assert!(sides[0] < 512 && sides[1..] == [512, 512], "{sides:?}");
}

#[test]
fn too_few_bytes_and_broken_files_are_errors() {
    let files = vec![noise(512, 1)];
    for sheet in [false, true] {
        let options = ViewOptions { max_bytes: 100, ..options(Thumb, sheet) };
        assert_eq!(views_of(&files, &options), Err(too_large()));
    }
    let broken = vec![rendition_of(PHOTOS[0], Thumb)[..60].to_vec()];
    assert!(views_of(&broken, &options(Thumb, false)).is_err());
    assert_eq!(views(&[], &options(Thumb, false), &Limits::default()), Ok(Vec::new()));
}

#[test]
fn the_estimate_covers_the_decoded_pictures() {
    let files = vec![quarters_webp(); 16];
    let probes: Vec<_> = files.iter().map(|file| crate::probe(file, &Limits::default()).unwrap()).collect();
    let estimate = options(Medium, false).memory_bytes(&probes);
    assert!(estimate < 128 << 20, "{estimate}");
    assert!(estimate > options(Medium, false).memory_bytes(&probes[..1]));
}

fn quarters_webp() -> Vec<u8> {
    let picture = quarters(1200, 1200);
    let picture = Picture { width: 1200, height: 1200, samples: Samples::Rgb(&picture) };
    webp_encoder::encode(&picture, Settings { quality: 80.0, method: 0, lossless: false }).unwrap()
}
