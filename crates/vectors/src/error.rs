use crate::RowId;

/// Why a vector was not taken.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum Error {
    /// It has not as many numbers as the index.
    #[error("a vector of {given} numbers does not belong among those of {expected}")]
    Dimensions {
        /// How many numbers the index has to a vector.
        expected: usize,
        /// How many were given; for stored bytes, half their count.
        given: usize,
    },
    /// One of its numbers is not finite, or beyond ±65,504 as no stored number can be.
    #[error("a vector holds something that is no number, or one beyond 65504")]
    Number,
    /// Rows are appended in the order in which they were stored, each once.
    #[error("vector {} came after vector {}", given.0, last.0)]
    Order {
        /// The vector before it.
        last: RowId,
        /// The vector that was to be appended.
        given: RowId,
    },
}
