//! Reads photo files: detects the format, reads the metadata, makes the renditions.
//!
//! [`Photo::open`] parses the container of a file once. [`Photo::probe`] then checks the headers, [`Photo::metadata`] reads
//! when, where and with which camera the photo was taken, [`Photo::render`] makes the WebP renditions, and
//! [`Photo::decode_rgb`] gives RGB pixels. [`probe`], [`metadata`], [`render`] and [`decode_rgb`] do the same for a file
//! that is needed for nothing else. [`views`] makes JPEGs of renditions. The content decides the format, never the file
//! name. Every size is checked before anything is decoded.
//!
//! This crate uses no file system, clock, thread or runtime, so that a sandboxed worker process can run it. HEIC and AVIF need the
//! system's libheif, which may be missing. [`decoders`] reports what is available. [`load_decoders`] loads libheif. Only loading
//! opens files, so it must happen before a sandbox forbids that.
//!
//! To add a format, add its variant to [`Format`]. The compiler reports where its names, its decoder and its memory
//! belong. Then write a module in `container` that reads its header without decoding (size, memory, position of EXIF,
//! XMP, IPTC and colour profile), and a module in `decode` that gives its pixels. Tests fail until [`Format::sniff`]
//! detects it and `docs/photos.md` has it. When a decoder learns to read files that it refused, raise
//! [`DECODER_VERSION`].
//!
//! To add a metadata field, see [`domain::Metadata`].
//!
//! ```
//! use domain::{FileInfo, Rendition, Timestamp};
//! use media::{Limits, Photo};
//!
//! # let file = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/media/gps-time.jpg"))?;
//! let photo = Photo::open(&file)?;
//! assert_eq!(photo.probe(&Limits::default())?.format.media_type(), "image/jpeg");
//!
//! let added = Timestamp::parse_iso("2024-05-01")?;
//! assert_eq!(photo.metadata(&FileInfo::added_at(added)).capture.at.to_string(), "2022-01-10T21:15:44.310Z");
//!
//! let rendered = photo.render(&[Rendition::Thumb], &Limits::default())?;
//! assert!(rendered.renditions.iter().all(|thumb| thumb.size.longest() <= 512));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod colour;
mod container;
mod decode;
mod decoders;
mod error;
mod format;
mod metadata;
mod movie;
mod orientation;
mod photo;
mod pixels;
mod render;
#[cfg(test)]
mod samples;
mod text;
mod tiff;
mod views;

pub use decoders::{Decoders, built_in_formats, check_decoder, decoders, load_decoders};
pub use error::MediaError;
pub use format::{Format, is_junk_file_name, is_movie};
pub use metadata::{
    ApplePhoto, FileValues, PhotoSidecars, SidecarMatches, TakeoutAlbum, TakeoutFile, TakeoutPhoto,
    WrittenSidecar, apple_album_csv, apple_photos_csv, is_sidecar_content, match_sidecars, metadata,
    photo_prefix, sidecar_corrections, sidecar_kind, sidecar_orientation, sidecar_prefix, takeout_file,
};
pub use movie::{AudioCodec, Created, Movie, MovieError, MovieSource, VideoCodec, read_movie};
pub use orientation::Orientation;
pub use photo::{Limits, Photo, Probe, probe, supported_format};
pub use render::{EncodedRendition, Rendered, RgbPicture, RgbPictures, decode_rgb, render};
pub use views::{NumberBox, SheetLayout, ViewOptions, views};

/// Raise it when a decoder reads files that it refused before, or renders files better, or when more
/// metadata is read. Failed files are then retried,
/// and the others indexed again.
pub const DECODER_VERSION: u32 = 8;

/// The last version of the decoders that rendered files differently. An image of this version or a later one is not decoded
/// again: only its metadata is read.
pub const PICTURE_VERSION: u32 = 6;
