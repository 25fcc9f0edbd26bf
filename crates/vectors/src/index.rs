use std::{fmt, sync::Arc};

use crate::{
    Error, Row, RowId,
    codes::{self, Vector},
    segment::{ROWS, Segment},
};

/// The vectors of one account and one encoder, in the order in which they were stored.
///
/// A clone is a snapshot: it shares the rows, and rows appended later are not in it. Rows are never changed or removed. An
/// index may contain vectors that were deleted from the store, so results must be looked up there. When many were deleted,
/// read the index again from the start ([`IndexWriter::restart`](crate::IndexWriter::restart)).
#[derive(Clone)]
pub struct Index {
    dimensions: usize,
    segments: Vec<Arc<Segment>>,
    last: Option<RowId>,
    len: usize,
    /// The memory of all segments except the last.
    full_bytes: usize,
}

impl Index {
    /// Creates an empty index. With more than 65,536 dimensions it refuses every vector.
    pub fn new(dimensions: usize) -> Self {
        Self { dimensions, segments: Vec::new(), last: None, len: 0, full_bytes: 0 }
    }

    /// The number of dimensions of each vector.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The memory of the rows, in bytes.
    pub fn bytes(&self) -> usize {
        self.full_bytes + self.segments.last().map_or(0, |segment| segment.bytes())
    }

    pub fn last(&self) -> Option<RowId> {
        self.last
    }

    /// Appends a vector. Its id must be higher than the last one.
    ///
    /// # Errors
    /// [`Error`]; nothing is appended.
    pub fn push(&mut self, row: Row, vector: &[f32]) -> Result<(), Error> {
        self.push_vector(row, Vector::Single(vector))
    }

    /// Appends a vector in its [stored form](crate::encode_f16).
    ///
    /// # Errors
    /// [`Error`]; nothing is appended.
    pub fn push_f16(&mut self, row: Row, bytes: &[u8]) -> Result<(), Error> {
        let (numbers, []) = bytes.as_chunks() else {
            return Err(Error::Dimensions { expected: self.dimensions, given: bytes.len() / 2 });
        };
        self.push_vector(row, Vector::Half(numbers))
    }

    fn push_vector(&mut self, row: Row, vector: Vector<'_>) -> Result<(), Error> {
        self.check(vector.len())?;
        self.check_order(row.vector)?;
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

    /// Appends the rows of another index. Their ids must be higher than the last one.
    ///
    /// # Errors
    /// [`Error`]; nothing is appended.
    pub fn append(&mut self, other: Self) -> Result<(), Error> {
        let Some(first) = other.segments.first().and_then(|segment| segment.row(0)) else { return Ok(()) };
        self.check(other.dimensions)?;
        self.check_order(first.vector)?;
        // Few rows are appended to the last segment. Many rows keep their own segments. So any two neighbouring segments together
        // have more rows than one segment can hold.
        match self.segments.last_mut().filter(|last| last.len() + other.len <= ROWS) {
            Some(last) => {
                let last = Arc::make_mut(last);
                other.segments.iter().for_each(|segment| last.append(segment));
            }
            None => {
                self.full_bytes = self.bytes() + other.full_bytes;
                self.segments.extend(other.segments);
            }
        }
        self.last = other.last;
        self.len += other.len;
        Ok(())
    }

    pub(crate) fn check(&self, given: usize) -> Result<(), Error> {
        if given != self.dimensions || self.dimensions > codes::MAX_DIMENSIONS {
            return Err(Error::Dimensions { expected: self.dimensions, given });
        }
        Ok(())
    }

    fn check_order(&self, given: RowId) -> Result<(), Error> {
        match self.last {
            Some(last) if given <= last => Err(Error::Order { last, given }),
            _ => Ok(()),
        }
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

// Rows of a segment have 16-bit numbers.
const _: () = assert!(ROWS <= u16::MAX as usize);
