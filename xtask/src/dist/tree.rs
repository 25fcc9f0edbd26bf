//! A tree of files that becomes an archive. The same tree always becomes the same bytes.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use flate2::write::GzEncoder;
use flate2::{Compression, GzBuilder};
use tar::{EntryType, Header};

/// The user and group of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) uid: u64,
    pub(super) gid: u64,
}

pub(super) const ROOT: Owner = Owner { uid: 0, gid: 0 };

/// The content of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Content {
    Text(String),
    Bytes(Vec<u8>),
    /// The content of this file when the archive is written.
    CopyOf(PathBuf),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Node {
    Folder,
    File(Content),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    node: Node,
    mode: u32,
    owner: Owner,
}

/// Files by their path, which is relative and has no `..`. Missing parent folders are added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tree {
    entries: BTreeMap<String, Entry>,
}

impl Tree {
    pub(super) fn file(&mut self, path: &str, mode: u32, content: Content) {
        self.add(path, Entry { node: Node::File(content), mode, owner: ROOT });
    }

    pub(super) fn text(&mut self, path: &str, text: impl Into<String>) {
        self.file(path, 0o644, Content::Text(text.into()));
    }

    pub(super) fn folder(&mut self, path: &str, mode: u32, owner: Owner) {
        self.add(path, Entry { node: Node::Folder, mode, owner });
    }

    /// Adds all files of a folder of the work tree below `prefix`.
    pub(super) fn copy_folder(&mut self, prefix: &str, folder: &Path) -> io::Result<()> {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let path = format!("{prefix}/{}", entry.file_name().to_string_lossy());
            if entry.file_type()?.is_dir() {
                self.copy_folder(&path, &entry.path())?;
            } else {
                self.file(&path, 0o644, Content::CopyOf(entry.path()));
            }
        }
        Ok(())
    }

    fn add(&mut self, path: &str, entry: Entry) {
        if let Some((parent, _)) = path.rsplit_once('/')
            && !self.entries.contains_key(parent)
        {
            self.folder(parent, 0o755, ROOT);
        }
        self.entries.insert(path.to_owned(), entry);
    }

    /// The sum of the files' sizes.
    pub(super) fn bytes(&self) -> io::Result<u64> {
        let mut sum = 0;
        for entry in self.entries.values() {
            sum += match &entry.node {
                Node::File(Content::Text(text)) => text.len() as u64,
                Node::File(Content::Bytes(bytes)) => bytes.len() as u64,
                Node::File(Content::CopyOf(file)) => file.metadata()?.len(),
                Node::Folder => 0,
            };
        }
        Ok(sum)
    }

    /// Writes a tar archive, in the order of the paths. `seconds` is the time of every file, since 1970.
    pub(super) fn write_tar<W: Write>(&self, output: W, seconds: u64) -> io::Result<W> {
        let mut builder = tar::Builder::new(output);
        for (path, entry) in &self.entries {
            let mut header = Header::new_gnu();
            header.set_mode(entry.mode);
            header.set_uid(entry.owner.uid);
            header.set_gid(entry.owner.gid);
            header.set_mtime(seconds);
            match &entry.node {
                Node::Folder => {
                    header.set_entry_type(EntryType::Directory);
                    header.set_size(0);
                    builder.append_data(&mut header, format!("{path}/"), io::empty())?;
                }
                Node::File(Content::Text(text)) => {
                    append_file(&mut builder, &mut header, path, text.len() as u64, text.as_bytes())?;
                }
                Node::File(Content::Bytes(bytes)) => {
                    append_file(&mut builder, &mut header, path, bytes.len() as u64, bytes.as_slice())?;
                }
                Node::File(Content::CopyOf(source)) => {
                    let file = std::fs::File::open(source)?;
                    let size = file.metadata()?.len();
                    append_file(&mut builder, &mut header, path, size, file)?;
                }
            }
        }
        builder.into_inner()
    }

    /// Writes a tar archive that is compressed by gzip.
    pub(super) fn write_tar_gz<W: Write>(
        &self,
        output: W,
        seconds: u64,
        level: Compression,
    ) -> io::Result<W> {
        self.write_tar(gzip(output, level), seconds)?.finish()
    }
}

fn append_file<W: Write>(
    builder: &mut tar::Builder<W>,
    header: &mut Header,
    path: &str,
    size: u64,
    content: impl io::Read,
) -> io::Result<()> {
    header.set_entry_type(EntryType::Regular);
    header.set_size(size);
    builder.append_data(header, path, content)
}

/// Compresses without a time and a file name, which would differ from one run to the next.
pub(super) fn gzip<W: Write>(output: W, level: Compression) -> GzEncoder<W> {
    GzBuilder::new().write(output, level)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

    fn example() -> Tree {
        let mut tree = Tree::default();
        tree.text("etc/b", "two");
        tree.file("etc/a", 0o600, Content::Bytes(b"one".to_vec()));
        tree.folder("data", 0o700, Owner { uid: 7, gid: 8 });
        tree
    }

    #[test]
    fn entries_are_sorted_and_below_their_folders() {
        let bytes = example().write_tar(Vec::new(), 1_000).unwrap();
        let mut archive = tar::Archive::new(bytes.as_slice());
        let mut found = Vec::new();
        for entry in archive.entries().unwrap() {
            let mut entry = entry.unwrap();
            let mut text = String::new();
            entry.read_to_string(&mut text).unwrap();
            let header = entry.header();
            assert_eq!(header.mtime().unwrap(), 1_000);
            let (mode, uid, gid) = (header.mode().unwrap(), header.uid().unwrap(), header.gid().unwrap());
            found.push(format!("{} {mode:o} {uid} {gid} {text}", entry.path().unwrap().display()));
        }
        let expect = ["data/ 700 7 8 ", "etc/ 755 0 0 ", "etc/a 600 0 0 one", "etc/b 644 0 0 two"];
        assert_eq!(found, expect);
    }

    #[test]
    fn the_order_of_additions_does_not_change_the_archive() {
        let mut other = Tree::default();
        other.folder("data", 0o700, Owner { uid: 7, gid: 8 });
        other.file("etc/a", 0o600, Content::Bytes(b"one".to_vec()));
        other.text("etc/b", "two");
        let archive = |tree: &Tree| tree.write_tar_gz(Vec::new(), 5, Compression::best()).unwrap();
        assert_eq!(archive(&other), archive(&example()));
        other.text("etc/b", "2");
        assert_ne!(archive(&other), archive(&example()));
    }

    #[test]
    fn a_folder_is_copied_with_its_folders() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("inner")).unwrap();
        std::fs::write(dir.path().join("inner/file"), "12345").unwrap();
        let mut tree = Tree::default();
        tree.copy_folder("top", dir.path()).unwrap();
        assert_eq!(tree.entries.keys().collect::<Vec<_>>(), ["top", "top/inner", "top/inner/file"]);
        assert_eq!(tree.bytes().unwrap(), 5);
    }
}
