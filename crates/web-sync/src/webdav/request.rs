//! An authenticated request and its headers.

use bytes::Bytes;
use dav_protocol::{
    bodies::MAX_BODY_BYTES,
    epoch_seconds,
    headers::{Depth, is_true, overwrite},
};
use http::{HeaderValue, request::Parts};
use http_server::body::{ReadBodyError, RequestBody};
use library::{Caller, FileTimes, Library};

use super::error::DavError;
use crate::Sync;

pub(crate) struct DavRequest<'a> {
    pub(crate) sync: &'a Sync,
    pub(crate) caller: Caller,
    pub(crate) parts: &'a Parts,
}

impl DavRequest<'_> {
    pub(crate) fn library(&self) -> &Library {
        &self.sync.library
    }

    /// The text of a header; `None` if it is absent. If there are several values, the first counts.
    pub(crate) fn header(&self, name: &'static str) -> Result<Option<&str>, DavError> {
        self.parts.headers.get(name).map(|value| text(value, name)).transpose()
    }

    pub(crate) fn depth(&self) -> Result<Option<Depth>, DavError> {
        Ok(self.header("depth")?.map(Depth::parse).transpose()?)
    }

    /// Whether an entry at the destination may be replaced.
    pub(crate) fn overwrite(&self) -> Result<bool, DavError> {
        Ok(self.header("overwrite")?.map_or(Ok(true), overwrite)?)
    }

    /// Whether missing folders are created. The app for iOS uses both spellings.
    pub(crate) fn creates_folders(&self) -> Result<bool, DavError> {
        let first = self.header("x-nc-webdav-auto-mkcol")?;
        let second = self.header("x-nc-webdav-automkcol")?;
        Ok(first.into_iter().chain(second).any(is_true))
    }

    /// The times of the file. Values that cannot be read are ignored, as Nextcloud does.
    pub(crate) fn times(&self) -> FileTimes {
        let time = |name| self.header(name).ok().flatten().and_then(epoch_seconds);
        FileTimes { modified_at: time("x-oc-mtime"), created_at: time("x-oc-ctime") }
    }

    /// A header with a number of bytes; `None` if it is absent or not a number.
    pub(crate) fn byte_count(&self, name: &'static str) -> Option<u64> {
        let text = self.header(name).ok().flatten()?.trim();
        text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
    }
}

/// The text of a header's value.
pub(super) fn text<'a>(value: &'a HeaderValue, name: &'static str) -> Result<&'a str, DavError> {
    std::str::from_utf8(value.as_bytes())
        .map_err(|_| DavError::BadRequest(format!("the header {name} is not UTF-8")))
}

/// Reads an XML body.
pub(crate) async fn xml_body(body: RequestBody) -> Result<Bytes, DavError> {
    body.read(MAX_BODY_BYTES).await.map_err(|error| match error {
        ReadBodyError::TooLarge => DavError::TooLarge("the XML body is too long".to_owned()),
        ReadBodyError::TooSlow | ReadBodyError::Broken => DavError::Interrupted,
        ReadBodyError::Encoded => DavError::Encoded,
    })
}
