use std::{fmt, sync::Arc};

use crate::{
    Error, Row, RowId, codes,
    half::decode_f16,
    segment::{ROWS, Segment},
};

/// The vectors of one account by one encoder, in the order in which they were stored.
///
/// A clone is a snapshot: it shares the rows, and sees none that is appended later. Rows are never changed and never
/// taken out. A vector that the store no longer has is still found, so that what is found must be looked up there; when
/// many are gone, as [`len`](Self::len) beside the store's count tells, build it anew
/// ([`Filling::restart`](crate::Filling::restart)).
#[derive(Clone)]
pub struct Index {
    dimensions: usize,
    segments: Vec<Arc<Segment>>,
    last: Option<RowId>,
    len: usize,
    /// What all segments but the last have allocated.
    full_bytes: usize,
}

impl Index {
    /// Without rows. More than 65,536 dimensions can be asked for, but no vector of so many is taken.
    pub fn new(dimensions: usize) -> Self {
        Self { dimensions, segments: Vec::new(), last: None, len: 0, full_bytes: 0 }
    }

    /// How many numbers each vector has.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The memory that its rows take.
    pub fn bytes(&self) -> usize {
        self.full_bytes + self.segments.last().map_or(0, |segment| segment.bytes())
    }

    /// The vector that was appended last.
    pub fn last(&self) -> Option<RowId> {
        self.last
    }

    /// Appends a vector, whose number is higher than that of the last.
    ///
    /// # Errors
    /// [`Error`]; then nothing is appended.
    pub fn push(&mut self, row: Row, vector: &[f32]) -> Result<(), Error> {
        self.check(vector)?;
        if let Some(last) = self.last
            && row.vector <= last
        {
            return Err(Error::Order { last, given: row.vector });
        }
        match self.segments.last_mut() {
            Some(segment) if !segment.is_full() => Arc::make_mut(segment).push(row, vector)?,
            _ => {
                let mut segment = Segment::new(codes::blocks(self.dimensions));
                segment.push(row, vector)?;
                self.full_bytes = self.bytes();
                self.segments.push(Arc::new(segment));
            }
        }
        self.last = Some(row.vector);
        self.len += 1;
        Ok(())
    }

    /// Appends a vector [as it is stored](crate::encode_f16).
    ///
    /// # Errors
    /// [`Error`]; then nothing is appended.
    pub fn push_f16(&mut self, row: Row, bytes: &[u8]) -> Result<(), Error> {
        let wrong = Error::Dimensions { expected: self.dimensions, given: bytes.len() / 2 };
        // Before anything is made of a length that is not this index's.
        if bytes.len() / 2 != self.dimensions {
            return Err(wrong);
        }
        self.push(row, &decode_f16(bytes).ok_or(wrong)?)
    }

    pub(crate) fn check(&self, vector: &[f32]) -> Result<(), Error> {
        if vector.len() != self.dimensions || self.dimensions > codes::MOST_DIMENSIONS {
            return Err(Error::Dimensions { expected: self.dimensions, given: vector.len() });
        }
        Ok(())
    }

    pub(crate) fn segments(&self) -> &[Arc<Segment>] {
        &self.segments
    }
}

impl fmt::Debug for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Index")
            .field("dimensions", &self.dimensions)
            .field("len", &self.len)
            .field("last", &self.last)
            .field("bytes", &self.bytes())
            .finish()
    }
}

// Rows of a segment are numbered in sixteen bits.
const _: () = assert!(ROWS <= u16::MAX as usize);
