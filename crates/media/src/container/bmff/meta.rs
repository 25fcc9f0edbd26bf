//! Reads the `meta` box: the items of a file with their types, locations, properties and references. ISO/IEC 14496-12,
//! section 8.11; ISO/IEC 23008-12, section 9.3 (properties).
//!
//! It is read in one pass. The limits below bound time and memory.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::container::MAX_BLOCK_BYTES;
use crate::container::boxes::{Boxes, FourCc, Reader};

/// Maximum number of items. A picture of 200 megapixels in tiles of 256 × 256 has 3,100.
const MAX_ITEMS: usize = 20_000;
const MAX_PROPERTIES: usize = 20_000;
const MAX_PROPERTIES_PER_ITEM: usize = 256;
const MAX_REFERENCES: usize = 40_000;
const MAX_EXTENTS_PER_ITEM: usize = 64;

/// An item: a picture, a tile or metadata.
#[derive(Debug, Clone, Default)]
pub(super) struct Item<'a> {
    /// Its type: `hvc1`, `av01`, `grid`, `Exif`, `mime` and others; zeros if it is not declared.
    pub(super) kind: FourCc,
    /// The media type of a `mime` item.
    pub(super) content_type: &'a [u8],
    location: Option<Location>,
    /// Numbers of its properties, starting at 1, in the order in which they apply.
    properties: Vec<u16>,
}

#[derive(Debug, Clone)]
struct Location {
    in_idat: bool,
    /// Offset and length; a length of 0 means the rest of the source.
    extents: Vec<(u64, u64)>,
}

impl Location {
    fn end(&self) -> u64 {
        self.extents.iter().map(|(offset, length)| offset.saturating_add(*length)).max().unwrap_or(0)
    }
}

/// A property of one or more items.
#[derive(Debug, Clone, Copy)]
pub(super) struct Property<'a> {
    pub(super) kind: FourCc,
    pub(super) body: &'a [u8],
}

/// The content of a `meta` box.
#[derive(Debug, Clone, Default)]
pub(super) struct Meta<'a> {
    file: &'a [u8],
    idat: &'a [u8],
    /// The primary item, or the base picture of a tone-mapped one.
    pub(super) primary: Option<u32>,
    items: BTreeMap<u32, Item<'a>>,
    properties: Vec<Property<'a>>,
    /// The targets of references, by type and source item.
    references: BTreeMap<(FourCc, u32), Vec<u32>>,
    reference_count: usize,
}

impl<'a> Meta<'a> {
    /// Reads the readable parts of a `meta` box's content.
    pub(super) fn read(file: &'a [u8], body: &'a [u8]) -> Self {
        let mut meta = Self { file, ..Self::default() };
        for found in Boxes::new(Self::children(body)) {
            let mut reader = Reader::new(found.body);
            // A broken box is read up to the first error.
            let _complete = match &found.kind {
                b"pitm" => meta.read_primary(&mut reader),
                b"iinf" => meta.read_items(&mut reader),
                b"iloc" => meta.read_locations(&mut reader),
                b"iref" => meta.read_references(&mut reader),
                b"iprp" => meta.read_properties(found.body),
                b"idat" => {
                    meta.idat = found.body;
                    Some(())
                }
                _ => Some(()),
            };
        }
        meta.primary = meta.primary.map(|id| meta.base_picture(id));
        meta
    }

    /// The boxes in a `meta` box's content.
    pub(super) fn children(body: &[u8]) -> &[u8] {
        match body {
            // The QuickTime variant of the box has no version.
            [_, _, _, _, b'h', b'd', b'l', b'r', ..] => body,
            [_, _, _, _, children @ ..] => children,
            _ => &[],
        }
    }

    /// For a tone-mapped picture (`tmap`, ISO/IEC 23008-12), the picture that it adapts to brighter displays. Any other id is
    /// returned unchanged.
    fn base_picture(&self, id: u32) -> u32 {
        let is_tone_mapped = self.items.get(&id).is_some_and(|item| item.kind == *b"tmap");
        let base = self.references(b"dimg", id).first().filter(|_| is_tone_mapped);
        base.copied().unwrap_or(id)
    }

    fn read_primary(&mut self, reader: &mut Reader<'a>) -> Option<()> {
        let (version, _) = reader.version_and_flags()?;
        self.primary = Some(reader.item(version > 0)?);
        Some(())
    }

    /// The item with that id. A missing item is created; `None` if there are too many items.
    fn entry(&mut self, id: u32) -> Option<&mut Item<'a>> {
        let room = self.items.len() < MAX_ITEMS || self.items.contains_key(&id);
        room.then(|| self.items.entry(id).or_default())
    }

    /// Entries before version 2 have no item type and are skipped.
    fn read_items(&mut self, reader: &mut Reader<'a>) -> Option<()> {
        let (version, _) = reader.version_and_flags()?;
        let _count = if version == 0 { u32::from(reader.u16()?) } else { reader.u32()? };
        for found in Boxes::new(reader.rest).filter(|found| found.kind == *b"infe") {
            let mut reader = Reader::new(found.body);
            let Some((version @ 2.., _)) = reader.version_and_flags() else { continue };
            let (Some(id), Some(_protection), Some(kind)) =
                (reader.item(version > 2), reader.u16(), reader.four_cc())
            else {
                continue;
            };
            let _name = reader.text();
            let item = self.entry(id)?;
            item.kind = kind;
            if kind == *b"mime" {
                item.content_type = reader.text();
            }
        }
        Some(())
    }

    fn read_locations(&mut self, reader: &mut Reader<'a>) -> Option<()> {
        let (version @ 0..=2, _) = reader.version_and_flags()? else { return None };
        let [sizes, more_sizes] = reader.u16()?.to_be_bytes();
        let (offset_size, length_size) = (sizes >> 4, sizes & 15);
        let (base_size, index_size) = (more_sizes >> 4, if version > 0 { more_sizes & 15 } else { 0 });
        let count = if version < 2 { u32::from(reader.u16()?) } else { reader.u32()? };
        for _ in 0..count {
            let id = reader.item(version == 2)?;
            let method = if version > 0 { reader.u16()? & 15 } else { 0 };
            let _file = reader.u16()?;
            let base = reader.number(base_size)?;
            let extent_count = reader.u16()?;
            let mut extents = Vec::new();
            for _ in 0..extent_count {
                let _index = reader.number(index_size)?;
                let offset = base.checked_add(reader.number(offset_size)?)?;
                let length = reader.number(length_size)?;
                if extents.len() < MAX_EXTENTS_PER_ITEM {
                    extents.push((offset, length));
                }
                // If all sizes are 0, an extent has 0 bytes, so that only the count would bound the loop.
                if offset_size == 0 && length_size == 0 && index_size == 0 {
                    break;
                }
            }
            // No program uses method 2, an offset into another item.
            let location = (method < 2).then_some(Location { in_idat: method == 1, extents });
            self.entry(id)?.location = location;
        }
        Some(())
    }

    fn read_references(&mut self, reader: &mut Reader<'a>) -> Option<()> {
        let (version, _) = reader.version_and_flags()?;
        for found in Boxes::new(reader.rest) {
            let mut reader = Reader::new(found.body);
            let (Some(from), Some(count)) = (reader.item(version > 0), reader.u16()) else { continue };
            for _ in 0..count {
                let Some(to) = reader.item(version > 0) else { break };
                if self.reference_count == MAX_REFERENCES {
                    return None;
                }
                self.reference_count += 1;
                self.references.entry((found.kind, from)).or_default().push(to);
            }
        }
        Some(())
    }

    fn read_properties(&mut self, body: &'a [u8]) -> Option<()> {
        for found in Boxes::new(body) {
            match &found.kind {
                b"ipco" => {
                    let room = MAX_PROPERTIES.saturating_sub(self.properties.len());
                    let properties = Boxes::new(found.body).take(room);
                    self.properties
                        .extend(properties.map(|found| Property { kind: found.kind, body: found.body }));
                }
                b"ipma" => self.read_associations(&mut Reader::new(found.body))?,
                _ => {}
            }
        }
        Some(())
    }

    fn read_associations(&mut self, reader: &mut Reader<'a>) -> Option<()> {
        let (version, flags) = reader.version_and_flags()?;
        let count = reader.u32()?;
        for _ in 0..count {
            let id = reader.item(version > 0)?;
            let association_count = reader.u8()?;
            let item = self.entry(id)?;
            for _ in 0..association_count {
                // The highest bit marks an essential property.
                let number =
                    if flags & 1 == 1 { reader.u16()? & 0x7FFF } else { u16::from(reader.u8()? & 0x7F) };
                if item.properties.len() < MAX_PROPERTIES_PER_ITEM {
                    item.properties.push(number);
                }
            }
        }
        Some(())
    }

    pub(super) fn item(&self, id: u32) -> Option<&Item<'a>> {
        self.items.get(&id)
    }

    /// The properties of an item, in the order in which they apply.
    pub(super) fn properties(&self, id: u32) -> impl Iterator<Item = Property<'a>> + '_ {
        let numbers = self.items.get(&id).map(|item| item.properties.as_slice()).unwrap_or_default();
        // The number 0 means no property.
        let indexes = numbers.iter().filter_map(|number| usize::from(*number).checked_sub(1));
        indexes.filter_map(|index| self.properties.get(index).copied())
    }

    /// The content of the item's first property of that type.
    pub(super) fn property(&self, id: u32, kind: &FourCc) -> Option<&'a [u8]> {
        self.properties(id).find(|property| property.kind == *kind).map(|property| property.body)
    }

    /// The targets of an item's references of that type.
    pub(super) fn references(&self, kind: &FourCc, from: u32) -> &[u32] {
        self.references.get(&(*kind, from)).map(Vec::as_slice).unwrap_or_default()
    }

    /// The references of that type: source item and targets.
    pub(super) fn references_of(&self, kind: &'a FourCc) -> impl Iterator<Item = (u32, &[u32])> {
        let matching = self.references.iter().filter(move |((found, _), _)| found == kind);
        matching.map(|((_, from), to)| (*from, to.as_slice()))
    }

    /// Whether there are references other than those of derived pictures to their parts.
    pub(super) fn has_descriptions(&self) -> bool {
        self.references.keys().any(|(kind, _)| kind != b"dimg")
    }

    /// The items with a reference of that type to an item.
    pub(super) fn referring(&self, kind: &'a FourCc, to: u32) -> impl Iterator<Item = u32> + '_ {
        self.references_of(kind).filter(move |(_, targets)| targets.contains(&to)).map(|(from, _)| from)
    }

    /// The first matching item, preferably one that describes the primary item.
    pub(super) fn describing(&self, matches: impl Fn(&Item<'_>) -> bool) -> Option<u32> {
        let primary = self.primary?;
        let matches = |id: &u32| self.items.get(id).is_some_and(&matches);
        self.referring(b"cdsc", primary).find(matches).or_else(|| self.items.keys().copied().find(matches))
    }

    /// The extents of an item's data, up to the end of the file.
    fn parts(&self, id: u32) -> impl Iterator<Item = &'a [u8]> + '_ {
        let location = self.items.get(&id).and_then(|item| item.location.as_ref());
        location.into_iter().flat_map(move |location| {
            let source = if location.in_idat { self.idat } else { self.file };
            location.extents.iter().map(move |(offset, length)| part(source, *offset, *length))
        })
    }

    /// Whether an item's data are cut off.
    pub(super) fn is_cut(&self, id: u32) -> bool {
        let location = self.items.get(&id).and_then(|item| item.location.as_ref());
        location.is_some_and(|location| {
            let source = if location.in_idat { self.idat } else { self.file };
            location.end() > u64::try_from(source.len()).unwrap_or(u64::MAX)
        })
    }

    /// The declared end of the item data in the file, not counting data in `idat`.
    pub(super) fn end_of_data(&self) -> u64 {
        let locations = self.items.values().filter_map(|item| item.location.as_ref());
        locations.filter(|location| !location.in_idat).map(Location::end).max().unwrap_or(0)
    }

    /// The first extent of an item's data.
    pub(super) fn head(&self, id: u32) -> &'a [u8] {
        self.parts(id).next().unwrap_or_default()
    }

    /// The data of an item; `None` if they are empty or too long.
    pub(super) fn data(&self, id: u32) -> Option<Cow<'a, [u8]>> {
        let mut parts = self.parts(id);
        let mut data = Cow::Borrowed(parts.next()?);
        for part in parts {
            if data.len() + part.len() > MAX_BLOCK_BYTES {
                return None;
            }
            data.to_mut().extend_from_slice(part);
        }
        (1..=MAX_BLOCK_BYTES).contains(&data.len()).then_some(data)
    }
}

/// An extent, up to the end of the source.
fn part(source: &[u8], offset: u64, length: u64) -> &[u8] {
    let from = usize::try_from(offset).ok().and_then(|offset| source.get(offset..)).unwrap_or_default();
    match usize::try_from(length) {
        Ok(1..) => from.get(..usize::try_from(length).unwrap_or(usize::MAX)).unwrap_or(from),
        _ => from,
    }
}
