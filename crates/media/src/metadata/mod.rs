//! What a file says about the photo in it.

mod capture;
mod description;
mod exif_time;
mod file_name;
mod iptc;
mod png_text;
mod position;
mod sidecar_name;
mod takeout;
mod written_time;
mod xmp;

use domain::{CaptureTime, Position, SidecarKind, Timestamp, clean_text};

use crate::container::{self, Blocks};
use crate::tiff::{Directory, Tags, tag};
use iptc::Iptc;
use png_text::PngText;
use takeout::Takeout;
use xmp::Xmp;

pub use sidecar_name::{PhotoSidecars, SidecarMatches, match_sidecars, sidecar_kind};

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
///
/// What a sidecar says comes before what the file says, and XMP sidecars before those of a Takeout export. A capture
/// time without an offset has `offset_minutes` `None` and is read as UTC: who knows the zones of positions can do
/// better.
pub fn metadata(bytes: &[u8], facts: &FileFacts<'_>) -> Metadata {
    let blocks = container::format(bytes).map(|format| container::blocks(format, bytes)).unwrap_or_default();
    metadata_of(&blocks, facts)
}

/// Whether a file's content is a sidecar of that kind: exports and folders hold other `.json` and `.xmp` files, too.
pub fn is_sidecar_content(kind: SidecarKind, content: &[u8]) -> bool {
    match kind {
        SidecarKind::Xmp => Xmp::read(content).is_some(),
        SidecarKind::Takeout => Takeout::read(content).is_some(),
    }
}

fn metadata_of(blocks: &Blocks<'_>, facts: &FileFacts<'_>) -> Metadata {
    let sources = Sources::read(blocks, facts.sidecars);
    let camera = |tag| sources.tags.as_ref()?.text(Directory::Primary, tag).as_deref().and_then(clean_text);
    let in_xmp = |part: fn(&Xmp) -> Option<String>| sources.every_xmp().find_map(part);
    Metadata {
        capture: capture::capture_time(&sources, facts),
        position: position::position(&sources),
        description: description::description(&sources, facts.file_name),
        camera_make: camera(tag::MAKE).or_else(|| in_xmp(Xmp::make)),
        camera_model: camera(tag::MODEL).or_else(|| in_xmp(Xmp::model)),
    }
}

/// All that was written about one photo.
#[derive(Debug, Default)]
struct Sources<'a> {
    /// The EXIF of its file.
    tags: Option<Tags<'a>>,
    /// The XMP of its file.
    xmp: Xmp,
    /// The IPTC of its file.
    iptc: Iptc,
    /// The text chunks of its file.
    png: PngText,
    /// The files beside it.
    sidecars: Sidecars,
}

/// The files beside a photo, those of each kind as they were given.
#[derive(Debug, Default)]
struct Sidecars {
    xmp: Vec<Xmp>,
    takeout: Vec<Takeout>,
}

impl<'a> Sources<'a> {
    fn read(blocks: &'a Blocks<'_>, sidecars: &[Sidecar<'_>]) -> Self {
        let of_kind =
            |kind| sidecars.iter().filter(move |sidecar| sidecar.kind == kind).map(|sidecar| sidecar.content);
        Self {
            tags: blocks.exif.as_deref().and_then(Tags::read),
            xmp: blocks.xmp.as_deref().and_then(Xmp::read).unwrap_or_default(),
            iptc: blocks.iptc.as_deref().map(Iptc::read).unwrap_or_default(),
            png: PngText::read(&blocks.texts),
            sidecars: Sidecars {
                xmp: of_kind(SidecarKind::Xmp).filter_map(Xmp::read).collect(),
                takeout: of_kind(SidecarKind::Takeout).filter_map(Takeout::read).collect(),
            },
        }
    }

    /// The XMP in the file and beside it.
    fn every_xmp(&self) -> impl Iterator<Item = &Xmp> {
        std::iter::once(&self.xmp).chain(&self.sidecars.xmp)
    }
}

#[cfg(test)]
mod tests;
