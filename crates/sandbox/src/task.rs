//! Jobs that render files, and their results.

use std::error::Error;

use bytes::Bytes;
use domain::{FileInfo, Metadata, PixelSize, Rendition};
use futures_util::{Stream, stream};
use media::Rendered;

/// The priority of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Urgency {
    /// A user waits for the job. It starts before waiting background jobs, and one worker is reserved for interactive jobs.
    Interactive,
    /// No user waits for the job, but it makes a photo visible. It has a low scheduling priority.
    Background,
    /// The job can wait for all other jobs. It has the lowest scheduling priority, and uses only a part of the slots and of the
    /// memory. If a more urgent job needs its slot or memory, it is stopped and starts again later.
    Deferrable,
}

impl Urgency {
    /// The most urgent first.
    pub(crate) const ALL: [Self; 3] = [Self::Interactive, Self::Background, Self::Deferrable];
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestedRenditions {
    /// The renditions that are made before an image becomes visible, and the full rendition if it has the same size as the medium
    /// one.
    Displayable,
    /// Only these, in this order.
    Only(Vec<Rendition>),
}

impl RequestedRenditions {
    /// The renditions to make of an upright picture of this size, each once.
    pub fn for_size(&self, upright: PixelSize) -> Vec<Rendition> {
        match self {
            Self::Displayable if upright.longest() <= Rendition::Medium.longest_side_px() => {
                Rendition::ALL.to_vec()
            }
            Self::Displayable => Rendition::displayable().collect(),
            Self::Only(renditions) => {
                let mut unique = Vec::with_capacity(renditions.len());
                for rendition in renditions {
                    if !unique.contains(rendition) {
                        unique.push(*rendition);
                    }
                }
                unique
            }
        }
    }
}

/// Renders a file, and reads its metadata if requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodeTask {
    pub renditions: RequestedRenditions,
    /// What is known about the file besides its content. If given, the metadata are read as well, and the orientation in the
    /// sidecars overrides that of the file.
    pub read_metadata: Option<FileInfo>,
}

/// The result of decoding a file. It is validated, but a worker that was taken over by a malicious file can still return a
/// wrong picture.
#[derive(Debug, Clone, PartialEq)]
pub struct DecodedPhoto {
    pub rendered: Rendered,
    /// The metadata, if they were requested.
    pub metadata: Option<Metadata>,
}

/// The source of a file's bytes. It is opened again for a retry.
pub trait FileSource: Sync {
    type Error: Error + Send + Sync + 'static;

    /// The file's length in bytes.
    fn length(&self) -> u64;

    /// The file's bytes from the start, in chunks. Chunks of at least 64 KiB are best.
    fn open(
        &self,
    ) -> impl Future<Output = Result<impl Stream<Item = Result<Bytes, Self::Error>> + Send, Self::Error>> + Send;
}

impl FileSource for Bytes {
    type Error = std::convert::Infallible;

    fn length(&self) -> u64 {
        self.len() as u64
    }

    async fn open(&self) -> Result<impl Stream<Item = Result<Bytes, Self::Error>> + Send, Self::Error> {
        Ok(stream::iter([Ok(self.clone())]))
    }
}

/// Several files as one, in that order.
impl FileSource for Vec<Bytes> {
    type Error = std::convert::Infallible;

    fn length(&self) -> u64 {
        self.iter().map(|file| file.len() as u64).sum()
    }

    async fn open(&self) -> Result<impl Stream<Item = Result<Bytes, Self::Error>> + Send, Self::Error> {
        Ok(stream::iter(self.clone().into_iter().map(Ok)))
    }
}

#[cfg(test)]
mod tests {
    use Rendition::{Full, Thumb};

    use super::*;

    #[test]
    fn displayable_renditions_depend_on_the_size() {
        let check = |requested: RequestedRenditions, side, expect: &[Rendition]| {
            assert_eq!(requested.for_size(PixelSize { width: side, height: 10 }), expect);
        };
        let displayable: Vec<_> = Rendition::displayable().collect();
        assert!(!displayable.contains(&Full));
        check(RequestedRenditions::Displayable, 1200, &[&[Full], &displayable[..]].concat());
        check(RequestedRenditions::Displayable, 1201, &displayable);
        check(RequestedRenditions::Only(vec![Thumb, Full, Thumb]), 5000, &[Thumb, Full]);
        check(RequestedRenditions::Only(vec![]), 100, &[]);
    }
}
