//! Prompts: messages that a user chooses, such as by a command, to start a conversation.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::content::Role;
use crate::tools::{InputRequiredResult, or_input_required};
use crate::{CacheScope, ContentBlock, Meta, ResultType};

/// A prompt as `prompts/list` shows it.
///
/// ```
/// use mcp_wire::prompts::{Prompt, PromptArgument};
///
/// let prompt = Prompt::new("greet", "Greets somebody.")
///     .with_argument(PromptArgument::required("name", "Whom to greet."))
///     .with_argument(PromptArgument::optional("language", "The language of the greeting."));
/// assert_eq!(serde_json::to_value(&prompt)?["arguments"][0]["required"], true);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Prompt {
    /// Its name.
    pub name: String,
    /// A name for people (from revision 2025-06-18 on).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// A description for the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<PromptArgument>,
    /// Extensions.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// An argument of a prompt. Its value is a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PromptArgument {
    /// Its name.
    pub name: String,
    /// A name for people (from revision 2025-06-18 on).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// A description for the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether it must be given. Absent means false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required: Option<bool>,
}

/// The result of `prompts/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListPromptsResult {
    /// The kind of result (from revision 2026-07-28 on).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_type: Option<ResultType>,
    /// The prompts, always in the same order.
    pub prompts: Vec<Prompt>,
    /// The cursor of the next page; absent on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// For how many milliseconds it may be cached (from revision 2026-07-28 on).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_ms: Option<u64>,
    /// Who may cache it (from revision 2026-07-28 on).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_scope: Option<CacheScope>,
    /// Extensions.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// The parameters of `prompts/get`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct GetPromptParams {
    /// The name of the prompt.
    pub name: String,
    /// The arguments by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub arguments: BTreeMap<String, String>,
    /// The responses to the requests of an [`InputRequiredResult`], by name (from revision 2026-07-28 on).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_responses: Option<Map<String, Value>>,
    /// The state of the [`InputRequiredResult`], unchanged (from revision 2026-07-28 on).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_state: Option<String>,
    /// Extensions.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// The result of `prompts/get`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct GetPromptResult {
    /// The kind of result (from revision 2026-07-28 on).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_type: Option<ResultType>,
    /// A description for the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The messages, in the order of the conversation.
    pub messages: Vec<PromptMessage>,
    /// Extensions.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// A message of a prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PromptMessage {
    /// The sender.
    pub role: Role,
    /// The content.
    pub content: ContentBlock,
}

/// The result of getting a prompt, for a client.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum PromptOutcome {
    /// The messages.
    Result(GetPromptResult),
    /// The server requires input; send the same request again with the responses.
    InputRequired(InputRequiredResult),
}

impl Prompt {
    /// A prompt without arguments.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: Some(description.into()),
            arguments: Vec::new(),
            meta: None,
        }
    }

    /// Sets the name for people.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Adds an argument.
    #[must_use]
    pub fn with_argument(mut self, argument: PromptArgument) -> Self {
        self.arguments.push(argument);
        self
    }
}

impl PromptArgument {
    /// An argument that must be given.
    pub fn required(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self { required: Some(true), ..Self::optional(name, description) }
    }

    /// An argument that may be absent.
    pub fn optional(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self { name: name.into(), title: None, description: Some(description.into()), required: None }
    }
}

impl ListPromptsResult {
    /// All prompts on one page.
    pub fn new(prompts: Vec<Prompt>) -> Self {
        Self { prompts, ..Self::default() }
    }
}

impl GetPromptParams {
    /// A prompt without arguments.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            arguments: BTreeMap::new(),
            input_responses: None,
            request_state: None,
            meta: None,
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn with_argument(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.arguments.insert(name.into(), value.into());
        self
    }

    /// Adds the responses to the requests of a result that required input, to get the prompt again.
    #[must_use]
    pub fn with_input(mut self, required: InputRequiredResult, responses: Map<String, Value>) -> Self {
        (self.input_responses, self.request_state) = (Some(responses), required.request_state);
        self
    }
}

impl GetPromptResult {
    /// These messages, without a description.
    pub fn new(messages: Vec<PromptMessage>) -> Self {
        Self { messages, ..Self::default() }
    }

    /// Sets the description for the user.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }
}

impl PromptMessage {
    /// A message of the user.
    pub fn user(content: ContentBlock) -> Self {
        Self { role: Role::User, content }
    }

    /// A message of the model.
    pub fn assistant(content: ContentBlock) -> Self {
        Self { role: Role::Assistant, content }
    }
}

impl PromptOutcome {
    /// The result, unless the server requires input.
    pub fn result(self) -> Option<GetPromptResult> {
        match self {
            Self::Result(result) => Some(result),
            Self::InputRequired(_) => None,
        }
    }
}

impl<'de> Deserialize<'de> for PromptOutcome {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(or_input_required(deserializer)?.map_or_else(Self::InputRequired, Self::Result))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_value, json, to_value};

    #[test]
    fn prompts_survive_a_round_trip_with_the_protocols_names() {
        let prompt = Prompt::new("greet", "Greets.")
            .with_title("Greet")
            .with_argument(PromptArgument::required("name", "Whom."))
            .with_argument(PromptArgument::optional("language", "Which."));
        let value =
            to_value(ListPromptsResult::new(vec![prompt.clone(), Prompt::new("bye", "Leaves.")])).unwrap();
        let expect = json!({"prompts": [
            {
                "name": "greet",
                "title": "Greet",
                "description": "Greets.",
                "arguments": [
                    {"name": "name", "description": "Whom.", "required": true},
                    {"name": "language", "description": "Which."},
                ],
            },
            {"name": "bye", "description": "Leaves."},
        ]});
        assert_eq!(value, expect);
        assert_eq!(from_value::<ListPromptsResult>(value).unwrap().prompts[0], prompt);
        let unknown = json!({"name": "p", "icons": [], "arguments": [{"name": "a", "later": 1}]});
        assert_eq!(from_value::<Prompt>(unknown).unwrap().arguments[0].required, None);
    }

    #[test]
    fn messages_survive_a_round_trip() {
        let result = GetPromptResult::new(vec![
            PromptMessage::user(ContentBlock::text("Hello")),
            PromptMessage::assistant(ContentBlock::image("AA==", "image/png")),
        ])
        .with_description("d");
        let value = to_value(&result).unwrap();
        let expect = json!({"description": "d", "messages": [
            {"role": "user", "content": {"type": "text", "text": "Hello"}},
            {"role": "assistant", "content": {"type": "image", "data": "AA==", "mimeType": "image/png"}},
        ]});
        assert_eq!(value, expect);
        assert_eq!(from_value::<PromptOutcome>(value).unwrap().result(), Some(result));
    }

    #[test]
    fn a_prompt_may_require_input() {
        let value = json!({"resultType": "input_required", "requestState": "s"});
        let Ok(PromptOutcome::InputRequired(required)) = from_value(value) else { panic!("not required") };
        assert_eq!(required.request_state.as_deref(), Some("s"));
    }

    #[test]
    fn parameters_have_texts_as_arguments() {
        let params = GetPromptParams::new("greet").with_argument("name", "Ada");
        assert_eq!(to_value(&params).unwrap(), json!({"name": "greet", "arguments": {"name": "Ada"}}));
        assert_eq!(
            from_value::<GetPromptParams>(json!({"name": "greet"})).unwrap(),
            GetPromptParams::new("greet")
        );
        assert!(from_value::<GetPromptParams>(json!({"name": "greet", "arguments": {"name": 7}})).is_err());
    }
}
