//! The MCP server of each resource.

use std::future::ready;

use mcp_wire::{
    CacheScope, Caching, RegistryError, Server,
    lifecycle::Implementation,
    server::{BoxFuture, PromptCall, PromptReply, ServerBuilder, ToolCall, ToolReply},
};

use super::{McpResource, app, prompts, tools};
use crate::BuildError;
use http_server::BaseUrl;

const NAME: &str = "photo-library";
const TITLE: &str = "Photo library";

/// Caching of lists and of the app's page: five minutes, for all users. They change only when the service is updated.
const CACHING: Caching = Caching { ttl_ms: 300_000, scope: CacheScope::Public };

const INSTRUCTIONS: &str = "\
This server gives access to one person's photo library. \
Call get_info first: when totalImages is 0 or syncEnabled is false, show its help text and installUrl to the user. \
Keep image ids, not URLs: URLs expire after 15 minutes, at urlsExpireAt. get_image returns new URLs, one for each size, and all metadata of the image. \
list_images returns the library newest first. For the next page, set endDate to the capturedAt of the last image received and skip the ids you already have. When no new id is returned, you have all images. \
search_images needs a query in plain words (best match first, with a score), an albumId, or a circle of latitude, longitude and radiusMeters (newest first). startDate and endDate limit the results. \
capturedAt is in UTC. Add utcOffset, if it is known, to get the local time at which the image was taken. \
A circle contains all places within radiusMeters of a point. \
When the user wants to see images, call show_images with their imageIds or with the arguments of search_images. \
When a call fails, its text explains what to do.";

const VIEW_INSTRUCTIONS: &str = " \
You cannot see an image by its URL: to look at images yourself, call view_images.";

const ALBUM_INSTRUCTIONS: &str = " \
Albums contain images by id. list_albums lists albums, create_album creates one, and update_album renames one and adds or removes images. To see the images in an album, call search_images or show_images with its albumId.";

/// The MCP servers, one for each resource.
pub(crate) struct Servers {
    v1: Server<tools::ToolContext>,
    v2: Server<tools::ToolContext>,
    legacy: Server<tools::ToolContext>,
}

impl Servers {
    /// The servers of a service at this base URL, which serves the images.
    pub(crate) fn new(base_url: &BaseUrl) -> Result<Self, BuildError> {
        let build = |resource: McpResource| {
            server(resource, base_url)
                .map_err(|error| BuildError(format!("the tools of {}: {error}", resource.path())))
        };
        Ok(Self {
            v1: build(McpResource::V1)?,
            v2: build(McpResource::V2)?,
            legacy: build(McpResource::Legacy)?,
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
    let builder = prompts::of(resource).fold(builder(resource), |builder, (task, prompt)| {
        builder.prompt(prompt, move |call: PromptCall<tools::ToolContext>| -> BoxFuture<PromptReply> {
            let now = call.context.api.library.clock().now();
            let messages = prompts::messages(task, resource, &call.params.arguments, now);
            Box::pin(ready(messages.map_or_else(PromptReply::from, PromptReply::from)))
        })
    });
    tools::of(resource)
        .fold(builder, |builder, (operation, tool)| {
            builder.tool(tool, move |call: ToolCall<tools::ToolContext>| -> BoxFuture<ToolReply> {
                Box::pin(tools::ToolContext::run(operation, call))
            })
        })
        .resource(app::resource(resource, base_url), move |_| ready(vec![page.clone()]))
        .build()
}

fn builder(resource: McpResource) -> ServerBuilder<tools::ToolContext> {
    let info = Implementation::new(NAME, env!("CARGO_PKG_VERSION")).with_title(TITLE);
    Server::builder(info).instructions(instructions(resource)).caching(CACHING, CACHING)
}

/// Instructions for the model.
fn instructions(resource: McpResource) -> String {
    let current =
        if resource == McpResource::Legacy { [""; 2] } else { [VIEW_INSTRUCTIONS, ALBUM_INSTRUCTIONS] };
    [&[INSTRUCTIONS], &current[..]].concat().concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_can_be_built() {
        let servers = Servers::new(&BaseUrl::parse("http://localhost").unwrap()).unwrap();
        for resource in McpResource::ALL {
            let names = tools::of(resource).map(|(_, tool)| tool.name);
            assert!(names.eq(servers.of(resource).tools().iter().map(|tool| tool.name.clone())));
        }
    }

    #[test]
    fn instructions_name_only_existing_tools() {
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
