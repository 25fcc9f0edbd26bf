//! Renditions behind signed URLs: `/i/{image_id}/{rendition}.webp?exp=…&sig=…`.

use std::ops::Range;

use domain::Rendition;
use futures_util::TryStreamExt as _;
use headers::{ETag, HeaderMapExt as _, IfNoneMatch, IfRange};
use http::{HeaderName, HeaderValue, Method, StatusCode, header, request::Parts};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use library::{BlobError, RenditionError, ServedRendition};
use url::form_urlencoded;

use http_server::{body::{BodyError, ResponseBody, full}, reply::{Reply, WithHeader as _, empty, error, method_not_allowed, with_body}};

use crate::Api;

/// What a URL that was signed stands for.
struct Signed<'a> {
    image: &'a str,
    rendition: Rendition,
    seconds_left: i64,
}

pub(crate) async fn handle(api: &Api, request: &Parts) -> Reply {
    // Before anything else, so that nothing about images is learnt without a signature.
    let Some(signed) = verified(api, request) else {
        return error(
            StatusCode::FORBIDDEN,
            "this image URL is wrong or has expired; fetch the image again for fresh URLs",
        );
    };
    if request.method != Method::GET && request.method != Method::HEAD {
        return method_not_allowed("GET, HEAD");
    }
    match api.library.rendition(signed.image, signed.rendition).await {
        Ok(served) => respond(request, &signed, &served).await,
        Err(RenditionError::NoImage) => error(StatusCode::NOT_FOUND, "there is no image with this id"),
        Err(RenditionError::Failed(reason)) => {
            tracing::error!(image = signed.image, rendition = %signed.rendition, %reason, "a rendition was not made");
            error(StatusCode::INTERNAL_SERVER_ERROR, "the rendition could not be made from the photo")
        }
        Err(RenditionError::DecoderUnavailable(cause)) => {
            tracing::error!(%cause, "a rendition cannot be made now");
            error(StatusCode::SERVICE_UNAVAILABLE, "the image cannot be made now; retry after a wait")
                .with(header::RETRY_AFTER, HeaderValue::from_static("5"))
        }
        Err(RenditionError::Blob(cause)) => blob_failed(&cause),
        Err(RenditionError::Storage(cause)) => unavailable(&cause),
    }
}

/// What is missing from the store is so at the next try, too.
fn blob_failed(cause: &BlobError) -> Reply {
    if matches!(cause, BlobError::Missing { .. }) {
        tracing::error!(%cause, "a rendition could not be served");
        return error(StatusCode::INTERNAL_SERVER_ERROR, "the rendition's file is lost");
    }
    unavailable(cause)
}

fn unavailable(cause: &dyn std::fmt::Display) -> Reply {
    tracing::error!(%cause, "a rendition could not be served");
    error(StatusCode::SERVICE_UNAVAILABLE, "the image store is temporarily down; retry after a wait")
        .with(header::RETRY_AFTER, HeaderValue::from_static("5"))
}

/// `None` unless path and parameters stand exactly as they were signed, and the time is not up.
fn verified<'a>(api: &Api, request: &'a Parts) -> Option<Signed<'a>> {
    let (image, file) = request.uri.path().strip_prefix("/i/")?.split_once('/')?;
    let rendition = Rendition::from_name(file.strip_suffix(".webp")?)?;
    let query = request.uri.query()?;
    let exp = only(query, "exp")?;
    let expires_at_s: i64 = exp.parse().ok().filter(|seconds: &i64| seconds.to_string() == exp)?;
    let signature = only(query, "sig")?;
    if !api.signer.verify(image, rendition.name(), expires_at_s, &signature) {
        return None;
    }
    let left_ms = expires_at_s.checked_mul(1000)? - api.library.clock().now().millis();
    (left_ms > 0).then_some(Signed { image, rendition, seconds_left: left_ms / 1000 })
}

/// The value of a parameter that stands there once.
fn only(query: &str, name: &str) -> Option<String> {
    let mut values = form_urlencoded::parse(query.as_bytes()).filter(|(key, _)| key == name);
    let (_, value) = values.next()?;
    values.next().is_none().then(|| value.into_owned())
}

async fn respond(request: &Parts, signed: &Signed<'_>, served: &ServedRendition) -> Reply {
    let etag = format!("\"{}\"", served.hash());
    let Ok(tag) = etag.parse::<ETag>() else { return empty(StatusCode::INTERNAL_SERVER_ERROR) };
    let not_modified = request
        .headers
        .typed_get::<IfNoneMatch>()
        .is_some_and(|condition| !condition.precondition_passes(&tag));
    let reply = if not_modified {
        empty(StatusCode::NOT_MODIFIED)
    } else {
        match requested_range(request, &tag, served.bytes()) {
            RequestedRange::All => body_of(request, served, None).await,
            RequestedRange::Part(range) => body_of(request, served, Some(range)).await,
            RequestedRange::Unsatisfiable => {
                error(StatusCode::RANGE_NOT_SATISFIABLE, "the range lies beyond the image's end")
                    .with(header::CONTENT_RANGE, header_value(format!("bytes */{}", served.bytes())))
            }
        }
    };
    if reply.status().is_server_error() {
        return reply;
    }
    reply
        .with(header::ETAG, header_value(etag))
        .with(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"))
        .with(header::CACHE_CONTROL, header_value(format!("private, max-age={}", signed.seconds_left)))
        .with(
            HeaderName::from_static("cross-origin-resource-policy"),
            HeaderValue::from_static("cross-origin"),
        )
        .with(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"))
}

async fn body_of(request: &Parts, served: &ServedRendition, range: Option<Range<u64>>) -> Reply {
    let (status, bytes) = match &range {
        Some(range) => (StatusCode::PARTIAL_CONTENT, range.end - range.start),
        None => (StatusCode::OK, served.bytes()),
    };
    let content_range =
        range.as_ref().map(|range| format!("bytes {}-{}/{}", range.start, range.end - 1, served.bytes()));
    let body = if request.method == Method::HEAD {
        full("")
    } else {
        match streamed(served, range).await {
            Ok(body) => body,
            Err(cause) => return blob_failed(&cause),
        }
    };
    let reply = with_body(status, body)
        .with(header::CONTENT_TYPE, HeaderValue::from_static("image/webp"))
        .with(header::CONTENT_LENGTH, bytes.into());
    match content_range {
        Some(value) => reply.with(header::CONTENT_RANGE, header_value(value)),
        None => reply,
    }
}

async fn streamed(served: &ServedRendition, range: Option<Range<u64>>) -> Result<ResponseBody, BlobError> {
    let reader = served.open(range).await?;
    let frames = reader.into_stream().map_ok(Frame::data).map_err(|error| -> BodyError { error.into() });
    Ok(BodyExt::boxed_unsync(StreamBody::new(frames)))
}

#[derive(Debug, PartialEq, Eq)]
enum RequestedRange {
    All,
    Part(Range<u64>),
    Unsatisfiable,
}

/// The range that a GET asks for. Of several at once, or one that is malformed, the whole is served (RFC 9110, section
/// 14.1.2). Other methods have none (section 14.2).
fn requested_range(request: &Parts, tag: &ETag, bytes: u64) -> RequestedRange {
    let headers = &request.headers;
    if request.method != Method::GET {
        return RequestedRange::All;
    }
    let Some(wanted) = headers.get(header::RANGE).and_then(|value| value.to_str().ok()) else {
        return RequestedRange::All;
    };
    if headers.typed_get::<IfRange>().is_some_and(|condition| condition.is_modified(Some(tag), None)) {
        return RequestedRange::All;
    }
    match byte_range(wanted, bytes) {
        None => RequestedRange::All,
        Some(range) if range.start < range.end => RequestedRange::Part(range),
        Some(_) => RequestedRange::Unsatisfiable,
    }
}

/// The bytes that `bytes=a-b`, `bytes=a-` or `bytes=-n` stand for; an empty range when they lie beyond the end.
fn byte_range(wanted: &str, bytes: u64) -> Option<Range<u64>> {
    let number = |digits: &str| {
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().unwrap_or(u64::MAX))
    };
    let (first, last) = wanted.trim().strip_prefix("bytes=")?.trim().split_once('-')?;
    match (first.is_empty(), last.is_empty()) {
        (true, true) => None,
        (true, false) => Some(bytes.saturating_sub(number(last)?)..bytes),
        (false, true) => Some(number(first)?..bytes),
        (false, false) => {
            let (first, last) = (number(first)?, number(last)?);
            (first <= last).then(|| first..last.saturating_add(1).min(bytes))
        }
    }
}

/// Digits, hexadecimal digits and punctuation always make a header.
fn header_value(text: String) -> HeaderValue {
    HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static(""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        let tag: ETag = "\"a\"".parse().unwrap();
        let check = |range: &'static str, expect: RequestedRange| {
            let request = |method: Method| {
                let request = http::Request::builder().method(method).header(header::RANGE, range);
                request.body(()).unwrap().into_parts().0
            };
            assert_eq!(requested_range(&request(Method::GET), &tag, 100), expect, "{range}");
            assert_eq!(requested_range(&request(Method::HEAD), &tag, 100), RequestedRange::All, "{range}");
        };
        check("bytes=0-9", RequestedRange::Part(0..10));
        check("bytes=90-", RequestedRange::Part(90..100));
        check("bytes=-10", RequestedRange::Part(90..100));
        check("bytes=-1000", RequestedRange::Part(0..100));
        check("bytes=0-1000", RequestedRange::Part(0..100));
        check("bytes=100-", RequestedRange::Unsatisfiable);
        check("bytes=-0", RequestedRange::Unsatisfiable);
        check("bytes=0-1,5-6", RequestedRange::All);
        check("items=0-1", RequestedRange::All);
        check("bytes=9-1", RequestedRange::All);
        check("bytes=99999999999999999999999-", RequestedRange::Unsatisfiable);
        check("bytes=-", RequestedRange::All);
        check("bytes=a-b", RequestedRange::All);
        check("bytes=100-200", RequestedRange::Unsatisfiable);
    }
}
