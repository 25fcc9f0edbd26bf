//! ZIP archives, also with ZIP64, Deflate64 and data after other data.

use std::{
    fs::File,
    io::{self, BufReader, Read},
};

use domain::Timestamp;
use flate2::read::DeflateDecoder;
use rawzip::{
    CompressionMethod, FileReader, ReaderAt as _, ZipArchive as Directory, ZipArchiveEntryWayfinder,
    ZipFileHeaderRecord, ZipLocator, time::ZipDateTimeKind,
};

use super::{Entry, EntryError, OnEntry, Verified, range, salvage};
use crate::limits::MAX_NAME_BYTES;

/// How much of the file's end is searched for the end of the directory: room for the longest comment and for the records.
const SEARCH_BYTES: u64 = 128 << 10;
/// Names, extra fields and comments of an entry have at most 64 KB each.
const BUFFER_BYTES: usize = 256 << 10;

#[derive(Debug)]
pub(super) struct ZipArchive {
    directory: Option<Directory<FileReader>>,
    /// The file of an archive whose directory is missing.
    file: Option<FileReader>,
    entries: Vec<Location>,
}

/// Where an entry's data are, and how they are stored.
#[derive(Debug, Clone, Copy)]
pub(super) struct Location {
    pub(super) data: Data,
    pub(super) method: u16,
    pub(super) is_encrypted: bool,
    pub(super) bytes: u64,
    pub(super) crc32: u32,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Data {
    Listed(ZipArchiveEntryWayfinder),
    /// Found without the directory: start and length.
    Salvaged(u64, u64),
}

impl ZipArchive {
    pub(super) fn open(file: File, on_entry: OnEntry<'_>) -> io::Result<(Self, Option<String>)> {
        let mut buffer = vec![0; BUFFER_BYTES];
        let locator = ZipLocator::new().max_search_space(SEARCH_BYTES);
        match locator.locate_in_file(file, &mut buffer) {
            Ok(directory) => {
                let (entries, damage) = list(&directory, &mut buffer, on_entry);
                Ok((Self { directory: Some(directory), file: None, entries }, damage))
            }
            // The directory is at the end of the file, which is missing if a download broke.
            Err((file, error)) => {
                let length = file.metadata()?.len();
                let file = FileReader::from(file);
                let entries = salvage::entries(&file, length, on_entry);
                Ok((Self { directory: None, file: Some(file), entries }, Some(error.to_string())))
            }
        }
    }

    pub(super) fn content(&self, entry: usize) -> Result<Box<dyn Read + '_>, EntryError> {
        let location = self.entries.get(entry).ok_or(EntryError::Missing)?;
        if location.is_encrypted {
            return Err(EntryError::Encrypted);
        }
        let (file, start, end) = self.data(&location.data)?;
        let data = range(file, start, end.saturating_sub(start));
        let content: Box<dyn Read + '_> = match CompressionMethod::new(location.method) {
            CompressionMethod::STORE => Box::new(data),
            CompressionMethod::DEFLATE => Box::new(DeflateDecoder::new(data)),
            CompressionMethod::DEFLATE64 => {
                Box::new(deflate64::Deflate64Decoder::with_buffer(BufReader::new(data)))
            }
            other => return Err(EntryError::UnsupportedMethod(other.as_u16())),
        };
        Ok(Box::new(Verified::new(content, location.bytes, Some(location.crc32))))
    }

    fn data(&self, data: &Data) -> Result<(&FileReader, u64, u64), EntryError> {
        match (data, &self.directory, &self.file) {
            (Data::Listed(wayfinder), Some(directory), _) => {
                let entry = directory.get_entry(*wayfinder).map_err(io::Error::other)?;
                let (start, end) = entry.compressed_data_range();
                Ok((directory.get_ref(), start, end))
            }
            (Data::Salvaged(start, bytes), _, Some(file)) => Ok((file, *start, start.saturating_add(*bytes))),
            _ => Err(EntryError::Missing),
        }
    }
}

/// Lists the directory up to its first damage, which is returned.
fn list(
    directory: &Directory<FileReader>,
    buffer: &mut [u8],
    on_entry: OnEntry<'_>,
) -> (Vec<Location>, Option<String>) {
    let mut entries = Vec::new();
    let (mut listed, mut data_bytes): (u64, u64) = (0, 0);
    let mut records = directory.entries(buffer);
    loop {
        let record = match records.next_entry() {
            Ok(Some(record)) => record,
            Ok(None) if listed < directory.entries_hint() => {
                return (entries, Some("its directory is cut off".into()));
            }
            Ok(None) => return (entries, None),
            Err(error) => return (entries, Some(error.to_string())),
        };
        listed += 1;
        // Entries that share their data could expand a small archive without end.
        data_bytes = data_bytes.saturating_add(record.compressed_size_hint());
        if data_bytes > directory.directory_offset() {
            return (entries, Some("its entries overlap".into()));
        }
        if record.is_dir() {
            continue;
        }
        if on_entry(entries.len(), entry(&record, &name(record.file_path().as_bytes()))).is_break() {
            return (entries, None);
        }
        entries.push(location(&record));
    }
}

fn entry<'a>(record: &ZipFileHeaderRecord<'_>, path: &'a str) -> Entry<'a> {
    let location = location(record);
    Entry {
        path,
        bytes: location.bytes,
        crc32: Some(location.crc32),
        modified_at: modified_at(&record.last_modified()),
        error: unreadable(&location),
    }
}

/// Why an entry cannot be read, as far as the index says.
pub(super) fn unreadable(location: &Location) -> Option<EntryError> {
    match CompressionMethod::new(location.method) {
        _ if location.is_encrypted => Some(EntryError::Encrypted),
        CompressionMethod::STORE | CompressionMethod::DEFLATE | CompressionMethod::DEFLATE64 => None,
        other => Some(EntryError::UnsupportedMethod(other.as_u16())),
    }
}

fn location(record: &ZipFileHeaderRecord<'_>) -> Location {
    Location {
        data: Data::Listed(record.wayfinder()),
        method: record.compression_method().as_u16(),
        is_encrypted: record.flags().is_encrypted(),
        bytes: record.uncompressed_size_hint(),
        crc32: record.crc32(),
    }
}

/// The characters of code page 437 above ASCII.
const CODE_PAGE_437: &str = "\
ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐\
└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{A0}";

/// The name as text. A name that is not UTF-8 is read in code page 437 (APPNOTE, appendix D), so that different names stay
/// different.
pub(super) fn name(bytes: &[u8]) -> String {
    let bytes = bytes.get(..MAX_NAME_BYTES).unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        Ok(name) => name.to_owned(),
        Err(_) => bytes.iter().map(|byte| code_page_437(*byte)).collect(),
    }
}

fn code_page_437(byte: u8) -> char {
    let above_ascii = byte.checked_sub(0x80).and_then(|index| CODE_PAGE_437.chars().nth(index.into()));
    above_ascii.unwrap_or(byte.into())
}

/// The time of the last change. A local time is read as UTC: it only replaces a missing capture time.
fn modified_at(time: &ZipDateTimeKind) -> Option<Timestamp> {
    let text = format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}",
        time.year(),
        time.month(),
        time.day(),
        time.hour(),
        time.minute(),
        time.second().min(59)
    );
    // Archives without times have the first day of the format's calendar.
    Timestamp::parse_iso(&text).ok().filter(|_| time.year() > 1980)
}

/// Reads exactly that many bytes at a position, or fewer at the end of the file.
pub(super) fn read_at(file: &FileReader, position: u64, buffer: &mut [u8]) -> usize {
    let mut read = 0;
    while let Some(rest) = buffer.get_mut(read..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, position.saturating_add(read as u64)) {
            Ok(0) | Err(_) => break,
            Ok(count) => read += count,
        }
    }
    read
}
