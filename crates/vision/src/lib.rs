//! What pictures look like, as vectors that words can be compared with.
//!
//! A [`VisualEncoder`] turns a [`Picture`] into a vector once, when it comes into the library, and the words of a search
//! into a [`Query`]. The dot product of the two says how well they go together, and the query says what that number is
//! worth as a score.
#![deny(missing_docs)]

mod appearance;
pub mod clip;
mod encoder;
pub mod models;
mod picture;

pub use appearance::{BuiltInEncoder, Concept};
pub use encoder::{Calibration, EncodeError, EncodedQuery, VisualEncoder};
pub use picture::Picture;
