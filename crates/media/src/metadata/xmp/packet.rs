//! Reads the properties of an XMP packet: RDF in XML (XMP specification, part 1, section 7).
//!
//! Only top-level properties are read. Properties of other resources, such as the ingredients of a collage, are nested
//! deeper. Names are compared with their namespace; the prefix does not matter.

use quick_xml::{
    NsReader, XmlVersion,
    escape::resolve_predefined_entity,
    events::{BytesRef, BytesStart, Event, attributes::Attribute},
    name::{Namespace, QName, ResolveResult},
};

/// Maximum nesting. Deeper packets are read up to there.
const MAX_DEPTH: usize = 64;
/// Maximum number of tags and texts. Sidecars with long editing histories have tens of thousands.
const MAX_EVENTS: usize = 400_000;
/// Longer values are cut. This is more than any text that is kept.
const MAX_VALUE_BYTES: usize = 64 << 10;
/// Maximum number of items that are read of all lists together. A photo keeps fewer keywords.
const MAX_ITEMS: usize = 1000;

const RDF: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
const META: &str = "adobe:ns:meta/";
const DC: &str = "http://purl.org/dc/elements/1.1/";
const EXIF: &str = "http://ns.adobe.com/exif/1.0/";
/// A prefix, because each version of EXIF metadata for XMP (CIPA DC-010) has its own suffix.
const EXIF_EXTENDED: &str = "http://cipa.jp/exif/";
const PHOTOSHOP: &str = "http://ns.adobe.com/photoshop/1.0/";
const TIFF: &str = "http://ns.adobe.com/tiff/1.0/";
const XMP: &str = "http://ns.adobe.com/xap/1.0/";
const LIGHTROOM: &str = "http://ns.adobe.com/lightroom/1.0/";
const DIGIKAM: &str = "http://www.digikam.org/ns/1.0/";
/// Some programs write it without the slash.
const MICROSOFT: &str = "http://ns.microsoft.com/photo/1.0/";
/// The namespace of properties that this crate writes: what the list of an Apple export says, and in this library's own exports the
/// marks that XMP has no property for, and corrections.
pub(in crate::metadata) const EXPORT: &str = "urn:photo-library:export:1.0";

/// A property that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Property {
    DateTimeOriginal,
    SubSecTimeOriginal,
    OffsetTimeOriginal,
    DateTimeDigitized,
    SubSecTimeDigitized,
    OffsetTimeDigitized,
    DateCreated,
    CreateDate,
    ExportedDate,
    Favorite,
    Archived,
    Corrected,
    FileDateTime,
    FileDescription,
    FileLatitude,
    FileLongitude,
    FileFavorite,
    FileRating,
    FileKeywords,
    FileArchived,
    GpsTimeStamp,
    GpsLatitude,
    GpsLatitudeRef,
    GpsLongitude,
    GpsLongitudeRef,
    GpsStatus,
    Description,
    ImageDescription,
    UserComment,
    Title,
    Headline,
    Orientation,
    Make,
    Model,
    Rating,
    MicrosoftRating,
    Subject,
    HierarchicalSubject,
    TagsList,
    LastKeyword,
}

impl Property {
    /// Whether all items of its array are kept.
    const fn is_list(self) -> bool {
        matches!(
            self,
            Self::Subject
                | Self::HierarchicalSubject
                | Self::TagsList
                | Self::LastKeyword
                | Self::FileKeywords
        )
    }

    fn from_name(namespace: &str, name: &str) -> Option<Self> {
        let namespace = match namespace {
            extended if extended.starts_with(EXIF_EXTENDED) => EXIF,
            microsoft if MICROSOFT.strip_suffix('/') == Some(microsoft) => MICROSOFT,
            other => other,
        };
        Some(match (namespace, name) {
            (EXIF, "DateTimeOriginal") => Self::DateTimeOriginal,
            (EXIF, "SubSecTimeOriginal") => Self::SubSecTimeOriginal,
            (EXIF, "OffsetTimeOriginal") => Self::OffsetTimeOriginal,
            (EXIF, "DateTimeDigitized") => Self::DateTimeDigitized,
            (EXIF, "SubSecTimeDigitized") => Self::SubSecTimeDigitized,
            (EXIF, "OffsetTimeDigitized") => Self::OffsetTimeDigitized,
            (EXIF, "GPSTimeStamp") => Self::GpsTimeStamp,
            (EXIF, "GPSLatitude") => Self::GpsLatitude,
            (EXIF, "GPSLatitudeRef") => Self::GpsLatitudeRef,
            (EXIF, "GPSLongitude") => Self::GpsLongitude,
            (EXIF, "GPSLongitudeRef") => Self::GpsLongitudeRef,
            (EXIF, "GPSStatus") => Self::GpsStatus,
            (EXIF, "UserComment") => Self::UserComment,
            (PHOTOSHOP, "DateCreated") => Self::DateCreated,
            (PHOTOSHOP, "Headline") => Self::Headline,
            (XMP, "CreateDate") => Self::CreateDate,
            (XMP, "Rating") => Self::Rating,
            (MICROSOFT, "Rating") => Self::MicrosoftRating,
            (MICROSOFT, "LastKeywordXMP") => Self::LastKeyword,
            // Some programs begin the name with a capital letter.
            (LIGHTROOM, "hierarchicalSubject" | "HierarchicalSubject") => Self::HierarchicalSubject,
            (DIGIKAM, "TagsList") => Self::TagsList,
            (EXPORT, "CreationDate") => Self::ExportedDate,
            (EXPORT, "Favorite") => Self::Favorite,
            (EXPORT, "Archived") => Self::Archived,
            (EXPORT, "Corrected") => Self::Corrected,
            (EXPORT, "FileDateTime") => Self::FileDateTime,
            (EXPORT, "FileDescription") => Self::FileDescription,
            (EXPORT, "FileLatitude") => Self::FileLatitude,
            (EXPORT, "FileLongitude") => Self::FileLongitude,
            (EXPORT, "FileFavorite") => Self::FileFavorite,
            (EXPORT, "FileRating") => Self::FileRating,
            (EXPORT, "FileKeywords") => Self::FileKeywords,
            (EXPORT, "FileArchived") => Self::FileArchived,
            (DC, "description") => Self::Description,
            (DC, "title") => Self::Title,
            (DC, "subject") => Self::Subject,
            (TIFF, "ImageDescription") => Self::ImageDescription,
            (TIFF, "Orientation") => Self::Orientation,
            (TIFF, "Make") => Self::Make,
            (TIFF, "Model") => Self::Model,
            _ => return None,
        })
    }
}

/// The properties of a packet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Properties {
    /// At most one value each.
    found: Vec<Value>,
    /// The items of lists.
    items: Vec<Value>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Value {
    property: Property,
    text: String,
    /// Whether its language is `x-default`.
    is_default: bool,
}

impl Properties {
    pub(super) fn get(&self, property: Property) -> Option<&str> {
        self.found.iter().find(|value| value.property == property).map(|value| value.text.as_str())
    }

    /// The items of a list, without the space around them.
    pub(super) fn list(&self, property: Property) -> impl Iterator<Item = &str> {
        self.items.iter().filter(move |value| value.property == property).map(|value| value.text.trim())
    }

    /// Keeps the first value, or the default one, or all of a list. Blank values are dropped.
    fn add(&mut self, value: Value) {
        if value.text.trim().is_empty() {
            return;
        }
        if value.property.is_list() {
            if self.items.len() < MAX_ITEMS {
                self.items.push(value);
            }
            return;
        }
        match self.found.iter_mut().find(|known| known.property == value.property) {
            Some(known) if value.is_default && !known.is_default => *known = value,
            Some(_) => {}
            None => self.found.push(value),
        }
    }
}

enum Element {
    /// An element around the RDF.
    Outside,
    /// `rdf:RDF`.
    Rdf,
    /// A description; its attributes and children are properties.
    Node,
    /// A property, or a part of its value: an array, an array item, a value with qualifiers.
    Value(Value),
    /// Any other element.
    Other,
}

/// Reads a packet up to the end of its RDF or the first syntax error. `None` if it contains no XMP.
pub(super) fn properties(packet: &str) -> Option<Properties> {
    let mut reader = NsReader::from_str(packet);
    // Hand-written sidecars contain unescaped ampersands.
    reader.config_mut().allow_dangling_amp = true;
    let mut packet_reader = PacketReader {
        open: Vec::new(),
        properties: Properties::default(),
        is_xmp: false,
        is_finished: false,
    };
    for _ in 0..MAX_EVENTS {
        if packet_reader.is_finished {
            break;
        }
        let Ok(event) = reader.read_event() else { break };
        match event {
            Event::Start(start) if packet_reader.open.len() < MAX_DEPTH => {
                packet_reader.start(&start, &reader);
            }
            Event::Empty(start) if packet_reader.open.len() < MAX_DEPTH => {
                packet_reader.start(&start, &reader);
                packet_reader.end();
            }
            Event::End(_) => packet_reader.end(),
            Event::Text(text) => packet_reader.text(&text.xml10_content()),
            Event::CData(text) => packet_reader.text(&text.xml10_content()),
            Event::GeneralRef(reference) => packet_reader.reference(&reference),
            Event::Start(_) | Event::Empty(_) | Event::Eof => break,
            _ => {}
        }
    }
    // Keep the unfinished values of a packet that is cut off.
    while !packet_reader.open.is_empty() {
        packet_reader.end();
    }
    packet_reader.is_xmp.then_some(packet_reader.properties)
}

struct PacketReader {
    open: Vec<Element>,
    properties: Properties,
    is_xmp: bool,
    /// Whether the RDF has ended.
    is_finished: bool,
}

impl PacketReader {
    fn start(&mut self, start: &BytesStart<'_>, reader: &NsReader<&[u8]>) {
        let (namespace, name) = resolve(reader, start.name(), true);
        let is_rdf = namespace == RDF;
        let inner = match self.open.last() {
            None | Some(Element::Outside) if is_rdf && name == "RDF" => {
                self.is_xmp = true;
                Element::Rdf
            }
            None | Some(Element::Outside) => {
                self.is_xmp |= namespace == META;
                Element::Outside
            }
            Some(Element::Rdf) => {
                self.attributes(start, reader);
                Element::Node
            }
            Some(Element::Node) => Property::from_name(namespace, name).map_or(Element::Other, |property| {
                Element::Value(Value { property, text: String::new(), is_default: false })
            }),
            Some(Element::Value(outer))
                if is_rdf && matches!(name, "Alt" | "Bag" | "Seq" | "li" | "value" | "Description") =>
            {
                let is_default = is_default_language(start);
                Element::Value(Value { property: outer.property, text: String::new(), is_default })
            }
            Some(Element::Value(_) | Element::Other) => Element::Other,
        };
        self.open.push(inner);
    }

    /// Reads the attributes of a description, because simple properties can be attributes.
    fn attributes(&mut self, start: &BytesStart<'_>, reader: &NsReader<&[u8]>) {
        for attribute in start.attributes().with_checks(false).map_while(Result::ok) {
            let (namespace, name) = resolve(reader, attribute.key, false);
            if let Some(property) = Property::from_name(namespace, name) {
                let text = attribute_text(&attribute);
                self.properties.add(Value { property, text, is_default: false });
            }
        }
    }

    fn end(&mut self) {
        match self.open.pop() {
            Some(Element::Value(value)) => self.properties.add(value),
            Some(Element::Rdf) => self.is_finished = true,
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if let Some(Element::Value(value)) = self.open.last_mut() {
            append(&mut value.text, text);
        }
    }

    /// Resolves character references and the five predefined entities. Entities that the packet defines are never
    /// expanded.
    fn reference(&mut self, reference: &BytesRef<'_>) {
        let mut letter = [0; 4];
        match reference.resolve_char_ref() {
            Ok(Some(found)) => self.text(found.encode_utf8(&mut letter)),
            Ok(None) => self.text(resolve_predefined_entity(reference).unwrap_or_default()),
            Err(_) => {}
        }
    }
}

fn append(value: &mut String, text: &str) {
    let room = MAX_VALUE_BYTES.saturating_sub(value.len());
    value.push_str(text.get(..text.floor_char_boundary(room)).unwrap_or_default());
}

fn attribute_text(attribute: &Attribute<'_>) -> String {
    let mut text = String::new();
    match attribute.normalized_value(XmlVersion::Implicit1_0) {
        Ok(value) => append(&mut text, &value),
        // It contains an unescaped ampersand.
        Err(_) => append(&mut text, &attribute.value),
    }
    text
}

fn is_default_language(item: &BytesStart<'_>) -> bool {
    let mut attributes = item.attributes();
    let mut attributes = attributes.with_checks(false).map_while(Result::ok);
    attributes.any(|attribute| {
        attribute.key.as_ref() == "xml:lang" && attribute.value.eq_ignore_ascii_case("x-default")
    })
}

/// The namespace of a name (empty if it has none) and the local name.
fn resolve<'a>(reader: &'a NsReader<&[u8]>, name: QName<'a>, is_element: bool) -> (&'a str, &'a str) {
    let (namespace, name) = reader.resolver().resolve(name, is_element);
    let namespace = match namespace {
        ResolveResult::Bound(Namespace(namespace)) => namespace,
        ResolveResult::Unbound | ResolveResult::Unknown(_) => "",
    };
    (namespace, name.into_inner())
}
