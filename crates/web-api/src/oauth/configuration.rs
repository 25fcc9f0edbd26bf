use oauth_core::{Config, ConfigError, Endpoints, Lifetimes, Resource};

use super::endpoint;
use http_server::BaseUrl;
use crate::mcp::McpResource;

/// The authorization server as the service sets it up: its issuer is the base URL with `/api`, its resources are the
/// MCP URLs, the current one first.
pub(super) fn configuration(base_url: &BaseUrl) -> Result<Config, ConfigError> {
    let resources = McpResource::ALL.into_iter().map(|resource| described(base_url, resource)).collect();
    Config::new(
        format!("{}/api", base_url.as_str()),
        Endpoints {
            authorization: endpoint(base_url, "authorize"),
            token: endpoint(base_url, "token"),
            registration: endpoint(base_url, "register"),
            revocation: endpoint(base_url, "revoke"),
            jwks: Some(endpoint(base_url, "jwks")),
        },
        resources,
        Lifetimes::default(),
    )
}

fn described(base_url: &BaseUrl, resource: McpResource) -> Resource {
    let (base, path) = (base_url.as_str(), resource.path());
    Resource {
        url: format!("{base}{path}"),
        name: resource.title().to_owned(),
        scopes: vec![resource.scope().to_owned()],
        scope_aliases: resource
            .replaced_scopes()
            .iter()
            .map(|(asked, given)| ((*asked).to_owned(), (*given).to_owned()))
            .collect(),
        metadata_url: format!("{base}/.well-known/oauth-protected-resource{path}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_is_sound() {
        for base_url in ["http://127.0.0.1:8080", "https://photos.example.org"] {
            let config = configuration(&BaseUrl::parse(base_url).unwrap()).unwrap();
            assert_eq!(config.issuer(), format!("{base_url}/api"));
        }
    }
}
