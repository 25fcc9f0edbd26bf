//! Tar archives. Uncompressed ones are read by position.

use std::{
    cell::Cell,
    collections::HashMap,
    fs::File,
    io::{self, BufReader, Read, Seek, SeekFrom},
    rc::Rc,
};

use ::tar::{Archive, EntryType};
use domain::Timestamp;
use rawzip::FileReader;

use super::{Entry, EntryError, OnEntry, Range, Verified, range};
use crate::limits::MAX_TAR_HEADERS_BYTES;

#[derive(Debug)]
pub(super) struct TarArchive {
    file: FileReader,
    /// The start and the length of each entry's content.
    entries: Vec<(u64, u64)>,
}

impl TarArchive {
    pub(super) fn open(file: File, on_entry: OnEntry<'_>) -> io::Result<(Self, Option<String>)> {
        let reader = FileReader::from(file.try_clone()?);
        let allowance = Allowance::default();
        let mut archive = Archive::new(Limited { inner: BufReader::new(file), left: allowance.clone() });
        let mut listed = archive.entries_with_seek()?;
        let mut entries: Vec<(u64, u64)> = Vec::new();
        let mut links = HardLinks::default();
        let damage = loop {
            allowance.set(MAX_TAR_HEADERS_BYTES);
            let mut entry = match listed.next() {
                Some(Ok(entry)) => entry,
                Some(Err(error)) => break Some(error.to_string()),
                None => break None,
            };
            let Some(file) = ListedEntry::of(&mut entry, &mut links, entries.len()) else { continue };
            let own = (entry.raw_file_position(), entry.size());
            let content = file.linked.and_then(|linked| entries.get(linked).copied()).unwrap_or(own);
            let found = Entry { path: &file.path, bytes: content.1, error: file.error, ..described(&entry) };
            if on_entry(entries.len(), found).is_break() {
                break None;
            }
            entries.push(content);
        };
        Ok((Self { file: reader, entries }, damage))
    }

    pub(super) fn content(&self, entry: usize) -> Result<Verified<Range<'_>>, EntryError> {
        let (start, bytes) = self.entries.get(entry).ok_or(EntryError::Missing)?;
        Ok(Verified::new(range(&self.file, *start, *bytes), *bytes, None))
    }
}

/// The numbers of the entries, by the paths that hard links name.
#[derive(Debug, Default)]
pub(super) struct HardLinks(HashMap<String, usize>);

#[derive(Debug)]
pub(super) struct ListedEntry {
    pub(super) path: String,
    /// The number of an earlier entry that has the content of this one.
    pub(super) linked: Option<usize>,
    /// Why it cannot be read.
    pub(super) error: Option<EntryError>,
}

impl ListedEntry {
    /// Describes an entry. `None` for folders and records about the archive, which get no number.
    pub(super) fn of<R: Read>(
        entry: &mut ::tar::Entry<'_, R>,
        links: &mut HardLinks,
        number: usize,
    ) -> Option<Self> {
        let path = super::zip::name(&entry.path_bytes());
        if path.ends_with('/') {
            return None;
        }
        let content = match entry.header().entry_type() {
            EntryType::Directory | EntryType::XGlobalHeader => return None,
            EntryType::Regular | EntryType::Continuous if is_sparse(entry) => Err(EntryError::NotAFile),
            EntryType::Regular | EntryType::Continuous => Ok(None),
            // Some programs write the content of a hard link again.
            EntryType::Link if entry.size() > 0 => Ok(None),
            EntryType::Link => {
                let target = entry.link_name_bytes().map(|name| link_key(&super::zip::name(&name)));
                let linked = target.and_then(|target| links.0.get(&target).copied());
                linked.map(Some).ok_or(EntryError::DanglingLink)
            }
            _ => Err(EntryError::NotAFile),
        };
        if content.is_ok() {
            links.0.insert(link_key(&path), number);
        }
        let (linked, error) = content.map_or_else(|error| (None, Some(error)), |linked| (linked, None));
        Some(Self { path, linked, error })
    }
}

/// The form of a path in which entries and hard links are compared: some programs write a leading `./` or `/`.
fn link_key(path: &str) -> String {
    crate::names::parts(path).join("/")
}

/// Whether an entry is a sparse file in a form that only its extended headers show.
fn is_sparse<R: Read>(entry: &mut ::tar::Entry<'_, R>) -> bool {
    let Ok(Some(extensions)) = entry.pax_extensions() else { return false };
    extensions.flatten().any(|extension| extension.key_bytes().starts_with(b"GNU.sparse."))
}

pub(super) fn described<R: Read>(entry: &::tar::Entry<'_, R>) -> Entry<'static> {
    let seconds = entry.header().mtime().ok().and_then(|seconds| i64::try_from(seconds).ok());
    let modified_at = seconds.filter(|seconds| *seconds > 0).and_then(|seconds| seconds.checked_mul(1000));
    Entry {
        path: "",
        bytes: entry.size(),
        crc32: None,
        modified_at: modified_at.and_then(Timestamp::from_millis),
        error: None,
    }
}

/// How many bytes may still be read.
pub(super) type Allowance = Rc<Cell<u64>>;

/// Fails when the allowance is used up. The tar reader keeps long names and extended headers in memory, whatever length
/// they declare.
pub(super) struct Limited<R> {
    pub(super) inner: R,
    pub(super) left: Allowance,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        let left = self.left.get().checked_sub(read as u64);
        self.left.set(left.ok_or_else(|| io::Error::other("a header is too long"))?);
        Ok(read)
    }
}

impl<R: Seek> Seek for Limited<R> {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.inner.seek(position)
    }
}
