//! MKCOL (RFC 4918 §9.3).

use http_server::{
    body::{ReadBodyError, RequestBody},
    reply::Reply,
};
use library::{FileTimes, FileWritten};

use super::{DavError, DavRequest, conditions, places::FilePlace, put::written_reply};

/// Creates a folder.
pub(super) async fn make_collection(
    request: &DavRequest<'_>,
    place: &FilePlace,
    body: RequestBody,
) -> Result<Reply, DavError> {
    require_no_body(body).await?;
    if place.path.name().is_none() {
        return Err(DavError::Exists);
    }
    let conditions = conditions::check(request, &place.path).await?;
    let create_folders = request.creates_folders()?;
    let (library, caller) = (request.library(), &request.caller);
    let entry =
        library.ingest.create_folder(caller, &place.path, create_folders, &conditions.lock_tokens).await?;
    Ok(written_reply(request, &FileWritten { entry, is_new: true }, FileTimes::default()))
}

/// Refuses a body: no kind of body is understood (RFC 4918 §9.3).
pub(super) async fn require_no_body(body: RequestBody) -> Result<(), DavError> {
    match body.read(0).await {
        Ok(_) => Ok(()),
        Err(ReadBodyError::TooLarge | ReadBodyError::Encoded) => {
            Err(DavError::UnsupportedMedia("a folder is created without a body".to_owned()))
        }
        Err(ReadBodyError::TooSlow | ReadBodyError::Broken) => Err(DavError::Interrupted),
    }
}
