//! A store on one of the backends.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use blobs::{BlobStore, PartStore, S3Credentials, S3Limits, S3Options, StagedFile, StagingFolder};
use bytes::Bytes;
use futures_util::TryStreamExt as _;
use s3_test_server::{BUCKET, KEY_ID, S3Server, SECRET};
use tempfile::TempDir;

/// The prefix of the keys in a bucket.
pub(crate) const PREFIX: &str = "library/a";

/// A store with its backend.
pub(crate) struct Backing {
    pub(crate) store: BlobStore,
    /// The local folder.
    pub(crate) dir: TempDir,
    pub(crate) s3: Option<Bucket>,
}

/// A bucket of a test server.
pub(crate) struct Bucket {
    pub(crate) server: S3Server,
    pub(crate) options: S3Options,
    /// The folder of the server.
    pub(crate) dir: TempDir,
}

impl Backing {
    pub(crate) fn folder() -> Self {
        let dir = tempfile::tempdir().unwrap();
        Self { store: BlobStore::open_folder(dir.path()).unwrap(), dir, s3: None }
    }

    pub(crate) async fn bucket() -> Self {
        let (folder, dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let server = S3Server::start(folder.path()).await.unwrap();
        let options = options(&server);
        let store = BlobStore::open_s3(&options, dir.path()).unwrap();
        Self { store, dir, s3: Some(Bucket { server, options, dir: folder }) }
    }

    pub(crate) fn s3(&self) -> &Bucket {
        self.s3.as_ref().unwrap()
    }

    /// The server of the bucket.
    pub(crate) fn server(&self) -> &S3Server {
        &self.s3().server
    }

    /// Opens the store again, as after a restart of the process.
    pub(crate) fn restarted(self) -> Self {
        let Self { store, dir, s3 } = self;
        drop(store);
        let store = match &s3 {
            Some(bucket) => BlobStore::open_s3(&bucket.options, dir.path()).unwrap(),
            None => BlobStore::open_folder(dir.path()).unwrap(),
        };
        Self { store, dir, s3 }
    }

    /// All files and objects except the locks.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut found = files(self.dir.path());
        if let Some(bucket) = &self.s3 {
            let keys = bucket.server.keys().unwrap();
            found.extend(keys.iter().map(|key| key.strip_prefix(&format!("{PREFIX}/")).unwrap().to_owned()));
        }
        found.sort();
        found
    }

    /// The file that holds a stored object.
    pub(crate) fn file(&self, key: &str) -> PathBuf {
        match &self.s3 {
            Some(bucket) => bucket.server.file(&format!("{PREFIX}/{key}")),
            None => self.dir.path().join(key),
        }
    }
}

/// The settings for a test server, with retries at once.
pub(crate) fn options(server: &S3Server) -> S3Options {
    let location = format!("s3://{BUCKET}/{PREFIX}").parse().unwrap();
    let mut options = S3Options::new(location, S3Credentials::key(KEY_ID, SECRET));
    options.endpoint = Some(server.url().parse().unwrap());
    options.limits = S3Limits { backoff: Duration::from_millis(1), ..S3Limits::default() };
    options
}

/// The paths of all files except the locks.
pub(crate) fn files(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else if entry.file_name() != ".lock" && entry.file_name() != ".sweeper" {
                found.push(entry.path().strip_prefix(root).unwrap().to_string_lossy().into_owned());
            }
        }
    }
    found.sort();
    found
}

pub(crate) async fn staged(staging: &StagingFolder, bytes: &[u8]) -> StagedFile {
    let mut writer = staging.create(None).await.unwrap();
    writer.write(bytes).await.unwrap();
    writer.finish().await.unwrap()
}

/// Writes and keeps a part; returns its name.
pub(crate) async fn part(parts: &PartStore, bytes: &[u8]) -> String {
    let mut writer = parts.create(None).await.unwrap();
    writer.write(bytes).await.unwrap();
    assert_eq!(writer.bytes(), bytes.len() as u64);
    writer.finish().await.unwrap()
}

pub(crate) async fn read(parts: &PartStore, names: &[(&String, u64)]) -> std::io::Result<Vec<u8>> {
    let names = names.iter().map(|(name, bytes)| ((*name).clone(), *bytes)).collect();
    let chunks: Vec<Bytes> = parts.read(names).try_collect().await?;
    Ok(chunks.concat())
}
