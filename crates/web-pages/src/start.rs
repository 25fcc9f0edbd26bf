use http::StatusCode;
use maud::{Markup, html};

use super::{Page, PageHeader, snippet};
use http_server::{BaseUrl, reply::Reply};
use crate::app_guides::mcp_url;

/// The page at `/`.
pub(crate) fn start(base_url: &BaseUrl, header: &PageHeader<'_>) -> Reply {
    let is_signed_in = matches!(header, PageHeader::SignedIn { .. });
    let content = html! {
        p.lead {
            "Your photos, on a machine of your own. Apps that you connect can list, search and show them. "
            "The original files never leave the library."
        }
        @if is_signed_in {
            p { "Connect an app with this address:" }
            (snippet("the address", &mcp_url(base_url)))
        } @else {
            p { a.button href="/sign-in?return_to=/account" { "Sign in" } }
        }
        ul.links {
            @if is_signed_in {
                li { a href="/account/apps" { "Connected apps" } p { "Connect an app, or disconnect one." } }
            }
            li { a href="/account/sync" { "Photo sync" } p { "How photos come into the library." } }
            @if is_signed_in {
                li { a href="/account/keys" { "API keys" } p { "Access for your own scripts." } }
            }
            li { a href="/api/ext/v2/openapi.json" { "API description" } p { "The photo and album API, as an OpenAPI document." } }
        }
    };
    Page { title: "Photo library", status: StatusCode::OK, form_targets: &[] }.text(header, &content)
}

/// The page that tells visitors how photos come in: `installUrl` leads to it.
pub(crate) fn sync(header: &PageHeader<'_>) -> Reply {
    let page = Page { title: "Photo sync", status: StatusCode::OK, form_targets: &[] };
    page.text(header, &sync_steps("you@example.org"))
}

/// How photos come into the library of the account with this email.
pub(crate) fn sync_steps(email: &str) -> Markup {
    html! {
        p { "Photos come into the library by import: a command on the machine that runs the library." }
        ol {
            li { "Open a terminal on that machine, in the folder from which you start the server." }
            li {
                "Import a folder of photos:"
                (snippet("the command", &format!("server import {email} /path/to/photos")))
            }
            li { "Run the same command again when you have new photos. It skips the ones that are already in the library." }
        }
        p { "The command also needs " code { "--data-dir" } " if you start the server with it." }
        p { "JPEG, PNG, WebP, GIF, TIFF, HEIC, AVIF and RAW photos are accepted. You cannot upload photos from a phone or a browser." }
    }
}
