//! Plain pages for people; they need no script and load nothing from elsewhere.

use std::sync::LazyLock;

use data_encoding::BASE64;
use http::{HeaderValue, StatusCode, header};
use maud::{DOCTYPE, Markup, html};

use crate::{
    BaseUrl,
    body::full,
    reply::{Reply, WithHeader as _, with_body},
};

const STYLE: &str = include_str!("pages.css");

/// What people see who open the service in a browser.
pub(crate) fn start(base_url: &BaseUrl) -> Reply {
    page(
        "Photo library",
        &html! {
            p { "This is a photo library. Apps and agents that you connect list, search and show its photos." }
            ul {
                li { a href="/account" { "Your account: connected apps, API keys, password" } }
                li { a href="/account/sync" { "Bring photos in" } }
                li { a href="/api/ext/v2/openapi.json" { "The image and album API (OpenAPI)" } }
                li { "MCP endpoint: " code { (base_url.as_str()) "/api/mcp/v1" } }
            }
        },
    )
}

/// How to bring photos in: where `installUrl` leads.
pub(crate) fn sync(base_url: &BaseUrl) -> Reply {
    page(
        "Bring photos in",
        &html! {
            p { "Photos come into the library from folders on the machine that runs it." }
            ol {
                li {
                    "Open a terminal on that machine, in the folder where the service runs."
                }
                li {
                    "Import a folder; everything in it is taken, and running it again takes only what is new:"
                    pre { code { "server import you@example.org /path/to/photos" } }
                }
                li {
                    "Make a key for your app, if it has none yet:"
                    pre { code { "server key create you@example.org --name my-app" } }
                }
                li {
                    "Look at what came in:"
                    pre { code { "curl -H \"Authorization: Bearer KEY\" " (base_url.as_str()) "/api/ext/v2/images" } }
                }
            }
            p { "JPEG, PNG, WebP, GIF, TIFF, HEIC, AVIF and RAW pictures are accepted. Originals never leave the library." }
            p { a href="/" { "Back" } }
        },
    )
}

/// The frame around every page.
pub(crate) struct Page<'a> {
    /// Its title and heading.
    pub(crate) title: &'a str,
    pub(crate) status: StatusCode,
    /// Where its forms may lead beside this service, as sources of a Content-Security-Policy: browsers hold the
    /// redirects that follow a form against it, too.
    pub(crate) form_targets: &'a [String],
}

impl Page<'_> {
    /// The page with this content. It needs no script and loads nothing, can be framed by no other, and no cache keeps
    /// it.
    pub(crate) fn reply(&self, content: &Markup) -> Reply {
        let markup = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (self.title) }
                    link rel="icon" href="data:,";
                    style { (maud::PreEscaped(STYLE)) }
                }
                body {
                    main {
                        h1 { (self.title) }
                        (content)
                    }
                }
            }
        };
        let policy = HeaderValue::try_from(self.policy()).unwrap_or(HeaderValue::from_static(NOTHING));
        with_body(self.status, full(markup.into_string()))
            .with(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"))
            .with(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))
            .with(header::CONTENT_SECURITY_POLICY, policy)
            .with(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"))
            .with(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"))
            // Without it browsers would send forms with the origin `null`.
            .with(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"))
    }

    fn policy(&self) -> String {
        let targets: String = self.form_targets.iter().map(|target| format!(" {target}")).collect();
        format!(
            "default-src 'none'; style-src '{}'; img-src data:; base-uri 'none'; frame-ancestors 'none'; form-action 'self'{targets}",
            *STYLE_HASH
        )
    }
}

/// The policy of a page whose own cannot be written.
const NOTHING: &str = "default-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'";

/// The one style that a page may have (CSP level 3, section 6.7.3.3).
static STYLE_HASH: LazyLock<String> =
    LazyLock::new(|| format!("sha256-{}", BASE64.encode(&keys::sha256(STYLE.as_bytes()))));

fn page(title: &str, content: &Markup) -> Reply {
    Page { title, status: StatusCode::OK, form_targets: &[] }.reply(content)
}

/// What went wrong, and what to do about it.
pub(crate) fn problem(status: StatusCode, title: &str, words: &str) -> Reply {
    let content = html! {
        p { (words) }
    };
    Page { title, status, form_targets: &[] }.reply(&content)
}

/// The service cannot answer now.
pub(crate) fn unavailable(error: &dyn std::fmt::Display) -> Reply {
    tracing::error!(%error, "a page cannot be shown");
    let words =
        "The photo library cannot answer at the moment. Nothing was changed; try again in a little while.";
    retry_after(problem(StatusCode::SERVICE_UNAVAILABLE, "Try again soon", words), 5)
}

/// Adds how many seconds there are to wait.
pub(crate) fn retry_after(reply: Reply, seconds: u64) -> Reply {
    reply.with(header::RETRY_AFTER, HeaderValue::from(seconds.max(1)))
}
