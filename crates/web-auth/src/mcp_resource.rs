use http_server::BaseUrl;
use oauth_core::Resource;

/// An MCP server, which is a resource in OAuth: a token issued for one does not work at another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum McpResource {
    /// `/api/mcp/v1`, the current one.
    V1,
    /// `/api/mcp/v2`: the same tools with structured content.
    V2,
    /// `/api/mcp/legacy`: no albums.
    Legacy,
}

impl McpResource {
    /// All resources, the current one first.
    pub const ALL: [Self; 3] = [Self::V1, Self::V2, Self::Legacy];

    /// The resource at a path, with or without a trailing slash.
    pub fn at(path: &str) -> Option<Self> {
        let path = path.strip_suffix('/').unwrap_or(path);
        Self::ALL.into_iter().find(|resource| resource.path() == path)
    }

    pub const fn path(self) -> &'static str {
        match self {
            Self::V1 => "/api/mcp/v1",
            Self::V2 => "/api/mcp/v2",
            Self::Legacy => "/api/mcp/legacy",
        }
    }

    pub fn url(self, base_url: &BaseUrl) -> String {
        format!("{}{}", base_url.as_str(), self.path())
    }

    /// The resource as the authorization server knows it.
    pub fn protected(self, base_url: &BaseUrl) -> Resource {
        let mut resource = Resource::new(self.url(base_url), self.title(), &[self.scope()]);
        let aliases = self.scope_aliases().iter();
        resource.scope_aliases =
            aliases.map(|(alias, scope)| ((*alias).to_owned(), (*scope).to_owned())).collect();
        resource
    }

    /// The scope that a token needs.
    pub const fn scope(self) -> &'static str {
        match self {
            Self::V1 | Self::V2 => "mcp:images",
            Self::Legacy => "mcp:photos",
        }
    }

    /// Its name for people.
    pub const fn title(self) -> &'static str {
        match self {
            Self::V1 => "Photo library",
            Self::V2 => "Photo library (v2)",
            Self::Legacy => "Photo library (legacy)",
        }
    }

    /// What its scope allows, to complete the sentence “the app may …”.
    pub const fn scope_description(self) -> &'static str {
        match self {
            Self::V1 | Self::V2 => "list, search and show your photos, and organise them into albums",
            Self::Legacy => "list, search and show your photos",
        }
    }

    /// Accepted aliases of scopes, each with the scope that it means.
    pub const fn scope_aliases(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::V1 => &[("mcp:photos", "mcp:images")],
            Self::V2 | Self::Legacy => &[],
        }
    }

    /// Whether it has the album tools.
    pub const fn has_albums(self) -> bool {
        matches!(self, Self::V1 | Self::V2)
    }

    /// Whether these scopes are those of a resource with the tools that edit the details of photos.
    pub fn scopes_have_edits(scopes: &[String]) -> bool {
        Self::ALL
            .into_iter()
            .any(|resource| resource.has_albums() && scopes.iter().any(|scope| scope == resource.scope()))
    }

    /// Whether tools declare an `outputSchema` and return `structuredContent`.
    pub const fn is_structured(self) -> bool {
        matches!(self, Self::V2)
    }
}

/// The URL of the current MCP server, which people give to their apps.
pub fn mcp_url(base_url: &BaseUrl) -> String {
    McpResource::V1.url(base_url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_exact_but_for_a_trailing_slash() {
        for resource in McpResource::ALL {
            assert_eq!(McpResource::at(resource.path()), Some(resource));
            assert_eq!(McpResource::at(&format!("{}/", resource.path())), Some(resource));
        }
        for path in ["/api/mcp/", "/api/mcp/v3", "/api/mcp/v1//", "/api/mcp/V1", "/api/mcp/v1/x", "", "/"] {
            assert_eq!(McpResource::at(path), None, "{path}");
        }
    }
}
