//! PROPPATCH (RFC 4918 §9.2).

use dav_protocol::{
    Name, XmlWriter,
    bodies::{PropertyChange, parse_prop_patch},
    names::{DAV, MICROSOFT, NEXTCLOUD, OWNCLOUD},
    parse_time,
};
use domain::{Correction, ImageId, MarksEdit, PhotoEdit, Timestamp};
use http_server::{body::RequestBody, reply::Reply};
use library::{EditError, FileContent, FileEntry, FileKind, FileTimes, Lookup, NewEdit};

use super::{
    DavError, DavRequest, conditions,
    multistatus::{prop_stat, small_reply},
    places::FilePlace,
    properties,
    request::xml_body,
};
use crate::replies;

/// What a change of a property does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// It sets the modification time.
    ModifiedAt(Timestamp),
    /// It sets the creation time.
    CreatedAt(Timestamp),
    /// It makes the photo a favourite, or an ordinary photo.
    Favorite(bool),
    /// It has no effect. It is accepted because the client would otherwise report the upload as failed.
    None,
    Refused,
}

impl Effect {
    fn of(change: &PropertyChange, entry: &FileEntry) -> Self {
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
            // The app for Android removes the property, that for iOS sets it to 0.
            (OWNCLOUD, "favorite") => match text.map_or(Some(false), properties::flag) {
                Some(is_favorite) if has_image(entry) => Self::Favorite(is_favorite),
                // Only photos are favourites.
                Some(false) => Self::None,
                Some(true) | None => Self::Refused,
            },
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
        .map(|change| (&change.name, Effect::of(change, &entry)))
        .partition(|(_, effect)| *effect == Effect::Refused);
    let times = times(accepted.iter().map(|(_, effect)| *effect));
    if refused.is_empty() {
        let favorite = accepted.iter().rev().find_map(|(_, effect)| match effect {
            Effect::Favorite(is_favorite) => Some(*is_favorite),
            _ => None,
        });
        let favorite =
            favorite.map(|is_favorite| favorite_change(&entry, is_favorite)).transpose()?.flatten();
        library.ingest.set_file_times(caller, &place.path, times, &tokens).await?;
        if let Some((image, is_favorite)) = favorite {
            set_favorite(request, image, is_favorite).await?;
        }
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

/// Whether the file is a photo with an image, which may be deleted.
fn has_image(entry: &FileEntry) -> bool {
    matches!(&entry.kind, FileKind::File(FileContent::Photo { image: Some(_), .. }))
}

/// The image to change; `None` if it has the value already.
fn favorite_change(entry: &FileEntry, is_favorite: bool) -> Result<Option<(ImageId, bool)>, DavError> {
    match &entry.kind {
        FileKind::File(FileContent::Photo { image: Some(image), .. }) if image.is_favorite != is_favorite => {
            if image.is_live {
                Ok(Some((image.id.clone(), is_favorite)))
            } else {
                Err(NOT_VISIBLE)
            }
        }
        _ => Ok(None),
    }
}

const NOT_VISIBLE: DavError = DavError::Conflict("the photo is not indexed yet, or was deleted");

/// Makes a photo a favourite, or an ordinary photo, in the name of the device.
async fn set_favorite(request: &DavRequest<'_>, image: ImageId, is_favorite: bool) -> Result<(), DavError> {
    let (library, caller) = (request.library(), &request.caller);
    let unavailable = |error: &dyn std::fmt::Display| {
        replies::log_unavailable(error);
        DavError::Unavailable
    };
    let author = library.accounts.editor(caller).await?.author;
    let id = library.catalogue.new_edit_id().map_err(|error| unavailable(&error))?;
    let marks = MarksEdit { favorite: Correction::Set(is_favorite), ..MarksEdit::default() };
    let change = PhotoEdit { marks, ..PhotoEdit::default() };
    let edited =
        library.catalogue.edit_images(caller, vec![image], NewEdit { id, author }, change, false).await;
    match edited {
        Ok(Lookup::Found(_)) => Ok(()),
        Ok(Lookup::Foreign | Lookup::Missing) => Err(NOT_VISIBLE),
        Err(EditError::Invalid(error)) => Err(DavError::BadRequest(error.to_string())),
        Err(EditError::Unavailable(error)) => Err(unavailable(&error)),
    }
}

fn times(effects: impl Iterator<Item = Effect>) -> FileTimes {
    let mut times = FileTimes::default();
    for effect in effects {
        match effect {
            Effect::ModifiedAt(at) => times.modified_at = Some(at),
            Effect::CreatedAt(at) => times.created_at = Some(at),
            Effect::Favorite(_) | Effect::None | Effect::Refused => {}
        }
    }
    times
}

fn write_status(xml: &mut XmlWriter, status: &str, properties: &[(&Name, Effect)]) {
    if !properties.is_empty() {
        prop_stat(xml, status, |xml| properties.iter().for_each(|(name, _)| xml.empty_named(name)));
    }
}
