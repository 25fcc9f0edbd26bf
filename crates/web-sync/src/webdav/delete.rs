//! DELETE.

use dav_protocol::headers::Depth;
use http::StatusCode;
use http_server::reply::{Reply, empty};
use library::FileKind;

use super::{DavError, DavRequest, conditions, places::FilePlace};

/// Deletes a file, or a folder with everything in it. Images whose last file is gone can be restored for 30 days.
pub(super) async fn delete(request: &DavRequest<'_>, place: &FilePlace) -> Result<Reply, DavError> {
    if place.path.name().is_none() {
        return Err(DavError::Forbidden("the root folder cannot be deleted"));
    }
    require_whole(request, place).await?;
    let conditions = conditions::check(request, &place.path).await?;
    let condition = conditions.on(&place.path);
    let (library, caller) = (request.library(), &request.caller);
    library.ingest.delete_file(caller, &place.path, condition, &conditions.lock_tokens).await?;
    Ok(empty(StatusCode::NO_CONTENT))
}

/// Refuses a limited depth for a folder, because methods on a folder always include its content (RFC 4918 §9.6.1, §9.9.2).
pub(super) async fn require_whole(request: &DavRequest<'_>, place: &FilePlace) -> Result<(), DavError> {
    if matches!(request.depth()?, None | Some(Depth::Infinity)) {
        return Ok(());
    }
    let entry = request.library().ingest.file(&request.caller, &place.path).await?;
    if entry.is_some_and(|entry| entry.kind == FileKind::Folder) {
        return Err(DavError::BadRequest("the depth of a folder must be infinity".to_owned()));
    }
    Ok(())
}
