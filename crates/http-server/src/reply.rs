use http::{HeaderName, HeaderValue, Response, StatusCode, header};
use serde::Serialize;

use crate::body::{ResponseBody, full};

/// A response of any surface.
pub type Reply = Response<ResponseBody>;

pub const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// A response without a body.
pub fn empty(status: StatusCode) -> Reply {
    with_body(status, full(""))
}

/// A response with this body.
pub fn with_body(status: StatusCode, body: ResponseBody) -> Reply {
    let mut reply = Response::new(body);
    *reply.status_mut() = status;
    reply
}

/// A response of JSON that no cache may keep: it belongs to one account or one moment.
pub fn json(status: StatusCode, value: &impl Serialize) -> Reply {
    match serde_json::to_vec(value) {
        Ok(text) => {
            let reply = with_body(status, full(text)).with(header::CONTENT_TYPE, JSON);
            reply.with(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))
        }
        Err(error) => {
            tracing::error!(%error, "an answer could not be written as JSON");
            empty(StatusCode::INTERNAL_SERVER_ERROR)
        }
    }
}

/// The body of every refusal but 401 of the image API.
#[derive(Debug, Serialize)]
pub struct ErrorBody<'a> {
    pub error: &'a str,
}

/// A refusal with a message for people.
pub fn error(status: StatusCode, message: &str) -> Reply {
    json(status, &ErrorBody { error: message })
}

/// The refusal of a method, with those that are served.
pub fn method_not_allowed(allow: &'static str) -> Reply {
    let message = format!("this method is not served here; use {allow}");
    error(StatusCode::METHOD_NOT_ALLOWED, &message).with(header::ALLOW, HeaderValue::from_static(allow))
}

/// Leads a browser on, after a GET.
pub fn found(location: &str) -> Reply {
    leads_to(StatusCode::FOUND, location)
}

/// Leads a browser on, after a form: with a GET, whatever the form's method was.
pub fn see_other(location: &str) -> Reply {
    leads_to(StatusCode::SEE_OTHER, location)
}

fn leads_to(status: StatusCode, location: &str) -> Reply {
    let Ok(location) = HeaderValue::try_from(location) else {
        tracing::error!("a redirect leads to what no header can hold");
        return error(StatusCode::INTERNAL_SERVER_ERROR, "the service failed; retry later");
    };
    empty(status)
        .with(header::LOCATION, location)
        .with(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))
        .with(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"))
}

/// Adds a header in passing.
pub trait WithHeader {
    fn with(self, name: HeaderName, value: HeaderValue) -> Self;
}

impl WithHeader for Reply {
    fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers_mut().insert(name, value);
        self
    }
}
