//! Continuing an upload.

use std::io;

use domain::Checksum;
use http::{HeaderValue, StatusCode, header, request::Parts};
use http_server::{
    UploadSlot,
    body::RequestBody,
    reply::{Reply, WithHeader as _, empty, error},
};
use library::{Caller, ImportError, Progress, TusPart, Upload, UploadError, UploadProtocol, UploadState};

use super::{
    UploadMetadata,
    checksum::part_checksums,
    headers, number,
    replies::{bad_request, failed, part_failed, too_many_uploads, with_progress},
};
use crate::Sync;

/// HEAD: how many bytes were received, and the result of a complete upload.
pub(super) async fn head(sync: &Sync, caller: &Caller, name: &str) -> Reply {
    let upload = match find(sync, caller, name).await {
        Ok(upload) => upload,
        Err(error) => return failed(&error),
    };
    match sync.library.ingest.upload_progress(caller, name, file(&upload)).await {
        Ok(progress) => {
            let reply = with_progress(StatusCode::OK, &progress)
                .with(headers::UPLOAD_LENGTH, upload.total_bytes.unwrap_or_default().into());
            match HeaderValue::try_from(&upload.metadata) {
                Ok(metadata) if !metadata.is_empty() => reply.with(headers::UPLOAD_METADATA, metadata),
                _ => reply,
            }
        }
        Err(error) => failed(&error),
    }
}

/// PATCH: further bytes.
pub(super) async fn patch(
    sync: &Sync,
    caller: Caller,
    name: &str,
    parts: &Parts,
    body: RequestBody,
) -> Reply {
    if !headers::has_content(&parts.headers) {
        let reason = "the content type must be application/offset+octet-stream";
        return error(StatusCode::UNSUPPORTED_MEDIA_TYPE, reason);
    }
    let Some(offset) = number(&parts.headers, headers::UPLOAD_OFFSET) else {
        return bad_request("Upload-Offset must be the number of bytes sent before");
    };
    let checksums = match part_checksums(&parts.headers) {
        Ok(checksums) => checksums,
        Err(reason) => return bad_request(&reason),
    };
    let Some(slot) = sync.slots.take(caller.account.id.0) else { return too_many_uploads() };
    match continue_upload(sync, caller, name, offset, checksums, body, slot).await {
        Ok(progress) => with_progress(StatusCode::NO_CONTENT, &progress),
        Err(error) => part_failed(&error, &parts.headers),
    }
}

/// DELETE: forgets an upload.
pub(super) async fn delete(sync: &Sync, caller: &Caller, name: &str) -> Reply {
    let cancelled = async {
        let upload = find(sync, caller, name).await?;
        Ok::<_, UploadError>(sync.library.ingest.cancel_upload(&upload).await?)
    };
    match cancelled.await {
        Ok(()) => {
            empty(StatusCode::NO_CONTENT).with(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))
        }
        Err(error) => failed(&error),
    }
}

/// Adds the body to an upload.
pub(super) async fn continue_upload(
    sync: &Sync,
    caller: Caller,
    name: &str,
    offset: u64,
    checksums: Vec<Checksum>,
    body: RequestBody,
    slot: UploadSlot,
) -> Result<Progress, UploadError> {
    let upload = find(sync, &caller, name).await?;
    let part = TusPart { offset, bytes: body.announced_bytes(), checksums };
    let stream = body.into_stream(slot).map_err(|error| {
        ImportError::Interrupted(io::Error::other(format!("the body cannot be read: {error:?}")))
    })?;
    sync.library.ingest.continue_upload(caller, name.to_owned(), part, file(&upload), stream).await
}

async fn find(sync: &Sync, caller: &Caller, name: &str) -> Result<UploadState, UploadError> {
    let upload = sync.library.ingest.upload(caller, UploadProtocol::Tus, name).await?;
    upload.ok_or(UploadError::NotFound)
}

/// The name and modification time of the file, as the client sent them.
fn file(upload: &UploadState) -> Upload {
    let metadata = UploadMetadata::parse(&upload.metadata).unwrap_or_default();
    Upload { name: metadata.file_name, modified_at: metadata.modified_at, ..Upload::default() }
}
