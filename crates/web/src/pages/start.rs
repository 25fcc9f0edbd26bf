use http::StatusCode;
use maud::{Markup, html};

use super::Page;
use crate::{BaseUrl, connecting::mcp_url, reply::Reply};

/// What people see who open the service in a browser.
pub(crate) fn start(base_url: &BaseUrl) -> Reply {
    text(
        "Photo library",
        &html! {
            p { "Your photos, on a machine of your own. Apps and agents that you connect list, search and show them, and never get the originals." }
            ul {
                li { a href="/account" { "Your account" } ": connected apps, API keys, password, activity" }
                li { a href="/account/sync" { "Bring photos in" } }
                li { a href="/account#connect" { "Connect an app" } " with the address " code { (mcp_url(base_url)) } }
                li { a href="/api/ext/v2/openapi.json" { "The image and album API" } " (OpenAPI)" }
            }
        },
    )
}

/// How to bring photos in: where `installUrl` leads.
pub(crate) fn sync(base_url: &BaseUrl) -> Reply {
    text(
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
        },
    )
}

fn text(title: &str, content: &Markup) -> Reply {
    Page { title, status: StatusCode::OK, form_targets: &[] }.text(content)
}
