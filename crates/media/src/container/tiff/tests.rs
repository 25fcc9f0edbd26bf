use domain::PixelSize;

use super::*;
use crate::tiff::writer::{Value, Writer};
use crate::tiff::{Directory, Tags, tag};
use crate::{Format, Orientation};

/// A grey picture of 3 × 2 pixels, with additional entries.
fn file(big_endian: bool, big: bool, more: &[(u16, Value)]) -> Vec<u8> {
    let mut writer = Writer::new(big_endian, big);
    let pixels = writer.data(&[0, 50, 100, 150, 200, 250]);
    let exif = writer.directory(&[(tag::DATE_TIME_ORIGINAL, Value::Text("2019:07:04 18:03:22"))], 0);
    let mut entries = vec![
        (256, Value::Shorts(vec![3])),
        (257, Value::Shorts(vec![2])),
        (258, Value::Shorts(vec![8])),
        (262, Value::Shorts(vec![1])),
        (273, Value::Longs(vec![pixels])),
        (tag::EXIF_DIRECTORY, Value::Longs(vec![exif])),
    ];
    entries.extend(more.iter().cloned());
    let first = writer.directory(&entries, 0);
    writer.finish(first)
}

fn read_file(bytes: &[u8]) -> Container<'_> {
    read(bytes, Directories::read(bytes).as_ref())
}

#[test]
fn header_and_metadata_in_every_byte_order() {
    for (big_endian, big) in [(false, false), (true, false), (false, true), (true, true)] {
        let more = [(tag::ORIENTATION, Value::Shorts(vec![6])), (tag::MODEL, Value::Text("Scanner 3000"))];
        let file = file(big_endian, big, &more);
        assert_eq!(crate::container::format(&file), Some(Format::Tiff));
        let probe = crate::probe(&file, &crate::Limits::default()).unwrap();
        assert_eq!(probe.stored_size, PixelSize { width: 3, height: 2 });
        assert_eq!(probe.orientation, Orientation::Rotate90);
        let blocks = read_file(&file).blocks;
        let tags = Tags::read(blocks.exif.as_deref().unwrap()).unwrap();
        assert_eq!(tags.text(Directory::Primary, tag::MODEL).as_deref(), Some("Scanner 3000"));
        let time = tags.text(Directory::Exif, tag::DATE_TIME_ORIGINAL);
        assert_eq!(time.as_deref(), Some("2019:07:04 18:03:22"));
    }
}

#[test]
fn metadata_blocks_are_found() {
    let more = [
        (700, Value::Bytes(b"<x:xmpmeta/>".to_vec())),
        (33_723, Value::Longs(vec![0x0002_021C, 0])),
        (34_675, Value::Undefined(b"a profile".to_vec())),
    ];
    let with_lab = [&more[..], &[(262, Value::Shorts(vec![8]))]].concat();
    let plain = file(false, false, &more);
    let found = read_file(&plain).blocks;
    assert_eq!(found.xmp.as_deref(), Some(&b"<x:xmpmeta/>"[..]));
    assert_eq!(found.iptc.as_deref(), Some(&[0x1C, 2, 2, 0, 0, 0, 0, 0][..]));
    assert_eq!(found.colour, Some(Colour::Icc(b"a profile"[..].into())));

    // The file has two photometric entries, and the first one would be used, so it is removed.
    let lab = file(false, false, &with_lab);
    let at = lab.windows(8).position(|entry| entry == [6, 1, 3, 0, 1, 0, 0, 0]).unwrap();
    let lab = [&lab[..at], &[0xFF, 0xFF], &lab[at + 2..]].concat();
    assert_eq!(read_file(&lab).blocks.colour, None);
    assert_eq!(read_file(b"II*\0").blocks.colour, None);
}

#[test]
fn memory_estimate_is_bounded() {
    let bytes = read_file(&file(false, false, &[])).picture.unwrap().header.decode_bytes;
    assert!((6..=2 << 20).contains(&bytes), "{bytes}");
}
