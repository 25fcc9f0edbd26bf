//! Reads and renders the photos in `fixtures`.
#![expect(clippy::unwrap_used, reason = "an unreadable fixture fails its test")]

use std::path::{Path, PathBuf};

use domain::{CaptureSource, FileInfo, Metadata, PixelSize, Rendition, Timestamp};
use image::RgbImage;
use media::{Format, Limits, Rendered};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

fn read(path: &str) -> Vec<u8> {
    std::fs::read(root().join(path)).unwrap()
}

fn metadata(path: &str) -> Metadata {
    let added = Timestamp::parse_iso("2026-01-01").unwrap();
    media::metadata(&read(path), &FileInfo::added_at(added))
}

fn render(path: &str, wanted: &[Rendition]) -> Rendered {
    media::render(&read(path), wanted, &Limits::default()).unwrap()
}

fn thumb(path: &str) -> RgbImage {
    let rendered = render(path, &[Rendition::Thumb]);
    image::load_from_memory(&rendered.renditions[0].webp).unwrap().to_rgb8()
}

/// The mean difference of two pictures of equal size, in values from 0 to 255.
fn difference(a: &RgbImage, b: &RgbImage) -> f64 {
    assert_eq!(a.dimensions(), b.dimensions());
    let sum: u64 = a.as_raw().iter().zip(b.as_raw()).map(|(a, b)| u64::from(a.abs_diff(*b))).sum();
    f64::from(u32::try_from(sum).unwrap()) / f64::from(u32::try_from(a.as_raw().len()).unwrap())
}

#[test]
fn all_orientations_look_the_same() {
    for (name, size) in [("landscape", (512, 341)), ("portrait", (341, 512))] {
        let upright = thumb(&format!("media/{name}-1.jpg"));
        assert_eq!(upright.dimensions(), size);
        for orientation in 2..=8 {
            let turned = thumb(&format!("media/{name}-{orientation}.jpg"));
            // Apart from the number that is painted on each, the pictures are the same.
            let difference = difference(&upright, &turned);
            assert!(difference < 4.0, "{name}-{orientation} differs by {difference}");
        }
    }
}

#[test]
fn colour_spaces_and_scans_look_the_same() {
    let plain = thumb("samples/cyclamen.jpg");
    for name in ["cmyk", "progressive"] {
        let difference = difference(&plain, &thumb(&format!("media/{name}.jpg")));
        assert!(difference < 4.0, "{name} differs by {difference}");
    }
    let grey = thumb("media/grey.jpg");
    assert!(grey.pixels().all(|pixel| pixel[0].abs_diff(pixel[2]) < 12));
}

#[test]
fn every_file_is_rendered() {
    for folder in ["samples", "media"] {
        for entry in std::fs::read_dir(root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            let rendered = render(&format!("{folder}/{name}"), &[Rendition::Medium, Rendition::Thumb]);
            let expect = [1200, 512].map(|side_px| rendered.full_size.fit_within(side_px));
            let sizes: Vec<_> = rendered.renditions.iter().map(|made| made.size).collect();
            assert_eq!(sizes, expect, "{name}");
            assert_eq!(rendered.damaged.is_some(), name == "truncated.jpg", "{name}: {:?}", rendered.damaged);
        }
    }
}

#[test]
fn readable_part_of_a_truncated_file_is_kept() {
    let (whole, cut) = (thumb("samples/cyclamen.jpg"), thumb("media/truncated.jpg"));
    let top = |picture: &RgbImage| image::imageops::crop_imm(picture, 0, 0, picture.width(), 100).to_image();
    assert!(difference(&top(&whole), &top(&cut)) < 2.0);
}

#[test]
fn formats_are_detected_by_content() {
    let check = |path: &str, format: Format, size: (u32, u32)| {
        let probe = media::probe(&read(path), &Limits::default()).unwrap();
        assert_eq!(probe.format, format, "{path}");
        assert_eq!(probe.upright_size, PixelSize { width: size.0, height: size.1 }, "{path}");
    };
    check("samples/wisteria.jpg", Format::Jpeg, (3264, 2448));
    check("samples/lorem-ipsum.png", Format::Png, (935, 534));
    check("samples/orange-lossless.webp", Format::WebP, (300, 300));
    check("media/animated.webp", Format::WebP, (64, 48));
    check("media/animated.gif", Format::Gif, (32, 32));
    check("media/landscape-6.jpg", Format::Jpeg, (1800, 1200));
    check("media/portrait-6.jpg", Format::Jpeg, (1200, 1800));
    check("media/orientation-6.png", Format::Png, (400, 400));
    check("media/rgb-16-bit.png", Format::Png, (32, 32));
}

#[test]
fn first_frame_of_an_animation_is_decoded() {
    let first = thumb("media/animated.webp");
    assert!(first.pixels().all(|pixel| pixel[0] > 180 && pixel[1] < 60 && pixel[2] < 60));
}

#[test]
fn fixtures_have_the_expected_times() {
    let check = |path: &str, at: &str, source: CaptureSource, offset_minutes: Option<i32>| {
        let capture = metadata(path).capture;
        assert_eq!(capture.at.to_string(), at, "{path}");
        assert_eq!((capture.source, capture.offset_minutes), (source, offset_minutes), "{path}");
    };
    check("samples/wisteria.jpg", "2015-04-10T18:12:23.550Z", CaptureSource::ExifOriginal, Some(120));
    check("samples/sleeping-cat.jpg", "2025-06-01T16:59:26.023Z", CaptureSource::ExifOriginal, None);
    check("media/gps-offset.jpg", "2011-05-06T07:59:48.000Z", CaptureSource::ExifOriginal, Some(120));
    check("media/gps-time.jpg", "2022-01-10T21:15:44.310Z", CaptureSource::Embedded, Some(-360));
    check("media/date-priority.jpg", "2023-02-02T02:00:00.000Z", CaptureSource::ExifOriginal, None);
    check("media/date-and-position.jpg", "2025-12-01T11:30:00.000Z", CaptureSource::ExifOriginal, None);
    check("media/position-without-time.jpg", "2023-11-15T12:30:00.000Z", CaptureSource::Gps, None);
    check("media/landscape-1.jpg", "2026-01-01T00:00:00.000Z", CaptureSource::Added, None);
}

#[test]
fn fixtures_have_the_expected_positions_descriptions_and_cameras() {
    let check = |path: &str, position: Option<(f64, f64)>, description: Option<&str>, model: Option<&str>| {
        let found = metadata(path);
        let near = |a: f64, b: f64| (a - b).abs() < 0.001;
        match (found.details.position, position) {
            (Some(found), Some((latitude, longitude))) => {
                assert!(
                    near(found.latitude(), latitude) && near(found.longitude(), longitude),
                    "{path} {found:?}"
                );
            }
            (found, expect) => assert_eq!(found.is_some(), expect.is_some(), "{path}"),
        }
        assert_eq!(found.details.description.as_deref(), description, "{path}");
        assert_eq!(found.details.camera_model.as_deref(), model, "{path}");
    };
    check("samples/wisteria.jpg", Some((40.447, -3.7248)), None, Some("iPhone 6"));
    check("samples/restaurant-bill.jpg", Some((41.853, 12.4888)), None, Some("iPhone 4"));
    check("samples/sleeping-cat.jpg", None, None, Some("moto g(9) plus"));
    let berlin = "El cielo sobre Berlin (Heaven above Berlin)";
    check("samples/sky-over-berlin.jpg", None, Some(berlin), Some("Canon PowerShot G9"));
    check("media/description.jpg", None, Some("Image-Description"), Some("Canon PowerShot SD1100 IS"));
    let winter = "Early winter scene in the mostly barren, lightly occupied quarter of southeastern Utah, near the \
                  remote settlement of Thompson Springs in the western U.S. state of Utah.";
    check("media/gps-time.jpg", Some((39.115, -108.401)), Some(winter), None);
    let wisteria = metadata("samples/wisteria.jpg");
    assert_eq!(wisteria.details.camera_make.as_deref(), Some("Apple"));
    let settings = wisteria.settings.unwrap();
    assert_eq!((settings.f_number, settings.focal_length_mm), (Some(2.2), Some(4.15)));
}
