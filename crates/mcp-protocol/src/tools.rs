//! Tools: how they are listed, called and answered.

use crate::arguments::ArgumentError;
use crate::jsonrpc::Params;
use crate::schema::input_schema_of;
use crate::{CacheScope, ContentBlock, Meta, ResultType};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::{Map, Value};

/// A tool as `tools/list` shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Tool {
    /// The name by which it is called.
    pub name: String,
    /// A name for people (from revision 2025-06-18 on).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it does and when to use it, for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The JSON Schema of its arguments, an object; see [`crate::schema::input_schema_of`].
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

/// Hints about a tool's effects, from which a client decides when to ask its user. Never a guarantee.
///
/// ```
/// use mcp_protocol::ToolAnnotations;
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
    /// It changes nothing; absent means false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// It may destroy, not only add; absent means true. Without meaning for a read-only tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// A second call with the same arguments has no further effect; absent means false. Without meaning for a
    /// read-only tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// It reaches things outside the server, such as the web; absent means true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

/// The parameters of `tools/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ListToolsParams {
    /// Where to go on: the `nextCursor` of the page before.
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
    /// What kind of result it is (from revision 2026-07-28 on).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_type: Option<ResultType>,
    /// The tools, always in the same order.
    pub tools: Vec<Tool>,
    /// Where the next page begins; absent on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// For how many milliseconds it may be kept (from revision 2026-07-28 on).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_ms: Option<u64>,
    /// Who may keep it (from revision 2026-07-28 on).
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
    /// Which tool.
    pub name: String,
    /// With what; absent means an empty object. Read it with [`crate::parse_arguments`].
    #[serde(default)]
    pub arguments: Map<String, Value>,
    /// The answers to what an [`InputRequiredResult`] asked, by the same names (from revision 2026-07-28 on).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_responses: Option<Map<String, Value>>,
    /// What the [`InputRequiredResult`] gave to be brought back (from revision 2026-07-28 on).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_state: Option<String>,
    /// Extensions, such as a progress token.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// Instead of a result: what the server has to ask the client before (from revision 2026-07-28 on). The client sends the
/// same call again, with the answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct InputRequiredResult {
    /// [`ResultType::InputRequired`].
    pub result_type: ResultType,
    /// The questions, each a request such as `elicitation/create` with `method` and `params`, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_requests: Option<Map<String, Value>>,
    /// To be brought back with the answers, untouched.
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
    /// What kind of result it is (from revision 2026-07-28 on).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_type: Option<ResultType>,
    /// What the model reads.
    #[serde(default)]
    pub content: Vec<ContentBlock>,
    /// The same for programs, as the tool's output schema says (from revision 2025-06-18 on).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured_content: Option<Value>,
    /// The call failed, and the content says why; written only when true.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_error: bool,
    /// Extensions.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

impl Tool {
    /// A tool without title, output schema and annotations.
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

    /// A tool whose arguments are read into `A`.
    ///
    /// ```
    /// use mcp_protocol::Tool;
    /// use schemars::JsonSchema;
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Greet {
    ///     name: String,
    /// }
    ///
    /// let tool = Tool::taking::<Greet>("greet", "Greets somebody.");
    /// assert_eq!(tool.input_schema["required"][0], "name");
    /// ```
    pub fn typed<A: JsonSchema>(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self::new(name, description, input_schema_of::<A>())
    }

    /// The same with a name for people.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// The same with a schema of its structured content; see [`crate::schema::output_schema_of`].
    #[must_use]
    pub fn with_output_schema(mut self, output_schema: Value) -> Self {
        self.output_schema = Some(output_schema);
        self
    }

    /// The same with hints about its effects.
    #[must_use]
    pub fn with_annotations(mut self, annotations: ToolAnnotations) -> Self {
        self.annotations = Some(annotations);
        self
    }

    /// The same with extensions.
    #[must_use]
    pub fn with_meta(mut self, meta: Meta) -> Self {
        self.meta = Some(meta);
        self
    }
}

impl ToolAnnotations {
    /// A name for people and no hints.
    pub fn titled(title: impl Into<String>) -> Self {
        Self { title: Some(title.into()), ..Self::default() }
    }

    /// The same with `readOnlyHint`.
    #[must_use]
    pub fn read_only(mut self, hint: bool) -> Self {
        self.read_only_hint = Some(hint);
        self
    }

    /// The same with `destructiveHint`.
    #[must_use]
    pub fn destructive(mut self, hint: bool) -> Self {
        self.destructive_hint = Some(hint);
        self
    }

    /// The same with `idempotentHint`.
    #[must_use]
    pub fn idempotent(mut self, hint: bool) -> Self {
        self.idempotent_hint = Some(hint);
        self
    }

    /// The same with `openWorldHint`.
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

    /// The same with one argument more.
    #[must_use]
    pub fn with_argument(mut self, name: impl Into<String>, value: Value) -> Self {
        self.arguments.insert(name.into(), value);
        self
    }

    /// Takes the call out of a request's parameters, without copying the arguments.
    ///
    /// # Errors
    /// When `name` is missing or not a string, or `arguments` or `_meta` is there but not an object. The error
    /// becomes an [`ErrorObject`](crate::jsonrpc::ErrorObject) with code
    /// [`INVALID_PARAMS`](crate::jsonrpc::INVALID_PARAMS) by `into()`.
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

/// What a client gets for a call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolOutcome {
    /// The tool ran.
    Result(CallToolResult),
    /// The server asks back; send the same call again, with the answers.
    InputRequired(InputRequiredResult),
}

impl ToolOutcome {
    /// The result, unless the server asks back.
    pub fn result(self) -> Option<CallToolResult> {
        match self {
            Self::Result(result) => Some(result),
            Self::InputRequired(_) => None,
        }
    }
}

impl<'de> Deserialize<'de> for ToolOutcome {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let asks = value.get("resultType").is_some_and(|kind| kind == "input_required");
        let outcome = if asks {
            serde_json::from_value(value).map(Self::InputRequired)
        } else {
            serde_json::from_value(value).map(Self::Result)
        };
        outcome.map_err(de::Error::custom)
    }
}

impl InputRequiredResult {
    /// Asks these: each a name and a request with `method` and `params`.
    ///
    /// ```
    /// use mcp_protocol::tools::InputRequiredResult;
    /// use serde_json::json;
    ///
    /// let asked = InputRequiredResult::asking([("folders", json!({"method": "roots/list"}))]).with_request_state("1");
    /// assert_eq!(serde_json::to_value(&asked)?["inputRequests"]["folders"]["method"], "roots/list");
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

    /// The same with what is to be brought back with the answers. The client can read and change it: sign it.
    #[must_use]
    pub fn with_request_state(mut self, state: impl Into<String>) -> Self {
        self.request_state = Some(state.into());
        self
    }
}

impl CallToolResult {
    /// A result that is one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![ContentBlock::text(text)], ..Self::default() }
    }

    /// A failure, told in one text so that the model can do better.
    pub fn error(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }

    /// A value for programs, which also stands as JSON in a text for clients that read only text.
    pub fn structured(value: Value) -> Self {
        Self::text(value.to_string()).with_structured_content(value)
    }

    /// The same with a value for programs, the texts unchanged.
    #[must_use]
    pub fn with_structured_content(mut self, value: Value) -> Self {
        self.structured_content = Some(value);
        self
    }

    /// The same with one block more.
    #[must_use]
    pub fn with_content(mut self, block: ContentBlock) -> Self {
        self.content.push(block);
        self
    }

    /// The same with extensions.
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
