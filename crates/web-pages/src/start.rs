//! The start page.

use http::{HeaderMap, StatusCode};
use http_server::reply::Reply;
use maud::html;
use web_auth::mcp_url;

use crate::{
    Site,
    layout::{Page, PageHeader, snippet},
    session::{session, session_token},
};

/// The page at `/`.
pub(crate) async fn start(site: &Site, headers: &HeaderMap) -> Reply {
    match session(site, headers).await {
        Ok(Some(_)) => {
            let session_token = session_token(&site.base_url, headers).unwrap_or_default();
            let header =
                PageHeader::SignedIn { forms: &site.forms, session_token: &session_token, here: "/" };
            page(site, &header)
        }
        Ok(None) => page(site, &PageHeader::SignedOut { here: "/account" }),
        Err(reply) => reply,
    }
}

fn page(site: &Site, header: &PageHeader<'_>) -> Reply {
    let is_signed_in = matches!(header, PageHeader::SignedIn { .. });
    let content = html! {
        p.lead {
            "Your photos, on your own server. Connected apps can list, search and show your photos, but they never get the "
            "original files."
        }
        @if is_signed_in {
            p { "To connect an app, paste this address into it:" }
            (snippet("the address", &mcp_url(&site.base_url)))
        } @else {
            p { a.button href="/sign-in?return_to=/account" { "Sign in" } }
        }
        ul.links {
            @if is_signed_in {
                li { a href="/account/apps" { "Connected apps" } p { "Connect and disconnect apps." } }
            }
            li { a href="/account/sync" { "Photo sync" } p { "Upload photos from your phone or computer." } }
            @if is_signed_in {
                li { a href="/account/keys" { "API keys" } p { "Give your own scripts access to your photos." } }
            }
            li { a href="/api/ext/v2/openapi.json" { "API reference" } p { "The photo and album API as an OpenAPI document." } }
        }
    };
    Page { title: "Photo library", status: StatusCode::OK, form_targets: &[] }.text(header, &content)
}
