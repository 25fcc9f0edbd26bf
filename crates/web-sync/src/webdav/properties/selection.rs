use dav_protocol::{Name, XmlWriter, bodies::PropFind};
use domain::FilePath;
use library::FileEntry;

use super::{
    Context,
    table::{Inclusion, PROPERTIES, Property, Resource, Value, is_folder},
};
use crate::webdav::multistatus::prop_stat;

/// The properties of a response.
pub(in crate::webdav) struct Selection {
    /// Known properties, each with whether it is listed as missing for a file that does not have it.
    known: Vec<(&'static Property, bool)>,
    /// Elements of unknown properties.
    unknown: String,
    /// Whether only the names are written.
    names_only: bool,
}

impl Selection {
    /// The properties that a request asks for.
    pub(in crate::webdav) fn of(request: &PropFind) -> Self {
        let is_common = |property: &&Property| property.inclusion == Inclusion::Common;
        let all: Vec<_> = PROPERTIES.iter().map(|property| (property, false)).collect();
        match request {
            PropFind::PropName => Self { known: all, unknown: String::new(), names_only: true },
            PropFind::Prop(names) => Self::named(Vec::new(), names),
            PropFind::AllProp { include } => {
                let common = PROPERTIES.iter().filter(is_common).map(|property| (property, false));
                Self::named(common.collect(), include)
            }
        }
    }

    /// Adds the properties with these names to `known`, each once.
    fn named(mut known: Vec<(&'static Property, bool)>, names: &[Name]) -> Self {
        let mut unknown = XmlWriter::default();
        for name in names {
            let property = PROPERTIES
                .iter()
                .find(|property| (property.namespace, property.local_name()) == name.parts());
            match property {
                Some(property) if known.iter().all(|(other, _)| other.tag != property.tag) => {
                    known.push((property, true));
                }
                Some(_) => {}
                None => unknown.empty_named(name),
            }
        }
        Self { known, unknown: unknown.take(), names_only: false }
    }

    pub(super) fn needs_usage(&self) -> bool {
        self.has("d:quota-available-bytes") || self.has("d:quota-used-bytes")
    }

    pub(super) fn needs_locks(&self) -> bool {
        self.has("d:lockdiscovery")
    }

    fn has(&self, tag: &str) -> bool {
        !self.names_only && self.known.iter().any(|(property, _)| property.tag == tag)
    }

    /// Writes the `response` element of a file or folder. The app for iOS expects the 200 status first.
    pub(in crate::webdav) fn write(
        &self,
        entry: &FileEntry,
        path: &FilePath,
        context: &Context,
        xml: &mut XmlWriter,
    ) {
        let mut href = context.href(path);
        if is_folder(entry) {
            href.push('/');
        }
        xml.raw("<d:response>");
        xml.element("d:href", &href);
        self.write_properties(&Resource { entry, path, context }, xml);
        xml.raw("</d:response>");
    }

    fn write_properties(&self, resource: &Resource<'_>, xml: &mut XmlWriter) {
        let mut found: Vec<(&Property, Value)> = Vec::with_capacity(self.known.len());
        let mut missing = Vec::new();
        for (property, is_listed) in &self.known {
            match (property.value)(resource) {
                Some(value) => found.push((property, value)),
                None if *is_listed => missing.push(property.tag),
                None => {}
            }
        }
        let has_missing = !missing.is_empty() || !self.unknown.is_empty();
        if !found.is_empty() || !has_missing {
            prop_stat(xml, "200 OK", |xml| {
                for (property, value) in &found {
                    if self.names_only { xml.empty(property.tag) } else { property.write(value, xml) }
                }
            });
        }
        if has_missing {
            prop_stat(xml, "404 Not Found", |xml| {
                missing.iter().for_each(|tag| xml.empty(tag));
                xml.raw(&self.unknown);
            });
        }
    }
}
