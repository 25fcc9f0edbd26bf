//! What a path of WebDAV names.

use dav_protocol::{decode_name, decode_path, single_slashes};
use domain::FilePath;
use library::Caller;

use super::error::DavError;

/// What a path names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// A file or folder of the caller.
    File(FilePlace),
    /// A chunked upload of the caller, or a chunk of it: one or two names below the root.
    Upload(FilePlace),
    /// A collection that only leads to the files.
    Collection(Collection),
}

/// A file or folder under one of the roots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FilePlace {
    /// The encoded path of the root as the request wrote it, without a slash at the end.
    pub(crate) root: String,
    /// The path of the file below the root.
    pub(crate) path: FilePath,
}

/// A collection above the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Collection {
    /// Its encoded path, with a slash at the end.
    pub(crate) href: String,
    /// The names of its members, which are collections.
    pub(crate) members: Vec<String>,
}

impl Collection {
    /// Whether this is the collection that Nextcloud's apps search.
    pub(crate) fn is_searched(&self) -> bool {
        is_searched(&self.href)
    }

    fn at(path: &str, members: &[&str]) -> Self {
        let href = format!("{}/", path.trim_end_matches('/'));
        Self { href, members: members.iter().map(|name| (*name).to_owned()).collect() }
    }
}

/// The place of an encoded path. A place that belongs to another account does not exist.
pub(crate) fn place(path: &str, caller: &Caller) -> Result<Place, DavError> {
    let path = &*single_slashes(path);
    if let Some(rest) = below(path, "/dav").or_else(|| below(path, "/remote.php/webdav")) {
        return Ok(Place::File(below_root(path, rest)?));
    }
    let handle = caller.account.sync_handle.as_str();
    if let Some(rest) = below(path, "/remote.php/dav/files").filter(|rest| rest.len() > 1) {
        return Ok(Place::File(below_root(path, after_user(rest, caller)?)?));
    }
    if let Some(rest) = below(path, "/remote.php/dav/uploads").filter(|rest| rest.len() > 1) {
        let upload = below_root(path, after_user(rest, caller)?)?;
        return match upload.path.names().len() {
            0 => Ok(Place::Collection(Collection::at(path, &[]))),
            1 | 2 => Ok(Place::Upload(upload)),
            _ => Err(DavError::NotFound),
        };
    }
    let collection = |members: &[&str]| Ok(Place::Collection(Collection::at(path, members)));
    match path.strip_suffix('/').unwrap_or(path) {
        "" => collection(&["dav"]),
        "/remote.php" => collection(&["dav", "webdav"]),
        "/remote.php/dav" => collection(&["files", "principals", "uploads"]),
        "/remote.php/dav/files" | "/remote.php/dav/uploads" | "/remote.php/dav/principals/users" => {
            collection(&[handle])
        }
        "/remote.php/dav/principals" => collection(&["users"]),
        path => {
            let user = path.strip_prefix("/remote.php/dav/principals/users/").ok_or(DavError::NotFound)?;
            if is_user(user, caller)? { collection(&[]) } else { Err(DavError::NotFound) }
        }
    }
}

/// Whether SEARCH is offered at an encoded path.
pub(crate) fn is_searched(path: &str) -> bool {
    path.strip_suffix('/').unwrap_or(path) == "/remote.php/dav"
}

/// The encoded path of the principal of a caller, which clients compare with that of other users.
pub(crate) fn principal_href(caller: &Caller) -> String {
    format!("/remote.php/dav/principals/users/{}/", caller.account.sync_handle)
}

/// The encoded path of the root of the files of a caller for Nextcloud's apps, without a slash at the end.
pub(crate) fn files_root(caller: &Caller) -> String {
    format!("/remote.php/dav/files/{}", caller.account.sync_handle)
}

fn below_root(path: &str, rest: &str) -> Result<FilePlace, DavError> {
    let root = path.strip_suffix(rest).unwrap_or(path).to_owned();
    Ok(FilePlace { root, path: decode_path(rest)? })
}

/// What follows a root: empty, or a path that starts with a slash.
fn below<'a>(path: &'a str, root: &str) -> Option<&'a str> {
    path.strip_prefix(root).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// What follows the user in `/user/…`, if it is the caller.
fn after_user<'a>(rest: &'a str, caller: &Caller) -> Result<&'a str, DavError> {
    let names = rest.strip_prefix('/').unwrap_or(rest);
    let (user, _) = names.split_once('/').unwrap_or((names, ""));
    if is_user(user, caller)? {
        Ok(names.get(user.len()..).unwrap_or_default())
    } else {
        Err(DavError::NotFound)
    }
}

/// Whether an encoded name is the caller's handle or email.
fn is_user(name: &str, caller: &Caller) -> Result<bool, DavError> {
    let name = decode_name(name)?;
    let account = &caller.account;
    Ok(name == account.sync_handle.as_str() || name.to_lowercase() == account.email.as_str())
}
