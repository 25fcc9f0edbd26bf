use crate::RowId;

/// Why a vector was refused.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum Error {
    /// The vector does not have as many numbers as the vectors of the index.
    #[error("a vector has {given} numbers instead of {expected}")]
    Dimensions {
        expected: usize,
        /// The dimensions of the vector; for stored bytes, half their count.
        given: usize,
    },
    /// One of the vector's numbers is not finite, or outside ±65,504, the range of binary16.
    #[error("a vector contains a number that is not finite or outside ±65504")]
    Number,
    /// The row id is not higher than the last one of the index. Rows are appended in the order in which they were
    /// stored.
    #[error("vector {} was appended after vector {}", given.0, last.0)]
    Order {
        /// The last row of the index.
        last: RowId,
        /// The row that was refused.
        given: RowId,
    },
}
