//! The server of each resource.

use mcp_protocol::{
    CacheScope, Caching, RegistryError, Server,
    lifecycle::Implementation,
    server::{BoxFuture, ServerBuilder, ToolCall, ToolReply},
};

use super::{McpResource, app, tools};
use crate::BuildError;
use http_server::BaseUrl;

const NAME: &str = "photo-library";
const TITLE: &str = "Photo library";

/// Lists and the app's page change when the service is updated, and are the same for everybody: five minutes.
const CACHING: Caching = Caching { ttl_ms: 300_000, scope: CacheScope::Public };

const INSTRUCTIONS: &str = "\
This server gives access to one person's photo library. \
Call get_info first: when totalImages is 0 or syncEnabled is false, show its help text and installUrl to the user. \
Keep image ids, not URLs: URLs stop working after 15 minutes (urlsExpireAt says when); get_image gives fresh ones, and one for every size, with everything known about the image. \
list_images goes through the library newest first; for the next page set endDate to the capturedAt of the last image received and skip the ids you already have, until no new one comes. \
search_images needs a query of plain words (best match first, with a score), an albumId, or a full circle of latitude, longitude and radiusMeters (newest first); startDate and endDate narrow either. \
capturedAt is in UTC; add utcOffset, where it is known, for the local time at which an image was taken. \
A circle is all places within radiusMeters of a point. \
When the user wants to see pictures, call show_images with the imageIds to show or with the arguments of search_images. \
When a call fails, its text says what to do.";

const ALBUM_INSTRUCTIONS: &str = " \
Albums hold images by id: list_albums finds them, create_album makes one, update_album renames one and adds or removes images; to see what is in an album, call search_images or show_images with its albumId.";

/// The MCP servers, one for each resource.
pub(crate) struct Servers {
    v1: Server<tools::ToolContext>,
    v2: Server<tools::ToolContext>,
    legacy: Server<tools::ToolContext>,
}

impl Servers {
    /// The servers of a service at that base URL, from which pictures come.
    pub(crate) fn new(base_url: &BaseUrl) -> Result<Self, BuildError> {
        let built = |resource: McpResource| {
            server(resource, base_url)
                .map_err(|error| BuildError(format!("the tools of {}: {error}", resource.path())))
        };
        Ok(Self {
            v1: built(McpResource::V1)?,
            v2: built(McpResource::V2)?,
            legacy: built(McpResource::Legacy)?,
        })
    }

    pub(super) fn of(&self, resource: McpResource) -> &Server<tools::ToolContext> {
        match resource {
            McpResource::V1 => &self.v1,
            McpResource::V2 => &self.v2,
            McpResource::Legacy => &self.legacy,
        }
    }
}

fn server(resource: McpResource, base_url: &BaseUrl) -> Result<Server<tools::ToolContext>, RegistryError> {
    let page = app::page(resource, base_url);
    tools::of(resource)
        .fold(builder(resource), |builder, (operation, tool)| {
            builder.tool(tool, move |call: ToolCall<tools::ToolContext>| -> BoxFuture<ToolReply> {
                Box::pin(async move { call.context.run(operation, call.params.arguments).await.into() })
            })
        })
        .resource(app::resource(resource, base_url), move |_| std::future::ready(vec![page.clone()]))
        .build()
}

fn builder(resource: McpResource) -> ServerBuilder<tools::ToolContext> {
    let info = Implementation::new(NAME, env!("CARGO_PKG_VERSION")).with_title(TITLE);
    Server::builder(info).instructions(instructions(resource)).caching(CACHING, CACHING)
}

/// How a model should use the server.
fn instructions(resource: McpResource) -> String {
    let albums = if resource.has_albums() { ALBUM_INSTRUCTIONS } else { "" };
    format!("{INSTRUCTIONS}{albums}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_can_be_built() {
        let servers = Servers::new(&BaseUrl::parse("http://localhost").unwrap()).unwrap();
        for resource in McpResource::ALL {
            let names = tools::of(resource).map(|(_, tool)| tool.name);
            assert!(names.eq(servers.of(resource).tools().iter().map(|tool| tool.name.clone())));
        }
    }

    #[test]
    fn instructions_name_only_tools_that_are_there() {
        for resource in McpResource::ALL {
            let text = instructions(resource);
            assert_eq!(text.contains("create_album"), resource.has_albums());
            let names: Vec<_> = tools::of(resource).map(|(_, tool)| tool.name).collect();
            for word in
                text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|w| w.contains('_'))
            {
                assert!(names.iter().any(|name| name == word), "{word}");
            }
        }
    }
}
