//! HEIC and AVIF pixels by the system's libheif, found at run time.
//!
//! [`Library::load`] opens `libheif.so.1` once for the whole process, [`Library::decodes`] says what its decoders can
//! do, and [`Library::decode`] gives the primary picture of a file as it is meant to be seen: cropped, turned and
//! mirrored as its container says, in 8 bits a channel.
//!
//! The library is found at run time and not when this is built, because a server without it is still of use, because
//! what decodes HEVC is the choice of whoever runs the server, and because one program then serves every release of
//! libheif from 1.12 on. Only functions that all of them have are needed; newer ones are used where they exist.
//!
//! # Unsafe code
//!
//! Calling C is unsafe, so this crate may be so. What has to be trusted is kept in two
//! modules: `functions` states the signatures, which must be those of `heif.h`, and `decoding` calls them, with every
//! object of C in a type that frees it. Nothing unsafe is public. What libheif does with a hostile file is beyond any
//! comment here: decode in a process that may crash.
//!
//! ```
//! use heif::{DecodeOptions, Library};
//!
//! # let file = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/media/hopper.heif"))?;
//! let library = Library::load()?;
//! let image = library.decode(&file, &DecodeOptions { max_pixels: 1_000_000 })?;
//! assert_eq!((image.width, image.height), (128, 128));
//! assert_eq!(image.bytes.len(), 128 * 128 * image.layout.channels());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![deny(missing_docs)]

mod decoding;
mod functions;
mod library;

pub use library::{Codec, DecodeOptions, DecodedImage, Error, Libheif, LoadError, PixelFormat, Version};
