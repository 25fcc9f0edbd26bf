//! The content of tool results, for a model or a person.

use crate::Meta;
use serde::{Deserialize, Serialize};

/// One block of a tool's result. Unknown fields are ignored when reading.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ContentBlock {
    /// Text.
    Text(TextContent),
    /// A picture.
    Image(ImageContent),
    /// Sound.
    Audio(AudioContent),
    /// The URI of a resource, to be read when needed (from revision 2025-06-18 on).
    ResourceLink(ResourceLink),
    /// A resource itself.
    Resource(EmbeddedResource),
}

/// Text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TextContent {
    /// The text.
    pub text: String,
    /// The audience and the importance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Extensions.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// A picture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ImageContent {
    /// The file's bytes in base64.
    pub data: String,
    /// The file's media type, such as `image/webp`.
    pub mime_type: String,
    /// The audience and the importance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Extensions.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// Sound.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AudioContent {
    /// The file's bytes in base64.
    pub data: String,
    /// The file's media type, such as `audio/wav`.
    pub mime_type: String,
    /// The audience and the importance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Extensions.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// A link to a resource.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourceLink {
    /// Its URI.
    pub uri: String,
    /// A name for programs.
    pub name: String,
    /// A name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// A description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its media type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Its size in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// The audience and the importance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Extensions.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// A resource within a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EmbeddedResource {
    /// The resource.
    pub resource: ResourceContents,
    /// The audience and the importance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Extensions.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// The contents of a resource.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum ResourceContents {
    /// Text.
    Text(TextResourceContents),
    /// Bytes.
    Blob(BlobResourceContents),
}

/// A resource that is text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TextResourceContents {
    /// The resource's URI.
    pub uri: String,
    /// Its media type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The text.
    pub text: String,
    /// Extensions.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// A resource that is bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct BlobResourceContents {
    /// The resource's URI.
    pub uri: String,
    /// Its media type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The bytes in base64.
    pub blob: String,
    /// Extensions.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// Hints about a content block.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Annotations {
    /// The intended readers; absent means everyone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audience: Option<Vec<Role>>,
    /// How important it is, from 0 (optional) to 1 (required).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<f64>,
    /// When it last changed, an ISO 8601 date and time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
}

/// A reader of content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The person.
    User,
    /// The model.
    Assistant,
}

impl ContentBlock {
    /// Text without annotations.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextContent { text: text.into(), annotations: None, meta: None })
    }

    /// A picture from its bytes in base64 and its media type.
    pub fn image(data_base64: impl Into<String>, mime_type: impl Into<String>) -> Self {
        let (data, mime_type) = (data_base64.into(), mime_type.into());
        Self::Image(ImageContent { data, mime_type, annotations: None, meta: None })
    }

    /// Sound from its bytes in base64 and its media type.
    pub fn audio(data_base64: impl Into<String>, mime_type: impl Into<String>) -> Self {
        let (data, mime_type) = (data_base64.into(), mime_type.into());
        Self::Audio(AudioContent { data, mime_type, annotations: None, meta: None })
    }

    /// A link to a resource.
    pub fn resource_link(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self::ResourceLink(ResourceLink::new(uri, name))
    }

    /// A resource itself.
    pub fn resource(resource: ResourceContents) -> Self {
        Self::Resource(EmbeddedResource { resource, annotations: None, meta: None })
    }

    /// The text, when this is text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(content) => Some(&content.text),
            _ => None,
        }
    }
}

impl ResourceLink {
    /// A link with only a URI and a name.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            name: name.into(),
            title: None,
            description: None,
            mime_type: None,
            size: None,
            annotations: None,
            meta: None,
        }
    }
}

impl TextResourceContents {
    /// A text without a media type.
    pub fn new(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self { uri: uri.into(), mime_type: None, text: text.into(), meta: None }
    }

    /// Sets the media type.
    #[must_use]
    pub fn with_mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// Sets the extensions.
    #[must_use]
    pub fn with_meta(mut self, meta: Meta) -> Self {
        self.meta = Some(meta);
        self
    }
}

impl ResourceContents {
    /// Text with its media type.
    pub fn text(uri: impl Into<String>, mime_type: impl Into<String>, text: impl Into<String>) -> Self {
        Self::Text(TextResourceContents::new(uri, text).with_mime_type(mime_type))
    }

    /// Bytes in base64 with their media type.
    pub fn blob(
        uri: impl Into<String>,
        mime_type: impl Into<String>,
        blob_base64: impl Into<String>,
    ) -> Self {
        let (uri, mime_type) = (uri.into(), Some(mime_type.into()));
        Self::Blob(BlobResourceContents { uri, mime_type, blob: blob_base64.into(), meta: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn blocks_survive_a_round_trip() {
        for value in [
            json!({"type": "text", "text": "a"}),
            json!({
                "type": "text",
                "text": "a",
                "annotations": {"audience": ["user"], "priority": 0.5, "lastModified": "2026-01-02T03:04:05Z"},
                "_meta": {"x/y": 1},
            }),
            json!({"type": "image", "data": "AA==", "mimeType": "image/webp"}),
            json!({"type": "audio", "data": "AA==", "mimeType": "audio/wav"}),
            json!({"type": "resource_link", "uri": "a:b", "name": "n", "title": "N", "mimeType": "t/p", "size": 7}),
            json!({"type": "resource", "resource": {"uri": "ui://v", "mimeType": "text/html", "text": "<p>"}}),
            json!({"type": "resource", "resource": {"uri": "a:b", "blob": "AA=="}}),
        ] {
            let block: ContentBlock = serde_json::from_value(value.clone()).unwrap();
            assert_eq!(serde_json::to_value(block).unwrap(), value);
        }
    }

    #[test]
    fn constructors_use_the_protocols_names() {
        for (block, expect) in [
            (ContentBlock::text("a"), json!({"type": "text", "text": "a"})),
            (
                ContentBlock::image("AA==", "image/webp"),
                json!({"type": "image", "data": "AA==", "mimeType": "image/webp"}),
            ),
            (
                ContentBlock::audio("AA==", "audio/wav"),
                json!({"type": "audio", "data": "AA==", "mimeType": "audio/wav"}),
            ),
            (
                ContentBlock::resource_link("a:b", "n"),
                json!({"type": "resource_link", "uri": "a:b", "name": "n"}),
            ),
            (
                ContentBlock::resource(ResourceContents::text("a:b", "text/plain", "t")),
                json!({"type": "resource", "resource": {"uri": "a:b", "mimeType": "text/plain", "text": "t"}}),
            ),
            (
                ContentBlock::resource(ResourceContents::blob("a:b", "image/webp", "AA==")),
                json!({"type": "resource", "resource": {"uri": "a:b", "mimeType": "image/webp", "blob": "AA=="}}),
            ),
        ] {
            assert_eq!(serde_json::to_value(block).unwrap(), expect);
        }
    }

    #[test]
    fn unknown_fields_are_ignored_and_unknown_types_are_not() {
        let block: ContentBlock =
            serde_json::from_value(json!({"type": "text", "text": "a", "later": {"x": [1]}})).unwrap();
        assert_eq!(block.as_text(), Some("a"));
        assert_eq!(ContentBlock::image("", "image/png").as_text(), None);
        for value in [json!({"type": "hologram"}), json!({"text": "a"}), json!({"type": "text"}), json!("a")]
        {
            assert!(serde_json::from_value::<ContentBlock>(value.clone()).is_err(), "{value}");
        }
    }
}
