//! The properties of files and folders.

mod locks;
mod selection;
mod table;

use dav_protocol::encode_path;
use domain::{FilePath, Timestamp};
use library::{FileContent, FileEntry, FileKind, FileLock};

use super::{DavError, DavRequest, places};

pub(super) use locks::write_active_lock;
pub(super) use selection::Selection;

/// What properties need besides the file itself.
pub(super) struct Context {
    /// The encoded path of the root, without a slash at the end.
    pub(super) root: String,
    /// The caller's sync handle.
    handle: String,
    /// The caller's email.
    email: String,
    /// The encoded path of the caller's principal.
    principal: String,
    /// Whether the root is one of Nextcloud's.
    is_nextcloud: bool,
    /// The number of stored bytes and the quota, if a property needs them.
    usage: Option<(u64, Option<u64>)>,
    /// The account's locks, if a property needs them.
    locks: Vec<FileLock>,
    now: Timestamp,
}

impl Context {
    /// Loads what the selected properties need.
    pub(super) async fn load(
        request: &DavRequest<'_>,
        root: &str,
        selection: &Selection,
    ) -> Result<Self, DavError> {
        let (library, caller) = (request.library(), &request.caller);
        let usage =
            if selection.needs_usage() { Some(library.ingest.storage_use(caller).await?) } else { None };
        let locks =
            if selection.needs_locks() { library.ingest.account_locks(caller).await? } else { Vec::new() };
        Ok(Self {
            root: root.to_owned(),
            handle: caller.account.sync_handle.to_string(),
            email: caller.account.email.to_string(),
            principal: places::principal_href(caller),
            is_nextcloud: root.starts_with("/remote.php/"),
            usage,
            locks,
            now: library.clock().now(),
        })
    }

    /// The encoded URL path of a file.
    pub(super) fn href(&self, path: &FilePath) -> String {
        href(&self.root, path)
    }
}

/// The encoded URL path of a file or folder, without a slash at the end.
pub(super) fn href(root: &str, path: &FilePath) -> String {
    let mut href = root.to_owned();
    encode_path(path, &mut href);
    href
}

/// The entity tag without quotes. It changes with every change of the file, or of anything below the folder.
pub(super) fn entity_tag(entry: &FileEntry) -> String {
    format!("{:x}-{:x}", entry.id.0, entry.version)
}

/// `oc:id` and `OC-FileId`: the padded id, and a name of the instance that only distinguishes accounts.
pub(super) fn public_file_id(entry: &FileEntry, handle: &str) -> String {
    format!("{:08}oc{}", entry.id.0, handle.get(..10).unwrap_or(handle))
}

/// `oc:favorite`: whether the file is a photo that is a favourite.
pub(super) fn is_favorite(entry: &FileEntry) -> bool {
    matches!(&entry.kind, FileKind::File(FileContent::Photo { image: Some(image), .. }) if image.is_favorite)
}

/// The value of `oc:favorite` that a text is; `None` for other texts.
pub(super) fn flag(text: &str) -> Option<bool> {
    match text.trim() {
        "1" | "yes" | "true" => Some(true),
        "0" | "no" | "false" => Some(false),
        _ => None,
    }
}

/// When a file was created, as its client said, or else when it arrived.
pub(super) fn created_at(entry: &FileEntry) -> Timestamp {
    entry.times.created_at.unwrap_or(entry.received_at)
}
