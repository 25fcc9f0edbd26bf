use domain::PixelSize;
use image::DynamicImage;
use proptest::prelude::*;

use super::*;
use crate::samples::{ExifBlock, Number, encode, quarters, with_exif};
use crate::tiff::writer::{Value, Writer};
use crate::tiff::{Directory, Tags, tag};
use crate::{Format, Limits, Orientation};

/// A JPEG of that size.
fn jpeg(width: u32, height: u32) -> Vec<u8> {
    encode(&DynamicImage::from(quarters(width, height)), Format::Jpeg)
}

/// The start of a lossless JPEG, larger than any preview. Sensor data are often stored so.
fn lossless() -> Vec<u8> {
    let mut jpeg = jpeg(8, 8);
    let frame = jpeg.windows(2).position(|bytes| bytes == [0xFF, 0xC0]).unwrap();
    jpeg[frame + 1] = 0xC3;
    jpeg[frame + 5..frame + 9].copy_from_slice(&[0x20, 0, 0x30, 0]);
    jpeg
}

fn number(number: usize) -> Value {
    Value::Longs(vec![u32::try_from(number).unwrap()])
}

fn place(writer: &mut Writer, data: &[u8], (start, length): (u16, u16)) -> Vec<(u16, Value)> {
    vec![(start, Value::Longs(vec![writer.data(data)])), (length, number(data.len()))]
}

/// The entries of a directory with sensor data.
fn sensor(writer: &mut Writer, compression: u16) -> Vec<(u16, Value)> {
    let mut entries = place(writer, &lossless(), (273, 279));
    entries.extend([
        (254, Value::Longs(vec![0])),
        (256, Value::Longs(vec![12_288])),
        (257, Value::Longs(vec![8192])),
        (259, Value::Shorts(vec![compression])),
        (262, Value::Shorts(vec![32_803])),
    ]);
    entries
}

fn camera(exif: u32) -> Vec<(u16, Value)> {
    vec![
        (tag::MAKE, Value::Text("Camera maker")),
        (tag::ORIENTATION, Value::Shorts(vec![8])),
        (tag::EXIF_DIRECTORY, Value::Longs(vec![exif])),
    ]
}

fn shot(writer: &mut Writer) -> u32 {
    writer.directory(&[(tag::DATE_TIME_ORIGINAL, Value::Text("2019:07:04 18:03:22"))], 0)
}

/// A file in each RAW format, with a preview of 800 × 600 pixels among smaller ones.
fn files() -> Vec<(&'static str, Vec<u8>)> {
    let (large, small) = (jpeg(800, 600), jpeg(160, 120));
    let by_tiff = |signature: Option<&[u8]>, big_endian, build: &dyn Fn(&mut Writer) -> u32| {
        let mut writer = Writer::new(big_endian, false);
        let first = build(&mut writer);
        let writer = if let Some(signature) = signature { writer.signed(signature) } else { writer };
        writer.finish(first)
    };
    // First an uncompressed thumbnail; the preview and the sensor data are in its sub-directories.
    let nef = |writer: &mut Writer| {
        let exif = shot(writer);
        let raw = sensor(writer, 34_713);
        let raw = writer.directory(&raw, 0);
        let preview = place(writer, &large, (0x0201, 0x0202));
        let preview = writer.directory(&preview, 0);
        let pixels = writer.data(&[7; 4 * 3 * 3]);
        let mut first = camera(exif);
        first.extend([
            (254, Value::Longs(vec![1])),
            (256, Value::Longs(vec![4])),
            (257, Value::Longs(vec![3])),
            (273, Value::Longs(vec![pixels])),
            (330, Value::Longs(vec![preview, raw])),
        ]);
        writer.directory(&first, 0)
    };
    // The preview is the only strip of a picture; the thumbnail is in a nested sub-directory.
    let dng = |writer: &mut Writer| {
        let exif = shot(writer);
        let mut preview = place(writer, &large, (273, 279));
        preview.extend([(259, Value::Shorts(vec![7])), (262, Value::Shorts(vec![6]))]);
        let preview = writer.directory(&preview, 0);
        let raw = sensor(writer, 7);
        let raw = writer.directory(&raw, 0);
        let mut first = camera(exif);
        first.extend([
            (330, Value::Longs(vec![raw, preview])),
            (0xC612, Value::Bytes(vec![1, 4, 0, 0])),
            (700, Value::Bytes(b"<x:xmpmeta/>".to_vec())),
        ]);
        writer.directory(&first, 0)
    };
    // All directories in one chain; the sensor data are a lossless JPEG.
    let cr2 = |writer: &mut Writer| {
        writer.data(b"CR\x02\0\0\0\0\0");
        let exif = shot(writer);
        let raw = sensor(writer, 6);
        let raw = writer.directory(&raw, 0);
        let thumbnail = place(writer, &small, (0x0201, 0x0202));
        let thumbnail = writer.directory(&thumbnail, raw);
        let mut first = camera(exif);
        first.extend(place(writer, &large, (273, 279)));
        first.push((259, Value::Shorts(vec![6])));
        writer.directory(&first, thumbnail)
    };
    let rw2 = |writer: &mut Writer| {
        let exif = shot(writer);
        let mut first = camera(exif);
        first.push((0x002E, Value::Undefined(large.clone())));
        writer.directory(&first, 0)
    };
    // Only the maker note, which is not read, refers to the preview.
    let orf = |writer: &mut Writer| {
        let exif = shot(writer);
        writer.data(&[&[0xFF, 0xD8, 0xFF, 0xD8, 0xFF, 0x11][..], &small, &large, &lossless()].concat());
        let first = camera(exif);
        writer.directory(&first, 0)
    };
    let from_camera = with_exif(Format::Jpeg, &large, &exif_block());
    let mut raf = b"FUJIFILMCCD-RAW 0201FF389501".to_vec();
    raf.resize(84, 0);
    raf.extend(u32::to_be_bytes(148));
    raf.extend(u32::try_from(from_camera.len()).unwrap().to_be_bytes());
    raf.resize(148, 0);
    raf.extend(&from_camera);
    raf.extend([0xFF; 100]);
    vec![
        ("NEF", by_tiff(None, true, &nef)),
        ("DNG", by_tiff(None, false, &dng)),
        ("CR2", by_tiff(None, false, &cr2)),
        ("RW2", by_tiff(Some(b"IIU\0"), false, &rw2)),
        ("ORF", by_tiff(Some(b"IIRO"), false, &orf)),
        ("old ORF", by_tiff(Some(b"MMOR"), true, &orf)),
        ("RAF", raf),
        ("CR3", cr3(&[(&large, true)], Some(&small))),
        ("CR3 without its full picture", cr3(&[], Some(&large))),
        ("MRW", [&b"\0MRM\0\0\x10\0"[..], &from_camera, &lossless()].concat()),
    ]
}

fn exif_block() -> Vec<u8> {
    ExifBlock::default()
        .text(Directory::Primary, tag::MAKE, "Camera maker")
        .number(Directory::Primary, tag::ORIENTATION, Number::Short(8))
        .text(Directory::Exif, tag::DATE_TIME_ORIGINAL, "2019:07:04 18:03:22")
        .build()
}

fn boxed(kind: &[u8; 4], content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len() + 8).unwrap().to_be_bytes();
    [&length[..], kind, content].concat()
}

fn own(uuid: u128, content: &[u8]) -> Vec<u8> {
    boxed(b"uuid", &[&uuid.to_be_bytes()[..], content].concat())
}

/// A CR3 with tracks of one sample each (with 64-bit offsets or not) and a preview.
fn cr3(tracks: &[(&[u8], bool)], preview: Option<&[u8]>) -> Vec<u8> {
    let part = |directory, exif: bool| {
        let block = if exif {
            // Each directory is the first one of its structure.
            ExifBlock::default().text(Directory::Primary, tag::DATE_TIME_ORIGINAL, "2019:07:04 18:03:22")
        } else {
            ExifBlock::default().text(Directory::Primary, tag::MAKE, "Camera maker").number(
                Directory::Primary,
                tag::ORIENTATION,
                Number::Short(8),
            )
        };
        boxed(directory, &block.build())
    };
    let gps = ExifBlock::default()
        .text(Directory::Primary, tag::GPS_LATITUDE_REF, "N")
        .rationals(Directory::Primary, tag::GPS_LATITUDE, &[(48, 1), (51, 1), (0, 1)])
        .build();
    let metadata = own(
        u128::from_be_bytes(*b"\x85\xC0\xB6\x87\x82\x0F\x11\xE0\x81\x11\xF4\xCE\x46\x2B\x6A\x48"),
        &[
            boxed(b"CNCV", b"CanonCR3_001/00.09.00/00.00.00"),
            part(b"CMT1", false),
            part(b"CMT2", true),
            boxed(b"CMT4", &gps),
            boxed(b"THMB", &[&[0; 16][..], &jpeg(160, 120)].concat()),
        ]
        .concat(),
    );
    let track = |start: usize, length: usize, wide: bool| {
        let start = u64::try_from(start).unwrap();
        let offsets = if wide {
            boxed(b"co64", &[&[0, 0, 0, 0, 0, 0, 0, 1][..], &start.to_be_bytes()].concat())
        } else {
            boxed(
                b"stco",
                &[&[0, 0, 0, 0, 0, 0, 0, 1][..], &u32::try_from(start).unwrap().to_be_bytes()].concat(),
            )
        };
        let length = u32::try_from(length).unwrap().to_be_bytes();
        let sizes = boxed(b"stsz", &[&[0; 8][..], &[0, 0, 0, 1], &length].concat());
        let table = boxed(b"stbl", &[sizes, offsets].concat());
        boxed(b"trak", &boxed(b"mdia", &boxed(b"minf", &table)))
    };
    let file = |at: usize| {
        let mut starts = at;
        let mut tables = Vec::new();
        for (sample, wide) in tracks {
            tables.extend(track(starts, sample.len(), *wide));
            starts += sample.len();
        }
        // A track of sensor data.
        tables.extend(track(starts, 64, true));
        let movie = boxed(b"moov", &[&metadata[..], &tables].concat());
        let preview = preview.map(|preview| {
            let content = [&[0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0][..], preview].concat();
            own(
                0xEAF4_2B5E_1C98_4B88_B9FB_B7DC_406E_4D16,
                &[&[0, 0, 0, 0, 0, 0, 0, 1][..], &boxed(b"PRVW", &content)].concat(),
            )
        });
        let xmp = own(0xBE7A_CFCB_97A9_42E8_9C71_9994_91E3_AFAC, b"<x:xmpmeta/>");
        [boxed(b"ftyp", b"crx \0\0\0\x01crx isom"), movie, xmp, preview.unwrap_or_default()].concat()
    };
    // The samples follow everything else.
    let head = file(0).len() + 8;
    let samples: Vec<u8> = tracks.iter().flat_map(|(sample, _)| *sample).copied().chain([0x5A; 64]).collect();
    [file(head), boxed(b"mdat", &samples)].concat()
}

#[test]
fn largest_preview_is_decoded() {
    for (kind, file) in files() {
        assert_eq!(crate::container::format(&file), Some(Format::Raw), "{kind}");
        let probe = crate::probe(&file, &Limits::default()).unwrap();
        assert_eq!(probe.format, Format::Raw, "{kind}");
        assert_eq!(probe.stored_size, PixelSize { width: 800, height: 600 }, "{kind}");
        assert_eq!(probe.upright_size, PixelSize { width: 600, height: 800 }, "{kind}");
        assert_eq!(probe.orientation, Orientation::Rotate270, "{kind}");
        let rendered = crate::render(&file, &[domain::Rendition::Medium], &Limits::default()).unwrap();
        assert_eq!(rendered.damaged, None, "{kind}");
        // Upright, red is at the lower left.
        let shown = image::load_from_memory(&rendered.renditions[0].webp).unwrap().to_rgb8();
        let [r, g, b] = shown.get_pixel(100, 700).0;
        assert!(r > 150 && g < 80 && b < 80, "{kind}: {r} {g} {b}");
    }
}

#[test]
fn metadata_of_each_raw_format_are_read() {
    for (kind, file) in files() {
        let blocks = crate::container::read(&file).unwrap().1.blocks;
        let tags = Tags::read(blocks.exif.as_deref().unwrap()).unwrap();
        assert_eq!(tags.text(Directory::Primary, tag::MAKE).as_deref(), Some("Camera maker"), "{kind}");
        let time = tags.text(Directory::Exif, tag::DATE_TIME_ORIGINAL);
        assert_eq!(time.as_deref(), Some("2019:07:04 18:03:22"), "{kind}");
        let has_place = tags.reals(Directory::Gps, tag::GPS_LATITUDE).is_some();
        assert_eq!(has_place, kind.starts_with("CR3"), "{kind}");
        let has_xmp = blocks.xmp.as_deref() == Some(b"<x:xmpmeta/>");
        assert_eq!(has_xmp, kind.starts_with("CR3") || kind == "DNG", "{kind}");
    }
}

#[test]
fn plain_tiff_is_not_raw() {
    let mut writer = Writer::new(false, false);
    let exif = shot(&mut writer);
    let thumbnail = place(&mut writer, &jpeg(160, 120), (0x0201, 0x0202));
    let thumbnail = writer.directory(&thumbnail, 0);
    let pixels = writer.data(&[9; 12]);
    let mut entries = camera(exif);
    entries.extend([
        (256, Value::Longs(vec![2])),
        (257, Value::Longs(vec![2])),
        (258, Value::Shorts(vec![8, 8, 8])),
        (262, Value::Shorts(vec![2])),
        (273, Value::Longs(vec![pixels])),
        (277, Value::Shorts(vec![3])),
    ]);
    let first = writer.directory(&entries, thumbnail);
    assert_eq!(crate::container::format(&writer.finish(first)), Some(Format::Tiff));
    assert_eq!(crate::container::format(b"II*\0"), Some(Format::Tiff));
}

#[test]
fn uncompressed_preview_is_decoded() {
    let pixels = quarters(320, 200);
    let raw = |sub_directory: bool, jpeg_preview: Option<&[u8]>| {
        let mut writer = Writer::new(true, false);
        let mut preview = place(&mut writer, pixels.as_raw(), (273, 279));
        preview.extend([
            (254, number(1)),
            (256, number(320)),
            (257, number(200)),
            (258, Value::Shorts(vec![8, 8, 8])),
            (259, Value::Shorts(vec![1])),
            (262, Value::Shorts(vec![2])),
            (277, Value::Shorts(vec![3])),
            (278, number(200)),
        ]);
        let mut sensor = sensor(&mut writer, 7);
        if let Some(jpeg) = jpeg_preview {
            sensor.extend(place(&mut writer, jpeg, (0x0201, 0x0202)));
        }
        let (mut first, child) = if sub_directory { (sensor, preview) } else { (preview, sensor) };
        let child = writer.directory(&child, 0);
        first.extend([(330, Value::Longs(vec![child])), (0xC612, Value::Bytes(vec![1, 4, 0, 0]))]);
        let first = writer.directory(&first, 0);
        writer.finish(first)
    };
    for sub_directory in [false, true] {
        for smaller in [None, Some(jpeg(160, 120))] {
            let file = raw(sub_directory, smaller.as_deref());
            let read = crate::decode_rgb(&file, &[u32::MAX], &Limits::default()).unwrap();
            assert_eq!(read.damaged, None);
            assert!(read.pictures[0].rgb == *pixels.as_raw());
        }
        let larger = raw(sub_directory, Some(&jpeg(800, 600)));
        let probe = crate::probe(&larger, &Limits::default()).unwrap();
        assert_eq!(probe.stored_size, PixelSize { width: 800, height: 600 });
    }
}

#[test]
fn raw_without_preview_is_refused() {
    let raw = |offset: u32| {
        let mut writer = Writer::new(false, false);
        let mut entries = sensor(&mut writer, 7);
        entries.push((0x0201, Value::Longs(vec![offset])));
        entries.push((0x0202, Value::Longs(vec![100])));
        entries.push((0xC612, Value::Bytes(vec![1, 4, 0, 0])));
        let first = writer.directory(&entries, 0);
        writer.finish(first)
    };
    let error = crate::probe(&raw(8), &Limits::default()).unwrap_err();
    assert_eq!(error, MediaError::NoPreview);
    assert_eq!(error.to_string(), "the RAW file has no embedded preview");
    // The preview starts after the end of the file.
    assert_eq!(crate::probe(&raw(1 << 20), &Limits::default()).unwrap_err(), MediaError::Truncated);
    for signature in [&b"FUJIFILMCCD-RAW "[..], b"\0\0\0\x18ftypcrx \0\0\0\x01", b"FOVb", b"IIU\0"] {
        assert_eq!(crate::probe(signature, &Limits::default()).unwrap_err(), MediaError::NoPreview);
    }
}

#[test]
fn truncated_preview_is_damaged() {
    let (_, file) = files().into_iter().find(|(kind, _)| *kind == "RAF").unwrap();
    let rendered =
        crate::render(&file[..file.len() * 3 / 4], &[domain::Rendition::Thumb], &Limits::default()).unwrap();
    assert!(rendered.damaged.is_some());
}

#[test]
fn search_for_previews_is_bounded() {
    // Each start of a JPEG has more segments than the maximum.
    let start = std::time::Instant::now();
    let file = [&b"FOVb"[..], &[0xFF, 0xD8, 0xFF, 0xE0, 0, 2].repeat(2_000_000)].concat();
    assert_eq!(crate::probe(&file, &Limits::default()).unwrap_err(), MediaError::NoPreview);
    let file = [&b"FOVb\xFF\xD8"[..], &[0xFF, 0xE0, 0, 2].repeat(2_000_000)].concat();
    assert_eq!(crate::probe(&file, &Limits::default()).unwrap_err(), MediaError::NoPreview);
    assert!(start.elapsed() < std::time::Duration::from_secs(5), "{:?}", start.elapsed());
}

proptest! {
    #[test]
    fn changed_files_never_panic(
        place in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        length in any::<prop::sample::Index>(),
    ) {
        let files = files();
        let (_, file) = &files[place.index(files.len())];
        let mut file = file.clone();
        // Changes mostly the start and end, because the middle is pixels.
        for (at, byte) in changes {
            let at = at.index(file.len());
            let near = if at % 2 == 0 { at % 400 } else { file.len() - 1 - at % 400 };
            file[near] = byte;
        }
        file.truncate(file.len() - length.index(file.len() / 4));
        let _ = crate::container::format(&file);
        let _ = read(&file);
    }

    #[test]
    fn arbitrary_bytes_never_panic(
        head in prop::sample::select(vec![
            &b"II*\0\x10\0\0\0CR\x02\0"[..],
            b"IIU\0\x08\0\0\0",
            b"FUJIFILMCCD-RAW ",
            b"\0\0\0\x18ftypcrx \0\0\0\x01",
            b"\0\0\0\x0Cftypcrx \0\0\0\x40moov",
            b"FOVb\xFF\xD8\xFF",
        ]),
        rest in prop::collection::vec(any::<u8>(), 0..400),
    ) {
        let file = [head, &rest].concat();
        let _ = read(&file);
    }
}
