//! Resources with fixed URIs, and a resource template.

use mcp_wire::content::ResourceContents;
use mcp_wire::server::{BoxFuture, ServerBuilder};
use mcp_wire::{Resource, ResourceTemplate};
use serde_json::json;

use crate::content::PNG;

const TEXT: &str = "test://static-text";
const BINARY: &str = "test://static-binary";

pub(crate) fn add(builder: ServerBuilder<()>) -> ServerBuilder<()> {
    let text = Resource::new(TEXT, "static_text").with_description("A text.").with_mime_type("text/plain");
    let binary =
        Resource::new(BINARY, "static_binary").with_description("An image.").with_mime_type("image/png");
    let template = ResourceTemplate::new("test://template/{id}/data", "template_data")
        .with_description("Data by id.")
        .with_mime_type("application/json");
    builder
        .resource(text, |()| async {
            let text = "This is the content of the static text resource.";
            vec![ResourceContents::text(TEXT, "text/plain", text)]
        })
        .resource(binary, |()| async { vec![ResourceContents::blob(BINARY, "image/png", PNG)] })
        .resource_template(template, |(), uri| templated(uri))
}

fn templated(uri: &str) -> Option<BoxFuture<Option<Vec<ResourceContents>>>> {
    let id = uri.strip_prefix("test://template/")?.strip_suffix("/data")?;
    if id.is_empty() || id.contains('/') {
        return None;
    }
    let data = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
    let contents = ResourceContents::text(uri, "application/json", data.to_string());
    Some(Box::pin(std::future::ready(Some(vec![contents]))))
}
