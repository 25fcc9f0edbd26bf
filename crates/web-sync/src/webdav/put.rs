//! PUT.

use std::io;

use bytes::Bytes;
use dav_protocol::headers::{BODY_CHECKSUM_HEADERS, ReadChecksums};
use domain::Checksum;
use futures_util::Stream;
use http::{HeaderName, HeaderValue, StatusCode, header};
use http_server::{
    body::{ReadBodyError, RequestBody},
    reply::{Reply, WithHeader as _, empty},
};
use library::{FileTimes, FileWritten, PutFile};

use super::{
    DavError, DavRequest, conditions,
    places::FilePlace,
    properties::{entity_tag, public_file_id},
    request::text,
};

/// Creates or replaces a file. The response is sent once the bytes and the file would survive a loss of power.
pub(super) async fn put(
    request: &DavRequest<'_>,
    place: &FilePlace,
    body: RequestBody,
) -> Result<Reply, DavError> {
    // RFC 9110 §14.4: a server that does not support partial PUT must refuse it.
    if request.parts.headers.contains_key(header::CONTENT_RANGE) {
        return Err(DavError::BadRequest("send the whole file, not a range".to_owned()));
    }
    let file = put_file(request, place, &body).await?;
    let stream = body_stream(request, body)?;
    let written = request.library().ingest.put_file(&request.caller, file, stream).await?;
    Ok(written_reply(request, &written, request.times()))
}

pub(super) fn body_stream(
    request: &DavRequest<'_>,
    body: RequestBody,
) -> Result<impl Stream<Item = io::Result<Bytes>> + Send + use<>, DavError> {
    let slot = request.sync.slots.take(request.caller.account.id.0).ok_or(DavError::TooManyUploads)?;
    body.into_stream(slot).map_err(|error| match error {
        ReadBodyError::Encoded => DavError::Encoded,
        ReadBodyError::TooLarge | ReadBodyError::TooSlow | ReadBodyError::Broken => DavError::Interrupted,
    })
}

async fn put_file(
    request: &DavRequest<'_>,
    place: &FilePlace,
    body: &RequestBody,
) -> Result<PutFile, DavError> {
    let conditions = conditions::check(request, &place.path).await?;
    // Finder sends a chunked body without a length, and the length in a header of its own.
    let expected =
        request.byte_count("x-expected-entity-length").or_else(|| request.byte_count("oc-total-length"));
    Ok(PutFile {
        path: place.path.clone(),
        bytes: expected.or_else(|| body.announced_bytes()),
        checksums: body_checksums(request)?,
        times: request.times(),
        create_folders: request.creates_folders()?,
        condition: conditions.on(&place.path),
        lock_tokens: conditions.lock_tokens,
        parts_bytes: 0,
    })
}

/// The checksums of the body that the client sent.
pub(super) fn body_checksums(request: &DavRequest<'_>) -> Result<Vec<Checksum>, DavError> {
    let headers = BODY_CHECKSUM_HEADERS.into_iter().map(|(name, read)| checksums(request, name, read));
    Ok(headers.collect::<Result<Vec<_>, _>>()?.concat())
}

/// The checksums in all headers of a name.
pub(super) fn checksums(
    request: &DavRequest<'_>,
    name: &'static str,
    read: ReadChecksums,
) -> Result<Vec<Checksum>, DavError> {
    let values = request.parts.headers.get_all(name).iter();
    let read = values.map(|value| Ok(read(text(value, name)?)?));
    Ok(read.collect::<Result<Vec<_>, DavError>>()?.concat())
}

/// The response to a change that leaves a file: 201 if it is new, else 204. Nextcloud's apps need its id and tag, and want to
/// know whether the times that they sent were kept.
pub(super) fn written_reply(request: &DavRequest<'_>, written: &FileWritten, times: FileTimes) -> Reply {
    const ACCEPTED: HeaderValue = HeaderValue::from_static("accepted");
    let status = if written.is_new { StatusCode::CREATED } else { StatusCode::NO_CONTENT };
    let handle = request.caller.account.sync_handle.as_str();
    let tag = ascii(format!("\"{}\"", entity_tag(&written.entry)));
    let mut reply = empty(status)
        .with(HeaderName::from_static("oc-fileid"), ascii(public_file_id(&written.entry, handle)))
        .with(HeaderName::from_static("oc-etag"), tag.clone())
        .with(header::ETAG, tag);
    if times.modified_at.is_some() {
        reply = reply.with(HeaderName::from_static("x-oc-mtime"), ACCEPTED);
    }
    if times.created_at.is_some() {
        reply = reply.with(HeaderName::from_static("x-oc-ctime"), ACCEPTED);
    }
    reply
}

/// Only for digits, letters and quotes, which are always a valid header value.
pub(super) fn ascii(text: String) -> HeaderValue {
    HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static(""))
}
