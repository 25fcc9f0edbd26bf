//! Replies that serve a file: validators, conditional requests and ranges.

use std::ops::Range;

use headers::{ETag, HeaderMapExt as _, IfNoneMatch, IfRange};
use http::{HeaderValue, Method, StatusCode, header, request::Parts};

use crate::{
    reply::{Reply, WithHeader as _, empty, error, with_body},
    response_body::{ResponseBody, full},
};

/// A file of known length that never changes under its tag.
#[derive(Debug, Clone, Copy)]
pub struct File<'a> {
    /// The entity tag without quotes, such as a content hash.
    pub tag: &'a str,
    /// The length of the whole file.
    pub bytes: u64,
    /// The value of `Content-Type`.
    pub content_type: &'static str,
}

/// Serves a file to GET or HEAD: 200, 206 for a range, 304 when `If-None-Match` names the tag, 416 for a range beyond the
/// end. `open` is called for the body of a GET only, with the range to read.
///
/// # Errors
/// The error of `open`.
pub async fn serve_file<E>(
    request: &Parts,
    file: File<'_>,
    open: impl AsyncFnOnce(Option<Range<u64>>) -> Result<ResponseBody, E>,
) -> Result<Reply, E> {
    let etag = format!("\"{}\"", file.tag);
    let Ok(tag) = etag.parse::<ETag>() else { return Ok(empty(StatusCode::INTERNAL_SERVER_ERROR)) };
    let not_modified = request
        .headers
        .typed_get::<IfNoneMatch>()
        .is_some_and(|condition| !condition.precondition_passes(&tag));
    let reply = if not_modified {
        empty(StatusCode::NOT_MODIFIED)
    } else {
        match requested_range(request, &tag, file.bytes) {
            RequestedRange::All => content(request, file, None, open).await?,
            RequestedRange::Part(range) => content(request, file, Some(range), open).await?,
            RequestedRange::Unsatisfiable => {
                error(StatusCode::RANGE_NOT_SATISFIABLE, "the range lies beyond the end of the file")
                    .with(header::CONTENT_RANGE, header_value(format!("bytes */{}", file.bytes)))
            }
        }
    };
    Ok(reply
        .with(header::ETAG, header_value(etag))
        .with(header::ACCEPT_RANGES, HeaderValue::from_static("bytes")))
}

async fn content<E>(
    request: &Parts,
    file: File<'_>,
    range: Option<Range<u64>>,
    open: impl AsyncFnOnce(Option<Range<u64>>) -> Result<ResponseBody, E>,
) -> Result<Reply, E> {
    let (status, bytes) = match &range {
        Some(range) => (StatusCode::PARTIAL_CONTENT, range.end - range.start),
        None => (StatusCode::OK, file.bytes),
    };
    let content_range =
        range.as_ref().map(|range| format!("bytes {}-{}/{}", range.start, range.end - 1, file.bytes));
    let body = if request.method == Method::HEAD { full("") } else { open(range).await? };
    let reply = with_body(status, body)
        .with(header::CONTENT_TYPE, HeaderValue::from_static(file.content_type))
        .with(header::CONTENT_LENGTH, bytes.into());
    Ok(match content_range {
        Some(value) => reply.with(header::CONTENT_RANGE, header_value(value)),
        None => reply,
    })
}

#[derive(Debug, PartialEq, Eq)]
enum RequestedRange {
    All,
    Part(Range<u64>),
    Unsatisfiable,
}

/// The range that a GET requests. Several ranges, or a malformed one, get the whole file (RFC 9110, section 14.1.2). Other
/// methods have no range (section 14.2).
fn requested_range(request: &Parts, tag: &ETag, length: u64) -> RequestedRange {
    let headers = &request.headers;
    if request.method != Method::GET {
        return RequestedRange::All;
    }
    let Some(range) = headers.get(header::RANGE).and_then(|value| value.to_str().ok()) else {
        return RequestedRange::All;
    };
    if headers.typed_get::<IfRange>().is_some_and(|condition| condition.is_modified(Some(tag), None)) {
        return RequestedRange::All;
    }
    match byte_range(range, length) {
        None => RequestedRange::All,
        Some(range) if range.start < range.end => RequestedRange::Part(range),
        Some(_) => RequestedRange::Unsatisfiable,
    }
}

/// Parses `bytes=a-b`, `bytes=a-` or `bytes=-n`; an empty range when it lies beyond the end.
fn byte_range(range: &str, length: u64) -> Option<Range<u64>> {
    let number = |digits: &str| {
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().unwrap_or(u64::MAX))
    };
    let (first, last) = range.trim().strip_prefix("bytes=")?.trim().split_once('-')?;
    match (first.is_empty(), last.is_empty()) {
        (true, true) => None,
        (true, false) => Some(length.saturating_sub(number(last)?)..length),
        (false, true) => Some(number(first)?..length),
        (false, false) => {
            let (first, last) = (number(first)?, number(last)?);
            (first <= last).then(|| first..last.saturating_add(1).min(length))
        }
    }
}

/// Only for digits, hexadecimal digits and punctuation, which are always a valid header value.
fn header_value(text: String) -> HeaderValue {
    HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static(""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_parsed_for_get_only() {
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
