//! MOVE and COPY (RFC 4918 §9.8, §9.9).

use dav_protocol::headers::{Depth, destination_path};
use http_server::reply::Reply;
use library::{FileError, FileKind, FileRefusal, FileTimes, FileWritten, MoveFile};

use super::{
    DavError, DavRequest,
    conditions::{self, Conditions},
    delete::require_whole,
    places::{self, FilePlace, Place},
    put::written_reply,
};

/// What happens to the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transfer {
    /// It disappears.
    Move,
    /// It stays.
    Copy,
}

/// Moves or copies a file, or a folder with everything in it.
pub(super) async fn transfer(
    request: &DavRequest<'_>,
    place: &FilePlace,
    kind: Transfer,
) -> Result<Reply, DavError> {
    let to = destination(request)?;
    if place.path.name().is_none() || to.path.name().is_none() {
        return Err(DavError::Forbidden("the root folder cannot be moved, copied or replaced"));
    }
    let conditions = conditions::check(request, &place.path).await?;
    let (library, caller) = (request.library(), &request.caller);
    if kind == Transfer::Copy && request.depth()? == Some(Depth::Zero) {
        let entry = library.ingest.file(caller, &place.path).await?.ok_or(DavError::NotFound)?;
        if entry.kind == FileKind::Folder {
            return copy_folder_alone(request, &to, &conditions).await;
        }
    } else {
        require_whole(request, place).await?;
    }
    let file = MoveFile {
        from: place.path.clone(),
        to: to.path.clone(),
        overwrite: request.overwrite()?,
        create_folders: request.creates_folders()?,
        condition: conditions.on(&to.path),
        lock_tokens: conditions.lock_tokens,
    };
    let written = match kind {
        Transfer::Move => library.ingest.move_file(caller, file).await,
        Transfer::Copy => library.ingest.copy_file(caller, file).await,
    };
    Ok(written_reply(request, &written.map_err(refused)?, FileTimes::default()))
}

/// Copies a folder without its content, which makes an empty folder.
async fn copy_folder_alone(
    request: &DavRequest<'_>,
    to: &FilePlace,
    conditions: &Conditions,
) -> Result<Reply, DavError> {
    let (library, caller) = (request.library(), &request.caller);
    let created = library.ingest.create_folder(caller, &to.path, false, &conditions.lock_tokens).await;
    let written = FileWritten { entry: created.map_err(refused)?, is_new: true };
    Ok(written_reply(request, &written, FileTimes::default()))
}

/// The place that `Destination` names.
pub(super) fn destination(request: &DavRequest<'_>) -> Result<FilePlace, DavError> {
    let value = request.header("destination")?;
    let value = value.ok_or_else(|| DavError::BadRequest("the header Destination is missing".to_owned()))?;
    match places::place(destination_path(value)?, &request.caller) {
        Ok(Place::File(file)) => Ok(file),
        Ok(Place::Upload(_) | Place::Collection(_)) | Err(DavError::NotFound) => {
            Err(DavError::Forbidden("the destination is not one of your folders"))
        }
        Err(error) => Err(error),
    }
}

/// If `Overwrite` does not allow replacement, an existing entry at the destination is a failed precondition (RFC 4918 §9.8.5).
pub(super) fn refused(error: FileError) -> DavError {
    match error {
        FileError::Refused(FileRefusal::Exists) => {
            DavError::Precondition("there is already a file or folder of this name")
        }
        FileError::Refused(FileRefusal::IsFolder) => {
            DavError::Conflict("a file cannot replace a folder, nor a folder a file")
        }
        error => error.into(),
    }
}
