//! Photo files: telling formats apart, reading metadata, making renditions.
//!
//! Everything here is a function from bytes to values: [`probe`] reads the headers, [`metadata`] says when,
//! where and with what a photo was taken, [`render`] makes the WebP renditions, [`plain_pictures`] gives plain pixels.
//! Files are told apart by their
//! content, never by their name, and every size is checked before anything is decoded.
//!
//! This crate knows no file system, no clock, no thread and no runtime, so a worker process can host it as it
//! stands. HEIC and AVIF are decoded by the system's libheif, which may be missing: [`decoders`] says what there is,
//! and [`load_decoders`] loads it, the one thing here that opens files, before a sandbox forbids that.
//!
//! The commonest change is a new format: add its variant and signature to [`Format`], a module in
//! `container` that reads its header without decoding (size, memory, where EXIF, XMP, IPTC and the colour profile
//! lie), and a module in `decode` that gives its pixels; the compiler names every place that has to tell formats
//! apart. When a decoder learns to read files that it refused, raise [`DECODER_VERSION`].
//!
//! ```
//! use domain::{FileInfo, Rendition, Timestamp};
//! use media::Limits;
//!
//! # let file = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/media/gps-time.jpg"))?;
//! let probe = media::probe(&file, &Limits::default())?;
//! assert_eq!(probe.format.media_type(), "image/jpeg");
//!
//! let added = Timestamp::parse_iso("2024-05-01")?;
//! assert_eq!(media::metadata(&file, &FileInfo::added_at(added)).capture.at.to_string(), "2022-01-10T21:15:44.310Z");
//!
//! let rendered = media::render(&file, &[Rendition::Thumb], &Limits::default())?;
//! assert!(rendered.renditions.iter().all(|thumb| thumb.size.longest() <= 512));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![deny(missing_docs)]

mod colour;
mod container;
mod decode;
mod decoders;
mod error;
mod format;
mod metadata;
mod orientation;
mod probe;
mod render;
#[cfg(test)]
mod samples;
mod tiff;

pub use decoders::{Decoders, check_decoder, decoders, load_decoders};
pub use error::MediaError;
pub use format::{Format, is_junk_file_name, is_movie};
pub use metadata::{
    PictureSidecars, SidecarMatches, is_sidecar_content, match_sidecars, metadata, sidecar_kind,
};
pub use orientation::Orientation;
pub use probe::{Limits, Probe, accept, probe};
pub use render::{EncodedRendition, PlainPicture, PlainPictures, Rendered, plain_pictures, render};

/// Raised whenever a decoder reads files that it refused before, so that failed files are tried again,
/// or makes better of files that it read, so that those are read again.
pub const DECODER_VERSION: u32 = 3;
