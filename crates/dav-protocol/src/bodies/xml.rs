//! A bounded XML reader.

use quick_xml::{
    NsReader,
    escape::{resolve_predefined_entity, unescape},
    events::{BytesRef, BytesStart, Event},
    name::{Namespace, ResolveResult},
};

use super::InvalidBody;
use crate::Name;

/// Maximum length of a body in bytes.
pub const MAX_BODY_BYTES: usize = 64 << 10;
/// Maximum nesting of elements.
const MAX_DEPTH: usize = 32;
/// Maximum number of elements.
const MAX_ELEMENTS: usize = 2000;

/// An element with its content. Attributes are not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Element {
    pub(super) name: Name,
    pub(super) content: Vec<Node>,
}

/// A part of an element's content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    Element(Element),
    Text(String),
}

impl Element {
    /// The direct child elements.
    pub(super) fn children(&self) -> impl Iterator<Item = &Self> {
        self.content.iter().filter_map(|node| match node {
            Node::Element(element) => Some(element),
            Node::Text(_) => None,
        })
    }

    /// The first direct child with this name.
    pub(super) fn child(&self, namespace: &str, local: &str) -> Option<&Self> {
        self.children().find(|child| child.name.parts() == (namespace, local))
    }

    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for node in &self.content {
            match node {
                Node::Element(element) => text.push_str(&element.text()),
                Node::Text(part) => text.push_str(part),
            }
        }
        text
    }

    fn push_text(&mut self, text: &str) {
        match self.content.last_mut() {
            Some(Node::Text(last)) => last.push_str(text),
            _ => self.content.push(Node::Text(text.to_owned())),
        }
    }
}

/// Parses a document.
pub(super) fn parse(body: &[u8]) -> Result<Element, InvalidBody> {
    if body.len() > MAX_BODY_BYTES {
        return Err(InvalidBody("it is too long"));
    }
    let text = std::str::from_utf8(body).map_err(|_| InvalidBody("it is not UTF-8"))?;
    let mut reader = NsReader::from_str(text.strip_prefix('\u{feff}').unwrap_or(text));
    let mut tree = Tree::default();
    loop {
        let event = reader.read_event().map_err(|_| InvalidBody("it is not well-formed XML"))?;
        match event {
            Event::Start(start) => tree.start(&start, &reader)?,
            Event::Empty(start) => {
                tree.start(&start, &reader)?;
                tree.end();
            }
            Event::End(_) => tree.end(),
            Event::Text(text) => tree.text(&text.xml10_content())?,
            Event::CData(text) => tree.text(&text.xml10_content())?,
            Event::GeneralRef(reference) => tree.reference(&reference)?,
            Event::DocType(_) => return Err(InvalidBody("a document type is not allowed")),
            Event::Eof => return tree.finish(),
            Event::Decl(_) | Event::PI(_) | Event::Comment(_) => {}
        }
    }
}

#[derive(Default)]
struct Tree {
    open: Vec<Element>,
    root: Option<Element>,
    elements: usize,
}

impl Tree {
    fn start(&mut self, start: &BytesStart<'_>, reader: &NsReader<&[u8]>) -> Result<(), InvalidBody> {
        self.elements += 1;
        if self.open.len() >= MAX_DEPTH || self.elements > MAX_ELEMENTS {
            return Err(InvalidBody("it has too many elements"));
        }
        if self.open.is_empty() && self.root.is_some() {
            return Err(InvalidBody("it has more than one root element"));
        }
        self.open.push(Element { name: name(start, reader)?, content: Vec::new() });
        Ok(())
    }

    fn end(&mut self) {
        let Some(element) = self.open.pop() else { return };
        match self.open.last_mut() {
            Some(parent) => parent.content.push(Node::Element(element)),
            None => self.root = Some(element),
        }
    }

    fn text(&mut self, text: &str) -> Result<(), InvalidBody> {
        match self.open.last_mut() {
            Some(element) => element.push_text(text),
            None if text.trim().is_empty() => {}
            None => return Err(InvalidBody("it has text outside the root element")),
        }
        Ok(())
    }

    /// Resolves a character reference or one of the five predefined entities.
    fn reference(&mut self, reference: &BytesRef<'_>) -> Result<(), InvalidBody> {
        const UNKNOWN: InvalidBody = InvalidBody("it refers to an unknown entity");
        let mut letter = [0; 4];
        match reference.resolve_char_ref().map_err(|_| UNKNOWN)? {
            Some(found) => self.text(found.encode_utf8(&mut letter)),
            None => self.text(resolve_predefined_entity(reference).ok_or(UNKNOWN)?),
        }
    }

    fn finish(self) -> Result<Element, InvalidBody> {
        match self.root {
            Some(root) if self.open.is_empty() => Ok(root),
            _ => Err(InvalidBody("it is not complete")),
        }
    }
}

fn name(start: &BytesStart<'_>, reader: &NsReader<&[u8]>) -> Result<Name, InvalidBody> {
    let has_prefix = start.name().prefix().is_some();
    let (namespace, local) = reader.resolver().resolve(start.name(), true);
    let namespace = match namespace {
        ResolveResult::Bound(Namespace(namespace)) if !namespace.is_empty() => namespace,
        // Namespaces in XML 1.0 §6.1: a prefix cannot be bound to nothing.
        _ if has_prefix => return Err(InvalidBody("a prefix has no namespace")),
        _ => "",
    };
    // The resolver returns the value of the attribute as it was written.
    let namespace = unescape(namespace).map_err(|_| InvalidBody("it refers to an unknown entity"))?;
    Name::parse(&namespace, local.into_inner()).ok_or(InvalidBody("an element has an invalid name"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::XmlWriter;
    use proptest::prelude::*;

    fn is_refused(body: &str, reason: &str) {
        assert_eq!(parse(body.as_bytes()), Err(InvalidBody(reason.to_owned().leak())), "{body}");
    }

    #[test]
    fn names_are_resolved_by_namespace() {
        let root = parse(br#"<a xmlns="n" xmlns:x="m"><x:b>1<c xmlns=""/>&lt;&#65;<![CDATA[&]]></x:b></a>"#)
            .unwrap();
        assert_eq!(root.name.parts(), ("n", "a"));
        let inner = root.child("m", "b").unwrap();
        assert_eq!(inner.text(), "1<A&");
        assert!(inner.child("", "c").is_some());
        let escaped = parse(br#"<x:a xmlns:x="n&amp;m"/>"#).unwrap();
        assert_eq!(escaped.name.parts(), ("n&m", "a"));
    }

    #[test]
    fn documents_beyond_the_limits_are_refused() {
        is_refused(&"<a>".repeat(MAX_DEPTH + 1), "it has too many elements");
        is_refused(&format!("<a>{}</a>", "<b/>".repeat(MAX_ELEMENTS)), "it has too many elements");
        is_refused(&format!("<a>{}</a>", " ".repeat(MAX_BODY_BYTES)), "it is too long");
    }

    #[test]
    fn document_types_and_entities_are_refused() {
        is_refused(r#"<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>"#, "a document type is not allowed");
        is_refused("<a>&x;</a>", "it refers to an unknown entity");
    }

    #[test]
    fn malformed_documents_are_refused() {
        is_refused("", "it is not complete");
        is_refused("<a>", "it is not complete");
        is_refused("<a></b>", "it is not well-formed XML");
        is_refused("<a/><b/>", "it has more than one root element");
        is_refused("text", "it has text outside the root element");
        is_refused("<x:a/>", "a prefix has no namespace");
        is_refused(r#"<x:a xmlns:x=""/>"#, "a prefix has no namespace");
        is_refused("<a$/>", "an element has an invalid name");
        assert!(parse(b"<a>\xff</a>").is_err());
    }

    proptest! {
        #[test]
        fn text_is_read_back(text in "[^\\p{Cc}\\u{fffe}\\u{ffff}]{0,60}") {
            let mut writer = XmlWriter::document("d:a");
            writer.escaped(&text);
            writer.close("d:a");
            prop_assert_eq!(parse(writer.take().as_bytes()).unwrap().text(), text);
        }

        #[test]
        fn any_text_gives_well_formed_xml(text in "\\PC{0,20}[\\x00-\\x20]{0,5}") {
            let mut writer = XmlWriter::document("d:a");
            writer.element("d:b", &text);
            writer.close("d:a");
            prop_assert!(parse(writer.take().as_bytes()).is_ok());
        }
    }
}
