//! Decodes HEIC and AVIF pictures with the system's libheif, which is loaded at run time.
//!
//! [`Libheif::load`] opens `libheif.so.1` once per process, [`Libheif::can_decode`] says which codecs it has, and
//! [`Libheif::decode`] returns the primary picture of a file: cropped, rotated and mirrored as its container says, in
//! 8 bits a channel.
//!
//! libheif is loaded at run time so that the server runs without it, the operator chooses the HEVC decoder, and one
//! program works with every release from 1.12 on. Functions that release 1.12 lacks are optional.
//!
//! # Unsafe code
//!
//! Calling C is unsafe. Two modules must be correct: `functions`, whose signatures must be those of `heif.h`, and
//! `decoding`, which calls them and wraps every C object in a type that frees it. The public interface is safe. A
//! malicious file may still exploit libheif itself, so decode files in a process that may crash.
//!
//! ```
//! use heif::{DecodeOptions, Libheif};
//!
//! # let file = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/media/hopper.heif"))?;
//! let library = Libheif::load()?;
//! let image = library.decode(&file, &DecodeOptions { max_pixels: 1_000_000 })?;
//! assert_eq!((image.width, image.height), (128, 128));
//! assert_eq!(image.bytes.len(), 128 * 128 * image.format.channels());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod decoding;
mod functions;
mod image;
mod libheif;

pub use image::{DecodeOptions, DecodedImage, Error, PixelFormat};
pub use libheif::{Codec, Libheif};
pub use system_library::{LoadError, Version};
