//! Reads text in pictures with the system's Tesseract, which is loaded at run time.
//!
//! [`Tesseract::load`] opens `libtesseract` once per process, [`Tesseract::available_languages`] lists the installed trained data,
//! [`Tesseract::reader`] loads the data for some languages, and [`TextReader::read`] returns the words of a grey picture, line by
//! line, with Tesseract's confidence in each.
//!
//! Tesseract is loaded at run time so that the server runs without it, and so that one program works with every release
//! from 4.0 on. Only functions that all of them have are used.
//!
//! Some builds of Tesseract use several threads by OpenMP, which costs more than it gains on pictures of this size: set
//! `OMP_THREAD_LIMIT=1` in the environment before the process starts.
//!
//! # Unsafe code
//!
//! Calling C is unsafe. Two modules must be correct: `functions`, whose signatures must be those of `tesseract/capi.h`,
//! and `reader`, which calls them and wraps every C object in a type that frees it. The public interface is safe.
//! Tesseract is written in C++ and throws when it runs out of memory, which ends the process. A malicious picture may
//! exploit Tesseract itself, so read pictures in a process that may crash.
//!
//! ```
//! use std::time::Duration;
//! use tesseract::{GrayImage, PageLayout, ReadOptions, Tesseract};
//!
//! let mut reader = Tesseract::load()?.reader(&["eng"])?;
//! let blank = [255; 64 * 48];
//! let options = ReadOptions { deadline: Duration::from_secs(10), layout: PageLayout::Auto, min_confidence: 60.0 };
//! let text = reader.read(&GrayImage { width: 64, height: 48, pixels: &blank }, &options)?;
//! assert_eq!(text.lines, []);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod functions;
mod reader;
mod tesseract;
mod text;

pub use reader::{ReaderError, TextReader};
pub use system_library::{LoadError, Version};
pub use tesseract::Tesseract;
pub use text::{
    BoundingBox, GrayImage, PageLayout, ReadError, ReadOptions, RecognizedText, TextLine, TextWord,
};
