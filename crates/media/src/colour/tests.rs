//! Compares with Little CMS: `fixtures/colour` has pictures of 256 patches with a profile, and the same pictures
//! converted to sRGB by Little CMS 2.19.

use std::borrow::Cow;
use std::path::Path;

use domain::{PixelSize, Rendition};
use image::{DynamicImage, Rgb, RgbImage};
use proptest::prelude::*;

use super::*;
use crate::container::MeasuredColours;
use crate::samples::{encode as encode_file, png_chunk, riff_chunk, riff_file};
use crate::{Format, Limits, render};

/// Every picture in `fixtures/colour`.
const PICTURES: [&str; 11] = [
    "adobe-rgb-grey.png",
    "adobe-rgb.png",
    "display-p3-alpha.png",
    "display-p3.png",
    "grey-dot-gain.png",
    "grey-gamma-2.2.png",
    "grey-lightness.png",
    "inks.jpg",
    "prophoto.png",
    "rgb-stages.png",
    "rgb-table.png",
];

fn read(path: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(path)).unwrap()
}

/// The pixels as stored, with their colour space.
fn stored(file: &[u8]) -> (Pixels, Option<Colour<'_>>) {
    let (_, container) = crate::container::read(file).unwrap();
    let picture = container.picture.unwrap();
    let decoded = crate::decode::decode(&picture, picture.header.size).unwrap();
    (decoded.pixels, container.blocks.colour)
}

fn profile(name: &str) -> Vec<u8> {
    let file = read(&format!("colour/{name}"));
    match stored(&file).1 {
        Some(Colour::Icc(profile)) => profile.into_owned(),
        other => panic!("{name} has {other:?}"),
    }
}

fn icc(profile: &[u8]) -> Colour<'_> {
    Colour::Icc(Cow::Borrowed(profile))
}

fn pixels(layout: Layout, bytes: &[u8]) -> Pixels {
    let width = u32::try_from(bytes.len() / layout.channels()).unwrap();
    Pixels { size: PixelSize { width, height: 1 }, layout, bytes: bytes.to_vec() }
}

/// Red, green and blue of 256 patches. A patch is a pixel; in CMYK it is a block of 8 × 8 pixels.
fn patches(pixels: &Pixels) -> Vec<[u8; 3]> {
    let side = usize::try_from(pixels.size.width).unwrap();
    let block = side / 16;
    let colours: Vec<[u8; 3]> =
        pixels.bytes.chunks(pixels.layout.channels()).map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
    (0..256)
        .map(|patch| colours[(patch / 16 * block + block / 2) * side + patch % 16 * block + block / 2])
        .collect()
}

#[test]
fn colours_match_little_cms() {
    for name in PICTURES {
        let file = read(&format!("colour/{name}"));
        let (before, colour) = stored(&file);
        let (converted, unconverted) = to_srgb(before.clone(), colour.as_ref());
        assert_eq!(unconverted, None, "{name}");
        assert_eq!(converted.layout.has_alpha(), before.layout.has_alpha(), "{name}");

        let (stem, _) = name.rsplit_once('.').unwrap();
        let reference = read(&format!("colour/{stem}.srgb.png"));
        let expect = patches(&stored(&reference).0.into_rgb());
        let differences: Vec<u32> = patches(&converted)
            .as_flattened()
            .iter()
            .zip(expect.as_flattened())
            .map(|(found, expect)| u32::from(found.abs_diff(*expect)))
            .collect();
        let largest = differences.iter().max().unwrap();
        let mean = f64::from(differences.iter().sum::<u32>()) / 768.0;
        assert!(*largest <= 2 && mean <= 0.5, "{name}: mean {mean:.3}, largest {largest}");
    }
}

#[test]
fn measured_colours_match_a_profile() {
    let chromaticities = Some([[31_270, 32_900], [64_000, 33_000], [21_000, 71_000], [15_000, 6_000]]);
    let file = read("colour/adobe-rgb.png");
    let (before, profile) = stored(&file);
    let expect = to_srgb(before.clone(), profile.as_ref()).0;
    let measured = Colour::Measured(MeasuredColours { exponent: Some(45_471), chromaticities });
    let (converted, unconverted) = to_srgb(before, Some(&measured));
    assert_eq!(unconverted, None);
    let differences =
        converted.bytes.iter().zip(&expect.bytes).map(|(found, expect)| found.abs_diff(*expect));
    assert!(differences.max() <= Some(2));
    // The curve of sRGB with its own primaries is the identity.
    let chromaticities = Some([[31_270, 32_900], [64_000, 33_000], [30_000, 60_000], [15_000, 6_000]]);
    assert!(is_srgb(Some(&Colour::Measured(MeasuredColours { exponent: None, chromaticities }))));
    let linear = Colour::Measured(MeasuredColours { exponent: Some(100_000), chromaticities: None });
    assert_eq!(
        to_srgb(pixels(Layout::Gray, &[0, 128, 255]), Some(&linear)).0.bytes,
        [0, 0, 0, 188, 188, 188, 255, 255, 255]
    );
}

proptest! {
    #[test]
    fn measured_colours_never_panic(
        exponent in prop::option::of(10_000..=1_000_000_u32),
        numbers in prop::array::uniform8(0..=100_000_u32),
    ) {
        let [a, b, c, d, e, f, g, h] = numbers;
        let chromaticities = Some([[a, b.max(1)], [c, d.max(1)], [e, f.max(1)], [g, h.max(1)]]);
        let colour = Colour::Measured(MeasuredColours { exponent, chromaticities });
        let _ = to_srgb(pixels(Layout::Rgb, &[0, 128, 255, 9, 8, 7]), Some(&colour));
    }
}

#[test]
fn alpha_does_not_change() {
    let file = read("colour/display-p3-alpha.png");
    let (before, colour) = stored(&file);
    let (after, _) = to_srgb(before, colour.as_ref());
    assert!(after.bytes.chunks(4).map(|pixel| pixel[3]).eq(0..=255));
}

#[test]
fn all_pixels_are_converted() {
    for (layout, name) in [
        (Layout::Rgb, "display-p3.png"),
        (Layout::Rgba, "display-p3.png"),
        (Layout::Cmyk { inverted: false }, "inks.jpg"),
    ] {
        let profile = profile(name);
        let long = pixels(
            layout,
            &[200, 30, 60, 90].repeat(3 * CHUNK_PIXELS + 7)[..layout.channels() * (3 * CHUNK_PIXELS + 7)],
        );
        let (converted, _) = to_srgb(long.clone(), Some(&icc(&profile)));
        for at in [0, CHUNK_PIXELS - 1, CHUNK_PIXELS, 3 * CHUNK_PIXELS + 6] {
            let channels = layout.channels();
            let one = pixels(layout, &long.bytes[at * channels..(at + 1) * channels]);
            let (one, _) = to_srgb(one, Some(&icc(&profile)));
            let channels = one.layout.channels();
            assert_eq!(one.bytes, converted.bytes[at * channels..(at + 1) * channels], "{layout:?} {at}");
        }
    }
}

#[test]
fn srgb_profiles_are_the_identity() {
    let facebook = read("samples/polemonium.jpg");
    let Some(Colour::Icc(compact)) = stored(&facebook).1 else { panic!() };
    let own = ColorProfile::new_srgb().encode().unwrap();
    for profile in [&*compact, &own] {
        assert!(matches!(icc::conversion(profile), Ok(Conversion::Rgb(RgbConversion::Identity))));
    }
    assert!(matches!(cicp::conversion(1, 13), Ok(Conversion::Rgb(RgbConversion::Identity))));
    assert!(matches!(cicp::conversion(2, 2), Ok(Conversion::Rgb(RgbConversion::Identity))));
}

#[test]
fn profile_for_other_pixels_is_reported() {
    let (rgb, grey, ink) = (profile("display-p3.png"), profile("grey-gamma-2.2.png"), profile("inks.jpg"));
    let check = |layout, bytes: &[u8], profile: &[u8], expect| {
        let plain = pixels(layout, bytes);
        let (converted, unconverted) = to_srgb(plain.clone(), Some(&icc(profile)));
        assert_eq!(unconverted, expect, "{layout:?}");
        assert_eq!(expect.is_some(), converted == plain.into_rgb(), "{layout:?}");
    };
    let cmyk = Layout::Cmyk { inverted: true };
    check(Layout::Rgb, &[200, 30, 60], &ink, Some(ProfileError::Unfit));
    check(Layout::Rgb, &[200, 30, 60], &grey, Some(ProfileError::Unfit));
    check(Layout::Gray, &[30], &ink, Some(ProfileError::Unfit));
    check(cmyk, &[200, 30, 60, 90], &rgb, Some(ProfileError::Unfit));
    check(cmyk, &[200, 30, 60, 90], &grey, Some(ProfileError::Unfit));
    check(Layout::Rgb, &[200, 30, 60], b"not a profile", Some(ProfileError::Unreadable));
    check(Layout::Rgb, &[200, 30, 60], &rgb[..200], Some(ProfileError::Unreadable));
    check(Layout::Rgb, &[200, 30, 60], &vec![0; icc::MAX_PROFILE_BYTES + 1], Some(ProfileError::Unreadable));
    // Grey in three channels.
    check(Layout::Rgba, &[30, 30, 30, 9], &grey, None);
}

#[test]
fn profile_with_too_many_tags_is_refused() {
    let mut profile = profile("rgb-table.png");
    profile.resize(profile.len() + 12 * 200, 0);
    profile[128..132].copy_from_slice(&101_u32.to_be_bytes());
    assert!(matches!(icc::conversion(&profile), Err(ProfileError::Unreadable)));
}

#[test]
fn single_intent_profile_is_used_for_every_intent() {
    let mut profile = profile("rgb-table.png");
    let before = pixels(Layout::Rgb, &[200, 30, 60]);
    let (expect, _) = to_srgb(before.clone(), Some(&icc(&profile)));
    let at = profile.windows(4).position(|name| name == b"A2B0").unwrap();
    profile[at + 3] = b'1';
    assert_eq!(to_srgb(before, Some(&icc(&profile))), (expect, None));
}

/// Expected values by the formulas of BT.2100 in double precision.
#[test]
fn highlights_are_tone_mapped() {
    let check = |primaries, transfer, expect: [([u8; 3], [u8; 3]); 8]| {
        for (before, expect) in expect {
            let colour = Colour::Cicp { primaries, transfer };
            let (after, unconverted) = to_srgb(pixels(Layout::Rgb, &before), Some(&colour));
            assert_eq!(unconverted, None);
            let near = after.bytes.iter().zip(&expect).all(|(found, expect)| found.abs_diff(*expect) <= 1);
            assert!(near, "{primaries} {transfer} {before:?}: {:?}, not {expect:?}", after.bytes);
        }
    };
    let grey = |value| [value; 3];
    let (a, b, c) = ([160, 90, 40], [40, 120, 200], [20, 180, 20]);
    let pq = [
        (grey(0), grey(0)),
        (grey(60), grey(39)),
        (grey(100), grey(107)),
        (grey(148), grey(240)),
        (grey(255), grey(255)),
    ];
    let hlg = [
        (grey(0), grey(0)),
        (grey(60), grey(57)),
        (grey(148), grey(165)),
        (grey(191), grey(240)),
        (grey(255), grey(255)),
    ];
    let with = |[g0, g1, g2, g3, g4]: [([u8; 3], [u8; 3]); 5], colours: [[u8; 3]; 3]| {
        [g0, g1, g2, g3, g4, (a, colours[0]), (b, colours[1]), (c, colours[2])]
    };
    check(9, cicp::PQ, with(pq, [[252, 0, 0], [0, 59, 255], [0, 254, 0]]));
    check(9, cicp::HLG, with(hlg, [[206, 81, 20], [0, 124, 241], [0, 230, 0]]));
    check(12, cicp::PQ, with(pq, [[250, 35, 0], [0, 62, 255], [0, 254, 0]]));
    check(12, cicp::HLG, with(hlg, [[184, 91, 22], [0, 123, 241], [0, 224, 0]]));
}

#[test]
fn code_points_equal_the_matching_profile() {
    let file = read("colour/display-p3.png");
    let (before, colour) = stored(&file);
    let by_profile = to_srgb(before.clone(), colour.as_ref()).0;
    for transfer in [1, 2, 6, 13, 14, 15] {
        let by_code_points = to_srgb(before.clone(), Some(&Colour::Cicp { primaries: 12, transfer })).0;
        let differ = by_profile.bytes.iter().zip(&by_code_points.bytes).map(|(a, b)| a.abs_diff(*b)).max();
        assert!(differ <= Some(1), "{transfer}: {differ:?}");
    }
    for (primaries, transfer) in [(3, 13), (255, 13), (10, 13), (12, 9), (12, 255), (255, 16)] {
        assert!(matches!(cicp::conversion(primaries, transfer), Err(ProfileError::Unreadable)));
    }
}

#[test]
fn hdr_profile_is_tone_mapped() {
    let mut profile = profile("display-p3.png");
    // Replaces its description by a tag with code points.
    let entry = profile.windows(4).position(|name| name == b"desc").unwrap();
    let at = profile.windows(4).position(|name| name == b"mluc").unwrap();
    profile[entry..entry + 4].copy_from_slice(b"cicp");
    profile[at..at + 12].copy_from_slice(b"cicp\0\0\0\0\x0C\x10\0\x01");
    assert!(matches!(icc::conversion(&profile), Ok(Conversion::Rgb(RgbConversion::ToneMap(_)))));
    profile[at + 9] = 13;
    assert!(matches!(icc::conversion(&profile), Ok(Conversion::Rgb(RgbConversion::Transform(_)))));
}

/// A file of one colour with a profile, in each format that supports profiles.
fn with_profile(colour: [u8; 3], profile: &[u8]) -> Vec<(Format, Vec<u8>)> {
    let picture = DynamicImage::from(RgbImage::from_pixel(64, 64, Rgb(colour)));
    let jpeg = encode_file(&picture, Format::Jpeg);
    let parts: Vec<&[u8]> = profile.chunks(1000).collect();
    let segments: Vec<u8> = parts
        .iter()
        .zip(1_u8..)
        .flat_map(|(part, number)| {
            let head = [b"ICC_PROFILE\0", &[number, u8::try_from(parts.len()).unwrap()][..]].concat();
            let length = u16::try_from(head.len() + part.len() + 2).unwrap().to_be_bytes();
            [&[0xFF, 0xE2][..], &length, &head, part].concat()
        })
        .collect();
    let png = encode_file(&picture, Format::Png);
    let packed = {
        use std::io::Write as _;
        let mut packer = flate2::write::ZlibEncoder::new(b"p\0\0".to_vec(), flate2::Compression::fast());
        packer.write_all(profile).unwrap();
        packer.finish().unwrap()
    };
    let webp = encode_file(&picture, Format::WebP);
    let extended = riff_chunk(b"VP8X", &[0x20, 0, 0, 0, 63, 0, 0, 63, 0, 0]);
    vec![
        (Format::Jpeg, [&jpeg[..2], &segments, &jpeg[2..]].concat()),
        (Format::Png, [&png[..33], &png_chunk(b"iCCP", &packed), &png[33..]].concat()),
        (Format::WebP, riff_file(&[&extended, &riff_chunk(b"ICCP", profile)[..], &webp[12..]].concat())),
    ]
}

#[test]
fn renditions_are_in_srgb() {
    // The values of Little CMS.
    let (p3, srgb) = ([200, 80, 60], [216, 72, 49]);
    for (format, file) in with_profile(p3, &profile("display-p3.png")) {
        let rendered = render(&file, &[Rendition::Medium, Rendition::Thumb], &Limits::default()).unwrap();
        assert_eq!(rendered.damaged, None, "{format:?}");
        for made in rendered.renditions {
            let found = image::load_from_memory(&made.webp).unwrap().to_rgb8();
            let near =
                found.get_pixel(32, 32).0.iter().zip(srgb).all(|(found, expect)| found.abs_diff(expect) <= 5);
            assert!(near, "{format:?} {:?}", found.get_pixel(32, 32));
        }
    }
}

#[test]
fn broken_profile_is_reported_and_the_picture_kept() {
    for (format, file) in with_profile([200, 80, 60], &[7; 3000]) {
        let rendered = render(&file, &[Rendition::Thumb], &Limits::default()).unwrap();
        let note = "the colour profile is unreadable; the colours are treated as sRGB";
        assert_eq!(rendered.damaged.as_deref(), Some(note), "{format:?}");
        assert_eq!(rendered.renditions.len(), 1);
    }
}

/// Converts pixels of every layout with a profile.
fn use_profile(profile: &[u8]) {
    let Ok(conversion) = icc::conversion(profile) else { return };
    let bytes: Vec<u8> = (0..=255).chain((0..=255).rev()).chain([255; 256]).collect();
    for layout in
        [Layout::Gray, Layout::GrayAlpha, Layout::Rgb, Layout::Rgba, Layout::Cmyk { inverted: true }]
    {
        let (converted, _) = conversion.apply(pixels(layout, &bytes));
        assert_eq!(converted.bytes.len(), bytes.len() / layout.channels() * converted.layout.channels());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn arbitrary_profiles_never_panic(
        space in prop::sample::select(vec![b"RGB XYZ ", b"RGB Lab ", b"GRAYXYZ ", b"CMYKLab ", b"CMYKXYZ ", b"Lab RGB "]),
        names in prop::collection::vec(prop::sample::select(vec![b"A2B0", b"A2B1", b"rXYZ", b"rTRC", b"gTRC", b"kTRC", b"cicp"]), 0..6),
        kind in prop::sample::select(vec![b"mft1", b"mft2", b"mAB ", b"curv", b"para", b"XYZ "]),
        body in prop::collection::vec(prop_oneof![Just(0), Just(1), Just(2), Just(3), Just(4), Just(255), any::<u8>()], 0..900),
    ) {
        let mut profile = vec![0; 128];
        profile[8] = 4;
        profile[12..24].copy_from_slice(&[b"mntr", &space[..]].concat());
        profile[36..40].copy_from_slice(b"acsp");
        profile.extend(u32::try_from(names.len()).unwrap().to_be_bytes());
        let start = u32::try_from(132 + 12 * names.len()).unwrap().to_be_bytes();
        let length = u32::try_from(body.len() + 4).unwrap().to_be_bytes();
        for name in names {
            profile.extend([&name[..], &start, &length].concat());
        }
        profile.extend([&kind[..], &body].concat());
        use_profile(&profile);
    }

    #[test]
    fn mutated_profiles_never_panic(
        name in prop::sample::select(PICTURES.to_vec()),
        changes in prop::collection::vec((0..900_usize, any::<u8>()), 1..8),
        far_changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        keep in any::<prop::sample::Index>(),
        cut in any::<bool>(),
    ) {
        let mut profile = profile(name);
        let length = profile.len();
        let far_changes = far_changes.into_iter().map(|(at, value)| (at.index(length), value));
        for (at, value) in changes.into_iter().chain(far_changes) {
            if let Some(byte) = profile.get_mut(at) {
                *byte = value;
            }
        }
        if cut {
            profile.truncate(keep.index(length));
        }
        use_profile(&profile);
    }
}
