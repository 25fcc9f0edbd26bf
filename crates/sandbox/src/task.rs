//! What a pool is asked, and what it gives.

use std::error::Error;

use bytes::Bytes;
use domain::{FileInfo, Metadata, PixelSize, Rendition};
use futures_util::{Stream, stream};
use media::Rendered;

/// Whether somebody waits for the outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Urgency {
    /// A person waits. Never behind background work that has not begun; one worker is kept for such jobs.
    Interactive,
    /// Nobody waits; the work yields to everything else on the machine.
    Background,
}

/// Which renditions are made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestedRenditions {
    /// What makes an image visible: medium and thumb, and full where it is the same picture as medium.
    Displayable,
    /// These, in this order.
    Only(Vec<Rendition>),
}

impl RequestedRenditions {
    /// The renditions that are made of an upright picture of that size, each once.
    pub fn renditions(&self, upright: PixelSize) -> Vec<Rendition> {
        match self {
            Self::Displayable if upright.longest() <= Rendition::Medium.longest_side_px() => {
                Rendition::ALL.to_vec()
            }
            Self::Displayable => vec![Rendition::Medium, Rendition::Thumb],
            Self::Only(wanted) => {
                let mut each_once = Vec::with_capacity(wanted.len());
                for rendition in wanted {
                    if !each_once.contains(rendition) {
                        each_once.push(*rendition);
                    }
                }
                each_once
            }
        }
    }
}

/// What is done with a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodeTask {
    /// The renditions to make.
    pub renditions: RequestedRenditions,
    /// Reads the metadata as well, if given: what is known about the file besides its content.
    pub read_metadata: Option<FileInfo>,
}

/// What was made of a file. All of it was checked, but a worker that a hostile file has taken over can still give a
/// wrong picture.
#[derive(Debug, Clone, PartialEq)]
pub struct DecodedPhoto {
    /// The renditions.
    pub rendered: Rendered,
    /// The metadata, if they were asked for.
    pub metadata: Option<Metadata>,
}

/// Where a file's bytes come from. It is opened again when the file is tried once more.
pub trait FileSource: Sync {
    /// Why it cannot be read.
    type Error: Error + Send + Sync + 'static;

    /// The file's length in bytes.
    fn length(&self) -> u64;

    /// The file's bytes from the first on, chunk by chunk. Chunks of 64 KiB and more are best.
    fn open(
        &self,
    ) -> impl Future<Output = Result<impl Stream<Item = Result<Bytes, Self::Error>> + Send, Self::Error>> + Send;
}

/// A file in memory.
impl FileSource for Bytes {
    type Error = std::convert::Infallible;

    fn length(&self) -> u64 {
        self.len() as u64
    }

    async fn open(&self) -> Result<impl Stream<Item = Result<Bytes, Self::Error>> + Send, Self::Error> {
        Ok(stream::iter([Ok(self.clone())]))
    }
}

#[cfg(test)]
mod tests {
    use Rendition::{Full, Medium, Thumb};

    use super::*;

    #[test]
    fn what_is_wanted_depends_on_the_size() {
        let check = |wanted: RequestedRenditions, side, expect: &[Rendition]| {
            assert_eq!(wanted.renditions(PixelSize { width: side, height: 10 }), expect);
        };
        check(RequestedRenditions::Displayable, 1200, &[Full, Medium, Thumb]);
        check(RequestedRenditions::Displayable, 1201, &[Medium, Thumb]);
        check(RequestedRenditions::Only(vec![Thumb, Full, Thumb]), 5000, &[Thumb, Full]);
        check(RequestedRenditions::Only(vec![]), 100, &[]);
    }
}
