//! Downloads models from the Hugging Face hub or a mirror with the same paths.
//!
//! The hub's file list (`/api/models/OWNER/NAME/tree/main`) has the SHA-256 of large files, and the git blob hash (SHA-1)
//! of small ones. Each file is verified while it is downloaded.

use std::path::Path;

use data_encoding::HEXLOWER;
use ring::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY, SHA256};
use serde::Deserialize;
use tokio::{fs::File, io::AsyncWriteExt as _};
use url::Url;
use vision::models::{is_model_file, missing_file};

use super::http::{DownloadError, Downloader, shown};

/// The account at the hub that publishes the models.
const OWNER: &str = "immich-app";
/// Maximum size of one page of the file list.
const MAX_PAGE_BYTES: u64 = 4 << 20;
/// Maximum number of pages.
const MAX_PAGES: usize = 20;
/// Maximum size of a model. The largest published one has 4.6 GB in full precision.
const MAX_BYTES: u64 = 16 << 30;

/// Why a model was not downloaded.
#[derive(Debug, thiserror::Error)]
pub(super) enum HubError {
    #[error(transparent)]
    Download(#[from] DownloadError),
    #[error("{hub} has no model {name}: {reason}")]
    NoModel { hub: String, name: String, reason: DownloadError },
    #[error("{url} is not a list of files: {reason}")]
    List { url: String, reason: String },
    #[error("{name} is not a supported model: {file} is missing")]
    Incomplete { name: String, file: &'static str },
    #[error("{name} has {bytes} bytes, more than the maximum of {MAX_BYTES}")]
    TooLarge { name: String, bytes: u64 },
    #[error("{url} has {actual} bytes instead of {expected}; try again")]
    Length { url: String, actual: u64, expected: u64 },
    #[error("{url} does not match the checksum that the hub lists; try again")]
    Checksum { url: String },
    #[error("cannot write {path}: {reason}")]
    Write { path: String, reason: std::io::Error },
}

/// A file in the hub's list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HubFile {
    pub(super) path: String,
    pub(super) bytes: u64,
    checksum: Checksum,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Checksum {
    Sha256(String),
    /// The SHA-1 of git's blob header and the content.
    GitBlob(String),
}

/// A hub to download models from.
pub(super) struct Hub {
    pub(super) base: Url,
    pub(super) downloader: Downloader,
}

#[derive(Deserialize)]
struct ListItem {
    #[serde(rename = "type")]
    kind: String,
    path: String,
    oid: String,
    size: u64,
    lfs: Option<Lfs>,
}

#[derive(Deserialize)]
struct Lfs {
    oid: String,
    size: u64,
}

impl ListItem {
    fn into_file(self) -> HubFile {
        match self.lfs {
            Some(lfs) => HubFile { path: self.path, bytes: lfs.size, checksum: Checksum::Sha256(lfs.oid) },
            None => HubFile { path: self.path, bytes: self.size, checksum: Checksum::GitBlob(self.oid) },
        }
    }
}

impl Hub {
    fn url(&self, path: &str) -> Result<Url, HubError> {
        let base = self.base.as_str().trim_end_matches('/');
        Url::parse(&format!("{base}/{path}"))
            .map_err(|_| DownloadError::Address { url: shown(&self.base) }.into())
    }

    /// Lists the files of a model that this program uses.
    pub(super) async fn list(&self, name: &str) -> Result<Vec<HubFile>, HubError> {
        let mut next = Some(self.url(&format!("api/models/{OWNER}/{name}/tree/main?recursive=true"))?);
        let mut files = Vec::new();
        for _ in 0..MAX_PAGES {
            let Some(url) = next.take() else { break };
            let response = self.downloader.get(&url).await.map_err(|reason| match reason {
                DownloadError::Status { .. } => {
                    HubError::NoModel { hub: shown(&self.base), name: name.to_owned(), reason }
                }
                reason => reason.into(),
            })?;
            let invalid = |reason: String| HubError::List { url: shown(&url), reason };
            next =
                response.header("link").and_then(next_page).and_then(|next| response.url().join(next).ok());
            if next.as_ref().is_some_and(|next| next.origin() != url.origin()) {
                return Err(invalid("it continues on another host".to_owned()));
            }
            let list = response.bytes(MAX_PAGE_BYTES).await?;
            let items: Vec<ListItem> =
                serde_json::from_slice(&list).map_err(|reason| invalid(reason.to_string()))?;
            let is_used = |item: &ListItem| item.kind == "file" && is_model_file(&item.path);
            files.extend(items.into_iter().filter(is_used).map(ListItem::into_file));
        }
        if let Some(file) = missing_file(files.iter().map(|file| file.path.as_str())) {
            return Err(HubError::Incomplete { name: name.to_owned(), file });
        }
        let bytes = files.iter().fold(0_u64, |sum, file| sum.saturating_add(file.bytes));
        if bytes > MAX_BYTES {
            return Err(HubError::TooLarge { name: name.to_owned(), bytes });
        }
        Ok(files)
    }

    /// Downloads a file into a folder and verifies it. `progress` is called with the size of each chunk.
    pub(super) async fn download(
        &self,
        name: &str,
        file: &HubFile,
        folder: &Path,
        progress: &mut (dyn FnMut(u64) + Send),
    ) -> Result<(), HubError> {
        let url = self.url(&format!("{OWNER}/{name}/resolve/main/{}", file.path))?;
        let path = folder.join(&file.path);
        let write_error = |reason| HubError::Write { path: path.display().to_string(), reason };
        let length_error = |actual| HubError::Length { url: shown(&url), actual, expected: file.bytes };
        let mut response = self.downloader.get(&url).await?;
        let mut digest = match &file.checksum {
            Checksum::Sha256(_) => Context::new(&SHA256),
            Checksum::GitBlob(_) => {
                let mut digest = Context::new(&SHA1_FOR_LEGACY_USE_ONLY);
                digest.update(format!("blob {}\0", file.bytes).as_bytes());
                digest
            }
        };
        let mut target = File::create_new(&path).await.map_err(write_error)?;
        let mut bytes = 0;
        while let Some(chunk) = response.chunk().await? {
            bytes += chunk.len() as u64;
            if bytes > file.bytes {
                return Err(length_error(bytes));
            }
            digest.update(&chunk);
            target.write_all(&chunk).await.map_err(write_error)?;
            progress(chunk.len() as u64);
        }
        target.flush().await.map_err(write_error)?;
        if bytes != file.bytes {
            return Err(length_error(bytes));
        }
        let (Checksum::Sha256(expected) | Checksum::GitBlob(expected)) = &file.checksum;
        if HEXLOWER.encode(digest.finish().as_ref()) == expected.to_ascii_lowercase() {
            Ok(())
        } else {
            Err(HubError::Checksum { url: shown(&url) })
        }
    }
}

/// The URL of the next page in a `Link` header (RFC 8288).
fn next_page(link: &str) -> Option<&str> {
    link.split(',').find_map(|link| {
        let (address, rest) = link.trim().strip_prefix('<')?.split_once('>')?;
        rest.split(';').any(|part| matches!(part.trim(), "rel=\"next\"" | "rel=next")).then_some(address)
    })
}
