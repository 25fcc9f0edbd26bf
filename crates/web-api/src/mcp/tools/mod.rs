//! The tools: description, arguments, payload, and the library call of each.
//!
//! To add a tool, add a variant to [`Operation`], its description to `catalogue`, its arguments to `arguments`, and its
//! call to `calls`.

mod arguments;
mod calls;
mod catalogue;
mod edits;
mod filters;
mod payload;
mod questions;
mod records;
mod tool_error;
mod views;

use mcp_wire::Tool;

pub(crate) use calls::ToolContext;

use super::McpResource;

domain::listed_enum! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) enum Operation {
        GetInfo,
        ListImages,
        SearchImages,
        GetImage,
        ViewImages,
        ShowImages,
        ListAlbums,
        CreateAlbum,
        UpdateAlbum,
        UpdateImages,
        UndoChanges,
    }
}

impl Operation {
    fn is_served_at(self, resource: McpResource) -> bool {
        match self {
            Self::GetInfo | Self::ListImages | Self::SearchImages | Self::GetImage | Self::ShowImages => true,
            Self::ViewImages => resource != McpResource::Legacy,
            Self::ListAlbums
            | Self::CreateAlbum
            | Self::UpdateAlbum
            | Self::UpdateImages
            | Self::UndoChanges => resource.has_albums(),
        }
    }
}

/// The tools of a resource, in a fixed order.
pub(super) fn of(resource: McpResource) -> impl Iterator<Item = (Operation, Tool)> {
    let served = Operation::ALL.into_iter().filter(move |operation| operation.is_served_at(resource));
    served.map(move |operation| (operation, catalogue::tool(operation, resource)))
}

#[cfg(test)]
mod tests;
