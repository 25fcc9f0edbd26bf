//! The length and the SHA-256 of files.

use std::{
    fmt,
    io::{self, Write},
    str::FromStr,
};

use domain::ContentHash;
use ring::digest;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// A SHA-256 as 64 lower-case hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hex(pub ContentHash);

impl fmt::Display for Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Hex {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let byte =
            |at: usize| text.get(2 * at..2 * at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
        let bytes: Vec<u8> = (0..32).map_while(byte).collect();
        ContentHash::from_slice(&bytes)
            .filter(|hash| hash.to_string() == text)
            .map(Self)
            .ok_or("a SHA-256 has 64 lower-case hexadecimal digits")
    }
}

impl Serialize for Hex {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hex {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// The length and the hash of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileSum {
    pub bytes: u64,
    /// Its SHA-256.
    pub sha256: Hex,
}

/// Writes bytes on, and counts and hashes them.
pub(crate) struct SummingWriter<W> {
    out: W,
    bytes: u64,
    context: digest::Context,
}

impl<W: Write> SummingWriter<W> {
    pub(crate) fn new(out: W) -> Self {
        Self { out, bytes: 0, context: digest::Context::new(&digest::SHA256) }
    }

    /// The target and the sum of what was written to it.
    pub(crate) fn finish(self) -> (W, FileSum) {
        let mut hash = [0; 32];
        hash.iter_mut().zip(self.context.finish().as_ref()).for_each(|(to, from)| *to = *from);
        (self.out, FileSum { bytes: self.bytes, sha256: Hex(ContentHash::new(hash)) })
    }
}

impl<W: Write> Write for SummingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.context.update(bytes.get(..written).unwrap_or_default());
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

pub(crate) fn sum_of(bytes: &[u8]) -> FileSum {
    FileSum { bytes: bytes.len() as u64, sha256: Hex(blobs::content_hash(bytes)) }
}
