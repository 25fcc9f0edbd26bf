use mcp_protocol::{
    ProtocolVersion,
    lifecycle::{Implementation, InitializeParams, InitializeResult, ServerCapabilities},
};

use super::Resource;

const NAME: &str = "photo-library";
const TITLE: &str = "Photo library";

const INSTRUCTIONS: &str = "\
This server gives access to one person's photo library. \
Call get_info first: when totalImages is 0 or syncEnabled is false, show its help text and installUrl to the user. \
Keep image ids, not URLs: URLs stop working after 15 minutes (urlsExpireAt says when); get_image gives fresh ones, and one for every size. \
list_images goes through the library newest first; for the next page set endDate to the capturedAt of the last image received and skip the ids you already have, until no new one comes. \
search_images needs a query of plain words (best match first, with a score), an albumId, or a full circle of latitude, longitude and radiusMeters (newest first); startDate and endDate narrow either. \
When a call fails, its text says what to do.";

const ALBUM_INSTRUCTIONS: &str = " \
Albums hold images by id: list_albums finds them, create_album makes one, update_album renames one and adds or removes images; to see what is in an album, call search_images with its albumId.";

/// Opens a session, of which nothing is kept.
pub(super) fn initialize(resource: Resource, params: &InitializeParams) -> InitializeResult {
    InitializeResult::new(
        ProtocolVersion::negotiate(&params.protocol_version),
        ServerCapabilities::default().with_tools(),
        Implementation::new(NAME, env!("CARGO_PKG_VERSION")).with_title(TITLE),
    )
    .with_instructions(instructions(resource))
}

/// How a model should use the server.
fn instructions(resource: Resource) -> String {
    let albums = if resource.has_albums() { ALBUM_INSTRUCTIONS } else { "" };
    format!("{INSTRUCTIONS}{albums}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{json, to_value};

    #[test]
    fn only_what_is_served_is_declared() {
        let params = InitializeParams::new("2025-06-18", Implementation::new("c", "1"));
        let result = to_value(initialize(Resource::V1, &params)).unwrap();
        assert_eq!(result["protocolVersion"], "2025-06-18");
        assert_eq!(result["capabilities"], json!({"tools": {}}));
        assert_eq!(result["serverInfo"]["name"], NAME);
    }

    #[test]
    fn instructions_name_only_tools_that_are_there() {
        for resource in Resource::ALL {
            let text = instructions(resource);
            assert_eq!(text.contains("create_album"), resource.has_albums());
            let tools = super::super::tools::registry(resource).unwrap();
            for word in
                text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|w| w.contains('_'))
            {
                assert!(tools.get(word).is_some(), "{word}");
            }
        }
    }
}
