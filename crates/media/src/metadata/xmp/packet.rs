//! The properties of an XMP packet: RDF in XML (XMP specification, part 1, section 7).
//!
//! Only what the packet says of the photo itself is read: properties of other things, such as the ingredients of a
//! collage, stand deeper in it. Names are told by their namespace, whatever its prefix.

use quick_xml::{
    NsReader, XmlVersion,
    escape::resolve_predefined_entity,
    events::{BytesRef, BytesStart, Event, attributes::Attribute},
    name::{Namespace, QName, ResolveResult},
};

/// More than any program nests; deeper packets are read up to there.
const MAX_DEPTH: usize = 64;
/// Tags and pieces of text; sidecars with long editing histories have some ten thousands.
const MAX_EVENTS: usize = 400_000;
/// No value is longer; what is beyond is cut. Longer than any text that is kept.
const MAX_VALUE_BYTES: usize = 64 << 10;

const RDF: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
const META: &str = "adobe:ns:meta/";
const DC: &str = "http://purl.org/dc/elements/1.1/";
const EXIF: &str = "http://ns.adobe.com/exif/1.0/";
/// Each version of the EXIF metadata for XMP (CIPA DC-010) has its own ending.
const EXIF_EXTENDED: &str = "http://cipa.jp/exif/";
const PHOTOSHOP: &str = "http://ns.adobe.com/photoshop/1.0/";
const TIFF: &str = "http://ns.adobe.com/tiff/1.0/";
const XMP: &str = "http://ns.adobe.com/xap/1.0/";

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
    Make,
    Model,
}

impl Property {
    fn named(namespace: &str, name: &str) -> Option<Self> {
        let namespace = if namespace.starts_with(EXIF_EXTENDED) { EXIF } else { namespace };
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
            (XMP, "CreateDate") => Self::CreateDate,
            (DC, "description") => Self::Description,
            (DC, "title") => Self::Title,
            (TIFF, "ImageDescription") => Self::ImageDescription,
            (TIFF, "Make") => Self::Make,
            (TIFF, "Model") => Self::Model,
            _ => return None,
        })
    }
}

/// What a packet says of the photo; at most one value of each property.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Properties {
    found: Vec<Value>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Value {
    property: Property,
    text: String,
    /// Whether it is marked as the one for readers of every language.
    is_default: bool,
}

impl Properties {
    pub(super) fn get(&self, property: Property) -> Option<&str> {
        self.found.iter().find(|value| value.property == property).map(|value| value.text.as_str())
    }

    /// The first value counts, unless a later one is marked as the default; blank ones never do.
    fn add(&mut self, value: Value) {
        if value.text.trim().is_empty() {
            return;
        }
        match self.found.iter_mut().find(|known| known.property == value.property) {
            Some(known) if value.is_default && !known.is_default => *known = value,
            Some(_) => {}
            None => self.found.push(value),
        }
    }
}

/// An element that is open.
enum Open {
    /// Around the RDF.
    Around,
    /// `rdf:RDF`.
    Rdf,
    /// What describes the photo: its attributes and children are properties.
    Node,
    /// A property that is read, or a part of its value: an array, an item of one, a value with qualifiers.
    Value(Value),
    /// Whatever else.
    Other,
}

/// Reads a packet up to the end of its RDF, or to where it is broken. `None` when there is no XMP in it.
pub(super) fn properties(packet: &str) -> Option<Properties> {
    let mut reader = NsReader::from_str(packet);
    // People write sidecars by hand.
    reader.config_mut().allow_dangling_amp = true;
    let mut walk =
        Walk { open: Vec::new(), properties: Properties::default(), is_xmp: false, is_over: false };
    for _ in 0..MAX_EVENTS {
        if walk.is_over {
            break;
        }
        let Ok(event) = reader.read_event() else { break };
        match event {
            Event::Start(start) if walk.open.len() < MAX_DEPTH => walk.start(&start, &reader),
            Event::Empty(start) if walk.open.len() < MAX_DEPTH => {
                walk.start(&start, &reader);
                walk.end();
            }
            Event::End(_) => walk.end(),
            Event::Text(text) => walk.text(&text.xml10_content()),
            Event::CData(text) => walk.text(&text.xml10_content()),
            Event::GeneralRef(reference) => walk.reference(&reference),
            Event::Start(_) | Event::Empty(_) | Event::Eof => break,
            _ => {}
        }
    }
    // Of a packet that is cut, what was being read counts.
    while !walk.open.is_empty() {
        walk.end();
    }
    walk.is_xmp.then_some(walk.properties)
}

struct Walk {
    open: Vec<Open>,
    properties: Properties,
    is_xmp: bool,
    /// Whether the RDF has ended.
    is_over: bool,
}

impl Walk {
    fn start(&mut self, start: &BytesStart<'_>, reader: &NsReader<&[u8]>) {
        let (namespace, name) = named(reader, start.name(), true);
        let is_rdf = namespace == RDF;
        let inner = match self.open.last() {
            None | Some(Open::Around) if is_rdf && name == "RDF" => {
                self.is_xmp = true;
                Open::Rdf
            }
            None | Some(Open::Around) => {
                self.is_xmp |= namespace == META;
                Open::Around
            }
            Some(Open::Rdf) => {
                self.attributes(start, reader);
                Open::Node
            }
            Some(Open::Node) => Property::named(namespace, name).map_or(Open::Other, |property| {
                Open::Value(Value { property, text: String::new(), is_default: false })
            }),
            Some(Open::Value(outer))
                if is_rdf && matches!(name, "Alt" | "Bag" | "Seq" | "li" | "value" | "Description") =>
            {
                let is_default = is_default_language(start);
                Open::Value(Value { property: outer.property, text: String::new(), is_default })
            }
            Some(Open::Value(_) | Open::Other) => Open::Other,
        };
        self.open.push(inner);
    }

    /// Simple properties may be written as attributes of the node.
    fn attributes(&mut self, start: &BytesStart<'_>, reader: &NsReader<&[u8]>) {
        for attribute in start.attributes().with_checks(false).map_while(Result::ok) {
            let (namespace, name) = named(reader, attribute.key, false);
            if let Some(property) = Property::named(namespace, name) {
                let text = attribute_text(&attribute);
                self.properties.add(Value { property, text, is_default: false });
            }
        }
    }

    fn end(&mut self) {
        match self.open.pop() {
            Some(Open::Value(value)) => self.properties.add(value),
            Some(Open::Rdf) => self.is_over = true,
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if let Some(Open::Value(value)) = self.open.last_mut() {
            append(&mut value.text, text);
        }
    }

    /// Characters by their numbers and the five names that XML knows; a packet's own names are never expanded.
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
        // With a bare ampersand in it.
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

/// The namespace of a name, blank when it has none, and the name in it.
fn named<'a>(reader: &'a NsReader<&[u8]>, name: QName<'a>, is_element: bool) -> (&'a str, &'a str) {
    let (namespace, name) = reader.resolver().resolve(name, is_element);
    let namespace = match namespace {
        ResolveResult::Bound(Namespace(namespace)) => namespace,
        ResolveResult::Unbound | ResolveResult::Unknown(_) => "",
    };
    (namespace, name.into_inner())
}
