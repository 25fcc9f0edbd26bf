//! Tar archives. Uncompressed ones are read by position.

use std::{
    cell::Cell,
    fs::File,
    io::{self, BufReader, Read, Seek, SeekFrom},
    rc::Rc,
};

use ::tar::{Archive, EntryType};
use domain::Timestamp;
use rawzip::FileReader;

use super::{Entry, EntryError, OnEntry, Range, Verified, range};
use crate::limits::MAX_TAR_HEADERS_BYTES;

/// An uncompressed tar archive.
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
        let mut entries = Vec::new();
        let damage = loop {
            allowance.set(MAX_TAR_HEADERS_BYTES);
            let entry = match listed.next() {
                Some(Ok(entry)) => entry,
                Some(Err(error)) => break Some(error.to_string()),
                None => break None,
            };
            let Some((path, error)) = path_of(&entry) else { continue };
            let found = Entry { path: &path, error, ..described(&entry) };
            if on_entry(entries.len(), found).is_break() {
                break None;
            }
            entries.push((entry.raw_file_position(), entry.size()));
        };
        Ok((Self { file: reader, entries }, damage))
    }

    pub(super) fn content(&self, entry: usize) -> Result<Verified<Range<'_>>, EntryError> {
        let (start, bytes) = self.entries.get(entry).ok_or(EntryError::Missing)?;
        Ok(Verified::new(range(&self.file, *start, *bytes), *bytes, None))
    }
}

/// The path of a file, and why it cannot be read. `None` for folders and records about the archive.
pub(super) fn path_of<R: Read>(entry: &::tar::Entry<'_, R>) -> Option<(String, Option<EntryError>)> {
    let error = match entry.header().entry_type() {
        EntryType::Regular | EntryType::Continuous => None,
        EntryType::Directory | EntryType::XGlobalHeader => return None,
        _ => Some(EntryError::NotAFile),
    };
    let path = super::zip::name(&entry.path_bytes());
    (!path.ends_with('/')).then_some((path, error))
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
