//! `/index.php/core/preview?fileId=…&x=…&y=…`: a rendition of a synced photo.

use domain::Rendition;
use http::{HeaderValue, StatusCode, header, request::Parts};
use http_server::{
    Query,
    reply::{Reply, WithHeader as _, empty},
};
use library::{BlobError, Caller, FileId, RenditionError, ServedRendition};
use web_auth::rendition_file;

use crate::{Sync, authentication, replies};

/// How long apps may show a preview without asking again. A deleted photo leaves their listings earlier.
const CACHE_CONTROL: HeaderValue = HeaderValue::from_static("private, max-age=86400");

/// The preview of the photo with a file id. 404 while the photo is not indexed, and when it is deleted or outside the free
/// window.
pub(super) async fn preview(sync: &Sync, parts: &Parts) -> Reply {
    let caller = match authentication::caller(sync, &parts.headers).await {
        Ok(caller) => caller,
        Err(reply) => return reply,
    };
    let query = Query::parse(parts.uri.query());
    let Some(id) = query.get("fileId").and_then(|id| id.parse().ok()).map(FileId) else {
        return empty(StatusCode::NOT_FOUND);
    };
    let rendition = Rendition::for_side(side(&query, "x").max(side(&query, "y")));
    match rendition_of(sync, &caller, id, rendition).await {
        Ok(Some(served)) => respond(parts, &served).await,
        Ok(None) => empty(StatusCode::NOT_FOUND),
        Err(error) => failed(&error),
    }
}

/// A length in pixels. An app sends a negative number for the original size, and no number for any size.
fn side(query: &Query<'_>, name: &str) -> u32 {
    let number = query.get(name).and_then(|text| text.parse::<f64>().ok()).unwrap_or(0.0);
    if number < 0.0 {
        return u32::MAX;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the cast saturates, and NaN becomes 0"
    )]
    let rounded = number.ceil() as u32;
    rounded
}

async fn rendition_of(
    sync: &Sync,
    caller: &Caller,
    id: FileId,
    rendition: Rendition,
) -> Result<Option<ServedRendition>, RenditionError> {
    let image = sync.library.ingest.image_of_file(caller, id).await?;
    let Some(image) = image.filter(|image| image.is_live) else { return Ok(None) };
    match sync.library.catalogue.rendition(image.id.as_str(), rendition).await {
        Ok(served) => Ok(Some(served)),
        Err(RenditionError::NoImage | RenditionError::Failed(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

async fn respond(parts: &Parts, served: &ServedRendition) -> Reply {
    match rendition_file(parts, served).await {
        Ok(reply) => reply.with(header::CACHE_CONTROL, CACHE_CONTROL),
        Err(error) => failed(&RenditionError::Blob(error)),
    }
}

/// A lost rendition is missing for good; anything else is temporary.
fn failed(error: &RenditionError) -> Reply {
    if matches!(error, RenditionError::Blob(BlobError::Missing { .. })) {
        tracing::error!(%error, "a preview could not be served");
        return empty(StatusCode::NOT_FOUND);
    }
    replies::unavailable(error)
}
