//! The tools: what each says of itself, what it takes, what it gives, and the one library call behind it.
//!
//! A new tool is a variant of [`Operation`], its place in [`Operation::ALL`] and its description in `catalogue`, its
//! arguments in `arguments`, and its branch in `calls`.

mod arguments;
mod calls;
mod catalogue;
mod payload;
mod tool_error;

use mcp_protocol::{RegistryError, ToolRegistry};

pub(super) use calls::Calls;

use super::Resource;

/// What a tool does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    GetInfo,
    ListImages,
    SearchImages,
    GetImage,
    ListAlbums,
    CreateAlbum,
    UpdateAlbum,
}

impl Operation {
    /// In the order in which they are listed.
    const ALL: [Self; 7] = [
        Self::GetInfo,
        Self::ListImages,
        Self::SearchImages,
        Self::GetImage,
        Self::ListAlbums,
        Self::CreateAlbum,
        Self::UpdateAlbum,
    ];

    fn is_served_at(self, resource: Resource) -> bool {
        match self {
            Self::GetInfo | Self::ListImages | Self::SearchImages | Self::GetImage => true,
            Self::ListAlbums | Self::CreateAlbum | Self::UpdateAlbum => resource.has_albums(),
        }
    }
}

/// The tools of a resource.
pub(super) fn registry(resource: Resource) -> Result<ToolRegistry<Operation>, RegistryError> {
    let served = Operation::ALL.into_iter().filter(|operation| operation.is_served_at(resource));
    served
        .fold(ToolRegistry::builder(), |builder, operation| {
            builder.tool(catalogue::tool(operation, resource.is_structured()), operation)
        })
        .build()
}

#[cfg(test)]
mod tests;
