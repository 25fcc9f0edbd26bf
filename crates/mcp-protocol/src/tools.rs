//! Tools: lists, calls and results.

use crate::arguments::ArgumentError;
use crate::jsonrpc::Params;
use crate::{CacheScope, ContentBlock, Meta, ResultType};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::{Map, Value};

/// A tool as `tools/list` shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// A name for people (from revision 2025-06-18 on).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// A description for the model: what it does and when to use it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The JSON Schema of its arguments, an object. With the feature `schema`, `input_schema_of` derives it.
    pub input_schema: Value,
    /// The JSON Schema of its structured content (from revision 2025-06-18 on).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// Hints about its effects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<ToolAnnotations>,
    /// Extensions.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// Hints about a tool's effects, for a client to decide when to ask its user. Not a guarantee.
///
/// ```
/// use mcp_wire::ToolAnnotations;
///
/// let search = ToolAnnotations::titled("Search photos").read_only(true).open_world(false);
/// assert_eq!(search.read_only_hint, Some(true));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolAnnotations {
    /// A name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// It changes nothing. Absent means false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// It may delete or overwrite, not only add. Absent means true. Meaningless for a read-only tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// A second call with the same arguments has no further effect. Absent means false. Meaningless for a read-only
    /// tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// It interacts with systems outside the server, such as the web. Absent means true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

/// The parameters of `tools/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ListToolsParams {
    /// The `nextCursor` of the previous page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Extensions.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// The result of `tools/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListToolsResult {
    /// The kind of result (from revision 2026-07-28 on).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_type: Option<ResultType>,
    /// The tools, always in the same order.
    pub tools: Vec<Tool>,
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

/// The parameters of `tools/call`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CallToolParams {
    /// The name of the tool.
    pub name: String,
    /// The arguments; absent means an empty object. [`crate::parse_arguments`] deserializes them.
    #[serde(default)]
    pub arguments: Map<String, Value>,
    /// The responses to the requests of an [`InputRequiredResult`], by name (from revision 2026-07-28 on).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_responses: Option<Map<String, Value>>,
    /// The state of the [`InputRequiredResult`], unchanged (from revision 2026-07-28 on).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_state: Option<String>,
    /// Extensions, such as a progress token.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// Requests for input, instead of a result (from revision 2026-07-28 on). The client sends the same call again with the
/// responses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct InputRequiredResult {
    /// [`ResultType::InputRequired`].
    pub result_type: ResultType,
    /// The requests by name, each with `method` and `params`, such as `elicitation/create`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_requests: Option<Map<String, Value>>,
    /// To be returned unchanged with the responses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_state: Option<String>,
    /// Extensions.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// The result of `tools/call`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CallToolResult {
    /// The kind of result (from revision 2026-07-28 on).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_type: Option<ResultType>,
    /// The content for the model.
    #[serde(default)]
    pub content: Vec<ContentBlock>,
    /// The result for programs, as in the tool's output schema (from revision 2025-06-18 on).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured_content: Option<Value>,
    /// Whether the call failed; the content has the reason. Written only when true.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_error: bool,
    /// Extensions.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

impl Tool {
    /// A tool with only the required members and a description.
    pub fn new(name: impl Into<String>, description: impl Into<String>, input_schema: Value) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: Some(description.into()),
            input_schema,
            output_schema: None,
            annotations: None,
            meta: None,
        }
    }

    /// Sets the name for people.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets the schema of its structured content, an object.
    #[must_use]
    pub fn with_output_schema(mut self, output_schema: Value) -> Self {
        self.output_schema = Some(output_schema);
        self
    }

    /// Sets the hints about its effects.
    #[must_use]
    pub fn with_annotations(mut self, annotations: ToolAnnotations) -> Self {
        self.annotations = Some(annotations);
        self
    }

    /// Sets the extensions.
    #[must_use]
    pub fn with_meta(mut self, meta: Meta) -> Self {
        self.meta = Some(meta);
        self
    }
}

impl ToolAnnotations {
    /// A name for people, without hints.
    pub fn titled(title: impl Into<String>) -> Self {
        Self { title: Some(title.into()), ..Self::default() }
    }

    /// Sets `readOnlyHint`.
    #[must_use]
    pub fn read_only(mut self, hint: bool) -> Self {
        self.read_only_hint = Some(hint);
        self
    }

    /// Sets `destructiveHint`.
    #[must_use]
    pub fn destructive(mut self, hint: bool) -> Self {
        self.destructive_hint = Some(hint);
        self
    }

    /// Sets `idempotentHint`.
    #[must_use]
    pub fn idempotent(mut self, hint: bool) -> Self {
        self.idempotent_hint = Some(hint);
        self
    }

    /// Sets `openWorldHint`.
    #[must_use]
    pub fn open_world(mut self, hint: bool) -> Self {
        self.open_world_hint = Some(hint);
        self
    }
}

impl ListToolsResult {
    /// All tools on one page.
    pub fn new(tools: Vec<Tool>) -> Self {
        Self { tools, ..Self::default() }
    }
}

impl CallToolParams {
    /// A call without arguments.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            arguments: Map::new(),
            input_responses: None,
            request_state: None,
            meta: None,
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn with_argument(mut self, name: impl Into<String>, value: Value) -> Self {
        self.arguments.insert(name.into(), value);
        self
    }

    /// Sets all arguments.
    #[must_use]
    pub fn with_arguments(mut self, arguments: Map<String, Value>) -> Self {
        self.arguments = arguments;
        self
    }

    /// Adds the responses to the requests of a result that required input, to call the tool again.
    #[must_use]
    pub fn with_input(mut self, required: InputRequiredResult, responses: Map<String, Value>) -> Self {
        (self.input_responses, self.request_state) = (Some(responses), required.request_state);
        self
    }

    /// Reads the call from a request's parameters, without copying the arguments.
    ///
    /// # Errors
    /// If `name` is missing or not a string, or `arguments` or `_meta` is not an object. `into()` converts the error to
    /// an [`ErrorObject`](crate::jsonrpc::ErrorObject) with code [`INVALID_PARAMS`](crate::jsonrpc::INVALID_PARAMS).
    pub fn from_params(params: Option<Params>) -> Result<Self, ArgumentError> {
        let mut members = Params::into_object(params)?;
        let name = match members.remove("name") {
            Some(Value::String(name)) => name,
            Some(other) => return Err(ArgumentError::unexpected("name", "a string", &other)),
            None => return Err(ArgumentError::new("name", "is required")),
        };
        let arguments = take_object(&mut members, "arguments")?.unwrap_or_default();
        let input_responses = take_object(&mut members, "inputResponses")?;
        let request_state = match members.remove("requestState") {
            None => None,
            Some(Value::String(state)) => Some(state),
            Some(other) => return Err(ArgumentError::unexpected("requestState", "a string", &other)),
        };
        let meta = take_object(&mut members, "_meta")?;
        Ok(Self { name, arguments, input_responses, request_state, meta })
    }
}

fn take_object(members: &mut Map<String, Value>, name: &str) -> Result<Option<Meta>, ArgumentError> {
    match members.remove(name) {
        None => Ok(None),
        Some(Value::Object(object)) => Ok(Some(object)),
        Some(other) => Err(ArgumentError::unexpected(name, "an object", &other)),
    }
}

/// The result of a tool call, for a client.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ToolOutcome {
    /// The tool ran.
    Result(CallToolResult),
    /// The server requires input; send the same call again with the responses.
    InputRequired(InputRequiredResult),
}

impl ToolOutcome {
    /// The result, unless the server requires input.
    pub fn result(self) -> Option<CallToolResult> {
        match self {
            Self::Result(result) => Some(result),
            Self::InputRequired(_) => None,
        }
    }
}

impl<'de> Deserialize<'de> for ToolOutcome {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(or_input_required(deserializer)?.map_or_else(Self::InputRequired, Self::Result))
    }
}

/// Deserializes a result, or the server's requests for input instead.
pub(crate) fn or_input_required<'de, R: DeserializeOwned, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Result<R, InputRequiredResult>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    let requires_input = value.get("resultType").is_some_and(|kind| kind == "input_required");
    let outcome = if requires_input {
        serde_json::from_value(value).map(Err)
    } else {
        serde_json::from_value(value).map(Ok)
    };
    outcome.map_err(de::Error::custom)
}

impl InputRequiredResult {
    /// Requires input by these requests: pairs of a name and a request with `method` and `params`.
    ///
    /// ```
    /// use mcp_wire::tools::InputRequiredResult;
    /// use serde_json::json;
    ///
    /// let required = InputRequiredResult::new([("folders", json!({"method": "roots/list"}))]).with_request_state("1");
    /// assert_eq!(serde_json::to_value(&required)?["inputRequests"]["folders"]["method"], "roots/list");
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn new<N: Into<String>>(requests: impl IntoIterator<Item = (N, Value)>) -> Self {
        let requests = requests.into_iter().map(|(name, request)| (name.into(), request)).collect();
        Self {
            result_type: ResultType::InputRequired,
            input_requests: Some(requests),
            request_state: None,
            meta: None,
        }
    }

    /// Sets the state to be returned with the responses. The client can read and change it, so sign it.
    #[must_use]
    pub fn with_request_state(mut self, state: impl Into<String>) -> Self {
        self.request_state = Some(state.into());
        self
    }
}

impl CallToolResult {
    /// A result with one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![ContentBlock::text(text)], ..Self::default() }
    }

    /// An error result with one text that tells the model what to do.
    pub fn error(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }

    /// A result for programs, also as JSON in a text for clients that read only text.
    pub fn structured(value: Value) -> Self {
        Self::text(value.to_string()).with_structured_content(value)
    }

    /// Sets the result for programs; the content stays unchanged.
    #[must_use]
    pub fn with_structured_content(mut self, value: Value) -> Self {
        self.structured_content = Some(value);
        self
    }

    /// Adds a content block.
    #[must_use]
    pub fn with_content(mut self, block: ContentBlock) -> Self {
        self.content.push(block);
        self
    }

    /// Sets the extensions.
    #[must_use]
    pub fn with_meta(mut self, meta: Meta) -> Self {
        self.meta = Some(meta);
        self
    }

    /// The first text block.
    pub fn first_text(&self) -> Option<&str> {
        self.content.iter().find_map(ContentBlock::as_text)
    }
}

#[cfg(test)]
mod tests;
