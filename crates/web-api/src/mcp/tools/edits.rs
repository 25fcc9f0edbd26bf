//! The tools that change details of images, and undo it.

use std::collections::BTreeSet;

use domain::{EditId, ImageId, Invalid, MAX_IMAGE_IDS_PER_CALL, Rating, UtcOffset, distinct_image_ids};
use library::{EditableImage, Lookup, NewEdit};
use mcp_wire::{parse_arguments, server::ToolCall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    arguments::read,
    calls::{Outcome, ToolContext},
    payload::ObjectPayload,
    questions::{MAX_UNCONFIRMED, confirmation, must_confirm},
    tool_error::ToolError,
};
use crate::{links::apps_url, photo_change::PhotoChange};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct UpdateImages {
    /// Ids of the images to change, 1 to 100, from list_images or search_images.
    #[schemars(length(min = 1, max = 100))]
    image_ids: Vec<String>,
    /// true to see what would change without changing it.
    #[schemars(extend("default" = false))]
    dry_run: Option<bool>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct UndoChanges {
    /// The changeId that update_images returned.
    #[schemars(length(min = 1, max = 128))]
    change_id: String,
}

/// What `update_images` changed.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct UpdatedImages {
    /// For undo_changes, which takes all of this back; absent if nothing changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    change_id: Option<String>,
    /// Whether this was only a preview.
    dry_run: bool,
    /// Number of images that changed.
    changed: usize,
    /// Number of images that have these values already.
    unchanged: usize,
    /// The images that changed, with the changed fields only.
    changes: Vec<ChangedImage>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ChangedImage {
    id: String,
    before: Map<String, Value>,
    after: Map<String, Value>,
}

/// What `undo_changes` took back.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct UndoneChanges {
    change_id: String,
    /// Number of images that have their earlier values again.
    undone: u64,
}

/// The fields of an image that can be changed, as in its record.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Details<'a> {
    favorite: bool,
    rating: Option<u8>,
    keywords: Vec<&'a str>,
    archived: bool,
    description: Option<&'a str>,
    captured_at: String,
    utc_offset: Option<String>,
    latitude: Option<f64>,
    longitude: Option<f64>,
    place: Option<&'a str>,
}

impl<'a> Details<'a> {
    fn of(image: &'a EditableImage) -> Self {
        let offset = image.capture.offset_minutes.and_then(UtcOffset::from_minutes);
        Self {
            favorite: image.marks.favorite,
            rating: image.marks.rating.map(Rating::stars),
            keywords: image.marks.keywords.iter().map(domain::Keyword::as_str).collect(),
            archived: image.marks.archived,
            description: image.description.as_deref(),
            captured_at: image.capture.at.to_string(),
            utc_offset: offset.map(|offset| offset.to_string()),
            latitude: image.position.map(domain::Position::latitude),
            longitude: image.position.map(domain::Position::longitude),
            place: image.place.as_deref(),
        }
    }

    fn members(&self) -> serde_json::Result<Map<String, Value>> {
        match serde_json::to_value(self)? {
            Value::Object(members) => Ok(members),
            _ => Ok(Map::new()),
        }
    }
}

fn changed_image(
    id: &ImageId,
    before: &EditableImage,
    after: &EditableImage,
) -> serde_json::Result<ChangedImage> {
    let (mut before, mut after) = (Details::of(before).members()?, Details::of(after).members()?);
    let same: BTreeSet<String> = before
        .iter()
        .filter(|(name, value)| after.get(*name) == Some(value))
        .map(|(name, _)| name.clone())
        .collect();
    before.retain(|name, _| !same.contains(name));
    after.retain(|name, _| !same.contains(name));
    Ok(ChangedImage { id: id.to_string(), before, after })
}

impl ToolContext {
    /// The name of the app or key; an error if it may not edit details.
    async fn editor(&self) -> Result<Option<String>, ToolError> {
        let editor = self.api.library.accounts.editor(&self.caller).await?;
        if editor.may_edit {
            Ok(editor.author)
        } else {
            Err(ToolError::MayNotEdit { apps_url: apps_url(&self.api.base_url) })
        }
    }

    pub(super) async fn update_images(
        &self,
        arguments: Map<String, Value>,
        call: &ToolCall<Self>,
    ) -> Outcome {
        let author = self.editor().await?;
        // Parsed before blank and null arguments are left out: null takes a change back, and a blank description removes it.
        let change = parse_arguments::<PhotoChange>(&arguments)?.into_edit()?;
        let UpdateImages { image_ids, dry_run } = read(arguments.clone())?;
        if change.is_empty() {
            return Err(Invalid::new("imageIds", "are not enough; give at least one field to change").into());
        }
        let ids = distinct_image_ids(image_ids)?;
        if ids.is_empty() || ids.len() > MAX_IMAGE_IDS_PER_CALL {
            return Err(Invalid::new("imageIds", "must be 1 to 100 ids").into());
        }
        let count = ids.len();
        let known: Vec<ImageId> = ids.into_iter().filter_map(ImageId::parse).collect();
        if known.len() < count {
            return Err(ToolError::UnknownImageId);
        }
        let (catalogue, dry_run) = (&self.api.library.catalogue, dry_run.unwrap_or(false));
        let edit = NewEdit { id: catalogue.new_edit_id()?, author };
        let change_id = edit.id.to_string();
        let run = async |edit: NewEdit, is_preview| match catalogue
            .edit_images(&self.caller, known.clone(), edit, change.clone(), is_preview)
            .await?
        {
            Lookup::Found(changed) => Ok(changed),
            Lookup::Foreign => Err(ToolError::ForeignImageId),
            Lookup::Missing => Err(ToolError::UnknownImageId),
        };
        if !dry_run && count > MAX_UNCONFIRMED && must_confirm(call)? {
            let changed = run(edit.clone(), true).await?.len();
            if changed > MAX_UNCONFIRMED {
                return Err(confirmation(changed, &arguments));
            }
        }
        let changed = run(edit, dry_run).await?;
        let changes = changed
            .iter()
            .map(|(id, before, after)| changed_image(id, before, after))
            .collect::<serde_json::Result<Vec<_>>>()?;
        self.result(&ObjectPayload::without_urls(UpdatedImages {
            change_id: (!dry_run && !changes.is_empty()).then_some(change_id),
            dry_run,
            changed: changes.len(),
            unchanged: count - changes.len(),
            changes,
        }))
    }

    pub(super) async fn undo_changes(&self, arguments: Map<String, Value>) -> Outcome {
        self.editor().await?;
        let UndoChanges { change_id } = read(arguments)?;
        let Some(edit) = EditId::parse(change_id.as_str()) else { return Err(ToolError::NothingToUndo) };
        match self.api.library.catalogue.undo_edit(&self.caller, &edit).await? {
            0 => Err(ToolError::NothingToUndo),
            undone => self.result(&ObjectPayload::without_urls(UndoneChanges { change_id, undone })),
        }
    }
}
