//! REPORT.

use dav_protocol::bodies::{Report, parse_report};
use http_server::{body::RequestBody, reply::Reply};

use super::{DavError, DavRequest, multistatus::small_reply, places::FilePlace, request::xml_body};

/// Lists the favourites below a folder: there are none, because files have no favourites.
pub(super) async fn report(
    request: &DavRequest<'_>,
    place: &FilePlace,
    body: RequestBody,
) -> Result<Reply, DavError> {
    let reply = in_collection(body).await?;
    request.library().ingest.file(&request.caller, &place.path).await?.ok_or(DavError::NotFound)?;
    Ok(reply)
}

/// Lists the favourites in a collection above the files.
pub(super) async fn in_collection(body: RequestBody) -> Result<Reply, DavError> {
    match parse_report(&xml_body(body).await?)? {
        Report::FilterFiles => Ok(small_reply(|_| {})),
        Report::Other => Err(DavError::UnsupportedReport),
    }
}
