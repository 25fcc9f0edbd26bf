//! Errors as pages, for browsers.

use http::{HeaderMap, Request, StatusCode, header};

use super::{Link, problem_with_link};
use http_server::reply::{JSON, Reply};

/// Paths outside the API that only programs read.
const PROBES: [&str; 2] = ["/healthz", "/readyz"];

/// Whether an error should be a page: a browser opens a path that is not one for programs.
pub(crate) fn wants_page<B>(request: &Request<B>) -> bool {
    !PROBES.contains(&request.uri().path()) && prefers_html(request.headers())
}

/// Whether `Accept` names HTML and does not prefer JSON (RFC 9110, section 12.5.1). Wildcards do not count: programs
/// send them.
pub(crate) fn prefers_html(headers: &HeaderMap) -> bool {
    let lines = headers.get_all(header::ACCEPT).iter().filter_map(|line| line.to_str().ok());
    let (mut html, mut json) = (0.0, 0.0);
    for range in lines.flat_map(|line| line.split(',')) {
        let mut parts = range.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default().to_ascii_lowercase();
        let weight = parts.find_map(|part| part.strip_prefix("q=").or(part.strip_prefix("Q=")));
        let weight = weight.map_or(1.0, |weight| weight.parse::<f32>().unwrap_or(0.0));
        match name.as_str() {
            "text/html" => html = weight,
            "application/json" => json = weight,
            _ => {}
        }
    }
    html > 0.0 && html >= json
}

/// Replaces an error in JSON by a page of the same status and headers. Any other reply stays as it is.
pub(crate) fn page_for_error(reply: Reply) -> Reply {
    let status = reply.status();
    let is_error = status.is_client_error() || status.is_server_error();
    if !is_error || reply.headers().get(header::CONTENT_TYPE) != Some(&JSON) {
        return reply;
    }
    let (mut head, _) = reply.into_parts();
    let (page, body) = error_page(status).into_parts();
    head.headers.extend(page.headers);
    Reply::from_parts(head, body)
}

/// What happened, in one sentence or two, and a link onward.
fn error_page(status: StatusCode) -> Reply {
    let (title, words) = match status {
        StatusCode::NOT_FOUND => {
            ("Page not found", "There is no page at this address. The link may be old or mistyped.")
        }
        StatusCode::METHOD_NOT_ALLOWED => {
            ("This page cannot be opened directly", "Use the links and buttons of the pages.")
        }
        StatusCode::FORBIDDEN => ("Not allowed", "You do not have access to this page."),
        StatusCode::PAYLOAD_TOO_LARGE => ("Too large", "Your browser sent more than this page accepts."),
        StatusCode::SERVICE_UNAVAILABLE => {
            ("Try again soon", "The photo library cannot answer right now. Try again in a minute.")
        }
        _ if status.is_server_error() => (
            "Something went wrong",
            "The photo library could not answer because of an error. Try again. If it happens again, the server's log has the cause.",
        ),
        _ => (
            "This request cannot be answered",
            "Your browser sent something that this page does not understand.",
        ),
    };
    problem_with_link(status, title, words, Link { href: "/", label: "Go to the start page" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[test]
    fn browsers_prefer_html() {
        let check = |accept: &[&'static str], expect: bool| {
            let mut headers = HeaderMap::new();
            for line in accept {
                headers.append(header::ACCEPT, HeaderValue::from_static(line));
            }
            assert_eq!(prefers_html(&headers), expect, "{accept:?}");
        };
        check(&["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"], true);
        check(&["text/html, application/json"], true);
        check(&["application/json", "Text/HTML;level=1;q=1"], true);
        check(&["application/json, text/html;q=0.9"], false);
        check(&["text/html;q=0"], false);
        check(&["text/html; q=0.5, application/json; q=0.4"], true);
        check(&["text/html;q=x"], false);
        check(&["*/*"], false);
        check(&["text/*"], false);
        check(&[], false);
    }
}
