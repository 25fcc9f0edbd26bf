//! Compressed tar archives. They are read twice from start to end: once for the index, once for the photos. The first
//! pass copies the metadata files to a temporary file.

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
    tar::{Allowance, Limited, described, path_of},
};
use crate::limits::{
    MAX_COPIED_BYTES, MAX_CSV_BYTES, MAX_EXPANSION, MAX_SIDECAR_BYTES, MAX_TAR_HEADERS_BYTES,
    MIN_EXPANDED_BYTES,
};

/// A compressed tar archive.
#[derive(Debug)]
pub(super) struct GzipArchive {
    file: File,
    copies: FileReader,
    entries: Vec<Location>,
}

#[derive(Debug)]
struct Location {
    /// The position in the order of the archive, folders included.
    ordinal: usize,
    bytes: u64,
    /// The start of the copy of a metadata file.
    copy: Option<u64>,
}

type Content = Limited<MultiGzDecoder<BufReader<File>>>;

impl GzipArchive {
    pub(super) fn open(file: File, on_entry: OnEntry<'_>) -> io::Result<(Self, Option<String>)> {
        let copies = tempfile::tempfile()?;
        let mut copying = Copying { file: BufWriter::new(copies.try_clone()?), bytes: 0 };
        let mut entries = Vec::new();
        let damage = each_entry(&file, |ordinal, entry| {
            let Some((path, error)) = path_of(entry) else { return Ok(ControlFlow::Continue(())) };
            let (bytes, mut found) = (entry.size(), described(entry));
            let copy = if error.is_none() { copying.copy(&path, bytes, entry)? } else { None };
            let mut content =
                CrcReader::new(Verified::new(entry, if copy.is_some() { 0 } else { bytes }, None));
            io::copy(&mut content, &mut io::sink())?;
            found.crc32 = copy.is_none().then(|| content.crc().sum());
            let flow = on_entry(entries.len(), Entry { path: &path, error, ..found });
            entries.push(Location { ordinal, bytes, copy });
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

    /// Reads entries, in the order of the archive.
    pub(super) fn read_each(&self, entries: &[usize], on_content: OnContent<'_>) -> ControlFlow<()> {
        let location = |entry: &usize| Some((*entry, self.entries.get(*entry)?));
        let mut wanted = entries.iter().filter_map(location).peekable();
        let mut is_stopped = false;
        // A damaged archive leaves wanted entries unread, which are reported below.
        let _ = each_entry(&self.file, |ordinal, content| {
            if let Some((entry, location)) = wanted.next_if(|(_, location)| location.ordinal == ordinal) {
                let mut content = Verified::new(content, location.bytes, None);
                is_stopped = on_content(entry, Ok(&mut content)).is_break();
            }
            let is_finished = is_stopped || wanted.peek().is_none();
            Ok(if is_finished { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        });
        if is_stopped {
            return ControlFlow::Break(());
        }
        for (entry, _) in wanted {
            on_content(entry, Err(EntryError::Missing))?;
        }
        ControlFlow::Continue(())
    }
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
