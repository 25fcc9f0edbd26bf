//! The words in a picture by the system's Tesseract, found at run time.
//!
//! [`Library::load`] opens `libtesseract` once for the whole process, [`Library::available_languages`] says what it
//! has trained data for, [`Library::reader`] loads those of some languages, and [`Reader::read`] gives the words of a
//! grey picture, line by line, each with how sure Tesseract is of it.
//!
//! The library is found at run time and not when this is built, because a server without it is still of use, and
//! because one program then serves every release of Tesseract from 4.0 on. Only functions that all of them have are
//! used.
//!
//! Tesseract spreads its work over threads by OpenMP where it is built so, which costs more than it gains on pictures
//! of this size: have `OMP_THREAD_LIMIT=1` in the environment of the process before it starts.
//!
//! # Unsafe code
//!
//! Calling C is unsafe, so this crate may be so. What has to be trusted is kept in two modules: `functions` states the
//! signatures, which must be those of `tesseract/capi.h`, and `reading` calls them, with every object of C in a type
//! that frees it. Nothing unsafe is public. Behind C stands C++, which throws when it gets no memory; that ends the
//! process. What Tesseract does with a hostile picture is beyond any comment here: read in a process that may crash.
//!
//! ```
//! use std::time::Duration;
//! use tesseract::{Gray, Layout, Library, ReadOptions};
//!
//! let mut reader = Library::load()?.reader(&["eng"])?;
//! let blank = [255; 64 * 48];
//! let options = ReadOptions { deadline: Duration::from_secs(10), layout: Layout::Auto, min_confidence: 60.0 };
//! let text = reader.read(&Gray { width: 64, height: 48, pixels: &blank }, &options)?;
//! assert_eq!(text.lines, []);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![deny(missing_docs)]

mod functions;
mod library;
mod reading;
mod text;

pub use library::{LoadError, ReaderError, Tesseract, Version};
pub use reading::TextReader;
pub use text::{
    BoundingBox, GrayImage, PageLayout, ReadError, ReadOptions, RecognizedText, TextLine, TextWord,
};
