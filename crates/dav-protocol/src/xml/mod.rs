//! A bounded XML reader, and a writer with fixed prefixes.

mod reader;
mod writer;

pub(crate) use reader::{Element, MAX_BODY_BYTES, Node, parse};
pub use writer::XmlWriter;
