//! Renditions behind signed URLs: `/i/{image_id}/{rendition}.webp?exp=…&sig=…`.

use std::ops::Range;

use domain::Rendition;
use http::{HeaderName, HeaderValue, Method, StatusCode, header, request::Parts};
use library::{BlobError, RenditionError, ServedRendition};
use url::form_urlencoded;

use http_server::{
    body::{ResponseBody, try_streamed},
    file::{File, serve_file},
    reply::{Reply, WithHeader as _, error, method_not_allowed, retry_after},
};

use crate::Api;

/// The path prefix of signed URLs.
pub(crate) const PREFIX: &str = "/i/";

/// A signed URL that is valid now.
struct SignedUrl<'a> {
    image: &'a str,
    rendition: Rendition,
    seconds_left: i64,
}

pub(crate) async fn handle(api: &Api, request: &Parts) -> Reply {
    // The first check, so that a request without a signature learns nothing about images.
    let Some(signed) = verify(api, request) else {
        return error(
            StatusCode::FORBIDDEN,
            "this image URL is invalid or has expired; get the image again for a new URL",
        );
    };
    if request.method != Method::GET && request.method != Method::HEAD {
        return method_not_allowed("GET, HEAD");
    }
    match api.library.rendition(signed.image, signed.rendition).await {
        Ok(served) => respond(request, &signed, &served).await,
        Err(RenditionError::NoImage) => error(StatusCode::NOT_FOUND, "there is no image with this id"),
        Err(RenditionError::Failed(reason)) => {
            tracing::error!(image = signed.image, rendition = %signed.rendition, %reason, "a rendition could not be created");
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

/// Verifies signature and expiry. The path and each parameter must be spelled exactly as they were signed.
fn verify<'a>(api: &Api, request: &'a Parts) -> Option<SignedUrl<'a>> {
    let (image, file) = request.uri.path().strip_prefix(PREFIX)?.split_once('/')?;
    let rendition = Rendition::from_name(file.strip_suffix(".webp")?)?;
    let query = request.uri.query()?;
    let exp = single(query, "exp")?;
    let expires_at_s: i64 = exp.parse().ok().filter(|seconds: &i64| seconds.to_string() == exp)?;
    let signature = single(query, "sig")?;
    if !api.signer.verify(image, rendition.name(), expires_at_s, &signature) {
        return None;
    }
    let left_ms = expires_at_s.checked_mul(1000)? - api.library.clock().now().millis();
    (left_ms > 0).then_some(SignedUrl { image, rendition, seconds_left: left_ms / 1000 })
}

/// The value of a parameter that occurs once.
fn single(query: &str, name: &str) -> Option<String> {
    let mut values = form_urlencoded::parse(query.as_bytes()).filter(|(key, _)| key == name);
    let (_, value) = values.next()?;
    values.next().is_none().then(|| value.into_owned())
}

async fn respond(request: &Parts, signed: &SignedUrl<'_>, served: &ServedRendition) -> Reply {
    let tag = served.hash().to_string();
    let file = File { tag: &tag, bytes: served.bytes(), content_type: "image/webp" };
    let reply = match serve_file(request, file, async |range| open(served, range).await).await {
        Ok(reply) if !reply.status().is_server_error() => reply,
        Ok(reply) => return reply,
        Err(cause) => return blob_failed(&cause),
    };
    // Digits are always a valid header value.
    let max_age = HeaderValue::try_from(format!("private, max-age={}", signed.seconds_left))
        .unwrap_or(HeaderValue::from_static("no-store"));
    reply
        .with(header::CACHE_CONTROL, max_age)
        .with(
            HeaderName::from_static("cross-origin-resource-policy"),
            HeaderValue::from_static("cross-origin"),
        )
        .with(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"))
}

async fn open(served: &ServedRendition, range: Option<Range<u64>>) -> Result<ResponseBody, BlobError> {
    Ok(try_streamed(served.open(range).await?.into_stream()))
}
