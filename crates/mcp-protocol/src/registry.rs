//! The tools of a server with their handlers.

use crate::headers::InvalidHeaderParameter;
use crate::{ListToolsResult, Tool};
use std::collections::HashMap;
use std::fmt;

/// The longest tool name, in characters (revision 2025-11-25).
const MAX_NAME_CHARS: usize = 128;

/// A fixed set of tools in the order of registration. The server chooses the type of the handlers: a function pointer,
/// a boxed closure, an enum.
///
/// ```
/// use mcp_wire::{Tool, ToolRegistry};
/// use serde_json::json;
///
/// #[derive(Debug, PartialEq)]
/// enum Handler { Info, Search }
///
/// let empty = || json!({"type": "object", "properties": {}});
/// let registry = ToolRegistry::builder()
///     .tool(Tool::new("get_info", "Describes the library.", empty()), Handler::Info)
///     .tool(Tool::new("search", "Searches it.", empty()), Handler::Search)
///     .build()?;
/// assert_eq!(registry.get("search").map(|tool| tool.handler), Some(&Handler::Search));
/// assert_eq!(registry.tools()[0].name, "get_info");
/// # Ok::<(), mcp_wire::RegistryError>(())
/// ```
pub struct ToolRegistry<H> {
    tools: Vec<Tool>,
    handlers: Vec<H>,
    positions: HashMap<String, usize>,
}

/// Builds a [`ToolRegistry`].
pub struct ToolRegistryBuilder<H> {
    entries: Vec<(Tool, H)>,
}

/// One tool of a [`ToolRegistry`].
#[non_exhaustive]
pub struct RegisteredTool<'a, H> {
    /// The tool as clients see it.
    pub tool: &'a Tool,
    /// Its handler.
    pub handler: &'a H,
}

/// Why tools, prompts or resources cannot be served.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// Two tools have one name.
    #[error("two tools are named {name:?}")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// The protocol allows 1 to 128 ASCII letters, digits, `_`, `-` and `.`.
    #[error(
        "{name:?} is not a tool name: it must have 1 to {MAX_NAME_CHARS} ASCII letters, digits, `_`, `-` and `.`"
    )]
    InvalidName {
        /// The name.
        name: String,
    },
    /// Two prompts have one name.
    #[error("two prompts are named {name:?}")]
    DuplicatePrompt {
        /// The name.
        name: String,
    },
    /// Two resources have one URI.
    #[error("two resources have the URI {uri:?}")]
    DuplicateUri {
        /// The URI.
        uri: String,
    },
    /// The server has a method or capability with this name.
    #[error("the name {name:?} is already in use")]
    Reserved {
        /// The name.
        name: String,
    },
    /// A list cannot be serialised as JSON.
    #[error("a list cannot be serialised as JSON: {reason}")]
    NotJson {
        /// The message of `serde_json`.
        reason: String,
    },
    /// An input schema declares headers for arguments wrongly.
    #[error("the input schema of tool {name:?} is invalid: {problem}")]
    HeaderParameter {
        /// The tool's name.
        name: String,
        /// The problem.
        #[source]
        problem: InvalidHeaderParameter,
    },
    /// The root of an input or output schema lacks `"type": "object"`.
    #[error("a schema of tool {name:?} lacks \"type\": \"object\"")]
    NotAnObjectSchema {
        /// The tool's name.
        name: String,
    },
}

impl<H> ToolRegistry<H> {
    /// Starts a registry.
    pub fn builder() -> ToolRegistryBuilder<H> {
        ToolRegistryBuilder { entries: Vec::new() }
    }

    /// The tool with this name.
    pub fn get(&self, name: &str) -> Option<RegisteredTool<'_, H>> {
        let position = *self.positions.get(name)?;
        Some(RegisteredTool { tool: self.tools.get(position)?, handler: self.handlers.get(position)? })
    }

    /// All tools, in the order of registration.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// All tools with their handlers, in the order of registration.
    pub fn iter(&self) -> impl Iterator<Item = RegisteredTool<'_, H>> {
        self.tools.iter().zip(&self.handlers).map(|(tool, handler)| RegisteredTool { tool, handler })
    }

    /// The result of `tools/list`: all tools on one page.
    pub fn list(&self) -> ListToolsResult {
        ListToolsResult::new(self.tools.clone())
    }
}

impl<H> ToolRegistryBuilder<H> {
    /// Adds a tool.
    #[must_use]
    pub fn tool(mut self, tool: Tool, handler: H) -> Self {
        self.entries.push((tool, handler));
        self
    }

    /// Builds the registry.
    ///
    /// # Errors
    /// If a name is duplicate or invalid, or a schema does not describe an object.
    pub fn build(self) -> Result<ToolRegistry<H>, RegistryError> {
        let mut positions = HashMap::with_capacity(self.entries.len());
        for (position, (tool, _)) in self.entries.iter().enumerate() {
            check(tool)?;
            if positions.insert(tool.name.clone(), position).is_some() {
                return Err(RegistryError::DuplicateName { name: tool.name.clone() });
            }
        }
        let (tools, handlers) = self.entries.into_iter().unzip();
        Ok(ToolRegistry { tools, handlers, positions })
    }
}

fn check(tool: &Tool) -> Result<(), RegistryError> {
    let name = &tool.name;
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    if name.is_empty() || name.len() > MAX_NAME_CHARS || !name.bytes().all(allowed) {
        return Err(RegistryError::InvalidName { name: name.clone() });
    }
    let mut schemas = [Some(&tool.input_schema), tool.output_schema.as_ref()].into_iter().flatten();
    if schemas.any(|schema| schema.get("type").is_none_or(|kind| kind != "object")) {
        return Err(RegistryError::NotAnObjectSchema { name: name.clone() });
    }
    Ok(())
}

impl<H> Clone for RegisteredTool<'_, H> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<H> Copy for RegisteredTool<'_, H> {}

/// Shows only the tools' names, because handlers are often closures.
impl<H> fmt::Debug for ToolRegistry<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.tools.iter().map(|tool| &tool.name)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn tool(name: &str) -> Tool {
        Tool::new(name, "", json!({"type": "object", "properties": {}}))
    }

    #[test]
    fn tools_keep_their_order_and_are_found_by_name() {
        let names = ["get_info", "b", "a", "z", "list-images.v2"];
        let mut builder = ToolRegistry::builder();
        for (number, name) in names.into_iter().enumerate() {
            builder = builder.tool(tool(name), number);
        }
        let registry = builder.build().unwrap();
        assert_eq!(registry.tools().iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), names);
        assert_eq!(registry.list().tools, registry.tools());
        assert!(registry.iter().enumerate().all(|(number, entry)| number == *entry.handler));
        for (number, name) in names.into_iter().enumerate() {
            let found = registry.get(name).unwrap();
            assert_eq!((found.tool.name.as_str(), *found.handler), (name, number));
        }
        assert!(registry.get("A").is_none() && registry.get("").is_none());
    }

    #[test]
    fn an_empty_registry_lists_nothing() {
        let registry = ToolRegistry::<()>::builder().build().unwrap();
        assert_eq!(serde_json::to_value(registry.list()).unwrap(), json!({"tools": []}));
    }

    #[test]
    fn a_duplicate_name_is_refused() {
        let error = ToolRegistry::builder().tool(tool("a"), 1).tool(tool("b"), 2).tool(tool("a"), 3).build();
        assert_eq!(error.unwrap_err(), RegistryError::DuplicateName { name: "a".to_owned() });
    }

    #[test]
    fn only_tool_names_that_the_protocol_allows_are_accepted() {
        let long = "a".repeat(128);
        let too_long = "a".repeat(129);
        for (name, valid) in
            [("A-b_c.9", true), (&long, true), (&too_long, false), ("", false), ("a b", false), ("é", false)]
        {
            assert_eq!(ToolRegistry::builder().tool(tool(name), ()).build().is_ok(), valid, "{name}");
        }
    }

    #[test]
    fn schemas_must_describe_objects() {
        let object = || json!({"type": "object"});
        for (input, output, valid) in [
            (object(), None, true),
            (object(), Some(object()), true),
            (json!({}), None, false),
            (json!({"type": "string"}), None, false),
            (Value::Null, None, false),
            (object(), Some(json!({"type": ["object", "null"]})), false),
        ] {
            let mut tool = Tool::new("t", "", input);
            tool.output_schema = output;
            let built = ToolRegistry::builder().tool(tool.clone(), ()).build();
            assert_eq!(built.is_ok(), valid, "{tool:?}");
        }
    }
}
