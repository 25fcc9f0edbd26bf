//! REPORT.

use dav_protocol::bodies::{Report, parse_report};
use http_server::{body::RequestBody, reply::Reply};

use super::{
    DavError, DavRequest, multistatus::small_reply, places::FilePlace, properties::flag, request::xml_body,
    search,
};

/// Lists the favourites below a folder. Other filters find nothing.
pub(super) async fn report(
    request: &DavRequest<'_>,
    place: &FilePlace,
    body: RequestBody,
) -> Result<Reply, DavError> {
    match parse_report(&xml_body(body).await?)? {
        Report::FilterFiles { select, favorite } if favorite.as_deref().and_then(flag) == Some(true) => {
            search::favorites(request, place, &select).await
        }
        report => {
            let reply = nothing_found(&report)?;
            request.library().ingest.file(&request.caller, &place.path).await?.ok_or(DavError::NotFound)?;
            Ok(reply)
        }
    }
}

/// Answers a report about a collection above the files, which has no favourites.
pub(super) async fn in_collection(body: RequestBody) -> Result<Reply, DavError> {
    nothing_found(&parse_report(&xml_body(body).await?)?)
}

fn nothing_found(report: &Report) -> Result<Reply, DavError> {
    match report {
        Report::FilterFiles { .. } => Ok(small_reply(|_| {})),
        Report::Other => Err(DavError::UnsupportedReport),
    }
}
