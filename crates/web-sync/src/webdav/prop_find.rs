//! PROPFIND (RFC 4918 §9.1).

use std::iter;

use bytes::Bytes;
use dav_protocol::{XmlWriter, bodies::PropFind, headers::Depth};
use futures_util::stream;
use http_server::{body::RequestBody, reply::Reply, response_body::streamed};
use library::{FileError, FileListing, FileRefusal, LocatedFile};

use super::{
    DavError, DavRequest,
    multistatus::{self, ROOT},
    places::FilePlace,
    properties::{Context, Selection},
    request::xml_body,
};

/// The approximate length of a part of a streamed response, in bytes.
const CHUNK_BYTES: usize = 64 << 10;
/// Upper bound on the files and folders of a response to a request with infinite depth.
const MAX_TREE_FILES: usize = 10_000;

/// Lists a file or folder. All entries are loaded before the status is sent: an incomplete list would look as if files
/// had been deleted.
pub(super) async fn prop_find(
    request: &DavRequest<'_>,
    place: FilePlace,
    body: RequestBody,
) -> Result<Reply, DavError> {
    let depth = request.depth()?;
    let selection = Selection::of(&PropFind::parse(&xml_body(body).await?)?);
    let (library, caller) = (request.library(), &request.caller);
    let listing = match depth {
        Some(Depth::Infinity) => {
            let tree = library.ingest.file_tree(caller, &place.path, MAX_TREE_FILES).await;
            let tree = tree.map_err(too_deep)?.ok_or(DavError::NotFound)?;
            let context = Context::load(request, &place.root, &selection).await?;
            return Ok(list(tree.into_iter(), context, selection));
        }
        Some(Depth::One) | None => library.ingest.list_files(caller, &place.path).await?,
        Some(Depth::Zero) => {
            let entry = library.ingest.file(caller, &place.path).await?;
            entry.map(|entry| FileListing { entry, members: Vec::new() })
        }
    };
    list_folder(request, place, listing.ok_or(DavError::NotFound)?, selection).await
}

fn too_deep(error: FileError) -> DavError {
    match error {
        FileError::Refused(FileRefusal::TooMany) => DavError::InfiniteDepth,
        error => error.into(),
    }
}

/// The response for a file or folder with its members.
pub(super) async fn list_folder(
    request: &DavRequest<'_>,
    place: FilePlace,
    listing: FileListing,
    selection: Selection,
) -> Result<Reply, DavError> {
    let context = Context::load(request, &place.root, &selection).await?;
    let FileListing { entry, members } = listing;
    let folder = place.path.clone();
    let members = members.into_iter().filter_map(move |entry| LocatedFile::in_folder(&folder, entry));
    Ok(list(iter::once(LocatedFile { path: place.path, entry }).chain(members), context, selection))
}

/// The response for these files and folders.
pub(super) fn list(
    files: impl Iterator<Item = LocatedFile> + Send + 'static,
    context: Context,
    selection: Selection,
) -> Reply {
    let pages = Pages { files, context, selection, state: State::New };
    multistatus::reply(streamed(stream::iter(pages)))
}

/// Whether the members of a folder are listed, too. Without `Depth`, they are listed. RFC 4918 means infinity in this
/// case, but the clients that omit the header expect the listing of a folder.
pub(super) fn lists_members(request: &DavRequest<'_>) -> Result<bool, DavError> {
    match request.depth()? {
        Some(Depth::Zero) => Ok(false),
        Some(Depth::One) | None => Ok(true),
        Some(Depth::Infinity) => Err(DavError::InfiniteDepth),
    }
}

/// Writes the response in parts.
struct Pages<I> {
    files: I,
    context: Context,
    selection: Selection,
    state: State,
}

/// How much of the response was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Begun,
    Ended,
}

impl<I: Iterator<Item = LocatedFile>> Iterator for Pages<I> {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        let mut xml = match self.state {
            State::New => XmlWriter::document(ROOT),
            State::Begun => XmlWriter::default(),
            State::Ended => return None,
        };
        self.state = State::Begun;
        while xml.len() < CHUNK_BYTES {
            let Some(file) = self.files.next() else {
                xml.close(ROOT);
                self.state = State::Ended;
                break;
            };
            self.selection.write(&file.entry, &file.path, &self.context, &mut xml);
        }
        Some(xml.take().into())
    }
}
