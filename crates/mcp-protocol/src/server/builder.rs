use std::collections::HashMap;

use serde_json::{Map, Value};

use super::handlers::{Method, ResourceHandler, TemplateHandler, ToolHandler};
use super::pages::{Contents, Pages, result_meta};
use super::{BoxFuture, Eras, MethodCall, Server, ToolCall, ToolReply};
use crate::content::ResourceContents;
use crate::jsonrpc::ErrorObject;
use crate::lifecycle::{Implementation, ServerCapabilities};
use crate::methods::{
    DISCOVER, INITIALIZE, PING, RESOURCE_TEMPLATES_LIST, RESOURCES_LIST, RESOURCES_READ, TOOLS_CALL,
    TOOLS_LIST,
};
use crate::registry::ToolRegistryBuilder;
use crate::resources::{ListResourceTemplatesResult, ListResourcesResult, Resource, ResourceTemplate};
use crate::{Caching, RegistryError, Tool, ToolRegistry};

/// Declared when there is something of the kind.
const OWN_CAPABILITIES: [&str; 2] = ["tools", "resources"];
/// Served by the server itself.
const OWN_METHODS: [&str; 8] = [
    DISCOVER,
    INITIALIZE,
    PING,
    RESOURCE_TEMPLATES_LIST,
    RESOURCES_LIST,
    RESOURCES_READ,
    TOOLS_CALL,
    TOOLS_LIST,
];

/// Collects what a [`Server`] serves.
pub struct ServerBuilder<C> {
    info: Implementation,
    instructions: Option<String>,
    capabilities: Map<String, Value>,
    caching: Caching,
    reading: Caching,
    tools: ToolRegistryBuilder<ToolHandler<C>>,
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
            caching: Caching::NONE,
            reading: Caching::NONE,
            tools: ToolRegistry::builder(),
            resources: Vec::new(),
            templates: Vec::new(),
            methods: Vec::new(),
        }
    }

    /// How a model should use the server, in words.
    #[must_use]
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// For how long clients may keep the lists and the server's description, and for how long what resources hold; not at
    /// all when this is not called. Revisions before 2026-07-28 have no word for it.
    #[must_use]
    pub fn caching(mut self, lists: Caching, reading: Caching) -> Self {
        (self.caching, self.reading) = (lists, reading);
        self
    }

    /// Adds a tool after those added before; see [`typed`](super::typed) for one with arguments of a type.
    #[must_use]
    pub fn tool(
        mut self,
        tool: Tool,
        handler: impl Fn(ToolCall<C>) -> BoxFuture<ToolReply> + Send + Sync + 'static,
    ) -> Self {
        self.tools = self.tools.tool(tool, Box::new(handler));
        self
    }

    /// Adds a resource after those added before.
    #[must_use]
    pub fn resource<R>(mut self, resource: Resource, read: impl Fn(C) -> R + Send + Sync + 'static) -> Self
    where
        R: Future<Output = Vec<ResourceContents>> + Send + 'static,
    {
        self.resources.push((resource, Box::new(move |context| Box::pin(read(context)))));
        self
    }

    /// Adds a family of resources. `read` is given an address that no resource has; it answers `None` at once when the
    /// address is not of the family, and in the end when nothing stands there.
    #[must_use]
    pub fn resource_template(
        mut self,
        template: ResourceTemplate,
        read: impl Fn(&C, &str) -> Option<BoxFuture<Option<Vec<ResourceContents>>>> + Send + Sync + 'static,
    ) -> Self {
        self.templates.push((template, Box::new(read)));
        self
    }

    /// Declares a capability beside tools and resources, which are declared when there are some.
    #[must_use]
    pub fn capability(mut self, name: impl Into<String>, value: Value) -> Self {
        self.capabilities.insert(name.into(), value);
        self
    }

    /// Serves one method more, such as `prompts/list`, with the members of its result. From revision 2026-07-28 on `resultType`
    /// and the server's name are added; `ttlMs` and `cacheScope`, which some methods then need, are the method's own.
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

    /// The server.
    ///
    /// # Errors
    /// When a name or address is taken twice or by the server itself, a name is not allowed, or a schema is not that of an
    /// object.
    pub fn build(self) -> Result<Server<C>, RegistryError> {
        let tools = self.tools.build()?;
        if let Some(name) = self.capabilities.keys().find(|name| OWN_CAPABILITIES.contains(&name.as_str())) {
            return Err(RegistryError::Reserved { name: name.clone() });
        }
        let methods = named(self.methods)?;
        let mut capabilities =
            ServerCapabilities { others: self.capabilities, ..ServerCapabilities::default() };
        if !tools.tools().is_empty() {
            capabilities = capabilities.with_tools();
        }
        if !(self.resources.is_empty() && self.templates.is_empty()) {
            capabilities = capabilities.with_resources();
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
        let pages = Pages::new(&Contents {
            capabilities: &capabilities,
            instructions: self.instructions.as_deref(),
            tools: &tools.list(),
            resources: &ListResourcesResult::new(listed),
            templates: &ListResourceTemplatesResult::new(listed_templates),
            caching: self.caching,
            result_meta: &result_meta,
        })
        .map_err(unwritable)?;
        Ok(Server {
            info: self.info,
            result_meta,
            capabilities,
            instructions: self.instructions,
            tools,
            resources,
            templates,
            reading: self.reading,
            methods,
            pages,
        })
    }
}

fn named<C>(methods: Vec<(String, Method<C>)>) -> Result<HashMap<String, Method<C>>, RegistryError> {
    let mut by_name = HashMap::with_capacity(methods.len());
    for (name, method) in methods {
        if OWN_METHODS.contains(&name.as_str()) || by_name.contains_key(&name) {
            return Err(RegistryError::Reserved { name });
        }
        by_name.insert(name, method);
    }
    Ok(by_name)
}
