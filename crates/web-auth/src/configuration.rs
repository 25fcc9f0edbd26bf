use library::TOKEN_LIFETIMES;
use oauth_core::{Config, ConfigError, Endpoints, ServiceLinks};

use crate::{mcp_resource::McpResource, paths::OAUTH_PREFIX};
use http_server::BaseUrl;

/// The issuer of the authorization server at a base URL (RFC 8414, section 2).
pub fn issuer(base_url: &BaseUrl) -> String {
    format!("{}/api", base_url.as_str())
}

/// The configuration of the authorization server: it has an [`issuer`], its resources are the MCP
/// servers.
pub(crate) fn configuration(base_url: &BaseUrl, links: ServiceLinks) -> Result<Config, ConfigError> {
    let resources = McpResource::ALL.into_iter().map(|mcp| mcp.protected(base_url)).collect();
    Config::new(
        issuer(base_url),
        Endpoints {
            authorization: endpoint(base_url, "authorize"),
            token: endpoint(base_url, "token"),
            registration: endpoint(base_url, "register"),
            revocation: endpoint(base_url, "revoke"),
            jwks: endpoint(base_url, "jwks"),
        },
        resources,
        TOKEN_LIFETIMES,
    )?
    .with_links(links)
}

fn endpoint(base_url: &BaseUrl, name: &str) -> String {
    format!("{}{OAUTH_PREFIX}{name}", base_url.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_is_valid() {
        for base_url in ["http://127.0.0.1:8080", "https://photos.example.org"] {
            let config = configuration(&BaseUrl::parse(base_url).unwrap(), ServiceLinks::default()).unwrap();
            assert_eq!(config.issuer(), format!("{base_url}/api"));
        }
    }
}
