//! Sidecars: files that describe the photos beside them. This module matches them to photos and reads them.

use std::{
    collections::HashMap,
    fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use domain::{Sidecar, SidecarKind};

use crate::FailedFile;

/// The longest sidecar that is read, in bytes. Most have a few thousand bytes; editors that store their history in
/// them reach some hundred thousand.
pub(crate) const MAX_SIDECAR_BYTES: u64 = 1024 * 1024;

/// A photo to import, with its sidecars.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Photo {
    pub(crate) path: PathBuf,
    pub(crate) sidecars: Vec<(SidecarKind, PathBuf)>,
}

/// Assigns sidecars to the photos beside them, and reports sidecars without a photo. A file that has the name of a sidecar
/// but not its content counts as a photo, so that the import refuses it.
pub(crate) fn pair(files: Vec<PathBuf>, failed: &mut Vec<FailedFile>) -> Vec<Photo> {
    let mut folders: HashMap<PathBuf, Folder> = HashMap::new();
    let mut photos = Vec::with_capacity(files.len());
    for path in files {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let folder = folders.entry(path.parent().map(Path::to_owned).unwrap_or_default()).or_default();
        if let Some(kind) = media::sidecar_kind(&name) {
            folder.sidecars.push((name, kind, path));
        } else {
            folder.photos.push((name, photos.len()));
            photos.push(Photo { path, sidecars: Vec::new() });
        }
    }
    let mut unmatched = Vec::new();
    for folder in folders.into_values() {
        folder.pair(&mut photos, &mut unmatched);
    }
    unmatched.sort();
    for (path, kind) in unmatched {
        match read_content(kind, &path) {
            Ok(_) => {
                failed.push(FailedFile { path, error: "describes no photo that is imported with it".into() });
            }
            Err(SidecarError::NoSidecar) => photos.push(Photo { path, sidecars: Vec::new() }),
            Err(error) => failed.push(FailedFile { path, error: error.to_string() }),
        }
    }
    photos
}

/// The files in one folder.
#[derive(Default)]
struct Folder {
    /// Names, and positions in the list of all photos.
    photos: Vec<(String, usize)>,
    sidecars: Vec<(String, SidecarKind, PathBuf)>,
}

impl Folder {
    fn pair(self, photos: &mut [Photo], unmatched: &mut Vec<(PathBuf, SidecarKind)>) {
        if self.sidecars.is_empty() {
            return;
        }
        let photo_names: Vec<&str> = self.photos.iter().map(|(name, _)| name.as_str()).collect();
        let sidecar_names: Vec<&str> = self.sidecars.iter().map(|(name, ..)| name.as_str()).collect();
        let matches = media::match_sidecars(&photo_names, &sidecar_names);
        let sidecar = |index: usize| self.sidecars.get(index).map(|(_, kind, path)| (*kind, path.clone()));
        for ((_, index), found) in self.photos.iter().zip(&matches.by_photo) {
            if let Some(photo) = photos.get_mut(*index) {
                photo.sidecars = found.xmp.into_iter().chain(found.takeout).filter_map(sidecar).collect();
            }
        }
        unmatched.extend(matches.unmatched.into_iter().filter_map(sidecar).map(|(kind, path)| (path, kind)));
    }
}

/// Why a sidecar is not used.
#[derive(Debug, thiserror::Error)]
enum SidecarError {
    #[error("is longer than the limit of {MAX_SIDECAR_BYTES} bytes")]
    TooLong,
    #[error("contains no description of a photo")]
    NoSidecar,
    #[error("cannot be read: {0}")]
    Unreadable(#[from] io::Error),
}

/// Reads a photo's sidecars, and reports those that cannot be read; the photo is imported without them. Blocks.
pub(crate) fn read(sidecars: &[(SidecarKind, PathBuf)]) -> (Vec<Sidecar>, Vec<FailedFile>) {
    let (mut read, mut failed) = (Vec::new(), Vec::new());
    for (kind, path) in sidecars {
        match read_content(*kind, path) {
            Ok(content) => read.push(Sidecar { kind: *kind, content }),
            Err(error) => failed.push(FailedFile { path: path.clone(), error: error.to_string() }),
        }
    }
    (read, failed)
}

fn read_content(kind: SidecarKind, path: &Path) -> Result<Vec<u8>, SidecarError> {
    let mut content = Vec::new();
    fs::File::open(path)?.take(MAX_SIDECAR_BYTES + 1).read_to_end(&mut content)?;
    if content.len() as u64 > MAX_SIDECAR_BYTES {
        return Err(SidecarError::TooLong);
    }
    if !media::is_sidecar_content(kind, &content) {
        return Err(SidecarError::NoSidecar);
    }
    Ok(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    const XMP: &str = "<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'/></x:xmpmeta>";

    #[test]
    fn sidecars_without_a_photo_are_reported() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        for folder in ["a", "b"] {
            fs::create_dir(path(folder)).unwrap();
        }
        for (name, content) in [
            ("a/x.jpg", ""),
            ("a/x.jpg.xmp", XMP),
            ("b/x.jpg", ""),
            ("b/x.xmp", XMP),
            ("b/y.xmp", XMP),
            ("b/notes.json", r#"{"title": "our holidays"}"#),
            ("b/x.jpg.json", r#"{"photoTakenTime": {"timestamp": "1"}}"#),
        ] {
            fs::write(path(name), content).unwrap();
        }
        let files =
            ["a/x.jpg", "a/x.jpg.xmp", "b/notes.json", "b/x.jpg", "b/x.jpg.json", "b/x.xmp", "b/y.xmp"];
        let mut failed = Vec::new();
        let photos = pair(files.map(path).to_vec(), &mut failed);
        let photo = |name, sidecars: &[(SidecarKind, &str)]| Photo {
            path: path(name),
            sidecars: sidecars.iter().map(|(kind, name)| (*kind, path(name))).collect(),
        };
        assert_eq!(
            photos,
            [
                photo("a/x.jpg", &[(SidecarKind::Xmp, "a/x.jpg.xmp")]),
                photo("b/x.jpg", &[(SidecarKind::Xmp, "b/x.xmp"), (SidecarKind::Takeout, "b/x.jpg.json")]),
                photo("b/notes.json", &[]),
            ]
        );
        let failed: Vec<_> = failed.iter().map(|file| file.path.clone()).collect();
        assert_eq!(failed, [path("b/y.xmp")]);
    }

    #[test]
    fn unreadable_sidecars_are_reported() {
        let dir = tempfile::tempdir().unwrap();
        let (long, broken, good) =
            (dir.path().join("1.xmp"), dir.path().join("2.xmp"), dir.path().join("3.xmp"));
        fs::write(&long, XMP.to_owned() + &" ".repeat(1024 * 1024)).unwrap();
        fs::write(&broken, "no XMP").unwrap();
        fs::write(&good, XMP).unwrap();
        let sidecars = [long.clone(), broken.clone(), good].map(|path| (SidecarKind::Xmp, path));
        let (read, failed) = read(&sidecars);
        assert_eq!(read, [Sidecar { kind: SidecarKind::Xmp, content: XMP.into() }]);
        assert_eq!(failed.iter().map(|file| file.path.clone()).collect::<Vec<_>>(), [long, broken]);
    }
}
