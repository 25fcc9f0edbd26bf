//! Tests: phones append data to the picture, which is no damage.

use domain::Rendition;
use image::DynamicImage;

use crate::samples::{encode, quarters, with_exif};
use crate::{Format, Limits};

/// Inserts a segment after the start of a JPEG.
fn with_segment(jpeg: &[u8], marker: u8, payload: &[u8]) -> Vec<u8> {
    let length = u16::try_from(payload.len() + 2).unwrap().to_be_bytes();
    [&jpeg[..2], &[0xFF, marker], &length, payload, &jpeg[2..]].concat()
}

#[test]
fn appended_data_are_no_damage() {
    let picture = DynamicImage::from(quarters(640, 480));
    let still = encode(&picture, Format::Jpeg);
    let gain_map = encode(&DynamicImage::from(quarters(160, 120).clone()).grayscale(), Format::Jpeg);
    // Scans are counted only up to the end of the picture.
    let movie = {
        let boxes: [&[u8]; 3] = [b"\0\0\0\x18ftypmp42\0\0\0\0isommp42", b"\0\0\x40\x08mdat", &[0xFF; 0x4000]];
        boxes.concat()
    };
    // The index of CIPA DC-007, truncated; it is not used.
    let multi = with_segment(&still, 0xE2, b"MPF\0MM\0*\0\0\0\x08\0\0");
    let motion =
        with_segment(&still, 0xE1, b"http://ns.adobe.com/xap/1.0/\0<x:xmpmeta xmlns:x='adobe:ns:meta/'/>");
    for (what, file) in [
        ("a motion photo", [&motion[..], &movie].concat()),
        (
            "a Samsung motion photo",
            [&still[..], b"\0\0\x30\x0A\x10\0\0\0MotionPhoto_Data", &movie, b"SEFT"].concat(),
        ),
        ("an MPO", [&multi[..], &still].concat()),
        ("a gain map", [&multi[..], &gain_map].concat()),
        ("both", [&multi[..], &gain_map, &movie].concat()),
        ("zeros", [&still[..], &[0; 5000]].concat()),
    ] {
        for file in [file.clone(), with_exif(Format::Jpeg, &file, b"II*\0\x08\0\0\0\0\0\0\0\0\0")] {
            let plain = crate::render(&still, &[Rendition::Thumb], &Limits::default()).unwrap();
            let rendered = crate::render(&file, &[Rendition::Thumb], &Limits::default()).unwrap();
            assert_eq!(rendered, plain, "{what}");
        }
    }
}

#[test]
fn scans_of_appended_pictures_are_not_counted() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/media/");
    let still = std::fs::read(format!("{folder}progressive.jpg")).unwrap();
    let scans = |file: &[u8]| crate::container::jpeg::header(file).unwrap().scans;
    let appended = still.repeat(30);
    assert_eq!(scans(&[&still[..], &appended].concat()), scans(&still));
    let rendered = crate::render(&[&still[..], &appended].concat(), &[Rendition::Thumb], &Limits::default());
    assert_eq!(rendered.unwrap().damaged, None);
}
