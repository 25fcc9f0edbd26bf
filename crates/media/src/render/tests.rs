use domain::Rendition::{Full, Medium, Preview, Thumb};
use domain::{FileInfo, Timestamp};
use image::{DynamicImage, GrayImage, ImageBuffer, Luma, Rgba, RgbaImage};
use proptest::prelude::*;

use super::*;
use crate::samples::{
    ExifBlock, Number, encode, png_chunk, quarters, riff_chunk, riff_file, small_files, with_exif,
};
use crate::tiff::{Directory, tag};
use crate::{Format, metadata, probe};

fn size(width: u32, height: u32) -> PixelSize {
    PixelSize { width, height }
}

fn full(file: &[u8]) -> Rendered {
    render(file, &[Full], &Limits::default()).unwrap()
}

fn unpack(rendition: &EncodedRendition) -> RgbaImage {
    let picture = image::load_from_memory_with_format(&rendition.webp, image::ImageFormat::WebP).unwrap();
    assert_eq!((picture.width(), picture.height()), (rendition.size.width, rendition.size.height));
    picture.to_rgba8()
}

/// The names of a WebP file's chunks.
fn chunk_names(webp: &[u8]) -> Vec<String> {
    assert_eq!((&webp[..4], &webp[8..12]), (&b"RIFF"[..], &b"WEBP"[..]));
    let (mut names, mut rest) = (Vec::new(), &webp[12..]);
    while rest.len() >= 8 {
        let length = usize::try_from(u32::from_le_bytes(rest[4..8].try_into().unwrap())).unwrap();
        names.push(String::from_utf8_lossy(&rest[..4]).into_owned());
        rest = rest.get(8 + length + length % 2..).unwrap_or_default();
    }
    names
}

/// Red, green, blue or white, as in [`quarters`].
fn colour(pixel: Rgba<u8>) -> char {
    match pixel.0 {
        [r, g, b, _] if r > 150 && g < 100 && b < 100 => 'r',
        [r, g, b, _] if g > 150 && r < 100 && b < 100 => 'g',
        [r, g, b, _] if b > 150 && r < 100 && g < 100 => 'b',
        [r, g, b, _] if r > 200 && g > 200 && b > 200 => 'w',
        _ => '?',
    }
}

fn corners(picture: &RgbaImage) -> String {
    let (right, bottom) = (picture.width() - 3, picture.height() - 3);
    [(2, 2), (right, 2), (2, bottom), (right, bottom)]
        .map(|(x, y)| colour(*picture.get_pixel(x, y)))
        .iter()
        .collect()
}

/// Stores an upright picture the way a camera with that orientation does.
fn store(picture: &DynamicImage, orientation: u16) -> DynamicImage {
    match orientation {
        2 => picture.fliph(),
        3 => picture.rotate180(),
        4 => picture.flipv(),
        5 => picture.rotate90().fliph(),
        6 => picture.rotate270(),
        7 => picture.rotate270().fliph(),
        8 => picture.rotate90(),
        _ => picture.clone(),
    }
}

#[test]
fn every_orientation_in_every_format_becomes_upright() {
    let upright = DynamicImage::from(quarters(64, 40));
    for format in [Format::Jpeg, Format::Png, Format::WebP] {
        for orientation in 0..=9 {
            let block =
                ExifBlock::default().number(Directory::Primary, tag::ORIENTATION, Number::Short(orientation));
            let file = with_exif(format, &encode(&store(&upright, orientation), format), &block.build());
            let rendered = full(&file);
            assert_eq!(rendered.full_size, size(64, 40), "{format:?} {orientation}");
            assert_eq!(corners(&unpack(&rendered.renditions[0])), "rgbw", "{format:?} {orientation}");
            assert_eq!(rendered.damaged, None);
        }
    }
}

#[test]
fn planes_of_a_jpeg_become_the_same_picture_as_its_pixels() {
    let picture = image::RgbImage::from_fn(1600, 1204, |x, y| {
        let wave = |value: u32| u8::try_from(20 + (value % 400).abs_diff(200)).unwrap();
        image::Rgb([wave(x * 2), wave(y), wave(x + y)])
    });
    let picture = turbojpeg::Image {
        pixels: picture.as_raw().as_slice(),
        width: 1600,
        pitch: 3 * 1600,
        height: 1204,
        format: turbojpeg::PixelFormat::RGB,
    };
    for subsampling in [turbojpeg::Subsamp::None, turbojpeg::Subsamp::Sub2x1, turbojpeg::Subsamp::Sub2x2] {
        let mut compressor = turbojpeg::Compressor::new().unwrap();
        compressor.set_quality(95).unwrap();
        compressor.set_subsamp(subsampling).unwrap();
        let jpeg = compressor.compress_to_vec(picture).unwrap();
        for orientation in [1_u8, 3, 6] {
            let block = ExifBlock::default()
                .number(Directory::Primary, tag::ORIENTATION, Number::Short(orientation.into()))
                .build();
            let jpeg = with_exif(Format::Jpeg, &jpeg, &block);
            assert!(probe(&jpeg, &Limits::default()).unwrap().uses_planes);
            let pixels = image::load_from_memory(&jpeg).unwrap();
            let png = with_exif(Format::Png, &encode(&pixels, Format::Png), &block);
            assert!(!probe(&png, &Limits::default()).unwrap().uses_planes);
            let mut exact = pixels.clone();
            exact.apply_orientation(image::metadata::Orientation::from_exif(orientation).unwrap());
            let render = |file| render(file, &Rendition::ALL, &Limits::default()).unwrap();
            let (of_planes, of_pixels) = (render(&jpeg), render(&png));
            assert_eq!(of_planes.full_size, of_pixels.full_size);
            for (one, other) in of_planes.renditions.iter().zip(&of_pixels.renditions) {
                let what = format!("{subsampling:?} {orientation} {}", one.rendition);
                assert_eq!((one.rendition, one.size), (other.rendition, other.size), "{what}");
                let (one, other) = (unpack(one), unpack(other));
                let difference = |one: &RgbaImage, other: &RgbaImage| {
                    let (mut sum, mut squares) = ([0_i64; 3], 0_i64);
                    for (one, other) in one.pixels().zip(other.pixels()) {
                        for (channel, sum) in sum.iter_mut().enumerate() {
                            let difference = i64::from(one[channel]) - i64::from(other[channel]);
                            *sum += difference;
                            squares += difference * difference;
                        }
                    }
                    (sum, squares)
                };
                let samples = i64::from(one.width() * one.height());
                let (sum, _) = difference(&one, &other);
                assert!(sum.iter().all(|sum| sum.abs() < samples), "{what}: {sum:?} in {samples}");
                // Both lose something in WebP. The planes must not lose more.
                let exact = exact
                    .resize_exact(one.width(), one.height(), image::imageops::FilterType::Lanczos3)
                    .to_rgba8();
                let (of_one, of_other) = (difference(&one, &exact).1, difference(&other, &exact).1);
                assert!(of_one < of_other + of_other / 10, "{what}: {of_one} and {of_other} in {samples}");
            }
            let hash = |rendered: &Rendered| rendered.thumbhash.clone().unwrap().as_bytes().to_vec();
            let average = |hash: &[u8]| ::thumbhash::thumb_hash_to_average_rgba(hash).unwrap();
            let (one, other) = (average(&hash(&of_planes)), average(&hash(&of_pixels)));
            assert!((one.0 - other.0).abs() < 0.05 && (one.2 - other.2).abs() < 0.05, "{one:?} {other:?}");
        }
    }
}

#[test]
fn small_odd_and_converted_jpegs_are_made_of_pixels() {
    let uses_planes = |width, height, format| {
        let file = encode(&DynamicImage::from(quarters(width, height)), format);
        probe(&file, &Limits::default()).unwrap().uses_planes
    };
    assert!(uses_planes(1202, 40, Format::Jpeg));
    assert!(!uses_planes(1200, 40, Format::Jpeg));
    assert!(!uses_planes(1203, 40, Format::Jpeg));
    assert!(!uses_planes(1202, 41, Format::Jpeg));
    assert!(!uses_planes(1202, 40, Format::Png));

    let picture = DynamicImage::from(quarters(1202, 40));
    let jpeg = encode(&picture, Format::Jpeg);
    let with_segment = |marker: u8, payload: &[u8]| {
        let length = u16::try_from(payload.len() + 2).unwrap().to_be_bytes();
        [&jpeg[..2], &[0xFF, marker], &length, payload, &jpeg[2..]].concat()
    };
    let uses_planes = |file: &[u8]| probe(file, &Limits::default()).unwrap().uses_planes;
    let profile = |bytes: &[u8]| with_segment(0xE2, &[b"ICC_PROFILE\0\x01\x01", bytes].concat());
    assert!(uses_planes(&profile(&moxcms::ColorProfile::new_srgb().encode().unwrap())));
    assert!(!uses_planes(&profile(&moxcms::ColorProfile::new_display_p3().encode().unwrap())));
    assert!(!uses_planes(&profile(b"unreadable")));
    assert!(!uses_planes(&encode(&picture.grayscale(), Format::Jpeg)));

    // Without the JFIF segment, an Adobe segment tells whether the samples are RGB.
    let without_jfif = [&jpeg[..2], &jpeg[20..]].concat();
    let adobe = |transform: u8| {
        let segment = [b"\xFF\xEE\0\x0EAdobe\0\x64\0\0\0\0", &[transform][..]].concat();
        [&without_jfif[..2], &segment, &without_jfif[2..]].concat()
    };
    assert!(uses_planes(&without_jfif));
    assert!(uses_planes(&adobe(1)));
    assert!(!uses_planes(&adobe(0)));
}

#[test]
fn renditions_are_never_enlarged() {
    let check = |stored: (u32, u32), orientation, expect: [(u32, u32); 3]| {
        let picture = DynamicImage::from(quarters(stored.0, stored.1));
        let block =
            ExifBlock::default().number(Directory::Primary, tag::ORIENTATION, Number::Short(orientation));
        let file = with_exif(Format::Jpeg, &encode(&picture, Format::Jpeg), &block.build());
        let rendered = render(&file, &[Thumb, Full, Medium], &Limits::default()).unwrap();
        let kinds: Vec<_> = rendered.renditions.iter().map(|made| made.rendition).collect();
        assert_eq!(kinds, [Thumb, Full, Medium]);
        let sizes: Vec<_> =
            rendered.renditions.iter().map(|made| (made.size.width, made.size.height)).collect();
        assert_eq!(sizes, expect, "{stored:?}");
        for made in &rendered.renditions {
            unpack(made);
        }
    };
    check((3000, 1500), 1, [(512, 256), (3000, 1500), (1200, 600)]);
    check((3000, 1500), 6, [(256, 512), (1500, 3000), (600, 1200)]);
    check((1200, 900), 1, [(512, 384), (1200, 900), (1200, 900)]);
    check((1201, 3), 1, [(512, 1), (1201, 3), (1200, 3)]);
    check((1, 1), 8, [(1, 1), (1, 1), (1, 1)]);
    check((17_000, 20), 1, [(512, 1), (16_383, 19), (1200, 1)]);
}

#[test]
fn encoding_is_deterministic_and_shared_by_equal_sizes() {
    let file = encode(&DynamicImage::from(quarters(400, 300)), Format::Jpeg);
    let rendered = render(&file, &[Full, Medium, Thumb, Full], &Limits::default()).unwrap();
    assert_eq!(rendered.renditions.len(), 3);
    assert!(rendered.renditions.windows(2).all(|pair| pair[0].webp == pair[1].webp));
    assert_eq!(rendered, render(&file, &[Full, Medium, Thumb], &Limits::default()).unwrap());
    assert_eq!(render(&file, &[], &Limits::default()).unwrap().renditions, []);
}

#[test]
fn a_preview_has_the_same_bytes_whatever_else_is_made() {
    for side in [200, 256, 400] {
        let file = encode(&DynamicImage::from(quarters(side, side)), Format::Jpeg);
        let all = render(&file, &[Full, Thumb, Preview], &Limits::default()).unwrap().renditions;
        let alone = render(&file, &[Preview], &Limits::default()).unwrap().renditions;
        let [_, thumb, preview] = all.as_slice() else { panic!("{all:?}") };
        assert_eq!(alone, std::slice::from_ref(preview), "{side}");
        assert_eq!(thumb.webp == preview.webp, side <= 256, "{side}");
    }
}

#[test]
fn renditions_have_no_metadata() {
    let block = ExifBlock::default()
        .text(Directory::Primary, tag::MAKE, "Nikon")
        .rationals(Directory::Gps, tag::GPS_LATITUDE, &[(48, 1); 3])
        .build();
    for (format, file) in small_files() {
        let rendered = full(&with_exif(format, &file, &block));
        for name in chunk_names(&rendered.renditions[0].webp) {
            assert!(["VP8 ", "VP8L", "VP8X", "ALPH"].contains(&name.as_str()), "{format:?} {name}");
        }
    }
}

#[test]
fn transparency_is_kept() {
    let picture = RgbaImage::from_fn(64, 64, |x, _| Rgba([200, 30, 30, if x < 32 { 0 } else { 255 }]));
    for format in [Format::Png, Format::WebP, Format::Gif] {
        let file = encode(&DynamicImage::from(picture.clone()), format);
        let made = unpack(&full(&file).renditions[0]);
        assert_eq!((made.get_pixel(4, 4)[3], made.get_pixel(60, 60)[3]), (0, 255), "{format:?}");
    }
}

#[test]
fn grey_and_deep_samples_keep_their_brightness() {
    let grey = DynamicImage::from(GrayImage::from_pixel(32, 32, Luma([100])));
    let deep = DynamicImage::from(ImageBuffer::from_pixel(32, 32, Luma([100_u16 << 8])));
    for (picture, format) in [(&grey, Format::Jpeg), (&grey, Format::Png), (&deep, Format::Png)] {
        let made = unpack(&full(&encode(picture, format)).renditions[0]);
        assert!(made.get_pixel(16, 16).0[..3].iter().all(|value| value.abs_diff(100) < 4), "{format:?}");
    }
}

#[test]
fn truncated_file_is_kept_and_marked_as_damaged() {
    let noise = image::RgbImage::from_fn(200, 200, |x, y| {
        let value = u8::try_from((x * 7 + y * 13) % 251).unwrap();
        image::Rgb([value, value / 2, 255 - value])
    });
    for format in [Format::Jpeg, Format::Png] {
        let file = encode(&DynamicImage::from(noise.clone()), format);
        let rendered = full(&file[..file.len() * 3 / 4]);
        assert!(rendered.damaged.is_some(), "{format:?}");
        assert_eq!(rendered.full_size, size(200, 200));
        let error = render(&file[..file.len().min(20)], &[Full], &Limits::default()).unwrap_err();
        assert!(matches!(error, MediaError::Truncated | MediaError::Corrupt(_)), "{error}");
    }
}

#[test]
fn files_without_a_picture_are_refused() {
    let refused = |file: &[u8]| render(file, &[Full], &Limits::default()).unwrap_err();
    assert_eq!(refused(b""), MediaError::Empty);
    assert_eq!(refused(b"hello, I am a text"), MediaError::UnknownFormat);
    assert_eq!(refused(b"\xFF\xD8\xFF\xE0"), MediaError::Truncated);
    assert_eq!(refused(b"GIF89a"), MediaError::Truncated);
    assert_eq!(refused(b"GIF89a\0\0\0\0\0\0\0,\0\0\0\0\x01\0\x01\0\0"), MediaError::NoPixels);
}

#[test]
fn decompression_bombs_are_refused_before_decoding() {
    let check = |what: &str, file: &[u8]| {
        for error in [
            probe(file, &Limits::default()).unwrap_err(),
            render(file, &[Full], &Limits::default()).unwrap_err(),
        ] {
            assert!(matches!(error, MediaError::TooManyPixels { .. }), "{what}: {error}");
        }
    };
    let ihdr = [&[0, 1, 0, 0][..], &[0, 1, 0, 0], &[8, 2, 0, 0, 0]].concat();
    check("PNG header", &[b"\x89PNG\r\n\x1A\n", &png_chunk(b"IHDR", &ihdr)[..]].concat());
    check("GIF screen", b"GIF89a\xFF\xFF\xFF\xFF\0\0\0,\0\0\0\0\x01\0\x01\0\0");
    check("GIF frame", b"GIF89a\x01\0\x01\0\0\0\0,\0\0\0\0\xFF\xFF\xFF\xFF\0");
    let sof = b"\xFF\xD8\xFF\xC2\0\x11\x08\xFF\xFF\xFF\xFF\x03\x01\x22\0\x02\x11\x01\x03\x11\x01";
    let sos = b"\xFF\xDA\0\x0C\x03\x01\0\x02\x11\x03\x11\0\x3F\0";
    check("JPEG header", &[&sof[..], sos].concat());
    let vp8 = b"\0\0\0\x9D\x01\x2A\xFF\x3F\xFF\x3F";
    check("WebP header", &riff_file(&riff_chunk(b"VP8 ", vp8)));
}

#[test]
fn webp_stream_of_another_size_than_its_canvas_is_refused() {
    let vp8 = b"\0\0\0\x9D\x01\x2A\xFF\x3F\xFF\x3F";
    let canvas = riff_chunk(b"VP8X", &[0; 10]);
    let hidden = riff_file(&[canvas.clone(), riff_chunk(b"VP8 ", vp8)].concat());
    let frame = riff_chunk(b"ANMF", &[&[0; 16][..], &riff_chunk(b"VP8 ", vp8)].concat());
    let hidden_in_frame = riff_file(&[canvas, frame].concat());
    for file in [hidden, hidden_in_frame] {
        let error = probe(&file, &Limits::default()).unwrap_err();
        assert_eq!(error, MediaError::Corrupt("the WebP frame does not fit its canvas".into()));
    }
}

#[test]
fn picture_above_the_pixel_limit_is_refused() {
    let file = encode(&DynamicImage::from(quarters(20, 10)), Format::Png);
    assert!(probe(&file, &Limits { max_pixels: 200 }).is_ok());
    let error = probe(&file, &Limits { max_pixels: 199 }).unwrap_err();
    assert_eq!(error, MediaError::TooManyPixels { pixels: 200, limit: 199 });
    assert_eq!(error.to_string(), "the picture has 200 pixels; at most 199 are allowed");
}

#[test]
fn too_many_scans_are_refused() {
    let picture = turbojpeg::Image::mandelbrot(64, 64, turbojpeg::PixelFormat::RGB);
    let mut compressor = turbojpeg::Compressor::new().unwrap();
    compressor.set_progressive(true).unwrap();
    let file = compressor.compress_to_vec(picture.as_deref()).unwrap();
    assert!(full(&file).damaged.is_none());

    let body = &file[..file.len() - 2];
    let scan = b"\xFF\xDA\0\x08\x01\x01\0\x01\x3F\0\0";
    let bomb = [body, &scan.repeat(3000), b"\xFF\xD9"].concat();
    let error = render(&bomb, &[Thumb], &Limits::default()).unwrap_err();
    assert!(matches!(error, MediaError::TooManyScans { scans } if scans > 3000), "{error}");
}

#[test]
fn compressed_text_is_not_inflated_for_decoding() {
    let file = encode(&DynamicImage::from(quarters(32, 32)), Format::Png);
    // Ten megabytes of invalid compressed data: inflating them would fail or take long.
    let text = png_chunk(b"zTXt", &[b"Comment\0\0", &vec![0xAA; 10 << 20][..]].concat());
    let profile = png_chunk(b"iCCP", &[b"x\0\0", &vec![0xAA; 10 << 20][..]].concat());
    let bomb = [&file[..33], &profile, &text, &file[33..]].concat();
    assert_eq!(full(&bomb).damaged, None);
}

#[test]
fn graphics_are_lossless_where_that_is_smaller() {
    let is_lossless = |picture: &DynamicImage, format: Format| {
        let rendered = full(&encode(picture, format));
        let webp = &rendered.renditions[0].webp;
        let lossless = webp[12..16] == *b"VP8L";
        let exact = unpack(&rendered.renditions[0]) == picture.to_rgba8();
        assert_eq!(lossless, exact);
        lossless
    };
    // Modules as of a QR code, and lines as of a screenshot.
    let code = DynamicImage::from(image::RgbImage::from_fn(290, 290, |x, y| {
        let (column, row) = (x / 10, y / 10);
        image::Rgb(if (column * 7 + row * row * 3 + column * row) % 5 < 2 { [0; 3] } else { [255; 3] })
    }));
    let lines = DynamicImage::from(image::RgbImage::from_fn(600, 400, |x, y| {
        image::Rgb(if y % 20 < 8 && x % 9 == 3 { [40, 60, 200] } else { [250, 250, 245] })
    }));
    let noise = DynamicImage::from(image::RgbImage::from_fn(200, 200, |x, y| {
        let value = (x.wrapping_mul(2_654_435_761) ^ y.wrapping_mul(40_503)).wrapping_mul(2_246_822_519);
        let [r, g, b, _] = value.to_be_bytes();
        image::Rgb([r, g, b])
    }));
    for format in [Format::Png, Format::Gif, Format::WebP] {
        assert!(is_lossless(&code, format), "{format:?}");
    }
    assert!(is_lossless(&lines, Format::Png));
    assert!(!is_lossless(&noise, Format::Png));
    assert!(full(&encode(&code, Format::Jpeg)).renditions[0].webp[12..16] == *b"VP8 ");
}

#[test]
fn memory_estimate_grows_with_the_renditions() {
    let bytes = |file: &[u8], wanted: &[Rendition]| {
        probe(file, &Limits::default()).unwrap().decode_memory_bytes(wanted)
    };
    // A JPEG is encoded from its planes, other formats from RGB with alpha.
    for (format, bytes_per_pixel) in [(Format::Jpeg, 4), (Format::Png, 9)] {
        let file = encode(&DynamicImage::from(quarters(2000, 2000)), format);
        assert!(bytes(&file, &[Full]) >= 4_000_000 * bytes_per_pixel, "{format:?}");
        assert!(bytes(&file, &[Full]) < bytes(&file, &[Full, Medium]), "{format:?}");
        assert!(bytes(&file, &[Medium]) < bytes(&file, &[Full, Medium]), "{format:?}");
    }
}

/// Calls every function on a file, with a small limit.
fn call_everything(file: &[u8]) {
    let limits = Limits { max_pixels: 4_000_000 };
    let _ = metadata(file, &FileInfo::added_at(Timestamp::MAX));
    let probed = probe(file, &limits);
    let rendered = render(file, &[Medium, Thumb], &limits);
    assert!(probed.is_ok() || rendered.is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn arbitrary_bytes_never_panic(
        head in prop::sample::select(vec![&b"\xFF\xD8\xFF"[..], b"\x89PNG\r\n\x1A\n", b"RIFF\0\0\0\0WEBP", b"GIF89a", b""]),
        rest in prop::collection::vec(any::<u8>(), 0..400),
    ) {
        call_everything(&[head, &rest].concat());
    }

    #[test]
    fn mutated_files_never_panic(
        which in 0..4_usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
        keep in any::<prop::sample::Index>(),
        cut in any::<bool>(),
    ) {
        let (format, file) = small_files().swap_remove(which);
        let block = ExifBlock::default()
            .number(Directory::Primary, tag::ORIENTATION, Number::Short(6))
            .text(Directory::Exif, tag::DATE_TIME_ORIGINAL, "2019:07:04 18:03:22")
            .build();
        let mut file = with_exif(format, &file, &block);
        for (at, value) in changes {
            let at = at.index(file.len());
            file[at] = value;
        }
        if cut {
            file.truncate(keep.index(file.len()));
        }
        call_everything(&file);
    }
}
