//! Reads sidecars: files that describe the photos beside them.

use domain::{Sidecar, SidecarKind};
use exports::{EntryError, Plan, PlannedPhoto};

use crate::FailedFile;

/// Why a sidecar is not used.
#[derive(Debug, thiserror::Error)]
enum SidecarError {
    #[error("contains no description of a photo")]
    NoSidecar,
    #[error(transparent)]
    Unreadable(#[from] EntryError),
}

/// Reads a photo's sidecars, and reports those that cannot be read; the photo is imported without them. Blocks.
pub(crate) fn read(plan: &Plan, photo: &PlannedPhoto) -> (Vec<Sidecar>, Vec<FailedFile>) {
    let (mut read, mut failed) = (Vec::new(), Vec::new());
    for file in &photo.sidecars {
        let content = plan.read_sidecar(file).map_err(SidecarError::from);
        match content.and_then(|content| checked(file.kind, content)) {
            Ok(content) => read.push(Sidecar { kind: file.kind, content }),
            Err(error @ SidecarError::Unreadable(EntryError::Damaged(_))) => {
                failed.push(FailedFile::unread(file.path.clone(), error));
            }
            Err(error) => failed.push(FailedFile::new(file.path.clone(), error)),
        }
    }
    (read, failed)
}

fn checked(kind: SidecarKind, content: Vec<u8>) -> Result<Vec<u8>, SidecarError> {
    if media::is_sidecar_content(kind, &content) { Ok(content) } else { Err(SidecarError::NoSidecar) }
}

#[cfg(test)]
mod tests {
    use std::{fs, path::PathBuf};

    use super::*;

    const XMP: &str = "<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'/></x:xmpmeta>";

    #[test]
    fn unreadable_sidecars_are_reported() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        for name in ["1.jpg", "2.jpg", "3.jpg"] {
            fs::write(path(name), name).unwrap();
        }
        fs::write(path("1.xmp"), XMP.to_owned() + &" ".repeat(1024 * 1024)).unwrap();
        fs::write(path("2.xmp"), "no XMP").unwrap();
        fs::write(path("3.xmp"), XMP).unwrap();
        let plan = exports::plan(&[dir.path().to_owned()]);
        let (mut sidecars, mut unread): (Vec<Sidecar>, Vec<PathBuf>) = (Vec::new(), Vec::new());
        for photo in &plan.photos {
            let (read, failed) = read(&plan, photo);
            sidecars.extend(read);
            unread.extend(failed.into_iter().map(|file| file.path));
        }
        assert_eq!(sidecars, [Sidecar { kind: SidecarKind::Xmp, content: XMP.into() }]);
        assert_eq!(unread, [path("1.xmp"), path("2.xmp")]);
    }
}
