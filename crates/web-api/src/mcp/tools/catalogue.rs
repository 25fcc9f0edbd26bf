//! What each tool says of itself to models and to people.

use mcp_protocol::{
    NoArguments, Tool, ToolAnnotations,
    schema::{input_schema_of, output_schema_of},
};
use schemars::JsonSchema;
use serde_json::{Value, json};

use super::super::{McpResource, app};
use super::{
    Operation,
    arguments::{CreateAlbum, GetImage, ListAlbums, ListImages, SearchImages, ShowImages, UpdateAlbum},
    payload::{ListPayload, ObjectPayload, SearchPayload},
    records::{ListedImage, ShownImage},
};
use crate::images_api::{AlbumRecord, ImageRecord, LibraryRecord};

/// A tool before it is known where it is served.
struct Description {
    name: &'static str,
    title: &'static str,
    text: &'static str,
    effect: Effect,
    takes: Value,
    gives: Value,
}

/// What a tool does to the library.
#[derive(Clone, Copy)]
enum Effect {
    /// Nothing.
    None,
    /// It adds something, each time anew.
    Adds,
    /// It replaces or removes something; a second time has no further effect.
    Changes,
}

/// The tool as a resource lists it.
pub(super) fn tool(operation: Operation, resource: McpResource) -> Tool {
    let Description { name, title, text, effect, takes, gives } = description(operation);
    let albums = if operation == Operation::ShowImages && resource.has_albums() {
        " There the user can also make an album of them."
    } else {
        ""
    };
    let text = format!("{text}{albums}");
    let mut tool =
        Tool::new(name, text, takes).with_title(title).with_annotations(annotations(title, effect));
    if resource.is_structured() {
        tool = tool.with_output_schema(gives);
    }
    match operation {
        Operation::ShowImages => tool.with_meta(app::shown_by()),
        Operation::CreateAlbum | Operation::UpdateAlbum => tool.with_meta(app::called_by()),
        _ => tool,
    }
}

/// All hints are given, since the protocol's defaults assume the worst. Nothing outside the library is reached.
fn annotations(title: &str, effect: Effect) -> ToolAnnotations {
    let (read_only, destructive, idempotent) = match effect {
        Effect::None => (true, false, true),
        Effect::Adds => (false, false, false),
        Effect::Changes => (false, true, true),
    };
    ToolAnnotations::titled(title)
        .read_only(read_only)
        .destructive(destructive)
        .idempotent(idempotent)
        .open_world(false)
}

fn description(operation: Operation) -> Description {
    match operation {
        Operation::GetInfo => get_info(),
        Operation::ListImages => list_images(),
        Operation::SearchImages => search_images(),
        Operation::GetImage => get_image(),
        Operation::ShowImages => show_images(),
        Operation::ListAlbums => list_albums(),
        Operation::CreateAlbum => create_album(),
        Operation::UpdateAlbum => update_album(),
    }
}

fn get_info() -> Description {
    Description {
        name: "get_info",
        title: "Get library info",
        text: "Tells how many images the library has and whether photo sync is set up. Call this first. When totalImages is 0 or syncEnabled is false, show the user `help` and `installUrl`. Otherwise `help` says when searches cannot look at what the images show.",
        effect: Effect::None,
        takes: input_schema_of::<NoArguments>(),
        gives: output_schema_of::<ObjectPayload<LibraryRecord>>(),
    }
}

fn list_images() -> Description {
    Description {
        name: "list_images",
        title: "List images",
        text: "Lists images, newest first, optionally of a time range. For the next page, call again with endDate set to the capturedAt of the last image received; endDate is inclusive, so skip the ids you already have. A circle (latitude, longitude and radiusMeters) looks only at the newest 1000 images of the range; search_images with the same circle covers the whole library. Image URLs work for 15 minutes: keep ids instead.",
        effect: Effect::None,
        takes: takes::<ListImages>(),
        gives: output_schema_of::<ListPayload<ListedImage>>(),
    }
}

fn search_images() -> Description {
    Description {
        name: "search_images",
        title: "Search images",
        text: "Searches the whole library. Give at least one of: query (plain words, matched with what the images show, their descriptions and words read in them; best match first, with a score), albumId, or a full circle of latitude, longitude and radiusMeters. Without query the results come newest first, and endDate set to the last capturedAt gives the next page. A `note` in the answer says what the search could not look at; tell the user. Image URLs work for 15 minutes: keep ids instead.",
        effect: Effect::None,
        takes: takes::<SearchImages>(),
        gives: output_schema_of::<SearchPayload<ListedImage>>(),
    }
}

fn get_image() -> Description {
    Description {
        name: "get_image",
        title: "Get image",
        text: "Gets one image by its id, with fresh signed URLs of every rendition: webp-full, webp-medium (longest side 1200 pixels) and webp-thumb (512 pixels). The URLs work for 15 minutes without a key.",
        effect: Effect::None,
        takes: takes::<GetImage>(),
        gives: output_schema_of::<ObjectPayload<ImageRecord>>(),
    }
}

fn show_images() -> Description {
    Description {
        name: "show_images",
        title: "Show images",
        text: "Shows images to the user as a gallery, in apps that can display one. Use it whenever the user wants to see pictures; to only find or count images, use search_images or list_images. Give imageIds (at most 100, shown in that order), or the arguments of search_images to show what a search finds. The answer lists what is shown; where the app has no gallery, give the user the urls as links, otherwise do not repeat them. Image URLs work for 15 minutes; the gallery renews its own.",
        effect: Effect::None,
        takes: takes::<ShowImages>(),
        gives: output_schema_of::<SearchPayload<ShownImage>>(),
    }
}

fn list_albums() -> Description {
    Description {
        name: "list_albums",
        title: "List albums",
        text: "Lists albums, newest first, with how many images each has. pagination.total is the number of all albums; for the next page add limit to offset. To see an album's images, call search_images with its id as albumId.",
        effect: Effect::None,
        takes: takes::<ListAlbums>(),
        gives: output_schema_of::<ListPayload<AlbumRecord>>(),
    }
}

fn create_album() -> Description {
    Description {
        name: "create_album",
        title: "Create album",
        text: "Makes a new album with a title and, if given, its first images (at most 100 ids in a call; update_album adds more). A second call makes a second album. An account has at most 500 albums.",
        effect: Effect::Adds,
        takes: takes::<CreateAlbum>(),
        gives: output_schema_of::<ObjectPayload<AlbumRecord>>(),
    }
}

/// Removing an image from an album deletes no image, but it and a new title undo what somebody did there.
fn update_album() -> Description {
    Description {
        name: "update_album",
        title: "Change album",
        text: "Renames an album, adds images to it or removes images from it, all of it or nothing. Give at least one of title, addImageIds and removeImageIds; at most 100 ids in a call, added and removed together. Removed images stay in the library. Adding an image that is there already, or removing one that is not, is no error.",
        effect: Effect::Changes,
        takes: takes::<UpdateAlbum>(),
        gives: output_schema_of::<ObjectPayload<AlbumRecord>>(),
    }
}

/// The schema of arguments. That an optional one may also be null goes unsaid: several clients cannot read a
/// property of two types.
fn takes<T: JsonSchema>() -> Value {
    let mut schema = input_schema_of::<T>();
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for kind in properties
        .into_iter()
        .flat_map(|properties| properties.values_mut())
        .filter_map(|property| property.get_mut("type").filter(|kind| kind.is_array()))
    {
        let named = kind.as_array().and_then(|kinds| kinds.iter().find(|kind| *kind != "null")).cloned();
        *kind = named.unwrap_or(json!("string"));
    }
    schema
}
