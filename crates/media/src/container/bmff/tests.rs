mod hostile;

use super::*;
use crate::container::boxes::FourCc;
use crate::decode::decode;
use crate::pixels::Layout;
use crate::samples::ExifBlock;
use crate::tiff::{Directory, Tags, tag};
use crate::{Format, Limits, Photo};

const HOPPER_HEIC: &[u8] = include_bytes!("../../../../../fixtures/media/hopper.heif");
const HOPPER_AVIF: &[u8] = include_bytes!("../../../../../fixtures/media/hopper.avif");

/// Builds a file item by item. Item and property numbers start at 1.
#[derive(Debug, Clone, Default)]
struct File {
    items: Vec<Entry>,
    properties: Vec<(FourCc, Vec<u8>)>,
    references: Vec<(FourCc, u16, Vec<u16>)>,
}

#[derive(Debug, Clone, Default)]
struct Entry {
    kind: FourCc,
    content_type: &'static str,
    in_idat: bool,
    parts: Vec<Vec<u8>>,
    properties: Vec<u8>,
}

impl File {
    fn item(&mut self, kind: &FourCc, data: &[u8]) -> u16 {
        self.items.push(Entry { kind: *kind, parts: vec![data.to_vec()], ..Entry::default() });
        u16::try_from(self.items.len()).unwrap()
    }

    fn entry(&mut self, id: u16) -> &mut Entry {
        &mut self.items[usize::from(id) - 1]
    }

    fn property(&mut self, id: u16, kind: &FourCc, body: &[u8]) -> &mut Self {
        self.properties.push((*kind, body.to_vec()));
        let number = u8::try_from(self.properties.len()).unwrap();
        self.entry(id).properties.push(number | 0x80);
        self
    }

    fn refer(&mut self, kind: &FourCc, from: u16, to: &[u16]) -> &mut Self {
        self.references.push((*kind, from, to.to_vec()));
        self
    }

    /// Adds the coded picture of [`HOPPER_HEIC`], 128 × 128 pixels.
    fn hopper(&mut self) -> u16 {
        let (configuration, data) = coded(HOPPER_HEIC, b"hvcC");
        let id = self.item(b"hvc1", &data);
        self.property(id, b"hvcC", &configuration).property(id, b"ispe", &ispe(128, 128));
        id
    }

    /// Adds a grid of that picture.
    fn grid(&mut self, rows: u8, columns: u8, (width, height): (u16, u16)) -> u16 {
        let tile = self.hopper();
        let data = [&[0, 0, rows - 1, columns - 1][..], &width.to_be_bytes(), &height.to_be_bytes()].concat();
        let grid = self.item(b"grid", &data);
        self.entry(grid).in_idat = true;
        self.property(grid, b"ispe", &ispe(width.into(), height.into()));
        self.refer(b"dimg", grid, &[tile].repeat(usize::from(rows) * usize::from(columns)));
        grid
    }

    fn build(&self, primary: u16) -> Vec<u8> {
        let head = plain_box(b"ftyp", b"heic\0\0\0\0mif1heic");
        let start = head.len() + self.meta(primary, 0).len() + 8;
        let in_file = self.items.iter().filter(|item| !item.in_idat);
        let data: Vec<u8> = in_file.flat_map(|item| item.parts.concat()).collect();
        [head, self.meta(primary, start), plain_box(b"mdat", &data)].concat()
    }

    fn meta(&self, primary: u16, mut start: usize) -> Vec<u8> {
        let count = |length: usize| u16::try_from(length).unwrap().to_be_bytes();
        let long = |length: usize| u32::try_from(length).unwrap().to_be_bytes();
        let (mut infe, mut iloc, mut ipma, mut idat) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (place, item) in self.items.iter().enumerate() {
            let id = count(place + 1);
            let entry =
                [&id[..], &[0, 0], &item.kind, b"name\0", item.content_type.as_bytes(), b"\0"].concat();
            infe.extend(full_box(b"infe", 2, 0, &entry));
            iloc.extend([&id[..], &[0, u8::from(item.in_idat)], &[0, 0], &count(item.parts.len())].concat());
            for part in &item.parts {
                let offset = if item.in_idat { idat.len() } else { start };
                iloc.extend([long(offset), long(part.len())].concat());
                if item.in_idat {
                    idat.extend(part);
                } else {
                    start += part.len();
                }
            }
            let associations = u8::try_from(item.properties.len()).unwrap();
            ipma.extend([&id[..], &[associations], &item.properties].concat());
        }
        let references = self.references.iter().flat_map(|(kind, from, to)| {
            let to: Vec<u8> = to.iter().flat_map(|to| to.to_be_bytes()).collect();
            plain_box(kind, &[&from.to_be_bytes()[..], &count(to.len() / 2), &to].concat())
        });
        let ipco = self.properties.iter().flat_map(|(kind, body)| plain_box(kind, body)).collect::<Vec<_>>();
        let ipma = full_box(b"ipma", 0, 0, &[&long(self.items.len())[..], &ipma].concat());
        let boxes = [
            full_box(b"hdlr", 0, 0, b"\0\0\0\0pict\0\0\0\0\0\0\0\0\0\0\0\0\0"),
            full_box(b"pitm", 0, 0, &primary.to_be_bytes()),
            full_box(b"iloc", 1, 0, &[&[0x44, 0][..], &count(self.items.len()), &iloc].concat()),
            full_box(b"iinf", 0, 0, &[&count(self.items.len())[..], &infe].concat()),
            full_box(b"iref", 0, 0, &references.collect::<Vec<_>>()),
            plain_box(b"iprp", &[plain_box(b"ipco", &ipco), ipma].concat()),
            plain_box(b"idat", &idat),
        ];
        full_box(b"meta", 0, 0, &boxes.concat())
    }
}

fn plain_box(kind: &FourCc, body: &[u8]) -> Vec<u8> {
    [&u32::try_from(body.len() + 8).unwrap().to_be_bytes()[..], kind, body].concat()
}

fn full_box(kind: &FourCc, version: u8, flags: u8, body: &[u8]) -> Vec<u8> {
    plain_box(kind, &[&[version, 0, 0, flags][..], body].concat())
}

fn ispe(width: u32, height: u32) -> Vec<u8> {
    [[0; 4], width.to_be_bytes(), height.to_be_bytes()].concat()
}

fn clap(numbers: [i32; 8]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_be_bytes()).collect()
}

/// The decoder configuration and data of a file's primary picture.
fn coded(file: &[u8], configuration: &FourCc) -> (Vec<u8>, Vec<u8>) {
    let meta = meta_of(file);
    let primary = meta.primary.unwrap();
    (meta.property(primary, configuration).unwrap().to_vec(), meta.data(primary).unwrap().into_owned())
}

fn meta_of(file: &[u8]) -> Meta<'_> {
    Meta::read(file, TopBoxes::read(file).meta.unwrap().body)
}

fn size(width: u32, height: u32) -> PixelSize {
    PixelSize { width, height }
}

fn probed(file: &[u8]) -> Result<Header, MediaError> {
    Photo::open(file)?.checked(&Limits::default()).map(|checked| checked.picture.header)
}

fn coding(file: &[u8]) -> Coding {
    match read(file).picture.unwrap().coded {
        Coded::Heif(_, image) => image.coding,
        other => panic!("{other:?}"),
    }
}

fn corrupt(reason: &str) -> Result<Header, MediaError> {
    Err(MediaError::Corrupt(reason.into()))
}

#[test]
fn real_headers_are_read() {
    for (file, format, expect) in
        [(HOPPER_HEIC, Format::Heif, Coding::Hevc), (HOPPER_AVIF, Format::Avif, Coding::Av1)]
    {
        assert_eq!(Format::sniff(file), Some(format));
        let header = probed(file).unwrap();
        assert_eq!(
            (header.size, header.decoded_size, header.orientation),
            (size(128, 128), size(128, 128), None)
        );
        assert_eq!(header.decode_bytes, 128 * 128 * BYTES_PER_PIXEL);
        assert_eq!(coding(file), expect);
        let (configuration, data) = coded(file, expect.configuration().unwrap());
        assert_eq!(expect.size(&configuration, &data), Some(size(128, 128)));
    }
}

/// The decoded size must be the one in the header.
#[test]
fn header_predicts_crops_and_rotations() {
    let check = |properties: &[(&FourCc, &[u8])], expect: (u32, u32)| {
        for grid in [false, true] {
            let mut file = File::default();
            let id = if grid { file.grid(2, 3, (290, 131)) } else { file.hopper() };
            for (kind, body) in properties {
                file.property(id, kind, body);
            }
            let file = file.build(id);
            let header = probed(&file).unwrap();
            let decoded = decoded(&file).unwrap();
            assert_eq!(decoded.pixels.size, header.size, "{properties:?}");
            if !grid {
                assert_eq!(header.size, size(expect.0, expect.1), "{properties:?}");
            }
            let turned = properties.iter().any(|(kind, _)| matches!(*kind, b"irot" | b"imir"));
            assert_eq!(header.orientation, turned.then_some(Orientation::Normal));
        }
    };
    let strip = clap([100, 1, 50, 1, 0, 1, 0, 1]);
    let off_centre = clap([101, 1, 51, 1, 9, 1, -11, 2]);
    let over_the_edge = clap([100, 1, 100, 1, 40, 1, -40, 1]);
    let everything = clap([9000, 1, 9000, 1, 0, 1, 0, 1]);
    let between = clap([201, 2, 101, 3, 1, 3, 1, 3]);
    check(&[], (128, 128));
    check(&[(b"irot", &[1])], (128, 128));
    check(&[(b"clap", &strip)], (100, 50));
    check(&[(b"clap", &strip), (b"irot", &[1])], (50, 100));
    check(&[(b"irot", &[3]), (b"clap", &strip)], (100, 50));
    check(&[(b"clap", &strip), (b"irot", &[2]), (b"imir", &[1])], (100, 50));
    check(&[(b"clap", &off_centre), (b"imir", &[0])], (101, 51));
    check(&[(b"clap", &over_the_edge)], (74, 75));
    check(&[(b"clap", &everything)], (128, 128));
    check(&[(b"clap", &between)], (101, 34));
}

#[test]
fn size_of_a_grid_is_its_declared_size() {
    let mut file = File::default();
    let grid = file.grid(2, 3, (300, 200));
    let header = probed(&file.build(grid)).unwrap();
    assert_eq!((header.size, header.orientation), (size(300, 200), None));
    assert_eq!(coding(&file.build(grid)), Coding::Hevc);

    let mut other = file.clone();
    other.properties.last_mut().unwrap().1 = ispe(300, 201);
    assert_eq!(probed(&other.build(grid)), corrupt("the headers disagree about the size"));
    let mut fewer = file.clone();
    fewer.references[0].2.pop();
    assert_eq!(probed(&fewer.build(grid)), corrupt("tiles of the grid are missing"));
    // 65,000 tiles of 16,000 pixels, for a small picture.
    let mut small = File::default();
    let grid = small.grid(255, 100, (1, 1));
    assert_eq!(probed(&small.build(grid)), corrupt("the tiles do not fit the grid"));
}

#[test]
fn picture_larger_than_declared_is_refused() {
    // A reduced AV1 sequence header of 65,536 × 65,536: two sides of 16 bits, all set.
    let header = [0x0A, 7, 0x18, 0x3F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFC];
    let refused = |file: &[u8]| matches!(probed(file), Err(MediaError::TooManyPixels { .. }));
    for in_configuration in [false, true] {
        let mut file = File::default();
        let data: &[u8] = if in_configuration { &[] } else { &header };
        let id = file.item(b"av01", data);
        let configuration: &[u8] = if in_configuration { &header } else { &[] };
        file.property(id, b"av1C", &[&[0x81, 0, 0, 0], configuration].concat()).property(
            id,
            b"ispe",
            &ispe(64, 64),
        );
        assert!(refused(&file.build(id)));

        // As a tile, and as the alpha of another picture.
        let tile = id;
        let identity = file.item(b"iden", &[]);
        file.property(identity, b"ispe", &ispe(64, 64)).refer(b"dimg", identity, &[tile]);
        assert!(refused(&file.build(identity)));
        let picture = file.hopper();
        file.property(tile, b"auxC", b"\0\0\0\0urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0");
        assert!(!refused(&file.build(picture)));
        file.refer(b"auxl", tile, &[picture]);
        assert!(refused(&file.build(picture)));
    }
    let mut file = File::default();
    let id = file.item(b"av01", &[]);
    file.property(id, b"ispe", &ispe(17_000, 17_000));
    // The decoder still needs the uncropped size.
    file.property(id, b"clap", &clap([10, 1, 10, 1, 0, 1, 0, 1]));
    assert!(refused(&file.build(id)));
}

#[test]
fn missing_parts_are_reported() {
    let mut file = File::default();
    let id = file.hopper();
    let whole = file.build(id);
    let check = |file: &[u8], expect| assert_eq!(probed(file), expect);
    check(&whole[..10], Err(MediaError::UnknownFormat));
    check(&whole[..30], Err(MediaError::Truncated));
    check(&whole[..60], Err(MediaError::Truncated));
    check(&whole[..24], corrupt("it has no still picture"));
    check(&file.build(7), corrupt("it does not name its primary picture"));
    let mut unsized_file = file.clone();
    unsized_file.entry(id).properties.pop();
    check(&unsized_file.build(id), corrupt("the size of its picture is missing"));
    for (width, height) in [(0, 64), (64, 0)] {
        file.properties.last_mut().unwrap().1 = ispe(width, height);
        check(&file.build(id), Err(MediaError::NoPixels));
    }
}

#[test]
fn decoder_errors_are_reported() {
    let check = |file: &[u8], expect: MediaError| {
        assert_eq!(decoded(file).unwrap_err(), expect);
    };
    check(&HOPPER_HEIC[..HOPPER_HEIC.len() - 100], MediaError::Corrupt("the file is cut off".into()));
    let mut file = File::default();
    let id = file.hopper();
    file.properties.last_mut().unwrap().1 = ispe(120, 128);
    check(&file.build(id), MediaError::Corrupt("the headers disagree about the size".into()));
    let id = file.item(b"new1", &[1, 2, 3]);
    file.property(id, b"ispe", &ispe(64, 64));
    let error = MediaError::NoDecoder {
        format: "these HEIF",
        missing: "a libheif with their codec",
        install: "a newer libheif1",
    };
    check(&file.build(id), error);
}

/// A picture followed by a gain map, EXIF, XMP and a video, as phones write them.
fn with_trailing_items() -> Vec<u8> {
    let mut file = File::default();
    let picture = file.hopper();
    let map = file.hopper();
    file.property(map, b"auxC", b"\0\0\0\0urn:com:apple:photo:2020:aux:hdrgainmap\0");
    let exif = file.item(b"Exif", &[&[0; 4][..], &ExifBlock::default().build()].concat());
    let xmp = file.item(b"mime", &[b' '; 3000]);
    file.entry(xmp).content_type = "application/rdf+xml";
    file.refer(b"auxl", map, &[picture]).refer(b"cdsc", exif, &[picture]).refer(b"cdsc", xmp, &[picture]);
    [file.build(picture), plain_box(b"mpvd", &[7; 5000])].concat()
}

/// The end of the data of the primary picture.
fn end_of_picture(file: &[u8]) -> usize {
    let meta = meta_of(file);
    let data = meta.head(meta.primary.unwrap());
    data.as_ptr() as usize - file.as_ptr() as usize + data.len()
}

fn decoded(file: &[u8]) -> Result<crate::decode::Decoded, MediaError> {
    let picture = read(file).picture?;
    decode(&picture, picture.header.size)
}

#[test]
fn file_truncated_after_its_picture_is_damaged() {
    let whole = with_trailing_items();
    let picture = decoded(&whole).unwrap();
    assert_eq!(picture.damaged, None);
    let end = end_of_picture(&whole);
    assert!(whole.len() > end + 10_000);
    for cut in [end, end + 1, end + 2000, end + 3500, end + 7000, whole.len() - 4990, whole.len() - 1] {
        let read = decoded(&whole[..cut]).unwrap_or_else(|error| panic!("{cut} of {}: {error}", whole.len()));
        assert_eq!(read.damaged.as_deref(), Some("the file is cut off"), "{cut}");
        assert!(read.pixels.bytes == picture.pixels.bytes, "{cut}");
    }
    for cut in [end - 1, end - 1000] {
        assert_eq!(
            decoded(&whole[..cut]).unwrap_err(),
            MediaError::Corrupt("the file is cut off".into()),
            "{cut}"
        );
    }
}

const ALPHA: &[u8] = include_bytes!("../../../../../fixtures/uncommon/alpha.heic");

/// As phones write tone-mapped pictures: thumbnail, gain map and metadata refer to two items.
fn tone_mapped() -> (File, u16, u16) {
    let mut file = File::default();
    let grid = file.grid(2, 2, (200, 190));
    let (thumbnail, map) = (file.hopper(), file.hopper());
    file.property(map, b"auxC", b"\0\0\0\0urn:com:apple:photo:2020:aux:hdrgainmap\0");
    let tone_map = file.item(b"tmap", &[0; 62]);
    file.property(tone_map, b"ispe", &ispe(200, 190));
    let exif = file.item(b"Exif", &[&[0; 4][..], &ExifBlock::default().build()].concat());
    file.refer(b"dimg", tone_map, &[grid, map])
        .refer(b"auxl", map, &[grid, tone_map])
        .refer(b"thmb", thumbnail, &[grid, tone_map])
        .refer(b"cdsc", exif, &[grid, tone_map]);
    (file, grid, tone_map)
}

#[test]
fn references_to_several_items_are_accepted() {
    let mut plain = File::default();
    let grid = plain.grid(2, 2, (200, 190));
    let expect = decoded(&plain.build(grid)).unwrap();
    let (file, grid, tone_map) = tone_mapped();
    for primary in [grid, tone_map] {
        let file = file.build(primary);
        let read = decoded(&file).unwrap();
        assert_eq!((read.pixels.size, read.damaged), (size(200, 190), None));
        assert!(read.pixels.bytes == expect.pixels.bytes, "{primary}");
        assert!(coding(&file) == Coding::Hevc);
        assert_eq!(with_needed_references(&file).unwrap().len(), file.len());
    }
    let (mut file, grid, tone_map) = tone_mapped();
    // Each reference alone: to an item that is no picture, to nothing, to itself, to one item many times, to a missing
    // item, and from an auxiliary picture without a type.
    for (kind, from, to) in [
        (b"auxl", 3, &[tone_map][..]),
        (b"thmb", 3, &[]),
        (b"thmb", 3, &[3]),
        (b"thmb", 3, &[tone_map]),
        (b"thmb", 3, &[grid; 300]),
        (b"auxl", 3, &[grid]),
        (b"cdsc", 6, &[999]),
        (b"cdsc", 6, &[]),
        (b"cdsc", 6, &[tone_map]),
    ] {
        file.references.truncate(1);
        file.refer(kind, from, to);
        let read =
            decoded(&file.build(grid)).unwrap_or_else(|error| panic!("{kind:?} {from} {to:?}: {error}"));
        assert!(read.pixels.bytes == expect.pixels.bytes, "{kind:?} {from} {to:?}");
    }
}

#[test]
fn alpha_is_kept_with_several_targets() {
    let expect = decoded(ALPHA).unwrap();
    assert_eq!(expect.pixels.layout, Layout::Rgba);
    let several = decoded(include_bytes!("../../../../../fixtures/uncommon/aux-two-targets.heic")).unwrap();
    assert_eq!((several.damaged, several.pixels == expect.pixels), (None, true));
    // The same with long ids.
    let at = |name: &[u8; 4]| ALPHA.windows(4).position(|window| window == name).unwrap() - 4;
    let end = at(b"iref") + 26;
    let long = full_box(b"iref", 1, 0, &plain_box(b"auxl", b"\0\0\0\x02\0\x02\0\0\0\x01\0\0\0\x01"));
    assert_eq!(end, at(b"mdat"), "the references are the last box in `meta`");
    let mut file = [&ALPHA[..at(b"iref")], &long, &ALPHA[end..]].concat();
    let growth = long.len() - 26;
    let meta = at(b"meta");
    for place in [meta, at(b"iloc") + 20, at(b"iloc") + 38] {
        let number = u32::from_be_bytes(file[place..place + 4].try_into().unwrap());
        let number = number + u32::try_from(growth).unwrap();
        file[place..place + 4].copy_from_slice(&number.to_be_bytes());
    }
    assert!(decoded(&file).unwrap().pixels == expect.pixels);
}

#[test]
fn file_truncated_after_its_tiles_is_read() {
    let mut file = File::default();
    let grid = file.grid(2, 2, (200, 200));
    let exif = file.item(b"Exif", &[1; 4000]);
    file.refer(b"cdsc", exif, &[grid]);
    let whole = file.build(grid);
    let picture = decoded(&whole).unwrap();
    let read = decoded(&whole[..whole.len() - 4000]).unwrap();
    assert!(read.pixels.bytes == picture.pixels.bytes);
    assert_eq!(read.damaged.as_deref(), Some("the file is cut off"));
    assert!(decoded(&whole[..whole.len() - 4001]).is_err());
}

#[test]
fn exif_is_found_at_wrong_offsets() {
    let block = ExifBlock::default().text(Directory::Primary, tag::MAKE, "Nikon").build();
    let check = |offset: u32, before: &[u8], expect: bool| {
        let mut file = File::default();
        let picture = file.hopper();
        let data = [&offset.to_be_bytes()[..], before, &block].concat();
        let exif = file.item(b"Exif", &data);
        file.refer(b"cdsc", exif, &[picture]);
        // In one extent, and in three.
        for cuts in [vec![], vec![9, 11]] {
            let parts = file.entry(exif);
            parts.parts = cuts.iter().rev().fold(vec![data.clone()], |mut parts, cut| {
                let tail = parts[0].split_off(*cut);
                parts.insert(1, tail);
                parts
            });
            for in_idat in [false, true] {
                file.entry(exif).in_idat = in_idat;
                let file = file.build(picture);
                let found = read(&file).blocks.exif;
                let make = found.and_then(|exif| Tags::read(&exif)?.text(Directory::Primary, tag::MAKE));
                assert_eq!(make.as_deref(), expect.then_some("Nikon"), "{offset} {before:?}");
            }
        }
    };
    check(0, b"", true);
    check(6, b"Exif\0\0", true);
    check(0, b"Exif\0\0", true);
    check(6, b"", true);
    check(u32::MAX, b"junk", true);
    check(0, &[0; 100], false);
    check(100, &[0; 100], true);
}

#[test]
fn metadata_of_the_primary_picture_come_first() {
    let mut file = File::default();
    let (picture, other) = (file.hopper(), file.hopper());
    let mut xmp = |content_type: &'static str, text: &[u8]| {
        let id = file.item(b"mime", text);
        file.entry(id).content_type = content_type;
        id
    };
    let _text = xmp("text/plain", b"text");
    let of_other = xmp("application/rdf+xml", b"other");
    let of_picture = xmp("application/rdf+xml", b"picture");
    assert_eq!(read(&file.build(picture)).blocks.xmp.as_deref(), Some(&b"other"[..]));
    file.refer(b"cdsc", of_other, &[other]).refer(b"cdsc", of_picture, &[picture]);
    assert_eq!(read(&file.build(picture)).blocks.xmp.as_deref(), Some(&b"picture"[..]));
    assert_eq!(read(&file.build(other)).blocks.xmp.as_deref(), Some(&b"other"[..]));
    assert_eq!(read(&file.build(picture)).blocks.exif, None);
}

#[test]
fn colours_come_from_profile_or_code_points() {
    let check = |boxes: &[&[u8]], expect: Option<Colour<'_>>| {
        let mut file = File::default();
        let picture = file.hopper();
        for body in boxes {
            file.property(picture, b"colr", body);
        }
        assert_eq!(read(&file.build(picture)).blocks.colour, expect, "{boxes:?}");
        // A grid without a colour space has that of its tiles.
        let grid = file.item(b"grid", &[]);
        file.refer(b"dimg", grid, &[picture]);
        assert_eq!(read(&file.build(grid)).blocks.colour, expect, "{boxes:?}");
    };
    let numbers = b"nclx\0\x0C\0\x0D\0\x01\x80";
    let cicp = Some(Colour::Cicp { primaries: 12, transfer: 13 });
    let icc = Some(Colour::Icc(b"profile"[..].into()));
    check(&[], None);
    check(&[numbers], cicp.clone());
    check(&[numbers, b"profprofile"], icc.clone());
    check(&[b"rICCprofile", numbers], icc);
    check(&[b"prof", numbers], cicp);
    check(&[b"nclx\0\x0C", b"nclc\0\x01\0\x01\0\x01"], None);
    check(&[b"nclx\x01\x0C\0\x0D\0\x01\x80"], None);
}
