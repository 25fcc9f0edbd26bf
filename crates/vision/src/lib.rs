//! Encodes pictures and search texts as vectors (embeddings) that can be compared.
//!
//! A [`VisualEncoder`] encodes a [`Picture`] once, when it is imported, and the text of a search as an
//! [`EncodedQuery`]. The dot product of the two vectors is their similarity. The query's [`Calibration`] converts it to
//! a score.
//!
//! There is a built-in encoder ([`BuiltInEncoder`]) that needs no model, and models of the CLIP family ([`clip`]) that
//! are installed on disk ([`models`]).

mod appearance;
pub mod clip;
mod encoder;
mod model_files;
pub mod models;
mod picture;

pub use appearance::BuiltInEncoder;
pub use encoder::{Calibration, EncodeError, EncodedQuery, VisualEncoder};
pub use picture::Picture;
