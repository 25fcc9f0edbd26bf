//! What a file says about the photo in it.

mod capture;
mod description;
mod exif_time;
mod file_name;
mod position;

use domain::{CaptureTime, Position, SidecarKind, Timestamp, clean_text};

use crate::container;
use crate::tiff::{Directory, Tags, tag};

/// What is known of a file besides its bytes.
#[derive(Debug, Clone, Copy)]
pub struct FileFacts<'a> {
    /// Its name; a path before it is ignored.
    pub file_name: Option<&'a str>,
    /// When it was last changed, as its client says.
    pub modified: Option<Timestamp>,
    /// When it arrived.
    pub added: Timestamp,
    /// The files beside it that describe it.
    pub sidecars: &'a [Sidecar<'a>],
}

/// A file that describes a photo beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sidecar<'a> {
    /// How it is written.
    pub kind: SidecarKind,
    /// What is in it.
    pub content: &'a [u8],
}

/// What a photo's file says about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Metadata {
    /// When it was taken; there is always some time, and it says how it is known.
    pub capture: CaptureTime,
    /// Where it was taken.
    pub position: Option<Position>,
    /// What its author wrote about it.
    pub description: Option<String>,
    /// Who made the camera.
    pub camera_make: Option<String>,
    /// The camera's model.
    pub camera_model: Option<String>,
}

/// Reads the metadata. Never fails: what is broken, blank or nonsense counts as missing, and a file without any
/// metadata still has a capture time, at the worst the moment when it was added.
pub fn metadata(bytes: &[u8], facts: &FileFacts<'_>) -> Metadata {
    let blocks = container::format(bytes).map(|format| container::blocks(format, bytes)).unwrap_or_default();
    let tags = blocks.exif.as_deref().and_then(Tags::read);
    let tags = tags.as_ref();
    let camera = |tag| tags?.text(Directory::Primary, tag).as_deref().and_then(clean_text);
    Metadata {
        capture: capture::capture_time(tags, facts),
        position: tags.and_then(position::position),
        description: tags.and_then(description::description),
        camera_make: camera(tag::MAKE),
        camera_model: camera(tag::MODEL),
    }
}
