//! Archives that are read in place.

mod gzip;
mod salvage;
mod tar;
#[cfg(test)]
mod tests;
mod zip;

use std::{
    fs::File,
    io::{self, Read},
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use domain::Timestamp;
use rawzip::{FileReader, RangeReader};

use crate::names::ArchiveKind;
use gzip::GzipArchive;
use tar::TarArchive;
use zip::ZipArchive;

/// Why an entry of an archive cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum EntryError {
    #[error("is encrypted; unpack the archive with its password, then import the folder")]
    Encrypted,
    /// The entry is compressed in a way that is not supported.
    #[error(
        "is compressed by the method {0}, which is not supported; unpack the archive, then import the folder"
    )]
    UnsupportedMethod(u16),
    /// The entry is a link, a device or a sparse file.
    #[error("is not an ordinary file in its archive")]
    NotAFile,
    /// The entry is a hard link to a file that is not before it.
    #[error("is a link to a file that is not before it in its archive")]
    DanglingLink,
    /// The entry is longer than the limit.
    #[error("is longer than the limit of {0} bytes")]
    TooLong(u64),
    /// The archive was not read again up to this entry, because it is damaged or changed.
    #[error("cannot be read from its archive, which is damaged or has changed")]
    Missing,
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Damaged(#[from] io::Error),
}

/// An entry in the index of an archive.
#[derive(Debug)]
pub(crate) struct Entry<'a> {
    pub(crate) path: &'a str,
    /// The length, as the archive declares it.
    pub(crate) bytes: u64,
    /// The CRC-32 of the content, if the archive has it.
    pub(crate) crc32: Option<u32>,
    pub(crate) modified_at: Option<Timestamp>,
    /// Why the entry cannot be read.
    pub(crate) error: Option<EntryError>,
}

/// Takes an entry and its number. Breaks when there are too many.
pub(crate) type OnEntry<'a> = &'a mut dyn FnMut(usize, Entry<'_>) -> ControlFlow<()>;

/// Takes the number of an entry and its content. Breaks to stop reading.
pub(crate) type OnContent<'a> =
    &'a mut dyn FnMut(usize, Result<&mut dyn Read, EntryError>) -> ControlFlow<()>;

/// An archive with its index.
#[derive(Debug)]
pub(crate) struct Archive {
    pub(crate) path: PathBuf,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Zip(ZipArchive),
    Tar(TarArchive),
    Gzip(GzipArchive),
}

impl Archive {
    /// Opens an archive and lists its entries. An archive that is damaged is listed up to the damage, which is returned.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub(crate) fn open(
        path: &Path,
        kind: ArchiveKind,
        on_entry: OnEntry<'_>,
    ) -> io::Result<(Self, Option<String>)> {
        let file = File::open(path)?;
        let (content, damage) = match kind {
            ArchiveKind::Zip => {
                let (archive, damage) = ZipArchive::open(file, on_entry)?;
                (Content::Zip(archive), damage)
            }
            ArchiveKind::Tar => {
                let (archive, damage) = TarArchive::open(file, on_entry)?;
                (Content::Tar(archive), damage)
            }
            ArchiveKind::TarGz => {
                let (archive, damage) = GzipArchive::open(file, on_entry)?;
                (Content::Gzip(archive), damage)
            }
        };
        Ok((Self { path: path.to_owned(), content }, damage))
    }

    /// Reads a metadata file.
    pub(crate) fn read(&self, entry: usize, max_bytes: u64) -> Result<Vec<u8>, EntryError> {
        let mut content: Box<dyn Read + '_> = match &self.content {
            Content::Zip(archive) => archive.content(entry)?,
            Content::Tar(archive) => Box::new(archive.content(entry)?),
            Content::Gzip(archive) => Box::new(archive.copied(entry)?),
        };
        let mut bytes = Vec::new();
        content.by_ref().take(max_bytes + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > max_bytes { Err(EntryError::TooLong(max_bytes)) } else { Ok(bytes) }
    }

    /// The CRC-32 of an entry's content. `None` if it cannot be read at an acceptable cost.
    pub(crate) fn crc32(&self, entry: usize) -> Option<u32> {
        match &self.content {
            Content::Tar(archive) => crc32(&mut archive.content(entry).ok()?).ok(),
            Content::Zip(_) | Content::Gzip(_) => None,
        }
    }

    /// Reads entries, in the order of the archive. Entries that share their content follow each other.
    pub(crate) fn read_each(&self, entries: &[usize], on_content: OnContent<'_>) -> ControlFlow<()> {
        match &self.content {
            Content::Zip(archive) => read_each(entries, |entry| archive.content(entry), on_content),
            Content::Tar(archive) => {
                let content = |entry| Ok(Box::new(archive.content(entry)?) as Box<dyn Read>);
                read_each(entries, content, on_content)
            }
            Content::Gzip(archive) => archive.read_each(entries, on_content),
        }
    }
}

fn read_each<'a>(
    entries: &[usize],
    content: impl Fn(usize) -> Result<Box<dyn Read + 'a>, EntryError>,
    on_content: OnContent<'_>,
) -> ControlFlow<()> {
    for entry in entries {
        match content(*entry) {
            Ok(mut content) => on_content(*entry, Ok(&mut content))?,
            Err(error) => on_content(*entry, Err(error))?,
        }
    }
    ControlFlow::Continue(())
}

/// The CRC-32 of a whole file.
pub(crate) fn crc32(content: &mut dyn Read) -> io::Result<u32> {
    let mut hasher = flate2::CrcReader::new(content);
    io::copy(&mut hasher, &mut io::sink())?;
    Ok(hasher.crc().sum())
}

/// A part of a file, read by position so that several readers share the file.
type Range<'a> = RangeReader<&'a FileReader>;

fn range(file: &FileReader, start: u64, bytes: u64) -> Range<'_> {
    RangeReader::new(file, start..start.saturating_add(bytes))
}

/// Reads content and fails if its length or checksum is not the expected one. Readers of truncated archives would
/// otherwise return a part of a photo as if it were whole.
struct Verified<R> {
    content: R,
    left: u64,
    crc32: Option<u32>,
    computed: flate2::Crc,
}

impl<R: Read> Verified<R> {
    fn new(content: R, bytes: u64, crc32: Option<u32>) -> Self {
        Self { content, left: bytes, crc32, computed: flate2::Crc::new() }
    }
}

impl<R: Read> Read for Verified<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let damaged = |reason| Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        let read = self.content.read(buffer)?;
        if read == 0 {
            return match self.crc32 {
                _ if buffer.is_empty() => Ok(0),
                _ if self.left > 0 => damaged("it is cut off"),
                Some(expected) if expected != self.computed.sum() => damaged("its checksum is wrong"),
                _ => Ok(0),
            };
        }
        let Some(left) = self.left.checked_sub(read as u64) else {
            return damaged("it is longer than the archive says");
        };
        self.left = left;
        if self.crc32.is_some() {
            self.computed.update(buffer.get(..read).unwrap_or_default());
        }
        Ok(read)
    }
}
