//! The photo app (MCP Apps): a page that hosts show beside a model's answer, with the photos of `show_images`.

mod document;

use mcp_protocol::{
    Meta,
    content::{ResourceContents, TextResourceContents},
};
use serde_json::{Value, json};

use super::McpResource;
use http_server::BaseUrl;

/// The address of the page.
pub(super) const URI: &str = "ui://photo-library/gallery.html";
/// What hosts know such a page by (MCP Apps, revision 2026-01-26).
const MIME_TYPE: &str = "text/html;profile=mcp-app";

/// The page as `resources/list` shows it.
pub(super) fn resource(resource: McpResource, base_url: &BaseUrl) -> mcp_protocol::Resource {
    let albums = if resource.has_albums() { ", albums" } else { "" };
    mcp_protocol::Resource::new(URI, "gallery")
        .with_title("Photo gallery")
        .with_description(format!(
            "Shows the photos of show_images: a grid, a larger view, more pages{albums}."
        ))
        .with_mime_type(MIME_TYPE)
        .with_meta(hosting(base_url))
}

/// The page itself.
pub(super) fn page(resource: McpResource, base_url: &BaseUrl) -> ResourceContents {
    let text = document::of(resource.has_albums());
    ResourceContents::Text(
        TextResourceContents::new(URI, text).with_mime_type(MIME_TYPE).with_meta(hosting(base_url)),
    )
}

/// What `show_images` says to hosts: where its page stands.
pub(super) fn shown_by() -> Meta {
    members([
        ("ui", json!({"resourceUri": URI, "visibility": ["model", "app"]})),
        ("openai/outputTemplate", json!(URI)),
        ("openai/widgetAccessible", json!(true)),
        ("openai/toolInvocation/invoking", json!("Fetching photos")),
        ("openai/toolInvocation/invoked", json!("Photos")),
    ])
}

/// What the tools that the page calls say to hosts.
pub(super) fn called_by() -> Meta {
    members([("ui", json!({"visibility": ["model", "app"]})), ("openai/widgetAccessible", json!(true))])
}

/// How the page wants to be hosted: with pictures of this service, and nothing else from anywhere.
fn hosting(base_url: &BaseUrl) -> Meta {
    let origin = base_url.as_str();
    members([
        ("ui", json!({"csp": {"connectDomains": [], "resourceDomains": [origin]}, "prefersBorder": true})),
        ("openai/widgetCSP", json!({"connect_domains": [], "resource_domains": [origin]})),
        ("openai/widgetPrefersBorder", json!(true)),
        (
            "openai/widgetDescription",
            json!(
                "A gallery of the photos: the user sees them, so there is no need to list or describe them again."
            ),
        ),
    ])
}

fn members<const N: usize>(members: [(&str, Value); N]) -> Meta {
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
