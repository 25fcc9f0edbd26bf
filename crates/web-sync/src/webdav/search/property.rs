use std::{borrow::Cow, cmp::Ordering};

use dav_protocol::{
    Name,
    names::{DAV, NEXTCLOUD, OWNCLOUD},
    parse_time_clamped,
};
use domain::Timestamp;
use library::{FileEntry, FileKind};

use crate::webdav::{
    get::media_type,
    properties::{self, created_at, entity_tag, is_favorite},
};

/// A property by which files are searched and ordered, with the value that PROPFIND shows.
#[derive(Clone, Copy)]
pub(super) enum Property {
    Text(fn(&FileEntry) -> Option<Cow<'_, str>>),
    /// The number of a file, and the parser of a literal.
    Number(fn(&FileEntry) -> Option<u64>, fn(&str) -> Option<u64>),
    /// Clients see and compare whole seconds.
    Time(fn(&FileEntry) -> Option<Timestamp>),
}

impl Property {
    /// The property of this name; `None` if files are not searched by it.
    pub(super) fn named(name: &Name) -> Option<Self> {
        Some(match name.parts() {
            (DAV, "displayname") => Self::Text(|entry| Some(entry.name.as_ref()?.as_str().into())),
            (DAV, "getcontenttype") => {
                Self::Text(|entry| of_file(entry).map(|entry| media_type(entry).into()))
            }
            (DAV, "getetag") => Self::Text(|entry| Some(format!("\"{}\"", entity_tag(entry)).into())),
            (DAV, "getlastmodified") => Self::Time(|entry| Some(entry.modified_at())),
            (DAV, "creationdate") => Self::Time(|entry| Some(created_at(entry))),
            (NEXTCLOUD, "creation_time") => {
                Self::Time(|entry| entry.times.created_at.or(Timestamp::from_millis(0)))
            }
            (NEXTCLOUD, "upload_time") => Self::Time(|entry| Some(entry.received_at)),
            (DAV, "getcontentlength") => Self::Number(|entry| Some(of_file(entry)?.bytes), number),
            (OWNCLOUD, "size") => Self::Number(|entry| Some(entry.bytes), number),
            (OWNCLOUD, "fileid") => Self::Number(|entry| u64::try_from(entry.id.0).ok(), file_id),
            (OWNCLOUD, "favorite") => Self::Number(|entry| Some(u64::from(is_favorite(entry))), flag),
            _ => return None,
        })
    }

    /// Whether a file has it.
    pub(super) fn is_defined(self, entry: &FileEntry) -> bool {
        match self {
            Self::Text(value) => value(entry).is_some(),
            Self::Number(value, _) => value(entry).is_some(),
            Self::Time(value) => value(entry).is_some(),
        }
    }

    /// The order of two files by this property. A file without the property comes first (RFC 5323 §5.6).
    pub(super) fn compare(self, a: &FileEntry, b: &FileEntry) -> Ordering {
        match self {
            Self::Text(value) => value(a).cmp(&value(b)),
            Self::Number(value, _) => value(a).cmp(&value(b)),
            Self::Time(value) => value(a).map(whole_second).cmp(&value(b).map(whole_second)),
        }
    }
}

fn of_file(entry: &FileEntry) -> Option<&FileEntry> {
    (entry.kind != FileKind::Folder).then_some(entry)
}

/// A time without its fraction of a second.
pub(super) fn whole_second(at: Timestamp) -> Timestamp {
    at.plus_millis(-at.millis().rem_euclid(1000))
}

/// The time that a literal names.
pub(super) fn time(literal: &str) -> Option<Timestamp> {
    parse_time_clamped(literal)
}

fn number(literal: &str) -> Option<u64> {
    literal.trim().parse().ok()
}

/// The id at the start of `oc:fileid` or of `oc:id`. Clients search for both, because Nextcloud reads the digits.
pub(super) fn file_id(literal: &str) -> Option<u64> {
    let literal = literal.trim();
    let end = literal.find(|c: char| !c.is_ascii_digit()).unwrap_or(literal.len());
    literal.get(..end)?.parse().ok()
}

/// 1 for a true literal, 0 for a false one; `None` for any other text.
fn flag(literal: &str) -> Option<u64> {
    properties::flag(literal).map(u64::from)
}
