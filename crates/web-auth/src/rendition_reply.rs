use domain::Rendition;
use http::{HeaderValue, StatusCode, header, request::Parts};
use http_server::{
    file::{File, serve_file},
    reply::{Reply, WithHeader as _, error, retry_after},
    response_body::{ResponseBody, full, try_streamed},
};
use library::{BlobError, RenditionContent, RenditionError, ServedRendition};

/// Serves a rendition of an image to GET or HEAD, with validators and ranges, or the error as JSON. The caller sets how long a
/// success may be cached.
pub async fn rendition_reply(
    request: &Parts,
    image: &str,
    rendition: Rendition,
    found: Result<ServedRendition, RenditionError>,
) -> Reply {
    match found {
        Ok(served) => serve(request, &served).await,
        Err(RenditionError::NoImage) => error(StatusCode::NOT_FOUND, "there is no image with this id"),
        Err(RenditionError::Failed(reason)) => {
            tracing::error!(image, %rendition, %reason, "a rendition could not be created");
            error(StatusCode::INTERNAL_SERVER_ERROR, "the rendition could not be created from the photo")
        }
        Err(RenditionError::DecoderUnavailable(cause)) => {
            tracing::error!(%cause, "a rendition cannot be created now");
            let message = "the rendition cannot be created now; try again later";
            retry_after(error(StatusCode::SERVICE_UNAVAILABLE, message), 5)
        }
        Err(RenditionError::Blob(cause)) => blob_failed(&cause),
        Err(RenditionError::Storage(cause)) => unavailable(&cause),
    }
}

async fn serve(request: &Parts, served: &ServedRendition) -> Reply {
    match rendition_file(request, served).await {
        Ok(reply) => reply.with(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        Err(cause) => blob_failed(&cause),
    }
}

/// Serves the bytes of a rendition to GET or HEAD, with validators and ranges.
pub async fn rendition_file(request: &Parts, served: &ServedRendition) -> Result<Reply, BlobError> {
    let tag = served.hash().to_string();
    let file = File { tag: &tag, bytes: served.bytes(), content_type: "image/webp" };
    serve_file(request, file, async |range| Ok(body(served.content(range).await?))).await
}

fn body(content: RenditionContent) -> ResponseBody {
    match content {
        RenditionContent::InMemory(bytes) => full(bytes),
        RenditionContent::Reader(reader) => try_streamed(reader.into_stream()),
    }
}

/// A missing file is a permanent error; anything else is temporary.
fn blob_failed(cause: &BlobError) -> Reply {
    if matches!(cause, BlobError::Missing { .. }) {
        tracing::error!(%cause, "a rendition could not be served");
        return error(StatusCode::INTERNAL_SERVER_ERROR, "the file of the rendition is missing");
    }
    unavailable(cause)
}

fn unavailable(cause: &dyn std::fmt::Display) -> Reply {
    tracing::error!(%cause, "a rendition could not be served");
    let message = "the image store is temporarily unavailable; try again later";
    retry_after(error(StatusCode::SERVICE_UNAVAILABLE, message), 5)
}
