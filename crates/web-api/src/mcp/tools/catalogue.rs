//! The descriptions of the tools, for models and people.

use mcp_wire::{
    NoArguments, Tool, ToolAnnotations,
    schema::{input_schema_of, output_schema_of},
};
use schemars::JsonSchema;
use serde_json::{Value, json};

use super::super::{McpResource, app};
use super::{
    Operation,
    arguments::{
        CreateAlbum, GetImage, ListAlbums, ListImages, SearchImages, ShowImages, UpdateAlbum, ViewImages,
    },
    edits::{UndoChanges, UndoneChanges, UpdateImages, UpdatedImages},
    filters::NamedFilters,
    payload::{ListPayload, NamedPayload, ObjectPayload, SearchPayload},
    records::{ListedImage, ShownImage},
    views::ViewPayload,
};
use crate::{
    images_api::{AlbumRecord, ImageRecord, LibraryRecord},
    photo_change::PhotoChange,
};

/// The description of a tool, for every resource.
struct Description {
    name: &'static str,
    title: &'static str,
    text: &'static str,
    effect: Effect,
    input: Value,
    output: Value,
}

/// The effect of a tool on the library.
#[derive(Clone, Copy)]
enum Effect {
    /// It only reads.
    None,
    /// Every call adds something.
    Adds,
    /// It replaces or removes something. Repeating the call has no further effect.
    Changes,
}

/// The tool as a resource lists it.
pub(super) fn tool(operation: Operation, resource: McpResource) -> Tool {
    let Description { name, title, text, effect, input, output } = description(operation);
    let albums = if operation == Operation::ShowImages && resource.has_albums() {
        " The user can also create an album of them there."
    } else {
        ""
    };
    let text = format!("{text}{albums}");
    let mut input = input;
    if !resource.has_albums()
        && let Some(properties) = input.get_mut("properties").and_then(Value::as_object_mut)
    {
        properties.remove("album");
    }
    let mut tool =
        Tool::new(name, text, input).with_title(title).with_annotations(annotations(title, effect));
    if resource.is_structured() {
        tool = tool.with_output_schema(output);
    }
    match operation {
        Operation::ShowImages => tool.with_meta(app::display_tool_meta()),
        Operation::CreateAlbum | Operation::UpdateAlbum | Operation::UpdateImages => {
            tool.with_meta(app::callable_tool_meta())
        }
        _ => tool,
    }
}

/// All hints are set, because the protocol's defaults assume the worst. No tool reaches anything outside the library.
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
        Operation::ViewImages => view_images(),
        Operation::ShowImages => show_images(),
        Operation::ListAlbums => list_albums(),
        Operation::CreateAlbum => create_album(),
        Operation::UpdateAlbum => update_album(),
        Operation::UpdateImages => update_images(),
        Operation::UndoChanges => undo_changes(),
    }
}

fn get_info() -> Description {
    Description {
        name: "get_info",
        title: "Get library info",
        text: "Returns the number of images and whether photo sync is set up. Call this first. When totalImages is 0 or syncEnabled is false, show `help` and `installUrl` to the user. Otherwise `help` says whether search can match what images show.",
        effect: Effect::None,
        input: input_schema_of::<NoArguments>(),
        output: output_schema_of::<ObjectPayload<LibraryRecord>>(),
    }
}

fn list_images() -> Description {
    Description {
        name: "list_images",
        title: "List images",
        text: "Lists images, newest first, optionally in a time range. For the next page, set endDate to the capturedAt of the last image received; endDate is inclusive, so skip the ids you already have. With a circle (latitude, longitude and radiusMeters), only the newest 1000 images in the range are considered; search_images with the same circle covers the whole library. Image URLs expire after 15 minutes: keep ids instead.",
        effect: Effect::None,
        input: with_properties_of::<NamedFilters>(arguments_schema::<ListImages>()),
        output: output_schema_of::<NamedPayload<ListedImage>>(),
    }
}

fn search_images() -> Description {
    Description {
        name: "search_images",
        title: "Search images",
        text: "Searches the whole library. Requires at least one of: query (plain words, matched with what the images show, their descriptions and the text in them; best match first, with a score), albumId, a circle of latitude, longitude and radiusMeters, or a filter (place, camera, keyword, month, favorite, archived, media). If a filter has a name, `interpreted` says what it was taken for. Without query, results are sorted newest first; for the next page, set endDate to the last capturedAt. If the result has a `note`, it says what the search could not match: tell the user. Image URLs expire after 15 minutes: keep ids instead.",
        effect: Effect::None,
        input: with_properties_of::<NamedFilters>(arguments_schema::<SearchImages>()),
        output: output_schema_of::<SearchPayload<ListedImage>>(),
    }
}

fn get_image() -> Description {
    Description {
        name: "get_image",
        title: "Get image",
        text: "Returns one image by id, with new signed URLs of every rendition: webp-full, webp-medium (longest side 1200 pixels) and webp-thumb (512 pixels). The URLs need no key and expire after 15 minutes.",
        effect: Effect::None,
        input: arguments_schema::<GetImage>(),
        output: output_schema_of::<ObjectPayload<ImageRecord>>(),
    }
}

fn view_images() -> Description {
    Description {
        name: "view_images",
        title: "Look at images",
        text: "Returns the pictures themselves, as image content after the text, so that you can see them. Use it when you must know what images show: to describe or compare them, to choose among them, or to check what a search found. Set imageIds (at most 16 per call). The results have the metadata of each image, and its `number`; `numbers` says which picture that is. Size small (the longest side has at most 512 pixels) suffices for most questions; medium (at most 1200) shows details and small text. With many images in a call, each picture is smaller. With sheet, all pictures are on one numbered sheet, the quickest way to look through many. The user may not see these pictures: to show images to the user, call show_images.",
        effect: Effect::None,
        input: arguments_schema::<ViewImages>(),
        output: output_schema_of::<ViewPayload>(),
    }
}

fn show_images() -> Description {
    Description {
        name: "show_images",
        title: "Show images",
        text: "Shows images to the user in a gallery, in apps that can display one. Use it whenever the user wants to see images. To find or count images without showing them, use search_images or list_images. Set imageIds (at most 100, shown in this order), or the arguments of search_images to show the results of a search. The result lists the images shown. If the app has no gallery, send the URLs to the user as links; otherwise do not repeat them. Image URLs expire after 15 minutes; the gallery renews its own.",
        effect: Effect::None,
        input: with_properties_of::<NamedFilters>(arguments_schema::<ShowImages>()),
        output: output_schema_of::<SearchPayload<ShownImage>>(),
    }
}

fn list_albums() -> Description {
    Description {
        name: "list_albums",
        title: "List albums",
        text: "Lists albums, newest first, with the number of images in each. pagination.total is the number of all albums. For the next page, add limit to offset. To see the images in an album, call search_images with its id as albumId.",
        effect: Effect::None,
        input: arguments_schema::<ListAlbums>(),
        output: output_schema_of::<ListPayload<AlbumRecord>>(),
    }
}

fn create_album() -> Description {
    Description {
        name: "create_album",
        title: "Create album",
        text: "Creates an album with a title and optionally its first images (at most 100 ids per call; update_album adds more). A second call creates a second album. An account has at most 500 albums.",
        effect: Effect::Adds,
        input: arguments_schema::<CreateAlbum>(),
        output: output_schema_of::<ObjectPayload<AlbumRecord>>(),
    }
}

/// Declared destructive, because removing an image and changing the title undo earlier work. It deletes no image.
fn update_album() -> Description {
    Description {
        name: "update_album",
        title: "Change album",
        text: "Renames an album, adds images and removes images, all or nothing. Requires at least one of title, addImageIds and removeImageIds; at most 100 ids per call, added and removed together. Removed images stay in the library. Adding an image that is already in the album, or removing one that is not, has no effect.",
        effect: Effect::Changes,
        input: arguments_schema::<UpdateAlbum>(),
        output: output_schema_of::<ObjectPayload<AlbumRecord>>(),
    }
}

/// Declared destructive, because it replaces what people wrote. undo_changes takes it back.
fn update_images() -> Description {
    Description {
        name: "update_images",
        title: "Change images",
        text: "Changes details of 1 to 100 images, all or nothing: favorite, rating, keywords, archived, description, capturedAt, utcOffset, latitude and longitude. Each field that you give replaces the value of every one of the images; null takes earlier changes back, so that the image has the value of its file; fields that you leave out stay. keywords replaces all keywords of an image. With dryRun, nothing changes and the result shows what would: show it to the user before you change many images. An app that can ask its user lets them confirm a change of more than 20 images. The result has a changeId: undo_changes takes the whole call back, and the user can undo it on their account page. Works only if the user allowed this app to edit details.",
        effect: Effect::Changes,
        input: with_properties_of::<PhotoChange>(arguments_schema::<UpdateImages>()),
        output: output_schema_of::<ObjectPayload<UpdatedImages>>(),
    }
}

fn undo_changes() -> Description {
    Description {
        name: "undo_changes",
        title: "Undo changes",
        text: "Takes a call of update_images back, for all of its images. Fields that were changed again later stay as they are. Works for 90 days.",
        effect: Effect::Changes,
        input: arguments_schema::<UndoChanges>(),
        output: output_schema_of::<ObjectPayload<UndoneChanges>>(),
    }
}

/// Adds the optional properties of other arguments.
fn with_properties_of<T: JsonSchema>(mut schema: Value) -> Value {
    let mut others = arguments_schema::<T>();
    let others = others.get_mut("properties").and_then(Value::as_object_mut).map(std::mem::take);
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    if let Some((properties, others)) = properties.zip(others) {
        properties.extend(others);
    }
    schema
}

/// The schema of arguments. It does not declare that optional arguments may be null, because several clients cannot read a
/// property with two types.
fn arguments_schema<T: JsonSchema>() -> Value {
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
