//! PROPPATCH (RFC 4918 §9.2).

use dav_protocol::{
    Name, XmlWriter,
    bodies::{PropertyChange, parse_prop_patch},
    names::{DAV, MICROSOFT, NEXTCLOUD},
    parse_time,
};
use domain::Timestamp;
use http_server::{body::RequestBody, reply::Reply};
use library::{FileKind, FileTimes};

use super::{
    DavError, DavRequest, conditions,
    multistatus::{prop_stat, small_reply},
    places::FilePlace,
    properties,
    request::xml_body,
};

/// What a change of a property does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// It sets the modification time.
    ModifiedAt(Timestamp),
    /// It sets the creation time.
    CreatedAt(Timestamp),
    /// It has no effect. It is accepted because the client would otherwise report the upload as failed.
    None,
    Refused,
}

impl Effect {
    fn of(change: &PropertyChange) -> Self {
        let text = change.value.as_deref();
        let modified_at = |at: Option<Timestamp>| at.map_or(Self::Refused, Self::ModifiedAt);
        let created_at = |at: Option<Timestamp>| at.map_or(Self::Refused, Self::CreatedAt);
        match change.name.parts() {
            (DAV, "getlastmodified" | "lastmodified") => modified_at(text.and_then(parse_time)),
            (DAV, "creationdate") | (NEXTCLOUD, "creation_time") => created_at(text.and_then(parse_time)),
            // Explorer reports an error for each file whose times it cannot set.
            (MICROSOFT, "Win32LastModifiedTime") => {
                text.and_then(parse_time).map_or(Self::None, Self::ModifiedAt)
            }
            (MICROSOFT, "Win32CreationTime") => text.and_then(parse_time).map_or(Self::None, Self::CreatedAt),
            (MICROSOFT, "Win32LastAccessTime" | "Win32FileAttributes") => Self::None,
            // The app for iOS marks the still and the movie of a live photo. Movies are never stored.
            (NEXTCLOUD, "metadata-files-live-photo") => Self::None,
            _ => Self::Refused,
        }
    }
}

/// Changes all properties, or none if one is refused.
pub(super) async fn prop_patch(
    request: &DavRequest<'_>,
    place: &FilePlace,
    body: RequestBody,
) -> Result<Reply, DavError> {
    let changes = parse_prop_patch(&xml_body(body).await?)?;
    let (library, caller) = (request.library(), &request.caller);
    let entry = library.ingest.file(caller, &place.path).await?.ok_or(DavError::NotFound)?;
    let tokens = conditions::check(request, &place.path).await?.lock_tokens;
    let (refused, accepted): (Vec<_>, Vec<_>) = changes
        .iter()
        .map(|change| (&change.name, Effect::of(change)))
        .partition(|(_, effect)| *effect == Effect::Refused);
    let times = times(accepted.iter().map(|(_, effect)| *effect));
    if refused.is_empty() {
        library.ingest.set_file_times(caller, &place.path, times, &tokens).await?;
    }
    let mut href = properties::href(&place.root, &place.path);
    if entry.kind == FileKind::Folder {
        href.push('/');
    }
    let accepted_status = if refused.is_empty() { "200 OK" } else { "424 Failed Dependency" };
    Ok(small_reply(|xml| {
        xml.open("d:response");
        xml.element("d:href", &href);
        write_status(xml, accepted_status, &accepted);
        write_status(xml, "403 Forbidden", &refused);
        xml.close("d:response");
    }))
}

fn times(effects: impl Iterator<Item = Effect>) -> FileTimes {
    let mut times = FileTimes::default();
    for effect in effects {
        match effect {
            Effect::ModifiedAt(at) => times.modified_at = Some(at),
            Effect::CreatedAt(at) => times.created_at = Some(at),
            Effect::None | Effect::Refused => {}
        }
    }
    times
}

fn write_status(xml: &mut XmlWriter, status: &str, properties: &[(&Name, Effect)]) {
    if !properties.is_empty() {
        prop_stat(xml, status, |xml| properties.iter().for_each(|(name, _)| xml.empty_named(name)));
    }
}
