//! Compressed tar archives. They are read twice from start to end: once for the index, once for the photos. The first
//! pass copies the metadata files to a temporary file. The second one copies photos that have several names.

use std::{
    fs::File,
    io::{self, BufReader, BufWriter, Read, Seek as _, Write as _},
    ops::ControlFlow,
};

use ::tar::Archive;
use flate2::{CrcReader, read::MultiGzDecoder};
use rawzip::FileReader;

use super::{
    Entry, EntryError, OnContent, OnEntry, Range, Verified, range,
    tar::{Allowance, HardLinks, Limited, ListedEntry, described},
};
use crate::limits::{
    MAX_COPIED_BYTES, MAX_CSV_BYTES, MAX_EXPANSION, MAX_SIDECAR_BYTES, MAX_TAR_HEADERS_BYTES,
    MIN_EXPANDED_BYTES,
};

#[derive(Debug)]
pub(super) struct GzipArchive {
    file: File,
    copies: FileReader,
    entries: Vec<Location>,
}

#[derive(Debug, Clone, Copy)]
struct Location {
    /// The position of the content in the order of the archive, folders included.
    ordinal: usize,
    bytes: u64,
    crc32: Option<u32>,
    /// The start of the copy of a metadata file.
    copy: Option<u64>,
}

type Content = Limited<MultiGzDecoder<BufReader<File>>>;

impl GzipArchive {
    pub(super) fn open(file: File, on_entry: OnEntry<'_>) -> io::Result<(Self, Option<String>)> {
        let copies = tempfile::tempfile()?;
        let mut copying = Copying { file: BufWriter::new(copies.try_clone()?), bytes: 0 };
        let mut entries: Vec<Location> = Vec::new();
        let mut links = HardLinks::default();
        let damage = each_entry(&file, |ordinal, entry| {
            let Some(file) = ListedEntry::of(entry, &mut links, entries.len()) else {
                return Ok(ControlFlow::Continue(()));
            };
            let found = described(entry);
            let location = match file.linked.and_then(|linked| entries.get(linked)) {
                Some(linked) => *linked,
                None => {
                    let bytes = entry.size();
                    let copy = match file.error {
                        None => copying.copy(&file.path, bytes, entry)?,
                        Some(_) => None,
                    };
                    let left = if copy.is_some() { 0 } else { bytes };
                    let mut content = CrcReader::new(Verified::new(entry, left, None));
                    io::copy(&mut content, &mut io::sink())?;
                    let crc32 = copy.is_none().then(|| content.crc().sum());
                    Location { ordinal, bytes, crc32, copy }
                }
            };
            let (bytes, crc32) = (location.bytes, location.crc32);
            let found = Entry { path: &file.path, bytes, crc32, error: file.error, ..found };
            let flow = on_entry(entries.len(), found);
            entries.push(location);
            Ok(flow)
        });
        copying.file.flush()?;
        let damage = damage.err().map(|error| error.to_string());
        Ok((Self { file, copies: FileReader::from(copies), entries }, damage))
    }

    /// The content of a metadata file.
    pub(super) fn copied(&self, entry: usize) -> Result<Range<'_>, EntryError> {
        let location = self.entries.get(entry).ok_or(EntryError::Missing)?;
        let start = location.copy.ok_or(EntryError::TooLong(MAX_SIDECAR_BYTES))?;
        Ok(range(&self.copies, start, location.bytes))
    }

    /// Reads entries, in the order of their contents in the archive.
    pub(super) fn read_each(&self, entries: &[usize], on_content: OnContent<'_>) -> ControlFlow<()> {
        let location = |entry: &usize| Some((*entry, *self.entries.get(*entry)?));
        let mut wanted: Vec<(usize, Location)> = entries.iter().filter_map(location).collect();
        wanted.sort_by_key(|(_, location)| location.ordinal);
        let mut unread = wanted.as_slice();
        let mut is_stopped = false;
        // A damaged archive leaves wanted entries unread, which are reported below.
        let _ = each_entry(&self.file, |ordinal, content| {
            let names = unread.partition_point(|(_, location)| location.ordinal <= ordinal);
            let (here, after) = unread.split_at(names);
            unread = after;
            if let [(first, location), others @ ..] = here {
                let mut content = Verified::new(content, location.bytes, None);
                is_stopped = match others {
                    [] => on_content(*first, Ok(&mut content)),
                    _ => read_copied(here, content, on_content),
                }
                .is_break();
            }
            let is_finished = is_stopped || unread.is_empty();
            Ok(if is_finished { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        });
        if is_stopped {
            return ControlFlow::Break(());
        }
        for (entry, _) in unread {
            on_content(*entry, Err(EntryError::Missing))?;
        }
        ControlFlow::Continue(())
    }
}

/// Reads one content for several entries, from a temporary copy.
fn read_copied(
    entries: &[(usize, Location)],
    mut content: impl Read,
    on_content: OnContent<'_>,
) -> ControlFlow<()> {
    let bytes = entries.first().map_or(0, |(_, location)| location.bytes);
    let copied = tempfile::tempfile().and_then(|mut file| {
        if bytes <= MAX_COPIED_BYTES {
            io::copy(&mut content, &mut file)?;
        }
        Ok(FileReader::from(file))
    });
    for (entry, _) in entries {
        match &copied {
            _ if bytes > MAX_COPIED_BYTES => on_content(*entry, Err(EntryError::TooLong(MAX_COPIED_BYTES)))?,
            Ok(copy) => on_content(*entry, Ok(&mut Verified::new(range(copy, 0, bytes), bytes, None)))?,
            Err(error) => {
                on_content(*entry, Err(io::Error::new(error.kind(), error.to_string()).into()))?;
            }
        }
    }
    ControlFlow::Continue(())
}

/// Calls a function for each entry and skips what it leaves unread.
fn each_entry(
    file: &File,
    mut on_entry: impl FnMut(usize, &mut ::tar::Entry<'_, Content>) -> io::Result<ControlFlow<()>>,
) -> io::Result<()> {
    let mut file = file.try_clone()?;
    file.rewind()?;
    let mut content_bytes = MIN_EXPANDED_BYTES.max(file.metadata()?.len().saturating_mul(MAX_EXPANSION));
    let allowance = Allowance::default();
    let content = MultiGzDecoder::new(BufReader::new(file));
    let mut archive = Archive::new(Limited { inner: content, left: allowance.clone() });
    let mut entries = archive.entries()?;
    for ordinal in 0.. {
        allowance.set(MAX_TAR_HEADERS_BYTES);
        let Some(entry) = entries.next() else { break };
        let mut entry = entry?;
        allowance.set(content_bytes);
        let flow = on_entry(ordinal, &mut entry)?;
        if flow.is_break() {
            return Ok(());
        }
        io::copy(&mut entry, &mut io::sink())?;
        content_bytes = allowance.get();
    }
    Ok(())
}

/// Copies metadata files.
struct Copying {
    file: BufWriter<File>,
    bytes: u64,
}

impl Copying {
    /// Copies a metadata file, and returns where the copy starts. `None` for other files and those that are too long.
    fn copy(&mut self, path: &str, bytes: u64, content: &mut dyn Read) -> io::Result<Option<u64>> {
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        let max_bytes = if crate::names::has_extension(name, "csv") {
            MAX_CSV_BYTES
        } else if media::sidecar_kind(name).is_some() {
            MAX_SIDECAR_BYTES
        } else {
            return Ok(None);
        };
        if bytes > max_bytes || self.bytes.saturating_add(bytes) > MAX_COPIED_BYTES {
            return Ok(None);
        }
        let start = self.bytes;
        io::copy(&mut Verified::new(content, bytes, None), &mut self.file)?;
        self.bytes += bytes;
        Ok(Some(start))
    }
}
