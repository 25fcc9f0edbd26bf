//! Reads the image file directories of a TIFF structure (TIFF 6.0, section 2) in bounded work. BigTIFF is the same with
//! wider numbers; the RAW formats of some cameras differ only in the signature.

use std::collections::VecDeque;

use super::{ByteOrder, tag};

/// Maximum number of entries in a directory; more than any camera writes.
pub(crate) const MAX_ENTRIES: usize = 1024;

/// Maximum number of directories in a file; more than any camera writes.
const MAX_DIRECTORIES: usize = 64;

/// A TIFF structure with a known signature.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Structure<'a> {
    data: &'a [u8],
    order: ByteOrder,
    /// Whether offsets and counts have 8 bytes.
    big: bool,
}

/// A directory. Broken entries are left out.
#[derive(Debug, Default)]
pub(crate) struct Ifd<'a> {
    pub(crate) entries: Vec<Entry<'a>>,
    /// Offset of the next directory in the chain.
    next: Option<u64>,
}

/// A tag with its value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry<'a> {
    pub(crate) tag: u16,
    /// The number of the value's type.
    pub(crate) kind: u16,
    pub(crate) value: &'a [u8],
    order: ByteOrder,
}

/// A TIFF structure with all its directories.
#[derive(Debug)]
pub(crate) struct Directories<'a> {
    pub(crate) structure: Structure<'a>,
    /// Empty if the file is cut off before it.
    pub(crate) first: Ifd<'a>,
    rest: Vec<Ifd<'a>>,
}

impl<'a> Directories<'a> {
    /// Reads the first directory and all that are reachable from it: the rest of its chain, sub-directories and the EXIF
    /// directory. Each is read once. `None` if the signature is unknown.
    pub(crate) fn read(data: &'a [u8]) -> Option<Self> {
        let structure = Structure::read(data)?;
        let mut seen: Vec<u64> = structure.first_offset().into_iter().collect();
        let mut queue: VecDeque<u64> = seen.iter().copied().collect();
        let mut found = Vec::new();
        while let Some(offset) = queue.pop_front() {
            let ifd = structure.directory(offset);
            let children = [tag::SUB_DIRECTORIES, tag::EXIF_DIRECTORY]
                .into_iter()
                .filter_map(|tag| ifd.entry(tag))
                .flat_map(Entry::numbers);
            for child in children.chain(ifd.next).take(MAX_DIRECTORIES) {
                if seen.len() < MAX_DIRECTORIES && !seen.contains(&child) {
                    seen.push(child);
                    queue.push_back(child);
                }
            }
            found.push(ifd);
        }
        let mut found = found.into_iter();
        let first = found.next().unwrap_or_default();
        Some(Self { structure, first, rest: found.collect() })
    }

    /// All of them, the first one first.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Ifd<'a>> {
        std::iter::once(&self.first).chain(&self.rest)
    }
}

impl<'a> Structure<'a> {
    /// `None` if the signature is unknown.
    pub(crate) fn read(data: &'a [u8]) -> Option<Self> {
        let (order, big) = match data {
            [b'I', b'I', 42, 0, ..] => (ByteOrder::Little, false),
            [b'M', b'M', 0, 42, ..] => (ByteOrder::Big, false),
            // BigTIFF; 8 is the length of its offsets.
            [b'I', b'I', 43, 0, 8, 0, 0, 0, ..] => (ByteOrder::Little, true),
            [b'M', b'M', 0, 43, 0, 8, 0, 0, ..] => (ByteOrder::Big, true),
            // RAW files of Panasonic and of Olympus.
            [b'I', b'I', b'U', 0, ..] | [b'I', b'I', b'R', b'O' | b'S', ..] => (ByteOrder::Little, false),
            [b'M', b'M', b'O', b'R', ..] => (ByteOrder::Big, false),
            _ => return None,
        };
        Some(Self { data, order, big })
    }

    pub(crate) fn order(&self) -> ByteOrder {
        self.order
    }

    /// The bytes that offsets refer to.
    pub(crate) fn data(&self) -> &'a [u8] {
        self.data
    }

    /// The first directory; empty if the file is cut off before it.
    pub(crate) fn first(&self) -> Ifd<'a> {
        self.first_offset().map(|offset| self.directory(offset)).unwrap_or_default()
    }

    fn first_offset(&self) -> Option<u64> {
        if self.big { self.u64_at(8) } else { self.u32_at(4).map(u64::from) }
    }

    /// The directory at that offset, with its readable entries.
    pub(crate) fn directory(&self, offset: u64) -> Ifd<'a> {
        let read = || {
            let start = usize::try_from(offset).ok()?;
            let (count, head, length) = if self.big {
                (usize::try_from(self.u64_at(start)?).ok()?, 8, 20)
            } else {
                (usize::from(self.u16_at(start)?), 2, 12)
            };
            let first = start.checked_add(head)?;
            let end = count.checked_mul(length).and_then(|bytes| first.checked_add(bytes));
            let next =
                end.and_then(|at| if self.big { self.u64_at(at) } else { self.u32_at(at).map(u64::from) });
            let starts = (0..count.min(MAX_ENTRIES)).map(|place| first + place * length);
            let entries = starts.take_while(|at| at + length <= self.data.len());
            Some(Ifd {
                entries: entries.filter_map(|at| self.entry(at)).collect(),
                next: next.filter(|next| *next != 0),
            })
        };
        read().unwrap_or_default()
    }

    fn entry(&self, at: usize) -> Option<Entry<'a>> {
        let (tag, kind) = (self.u16_at(at)?, self.u16_at(at + 2)?);
        let (count, inline_at, inline) = if self.big {
            (self.u64_at(at + 4)?, at + 12, 8)
        } else {
            (u64::from(self.u32_at(at + 4)?), at + 8, 4)
        };
        let length = usize::try_from(count).ok()?.checked_mul(unit_length(kind)?)?;
        let start = if length <= inline {
            inline_at
        } else if self.big {
            usize::try_from(self.u64_at(inline_at)?).ok()?
        } else {
            usize::try_from(self.u32_at(inline_at)?).ok()?
        };
        Some(Entry { tag, kind, value: self.slice(start, length)?, order: self.order })
    }

    fn slice(&self, offset: usize, length: usize) -> Option<&'a [u8]> {
        self.data.get(offset..offset.checked_add(length)?)
    }

    fn u16_at(&self, offset: usize) -> Option<u16> {
        self.slice(offset, 2)?.try_into().ok().map(|bytes| self.order.u16(bytes))
    }

    fn u32_at(&self, offset: usize) -> Option<u32> {
        self.slice(offset, 4)?.try_into().ok().map(|bytes| self.order.u32(bytes))
    }

    fn u64_at(&self, offset: usize) -> Option<u64> {
        self.slice(offset, 8)?.try_into().ok().map(|bytes| self.order.u64(bytes))
    }
}

impl<'a> Ifd<'a> {
    pub(crate) fn entry(&self, tag: u16) -> Option<Entry<'a>> {
        self.entries.iter().find(|entry| entry.tag == tag).copied()
    }

    /// The first number of an entry.
    pub(crate) fn number(&self, tag: u16) -> Option<u64> {
        self.entry(tag)?.number(0)
    }

    /// The value of an entry as stored, of any type.
    pub(crate) fn bytes(&self, tag: u16) -> Option<&'a [u8]> {
        self.entry(tag).map(|entry| entry.value)
    }
}

impl<'a> Entry<'a> {
    pub(crate) fn count(&self) -> usize {
        unit_length(self.kind).map_or(0, |length| self.value.len() / length)
    }

    /// The value at that index, if it is a whole number and not negative. Some programs write fractions and floating
    /// point numbers.
    pub(crate) fn number(&self, place: usize) -> Option<u64> {
        let bytes = self.unit(place)?;
        match (self.kind, bytes) {
            (1 | 3 | 4 | 13 | 16 | 18, bytes) => self.unsigned(bytes),
            (6 | 8 | 9 | 17, bytes) => u64::try_from(self.signed(bytes)?).ok(),
            (5 | 10, bytes) => {
                let (numerator, denominator) = self.fraction(bytes)?;
                let is_whole = numerator.checked_rem(denominator)? == 0;
                u64::try_from(numerator.checked_div(denominator)?).ok().filter(|_| is_whole)
            }
            (11 | 12, _) => {
                // Below this limit, converting a whole number with `as` is exact.
                const LIMIT: f64 = 9_007_199_254_740_992.0;
                let real = self.real(place)?;
                let is_whole = (0.0..LIMIT).contains(&real) && real.fract() == 0.0;
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "whole, not negative, and below 2^53"
                )]
                is_whole.then_some(real as u64)
            }
            _ => None,
        }
    }

    /// The value at that index, if it is a finite number of any type.
    #[expect(clippy::cast_precision_loss, reason = "no tag needs more than 53 bits")]
    pub(crate) fn real(&self, place: usize) -> Option<f64> {
        let bytes = self.unit(place)?;
        let real = match (self.kind, bytes) {
            (1 | 3 | 4 | 13 | 16 | 18, bytes) => self.unsigned(bytes)? as f64,
            (6 | 8 | 9 | 17, bytes) => self.signed(bytes)? as f64,
            (5 | 10, bytes) => {
                let (numerator, denominator) = self.fraction(bytes)?;
                numerator as f64 / denominator as f64
            }
            (11, [a, b, c, d]) => f64::from(f32::from_bits(self.order.u32([*a, *b, *c, *d]))),
            (12, bytes) => f64::from_bits(self.unsigned(bytes)?),
            _ => return None,
        };
        Some(real).filter(|real| real.is_finite())
    }

    /// The bytes of the value at that index.
    fn unit(&self, place: usize) -> Option<&'a [u8]> {
        let length = unit_length(self.kind)?;
        let start = place.checked_mul(length)?;
        self.value.get(start..start.checked_add(length)?)
    }

    fn unsigned(&self, bytes: &[u8]) -> Option<u64> {
        match *bytes {
            [byte] => Some(u64::from(byte)),
            [a, b] => Some(u64::from(self.order.u16([a, b]))),
            [a, b, c, d] => Some(u64::from(self.order.u32([a, b, c, d]))),
            [a, b, c, d, e, f, g, h] => Some(self.order.u64([a, b, c, d, e, f, g, h])),
            _ => None,
        }
    }

    fn signed(&self, bytes: &[u8]) -> Option<i64> {
        match *bytes {
            [byte] => Some(i64::from(byte.cast_signed())),
            [a, b] => Some(i64::from(self.order.u16([a, b]).cast_signed())),
            [a, b, c, d] => Some(i64::from(self.order.u32([a, b, c, d]).cast_signed())),
            [a, b, c, d, e, f, g, h] => Some(self.order.u64([a, b, c, d, e, f, g, h]).cast_signed()),
            _ => None,
        }
    }

    /// Numerator and denominator of a fraction of either sign.
    fn fraction(&self, bytes: &[u8]) -> Option<(i64, i64)> {
        let (numerator, denominator) = bytes.split_at_checked(4)?;
        let part = |bytes| match self.kind {
            10 => self.signed(bytes),
            _ => self.unsigned(bytes).and_then(|number| i64::try_from(number).ok()),
        };
        part(numerator).zip(part(denominator))
    }

    /// All values, up to the first that is no whole number.
    pub(crate) fn numbers(self) -> impl Iterator<Item = u64> + use<'a> {
        (0..).map_while(move |place| self.number(place))
    }
}

/// The size in bytes of a value of a TIFF type; 129 is the UTF-8 text of EXIF 3.0.
fn unit_length(kind: u16) -> Option<usize> {
    match kind {
        1 | 2 | 6 | 7 | 129 => Some(1),
        3 | 8 => Some(2),
        4 | 9 | 11 | 13 => Some(4),
        5 | 10 | 12 | 16..=18 => Some(8),
        _ => None,
    }
}
