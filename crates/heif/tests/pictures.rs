//! Decodes real files with the system's libheif.
#![expect(clippy::unwrap_used, reason = "a fixture that cannot be read fails its test")]

use std::path::Path;

use heif::{Codec, DecodeOptions, DecodedImage, Error, Libheif, PixelFormat, Version};

const PLENTY: DecodeOptions = DecodeOptions { max_pixels: 1_000_000 };

fn read(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/media").join(name)).unwrap()
}

fn decode(bytes: &[u8], options: &DecodeOptions) -> Result<DecodedImage, Error> {
    Libheif::load().unwrap().decode(bytes, options)
}

#[test]
fn library_is_loaded_once_with_its_decoders() {
    let library = Libheif::load().unwrap();
    assert!(std::ptr::eq(library, Libheif::load().unwrap()));
    assert!(library.version() >= Version { major: 1, minor: 12, patch: 0 });
    assert!(library.can_decode(Codec::Hevc) && library.can_decode(Codec::Av1));
}

#[test]
fn rows_have_no_gaps() {
    let check = |name: &str, width: u32, height: u32, format: PixelFormat| {
        let image = decode(&read(name), &PLENTY).unwrap();
        assert_eq!((image.width, image.height, image.format), (width, height, format), "{name}");
        let pixels = usize::try_from(width * height).unwrap();
        assert_eq!(image.bytes.len(), pixels * format.channels(), "{name}");
    };
    check("hopper.heif", 128, 128, PixelFormat::Rgb);
    check("hopper.avif", 128, 128, PixelFormat::Rgb);
    check("10-bit.heif", 128, 128, PixelFormat::Rgb);
    check("grey-grid.heic", 16, 16, PixelFormat::Rgb);
    check("transparency.avif", 64, 64, PixelFormat::Rgba);
    // libheif stores these rows with padding; the second picture is rotated by 90 degrees.
    check("xmp-and-profile.avif", 326, 268, PixelFormat::Rgb);
    check("rot1mir0.avif", 640, 427, PixelFormat::Rgb);
}

#[test]
fn errors_are_reported() {
    let file = read("hopper.heif");
    assert_eq!(decode(&file, &DecodeOptions { max_pixels: 128 * 128 - 1 }), Err(Error::TooManyPixels));
    for broken in [&b""[..], b"GIF89a", &file[..20], &file[..file.len() / 2]] {
        let error = decode(broken, &PLENTY).unwrap_err();
        assert!(matches!(error, Error::Damaged(_) | Error::Unsupported(_)), "{error:?}");
        assert!(error.to_string().len() > 20, "{error}");
    }
}

#[test]
fn threads_can_decode_at_once() {
    let file = read("hopper.avif");
    let expect = decode(&file, &PLENTY).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(decode(&file, &PLENTY).unwrap(), expect));
        }
    });
}
