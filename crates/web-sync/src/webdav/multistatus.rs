//! 207 Multi-Status (RFC 4918 §13).

use dav_protocol::XmlWriter;
use http::{HeaderValue, StatusCode, header};
use http_server::{
    reply::{Reply, WithHeader as _, with_body},
    response_body::{ResponseBody, full},
};

/// The content type of XML. The desktop client compares it as text.
pub(super) const XML: HeaderValue = HeaderValue::from_static("application/xml; charset=utf-8");

/// The root element.
pub(super) const ROOT: &str = "d:multistatus";

/// A 207 response with this body.
pub(super) fn reply(body: ResponseBody) -> Reply {
    with_body(StatusCode::MULTI_STATUS, body)
        .with(header::CONTENT_TYPE, XML)
        .with(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))
}

/// A 207 response with what `write` puts into the root element.
pub(super) fn small_reply(write: impl FnOnce(&mut XmlWriter)) -> Reply {
    let mut xml = XmlWriter::document(ROOT);
    write(&mut xml);
    xml.close(ROOT);
    reply(full(xml.take()))
}

/// Writes properties with a status, such as `200 OK`.
pub(super) fn prop_stat(xml: &mut XmlWriter, status: &str, write: impl FnOnce(&mut XmlWriter)) {
    xml.raw("<d:propstat><d:prop>");
    write(xml);
    xml.raw("</d:prop><d:status>HTTP/1.1 ");
    xml.raw(status);
    xml.raw("</d:status></d:propstat>");
}
