//! Checks a backup.

use std::{
    collections::BTreeSet,
    io::{self, BufReader, Read as _},
    path::{Path, PathBuf},
};

use blobs::{BlobError, ContentStore, fingerprint_of, read_regular};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use library_copy::Counter;
use storage::BlobRef;

use crate::{
    BackupError, BackupProgress, BlobCount, Damage, FileSum, Hex, LostBlob, Manifest, RowsError, TableHeader,
    folder::{Folder, blocking},
    pages::blob_pages,
    sum_tables,
};

/// How many damaged parts are named.
const MAX_EXAMPLES: usize = 20;

/// A backup whose files all have their checksums. It stays locked for others.
pub struct VerifiedBackup {
    pub(crate) folder: Folder,
    pub(crate) content: ContentStore,
    pub(crate) tables: Vec<TableHeader>,
    pub(crate) lost: BTreeSet<LostBlob>,
    manifest: Manifest,
    secret: Vec<u8>,
}

impl VerifiedBackup {
    /// What the backup consists of.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The service's secret.
    pub fn secret(&self) -> &[u8] {
        &self.secret
    }

    /// Its folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The file with the rows.
    pub(crate) fn rows(&self) -> PathBuf {
        self.folder.file(&self.manifest.rows_file())
    }
}

#[derive(Default)]
struct Damages {
    count: u64,
    examples: Vec<Damage>,
}

impl Damages {
    fn add(&mut self, part: impl Into<String>, reason: impl Into<String>) {
        self.count += 1;
        if self.examples.len() < MAX_EXAMPLES {
            self.examples.push(Damage { part: part.into(), reason: reason.into() });
        }
    }

    fn none(self, folder: &Folder) -> Result<(), BackupError> {
        if self.count == 0 {
            return Ok(());
        }
        Err(BackupError::Damaged {
            folder: folder.path().to_owned(),
            count: self.count,
            examples: self.examples,
        })
    }
}

/// Reads a whole backup and compares it with its checksums.
///
/// # Errors
/// [`BackupError::Damaged`] names what is damaged.
pub async fn verify(
    folder: &Path,
    files_at_once: usize,
    mut progress: impl FnMut(BackupProgress) + Send,
) -> Result<VerifiedBackup, BackupError> {
    let path = folder.to_owned();
    let (folder, manifest) = blocking(folder, move || {
        let folder = Folder::open(&path)?;
        let manifest = folder.manifest()?;
        Ok((folder, manifest))
    })
    .await?;
    Counter::new(&mut progress, "checking", "rows");
    let (rows, expected) = (folder.file(&manifest.rows_file()), manifest.clone());
    let path = rows.clone();
    let (tables, mut damages) = blocking(&rows, move || check_rows(&path, &expected)).await?;
    let (secret, path) = (folder.file(&manifest.secret_file()), folder.path().to_owned());
    let (expected, name) = (manifest.secret, manifest.secret_file());
    let (secret, damage) = blocking(&path, move || Ok(check_secret(&secret, &name, expected))).await?;
    damages.extend(damage);
    let mut found = Damages::default();
    damages.into_iter().for_each(|damage| found.add(damage.part, damage.reason));
    let lost: BTreeSet<LostBlob> = manifest.lost.iter().copied().collect();
    let content = ContentStore::in_existing_folder(&folder.blobs());
    match content {
        Ok(content) => {
            check_blobs(&content, &rows, &manifest, &lost, files_at_once, &mut found, &mut progress).await?;
            found.none(&folder)?;
            Ok(VerifiedBackup { folder, content, tables, lost, manifest, secret })
        }
        Err(error) => {
            found.add("blobs", error.to_string());
            found.none(&folder)?;
            Err(error.into())
        }
    }
}

/// Compares the rows with the manifest. Blocks.
fn check_rows(path: &Path, manifest: &Manifest) -> Result<(Vec<TableHeader>, Vec<Damage>), BackupError> {
    let mut damages = Vec::new();
    let mut add = |part: &str, reason: String| damages.push(Damage { part: part.to_owned(), reason });
    let name = manifest.rows_file();
    let file = match sum_of_file(path) {
        Ok(sum) if sum == manifest.rows => read_regular(path).map_err(BackupError::io(path))?,
        Ok(sum) if sum.bytes != manifest.rows.bytes => {
            add(&name, format!("has {} bytes instead of {}", sum.bytes, manifest.rows.bytes));
            read_regular(path).map_err(BackupError::io(path))?
        }
        Ok(_) => {
            add(&name, "its SHA-256 differs".to_owned());
            read_regular(path).map_err(BackupError::io(path))?
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            add(&name, "is missing".to_owned());
            return Ok((Vec::new(), damages));
        }
        Err(error) => return Err(BackupError::io(path)(error)),
    };
    let (tables, read) = sum_tables(BufReader::with_capacity(256 * 1024, file));
    let is_cut = match read {
        Ok(()) => false,
        Err(RowsError::Io(error)) => return Err(BackupError::io(path)(error)),
        Err(error) => {
            add(&name, error.to_string());
            true
        }
    };
    for (at, expected) in manifest.tables.iter().enumerate() {
        match tables.get(at) {
            Some((_, sum)) if sum == expected => {}
            // The rows after the damage were not read.
            Some(_) if is_cut && at + 1 == tables.len() => {}
            None if is_cut => {}
            Some((_, sum)) if sum.name == expected.name => add(
                &format!("table {}", expected.name),
                format!("its checksum differs ({} of {} rows)", sum.rows, expected.rows),
            ),
            _ => add(&format!("table {}", expected.name), "is missing".to_owned()),
        }
    }
    if tables.len() > manifest.tables.len() {
        add(&name, "has more tables than the manifest".to_owned());
    }
    Ok((tables.into_iter().map(|(header, _)| header).collect(), damages))
}

fn sum_of_file(path: &Path) -> io::Result<FileSum> {
    let fingerprint = fingerprint_of(read_regular(path)?)?;
    Ok(FileSum { bytes: fingerprint.bytes, sha256: Hex(fingerprint.hash) })
}

/// Reads the secret. Blocks.
fn check_secret(path: &Path, name: &str, expected: FileSum) -> (Vec<u8>, Option<Damage>) {
    let damage = |reason: String| Some(Damage { part: name.to_owned(), reason });
    match sum_of_file(path) {
        Ok(sum) if sum == expected => match read_secret(path) {
            Ok(secret) => (secret, None),
            Err(error) => (Vec::new(), damage(error.to_string())),
        },
        Ok(_) => (Vec::new(), damage("its SHA-256 differs".to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            (Vec::new(), damage("is missing".to_owned()))
        }
        Err(error) => (Vec::new(), damage(error.to_string())),
    }
}

fn read_secret(path: &Path) -> io::Result<Vec<u8>> {
    let mut secret = Vec::new();
    read_regular(path)?.read_to_end(&mut secret)?;
    Ok(secret)
}

async fn check_blobs(
    content: &ContentStore,
    rows: &Path,
    manifest: &Manifest,
    lost: &BTreeSet<LostBlob>,
    files_at_once: usize,
    damages: &mut Damages,
    progress: &mut (impl FnMut(BackupProgress) + Send),
) -> Result<(), BackupError> {
    let mut counter = Counter::new(progress, "checking", "photo files");
    let (mut originals, mut renditions) = (BlobCount::default(), BlobCount::default());
    let mut pages = blob_pages(rows.to_owned());
    while let Some(page) = pages.recv().await {
        // Damaged rows were reported before. The blobs before the damage are checked all the same.
        let Ok(page) = page else { return Ok(()) };
        let checking = page.into_iter().map(|blob| async move {
            let is_lost = lost.contains(&LostBlob { kind: blob.kind, sha256: Hex(blob.hash) });
            let reason = if is_lost { None } else { blob_damage(content, blob).await? };
            Ok::<_, BackupError>((blob, is_lost, reason))
        });
        let mut checked = std::pin::pin!(stream::iter(checking).buffer_unordered(files_at_once));
        while let Some((blob, is_lost, reason)) = checked.try_next().await? {
            counter.add(1);
            if let Some(reason) = reason {
                damages.add(content.location(blob.kind, blob.hash), reason);
            }
            match blob.kind {
                _ if is_lost => {}
                storage::BlobKind::Original => originals.add(blob.bytes),
                storage::BlobKind::Rendition => renditions.add(blob.bytes),
            }
        }
    }
    if (originals, renditions) != (manifest.originals, manifest.renditions) && damages.count == 0 {
        damages.add("backup.json", "its number of photo files differs from that of the rows");
    }
    Ok(())
}

async fn blob_damage(content: &ContentStore, blob: BlobRef) -> Result<Option<&'static str>, BackupError> {
    match content.length(blob.kind, blob.hash).await? {
        None => return Ok(Some("is missing")),
        Some(bytes) if bytes != blob.bytes => return Ok(Some("has another length")),
        Some(_) => {}
    }
    match content.read_hash(blob.kind, blob.hash).await {
        Ok(hash) if hash == blob.hash => Ok(None),
        Ok(_) => Ok(Some("its SHA-256 differs")),
        Err(BlobError::Missing { .. }) => Ok(Some("is missing")),
        Err(error) => Err(error.into()),
    }
}
