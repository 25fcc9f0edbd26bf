//! Reads and renders the files in `fixtures/uncommon`: variants that few programs write, and damaged files.
#![expect(clippy::unwrap_used, reason = "an unreadable fixture fails its test")]

use std::path::Path;

use domain::{PixelSize, Rendition};
use media::{Limits, RgbPicture};

fn read(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/uncommon").join(name)).unwrap()
}

/// The picture, and the damage to it.
fn decode(file: &[u8]) -> (RgbPicture, Option<String>) {
    let made = media::decode_rgb(file, &[u32::MAX], &Limits::default()).unwrap();
    (made.pictures[0].clone(), made.damaged)
}

/// The mean of each channel in these rows.
fn mean(picture: &RgbPicture, rows: std::ops::Range<u32>) -> [u32; 3] {
    let width = usize::try_from(picture.size.width).unwrap();
    let rows = usize::try_from(rows.start).unwrap()..usize::try_from(rows.end).unwrap();
    let (pixels, _) = picture.rgb[rows.start * width * 3..rows.end * width * 3].as_chunks::<3>();
    let count = u64::try_from(pixels.len()).unwrap();
    [0, 1, 2].map(|channel| {
        let sum: u64 = pixels.iter().map(|pixel| u64::from(pixel[channel])).sum();
        u32::try_from((sum + count / 2) / count).unwrap()
    })
}

#[test]
fn jpeg_with_stray_bytes_equals_the_same_jpeg_without() {
    for name in ["noninterleaved", "arithmetic"] {
        let (whole, damaged) = decode(&read(&format!("{name}.jpg")));
        assert_eq!(damaged, None, "{name}");
        let (stray, damaged) = decode(&read(&format!("{name}-3-stray-bytes.jpg")));
        assert!(damaged.unwrap().contains("extraneous bytes"), "{name}");
        assert!(stray == whole, "{name}");
        let rendered = media::render(
            &read(&format!("{name}-3-stray-bytes.jpg")),
            &[Rendition::Thumb],
            &Limits::default(),
        );
        assert!(rendered.unwrap().damaged.is_some(), "{name}");
    }
    let (picture, _) = decode(&read("noninterleaved-3-stray-bytes.jpg"));
    assert_eq!(mean(&picture, 0..picture.size.height), [127, 126, 128]);
}

#[test]
fn rows_before_broken_data_are_kept() {
    let (picture, damaged) = decode(&read("deflate-broken.png"));
    assert!(damaged.is_some());
    for row in 0..63 {
        assert_ne!(mean(&picture, row..row + 1), [0; 3], "{row}");
    }
    assert_eq!(mean(&picture, 64..picture.size.height), [0; 3]);
}

#[test]
fn palette_that_is_too_long_is_no_damage() {
    let (picture, damaged) = decode(&read("truecolour-plte-257-entries.png"));
    assert_eq!(damaged, None);
    assert_ne!(mean(&picture, 0..picture.size.height), [0; 3]);
}

#[test]
fn gamma_of_a_png_is_applied() {
    assert_eq!(mean(&decode(&read("gama-linear.png")).0, 0..64), [188; 3]);
}

#[test]
fn fax_compression_is_decoded() {
    let (picture, damaged) = decode(&read("g3-2d.tif"));
    assert_eq!((picture.size, damaged), (PixelSize { width: 1440, height: 960 }, None));
    let [grey, ..] = mean(&picture, 0..960);
    assert!((1..255).contains(&grey), "{grey}");

    let (picture, damaged) = decode(&read("short-row.tif"));
    assert!(damaged.is_some());
    assert_eq!(mean(&picture, 30..40), [0; 3]);
}
