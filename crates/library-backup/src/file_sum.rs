//! The length and the SHA-256 of files.

use std::io::{self, Write};

use domain::ContentHash;
use ring::digest;

use crate::{FileSum, Hex};

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

/// The sum of bytes.
pub(crate) fn sum_of(bytes: &[u8]) -> FileSum {
    FileSum { bytes: bytes.len() as u64, sha256: Hex(blobs::content_hash(bytes)) }
}
