//! Beginning an upload.

use std::borrow::Cow;

use domain::Checksum;
use http::{HeaderMap, HeaderValue, StatusCode, header, request::Parts};
use http_server::{
    body::RequestBody,
    reply::{Reply, WithHeader as _, internal_error},
};
use library::{Caller, UploadProtocol};

use super::{
    PREFIX, UploadMetadata,
    checksum::part_checksums,
    headers, number,
    replies::{bad_request, failed, part_failed, too_many_uploads, with_progress},
    resume::continue_upload,
};
use crate::{Sync, replies::unavailable};

/// The headers of a request that begins an upload.
struct NewUpload<'a> {
    bytes: u64,
    metadata: &'a str,
    /// The checksums of the first bytes.
    checksums: Vec<Checksum>,
}

impl<'a> NewUpload<'a> {
    fn read(headers: &'a HeaderMap) -> Result<Self, Cow<'static, str>> {
        if headers.contains_key(headers::UPLOAD_DEFER_LENGTH) {
            return Err("the length must be known; send Upload-Length instead of Upload-Defer-Length".into());
        }
        if headers.contains_key(headers::UPLOAD_CONCAT) {
            return Err("uploads cannot be concatenated".into());
        }
        let Some(bytes) = number(headers, headers::UPLOAD_LENGTH) else {
            return Err("Upload-Length must be the number of bytes of the file".into());
        };
        let metadata = match headers.get(headers::UPLOAD_METADATA) {
            Some(value) => value.to_str().map_err(|_| "Upload-Metadata must be ASCII")?,
            None => "",
        };
        UploadMetadata::parse(metadata).map_err(|invalid| invalid.to_string())?;
        Ok(Self { bytes, metadata, checksums: part_checksums(headers)? })
    }
}

/// POST: begins an upload, whose first bytes may be in the body.
pub(super) async fn create(sync: &Sync, caller: Caller, parts: &Parts, body: RequestBody) -> Reply {
    let new = match NewUpload::read(&parts.headers) {
        Ok(new) => new,
        Err(reason) => return bad_request(&reason),
    };
    let slot = if headers::has_content(&parts.headers) {
        match sync.slots.take(caller.account.id.0) {
            Some(slot) => Some(slot),
            None => return too_many_uploads(),
        }
    } else {
        None
    };
    let name = match sync.library.ingest.new_upload_name() {
        Ok(name) => name,
        Err(error) => return unavailable(&error),
    };
    let tus = UploadProtocol::Tus;
    let begun = sync.library.ingest.begin_upload(&caller, tus, &name, Some(new.bytes), new.metadata).await;
    if let Err(error) = begun {
        return failed(&error);
    }
    let Ok(location) = HeaderValue::try_from(format!("{PREFIX}{name}")) else { return internal_error() };
    let progress = match slot {
        Some(slot) => continue_upload(sync, caller, &name, 0, new.checksums, body, slot).await,
        None => Ok(sync.library.ingest.begun()),
    };
    match progress {
        Ok(progress) => with_progress(StatusCode::CREATED, &progress).with(header::LOCATION, location),
        Err(error) => part_failed(&error, &parts.headers),
    }
}
