//! PROPFIND (RFC 4918 §9.1).

use bytes::Bytes;
use dav_protocol::{XmlWriter, bodies::PropFind, headers::Depth};
use domain::FilePath;
use futures_util::stream;
use http_server::{
    body::{RequestBody, streamed},
    reply::Reply,
};
use library::{FileEntry, FileError, FileListing, FileRefusal};

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

/// The entries of a response, the requested one first.
type Entries = Box<dyn Iterator<Item = (FilePath, FileEntry)> + Send>;

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
            let tree =
                library.file_tree(caller, &place.path, MAX_TREE_FILES).await.map_err(
                    |error| match error {
                        FileError::Refused(FileRefusal::TooMany) => DavError::InfiniteDepth,
                        error => error.into(),
                    },
                )?;
            let entries: Entries = Box::new(tree.ok_or(DavError::NotFound)?.into_iter());
            return reply(request, &place.root, entries, selection).await;
        }
        Some(Depth::One) | None => library.list_files(caller, &place.path).await?,
        Some(Depth::Zero) => {
            let entry = library.file(caller, &place.path).await?;
            entry.map(|entry| FileListing { entry, members: Vec::new() })
        }
    };
    list(request, place, listing.ok_or(DavError::NotFound)?, selection).await
}

/// The response for a file or folder with its members.
pub(super) async fn list(
    request: &DavRequest<'_>,
    place: FilePlace,
    listing: FileListing,
    selection: Selection,
) -> Result<Reply, DavError> {
    let folder = place.path.clone();
    let members = listing.members.into_iter().filter_map(move |member| {
        let names = folder.names().iter().chain(&member.name).cloned().collect();
        Some((FilePath::new(names).ok()?, member))
    });
    let entries = Box::new(std::iter::once((place.path, listing.entry)).chain(members));
    reply(request, &place.root, entries, selection).await
}

async fn reply(
    request: &DavRequest<'_>,
    root: &str,
    entries: Entries,
    selection: Selection,
) -> Result<Reply, DavError> {
    let context = Context::load(request, root, &selection).await?;
    let pages = Pages { entries: Some(entries), context, selection, is_begun: false };
    Ok(multistatus::reply(streamed(stream::iter(pages))))
}

/// Whether the members of a folder are listed, too. Without `Depth` they are: RFC 4918 would mean infinity, but the
/// clients that leave the header out expect the folder.
pub(super) fn lists_members(request: &DavRequest<'_>) -> Result<bool, DavError> {
    match request.depth()? {
        Some(Depth::Zero) => Ok(false),
        Some(Depth::One) | None => Ok(true),
        Some(Depth::Infinity) => Err(DavError::InfiniteDepth),
    }
}

/// Writes the response in parts.
struct Pages {
    /// `None` at the end of the response.
    entries: Option<Entries>,
    context: Context,
    selection: Selection,
    is_begun: bool,
}

impl Iterator for Pages {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        let entries = self.entries.as_mut()?;
        let mut xml = if self.is_begun { XmlWriter::default() } else { XmlWriter::document(ROOT) };
        self.is_begun = true;
        while xml.len() < CHUNK_BYTES {
            let Some((path, entry)) = entries.next() else {
                xml.close(ROOT);
                self.entries = None;
                break;
            };
            self.selection.write(&entry, &path, &self.context, &mut xml);
        }
        Some(xml.take().into())
    }
}
