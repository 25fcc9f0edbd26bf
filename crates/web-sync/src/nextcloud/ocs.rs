//! The envelope of the Open Collaboration Services API, in JSON or XML.

mod xml;

use http::{HeaderMap, HeaderValue, StatusCode, header, request::Parts};
use http_server::{
    Query,
    file::{File, serve_file},
    reply::{Reply, WithHeader as _, with_body},
    response_body::full,
};
use serde_json::{Value, json};
use std::convert::Infallible;

/// The version of the API, by its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OcsVersion {
    /// `/ocs/v1.php/`: success has the code 100.
    V1,
    /// `/ocs/v2.php/`: the codes are those of HTTP.
    V2,
}

impl OcsVersion {
    /// The version of a path, and the rest of the path.
    pub(super) fn of(path: &str) -> Option<(Self, &str)> {
        let versions = [("/ocs/v1.php/", Self::V1), ("/ocs/v2.php/", Self::V2)];
        versions.into_iter().find_map(|(prefix, version)| Some((version, path.strip_prefix(prefix)?)))
    }

    /// The code of an answer with this status.
    fn code(self, status: StatusCode) -> u16 {
        match (self, status) {
            (Self::V1, StatusCode::OK) => 100,
            (Self::V1, StatusCode::NOT_FOUND) => 998,
            _ => status.as_u16(),
        }
    }
}

/// Answers a request to the API.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ocs<'a> {
    version: OcsVersion,
    is_json: bool,
    parts: &'a Parts,
}

impl<'a> Ocs<'a> {
    pub(super) fn new(version: OcsVersion, parts: &'a Parts) -> Self {
        let query = Query::parse(parts.uri.query());
        let is_json = match query.get("format") {
            Some(format) => format == "json",
            None => accepts_json(&parts.headers),
        };
        Self { version, is_json, parts }
    }

    /// 200 with this data, which no cache may keep.
    pub(super) fn data(&self, data: &Value) -> Reply {
        self.reply(StatusCode::OK, "OK", data)
    }

    /// 200 with data that seldom changes: with an entity tag, and 304 when the app has it already.
    pub(super) async fn cached_data(&self, data: &Value) -> Reply {
        let (content_type, body) = self.body(StatusCode::OK, "OK", data);
        let hash = keys::sha256(body.as_bytes());
        let tag = data_encoding::HEXLOWER.encode(hash.get(..16).unwrap_or_default());
        let file = File { tag: &tag, bytes: body.len() as u64, content_type };
        let reply = serve_file(self.parts, file, async |range| {
            let part = range.and_then(|range| {
                let (start, end) = (usize::try_from(range.start).ok()?, usize::try_from(range.end).ok()?);
                body.as_bytes().get(start..end)
            });
            Ok::<_, Infallible>(full(part.unwrap_or(body.as_bytes()).to_vec()))
        });
        let Ok(reply) = reply.await;
        reply.with(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"))
    }

    /// 404 for a path that does not exist, which apps take for a feature that the service lacks.
    pub(super) fn not_found(&self) -> Reply {
        self.reply(StatusCode::NOT_FOUND, "there is nothing at this path", &json!([]))
    }

    /// 405 with the methods that are allowed.
    pub(super) fn method_not_allowed(&self, allow: &'static str) -> Reply {
        self.reply(StatusCode::METHOD_NOT_ALLOWED, "method not allowed", &json!([]))
            .with(header::ALLOW, HeaderValue::from_static(allow))
    }

    /// An error with a message for people.
    pub(super) fn error(&self, status: StatusCode, message: &str) -> Reply {
        self.reply(status, message, &json!([]))
    }

    fn reply(&self, status: StatusCode, message: &str, data: &Value) -> Reply {
        let (content_type, body) = self.body(status, message, data);
        with_body(status, full(body))
            .with(header::CONTENT_TYPE, HeaderValue::from_static(content_type))
            .with(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))
    }

    fn body(&self, status: StatusCode, message: &str, data: &Value) -> (&'static str, String) {
        let meta = json!({
            "status": if status.is_success() { "ok" } else { "failure" },
            "statuscode": self.version.code(status),
            "message": message,
        });
        let envelope = json!({"ocs": {"meta": meta, "data": data}});
        if self.is_json {
            ("application/json; charset=utf-8", envelope.to_string())
        } else {
            ("application/xml; charset=utf-8", xml::document(&envelope))
        }
    }
}

/// Whether `Accept` names JSON.
fn accepts_json(headers: &HeaderMap) -> bool {
    let lines = headers.get_all(header::ACCEPT).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|range| {
        range.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Request;

    #[test]
    fn json_is_sent_if_the_query_or_accept_names_it() {
        let check = |uri: &str, accept: Option<&str>, expect: bool| {
            let mut request = Request::builder().uri(uri);
            if let Some(accept) = accept {
                request = request.header(header::ACCEPT, accept);
            }
            let parts = request.body(()).unwrap().into_parts().0;
            assert_eq!(Ocs::new(OcsVersion::V1, &parts).is_json, expect, "{uri} {accept:?}");
        };
        check("/ocs/v1.php/cloud/user", None, false);
        check("/ocs/v1.php/cloud/user", Some("*/*"), false);
        check("/ocs/v1.php/cloud/user?format=json", None, true);
        check("/ocs/v1.php/cloud/user?format=xml", Some("application/json"), false);
        check("/ocs/v1.php/cloud/user", Some("text/html, Application/JSON;q=0.5"), true);
    }

    #[test]
    fn versions_differ_in_the_code_of_success() {
        assert_eq!(OcsVersion::of("/ocs/v1.php/cloud/user"), Some((OcsVersion::V1, "cloud/user")));
        assert_eq!(OcsVersion::of("/ocs/v2.php/"), Some((OcsVersion::V2, "")));
        assert_eq!(OcsVersion::of("/ocs/v2.php"), None);
        assert_eq!(OcsVersion::V1.code(StatusCode::OK), 100);
        assert_eq!(OcsVersion::V2.code(StatusCode::OK), 200);
    }
}
