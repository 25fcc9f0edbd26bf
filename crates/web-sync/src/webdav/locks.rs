//! LOCK and UNLOCK (RFC 4918 §9.10, §9.11).

use dav_protocol::{
    XmlWriter,
    bodies::{LockInfo, LockScope},
    headers::{DEFAULT_LOCK_S, Depth, IfHeader, lock_timeout_s, lock_token},
};
use http::{HeaderName, StatusCode};
use http_server::{
    body::RequestBody,
    reply::{Reply, WithHeader as _, empty, with_body},
    response_body::full,
};
use library::{FileError, FileLock, FileRefusal, LockFile};

use super::{
    DavError, DavRequest, conditions, multistatus::XML, places::FilePlace, properties::write_active_lock,
    put::ascii, request::xml_body,
};

/// Locks a file or folder, or extends a lock.
pub(super) async fn lock(
    request: &DavRequest<'_>,
    place: &FilePlace,
    body: RequestBody,
) -> Result<Reply, DavError> {
    let duration_ms = i64::from(request.header("timeout")?.map_or(DEFAULT_LOCK_S, lock_timeout_s)) * 1000;
    let body = xml_body(body).await?;
    if body.is_empty() {
        return refresh(request, place, duration_ms).await;
    }
    let info = LockInfo::parse(&body)?;
    if info.scope == LockScope::Shared {
        return Err(DavError::Forbidden("only exclusive locks are supported"));
    }
    let is_deep = match request.depth()? {
        None | Some(Depth::Infinity) => true,
        Some(Depth::Zero) => false,
        Some(Depth::One) => {
            return Err(DavError::BadRequest("the depth of a lock must be 0 or infinity".to_owned()));
        }
    };
    let tokens = conditions::check(request, &place.path).await?.lock_tokens;
    let lock = LockFile { path: place.path.clone(), is_deep, owner: info.owner, duration_ms };
    let locked = request.library().ingest.lock_file(&request.caller, lock, &tokens).await;
    let (written, lock) = locked.map_err(|error| match error {
        FileError::Refused(FileRefusal::Locked) => DavError::LockConflict,
        error => error.into(),
    })?;
    let status = if written.is_new { StatusCode::CREATED } else { StatusCode::OK };
    let token = ascii(format!("<{}>", lock.token));
    Ok(lock_reply(request, place, &lock, status).with(HeaderName::from_static("lock-token"), token))
}

async fn refresh(request: &DavRequest<'_>, place: &FilePlace, duration_ms: i64) -> Result<Reply, DavError> {
    let value = request.header("if")?;
    let value =
        value.ok_or_else(|| DavError::BadRequest("the body or the header If is missing".to_owned()))?;
    let (library, caller) = (request.library(), &request.caller);
    for token in IfHeader::parse(value)?.tokens() {
        if let Some(lock) = library.ingest.refresh_lock(caller, &place.path, token, duration_ms).await? {
            return Ok(lock_reply(request, place, &lock, StatusCode::OK));
        }
    }
    Err(DavError::NoSuchLock(StatusCode::PRECONDITION_FAILED))
}

fn lock_reply(request: &DavRequest<'_>, place: &FilePlace, lock: &FileLock, status: StatusCode) -> Reply {
    let mut xml = XmlWriter::document("d:prop");
    xml.open("d:lockdiscovery");
    write_active_lock(&mut xml, lock, &place.root, request.library().clock().now());
    xml.close("d:lockdiscovery");
    xml.close("d:prop");
    with_body(status, full(xml.take())).with(http::header::CONTENT_TYPE, XML)
}

pub(super) async fn unlock(request: &DavRequest<'_>, place: &FilePlace) -> Result<Reply, DavError> {
    let value = request.header("lock-token")?;
    let value = value.ok_or_else(|| DavError::BadRequest("the header Lock-Token is missing".to_owned()))?;
    let (library, caller) = (request.library(), &request.caller);
    if library.ingest.unlock_file(caller, &place.path, lock_token(value)?).await? {
        Ok(empty(StatusCode::NO_CONTENT))
    } else {
        Err(DavError::NoSuchLock(StatusCode::CONFLICT))
    }
}
