use crate::{Name, names};

/// Writes XML with the prefixes `d:`, `oc:`, `nc:` and `s:`. Nextcloud's app for iOS compares them as text.
#[derive(Debug, Default)]
pub struct XmlWriter {
    text: String,
}

impl XmlWriter {
    /// The attributes of the root element that declare the prefixes.
    pub const NAMESPACES: &'static str = concat!(
        r#" xmlns:d="DAV:" xmlns:s="http://sabredav.org/ns""#,
        r#" xmlns:oc="http://owncloud.org/ns" xmlns:nc="http://nextcloud.org/ns""#
    );

    /// A document that starts with the XML declaration and a root element with all namespaces.
    pub fn document(root: &str) -> Self {
        let mut writer = Self::default();
        writer.raw("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<");
        writer.raw(root);
        writer.raw(Self::NAMESPACES);
        writer.raw(">");
        writer
    }

    /// Appends markup as it is.
    pub fn raw(&mut self, markup: &str) {
        self.text.push_str(markup);
    }

    /// Appends a start tag. The name has a known prefix.
    pub fn open(&mut self, tag: &str) {
        self.raw("<");
        self.raw(tag);
        self.raw(">");
    }

    /// Appends an end tag.
    pub fn close(&mut self, tag: &str) {
        self.raw("</");
        self.raw(tag);
        self.raw(">");
    }

    /// Appends an element without content.
    pub fn empty(&mut self, tag: &str) {
        self.raw("<");
        self.raw(tag);
        self.raw("/>");
    }

    /// Appends an element with text.
    pub fn element(&mut self, tag: &str, text: &str) {
        self.open(tag);
        self.escaped(text);
        self.close(tag);
    }

    /// Appends text. Characters that XML 1.0 does not allow are replaced by U+FFFD.
    pub fn escaped(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '&' => self.raw("&amp;"),
                '<' => self.raw("&lt;"),
                '>' => self.raw("&gt;"),
                '"' => self.raw("&quot;"),
                '\t' | '\n' => self.text.push(c),
                // Readers turn a plain carriage return into a line feed.
                '\r' => self.raw("&#13;"),
                '\u{fffe}' | '\u{ffff}' => self.text.push('\u{fffd}'),
                c if c < ' ' => self.text.push('\u{fffd}'),
                c => self.text.push(c),
            }
        }
    }

    /// Appends an element without content and with any name.
    pub fn empty_named(&mut self, name: &Name) {
        self.tag(name, "/>");
    }

    /// Appends the start tag of an element with any name.
    pub(crate) fn open_named(&mut self, name: &Name) {
        self.tag(name, ">");
    }

    /// Appends the end tag of an element with any name.
    pub(crate) fn close_named(&mut self, name: &Name) {
        self.raw("</");
        self.prefixed(name);
        self.raw(">");
    }

    fn tag(&mut self, name: &Name, end: &str) {
        self.raw("<");
        self.prefixed(name);
        if prefix(name.namespace()).is_none() {
            self.raw(if name.namespace().is_empty() { " xmlns=\"" } else { " xmlns:x=\"" });
            self.escaped(name.namespace());
            self.raw("\"");
        }
        self.raw(end);
    }

    fn prefixed(&mut self, name: &Name) {
        match prefix(name.namespace()) {
            Some(prefix) => self.raw(prefix),
            None if name.namespace().is_empty() => {}
            None => self.raw("x:"),
        }
        self.raw(name.local());
    }

    /// Number of bytes written since the last [`take`](Self::take).
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// Whether nothing was written since the last [`take`](Self::take).
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Returns what was written, and empties the writer.
    pub fn take(&mut self) -> String {
        let capacity = self.text.capacity();
        std::mem::replace(&mut self.text, String::with_capacity(capacity))
    }
}

fn prefix(namespace: &str) -> Option<&'static str> {
    match namespace {
        names::DAV => Some("d:"),
        names::OWNCLOUD => Some("oc:"),
        names::NEXTCLOUD => Some("nc:"),
        names::SABRE => Some("s:"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_namespaces_have_prefixes_and_others_are_declared() {
        let mut writer = XmlWriter::default();
        for name in [
            Name::new(names::DAV, "getetag"),
            Name::new(names::OWNCLOUD, "id"),
            Name::new("urn:a\"b", "c"),
            Name::new("", "e"),
        ] {
            writer.empty_named(&name);
        }
        assert_eq!(writer.take(), r#"<d:getetag/><oc:id/><x:c xmlns:x="urn:a&quot;b"/><e xmlns=""/>"#);
    }
}
