//! Truncated files, unsupported features and false sizes.

use super::*;
use crate::container::tiff::Fax3;
use crate::tiff::Structure;

#[test]
fn readable_part_of_a_truncated_file_is_kept() {
    for compression in [1, 5, 8, 32_773] {
        for (rows_per_strip, predictor, tiles) in
            [(18, 1, None), (18, 2, None), (3, 2, None), (18, 1, Some((16, 16)))]
        {
            let tiff = TestTiff { compression, rows_per_strip, predictor, tiles, ..TestTiff::default() };
            let whole = unpack_file(&tiff.file()).unwrap().pixels.bytes;
            let (file, pixels) = with_pixels_last(&tiff);
            assert_eq!(unpack_file(&file).unwrap().pixels.bytes, whole);
            let cut = &file[..file.len() - pixels / 2];
            let decoded = unpack_file(cut).unwrap();
            assert!(decoded.damaged.is_some(), "{compression}");
            assert_eq!(
                decoded.pixels.bytes[..20 * 3],
                whole[..20 * 3],
                "{compression} {rows_per_strip} {tiles:?}"
            );
        }
    }
}

/// The file with its pixels at the end, and their length.
fn with_pixels_last(tiff: &TestTiff) -> (Vec<u8>, usize) {
    let file = tiff.file();
    let structure = Structure::read(&file).unwrap();
    let (tag, offsets) =
        [273, 324].into_iter().find_map(|tag| Some((tag, structure.first().entry(tag)?))).unwrap();
    let pixels = &file[8..usize::try_from(u32::from_le_bytes(file[4..8].try_into().unwrap())).unwrap()];
    let added = u64::try_from(file.len() - 8).unwrap();
    let offsets = offsets.numbers().map(|offset| u32::try_from(offset + added).unwrap()).collect();
    let more = [tiff.more.clone(), vec![(tag, Value::Longs(offsets))]].concat();
    // The lengths do not change.
    let moved = TestTiff { more, ..tiff.clone() }.file();
    ([&moved, pixels].concat(), pixels.len())
}

#[test]
fn blank_fax_with_a_short_row_is_kept() {
    for compression in [2, 3] {
        let tiff = TestTiff {
            value: |_, _, _| 0,
            bits: 1,
            samples: 1,
            photometric: 0,
            compression,
            rows_per_strip: 18,
            ..TestTiff::default()
        };
        let mut file = tiff.file();
        let whole = unpack_file(&file).unwrap();
        assert_eq!(whole.damaged, None);
        if compression == 2 {
            // Each row is one byte.
            assert_eq!(file[8..26], [0b0001_0000; 18]);
            file[8 + 5] = 0;
        } else {
            // Each row is an end-of-line code of 12 bits and the code for 20 white pixels, 0001000. The code is changed to that for
            // 2 white pixels.
            for bit in [5 * 19 + 13, 5 * 19 + 14] {
                file[8 + bit / 8] |= 0x80 >> (bit % 8);
            }
        }
        let read = unpack_file(&file).unwrap();
        assert_eq!(read.damaged.as_deref(), Some("the fax data are damaged"), "{compression}");
        assert!(read.pixels == whole.pixels, "{compression}");
        let strip_bytes = if compression == 2 { 18 } else { 43 };
        file[8..8 + strip_bytes].fill(0);
        assert!(unpack_file(&file).is_err(), "{compression}: no row is whole");
    }
}

#[test]
fn unsupported_features_are_named() {
    let check = |more: Vec<(u16, Value)>, expect: &str| {
        let error = unpack_file(&TestTiff { more, ..TestTiff::default() }.file()).unwrap_err();
        assert_eq!(error.to_string(), format!("the picture cannot be read: {expect}"));
    };
    let short = |tag, value| vec![(tag, Value::Shorts(vec![value]))];
    check(short(259, 34_712), "JPEG 2000 compression is not supported");
    check(short(259, 50_000), "Zstandard compression is not supported");
    check(short(259, 4711), "compression 4711 is not supported");
    check(short(262, 32_845), "colour space 32845 is not supported");
    check(short(262, 3), "this pixel format is not supported");
    check(short(262, 5), "it has too few samples for its colours");
    check(short(277, 60_000), "it has 60000 samples in each pixel");
    check(short(277, 0), "it has 0 samples in each pixel");
    check(short(339, 2), "signed samples are not supported");
    check(short(339, 3), "this pixel format is not supported");
    check(vec![(258, Value::Shorts(vec![5, 6, 5]))], "samples of different lengths are not supported");
}

/// A file with false sizes is refused or read in part. It does not cost the time and memory that the declared sizes would need.
#[test]
fn false_sizes_cost_no_time_or_memory() {
    let long = |tag, value| (tag, Value::Longs(vec![value]));
    let check = |what: &str, more: Vec<(u16, Value)>, tiff: TestTiff| {
        let file = TestTiff { more, ..tiff }.file();
        let limits = crate::Limits { max_pixels: 1_000_000 };
        let probed = crate::probe(&file, &limits);
        let rendered = crate::render(&file, &[domain::Rendition::Thumb], &limits);
        assert!(probed.is_ok() || rendered.is_err(), "{what}");
    };
    for compression in [1, 5, 7, 8, 32_773] {
        let plain = TestTiff { compression, ..TestTiff::default() };
        let tiled = TestTiff { tiles: Some((16, 16)), ..plain.clone() };
        check("a huge width", vec![long(256, u32::MAX)], plain.clone());
        check("a huge height", vec![long(257, u32::MAX)], plain.clone());
        check(
            "a high picture in one column",
            vec![long(256, 1), long(257, 1_000_000), long(278, 1)],
            plain.clone(),
        );
        check("no rows in a strip", vec![long(278, 0)], plain.clone());
        check("huge strips", vec![long(278, u32::MAX)], plain.clone());
        check("strips far away", vec![(273, Value::Longs(vec![u32::MAX; 3]))], plain.clone());
        check("strips of huge lengths", vec![(279, Value::Longs(vec![u32::MAX; 3]))], plain.clone());
        check(
            "a hundred thousand strips",
            vec![(273, Value::Longs(vec![8; 100_000])), long(257, 100_000), long(278, 1)],
            plain,
        );
        check("huge tiles", vec![long(322, u32::MAX), long(323, u32::MAX)], tiled.clone());
        check("wide tiles", vec![long(322, 1 << 30)], tiled.clone());
        check("tiles without a size", vec![long(322, 0), long(323, 0)], tiled.clone());
        check("tiny tiles", vec![long(256, 1000), long(257, 1000), long(322, 1), long(323, 1)], tiled);
    }
}

#[test]
fn too_many_chunks_are_refused() {
    let more = vec![
        (256, Value::Longs(vec![10_000])),
        (257, Value::Longs(vec![10_000])),
        (322, Value::Longs(vec![2])),
    ];
    let tiff = TestTiff { tiles: Some((16, 16)), more, ..TestTiff::default() };
    let error = unpack_file(&tiff.file()).unwrap_err();
    assert_eq!(error.to_string(), "the picture cannot be read: it has 3125000 strips or tiles");
}

#[test]
fn directory_beyond_the_end_is_an_error() {
    let file = TestTiff::default().file();
    for length in [0, 2, 4, 7, 8, file.len() / 2] {
        assert!(unpack_file(&file[..length]).is_err(), "{length}");
    }
    assert_eq!(unpack_file(&file[..8]).unwrap_err(), MediaError::Truncated);
}

/// A TIFF of any kind.
fn any_tiff() -> impl Strategy<Value = TestTiff> {
    let kinds = prop::sample::select(vec![
        (1, 8),
        (2, 1),
        (3, 1),
        (4, 1),
        (6, 8),
        (5, 8),
        (5, 16),
        (8, 32),
        (32_773, 8),
    ]);
    let places = prop::sample::select(vec![None, Some((16, 16)), Some((32, 16))]);
    (kinds, places, any::<(bool, bool, bool)>(), 1_u16..=3).prop_map(
        |((compression, bits), tiles, (planar, big_endian, big), predictor)| {
            let samples = if bits == 1 { 1 } else { 3 };
            let predictor = if bits > 1 && (predictor < 3 || bits == 32) { predictor } else { 1 };
            let more = if predictor == 3 { vec![(339, Value::Shorts(vec![3]))] } else { vec![] };
            TestTiff {
                value: |x, y, s| u64::from((x * 13 + y * 29 + s * 71) % 2),
                photometric: if samples == 1 { 0 } else { 2 },
                compression,
                bits,
                samples,
                tiles,
                planar,
                big_endian,
                big,
                predictor,
                more,
                ..TestTiff::default()
            }
        },
    )
}

proptest! {
    #[test]
    fn changed_files_never_panic(
        tiff in any_tiff(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        length in any::<prop::sample::Index>(),
        is_cut in any::<bool>(),
    ) {
        let mut file = tiff.file();
        for (at, byte) in changes {
            let at = at.index(file.len());
            file[at] = byte;
        }
        if is_cut {
            file.truncate(length.index(file.len()));
        }
        let limits = crate::Limits { max_pixels: 100_000 };
        let _ = crate::render(&file, &[domain::Rendition::Thumb], &limits);
    }

    #[test]
    fn fax_of_arbitrary_bytes_has_all_rows(
        kind in prop::sample::select(vec![Fax3::Plain, Fax3::ByteAligned, Fax3::TwoDimensional]),
        width in 1_u32..200,
        height in 1_u32..20,
        // End-of-line codes among noise.
        parts in prop::collection::vec(
            prop_oneof![Just(vec![0, 0x18]), Just(vec![0, 1]), prop::collection::vec(any::<u8>(), 0..12)],
            0..40,
        ),
    ) {
        let ((rows, _), _) = fax::group_3(&parts.concat(), width, height, kind);
        prop_assert_eq!(rows.len(), usize::try_from(width.div_ceil(8) * height).unwrap());
    }

    #[test]
    fn arbitrary_bytes_never_panic(
        head in prop::sample::select(vec![&b"II*\0\x08\0\0\0"[..], b"MM\0*\0\0\0\x08", b"II+\0\x08\0\0\0\x10\0\0\0\0\0\0\0"]),
        rest in prop::collection::vec(any::<u8>(), 0..400),
    ) {
        let file = [head, &rest].concat();
        let _ = crate::render(&file, &[domain::Rendition::Thumb], &crate::Limits { max_pixels: 100_000 });
    }
}
