//! Pages with a message: what happened, then what to do.

use http::StatusCode;
use http_server::reply::{Reply, error, retry_after};
use maud::html;

use crate::layout::{Link, Page};

/// A message with a link to the account.
pub(crate) fn message(status: StatusCode, title: &str, text: &str) -> Reply {
    message_with_link(status, title, text, Link { href: "/account", label: "Go to your account" })
}

/// A message with another link.
pub(crate) fn message_with_link(status: StatusCode, title: &str, text: &str, link: Link<'_>) -> Reply {
    let content = html! {
        p { (text) }
        // A URL as the label is to be read.
        p { a.button[!link.label.starts_with("http")] href=(link.href) { (link.label) } }
    };
    Page { title, status, form_targets: &[] }.reply(&content)
}

/// The service cannot answer now.
pub(crate) fn unavailable(error: &dyn std::fmt::Display) -> Reply {
    tracing::error!(%error, "a page cannot be served");
    let text = "The photo library is temporarily unavailable. Try again in a minute.";
    retry_after(message(StatusCode::SERVICE_UNAVAILABLE, "Temporarily unavailable", text), 5)
}

/// The service cannot answer a script now.
pub(crate) fn data_unavailable(cause: &dyn std::fmt::Display) -> Reply {
    tracing::error!(error = %cause, "data of a page cannot be served");
    let text = "the photo library is temporarily unavailable; try again later";
    retry_after(error(StatusCode::SERVICE_UNAVAILABLE, text), 5)
}

/// 401 for a script or an image.
pub(crate) fn unauthorized() -> Reply {
    error(StatusCode::UNAUTHORIZED, "sign in to see your photos")
}

/// A time to wait, such as `15 minutes`, rounded up to whole minutes.
pub(crate) fn minutes(seconds: u64) -> String {
    match seconds.div_ceil(60).max(1) {
        1 => "1 minute".to_owned(),
        minutes => format!("{minutes} minutes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_rounded_up_to_minutes() {
        for (seconds, expect) in [(0, "1 minute"), (60, "1 minute"), (61, "2 minutes"), (900, "15 minutes")] {
            assert_eq!(minutes(seconds), expect);
        }
    }
}
