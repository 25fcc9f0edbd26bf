//! Folders on disk and in archives, and which of them are the same folder of one export.

use std::path::{Path, PathBuf};

/// Google's exports have this folder at their root, in every language.
const TAKEOUT: &str = "Takeout";

/// A folder that holds files.
#[derive(Debug)]
pub(crate) struct Folder {
    /// The archive, or the part of an export on disk, that the folder is in.
    pub(crate) source: usize,
    /// The path. For a folder in an archive, this is the path within the archive. Its parts are separated by `/`.
    inner: Box<str>,
    /// Where the path within the export starts.
    key_start: usize,
    /// Whether the folder is in an archive or in an unpacked export. Sidecars are then matched across folders.
    pub(crate) is_export: bool,
    /// Whether the folder is in an export of Google.
    pub(crate) is_takeout: bool,
}

impl Folder {
    pub(crate) fn archived(source: usize, parts: &[&str]) -> Self {
        let inner = parts.join("/");
        let start = takeout_start(&inner);
        let is_takeout = start.is_some();
        let key_start = start.map_or(0, |start| after_takeout(&inner, start));
        Self { source, inner: inner.into(), key_start, is_export: true, is_takeout }
    }

    /// A folder on disk. `source` gives the number of the export's part that has the given path.
    pub(crate) fn on_disk(path: &Path, source: impl FnOnce(&str) -> usize) -> Self {
        let inner = path.to_string_lossy().into_owned();
        let start = takeout_start(&inner);
        let source = source(start.and_then(|start| inner.get(..start)).unwrap_or_default());
        let is_takeout = start.is_some();
        let key_start = start.map_or(0, |start| after_takeout(&inner, start));
        Self { source, key_start, is_export: is_takeout, is_takeout, inner: inner.into() }
    }

    /// Marks the folder as part of a Takeout export whose root folder is not named `Takeout`. `source` gives the number
    /// of the export's part that has the given path.
    pub(crate) fn mark_as_takeout(&mut self, source: impl FnOnce(&str) -> usize) {
        self.key_start = self.inner.len() - self.tail().len();
        if !self.is_export {
            self.source = source(self.inner.get(..self.key_start).unwrap_or_default());
        }
        self.is_export = true;
        self.is_takeout = true;
    }

    /// The path within the export. Parts of one export have equal paths; other folders on disk have their full path.
    pub(crate) fn key(&self) -> &str {
        self.inner.get(self.key_start..).unwrap_or(&self.inner)
    }

    /// The whole path. For a folder in an archive, this is the path within the archive.
    pub(crate) fn full(&self) -> &str {
        &self.inner
    }

    pub(crate) fn name(&self) -> &str {
        self.inner.rsplit('/').next().unwrap_or(&self.inner)
    }

    /// The path of the folder above.
    pub(crate) fn parent(&self) -> &str {
        self.inner.rsplit_once('/').map_or("", |(parent, _)| parent)
    }

    /// Its name and that of the folder above, as a path.
    pub(crate) fn tail(&self) -> &str {
        let parent = self.parent();
        let start = parent.rfind('/').map_or(0, |slash| slash + 1);
        self.inner.get(start..).unwrap_or(&self.inner)
    }

    /// The path of a file in it, for messages.
    pub(crate) fn display(&self, archive: &Path, name: &str) -> PathBuf {
        let separator = if self.inner.is_empty() { "" } else { "/" };
        let inner = crate::names::printable(&format!("{}{separator}{name}", self.inner));
        PathBuf::from(format!("{}/{inner}", archive.display()))
    }
}

/// Where the folder `Takeout` starts in a path.
fn takeout_start(path: &str) -> Option<usize> {
    let mut start = 0;
    path.split('/').find_map(|part| {
        let found = (part == TAKEOUT).then_some(start);
        start += part.len() + 1;
        found
    })
}

/// Where the path within an export starts: after the folder `Takeout`. This folder is left out, because some people
/// rename it.
fn after_takeout(path: &str, start: usize) -> usize {
    (start + TAKEOUT.len() + 1).min(path.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_an_export_have_the_same_keys() {
        let archived = Folder::archived(0, &["Takeout", "Google Photos", "Photos from 2019"]);
        let on_disk = |path: &str| Folder::on_disk(Path::new(path), str::len);
        let unpacked = on_disk("/home/ann/part 2/Takeout/Google Photos/Photos from 2019");
        assert_eq!(archived.key(), "Google Photos/Photos from 2019");
        assert_eq!((unpacked.key(), unpacked.name()), (archived.key(), "Photos from 2019"));
        assert_eq!((unpacked.source, unpacked.is_export), ("/home/ann/part 2/".len(), true));
        let other = on_disk("/home/ann/Pictures");
        assert_eq!((other.key(), other.source, other.is_export), ("/home/ann/Pictures", 0, false));
    }

    #[test]
    fn paths_in_archives_are_printable() {
        let path = |parts: &[&str], name| Folder::archived(0, parts).display(Path::new("x.zip"), name);
        assert_eq!(path(&["a", ".."], "\u{1b}b.jpg"), Path::new("x.zip/a/../\u{fffd}b.jpg"));
        assert_eq!(path(&[], "b.jpg"), Path::new("x.zip/b.jpg"));
    }
}
