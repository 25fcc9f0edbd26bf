//! PROPFIND (RFC 4918 §9.1).

use bytes::Bytes;
use dav_protocol::{XmlWriter, bodies::PropFind, headers::Depth};
use domain::FilePath;
use futures_util::stream;
use http_server::{
    body::{RequestBody, streamed},
    reply::Reply,
};
use library::FileListing;

use super::{
    DavError, DavRequest,
    multistatus::{self, ROOT},
    places::FilePlace,
    properties::{Context, Selection},
    request::xml_body,
};

/// The approximate length of a part of a streamed response, in bytes.
const CHUNK_BYTES: usize = 64 << 10;

/// Lists a file or folder. All entries are loaded before the status is sent: an incomplete list would look as if files
/// had been deleted.
pub(super) async fn prop_find(
    request: &DavRequest<'_>,
    place: FilePlace,
    body: RequestBody,
) -> Result<Reply, DavError> {
    let has_members = lists_members(request)?;
    let selection = Selection::of(&PropFind::parse(&xml_body(body).await?)?);
    let (library, caller) = (request.library(), &request.caller);
    let listing = if has_members {
        library.list_files(caller, &place.path).await?
    } else {
        let entry = library.file(caller, &place.path).await?;
        entry.map(|entry| FileListing { entry, members: Vec::new() })
    };
    let listing = listing.ok_or(DavError::NotFound)?;
    list(request, place, listing, selection).await
}

/// The response for a file or folder with its members.
pub(super) async fn list(
    request: &DavRequest<'_>,
    place: FilePlace,
    listing: FileListing,
    selection: Selection,
) -> Result<Reply, DavError> {
    let context = Context::load(request, &place.root, &selection).await?;
    let pages = Pages { listing, path: place.path, context, selection, written: 0 };
    Ok(multistatus::reply(streamed(stream::iter(pages))))
}

/// Whether the members of a folder are listed, too. Without `Depth` they are: RFC 4918 would mean infinity, but the
/// clients that leave the header out expect the folder, not a refusal.
pub(super) fn lists_members(request: &DavRequest<'_>) -> Result<bool, DavError> {
    match request.depth()? {
        Some(Depth::Zero) => Ok(false),
        Some(Depth::One) | None => Ok(true),
        Some(Depth::Infinity) => Err(DavError::InfiniteDepth),
    }
}

/// Writes the response in parts.
struct Pages {
    listing: FileListing,
    path: FilePath,
    context: Context,
    selection: Selection,
    /// How many entries were written, the folder itself included.
    written: usize,
}

impl Pages {
    /// Writes the next entry; `false` if there is none.
    fn write_next(&mut self, xml: &mut XmlWriter) -> bool {
        let index = self.written;
        self.written += 1;
        if index == 0 {
            self.selection.write(&self.listing.entry, &self.path, &self.context, xml);
            return true;
        }
        let Some(member) = self.listing.members.get(index - 1) else { return false };
        let names = self.path.names().iter().chain(&member.name).cloned().collect();
        if let Ok(path) = FilePath::new(names) {
            self.selection.write(member, &path, &self.context, xml);
        }
        true
    }
}

impl Iterator for Pages {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        if self.written > self.listing.members.len() + 1 {
            return None;
        }
        let mut xml = if self.written == 0 { XmlWriter::document(ROOT) } else { XmlWriter::default() };
        while xml.len() < CHUNK_BYTES {
            if !self.write_next(&mut xml) {
                xml.close(ROOT);
                break;
            }
        }
        Some(xml.take().into())
    }
}
