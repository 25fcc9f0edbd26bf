//! Finds and aborts uploads that a killed process left. Their parts take space that no listing of objects shows.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use http::{Method, Request, StatusCode};
use object_store::{
    aws::AmazonS3,
    client::{HttpClient, HttpRequestBody},
    multipart::MultipartStore as _,
    path::Path as Key,
    signer::{SignedUrlOptions, Signer as _},
};

use super::{ListedUpload, UploadsPage};
use crate::{
    BlobError,
    s3_failure::{S3Failure, classified},
};

/// How long a signed request may be under way.
const REQUEST_EXPIRES: Duration = Duration::from_secs(60);
/// Maximum number of pages that one call reads. Further pages are left for the next call.
const MAX_PAGES: usize = 100;

/// The folders of this service below the prefix. Other programs may use the same bucket.
const OWN_FOLDERS: [&str; 3] = ["originals/", "renditions/", "uploads/"];

/// The incomplete uploads of a bucket below a prefix.
#[derive(Debug, Clone)]
pub(crate) struct IncompleteUploads(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    s3: AmazonS3,
    http: HttpClient,
    prefix: String,
}

/// An upload that is running or was left by a killed process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IncompleteUpload {
    pub(crate) key: Key,
    pub(crate) began: SystemTime,
    id: String,
}

impl IncompleteUploads {
    pub(super) fn new(s3: AmazonS3, http: HttpClient, prefix: &str) -> Self {
        let prefix = if prefix.is_empty() { String::new() } else { format!("{prefix}/") };
        Self(Arc::new(Inner { s3, http, prefix }))
    }

    /// The incomplete uploads of this service. Returns none if the server cannot list them; such a server is expected
    /// to abort them by itself.
    pub(crate) async fn list(&self) -> Result<Vec<IncompleteUpload>, BlobError> {
        let (mut uploads, mut after) = (Vec::new(), None);
        for _ in 0..MAX_PAGES {
            let Some(page) = self.page(after.as_ref()).await? else { break };
            uploads.extend(page.uploads.into_iter().filter_map(|upload| self.own(upload)));
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        Ok(uploads)
    }

    /// The upload, unless its key is of another program.
    fn own(&self, upload: ListedUpload) -> Option<IncompleteUpload> {
        let ListedUpload { key, id, began } = upload;
        let below = key.strip_prefix(self.0.prefix.as_str());
        let is_own = below.is_some_and(|name| OWN_FOLDERS.iter().any(|folder| name.starts_with(folder)));
        let key = Key::parse(key).ok().filter(|_| is_own)?;
        Some(IncompleteUpload { key, began, id })
    }

    async fn page(&self, after: Option<&(String, String)>) -> Result<Option<UploadsPage>, BlobError> {
        let mut query = vec![("uploads", ""), ("prefix", &self.0.prefix)];
        if let Some((key, id)) = after {
            query.extend([("key-marker", key.as_str()), ("upload-id-marker", id)]);
        }
        let options = SignedUrlOptions::default().with_query(query);
        let bucket = Key::default();
        let url = self.0.s3.signed_url_opts(Method::GET, &bucket, REQUEST_EXPIRES, &options).await;
        let url = url.map_err(|error| classified(&error))?;
        let request = Request::get(url.as_str()).body(HttpRequestBody::empty());
        let request = request.map_err(|error| S3Failure::Other(error.to_string()))?;
        let response = self.0.http.execute(request).await;
        let response = response.map_err(|error| S3Failure::of_connection(&error))?;
        let status = response.status();
        let body = response.into_body().bytes().await.map_err(|error| S3Failure::of_connection(&error))?;
        let body = String::from_utf8_lossy(&body);
        match status {
            StatusCode::OK => UploadsPage::parse(&body)
                .map(Some)
                .map_err(|error| S3Failure::Other(error.to_string()).into()),
            StatusCode::NOT_IMPLEMENTED | StatusCode::METHOD_NOT_ALLOWED => Ok(None),
            status => Err(S3Failure::of_response(status, &body).into()),
        }
    }

    /// Aborts an upload. It is no error if it was completed or aborted in the meantime.
    pub(crate) async fn abort(&self, upload: &IncompleteUpload) -> Result<(), BlobError> {
        match self.0.s3.abort_multipart(&upload.key, &upload.id).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(classified(&error).into()),
        }
    }
}
