use std::{collections::HashSet, path::Path};

use ::tests::black_box::AnyError;
use blobs::BlobStore;
use domain::BlobKind;
use futures_util::TryStreamExt as _;
use storage::BlobRegistry as _;
use storage_sqlite::{SqliteOptions, SqliteStore};

/// The result of a comparison.
pub(crate) struct Compared {
    pub(crate) count: usize,
    pub(crate) faults: Vec<String>,
}

/// Compares the blob store with the blobs table of a library that no server has open.
pub(crate) async fn compare(data_dir: &Path) -> Result<Compared, AnyError> {
    let store = SqliteStore::open(&data_dir.join("library.sqlite"), SqliteOptions::default()).await?;
    let blobs = BlobStore::open_folder(&data_dir.join("blobs"))?;
    let mut compared = Compared { count: 0, faults: Vec::new() };
    for kind in [BlobKind::Original, BlobKind::Rendition] {
        let found: HashSet<_> = blobs.content.list(kind).map_ok(|(hash, _)| hash).try_collect().await?;
        let kept = store.kept_blobs(kind, None, u32::MAX).await?;
        let kept: HashSet<_> = kept.into_iter().map(|blob| blob.hash).collect();
        compared.count += found.len();
        let orphans = found.difference(&kept).map(|hash| format!("{} {hash} has no image", kind.as_str()));
        let lost = kept.difference(&found).map(|hash| format!("{} {hash} is missing", kind.as_str()));
        compared.faults.extend(orphans.chain(lost));
    }
    Ok(compared)
}
