//! Every colour space and sample format.

use super::*;

#[test]
fn grey_of_every_depth_is_read() {
    let check_bits = |bits: u16, value: fn(u32, u32, u32) -> u64, expect: fn(u64) -> u64| {
        for big_endian in [false, true] {
            let tiff =
                TestTiff { bits, value, samples: 1, photometric: 1, big_endian, ..TestTiff::default() };
            let bytes = bytes_of(&tiff, |x, y| vec![u8::try_from(expect(gradient(x, y, 0))).unwrap()]);
            check(&tiff, Layout::Gray, &bytes);
            let inverted = bytes.iter().map(|byte| 255 - byte).collect::<Vec<_>>();
            check(&TestTiff { photometric: 0, ..tiff.clone() }, Layout::Gray, &inverted);
        }
    };
    check_bits(1, |x, y, s| gradient(x, y, s) >> 7, |value| (value >> 7) * 255);
    check_bits(2, |x, y, s| gradient(x, y, s) >> 6, |value| (value >> 6) * 85);
    check_bits(3, |x, y, s| gradient(x, y, s) >> 5, |value| ((value >> 5) * 255 + 3) / 7);
    check_bits(4, |x, y, s| gradient(x, y, s) >> 4, |value| (value >> 4) * 17);
    check_bits(8, gradient, |value| value);
    check_bits(12, |x, y, s| gradient(x, y, s) << 4 | 9, |value| value);
    check_bits(16, |x, y, s| gradient(x, y, s) << 8 | 0x55, |value| value);
    check_bits(64, |x, y, s| gradient(x, y, s) << 56 | 0x5555, |value| value);
}

#[test]
fn floating_point_samples_are_read() {
    let value_32: fn(u32, u32, u32) -> u64 =
        |x, y, s| u64::from((gradient(x, y, s) as f32 / 255.0).to_bits());
    let value_64: fn(u32, u32, u32) -> u64 = |x, y, s| (gradient(x, y, s) as f64 / 255.0).to_bits();
    for (bits, value) in [(32, value_32), (64, value_64)] {
        for (big_endian, predictor, compression) in
            [(false, 1, 1), (true, 1, 1), (false, 3, 8), (true, 3, 8), (false, 3, 5), (true, 2, 5)]
        {
            let more = vec![(339, Value::Shorts(vec![3, 3, 3]))];
            let tiff =
                TestTiff { bits, value, big_endian, predictor, compression, more, ..TestTiff::default() };
            check(&tiff, Layout::Rgb, &gradient_bytes(&tiff));
        }
    }
    // Out of range, not a number, and half precision.
    let bytes = |value: f32| unit_to_byte_of(32, u64::from(value.to_bits()));
    assert_eq!([-1.0, 0.5, 7.0, f32::NAN, f32::INFINITY].map(bytes), [0, 128, 255, 0, 255]);
    assert_eq!(
        [0x0000, 0x3800, 0x3C00, 0x7C00, 0x7E00, 0xBC00].map(|half| unit_to_byte_of(16, half)),
        [0, 128, 255, 255, 0, 0]
    );
}

/// The byte for a grey sample.
fn unit_to_byte_of(bits: u16, stored: u64) -> u8 {
    // The pixel beside it is white, because a uniform picture counts as not decoded.
    let mut writer = Writer::new(true, false);
    let data = writer.data(&ordered(stored, usize::from(bits / 8), true));
    let entries = [
        (256, Value::Longs(vec![1])),
        (257, Value::Longs(vec![1])),
        (258, Value::Shorts(vec![bits])),
        (262, Value::Shorts(vec![1])),
        (273, Value::Longs(vec![data])),
        (339, Value::Shorts(vec![3])),
    ];
    let first = writer.directory(&entries, 0);
    unpack_file(&writer.finish(first)).unwrap().pixels.bytes[0]
}

#[test]
fn palettes_are_applied() {
    for bits in [1_u16, 2, 4, 8, 16] {
        let colours = 1_u32 << bits;
        // Red rises with the index, green falls, blue is its lowest bit.
        let red = (0..colours).map(|index| index * 255 / (colours - 1));
        let green = red.clone().map(|red| 255 - red);
        let blue = (0..colours).map(|index| (index & 1) * 200);
        let channels: Vec<u32> = red.chain(green).chain(blue).collect();
        let value: fn(u32, u32, u32) -> u64 = match bits {
            1 => |x, y, s| gradient(x, y, s) >> 7,
            2 => |x, y, s| gradient(x, y, s) >> 6,
            4 => |x, y, s| gradient(x, y, s) >> 4,
            8 => gradient,
            _ => |x, y, s| gradient(x, y, s) << 8 | 0x11,
        };
        for scale in [257, 1] {
            let map = channels.iter().map(|value| u16::try_from(value * scale).unwrap()).collect();
            let more = vec![(320, Value::Shorts(map))];
            for big_endian in [false, true] {
                let tiff = TestTiff {
                    bits,
                    value,
                    samples: 1,
                    photometric: 3,
                    big_endian,
                    more: more.clone(),
                    ..TestTiff::default()
                };
                let expect = bytes_of(&tiff, |x, y| {
                    let index = usize::try_from(value(x, y, 0)).unwrap();
                    let colours = usize::try_from(colours).unwrap();
                    [0, 1, 2]
                        .map(|channel| u8::try_from(channels[channel * colours + index]).unwrap())
                        .to_vec()
                });
                check(&tiff, Layout::Rgb, &expect);
            }
        }
    }
}

#[test]
fn alpha_is_read_and_other_samples_are_ignored() {
    let with = |photometric, samples, extra: &[u16], planar| {
        let more = if extra.is_empty() { vec![] } else { vec![(338, Value::Shorts(extra.to_vec()))] };
        TestTiff { photometric, samples, planar, more, ..TestTiff::default() }
    };
    let first = |tiff: &TestTiff, channels: u32| {
        bytes_of(tiff, |x, y| (0..channels).map(|s| u8::try_from(gradient(x, y, s)).unwrap()).collect())
    };
    for planar in [false, true] {
        for (photometric, samples, extra, layout) in [
            (2, 4, &[2][..], Layout::Rgba),
            (2, 4, &[], Layout::Rgba),
            (2, 4, &[0], Layout::Rgb),
            (2, 5, &[2, 0], Layout::Rgba),
            (2, 6, &[0, 0, 0], Layout::Rgb),
            (1, 2, &[2], Layout::GrayAlpha),
            (1, 2, &[0], Layout::Gray),
            (5, 4, &[], Layout::Cmyk { inverted: false }),
            (5, 5, &[2], Layout::Cmyk { inverted: false }),
        ] {
            let tiff = with(photometric, samples, extra, planar);
            let channels = u32::try_from(layout.channels()).unwrap();
            check(&tiff, layout, &first(&tiff, channels));
        }
        // Inverted grey does not invert alpha.
        let tiff = with(0, 2, &[2], planar);
        let expect =
            first(&tiff, 2).chunks(2).flat_map(|pixel| [255 - pixel[0], pixel[1]]).collect::<Vec<_>>();
        check(&tiff, Layout::GrayAlpha, &expect);
    }
}

#[test]
fn premultiplied_alpha_becomes_straight() {
    fn darkened(x: u32, _: u32, sample: u32) -> u64 {
        match (x % 3, sample) {
            (0, 3) => 255,
            (0, _) => 100 + u64::from(sample),
            (1, 3) => 128,
            (1, _) => 100 + u64::from(sample),
            _ => 0,
        }
    }
    for planar in [false, true] {
        let more = vec![(338, Value::Shorts(vec![1]))];
        let tiff = TestTiff { samples: 4, value: darkened, planar, more, ..TestTiff::default() };
        let expect = bytes_of(&tiff, |x, _| match x % 3 {
            0 => vec![100, 101, 102, 255],
            1 => vec![199, 201, 203, 128],
            _ => vec![0, 0, 0, 0],
        });
        check(&tiff, Layout::Rgba, &expect);
    }
}

#[test]
fn lab_becomes_srgb() {
    // A grey and a red, signed and unsigned, with 8 and 16 bits.
    fn signed(x: u32, _: u32, sample: u32) -> u64 {
        [[137, 0, 0], [137, 81, 70]][usize::try_from(x % 2).unwrap()][usize::try_from(sample).unwrap()]
    }
    fn unsigned(x: u32, y: u32, sample: u32) -> u64 {
        signed(x, y, sample) + if sample == 0 { 0 } else { 128 }
    }
    fn signed_16(x: u32, y: u32, sample: u32) -> u64 {
        signed(x, y, sample) << 8
    }
    for (photometric, bits, value) in
        [(8, 8, signed as fn(u32, u32, u32) -> u64), (9, 8, unsigned), (8, 16, signed_16)]
    {
        let decoded =
            unpack_file(&TestTiff { photometric, bits, value, ..TestTiff::default() }.file()).unwrap();
        let near = |found: &[u8], expect: [u8; 3]| found.iter().zip(expect).all(|(a, b)| a.abs_diff(b) <= 4);
        assert!(near(&decoded.pixels.bytes[..3], [128; 3]), "{:?}", &decoded.pixels.bytes[..6]);
        assert!(near(&decoded.pixels.bytes[3..6], [255, 0, 0]), "{:?}", &decoded.pixels.bytes[..6]);
    }
}

#[test]
fn ycbcr_becomes_rgb() {
    // Units of 2 × 2, 1 × 1, 4 × 1 pixels: red on the left, grey on the right.
    for (across, down) in [(2_u32, 2_u32), (1, 1), (4, 1), (2, 1)] {
        let (width, height) = (10_u32, 5_u32);
        let units = (0..height.div_ceil(down)).flat_map(|_| 0..width.div_ceil(across)).flat_map(|unit| {
            let is_red = unit * across < 4;
            let mut bytes = vec![if is_red { 76 } else { 128 }; usize::try_from(across * down).unwrap()];
            bytes.extend(if is_red { [85, 255] } else { [128, 128] });
            bytes
        });
        let mut writer = Writer::new(false, false);
        let data = writer.data(&units.collect::<Vec<u8>>());
        let factor = |factor| u16::try_from(factor).unwrap();
        let entries = [
            (256, Value::Longs(vec![width])),
            (257, Value::Longs(vec![height])),
            (258, Value::Shorts(vec![8, 8, 8])),
            (262, Value::Shorts(vec![6])),
            (273, Value::Longs(vec![data])),
            (277, Value::Shorts(vec![3])),
            (530, Value::Shorts(vec![factor(across), factor(down)])),
        ];
        let first = writer.directory(&entries, 0);
        let decoded = unpack_file(&writer.finish(first)).unwrap();
        assert_eq!(decoded.damaged, None);
        for (place, pixel) in decoded.pixels.bytes.chunks(3).enumerate() {
            let expect = if place % 10 < 4 { [254, 0, 0] } else { [128, 128, 128] };
            assert_eq!(pixel, expect, "{across} × {down}, pixel {place}");
        }
    }
}
