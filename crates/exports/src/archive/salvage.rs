//! Finds the entries of a ZIP archive whose directory is missing, by the headers before their data.

use std::io::{self, Read};

use flate2::bufread::DeflateDecoder;
use rawzip::{CompressionMethod, FileReader};

use super::{
    Entry, OnEntry, range,
    zip::{Data, Location, name, read_at, unreadable},
};
use crate::limits::MAX_NAME_BYTES;

const SIGNATURE: [u8; 4] = *b"PK\x03\x04";
const HEADER_BYTES: u8 = 30;
/// The identifier of the extra field with lengths of 64 bits.
const ZIP64: u16 = 1;
const ENCRYPTED: u16 = 1;
const HAS_DESCRIPTOR: u16 = 1 << 3;
/// The longest record between the data of an entry and the next header: signature, checksum and two lengths.
const MAX_DESCRIPTOR_BYTES: usize = 24;

/// The entries up to the first one that is not complete.
pub(super) fn entries(file: &FileReader, file_bytes: u64, on_entry: OnEntry<'_>) -> Vec<Location> {
    let mut entries = Vec::new();
    let mut position = 0;
    while let Some(header) = Header::read(file, position) {
        let Some(location) = header.location(file, file_bytes) else { break };
        let Data::Salvaged(start, bytes) = location.data else { break };
        position = after_descriptor(file, start.saturating_add(bytes), header.flags);
        if header.path.ends_with('/') {
            continue;
        }
        let entry = Entry {
            path: &header.path,
            bytes: location.bytes,
            crc32: Some(location.crc32),
            modified_at: None,
            error: unreadable(&location),
        };
        if on_entry(entries.len(), entry).is_break() {
            break;
        }
        entries.push(location);
    }
    entries
}

struct Header {
    flags: u16,
    method: u16,
    crc32: u32,
    compressed: u64,
    bytes: u64,
    path: String,
    data_start: u64,
}

impl Header {
    fn read(file: &FileReader, position: u64) -> Option<Self> {
        let mut fixed = [0; HEADER_BYTES as usize];
        if read_at(file, position, &mut fixed) < fixed.len() || !fixed.starts_with(&SIGNATURE) {
            return None;
        }
        let (name_bytes, extra_bytes) = (u16_at(&fixed, 26)?, u16_at(&fixed, 28)?);
        let name_start = position.checked_add(HEADER_BYTES.into())?;
        let extra_start = name_start.checked_add(u64::from(name_bytes))?;
        let mut path = vec![0; usize::from(name_bytes).min(MAX_NAME_BYTES)];
        let mut extra = vec![0; usize::from(extra_bytes)];
        if read_at(file, name_start, &mut path) < path.len()
            || read_at(file, extra_start, &mut extra) < extra.len()
        {
            return None;
        }
        let mut header = Self {
            flags: u16_at(&fixed, 6)?,
            method: u16_at(&fixed, 8)?,
            crc32: u32_at(&fixed, 14)?,
            compressed: u32_at(&fixed, 18)?.into(),
            bytes: u32_at(&fixed, 22)?.into(),
            path: name(&path),
            data_start: extra_start.checked_add(u64::from(extra_bytes))?,
        };
        header.read_long_lengths(&extra);
        Some(header)
    }

    /// Takes the lengths from the extra field if they do not fit into 32 bits.
    fn read_long_lengths(&mut self, mut extra: &[u8]) -> Option<()> {
        const MARK: u64 = u32::MAX as u64;
        if self.bytes != MARK || self.compressed != MARK {
            return None;
        }
        loop {
            let (id, length) = (u16_at(extra, 0)?, usize::from(u16_at(extra, 2)?));
            let field = extra.get(4..4 + length)?;
            if id == ZIP64 {
                (self.bytes, self.compressed) = (u64_at(field, 0)?, u64_at(field, 8)?);
                return Some(());
            }
            extra = extra.get(4 + length..)?;
        }
    }

    /// Where the data are. An archive that was written as a stream may have no lengths in its headers; then the end of
    /// deflated data is found by inflating them. `None` if the data are cut off or their end cannot be found.
    fn location(&self, file: &FileReader, file_bytes: u64) -> Option<Location> {
        let is_streamed = self.flags & HAS_DESCRIPTOR != 0 && self.compressed == 0;
        let is_deflated = CompressionMethod::new(self.method) == CompressionMethod::DEFLATE;
        let (compressed, bytes, crc32) = match is_streamed {
            false => (self.compressed, self.bytes, self.crc32),
            true if is_deflated => inflate(file, self.data_start, file_bytes).ok()?,
            true => return None,
        };
        let end = self.data_start.checked_add(compressed)?;
        (end <= file_bytes).then_some(Location {
            data: Data::Salvaged(self.data_start, compressed),
            method: self.method,
            is_encrypted: self.flags & ENCRYPTED != 0,
            bytes,
            crc32,
        })
    }
}

/// The compressed length, the length and the checksum of deflated data.
fn inflate(file: &FileReader, start: u64, file_bytes: u64) -> io::Result<(u64, u64, u32)> {
    let data = io::BufReader::new(range(file, start, file_bytes.saturating_sub(start)));
    let mut content = DeflateDecoder::new(data);
    let mut computed = flate2::Crc::new();
    let mut buffer = [0; 16 << 10];
    loop {
        let read = content.read(&mut buffer)?;
        if read == 0 {
            return Ok((content.total_in(), content.total_out(), computed.sum()));
        }
        computed.update(buffer.get(..read).unwrap_or_default());
    }
}

/// The position of the next header.
fn after_descriptor(file: &FileReader, end: u64, flags: u16) -> u64 {
    let mut next = [0; MAX_DESCRIPTOR_BYTES + SIGNATURE.len()];
    let read = read_at(file, end, &mut next);
    let next = next.get(..read).unwrap_or_default();
    let found = next.windows(SIGNATURE.len()).position(|window| window == SIGNATURE);
    let distance = if flags & HAS_DESCRIPTOR == 0 { 0 } else { found.unwrap_or(0) };
    end.saturating_add(distance as u64)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?))
}
