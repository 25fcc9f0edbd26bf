//! Adds to `s3s-fs` the list of incomplete uploads, and the errors for missing buckets and uploads.

use std::{
    io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use async_trait::async_trait;
use data_encoding::BASE64URL_NOPAD;
use s3s::{S3, S3Request, S3Response, S3Result, dto::*, s3_error};
use s3s_fs::FileSystem;

/// Small, so that a few uploads fill several pages.
const UPLOADS_PER_PAGE: usize = 2;

pub(crate) struct Store {
    files: FileSystem,
    folder: PathBuf,
}

pub(crate) struct Incomplete {
    pub(crate) key: String,
    id: String,
    began: SystemTime,
}

impl Store {
    pub(crate) fn open(folder: &Path) -> io::Result<Self> {
        let files = FileSystem::new(folder).map_err(|error| io::Error::other(format!("{error:?}")))?;
        Ok(Self { files, folder: folder.to_owned() })
    }

    fn check_bucket(&self, bucket: &str) -> S3Result<()> {
        if self.folder.join(bucket).is_dir() { Ok(()) } else { Err(s3_error!(NoSuchBucket)) }
    }

    fn check_upload(&self, id: &str) -> S3Result<()> {
        let uploads = incomplete_uploads(&self.folder).map_err(s3s::S3Error::internal_error)?;
        if uploads.iter().any(|upload| upload.id == id) { Ok(()) } else { Err(s3_error!(NoSuchUpload)) }
    }
}

/// Reads the names of the files that `s3s-fs` keeps for incomplete uploads.
pub(crate) fn incomplete_uploads(folder: &Path) -> io::Result<Vec<Incomplete>> {
    let mut uploads = Vec::new();
    for entry in folder.read_dir()? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if let Some((key, id)) = key_and_id(&name) {
            uploads.push(Incomplete { key, id, began: entry.metadata()?.modified()? });
        }
    }
    uploads.sort_by(|a, b| (&a.key, &a.id).cmp(&(&b.key, &b.id)));
    Ok(uploads)
}

/// Parses `.bucket-BUCKET.object-KEY.upload-ID.metadata.json`.
fn key_and_id(name: &str) -> Option<(String, String)> {
    let (_, rest) = name.strip_prefix(".bucket-")?.split_once(".object-")?;
    let (key, rest) = rest.split_once(".upload-")?;
    let key = String::from_utf8(BASE64URL_NOPAD.decode(key.as_bytes()).ok()?).ok()?;
    Some((key, rest.strip_suffix(".metadata.json")?.to_owned()))
}

/// The paths of all files below a folder, sorted.
pub(crate) fn keys(root: &Path) -> io::Result<Vec<String>> {
    let (mut keys, mut folders) = (Vec::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir()? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(key) = path.strip_prefix(root) {
                keys.push(key.to_string_lossy().into_owned());
            }
        }
    }
    keys.sort();
    Ok(keys)
}

fn page(uploads: Vec<Incomplete>, input: ListMultipartUploadsInput) -> ListMultipartUploadsOutput {
    let prefix = input.prefix.unwrap_or_default();
    let after = (input.key_marker.unwrap_or_default(), input.upload_id_marker.unwrap_or_default());
    let mut left = uploads
        .into_iter()
        .filter(|upload| upload.key.starts_with(&prefix) && (&upload.key, &upload.id) > (&after.0, &after.1));
    let page: Vec<Incomplete> = left.by_ref().take(UPLOADS_PER_PAGE).collect();
    let is_truncated = left.next().is_some();
    let last = page.last().filter(|_| is_truncated);
    ListMultipartUploadsOutput {
        bucket: Some(input.bucket),
        is_truncated: Some(is_truncated),
        next_key_marker: last.map(|upload| upload.key.clone()),
        next_upload_id_marker: last.map(|upload| upload.id.clone()),
        uploads: Some(page.into_iter().map(described).collect()),
        ..ListMultipartUploadsOutput::default()
    }
}

fn described(upload: Incomplete) -> MultipartUpload {
    MultipartUpload {
        key: Some(upload.key),
        upload_id: Some(upload.id),
        initiated: Some(upload.began.into()),
        ..MultipartUpload::default()
    }
}

#[async_trait]
impl S3 for Store {
    async fn list_multipart_uploads(
        &self,
        request: S3Request<ListMultipartUploadsInput>,
    ) -> S3Result<S3Response<ListMultipartUploadsOutput>> {
        let uploads = incomplete_uploads(&self.folder).map_err(s3s::S3Error::internal_error)?;
        Ok(S3Response::new(page(uploads, request.input)))
    }

    async fn get_object(&self, request: S3Request<GetObjectInput>) -> S3Result<S3Response<GetObjectOutput>> {
        self.check_bucket(&request.input.bucket)?;
        self.files.get_object(request).await
    }

    async fn head_object(
        &self,
        request: S3Request<HeadObjectInput>,
    ) -> S3Result<S3Response<HeadObjectOutput>> {
        self.files.head_object(request).await
    }

    async fn put_object(&self, request: S3Request<PutObjectInput>) -> S3Result<S3Response<PutObjectOutput>> {
        self.check_bucket(&request.input.bucket)?;
        self.files.put_object(request).await
    }

    async fn delete_object(
        &self,
        request: S3Request<DeleteObjectInput>,
    ) -> S3Result<S3Response<DeleteObjectOutput>> {
        self.files.delete_object(request).await
    }

    async fn copy_object(
        &self,
        request: S3Request<CopyObjectInput>,
    ) -> S3Result<S3Response<CopyObjectOutput>> {
        self.files.copy_object(request).await
    }

    async fn list_objects_v2(
        &self,
        request: S3Request<ListObjectsV2Input>,
    ) -> S3Result<S3Response<ListObjectsV2Output>> {
        self.check_bucket(&request.input.bucket)?;
        self.files.list_objects_v2(request).await
    }

    async fn create_multipart_upload(
        &self,
        request: S3Request<CreateMultipartUploadInput>,
    ) -> S3Result<S3Response<CreateMultipartUploadOutput>> {
        self.check_bucket(&request.input.bucket)?;
        self.files.create_multipart_upload(request).await
    }

    async fn upload_part(
        &self,
        request: S3Request<UploadPartInput>,
    ) -> S3Result<S3Response<UploadPartOutput>> {
        self.files.upload_part(request).await
    }

    async fn complete_multipart_upload(
        &self,
        request: S3Request<CompleteMultipartUploadInput>,
    ) -> S3Result<S3Response<CompleteMultipartUploadOutput>> {
        self.check_upload(&request.input.upload_id)?;
        self.files.complete_multipart_upload(request).await
    }

    async fn abort_multipart_upload(
        &self,
        request: S3Request<AbortMultipartUploadInput>,
    ) -> S3Result<S3Response<AbortMultipartUploadOutput>> {
        self.check_upload(&request.input.upload_id)?;
        self.files.abort_multipart_upload(request).await
    }
}
