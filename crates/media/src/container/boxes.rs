//! Reads boxes and the numbers in them: ISO/IEC 14496-12, section 4.2.

use crate::container::take;

/// The type of a box or item, or a brand.
pub(crate) type FourCc = [u8; 4];

/// Iterates over the boxes in a file or in another box.
#[derive(Debug, Clone)]
pub(in crate::container) struct Boxes<'a> {
    rest: &'a [u8],
}

#[derive(Debug, Clone, Copy)]
pub(in crate::container) struct Box<'a> {
    pub(in crate::container) kind: FourCc,
    /// Its content, up to the end of the file.
    pub(in crate::container) body: &'a [u8],
    /// Header and content.
    pub(in crate::container) whole: &'a [u8],
    /// Whether the file ends within it.
    pub(in crate::container) cut: bool,
}

impl<'a> Box<'a> {
    /// Length and type.
    pub(in crate::container) fn header(&self) -> &'a [u8] {
        self.whole.get(..self.whole.len() - self.body.len()).unwrap_or_default()
    }
}

impl<'a> Boxes<'a> {
    pub(in crate::container) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// The bytes after the last box that was read.
    pub(in crate::container) fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

impl<'a> Iterator for Boxes<'a> {
    type Item = Box<'a>;

    /// The next box; `None` if the following bytes cannot be one.
    fn next(&mut self) -> Option<Self::Item> {
        let from = self.rest;
        let mut reader = Reader::new(from);
        let size = reader.u32()?;
        let kind = reader.four_cc()?;
        let size = match size {
            0 => u64::try_from(from.len()).ok()?,
            1 => reader.u64()?,
            size => u64::from(size),
        };
        let header = u64::try_from(from.len() - reader.rest.len()).ok()?;
        let declared = size.checked_sub(header)?;
        let length = usize::try_from(declared).unwrap_or(usize::MAX).min(reader.rest.len());
        let body = reader.take(length)?;
        self.rest = reader.rest;
        let whole = from.get(..from.len() - self.rest.len())?;
        Some(Box { kind, body, whole, cut: u64::try_from(length).is_ok_and(|length| length < declared) })
    }
}

/// Reads a box from the front. Numbers are big-endian. A read with too few bytes consumes none.
#[derive(Debug, Clone)]
pub(in crate::container) struct Reader<'a> {
    pub(in crate::container) rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(in crate::container) fn new(rest: &'a [u8]) -> Self {
        Self { rest }
    }

    pub(in crate::container) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        take(&mut self.rest, count)
    }

    pub(in crate::container) fn u8(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    pub(in crate::container) fn u16(&mut self) -> Option<u16> {
        self.take(2)?.try_into().ok().map(u16::from_be_bytes)
    }

    pub(in crate::container) fn u32(&mut self) -> Option<u32> {
        self.take(4)?.try_into().ok().map(u32::from_be_bytes)
    }

    pub(in crate::container) fn u64(&mut self) -> Option<u64> {
        self.take(8)?.try_into().ok().map(u64::from_be_bytes)
    }

    pub(in crate::container) fn four_cc(&mut self) -> Option<FourCc> {
        self.take(4)?.try_into().ok()
    }

    /// The version and flags at the start of a full box.
    pub(in crate::container) fn version_and_flags(&mut self) -> Option<(u8, u32)> {
        let [version, flags @ ..] = self.u32()?.to_be_bytes();
        let [f2, f1, f0] = flags;
        Some((version, u32::from_be_bytes([0, f2, f1, f0])))
    }

    /// A number in 0, 4 or 8 bytes.
    pub(in crate::container) fn number(&mut self, bytes: u8) -> Option<u64> {
        match bytes {
            0 => Some(0),
            4 => self.u32().map(u64::from),
            8 => self.u64(),
            _ => None,
        }
    }

    /// An item id; newer versions of a box have 4 bytes.
    pub(in crate::container) fn item(&mut self, long: bool) -> Option<u32> {
        if long { self.u32() } else { self.u16().map(u32::from) }
    }

    /// Text up to NUL or the end.
    pub(in crate::container) fn text(&mut self) -> &'a [u8] {
        let end = self.rest.iter().position(|byte| *byte == 0);
        let text = self.rest.get(..end.unwrap_or(self.rest.len())).unwrap_or_default();
        self.rest = end.and_then(|end| self.rest.get(end + 1..)).unwrap_or_default();
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_are_read_with_every_encoding_of_their_size() {
        let check = |bytes: &[u8], expect: &[(&[u8; 4], &[u8], bool)]| {
            let found: Vec<_> = Boxes::new(bytes).map(|found| (found.kind, found.body, found.cut)).collect();
            let expect: Vec<_> = expect.iter().map(|(kind, body, cut)| (**kind, *body, *cut)).collect();
            assert_eq!(found, expect, "{bytes:?}");
        };
        check(b"", &[]);
        check(b"\0\0\0\x08free\0\0\0\x0Amdat..", &[(b"free", b"", false), (b"mdat", b"..", false)]);
        check(b"\0\0\0\0mdat...", &[(b"mdat", b"...", false)]);
        check(
            b"\0\0\0\x01mdat\0\0\0\0\0\0\0\x12..\0\0\0\x08free",
            &[(b"mdat", b"..", false), (b"free", b"", false)],
        );
        check(b"\0\0\0\x0Amdat.", &[(b"mdat", b".", true)]);
        check(b"\0\0\0\x01mdat\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF..", &[(b"mdat", b"..", true)]);
        for broken in [&b"\0\0\0\x07mdat..."[..], b"\0\0\0\x01mdat\0\0\0\0\0\0\0\x0F", b"\0\0\0\x08mda"] {
            check(broken, &[]);
        }
    }

    #[test]
    fn numbers_and_texts_are_read() {
        let mut reader = Reader::new(b"\x02\0\0\x03\0\x05abc\0de");
        assert_eq!(reader.version_and_flags(), Some((2, 3)));
        assert_eq!(reader.number(0), Some(0));
        assert_eq!(reader.number(3), None);
        assert_eq!(reader.item(false), Some(5));
        assert_eq!(reader.u64(), None);
        assert_eq!((reader.text(), reader.text(), reader.text()), (&b"abc"[..], &b"de"[..], &b""[..]));
    }
}
