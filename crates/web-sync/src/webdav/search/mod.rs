//! SEARCH (RFC 5323), with which Nextcloud's apps fill their media tab and look files up by id.

mod bounds;
mod filter;
mod order;
mod property;
mod scope;
#[cfg(test)]
mod tests;

use dav_protocol::{
    bodies::{BasicSearch, PropFind},
    headers::Depth,
};
use domain::{FilePath, Timestamp};
use http_server::{body::RequestBody, reply::Reply};
use library::{FileSearch, LocatedFile, SearchDepth};

use super::{
    DavError, DavRequest,
    places::{self, FilePlace},
    prop_find,
    properties::{Context, Selection, is_favorite},
    request::xml_body,
};
use bounds::Bounds;
use filter::Filter;
use order::Order;

/// Lists the files that a search finds, in the form of a PROPFIND.
pub(super) async fn search(request: &DavRequest<'_>, body: RequestBody) -> Result<Reply, DavError> {
    let query = BasicSearch::parse(&xml_body(body).await?)?;
    let folder = scope::path(&query.href, &request.caller)?;
    let found = find(request, folder, &query).await?.ok_or(DavError::SearchScope)?;
    let selection = Selection::of(&query.select);
    let context = Context::load(request, &places::files_root(&request.caller), &selection).await?;
    Ok(prop_find::list(found.into_iter(), context, selection))
}

/// Lists the favourites below a folder, the newest first, in the form of a PROPFIND.
pub(super) async fn favorites(
    request: &DavRequest<'_>,
    place: &FilePlace,
    select: &PropFind,
) -> Result<Reply, DavError> {
    let order = Order::new(&[]);
    let search = FileSearch {
        folder: place.path.clone(),
        depth: SearchDepth::Below,
        id: None,
        modified: Timestamp::MIN..=Timestamp::MAX,
        matches: &|file| is_favorite(&file.entry),
        order: &|a, b| order.compare(a, b),
        is_newest_first: order.is_newest_first(),
        skip: 0,
        limit: usize::MAX,
    };
    let found = request.library().ingest.search_files(&request.caller, &search).await?;
    let found = found.ok_or(DavError::NotFound)?;
    let selection = Selection::of(select);
    let context = Context::load(request, &place.root, &selection).await?;
    Ok(prop_find::list(found.into_iter(), context, selection))
}

async fn find(
    request: &DavRequest<'_>,
    folder: FilePath,
    query: &BasicSearch,
) -> Result<Option<Vec<LocatedFile>>, DavError> {
    let condition = query.condition.as_ref();
    let filter = condition.map(Filter::new);
    let bounds = condition.map_or(Bounds::ALL, Bounds::of);
    let order = Order::new(&query.order);
    let search = FileSearch {
        folder,
        depth: match query.depth {
            Depth::Zero => SearchDepth::Itself,
            Depth::One => SearchDepth::Members,
            Depth::Infinity => SearchDepth::Below,
        },
        id: bounds.id,
        modified: bounds.since..=bounds.until,
        matches: &|file| filter.as_ref().is_none_or(|filter| filter.matches(file)),
        order: &|a, b| order.compare(a, b),
        is_newest_first: order.is_newest_first(),
        skip: count(query.skip),
        limit: count(query.limit.unwrap_or(u64::MAX)),
    };
    Ok(request.library().ingest.search_files(&request.caller, &search).await?)
}

fn count(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
