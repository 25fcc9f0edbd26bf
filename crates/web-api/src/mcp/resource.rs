/// An MCP server as OAuth sees it: a token is issued for one of them and does not work at another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Resource {
    /// `/api/mcp/v1`, the current one.
    V1,
    /// `/api/mcp/v2`: the same tools with structured content.
    V2,
    /// `/api/mcp/legacy`: no albums.
    Legacy,
}

impl Resource {
    pub(crate) const ALL: [Self; 3] = [Self::V1, Self::V2, Self::Legacy];

    /// The resource at a path of the api.
    pub(crate) fn at(path: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|resource| resource.path() == path)
    }

    pub(crate) const fn path(self) -> &'static str {
        match self {
            Self::V1 => "/api/mcp/v1",
            Self::V2 => "/api/mcp/v2",
            Self::Legacy => "/api/mcp/legacy",
        }
    }

    /// The scope that a token needs here.
    pub(crate) const fn scope(self) -> &'static str {
        match self {
            Self::V1 | Self::V2 => "mcp:images",
            Self::Legacy => "mcp:photos",
        }
    }

    /// Its name for people.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::V1 => "Photo library",
            Self::V2 => "Photo library (v2)",
            Self::Legacy => "Photo library (legacy)",
        }
    }

    /// What its scope allows, in plain words.
    pub(crate) const fn scope_in_words(self) -> &'static str {
        match self {
            Self::V1 | Self::V2 => "list, search and show your photos, and organise them into albums",
            Self::Legacy => "list, search and show your photos",
        }
    }

    /// Scopes that are asked for here by another name, each with its own.
    pub(crate) const fn replaced_scopes(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::V1 => &[("mcp:photos", "mcp:images")],
            Self::V2 | Self::Legacy => &[],
        }
    }

    /// Whether tools organise images into albums here.
    pub(crate) const fn has_albums(self) -> bool {
        matches!(self, Self::V1 | Self::V2)
    }

    /// Whether results also come as `structuredContent`, with an `outputSchema`.
    pub(crate) const fn is_structured(self) -> bool {
        matches!(self, Self::V2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_exact() {
        for resource in Resource::ALL {
            assert_eq!(Resource::at(resource.path()), Some(resource));
        }
        for path in ["/api/mcp/", "/api/mcp/v3", "/api/mcp/v1/", "/api/mcp/V1", "/api/mcp/v1/x", ""] {
            assert_eq!(Resource::at(path), None, "{path}");
        }
    }
}
