use serde::Serialize;
use std::collections::BTreeMap;

use mcp_protocol::{ListToolsResult, RegistryError};

use super::{Resource, tools};

/// The tools of each MCP resource as `tools/list` shows them: pretty JSON from path to list, ending in a line break.
pub fn mcp_tools_document() -> String {
    let text = lists().map_err(|error| error.to_string()).and_then(|lists| pretty(&lists));
    text.map_or_else(|error| format!("{{\"error\": {error:?}}}\n"), |text| text + "\n")
}

fn lists() -> Result<BTreeMap<&'static str, ListToolsResult>, RegistryError> {
    Resource::ALL
        .into_iter()
        .map(|resource| Ok((resource.path(), tools::registry(resource)?.list())))
        .collect()
}

fn pretty(value: &impl Serialize) -> Result<String, String> {
    serde_json::to_string_pretty(value).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn every_resource_is_there() {
        let document: Value = serde_json::from_str(&mcp_tools_document()).unwrap();
        for resource in Resource::ALL {
            assert_eq!(document[resource.path()]["tools"][0]["name"], "get_info");
        }
    }
}
