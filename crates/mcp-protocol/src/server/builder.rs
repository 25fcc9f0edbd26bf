use std::collections::HashMap;

#[cfg(feature = "schema")]
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::handlers::{Method, PromptHandler, ResourceHandler, TemplateHandler, ToolHandler};
use super::static_results::{Lists, StaticResults, result_meta};
#[cfg(feature = "schema")]
use super::typed::{self, ToolFailure, ToolOutput, TypedTool};
use super::{BoxFuture, Eras, MethodCall, PromptCall, PromptReply, Server, ToolCall, ToolReply};
use crate::content::ResourceContents;
use crate::headers::{HeaderParameter, declared_parameters};
use crate::jsonrpc::ErrorObject;
use crate::lifecycle::{Implementation, ServerCapabilities};
use crate::methods::{
    DISCOVER, INITIALIZE, PING, PROMPTS_GET, PROMPTS_LIST, RESOURCE_TEMPLATES_LIST, RESOURCES_LIST,
    RESOURCES_READ, TOOLS_CALL, TOOLS_LIST,
};
use crate::prompts::ListPromptsResult;
use crate::registry::ToolRegistryBuilder;
use crate::resources::{ListResourceTemplatesResult, ListResourcesResult, Resource, ResourceTemplate};
use crate::{Caching, Prompt, RegistryError, Tool, ToolRegistry};

/// Declared by the server itself, if it has tools, prompts or resources.
const OWN_CAPABILITIES: [&str; 3] = ["tools", "prompts", "resources"];
/// Handled by the server itself.
const OWN_METHODS: [&str; 10] = [
    DISCOVER,
    INITIALIZE,
    PING,
    PROMPTS_GET,
    PROMPTS_LIST,
    RESOURCE_TEMPLATES_LIST,
    RESOURCES_LIST,
    RESOURCES_READ,
    TOOLS_CALL,
    TOOLS_LIST,
];

/// Builds a [`Server`].
pub struct ServerBuilder<C> {
    info: Implementation,
    instructions: Option<String>,
    capabilities: Map<String, Value>,
    list_caching: Caching,
    resource_caching: Caching,
    tools: ToolRegistryBuilder<ToolHandler<C>>,
    prompts: Vec<(Prompt, PromptHandler<C>)>,
    resources: Vec<(Resource, ResourceHandler<C>)>,
    templates: Vec<(ResourceTemplate, TemplateHandler<C>)>,
    methods: Vec<(String, Method<C>)>,
}

impl<C: Send + 'static> ServerBuilder<C> {
    pub(super) fn new(info: Implementation) -> Self {
        Self {
            info,
            instructions: None,
            capabilities: Map::new(),
            list_caching: Caching::NONE,
            resource_caching: Caching::NONE,
            tools: ToolRegistry::builder(),
            prompts: Vec::new(),
            resources: Vec::new(),
            templates: Vec::new(),
            methods: Vec::new(),
        }
    }

    /// Sets the instructions for the model on how to use the server.
    #[must_use]
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Sets how long clients may cache lists and the server's description, and how long resources. The default is no
    /// caching. Only revisions from 2026-07-28 on have it.
    #[must_use]
    pub fn caching(mut self, lists: Caching, resources: Caching) -> Self {
        (self.list_caching, self.resource_caching) = (lists, resources);
        self
    }

    /// Adds a tool. With the feature `schema`, `typed_tool` derives its schemas from types.
    #[must_use]
    pub fn tool(
        mut self,
        tool: Tool,
        handler: impl Fn(ToolCall<C>) -> BoxFuture<ToolReply> + Send + Sync + 'static,
    ) -> Self {
        self.tools = self.tools.tool(tool, Box::new(handler));
        self
    }

    /// Adds a tool with typed arguments and output; see [`typed_tool`](super::typed_tool()). Invalid arguments give an error
    /// result for the model.
    #[cfg(feature = "schema")]
    #[must_use]
    pub fn typed_tool<A, O, R>(
        self,
        tool: TypedTool<A, O>,
        run: impl Fn(C, A) -> R + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned + 'static,
        O: ToolOutput + 'static,
        R: Future<Output = Result<O, ToolFailure>> + Send + 'static,
    {
        self.tool(tool.into_tool(), typed::handler(run))
    }

    /// Adds a prompt. The server refuses requests without its required arguments. The answers to requests are not cached.
    ///
    /// ```
    /// use mcp_wire::lifecycle::Implementation;
    /// use mcp_wire::prompts::{GetPromptResult, PromptMessage};
    /// use mcp_wire::{ContentBlock, Prompt, PromptArgument, Server};
    ///
    /// let greet = Prompt::new("greet", "Greets somebody.")
    ///     .with_argument(PromptArgument::required("name", "Whom to greet."));
    /// let server = Server::<()>::builder(Implementation::new("greeter", "1.0"))
    ///     .prompt(greet, |call| {
    ///         let name = call.params.arguments.get("name").cloned().unwrap_or_default();
    ///         let message = PromptMessage::user(ContentBlock::text(format!("Say hello to {name}.")));
    ///         Box::pin(async move { GetPromptResult::new(vec![message]).into() })
    ///     })
    ///     .build()?;
    /// # Ok::<(), mcp_wire::RegistryError>(())
    /// ```
    #[must_use]
    pub fn prompt(
        mut self,
        prompt: Prompt,
        handler: impl Fn(PromptCall<C>) -> BoxFuture<PromptReply> + Send + Sync + 'static,
    ) -> Self {
        self.prompts.push((prompt, Box::new(handler)));
        self
    }

    /// Adds a resource.
    #[must_use]
    pub fn resource<R>(mut self, resource: Resource, read: impl Fn(C) -> R + Send + Sync + 'static) -> Self
    where
        R: Future<Output = Vec<ResourceContents>> + Send + 'static,
    {
        self.resources.push((resource, Box::new(move |context| Box::pin(read(context)))));
        self
    }

    /// Adds a resource template. `read` gets a URI that no resource has. It returns `None` if the URI does not match
    /// the template; its future returns `None` if there is no such resource.
    #[must_use]
    pub fn resource_template(
        mut self,
        template: ResourceTemplate,
        read: impl Fn(&C, &str) -> Option<BoxFuture<Option<Vec<ResourceContents>>>> + Send + Sync + 'static,
    ) -> Self {
        self.templates.push((template, Box::new(read)));
        self
    }

    /// Declares a capability. Tools, prompts and resources are declared automatically.
    #[must_use]
    pub fn capability(mut self, name: impl Into<String>, value: Value) -> Self {
        self.capabilities.insert(name.into(), value);
        self
    }

    /// Adds a method, such as `completion/complete`; `run` returns the members of its result. From revision 2026-07-28 on, the
    /// server adds `resultType` and its description; `ttlMs` and `cacheScope` are up to the method.
    #[must_use]
    pub fn method<R>(
        mut self,
        name: impl Into<String>,
        eras: Eras,
        run: impl Fn(MethodCall<C>) -> R + Send + Sync + 'static,
    ) -> Self
    where
        R: Future<Output = Result<Map<String, Value>, ErrorObject>> + Send + 'static,
    {
        let handler = Box::new(move |call| -> BoxFuture<_> { Box::pin(run(call)) });
        self.methods.push((name.into(), Method { eras, handler }));
        self
    }

    /// Builds the server.
    ///
    /// # Errors
    /// If a name or URI is duplicate or reserved, a name is invalid, a schema does not describe an object, or it declares
    /// headers wrongly.
    pub fn build(self) -> Result<Server<C>, RegistryError> {
        let tools = self.tools.build()?;
        if let Some(name) = self.capabilities.keys().find(|name| OWN_CAPABILITIES.contains(&name.as_str())) {
            return Err(RegistryError::Reserved { name: name.clone() });
        }
        let methods = by_name(self.methods)?;
        let header_parameters = header_parameters(&tools)?;
        let mut capabilities =
            ServerCapabilities { others: self.capabilities, ..ServerCapabilities::default() };
        if !tools.tools().is_empty() {
            capabilities = capabilities.with_tools();
        }
        if !(self.resources.is_empty() && self.templates.is_empty()) {
            capabilities = capabilities.with_resources();
        }
        if !self.prompts.is_empty() {
            capabilities = capabilities.with_prompts();
        }
        let listed_prompts = self.prompts.iter().map(|(prompt, _)| prompt.clone()).collect();
        let mut prompts = HashMap::with_capacity(self.prompts.len());
        for (prompt, handler) in self.prompts {
            if let Some((duplicate, _)) = prompts.insert(prompt.name.clone(), (prompt, handler)) {
                return Err(RegistryError::DuplicatePrompt { name: duplicate.name });
            }
        }
        let (listed, handlers): (Vec<_>, Vec<_>) = self.resources.into_iter().unzip();
        let (listed_templates, templates) = self.templates.into_iter().unzip();
        let mut resources = HashMap::with_capacity(handlers.len());
        for (resource, handler) in listed.iter().zip(handlers) {
            if resources.insert(resource.uri.clone(), handler).is_some() {
                return Err(RegistryError::DuplicateUri { uri: resource.uri.clone() });
            }
        }
        let unwritable = |error: serde_json::Error| RegistryError::NotJson { reason: error.to_string() };
        let result_meta = result_meta(&self.info).map_err(unwritable)?;
        let static_results = StaticResults::new(&Lists {
            capabilities: &capabilities,
            instructions: self.instructions.as_deref(),
            tools: &tools.list(),
            prompts: &ListPromptsResult::new(listed_prompts),
            resources: &ListResourcesResult::new(listed),
            templates: &ListResourceTemplatesResult::new(listed_templates),
            caching: self.list_caching,
            result_meta: &result_meta,
        })
        .map_err(unwritable)?;
        Ok(Server {
            info: self.info,
            result_meta,
            capabilities,
            instructions: self.instructions,
            tools,
            prompts,
            resources,
            templates,
            resource_caching: self.resource_caching,
            methods,
            static_results,
            header_parameters,
        })
    }
}

/// The headers that repeat arguments, for the tools that declare some.
fn header_parameters<H>(
    tools: &ToolRegistry<H>,
) -> Result<HashMap<String, Vec<HeaderParameter>>, RegistryError> {
    let mut by_tool = HashMap::new();
    for tool in tools.tools() {
        let declared = declared_parameters(&tool.input_schema)
            .map_err(|problem| RegistryError::HeaderParameter { name: tool.name.clone(), problem })?;
        if !declared.is_empty() {
            by_tool.insert(tool.name.clone(), declared);
        }
    }
    Ok(by_tool)
}

fn by_name<C>(methods: Vec<(String, Method<C>)>) -> Result<HashMap<String, Method<C>>, RegistryError> {
    let mut by_name = HashMap::with_capacity(methods.len());
    for (name, method) in methods {
        if OWN_METHODS.contains(&name.as_str()) || by_name.contains_key(&name) {
            return Err(RegistryError::Reserved { name });
        }
        by_name.insert(name, method);
    }
    Ok(by_name)
}
