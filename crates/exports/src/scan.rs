//! Lists the files in folders and archives.

use std::{
    collections::{HashMap, HashSet},
    fs, io,
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use domain::Timestamp;

use crate::{
    EntryError, Problem,
    archive::{Archive, Entry},
    folder::Folder,
    limits::{MAX_ARCHIVE_PROBLEMS, MAX_ENTRIES, MAX_NAME_BYTES, MAX_NAMES_BYTES},
    names::{self, ArchiveKind},
};

/// Where a file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    Disk(PathBuf),
    /// Numbers of an archive and of its entry.
    Archived(usize, usize),
}

/// A file that was found.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) place: Place,
    /// Its number in [`Scan::folders`].
    pub(crate) folder: usize,
    pub(crate) name: Box<str>,
    /// The length; 0 for a file on disk.
    bytes: u64,
    crc32: Option<u32>,
    pub(crate) modified_at: Option<Timestamp>,
    /// Whether it is in a folder for deleted photos.
    pub(crate) is_trashed: bool,
}

/// What is known of an archive while it is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListedArchive<'a> {
    pub path: &'a Path,
    /// How many entries are listed so far.
    pub entries: u64,
    /// The length of these entries, in bytes.
    pub bytes: u64,
}

/// Called before and after each entry of an archive.
type OnListed<'a> = &'a mut dyn FnMut(ListedArchive<'_>);

/// An archive, or a part of an export on disk.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Source {
    path: String,
    /// The name that the parts of one export share.
    pub(crate) export: String,
}

/// All files in the given folders and archives, in a fixed order.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    pub(crate) folders: Vec<Folder>,
    pub(crate) items: Vec<Item>,
    pub(crate) archives: Vec<Archive>,
    pub(crate) sources: Vec<Source>,
    pub(crate) failed: Vec<Problem>,
    folder_numbers: HashMap<(usize, String), usize>,
    seen: HashSet<PathBuf>,
    /// Entries of archives, and the length of their names.
    entries: usize,
    names_bytes: usize,
}

impl Scan {
    /// Lists files, folders with their subfolders, and archives. Links to folders are not followed, so that no folder is
    /// walked twice.
    pub(crate) fn of(paths: &[PathBuf], on_listed: OnListed<'_>) -> Self {
        let mut scan = Self::default();
        for path in paths {
            scan.walk(path, true, false, on_listed);
        }
        scan
    }

    /// The path of a file, for messages.
    pub(crate) fn path(&self, item: &Item) -> PathBuf {
        match &item.place {
            Place::Disk(path) => path.clone(),
            Place::Archived(archive, _) => {
                let archive = self.archives.get(*archive).map(|archive| archive.path.as_path());
                let folder = self.folders.get(item.folder);
                folder
                    .map(|folder| folder.display(archive.unwrap_or(Path::new("")), &item.name))
                    .unwrap_or_default()
            }
        }
    }

    /// The content of a metadata file.
    pub(crate) fn read(&self, item: &Item, max_bytes: u64) -> Result<Vec<u8>, EntryError> {
        read(&self.archives, &item.place, max_bytes)
    }

    /// The length in bytes.
    pub(crate) fn bytes(&self, item: &Item) -> u64 {
        match &item.place {
            Place::Disk(path) => fs::metadata(path).map_or(0, |metadata| metadata.len()),
            Place::Archived(..) => item.bytes,
        }
    }

    /// Whether two files have the same content, as far as length and CRC-32 tell.
    pub(crate) fn are_equal(&self, one: &Item, other: &Item) -> bool {
        self.bytes(one) == self.bytes(other)
            && self.crc32(one).zip(self.crc32(other)).is_some_and(|(one, other)| one == other)
    }

    /// The CRC-32 of a file. `None` if it cannot be read.
    pub(crate) fn crc32(&self, item: &Item) -> Option<u32> {
        item.crc32.or_else(|| match &item.place {
            Place::Disk(path) => crate::archive::crc32(&mut fs::File::open(path).ok()?).ok(),
            Place::Archived(archive, entry) => self.archives.get(*archive)?.crc32(*entry),
        })
    }

    fn fail(&mut self, path: &Path, reason: impl std::fmt::Display) {
        self.failed.push(Problem::new(path, reason));
    }

    fn walk(&mut self, path: &Path, is_named: bool, is_in_trash: bool, on_listed: OnListed<'_>) {
        // A link that the user named is followed.
        let metadata = if is_named { fs::metadata(path) } else { fs::symlink_metadata(path) };
        let kind = match metadata {
            Ok(metadata) => metadata.file_type(),
            Err(error) => return self.fail(path, format_args!("cannot be read: {error}")),
        };
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if kind.is_dir() {
            if !is_named && names::is_junk_folder(&name) {
                return;
            }
            let is_in_trash = is_in_trash || (!is_named && names::is_trash_folder(&name));
            match entries(path) {
                Ok(inner) => inner.iter().for_each(|path| self.walk(path, false, is_in_trash, on_listed)),
                Err(error) => self.fail(path, format_args!("cannot be read: {error}")),
            }
        } else if names::is_junk(&name) {
            // Skipped without a report.
        } else if kind.is_file() {
            self.file(path, &name, is_in_trash, on_listed);
        } else if kind.is_symlink() {
            match fs::metadata(path) {
                Ok(target) if target.is_file() => self.file(path, &name, is_in_trash, on_listed),
                Ok(_) => {
                    self.fail(
                        path,
                        "is a link to a folder, which is not followed; name the folder to import it",
                    );
                }
                Err(error) => self.fail(path, format_args!("is a link that leads nowhere: {error}")),
            }
        } else {
            self.fail(path, "is neither a file nor a folder");
        }
    }

    fn file(&mut self, path: &Path, name: &str, is_trashed: bool, on_listed: OnListed<'_>) {
        if !self.seen.insert(path.to_owned()) {
            return;
        }
        if let Some(kind) = ArchiveKind::of(name) {
            return self.archive(path, kind, is_trashed, on_listed);
        }
        let sources = &mut self.sources;
        let folder = Folder::on_disk(path.parent().unwrap_or(Path::new("")), |root| {
            source_number(sources, root.to_owned(), root.to_owned())
        });
        let folder = self.folder_number(folder);
        self.items.push(Item {
            place: Place::Disk(path.to_owned()),
            folder,
            name: name.into(),
            bytes: 0,
            crc32: None,
            modified_at: None,
            is_trashed,
        });
    }

    fn archive(&mut self, path: &Path, kind: ArchiveKind, is_trashed: bool, on_listed: OnListed<'_>) {
        let source =
            source_number(&mut self.sources, path.to_string_lossy().into_owned(), names::export_name(path));
        let number = self.archives.len();
        let (mut problems, mut has_too_many) = (Vec::new(), false);
        let mut listed = ListedArchive { path, entries: 0, bytes: 0 };
        on_listed(listed);
        let opened = Archive::open(path, kind, &mut |entry_number, entry| {
            listed = ListedArchive {
                entries: listed.entries + 1,
                bytes: listed.bytes.saturating_add(entry.bytes),
                ..listed
            };
            on_listed(listed);
            self.entries += 1;
            self.names_bytes += entry.path.len();
            has_too_many = self.entries > MAX_ENTRIES || self.names_bytes > MAX_NAMES_BYTES;
            if has_too_many {
                return ControlFlow::Break(());
            }
            let place = Place::Archived(number, entry_number);
            if let Some(problem) = self.entry(path, (source, is_trashed), place, &entry)
                && problems.len() < MAX_ARCHIVE_PROBLEMS
            {
                problems.push(problem);
            }
            ControlFlow::Continue(())
        });
        self.failed.append(&mut problems);
        match opened {
            Ok((archive, damage)) => {
                self.archives.push(archive);
                if let Some(damage) = damage {
                    self.fail(path, format_args!("is damaged, and only a part of it was read: {damage}"));
                }
            }
            Err(error) => self.fail(path, format_args!("cannot be read: {error}")),
        }
        if has_too_many {
            let reason = format_args!(
                "holds too many entries: an import reads at most {MAX_ENTRIES} from archives; unpack the rest, then \
                 import the folder"
            );
            self.fail(path, reason);
        }
    }

    /// Adds an entry of an archive, or returns why it is left out.
    fn entry(
        &mut self,
        archive: &Path,
        (source, is_trashed): (usize, bool),
        place: Place,
        entry: &Entry<'_>,
    ) -> Option<Problem> {
        let parts = names::parts(entry.path);
        let (name, parts) = parts.split_last()?;
        if names::is_junk(name) || parts.iter().any(|part| names::is_junk_folder(part)) {
            return None;
        }
        let folder = Folder::archived(source, parts);
        let problem =
            |reason: &dyn std::fmt::Display| Some(Problem::new(folder.display(archive, name), reason));
        if let Some(error) = &entry.error {
            return problem(error);
        }
        if entry.path.len() >= MAX_NAME_BYTES {
            return problem(&format_args!("has a name of more than {MAX_NAME_BYTES} bytes"));
        }
        if ArchiveKind::of(name).is_some() {
            return problem(
                &"is an archive inside an archive, which is not opened; unpack it, then import it",
            );
        }
        let is_trashed = is_trashed || parts.iter().any(|part| names::is_trash_folder(part));
        let folder = self.folder_number(folder);
        self.items.push(Item {
            place,
            folder,
            name: (*name).into(),
            bytes: entry.bytes,
            crc32: entry.crc32,
            modified_at: entry.modified_at,
            is_trashed,
        });
        None
    }

    /// Marks a folder as part of a Takeout export.
    pub(crate) fn mark_as_takeout(&mut self, folder: usize) {
        let sources = &mut self.sources;
        if let Some(folder) = self.folders.get_mut(folder) {
            folder.mark_as_takeout(|root| source_number(sources, root.to_owned(), root.to_owned()));
        }
    }

    fn folder_number(&mut self, folder: Folder) -> usize {
        let next = self.folders.len();
        let number = *self.folder_numbers.entry((folder.source, folder.full().to_owned())).or_insert(next);
        if number == next {
            self.folders.push(folder);
        }
        number
    }
}

/// Reads a metadata file.
pub(crate) fn read(archives: &[Archive], place: &Place, max_bytes: u64) -> Result<Vec<u8>, EntryError> {
    match place {
        Place::Disk(path) => {
            let mut content = Vec::new();
            io::Read::read_to_end(&mut io::Read::take(fs::File::open(path)?, max_bytes + 1), &mut content)?;
            if content.len() as u64 > max_bytes { Err(EntryError::TooLong(max_bytes)) } else { Ok(content) }
        }
        Place::Archived(archive, entry) => {
            archives.get(*archive).ok_or(EntryError::Missing)?.read(*entry, max_bytes)
        }
    }
}

fn source_number(sources: &mut Vec<Source>, path: String, export: String) -> usize {
    let source = Source { path, export };
    sources.iter().position(|known| *known == source).unwrap_or_else(|| {
        sources.push(source);
        sources.len() - 1
    })
}

fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    paths.sort();
    Ok(paths)
}
