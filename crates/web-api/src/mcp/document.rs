use std::collections::BTreeMap;

use mcp_wire::ListToolsResult;

use super::{McpResource, tools};

/// The tools of each MCP resource as `tools/list` shows them: pretty JSON from path to list, ending with a line break.
pub fn mcp_tools_document() -> String {
    let lists: BTreeMap<_, _> = McpResource::ALL
        .into_iter()
        .map(|resource| {
            (resource.path(), ListToolsResult::new(tools::of(resource).map(|(_, tool)| tool).collect()))
        })
        .collect();
    let text = serde_json::to_string_pretty(&lists);
    text.map_or_else(|error| format!("{{\"error\": \"{error}\"}}\n"), |text| text + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn every_resource_is_included() {
        let document: Value = serde_json::from_str(&mcp_tools_document()).unwrap();
        for resource in McpResource::ALL {
            assert_eq!(document[resource.path()]["tools"][0]["name"], "get_info");
        }
    }
}
