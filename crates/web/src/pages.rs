//! Plain pages for people; they need no script and load nothing from elsewhere.

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
            p { "This is a photo library. Apps and agents list, search and show its photos with an API key." }
            ul {
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
            p { "JPEG, PNG, WebP and GIF pictures are accepted. Originals never leave the library." }
            p { a href="/" { "Back" } }
        },
    )
}

fn page(title: &str, content: &Markup) -> Reply {
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                link rel="icon" href="data:,";
                style { (maud::PreEscaped(STYLE)) }
            }
            body {
                main {
                    h1 { (title) }
                    (content)
                }
            }
        }
    };
    let policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    with_body(StatusCode::OK, full(markup.into_string()))
        .with(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"))
        .with(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy))
        .with(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"))
        .with(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"))
        .with(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"))
}
