//! Chunked uploads of Nextcloud's clients, version 2: MKCOL of a folder, PUT of chunks, MOVE of `.file` to the file.

use dav_protocol::{bodies::PropFind, headers::oc_checksum};
use domain::{FileName, Timestamp};
use http::StatusCode;
use http_server::{
    body::RequestBody,
    reply::{Reply, empty},
};
use library::{
    AssembleError, Chunk, FileCondition, FileContent, FileEntry, FileId, FileKind, FileListing, FileTimes,
    FileWritten, PutFile, UploadProtocol, UploadState,
};

use super::{
    DavError, DavRequest, conditions, get,
    make_collection::require_no_body,
    places::FilePlace,
    prop_find::{list_folder, lists_members},
    properties::Selection,
    put::{body_checksums, body_stream, checksums, written_reply},
    request::xml_body,
    transfer::{destination, refused},
};

/// The name of the file that is assembled from the chunks.
const WHOLE: &str = ".file";

/// Handles a request for an upload or a chunk.
pub(super) async fn handle(
    request: &DavRequest<'_>,
    place: FilePlace,
    body: RequestBody,
) -> Result<Reply, DavError> {
    let method = request.parts.method.as_str();
    let mut names = place.path.names().iter();
    let (Some(upload), chunk) = (names.next().map(FileName::as_str), names.next()) else {
        return Err(DavError::NotFound);
    };
    match (method, chunk) {
        ("MKCOL", None) => begin(request, upload, body).await,
        ("DELETE", None) => cancel(request, upload).await,
        ("GET" | "HEAD", None) => state(request, upload).await.map(|_| get::folder_hint()),
        ("PROPFIND", _) => prop_find(request, place, body).await,
        ("PUT", Some(chunk)) if chunk.as_str() != WHOLE => put_chunk(request, upload, chunk, body).await,
        // The desktop client deletes chunks that do not continue the chunks before them.
        ("DELETE", Some(chunk)) => delete_chunk(request, upload, chunk).await,
        ("MOVE", Some(chunk)) if chunk.as_str() == WHOLE => assemble(request, upload).await,
        _ => Err(DavError::MethodNotAllowed),
    }
}

async fn state(request: &DavRequest<'_>, name: &str) -> Result<UploadState, DavError> {
    let upload = request.library().ingest.upload(&request.caller, UploadProtocol::Chunked, name).await?;
    upload.ok_or(DavError::NotFound)
}

/// An upload that is not finished.
async fn unfinished(request: &DavRequest<'_>, name: &str) -> Result<UploadState, DavError> {
    let upload = state(request, name).await?;
    if upload.result.is_some() { Err(DavError::NotFound) } else { Ok(upload) }
}

async fn begin(request: &DavRequest<'_>, name: &str, body: RequestBody) -> Result<Reply, DavError> {
    require_no_body(body).await?;
    let total_bytes = request.byte_count("oc-total-length");
    let (library, caller) = (request.library(), &request.caller);
    library.ingest.begin_upload(caller, UploadProtocol::Chunked, name, total_bytes, "").await?;
    Ok(empty(StatusCode::CREATED))
}

async fn cancel(request: &DavRequest<'_>, name: &str) -> Result<Reply, DavError> {
    let upload = unfinished(request, name).await?;
    request.library().ingest.cancel_upload(&upload).await?;
    Ok(empty(StatusCode::NO_CONTENT))
}

async fn put_chunk(
    request: &DavRequest<'_>,
    upload: &str,
    chunk: &FileName,
    body: RequestBody,
) -> Result<Reply, DavError> {
    let number = chunk_number(chunk.as_str())
        .ok_or_else(|| DavError::BadRequest("the name of a chunk must begin with its number".to_owned()))?;
    let upload = unfinished(request, upload).await?;
    let checksums = body_checksums(request)?;
    let chunk = Chunk { number, name: chunk.to_string(), bytes: body.announced_bytes(), checksums };
    let stream = body_stream(request, body)?;
    request.library().ingest.put_chunk(request.caller.clone(), upload, chunk, stream).await?;
    Ok(empty(StatusCode::CREATED))
}

async fn delete_chunk(request: &DavRequest<'_>, upload: &str, chunk: &FileName) -> Result<Reply, DavError> {
    let upload = unfinished(request, upload).await?;
    let number = chunk_number(chunk.as_str()).ok_or(DavError::NotFound)?;
    if request.library().ingest.delete_chunk(&upload, number).await? {
        Ok(empty(StatusCode::NO_CONTENT))
    } else {
        Err(DavError::NotFound)
    }
}

/// The number at the start of a chunk's name: `00001`, `1`, or `000000000000000-000000010485760` of rclone.
fn chunk_number(name: &str) -> Option<u64> {
    let end = name.find(|c: char| !c.is_ascii_digit()).unwrap_or(name.len());
    name.get(..end)?.parse().ok()
}

/// Lists an upload and its chunks, from which an app learns where to resume.
async fn prop_find(request: &DavRequest<'_>, place: FilePlace, body: RequestBody) -> Result<Reply, DavError> {
    let has_members = lists_members(request)?;
    let selection = Selection::of(&PropFind::parse(&xml_body(body).await?)?);
    let names = place.path.names();
    let upload = unfinished(request, names.first().map_or("", FileName::as_str)).await?;
    let chunks: Vec<FileEntry> = upload
        .parts
        .iter()
        .filter_map(|part| {
            let name = FileName::parse(&part.name).ok()?;
            let kind = FileKind::File(FileContent::Junk);
            Some(entry(upload.id.0, Some(name), kind, part.bytes, part.received_at))
        })
        .collect();
    let listing = match names.get(1) {
        Some(chunk) => {
            let entry = chunks.into_iter().find(|entry| entry.name.as_ref() == Some(chunk));
            FileListing { entry: entry.ok_or(DavError::NotFound)?, members: Vec::new() }
        }
        None => FileListing {
            entry: entry(
                upload.id.0,
                names.first().cloned(),
                FileKind::Folder,
                upload.received_bytes(),
                upload.touched_at,
            ),
            members: if has_members { chunks } else { Vec::new() },
        },
    };
    list_folder(request, place, listing, selection).await
}

/// An upload or a chunk as an entry of a listing.
fn entry(id: i64, name: Option<FileName>, kind: FileKind, bytes: u64, received_at: Timestamp) -> FileEntry {
    let version = received_at.millis().unsigned_abs();
    FileEntry {
        id: FileId(id),
        name,
        kind,
        bytes,
        version,
        times: FileTimes::default(),
        received_at,
        sha1: None,
    }
}

/// Makes the file from the chunks, in the order of their numbers. If the response to an earlier request was lost, the
/// file is at the destination already.
async fn assemble(request: &DavRequest<'_>, name: &str) -> Result<Reply, DavError> {
    let to = destination(request)?;
    let (library, caller) = (request.library(), &request.caller);
    let upload = library.ingest.lock_upload(caller, UploadProtocol::Chunked, name).await?;
    if let Some(result) = &upload.state.result {
        let entry =
            library.ingest.file(caller, &to.path).await?.filter(|entry| entry.id.0.to_string() == *result);
        let entry = entry.ok_or(DavError::NotFound)?;
        return Ok(written_reply(request, &FileWritten { entry, is_new: false }, request.times()));
    }
    let file = whole_file(request, &to, &upload.state).await?;
    let written =
        library.ingest.assemble(caller.clone(), upload, file).await.map_err(|error| match error {
            AssembleError::File(error) => refused(error),
            AssembleError::Upload(error) => error.into(),
        })?;
    Ok(written_reply(request, &written, request.times()))
}

async fn whole_file(
    request: &DavRequest<'_>,
    to: &FilePlace,
    upload: &UploadState,
) -> Result<PutFile, DavError> {
    let received = upload.received_bytes();
    let expected = request.byte_count("oc-total-length").or(upload.total_bytes);
    if received == 0 || expected.is_some_and(|expected| expected != received) {
        return Err(DavError::BadRequest("chunks are missing; send them again".to_owned()));
    }
    // The conditions concern the file, not the upload.
    let conditions = conditions::check(request, &to.path).await?;
    let condition = match conditions.on(&to.path) {
        FileCondition::Any if !request.overwrite()? => FileCondition::Absent,
        condition => condition,
    };
    Ok(PutFile {
        path: to.path.clone(),
        bytes: Some(received),
        // The other headers concern the body of this request, which is empty.
        checksums: checksums(request, "oc-checksum", oc_checksum)?,
        times: request.times(),
        create_folders: request.creates_folders()?,
        condition,
        lock_tokens: conditions.lock_tokens,
        parts_bytes: received,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_ordered_by_the_number_at_the_start_of_their_name() {
        for (name, expect) in [
            ("00001", Some(1)),
            ("10", Some(10)),
            ("0", Some(0)),
            ("000000010485760-000000020971520", Some(10_485_760)),
            ("0000000000000003", Some(3)),
            ("a1", None),
            (".file", None),
            ("99999999999999999999", None),
        ] {
            assert_eq!(chunk_number(name), expect, "{name}");
        }
    }
}
