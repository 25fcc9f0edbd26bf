//! GET and HEAD.

use dav_protocol::{headers::EntityTags, http_date};
use http::{HeaderName, HeaderValue, Method, StatusCode, header};
use http_server::{
    reply::{Reply, WithHeader as _, empty, with_body},
    response_body::full,
};
use library::{FileContent, FileEntry, FileKind, PhotoFormat};

use super::{
    DavError, DavRequest,
    places::FilePlace,
    properties::{entity_tag, public_file_id},
    put::ascii,
};

/// What a browser shows at a folder.
const FOLDER_HINT: &str = "<!doctype html><meta charset=utf-8><title>Photo sync</title>\
    <p>This address is for apps that sync photos by WebDAV. To see your photos, go to the <a href=\"/\">library</a>.";

/// Describes a file to HEAD, and refuses its content to GET: photos leave the service only as renditions.
pub(super) async fn get(request: &DavRequest<'_>, place: &FilePlace) -> Result<Reply, DavError> {
    let entry =
        request.library().ingest.file(&request.caller, &place.path).await?.ok_or(DavError::NotFound)?;
    if entry.kind == FileKind::Folder {
        return Ok(folder_hint());
    }
    if request.parts.method != Method::HEAD {
        return Err(DavError::Forbidden(
            "files cannot be downloaded by WebDAV; see your photos in the library on the web",
        ));
    }
    let tag = entity_tag(&entry);
    let none_match = request.header("if-none-match")?.map(EntityTags::parse);
    let is_modified = none_match.is_none_or(|tags| tags.is_none_match(Some(&tag)));
    let reply = if is_modified { empty(StatusCode::OK) } else { empty(StatusCode::NOT_MODIFIED) };
    let handle = request.caller.account.sync_handle.as_str();
    let reply = reply
        .with(header::ETAG, ascii(format!("\"{tag}\"")))
        .with(HeaderName::from_static("oc-etag"), ascii(format!("\"{tag}\"")))
        .with(HeaderName::from_static("oc-fileid"), ascii(public_file_id(&entry, handle)))
        .with(header::LAST_MODIFIED, ascii(http_date(entry.modified_at())));
    if !is_modified {
        return Ok(reply);
    }
    Ok(reply
        .with(header::CONTENT_LENGTH, entry.bytes.into())
        .with(header::CONTENT_TYPE, ascii(media_type(&entry))))
}

/// The response to GET and HEAD of a folder.
pub(super) fn folder_hint() -> Reply {
    with_body(StatusCode::OK, full(FOLDER_HINT))
        .with(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"))
}

/// The media type of a file, by its name: clients use it to choose an icon, and to list photos. A file without content of
/// its own is no photo, whatever its name.
pub(super) fn media_type(entry: &FileEntry) -> String {
    const UNKNOWN: &str = "application/octet-stream";
    match &entry.kind {
        FileKind::File(FileContent::Partial { media_type, .. }) => return media_type.clone(),
        FileKind::File(FileContent::Junk | FileContent::Placeholder) => return UNKNOWN.to_owned(),
        _ => {}
    }
    let name = entry.name.as_ref().map_or("", |name| name.as_str());
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    if let Some(format) = PhotoFormat::from_extension(extension) {
        return format.media_type().to_owned();
    }
    match extension.to_ascii_lowercase().as_str() {
        "xmp" => "application/rdf+xml",
        "json" => "application/json",
        _ => UNKNOWN,
    }
    .to_owned()
}
