//! TIFF structures for tests.

#[derive(Debug, Clone)]
pub(crate) enum Value {
    Bytes(Vec<u8>),
    Text(&'static str),
    Shorts(Vec<u16>),
    Longs(Vec<u32>),
    Undefined(Vec<u8>),
}

/// Writes a structure. Data and directories are added from last to first, because a directory contains the offsets of
/// the ones it refers to.
#[derive(Debug, Clone)]
pub(crate) struct Writer {
    big_endian: bool,
    /// BigTIFF.
    big: bool,
    bytes: Vec<u8>,
}

impl Writer {
    pub(crate) fn new(big_endian: bool, big: bool) -> Self {
        let mut writer = Self { big_endian, big, bytes: Vec::new() };
        writer.bytes.extend(if big_endian { b"MM" } else { b"II" });
        writer.short(if big { 43 } else { 42 });
        if big {
            writer.short(8);
            writer.short(0);
        }
        writer.offset(0);
        writer
    }

    /// Replaces the signature.
    pub(crate) fn signed(mut self, signature: &[u8]) -> Self {
        self.bytes[..signature.len()].copy_from_slice(signature);
        self
    }

    /// Adds bytes and returns their offset.
    pub(crate) fn data(&mut self, data: &[u8]) -> u32 {
        let at = u32::try_from(self.bytes.len()).unwrap();
        self.bytes.extend_from_slice(data);
        at
    }

    /// Adds a directory with the offset of the next one (0 for none), and returns its offset.
    pub(crate) fn directory(&mut self, entries: &[(u16, Value)], next: u32) -> u32 {
        let stored: Vec<_> = entries.iter().map(|(tag, value)| (*tag, self.stored(value))).collect();
        let inline = if self.big { 8 } else { 4 };
        let places: Vec<_> = stored
            .iter()
            .map(|(_, (_, _, bytes))| if bytes.len() > inline { self.data(bytes) } else { 0 })
            .collect();
        let at = u32::try_from(self.bytes.len()).unwrap();
        if self.big {
            self.offset(u32::try_from(entries.len()).unwrap());
        } else {
            self.short(u16::try_from(entries.len()).unwrap());
        }
        for ((tag, (kind, count, mut bytes)), place) in stored.into_iter().zip(places) {
            self.short(tag);
            self.short(kind);
            self.offset(u32::try_from(count).unwrap());
            if bytes.len() > inline {
                self.offset(place);
            } else {
                bytes.resize(inline, 0);
                self.bytes.extend(bytes);
            }
        }
        self.offset(next);
        at
    }

    /// The finished structure, with the offset of its first directory.
    pub(crate) fn finish(mut self, first: u32) -> Vec<u8> {
        let head = self.bytes.clone();
        self.bytes = Vec::new();
        self.offset(first);
        let at = if self.big { 8 } else { 4 };
        [&head[..at], &self.bytes, &head[at + self.bytes.len()..]].concat()
    }

    fn stored(&self, value: &Value) -> (u16, usize, Vec<u8>) {
        match value {
            Value::Bytes(bytes) => (1, bytes.len(), bytes.clone()),
            Value::Text(text) => (2, text.len() + 1, format!("{text}\0").into_bytes()),
            Value::Shorts(numbers) => (
                3,
                numbers.len(),
                numbers.iter().flat_map(|number| self.ordered(number.to_be_bytes())).collect(),
            ),
            Value::Longs(numbers) => (
                4,
                numbers.len(),
                numbers.iter().flat_map(|number| self.ordered(number.to_be_bytes())).collect(),
            ),
            Value::Undefined(bytes) => (7, bytes.len(), bytes.clone()),
        }
    }

    fn ordered<const N: usize>(&self, mut bytes: [u8; N]) -> [u8; N] {
        if !self.big_endian {
            bytes.reverse();
        }
        bytes
    }

    fn short(&mut self, number: u16) {
        let bytes = self.ordered(number.to_be_bytes());
        self.bytes.extend(bytes);
    }

    fn offset(&mut self, number: u32) {
        if self.big {
            let bytes = self.ordered(u64::from(number).to_be_bytes());
            self.bytes.extend(bytes);
        } else {
            let bytes = self.ordered(number.to_be_bytes());
            self.bytes.extend(bytes);
        }
    }
}
