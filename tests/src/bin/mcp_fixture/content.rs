//! Tools that return each kind of content.

use mcp_wire::content::ResourceContents;
use mcp_wire::jsonrpc::{ErrorObject, MISSING_REQUIRED_CLIENT_CAPABILITY};
use mcp_wire::schema::input_schema_of;
use mcp_wire::server::{BoxFuture, ServerBuilder, ToolCall, ToolReply};
use mcp_wire::{CallToolResult, ContentBlock, NoArguments, Tool};
use serde_json::{Value, json};

/// One red pixel.
pub(crate) const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/// The header of a WAV file with 8,000 samples per second, without samples.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

pub(crate) fn add(builder: ServerBuilder<()>) -> ServerBuilder<()> {
    builder
        .tool(simple("test_simple_text", "Returns a text."), |_| {
            text("This is a simple text response for testing.")
        })
        .tool(simple("test_image_content", "Returns an image."), |_| {
            blocks(vec![ContentBlock::image(PNG, "image/png")])
        })
        .tool(simple("test_audio_content", "Returns audio."), |_| blocks(vec![audio()]))
        .tool(simple("test_embedded_resource", "Returns an embedded resource."), |_| {
            let text = "This is an embedded resource content.";
            blocks(vec![embedded("test://embedded-resource", "text/plain", text)])
        })
        .tool(simple("test_multiple_content_types", "Returns a text, an image and a resource."), |_| {
            let text = r#"{"test":"data","value":123}"#;
            blocks(vec![
                ContentBlock::text("Multiple content types test:"),
                ContentBlock::image(PNG, "image/png"),
                embedded("test://mixed-content-resource", "application/json", text),
            ])
        })
        .tool(simple("test_error_handling", "Always fails."), |_| {
            done(CallToolResult::error("This tool intentionally returns an error for testing"))
        })
        .tool(simple("test_logging_tool", "Logs nothing."), |_| text("Nothing was logged."))
        .tool(simple("test_missing_capability", "Requires the client capability sampling."), |call| {
            needs_sampling(&call)
        })
        .tool(
            Tool::new("json_schema_2020_12_tool", "Has a schema with many keywords.", every_keyword()),
            |_| text("The arguments were accepted."),
        )
}

/// A tool without arguments.
pub(crate) fn simple(name: &str, description: &str) -> Tool {
    Tool::new(name, description, input_schema_of::<NoArguments>())
}

/// A future that gives this reply at once.
pub(crate) fn done(reply: impl Into<ToolReply>) -> BoxFuture<ToolReply> {
    Box::pin(std::future::ready(reply.into()))
}

pub(crate) fn text(text: &str) -> BoxFuture<ToolReply> {
    done(CallToolResult::text(text))
}

pub(crate) fn embedded(uri: &str, mime_type: &str, text: &str) -> ContentBlock {
    ContentBlock::resource(ResourceContents::text(uri, mime_type, text))
}

fn blocks(blocks: Vec<ContentBlock>) -> BoxFuture<ToolReply> {
    done(blocks.into_iter().fold(CallToolResult::default(), CallToolResult::with_content))
}

fn audio() -> ContentBlock {
    ContentBlock::audio(WAV, "audio/wav")
}

/// Refuses the call unless the client declares the capability `sampling`.
fn needs_sampling(call: &ToolCall<()>) -> BoxFuture<ToolReply> {
    if call.client_capabilities().is_some_and(|capabilities| capabilities.contains_key("sampling")) {
        return text("The client can sample.");
    }
    let refused = ErrorObject::new(
        MISSING_REQUIRED_CLIENT_CAPABILITY,
        "this tool requires the client capability sampling",
    )
    .with_data(json!({"requiredCapabilities": {"sampling": {}}}));
    done(ToolReply::Refused(refused))
}

/// A schema whose keywords must be listed unchanged.
fn every_keyword() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            },
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    })
}
