//! HEIC and AVIF files, rendered by the system's libheif.
#![expect(clippy::unwrap_used, reason = "an unreadable fixture fails its test")]

use std::path::Path;

use domain::{FileInfo, PixelSize, Rendition, Timestamp};
use image::{RgbImage, RgbaImage};
use media::{Format, Limits, Orientation, Probe, Rendered};

fn read(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/media").join(name)).unwrap()
}

fn probe(name: &str) -> Probe {
    media::probe(&read(name), &Limits::default()).unwrap()
}

fn render(name: &str) -> Rendered {
    media::render(&read(name), &[Rendition::Thumb], &Limits::default()).unwrap()
}

fn thumb(name: &str) -> RgbaImage {
    image::load_from_memory(&render(name).renditions[0].webp).unwrap().to_rgba8()
}

fn rgb(picture: &RgbaImage) -> RgbImage {
    image::DynamicImage::from(picture.clone()).to_rgb8()
}

/// The mean difference of two pictures of equal size, in values from 0 to 255.
fn difference(a: &RgbImage, b: &RgbImage) -> f64 {
    assert_eq!(a.dimensions(), b.dimensions());
    let sum: u64 = a.as_raw().iter().zip(b.as_raw()).map(|(a, b)| u64::from(a.abs_diff(*b))).sum();
    f64::from(u32::try_from(sum).unwrap()) / f64::from(u32::try_from(a.as_raw().len()).unwrap())
}

#[test]
fn formats_and_sizes_are_read() {
    let check = |name: &str, format: Format, (width, height): (u32, u32)| {
        let probe = probe(name);
        assert_eq!(probe.format, format, "{name}");
        assert_eq!(probe.upright_size, PixelSize { width, height }, "{name}");
        assert_eq!(probe.orientation, Orientation::Normal, "{name}");
        assert_eq!(render(name).full_size, probe.upright_size, "{name}");
    };
    check("hopper.heif", Format::Heif, (128, 128));
    check("hopper.avif", Format::Avif, (128, 128));
    check("10-bit.heif", Format::Heif, (128, 128));
    check("grey-grid.heic", Format::Heif, (16, 16));
    check("transparency.avif", Format::Avif, (64, 64));
    check("xmp-and-profile.avif", Format::Avif, (326, 268));
    for name in ["rot0mir0", "rot1mir0", "rot2mir1", "rot3mir1"] {
        check(&format!("{name}.avif"), Format::Avif, (640, 427));
    }
}

/// Each picture is stored in another rotation, and this rotation is written in the middle. The pictures were compressed
/// separately, so they differ by 8. With a wrong rotation they would differ by at least 38.
#[test]
fn rotations_and_mirroring_of_the_container_are_applied() {
    let upright = rgb(&thumb("rot0mir0.avif"));
    for turned in [image::imageops::rotate180(&upright), image::imageops::flip_horizontal(&upright)] {
        assert!(difference(&upright, &turned) > 30.0);
    }
    let (sky, field) = (upright.get_pixel(100, 20), upright.get_pixel(100, 320));
    assert!(sky[2] > field[2], "{sky:?} {field:?}");
    for name in ["rot1mir0", "rot2mir1", "rot3mir1"] {
        let difference = difference(&upright, &rgb(&thumb(&format!("{name}.avif"))));
        assert!(difference < 10.0, "{name} differs by {difference}");
    }
}

#[test]
fn heic_and_avif_of_the_same_picture_look_the_same() {
    let difference = difference(&rgb(&thumb("hopper.heif")), &rgb(&thumb("hopper.avif")));
    assert!(difference < 6.0, "{difference}");
}

/// The picture is a gradient: blue at top left, red at top right, cyan at bottom left, yellow at bottom right.
#[test]
fn channels_of_10_bits_keep_their_brightness() {
    let picture = thumb("10-bit.heif");
    let near = |x: u32, y: u32, expect: [u8; 3]| {
        let pixel = picture.get_pixel(x, y).0;
        let far = pixel.iter().zip(expect).any(|(a, b)| a.abs_diff(b) > 40);
        assert!(!far, "{x} {y}: {pixel:?}");
    };
    near(2, 2, [0, 0, 255]);
    near(125, 2, [255, 0, 0]);
    near(2, 125, [0, 255, 255]);
    near(125, 125, [255, 255, 0]);
}

#[test]
fn transparency_is_kept() {
    let picture = thumb("transparency.avif");
    assert_eq!((picture.get_pixel(32, 32)[3], picture.get_pixel(2, 2)[3]), (0, 255));
}

#[test]
fn grey_stays_grey() {
    assert!(thumb("grey-grid.heic").pixels().all(|pixel| pixel[0] == pixel[1] && pixel[1] == pixel[2]));
}

#[test]
fn file_without_metadata_has_a_time() {
    let added = Timestamp::parse_iso("2026-01-01").unwrap();
    assert_eq!(media::metadata(&read("hopper.heif"), &FileInfo::added_at(added)).capture.at, added);
}

#[test]
fn picture_above_the_pixel_limit_is_refused() {
    let file = read("hopper.avif");
    assert!(media::render(&file, &[Rendition::Thumb], &Limits { max_pixels: 128 * 128 }).is_ok());
    let error = media::probe(&file, &Limits { max_pixels: 128 * 128 - 1 }).unwrap_err();
    assert_eq!(error.to_string(), "the picture has 16384 pixels; at most 16383 are allowed");
}

#[test]
fn videos_are_distinguished_from_pictures() {
    let movie = b"\0\0\0\x14ftypqt  \0\0\0\0qt  \0\0\0\x08wide";
    let error = media::probe(movie, &Limits::default()).unwrap_err();
    assert_eq!(error, media::MediaError::Movie);
}
