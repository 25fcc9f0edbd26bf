use std::collections::BTreeMap;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FindingKind {
    /// The files of the metadata store are damaged.
    StoreDamage,
    /// An original is not in the blob store.
    LostOriginal,
    /// An original has other bytes than were imported.
    DamagedOriginal,
    /// A rendition is not in the blob store.
    LostRendition,
    /// A rendition has other bytes than were made.
    DamagedRendition,
    /// An original that no photo and no file uses.
    OriginalWithoutPhoto,
    /// The metadata store has a wrong length of a sound original.
    WrongLength,
    /// A file of the blob store cannot be read.
    UnreadableFile,
    /// A visible image has no medium or no thumb.
    MissingRendition,
    /// A rendition could not be made again.
    FailedRendition,
    /// An original or a rendition in use is not registered as kept, so that it could be removed.
    UnregisteredBlob,
    /// A registered rendition that no image uses.
    UnusedFile,
    /// A rendition in the blob store that is not registered.
    OrphanFile,
    /// A temporary file of a killed process.
    TemporaryFile,
    /// An image waits to be indexed and is not in the queue.
    StuckImage,
    /// The stored number of images of an account is wrong.
    ImageCount,
    /// The stored number of bytes of an account is wrong.
    StoredBytes,
    /// An account has no root folder for its synced files.
    RootFolder,
    /// A synced file is in no folder of its account.
    FileParent,
    /// A synced file has the image of another account or with other content.
    FileImage,
    /// A synced photo has no image, although its account has one with the same content.
    UnlinkedFile,
    /// An image is wrongly marked as deleted with its last file.
    DeletionMark,
    /// The stored sum of bytes of a folder is wrong.
    FolderBytes,
    /// The file of a part of an upload is missing or has another length.
    LostPart,
    /// A file of an upload that belongs to no part.
    OrphanPart,
    /// An album shows an image at a wrong time, or one that is not visible.
    AlbumCopy,
    /// The place index differs from an image's position.
    PlaceIndex,
    /// The regions of an image differ from its place and position.
    Regions,
    /// The map differs from the positions of images.
    Map,
    /// The stored months of a timeline are wrong.
    Timeline,
    /// The word index differs from an image's texts.
    WordIndex,
    /// A vector belongs to no image or to the wrong account.
    StrayVector,
    /// A row of the metadata store refers to a row that does not exist.
    DanglingReference,
}

impl FindingKind {
    /// Its name in reports for programs, such as `lost-original`.
    pub const fn name(self) -> &'static str {
        self.texts().0
    }

    /// A noun phrase in the singular, such as `lost original`.
    pub const fn title(self) -> &'static str {
        self.texts().1
    }

    /// What an operator can do about it.
    pub const fn remedy(self) -> &'static str {
        self.texts().2
    }

    const fn texts(self) -> (&'static str, &'static str, &'static str) {
        const REPAIR: &str = "Run `server fsck --repair`.";
        const RESTORE: &str = "Restore the metadata store from a backup, or report the messages.";
        const IMPORT_AGAIN: &str = "Import or upload the same file again, or restore the file from a backup.";
        match self {
            Self::StoreDamage => (
                "store-damage",
                "damage of the metadata store",
                "Stop the server and restore the metadata store from a backup. Nothing else was checked.",
            ),
            Self::LostOriginal => ("lost-original", "lost original", IMPORT_AGAIN),
            Self::DamagedOriginal => (
                "damaged-original",
                "damaged original",
                "Run `server fsck --repair` to set the file aside. Then import or upload the same file again.",
            ),
            Self::LostRendition => ("lost-rendition", "lost rendition", REPAIR),
            Self::DamagedRendition => ("damaged-rendition", "damaged rendition", REPAIR),
            Self::OriginalWithoutPhoto => (
                "original-without-photo",
                "original without a photo",
                "The metadata store may be older than the files, for example after a restore from a backup. Import each \
                 file that is needed: `server import EMAIL FILE`. Originals are never deleted.",
            ),
            Self::WrongLength => {
                ("wrong-length", "sound original with a wrong length in the metadata store", REPAIR)
            }
            Self::UnreadableFile => (
                "unreadable-file",
                "unreadable file",
                "Check the disk and the permissions of the blob folder. Files that cannot be read are never changed.",
            ),
            Self::MissingRendition => ("missing-rendition", "photo without renditions", REPAIR),
            Self::FailedRendition => (
                "failed-rendition",
                "rendition that cannot be made again",
                "Import the same file again. `server doctor` checks the decoders.",
            ),
            Self::UnregisteredBlob => ("unregistered-blob", "file in use that is not registered", REPAIR),
            Self::UnusedFile => ("unused-file", "registered file that no photo uses", REPAIR),
            Self::OrphanFile => ("orphan-file", "file that is not registered", REPAIR),
            Self::TemporaryFile => ("temporary-file", "temporary file of a killed process", REPAIR),
            Self::StuckImage => ("stuck-image", "photo that is not indexed and not in the queue", REPAIR),
            Self::ImageCount => ("image-count", "wrong number of photos of an account", REPAIR),
            Self::StoredBytes => ("stored-bytes", "wrong number of stored bytes of an account", REPAIR),
            Self::RootFolder => (
                "root-folder",
                "account without a root folder for synced files",
                "Run `server fsck --repair`, or restore a backup if the account has synced files.",
            ),
            Self::FileParent => ("file-parent", "synced file that is in no folder of its account", RESTORE),
            Self::FileImage => {
                ("file-image", "synced file with a photo of another account or with other content", RESTORE)
            }
            Self::UnlinkedFile => ("unlinked-file", "synced file without its photo", REPAIR),
            Self::DeletionMark => (
                "deletion-mark",
                "photo that is marked as deleted with its last file",
                "Restore the photo in the trash, or delete its synced file.",
            ),
            Self::FolderBytes => ("folder-bytes", "folder with a wrong sum of bytes", REPAIR),
            Self::LostPart => (
                "lost-part",
                "part of an upload without its file",
                "Run `server fsck --repair` to forget the upload. Its client sends the file again.",
            ),
            Self::OrphanPart => ("orphan-part", "file of an upload that is not registered", REPAIR),
            Self::AlbumCopy => ("album-copy", "photo with a wrong time or visibility in an album", REPAIR),
            Self::Timeline => ("timeline", "account with wrong numbers of photos in its months", REPAIR),
            Self::Regions => ("regions", "photo with wrong regions", REPAIR),
            Self::PlaceIndex => ("place-index", "photo with a wrong entry in the place index", REPAIR),
            Self::Map => ("map", "photo, or account, with wrong entries in the map", REPAIR),
            Self::WordIndex => ("word-index", "photo with wrong words in the word index", REPAIR),
            Self::StrayVector => ("stray-vector", "vector without its photo", REPAIR),
            Self::DanglingReference => ("dangling-reference", "row that refers to a missing row", RESTORE),
        }
    }
}

/// The findings of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Findings {
    /// How many were found.
    pub found: u64,
    /// How many of them were repaired.
    pub repaired: u64,
    /// The first ones that were not repaired, then the first ones that were; at most
    /// [`IntegrityOptions::max_examples`](super::IntegrityOptions::max_examples) of each.
    pub examples: Vec<Example>,
}

/// A finding in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    /// What was found: account and file name for a photo.
    pub text: String,
    /// Whether it was repaired.
    pub repaired: bool,
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IntegrityReport {
    /// How many rows of the metadata store were checked. A row counts once for each rule.
    pub rows: u64,
    /// How many files of the blob store were checked.
    pub files: u64,
    /// How many bytes of these files were read.
    pub bytes_read: u64,
    /// Whether renditions are still to be made by a running server when the command ends.
    pub renditions_pending: bool,
    pub findings: BTreeMap<FindingKind, Findings>,
}

impl IntegrityReport {
    /// How many findings are not repaired.
    pub fn left(&self) -> u64 {
        self.findings.values().map(|of_kind| of_kind.found.saturating_sub(of_kind.repaired)).sum()
    }

    pub(super) fn add(&mut self, kind: FindingKind, repaired: bool, max_examples: usize, text: String) {
        let findings = self.findings.entry(kind).or_default();
        findings.found += 1;
        findings.repaired += u64::from(repaired);
        let listed = findings.examples.iter().filter(|example| example.repaired == repaired).count();
        if listed < max_examples {
            findings.examples.push(Example { text, repaired });
            findings.examples.sort_by_key(|example| example.repaired);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_are_counted_and_some_are_listed() {
        let mut report = IntegrityReport::default();
        for (number, repaired) in [(1, true), (2, true), (3, true), (4, false)] {
            report.add(FindingKind::OrphanFile, repaired, 2, number.to_string());
        }
        let findings = &report.findings[&FindingKind::OrphanFile];
        assert_eq!((findings.found, findings.repaired, report.left()), (4, 3, 1));
        let listed: Vec<&str> = findings.examples.iter().map(|example| &*example.text).collect();
        assert_eq!(listed, ["4", "1", "2"]);
    }
}
