//! The entry of the library in the MCP registry.

use http_server::BaseUrl;
use serde_json::{Value, json};
use web_auth::mcp_url;

/// The version of the schema of `server.json`.
const SCHEMA: &str = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";
/// The host of the examples.
const EXAMPLE_HOST: &str = "photos.example.org";

/// The file `server.json` of the MCP registry, for everyone who hosts such a library: the host is a variable, with that of
/// `base_url` as its default. The name begins with that host in reverse, because the registry asks for proof of the domain.
/// It ends with a line break.
///
/// ```
/// # use http_server::BaseUrl;
/// let base_url = BaseUrl::parse("https://photos.example.org")?;
/// let entry: serde_json::Value = serde_json::from_str(&web_pages::registry_entry(&base_url, "1.0.0"))?;
/// assert_eq!(entry["name"], "org.example.photos/photo-library");
/// assert_eq!(entry["remotes"][0]["url"], "https://{host}/api/mcp/v1");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn registry_entry(base_url: &BaseUrl, version: &str) -> String {
    let public = Some(base_url.authority()).filter(|_| base_url.is_https() && !base_url.is_loopback());
    let authority = public.filter(|authority| has_domain(authority));
    let host = authority.unwrap_or(EXAMPLE_HOST).split(':').next().unwrap_or_default();
    let domain: Vec<&str> = host.rsplit('.').collect();
    let mut variable = json!({
        "description": "Host name of your photo library, with its port if it is not 443",
        "isRequired": true,
        "placeholder": EXAMPLE_HOST,
    });
    if let Some(authority) = authority {
        variable["default"] = authority.into();
    }
    let url = mcp_url(base_url);
    let path = url.strip_prefix(base_url.as_str()).unwrap_or_default();
    let entry: Value = json!({
        "$schema": SCHEMA,
        "name": format!("{}/photo-library", domain.join(".")),
        "title": "Photo library",
        "description": "Find, show and tidy the photos and albums of a self-hosted photo library",
        "version": version,
        "remotes": [{
            "type": "streamable-http",
            "url": format!("https://{{host}}{path}"),
            "variables": { "host": variable },
        }],
    });
    format!("{entry:#}\n")
}

/// Whether the host is a name and not an IP address: the last label of a name never begins with a digit.
fn has_domain(authority: &str) -> bool {
    let host = authority.split(':').next().unwrap_or_default();
    let last = host.rsplit('.').next().unwrap_or_default();
    last.starts_with(|first: char| first.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(base_url: &str) -> Value {
        serde_json::from_str(&registry_entry(&BaseUrl::parse(base_url).unwrap(), "1.2.3")).unwrap()
    }

    #[test]
    fn the_host_is_a_variable() {
        let check = |base_url: &str, name: &str, default: Option<&str>| {
            let entry = entry(base_url);
            assert_eq!(entry["name"], name, "{base_url}");
            let remote = &entry["remotes"][0];
            assert_eq!(remote["url"], "https://{host}/api/mcp/v1", "{base_url}");
            assert_eq!(remote["variables"]["host"]["default"].as_str(), default, "{base_url}");
        };
        let example = "org.example.photos/photo-library";
        check("https://photos.example.org", example, Some("photos.example.org"));
        check("https://photos.example.org:8443", example, Some("photos.example.org:8443"));
        check("http://127.0.0.1:8080", example, None);
        check("http://photos.example.org", example, None);
        check("https://localhost", example, None);
        check("https://203.0.113.7:8443", example, None);
        check("https://[2001:db8::7]", example, None);
    }

    #[test]
    fn the_entry_keeps_to_the_limits_of_the_registry() {
        let entry = entry("https://photos.example.org");
        let length = |name: &str| entry[name].as_str().unwrap().chars().count();
        assert!((1..=100).contains(&length("title")) && (1..=100).contains(&length("description")));
        assert!((3..=200).contains(&length("name")) && length("version") <= 255);
        let known = ["$schema", "name", "title", "description", "version", "remotes"];
        assert!(entry.as_object().unwrap().keys().all(|member| known.contains(&member.as_str())));
    }
}
