use std::borrow::Cow;

use dav_protocol::{
    XmlWriter, http_date,
    names::{DAV, NEXTCLOUD, OWNCLOUD},
};
use domain::{FilePath, Timestamp};
use library::{FileContent, FileEntry, FileKind};

use super::{Context, created_at, entity_tag, is_favorite, locks, public_file_id};
use crate::webdav::get::media_type;

/// A file or folder whose properties are written.
pub(super) struct Resource<'a> {
    pub(super) entry: &'a FileEntry,
    pub(super) path: &'a FilePath,
    pub(super) context: &'a Context,
}

/// The value of a property.
pub(super) enum Value {
    Text(Cow<'static, str>),
    Markup(Cow<'static, str>),
}

/// When a property is part of the response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Inclusion {
    /// Also when all properties are requested.
    Common,
    /// Only when it is requested by name.
    ByName,
}

pub(super) struct Property {
    /// Its name with the prefix.
    pub(super) tag: &'static str,
    pub(super) namespace: &'static str,
    pub(super) inclusion: Inclusion,
    /// Its value; `None` if this file or folder does not have it.
    pub(super) value: fn(&Resource<'_>) -> Option<Value>,
}

impl Property {
    pub(super) fn local_name(&self) -> &'static str {
        self.tag.split_once(':').map_or(self.tag, |(_, name)| name)
    }

    pub(super) fn write(&self, value: &Value, xml: &mut XmlWriter) {
        match value {
            Value::Text(text) | Value::Markup(text) if text.is_empty() => xml.empty(self.tag),
            Value::Text(text) => xml.element(self.tag, text),
            Value::Markup(markup) => {
                xml.open(self.tag);
                xml.raw(markup);
                xml.close(self.tag);
            }
        }
    }
}

const fn common(tag: &'static str, value: fn(&Resource<'_>) -> Option<Value>) -> Property {
    Property { tag, namespace: DAV, inclusion: Inclusion::Common, value }
}

const fn by_name(
    namespace: &'static str,
    tag: &'static str,
    value: fn(&Resource<'_>) -> Option<Value>,
) -> Property {
    Property { tag, namespace, inclusion: Inclusion::ByName, value }
}

/// All properties.
///
/// `displayname` is not a common property, because Nextcloud's app for Android would misread its list of chunks.
/// Nextcloud's apps also request properties about shares, comments, tags and editors. These are not found.
pub(super) const PROPERTIES: [Property; 26] = [
    common("d:resourcetype", |resource| {
        markup(if is_folder(resource.entry) { "<d:collection/>" } else { "" })
    }),
    common("d:getlastmodified", |resource| text(http_date(resource.entry.modified_at()))),
    common("d:getetag", |resource| text(format!("\"{}\"", entity_tag(resource.entry)))),
    common("d:getcontentlength", |resource| of_file(resource, |entry| text(entry.bytes.to_string()))),
    common("d:getcontenttype", |resource| of_file(resource, |entry| text(media_type(entry)))),
    common("d:creationdate", |resource| text(iso_seconds(created_at(resource.entry)))),
    common("d:supportedlock", |_| markup(locks::SUPPORTED)),
    common("d:lockdiscovery", |resource| Some(Value::Markup(locks::discovery(resource).into()))),
    by_name(DAV, "d:displayname", |resource| {
        text(resource.entry.name.as_ref().map_or(resource.context.handle.clone(), ToString::to_string))
    }),
    by_name(DAV, "d:current-user-principal", |resource| {
        Some(Value::Markup(format!("<d:href>{}</d:href>", resource.context.principal).into()))
    }),
    by_name(DAV, "d:quota-available-bytes", |resource| of_folder(resource, available_bytes)),
    by_name(DAV, "d:quota-used-bytes", |resource| of_folder(resource, used_bytes)),
    by_name(OWNCLOUD, "oc:fileid", |resource| text(resource.entry.id.0.to_string())),
    by_name(OWNCLOUD, "oc:id", |resource| text(public_file_id(resource.entry, &resource.context.handle))),
    by_name(OWNCLOUD, "oc:size", |resource| text(resource.entry.bytes.to_string())),
    by_name(OWNCLOUD, "oc:permissions", |resource| {
        text(if is_folder(resource.entry) { "RGDNVCK" } else { "RGDNVW" })
    }),
    by_name(OWNCLOUD, "oc:checksums", |resource| checksums(resource.entry)),
    by_name(OWNCLOUD, "oc:owner-id", |resource| text(resource.context.handle.clone())),
    by_name(OWNCLOUD, "oc:owner-display-name", |resource| text(resource.context.email.clone())),
    by_name(OWNCLOUD, "oc:favorite", |resource| text(if is_favorite(resource.entry) { "1" } else { "0" })),
    by_name(NEXTCLOUD, "nc:has-preview", |resource| {
        text(if has_preview(resource.entry) { "true" } else { "false" })
    }),
    by_name(NEXTCLOUD, "nc:creation_time", |resource| {
        text(resource.entry.times.created_at.map_or(0, epoch_seconds).to_string())
    }),
    by_name(NEXTCLOUD, "nc:upload_time", |resource| {
        text(epoch_seconds(resource.entry.received_at).to_string())
    }),
    by_name(NEXTCLOUD, "nc:is-encrypted", |_| text("0")),
    by_name(NEXTCLOUD, "nc:mount-type", |_| text("")),
    by_name(NEXTCLOUD, "nc:hidden", |_| text("false")),
];

fn text(text: impl Into<Cow<'static, str>>) -> Option<Value> {
    Some(Value::Text(text.into()))
}

fn markup(markup: &'static str) -> Option<Value> {
    Some(Value::Markup(markup.into()))
}

pub(super) fn is_folder(entry: &FileEntry) -> bool {
    entry.kind == FileKind::Folder
}

fn of_file(resource: &Resource<'_>, value: fn(&FileEntry) -> Option<Value>) -> Option<Value> {
    if is_folder(resource.entry) { None } else { value(resource.entry) }
}

fn of_folder(resource: &Resource<'_>, value: fn(&Context) -> Option<Value>) -> Option<Value> {
    if is_folder(resource.entry) { value(resource.context) } else { None }
}

fn epoch_seconds(at: Timestamp) -> i64 {
    at.millis().div_euclid(1000)
}

/// RFC 3339 without a fraction, because some clients cannot read a fraction.
fn iso_seconds(at: Timestamp) -> String {
    let text = at.to_string();
    let seconds = text.split_once('.').map_or(text.as_str(), |(seconds, _)| seconds);
    format!("{seconds}Z")
}

/// Nextcloud's clients know −3 as "no limit". Others expect that the property is absent (RFC 4331 §3).
fn available_bytes(context: &Context) -> Option<Value> {
    match context.usage? {
        (used, Some(quota)) => text(quota.saturating_sub(used).to_string()),
        (_, None) if context.is_nextcloud => text("-3"),
        (_, None) => None,
    }
}

fn used_bytes(context: &Context) -> Option<Value> {
    text(context.usage?.0.to_string())
}

fn has_preview(entry: &FileEntry) -> bool {
    matches!(&entry.kind, FileKind::File(FileContent::Photo { image: Some(image), .. }) if image.is_live)
}

/// The SHA-1 that the client sent, and the SHA-256 of a stored original.
fn checksums(entry: &FileEntry) -> Option<Value> {
    let sha1 = entry
        .sha1
        .map(|digest| digest.iter().fold("SHA1:".to_owned(), |text, byte| text + &format!("{byte:02x}")));
    let sha256 = match &entry.kind {
        FileKind::File(FileContent::Photo { original, .. } | FileContent::Partial { original, .. }) => {
            Some(format!("SHA256:{original}"))
        }
        _ => None,
    };
    let all: Vec<String> = sha1.into_iter().chain(sha256).collect();
    let all = all.join(" ");
    (!all.is_empty()).then(|| Value::Markup(format!("<oc:checksum>{all}</oc:checksum>").into()))
}
