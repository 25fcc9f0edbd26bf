//! Tools whose schemas are derived from the types that their handlers use.

use std::future::ready;
use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{BoxFuture, ToolCall, ToolReply};
use crate::jsonrpc::ErrorObject;
use crate::schema::{strict_input_schema_of, strict_output_schema_of};
use crate::tools::InputRequiredResult;
use crate::{ArgumentError, CallToolResult, Meta, Tool, ToolAnnotations};

/// A tool with the arguments `A` and the output `O`. Its schemas are those of the types, so that the tool cannot disagree
/// with them. [`typed_tool`] makes one, and [`ServerBuilder::typed_tool`](super::ServerBuilder::typed_tool) adds it to a
/// server.
#[derive(Debug, Clone)]
pub struct TypedTool<A, O> {
    tool: Tool,
    types: PhantomData<fn(A) -> O>,
}

/// A tool with the arguments `A` and the output `O`.
///
/// `A` is a struct or map, or [`NoArguments`](crate::NoArguments). `O` is a struct or map, which becomes the structured
/// content and, as JSON, a text; or it is [`CallToolResult`] or [`ToolReply`], and then the tool has no output schema.
///
/// ```
/// use mcp_wire::lifecycle::Implementation;
/// use mcp_wire::server::{Server, ToolFailure, typed_tool};
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Division {
///     dividend: f64,
///     divisor: f64,
/// }
///
/// #[derive(Serialize, JsonSchema)]
/// struct Quotient {
///     quotient: f64,
/// }
///
/// let divide = typed_tool::<Division, Quotient>("divide", "Divides two numbers.").with_title("Divide");
/// let server = Server::builder(Implementation::new("calculator", "1.0"))
///     .typed_tool(divide, |(), Division { dividend, divisor }| async move {
///         if divisor == 0.0 {
///             return Err(ToolFailure::new("divisor: must not be 0"));
///         }
///         Ok(Quotient { quotient: dividend / divisor })
///     })
///     .build()?;
/// assert_eq!(server.tools()[0].input_schema["required"][1], "divisor");
/// # Ok::<(), mcp_wire::RegistryError>(())
/// ```
pub fn typed_tool<A: JsonSchema, O: ToolOutput>(
    name: impl Into<String>,
    description: impl Into<String>,
) -> TypedTool<A, O> {
    let mut tool = Tool::new(name, description, strict_input_schema_of::<A>());
    tool.output_schema = O::output_schema();
    TypedTool { tool, types: PhantomData }
}

impl<A, O> TypedTool<A, O> {
    /// Sets the name for people.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.tool = self.tool.with_title(title);
        self
    }

    /// Sets the hints about its effects.
    #[must_use]
    pub fn with_annotations(mut self, annotations: ToolAnnotations) -> Self {
        self.tool = self.tool.with_annotations(annotations);
        self
    }

    /// Sets the extensions.
    #[must_use]
    pub fn with_meta(mut self, meta: Meta) -> Self {
        self.tool = self.tool.with_meta(meta);
        self
    }

    /// The tool as `tools/list` shows it.
    pub fn tool(&self) -> &Tool {
        &self.tool
    }

    pub(super) fn into_tool(self) -> Tool {
        self.tool
    }
}

/// What a typed tool can return: any type with a schema of an object, [`CallToolResult`] or [`ToolReply`].
pub trait ToolOutput {
    /// The schema of the structured content; `None` if the tool declares none.
    fn output_schema() -> Option<serde_json::Value>;

    /// The reply to the call.
    fn into_reply(self) -> ToolReply;
}

impl<T: Serialize + JsonSchema> ToolOutput for T {
    fn output_schema() -> Option<serde_json::Value> {
        Some(strict_output_schema_of::<T>())
    }

    fn into_reply(self) -> ToolReply {
        match serde_json::to_value(self) {
            Ok(value) if value.is_object() => CallToolResult::structured(value).into(),
            Ok(_) | Err(_) => ErrorObject::internal().into(),
        }
    }
}

impl ToolOutput for CallToolResult {
    fn output_schema() -> Option<serde_json::Value> {
        None
    }

    fn into_reply(self) -> ToolReply {
        self.into()
    }
}

impl ToolOutput for ToolReply {
    fn output_schema() -> Option<serde_json::Value> {
        None
    }

    fn into_reply(self) -> ToolReply {
        self
    }
}

/// Why a typed tool has no output. A text is for the model, which can correct its call; an [`ErrorObject`] refuses the
/// call; an [`InputRequiredResult`] requires input first.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolFailure(Box<ToolReply>);

impl ToolFailure {
    /// An error result with a text that tells the model what to do.
    pub fn new(text: impl Into<String>) -> Self {
        CallToolResult::error(text).into()
    }
}

impl From<String> for ToolFailure {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl From<&str> for ToolFailure {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<ArgumentError> for ToolFailure {
    fn from(error: ArgumentError) -> Self {
        Self::new(format!("{error}. Correct this argument and call the tool again."))
    }
}

impl From<CallToolResult> for ToolFailure {
    fn from(result: CallToolResult) -> Self {
        Self(Box::new(result.into()))
    }
}

impl From<InputRequiredResult> for ToolFailure {
    fn from(required: InputRequiredResult) -> Self {
        Self(Box::new(required.into()))
    }
}

impl From<ErrorObject> for ToolFailure {
    fn from(error: ErrorObject) -> Self {
        Self(Box::new(error.into()))
    }
}

/// The handler of a typed tool.
pub(super) fn handler<C, A, O, R>(run: impl Fn(C, A) -> R) -> impl Fn(ToolCall<C>) -> BoxFuture<ToolReply>
where
    A: DeserializeOwned,
    O: ToolOutput,
    R: Future<Output = Result<O, ToolFailure>> + Send + 'static,
{
    move |call| match call.arguments::<A>() {
        Ok(arguments) => {
            let running = run(call.context, arguments);
            Box::pin(async move { running.await.map_or_else(|failure| *failure.0, O::into_reply) })
        }
        Err(error) => Box::pin(ready(*ToolFailure::from(error).0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headers::MessageHeaders;
    use crate::jsonrpc::INVALID_PARAMS;
    use crate::lifecycle::Implementation;
    use crate::server::{Server, ServerBuilder};
    use crate::{NoArguments, RegistryError};
    use serde::Deserialize;
    use serde_json::{Value, json};

    #[derive(Deserialize, JsonSchema)]
    struct Count {
        to: u32,
    }

    #[derive(Serialize, JsonSchema)]
    struct Numbers {
        numbers: Vec<u32>,
    }

    /// Serialised as a string, although its schema describes an object.
    struct Liar;

    impl Serialize for Liar {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_str("not an object")
        }
    }

    impl JsonSchema for Liar {
        fn schema_name() -> std::borrow::Cow<'static, str> {
            "Liar".into()
        }

        fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
            schemars::json_schema!({"type": "object"})
        }
    }

    fn builder() -> ServerBuilder<()> {
        Server::builder(Implementation::new("s", "1"))
    }

    async fn call(server: &Server<()>, name: &str, arguments: Value) -> Value {
        let params = json!({"name": name, "arguments": arguments});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
        let response = server.handle((), &MessageHeaders::default(), body.as_bytes()).await;
        serde_json::from_slice(&response.body.unwrap()).unwrap()
    }

    #[tokio::test]
    async fn arguments_and_output_have_their_types() {
        let server = builder()
            .typed_tool(typed_tool::<Count, Numbers>("count", "Counts."), |(), Count { to }| async move {
                match to {
                    0 => Err("to: must be at least 1".into()),
                    13 => Err(ErrorObject::invalid_params("13 is refused").into()),
                    _ => Ok(Numbers { numbers: (1..=to).collect() }),
                }
            })
            .build()
            .unwrap();
        let tool = &server.tools()[0];
        assert_eq!(tool.input_schema["properties"]["to"]["type"], "integer");
        assert_eq!(tool.output_schema.as_ref().unwrap()["required"], json!(["numbers"]));

        let result = call(&server, "count", json!({"to": 3})).await["result"].take();
        assert_eq!(result["structuredContent"], json!({"numbers": [1, 2, 3]}));
        assert_eq!(result["content"][0]["text"], r#"{"numbers":[1,2,3]}"#);
        for (arguments, text) in [
            (json!({"to": 0}), "to: must be at least 1"),
            (json!({}), "to: is required. Correct this argument and call the tool again."),
        ] {
            let result = call(&server, "count", arguments).await["result"].take();
            assert_eq!((&result["isError"], &result["content"][0]["text"]), (&json!(true), &json!(text)));
        }
        assert_eq!(call(&server, "count", json!({"to": 13})).await["error"]["code"], INVALID_PARAMS);
    }

    #[tokio::test]
    async fn a_tool_with_free_content_has_no_output_schema() {
        let server = builder()
            .typed_tool(typed_tool::<NoArguments, CallToolResult>("hello", ""), |(), _| async {
                Ok(CallToolResult::text("Hello"))
            })
            .build()
            .unwrap();
        assert_eq!(server.tools()[0].output_schema, None);
        assert_eq!(call(&server, "hello", json!({})).await["result"]["content"][0]["text"], "Hello");
    }

    #[tokio::test]
    async fn types_that_are_not_objects_are_refused() {
        let refused = Some(RegistryError::NotAnObjectSchema { name: "t".into() });
        let number = builder().typed_tool(typed_tool::<u32, Numbers>("t", ""), |(), to| async move {
            Ok(Numbers { numbers: vec![to] })
        });
        assert_eq!(number.build().err(), refused);
        let text =
            builder().typed_tool(typed_tool::<Count, String>("t", ""), |(), _| async { Ok("a".into()) });
        assert_eq!(text.build().err(), refused);
        let liar = builder().typed_tool(typed_tool::<NoArguments, Liar>("t", ""), |(), _| async { Ok(Liar) });
        assert_eq!(call(&liar.build().unwrap(), "t", json!({})).await["error"]["code"], -32603);
    }
}
