//! The photo app (MCP Apps): a page that a host shows in a conversation, with the photos of `show_images`.

mod document;

use mcp_wire::{
    Meta,
    content::{ResourceContents, TextResourceContents},
};
use serde_json::{Value, json};

use super::McpResource;
use http_server::BaseUrl;

pub(super) const URI: &str = "ui://photo-library/gallery.html";
/// The MIME type of such pages (MCP Apps, revision 2026-01-26).
const MIME_TYPE: &str = "text/html;profile=mcp-app";

/// The page as `resources/list` shows it.
pub(super) fn resource(resource: McpResource, base_url: &BaseUrl) -> mcp_wire::Resource {
    let albums = if resource.has_albums() { ", albums" } else { "" };
    mcp_wire::Resource::new(URI, "gallery")
        .with_title("Photo gallery")
        .with_description(format!(
            "Shows the photos of show_images: a grid, a larger view, further pages{albums}."
        ))
        .with_mime_type(MIME_TYPE)
        .with_meta(page_meta(base_url))
}

pub(super) fn page(resource: McpResource, base_url: &BaseUrl) -> ResourceContents {
    let text = document::of(resource.has_albums());
    ResourceContents::Text(
        TextResourceContents::new(URI, text).with_mime_type(MIME_TYPE).with_meta(page_meta(base_url)),
    )
}

/// The `_meta` of `show_images`: names the page for its results.
pub(super) fn display_tool_meta() -> Meta {
    members([
        ("ui", json!({"resourceUri": URI, "visibility": ["model", "app"]})),
        ("openai/outputTemplate", json!(URI)),
        ("openai/widgetAccessible", json!(true)),
        ("openai/toolInvocation/invoking", json!("Fetching photos")),
        ("openai/toolInvocation/invoked", json!("Photos")),
    ])
}

/// The `_meta` of tools that the page calls.
pub(super) fn callable_tool_meta() -> Meta {
    members([("ui", json!({"visibility": ["model", "app"]})), ("openai/widgetAccessible", json!(true))])
}

/// The `_meta` of the page: it loads images from this service, and nothing else.
fn page_meta(base_url: &BaseUrl) -> Meta {
    let origin = base_url.as_str();
    members([
        ("ui", json!({"csp": {"connectDomains": [], "resourceDomains": [origin]}, "prefersBorder": true})),
        ("openai/widgetCSP", json!({"connect_domains": [], "resource_domains": [origin]})),
        ("openai/widgetPrefersBorder", json!(true)),
        (
            "openai/widgetDescription",
            json!("A gallery that shows the photos to the user. Do not list or describe them again."),
        ),
    ])
}

fn members<const N: usize>(members: [(&str, Value); N]) -> Meta {
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
