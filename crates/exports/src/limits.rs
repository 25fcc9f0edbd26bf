//! Limits on what one import reads from archives besides photos.

/// Maximum number of entries in all archives together. The index keeps about 200 bytes for each.
pub(crate) const MAX_ENTRIES: usize = 500_000;
/// Maximum length of the names of all entries together, in bytes.
pub(crate) const MAX_NAMES_BYTES: usize = 64 << 20;
/// Maximum length of one entry's name, in bytes.
pub(crate) const MAX_NAME_BYTES: usize = 4096;
/// The longest sidecar that is read, in bytes. Most have a few thousand bytes; editors that store their history in them
/// reach some hundred thousand.
pub const MAX_SIDECAR_BYTES: u64 = 1 << 20;
/// The longest list of albums of this library that is read, in bytes. Each photo in it takes about 50 bytes.
pub(crate) const MAX_ALBUMS_BYTES: u64 = 128 << 20;
/// The longest CSV file that is read, in bytes. A row of an Apple export has about 150 bytes.
pub(crate) const MAX_CSV_BYTES: u64 = 16 << 20;
/// Maximum length of all metadata files that are copied from a compressed tar archive to a temporary file, and of one photo
/// that is copied because it has several names, in bytes.
pub(crate) const MAX_COPIED_BYTES: u64 = 2 << 30;
/// A compressed tar archive may expand to this many bytes, or to `MAX_EXPANSION` times its own length if that is more.
pub(crate) const MIN_EXPANDED_BYTES: u64 = 1 << 30;
pub(crate) const MAX_EXPANSION: u64 = 100;
/// Maximum length of the extended headers before a tar entry, in bytes.
pub(crate) const MAX_TAR_HEADERS_BYTES: u64 = 1 << 20;
/// Maximum number of problems that are listed of one archive.
pub(crate) const MAX_ARCHIVE_PROBLEMS: usize = 1000;
