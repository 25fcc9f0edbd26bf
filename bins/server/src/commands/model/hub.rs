//! Models by name, from a hub: Hugging Face's, or a mirror with the same addresses.
//!
//! The hub's list of files (`/api/models/OWNER/NAME/tree/main`) has the SHA-256 of large files, and of small ones the
//! name that git gives their content, a SHA-1. Each file is checked against it while it arrives.

use std::path::Path;

use data_encoding::HEXLOWER;
use ring::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY, SHA256};
use serde::Deserialize;
use tokio::{fs::File, io::AsyncWriteExt as _};
use url::Url;
use vision::models::{is_model_file, missing_file};

use super::http::{DownloadError, Downloader, shown};

/// Where models come from when nothing else is said.
pub(crate) const SOURCE: &str = "https://huggingface.co";
/// Who publishes them there.
const OWNER: &str = "immich-app";
/// The longest list, and how many of them belong together.
const MOST_LIST_BYTES: u64 = 4 << 20;
const MOST_LISTS: usize = 20;
/// The largest published model has 4.6 GB in full precision.
const MOST_BYTES: u64 = 16 << 30;

/// Why a model was not downloaded.
#[derive(Debug, thiserror::Error)]
pub(super) enum HubError {
    #[error(transparent)]
    Download(#[from] DownloadError),
    #[error("{hub} has no model {name}: {why}")]
    NoModel { hub: String, name: String, why: DownloadError },
    #[error("{url} is no list of files: {why}")]
    List { url: String, why: String },
    #[error("{name} is no model that can be used here: it has no {file}")]
    Incomplete { name: String, file: &'static str },
    #[error("{name} has {bytes} bytes, more than the {MOST_BYTES} that a model can have")]
    TooLarge { name: String, bytes: u64 },
    #[error("{url} has {got} bytes, and should have {wanted}; try again")]
    Length { url: String, got: u64, wanted: u64 },
    #[error("{url} is not what its hub lists: it was changed on its way, or just now; try again")]
    Checksum { url: String },
    #[error("{path} can't be written: {why}")]
    Write { path: String, why: std::io::Error },
}

/// A file of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) path: String,
    pub(super) bytes: u64,
    checksum: Checksum,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Checksum {
    Sha256(String),
    /// Git's: of a head with the length, and the content.
    GitBlob(String),
}

/// Where models come from.
pub(super) struct Hub {
    pub(super) base: Url,
    pub(super) downloader: Downloader,
}

#[derive(Deserialize)]
struct Item {
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

impl Item {
    fn listed(self) -> Listed {
        match self.lfs {
            Some(lfs) => Listed { path: self.path, bytes: lfs.size, checksum: Checksum::Sha256(lfs.oid) },
            None => Listed { path: self.path, bytes: self.size, checksum: Checksum::GitBlob(self.oid) },
        }
    }
}

impl Hub {
    fn url(&self, path: &str) -> Result<Url, HubError> {
        let base = self.base.as_str().trim_end_matches('/');
        Url::parse(&format!("{base}/{path}"))
            .map_err(|_| DownloadError::Address { url: shown(&self.base) }.into())
    }

    /// The files of a model that belong to it here.
    pub(super) async fn list(&self, name: &str) -> Result<Vec<Listed>, HubError> {
        let mut next = Some(self.url(&format!("api/models/{OWNER}/{name}/tree/main?recursive=true"))?);
        let mut files = Vec::new();
        for _ in 0..MOST_LISTS {
            let Some(url) = next.take() else { break };
            let answer = self.downloader.get(&url).await.map_err(|why| match why {
                DownloadError::Status { .. } => {
                    HubError::NoModel { hub: shown(&self.base), name: name.to_owned(), why }
                }
                why => why.into(),
            })?;
            let wrong = |why: String| HubError::List { url: shown(&url), why };
            next = answer.header("link").and_then(next_list).and_then(|next| answer.url().join(next).ok());
            if next.as_ref().is_some_and(|next| next.origin() != url.origin()) {
                return Err(wrong("it goes on at another host".to_owned()));
            }
            let list = answer.whole(MOST_LIST_BYTES).await?;
            let items: Vec<Item> = serde_json::from_slice(&list).map_err(|why| wrong(why.to_string()))?;
            let ours = |item: &Item| item.kind == "file" && is_model_file(&item.path);
            files.extend(items.into_iter().filter(ours).map(Item::listed));
        }
        if let Some(file) = missing_file(files.iter().map(|file| file.path.as_str())) {
            return Err(HubError::Incomplete { name: name.to_owned(), file });
        }
        let bytes = files.iter().fold(0_u64, |sum, file| sum.saturating_add(file.bytes));
        if bytes > MOST_BYTES {
            return Err(HubError::TooLarge { name: name.to_owned(), bytes });
        }
        Ok(files)
    }

    /// Downloads a file into a folder, and checks it. `progress` is told of every part's bytes.
    pub(super) async fn download(
        &self,
        name: &str,
        file: &Listed,
        folder: &Path,
        progress: &mut (dyn FnMut(u64) + Send),
    ) -> Result<(), HubError> {
        let url = self.url(&format!("{OWNER}/{name}/resolve/main/{}", file.path))?;
        let path = folder.join(&file.path);
        let cannot = |why| HubError::Write { path: path.display().to_string(), why };
        let length = |got| HubError::Length { url: shown(&url), got, wanted: file.bytes };
        let mut answer = self.downloader.get(&url).await?;
        let mut digest = match &file.checksum {
            Checksum::Sha256(_) => Context::new(&SHA256),
            Checksum::GitBlob(_) => {
                let mut digest = Context::new(&SHA1_FOR_LEGACY_USE_ONLY);
                digest.update(format!("blob {}\0", file.bytes).as_bytes());
                digest
            }
        };
        let mut target = File::create_new(&path).await.map_err(cannot)?;
        let mut got = 0;
        while let Some(part) = answer.next().await? {
            got += part.len() as u64;
            if got > file.bytes {
                return Err(length(got));
            }
            digest.update(&part);
            target.write_all(&part).await.map_err(cannot)?;
            progress(part.len() as u64);
        }
        target.flush().await.map_err(cannot)?;
        if got != file.bytes {
            return Err(length(got));
        }
        let (Checksum::Sha256(wanted) | Checksum::GitBlob(wanted)) = &file.checksum;
        if HEXLOWER.encode(digest.finish().as_ref()) == wanted.to_ascii_lowercase() {
            Ok(())
        } else {
            Err(HubError::Checksum { url: shown(&url) })
        }
    }
}

/// The address of the next list, in a `Link` header (RFC 8288).
fn next_list(link: &str) -> Option<&str> {
    link.split(',').find_map(|link| {
        let (address, rest) = link.trim().strip_prefix('<')?.split_once('>')?;
        rest.split(';').any(|part| matches!(part.trim(), "rel=\"next\"" | "rel=next")).then_some(address)
    })
}
