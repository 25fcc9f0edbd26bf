//! Errors as pages, for browsers.

use http::{HeaderMap, StatusCode, header};
use http_server::{
    BaseUrl, prefers_html,
    reply::{JSON, Reply},
};

use crate::{layout::Link, messages::message_with_link, theme::Theme};

/// Error pages for a browser.
pub struct ErrorPages {
    theme: Theme,
}

impl ErrorPages {
    /// Those for the sender of a request with these headers; `None` if it is no browser.
    pub fn of(base_url: &BaseUrl, headers: &HeaderMap) -> Option<Self> {
        prefers_html(headers).then(|| Self { theme: Theme::of(base_url, headers) })
    }

    /// Replaces a JSON error by a page with the same status and headers. Any other reply stays as it is.
    pub fn page_for(&self, reply: Reply) -> Reply {
        let status = reply.status();
        let is_error = status.is_client_error() || status.is_server_error();
        if !is_error || reply.headers().get(header::CONTENT_TYPE) != Some(&JSON) {
            return reply;
        }
        let (mut head, _) = reply.into_parts();
        let (page, body) = self.theme.while_making(|| error_page(status)).into_parts();
        head.headers.extend(page.headers);
        Reply::from_parts(head, body)
    }
}

fn error_page(status: StatusCode) -> Reply {
    let (title, text) = match status {
        StatusCode::NOT_FOUND => {
            ("Page not found", "There is no page at this address. Check the address for a typing error.")
        }
        StatusCode::METHOD_NOT_ALLOWED => (
            "This address cannot be opened directly",
            "It only accepts forms from other pages. Go to the start page and follow the links from there.",
        ),
        StatusCode::FORBIDDEN => ("Access denied", "You do not have access to this page."),
        StatusCode::PAYLOAD_TOO_LARGE => (
            "Request too large",
            "Your browser sent more data than this page accepts. Go back and send less.",
        ),
        StatusCode::SERVICE_UNAVAILABLE => (
            "Temporarily unavailable",
            "The photo library is temporarily unavailable. Try again in a minute.",
        ),
        _ if status.is_server_error() => (
            "Something went wrong",
            "The photo library failed because of an internal error. Try again. If it fails again, check the server’s log.",
        ),
        _ => ("Bad request", "The photo library cannot read this request. Go back and try again."),
    };
    message_with_link(status, title, text, Link { href: "/", label: "Go to the start page" })
}
