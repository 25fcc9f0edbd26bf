//! Reads a photo's metadata from its file and its sidecars.

mod apple;
mod boilerplate;
mod camera_settings;
mod capture;
mod description;
mod file_name;
mod iptc;
mod marks;
mod png_text;
mod position;
mod sidecar_name;
mod sidecar_prefix;
mod takeout;
mod written_time;
mod xmp;
mod xmp_writer;

use domain::{FileInfo, Metadata, PhotoDetails, PhotoEdit, Sidecar, SidecarKind, clean_text};

use crate::container::Blocks;
use crate::tiff::{Directory, Tags, tag};
use crate::{Orientation, Photo};
use iptc::Iptc;
use png_text::PngText;
use takeout::Takeout;
use xmp::Xmp;

pub(crate) use position::plausible;
pub(crate) use written_time::parse_time;

pub use apple::{ApplePhoto, apple_album_csv, apple_photos_csv};
pub use sidecar_name::{PhotoSidecars, SidecarMatches, match_sidecars, sidecar_kind};
pub use sidecar_prefix::{photo_prefix, sidecar_prefix};
pub use takeout::{TakeoutAlbum, TakeoutFile, TakeoutPhoto, takeout_file};
pub use xmp_writer::{FileValues, WrittenSidecar};

impl Photo<'_> {
    /// Reads the metadata. A broken, blank or implausible value counts as missing. A file without a capture time gets the
    /// time when it was added.
    ///
    /// Sidecars come before the file, and XMP sidecars before those of a Takeout export. A capture time without an offset
    /// is read as UTC; a caller that knows time zones can complete it.
    pub fn metadata(&self, info: &FileInfo) -> Metadata {
        metadata_of(self.blocks(), info)
    }
}

/// As [`Photo::metadata`], also for a file of an unknown format.
pub fn metadata(content: &[u8], info: &FileInfo) -> Metadata {
    match Photo::open(content) {
        Ok(photo) => photo.metadata(info),
        Err(_) => metadata_of(&Blocks::default(), info),
    }
}

/// Whether the content is a sidecar of that kind. Exports and folders contain other `.json` and `.xmp` files as well.
pub fn is_sidecar_content(kind: SidecarKind, content: &[u8]) -> bool {
    match kind {
        SidecarKind::Xmp => Xmp::read(content).is_some(),
        SidecarKind::Takeout => Takeout::read(content).is_some(),
    }
}

/// The corrections in an XMP sidecar from an export of this library; `None` if there are none. From a sidecar with corrections,
/// [`metadata`] reads the original values of the file instead.
pub fn sidecar_corrections(content: &[u8]) -> Option<PhotoEdit> {
    Xmp::read(content)?.corrections()
}

/// How to turn the photo upright, if an XMP sidecar says so.
pub fn sidecar_orientation(sidecars: &[Sidecar]) -> Option<Orientation> {
    let xmp = sidecars.iter().filter(|sidecar| sidecar.kind == SidecarKind::Xmp);
    xmp.filter_map(|sidecar| Xmp::read(&sidecar.content)).find_map(|xmp| xmp.orientation())
}

fn metadata_of(blocks: &Blocks<'_>, info: &FileInfo) -> Metadata {
    let sources = Sources::read(blocks, &info.sidecars);
    let exif_text =
        |directory, tag| sources.tags.iter().find_map(|tags| clean_text(&tags.text(directory, tag)?));
    let xmp_text = |property: fn(&Xmp) -> Option<String>| sources.all_xmp().find_map(property);
    Metadata {
        capture: capture::capture_time(&sources, info),
        details: PhotoDetails {
            position: position::position(&sources),
            description: description::description(&sources, info.name.as_deref()),
            camera_make: exif_text(Directory::Primary, tag::MAKE).or_else(|| xmp_text(Xmp::make)),
            camera_model: exif_text(Directory::Primary, tag::MODEL).or_else(|| xmp_text(Xmp::model)),
        },
        settings: sources.tags.iter().find_map(camera_settings::camera_settings),
        marks: marks::marks(&sources),
    }
}

/// Everything that describes one photo.
#[derive(Debug, Default)]
struct Sources<'a> {
    /// The EXIF blocks in the file. Values that belong together come from one block.
    tags: Vec<Tags<'a>>,
    xmp: Xmp,
    iptc: Iptc,
    png: PngText,
    comments: Vec<String>,
    sidecars: Sidecars,
}

/// The sidecars of a photo, by kind.
#[derive(Debug, Default)]
struct Sidecars {
    xmp: Vec<Xmp>,
    takeout: Vec<Takeout>,
}

impl<'a> Sources<'a> {
    fn read(blocks: &'a Blocks<'_>, sidecars: &[Sidecar]) -> Self {
        let of_kind = |kind| {
            sidecars
                .iter()
                .filter(move |sidecar| sidecar.kind == kind)
                .map(|sidecar| sidecar.content.as_slice())
        };
        Self {
            tags: blocks.exif_blocks().filter_map(Tags::read).collect(),
            xmp: blocks.xmp.as_deref().and_then(Xmp::read).unwrap_or_default(),
            iptc: blocks.iptc.as_deref().map(Iptc::read).unwrap_or_default(),
            png: PngText::read(&blocks.texts),
            comments: description::jpeg_comments(&blocks.comments),
            sidecars: Sidecars {
                xmp: of_kind(SidecarKind::Xmp).filter_map(Xmp::read).collect(),
                takeout: of_kind(SidecarKind::Takeout).filter_map(Takeout::read).collect(),
            },
        }
    }

    /// The XMP in the file, then in the sidecars.
    fn all_xmp(&self) -> impl Iterator<Item = &Xmp> {
        std::iter::once(&self.xmp).chain(&self.sidecars.xmp)
    }
}

#[cfg(test)]
mod tests;
