//! WebDAV messages (RFC 4918, RFC 5323): parsers of request bodies, request headers and paths, and a writer of XML.
//!
//! Everything that a client sends is untrusted. Bodies are limited in length, depth and number of elements, and a document
//! type is an error, so entities are never expanded. A parser returns a value or the reason for a 400 response.
//!
//! This crate knows no HTTP library, no files and no accounts.
//!
//! The most common change is another request header: a function in [`headers`], with its cases in the test below it, and a
//! line in the fuzz target `dav`.
//!
//! ```
//! use dav_protocol::{Name, bodies::PropFind, names};
//!
//! let body = br#"<D:propfind xmlns:D="DAV:"><D:prop><D:getetag/></D:prop></D:propfind>"#;
//! assert_eq!(PropFind::parse(body)?, PropFind::Prop(vec![Name::new(names::DAV, "getetag")]));
//! # Ok::<(), dav_protocol::bodies::InvalidBody>(())
//! ```

pub mod bodies;
mod date;
pub mod headers;
mod name;
mod path;
mod xml_writer;

pub use date::{epoch_seconds, http_date, parse_http_date, parse_time, parse_time_clamped};
pub use name::{Name, names};
pub use path::{InvalidPath, decode_name, decode_path, encode_name, encode_path, single_slashes};
pub use xml_writer::XmlWriter;
