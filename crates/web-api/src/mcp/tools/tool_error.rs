use domain::{Album, ImageId, Invalid, MAX_ALBUMS_PER_ACCOUNT};
use library::{BlobError, EditError, RenditionError, SearchError, StorageError, Unavailable, ViewError};
use mcp_wire::{ArgumentError, CallToolResult, Meta, server::ToolReply, tools::InputRequiredResult};
use serde_json::{Map, Value, json};

/// Why a tool failed, as a message for a model: what is wrong and what to do next.
#[derive(Debug, thiserror::Error)]
pub(super) enum ToolError {
    #[error("{0}. Correct this argument and call the tool again.")]
    Argument(String),
    #[error("{0}. Correct this argument and call the tool again.")]
    Value(Invalid),
    #[error(
        "There is no image with this id. The id is wrong, or the image was deleted or is not visible on the account's plan. Use an id that list_images or search_images returned."
    )]
    NoImage,
    #[error(
        "This image belongs to another account. Use an id that list_images or search_images returned with this token."
    )]
    ForeignImage,
    #[error(
        "{} of the imageIds cannot be shown: {}. Each is wrong, deleted, of another account, or not visible on the account's plan. Remove them and call the tool again, or use ids that list_images or search_images returned.",
        unknown.len(),
        listed(unknown)
    )]
    CannotShow { unknown: Vec<String> },
    #[error(
        "The picture of {image} cannot be made: {reason}. Remove this id from imageIds and call the tool again; get_image still returns its metadata."
    )]
    NoPicture { image: ImageId, reason: String },
    #[error(
        "The pictures of these images cannot be made: {reason}. Call the tool for fewer images at a time, to find the one that fails."
    )]
    NoPictures { reason: String },
    #[error(
        "There is no album with this id. Use the id of an album of this account, or omit albumId where it is optional."
    )]
    NoAlbum,
    #[error(
        "One of the images does not exist, so nothing was changed. Remove the ids that get_image does not find, and call the tool again."
    )]
    UnknownImageId,
    #[error(
        "One of the images belongs to another account, so nothing was changed. Use only ids that list_images or search_images returned with this token."
    )]
    ForeignImageId,
    #[error(
        "Nothing in the library matches this {argument}. {} Correct {argument}, or leave it out, and call the tool again.",
        offered(near)
    )]
    NoSuchName { argument: &'static str, near: Vec<String> },
    #[error(
        "Several albums have this title: {}. Ask the user which one is meant, and call the tool again with its id as albumId.",
        listed(albums)
    )]
    SeveralAlbums { albums: Vec<String> },
    #[error(
        "This app may not edit the details of photos, so nothing was changed. Ask the user to open {apps_url} and choose “Let it edit” for this app, then call the tool again."
    )]
    MayNotEdit { apps_url: String },
    /// Not a failure: the user has to answer first.
    #[error("The user has to answer a question first.")]
    Asks(Box<InputRequiredResult>),
    /// The client's answer is malformed, which the model cannot correct.
    #[error("{0}")]
    BadAnswer(ArgumentError),
    #[error(
        "The user was asked and did not agree, so nothing was done. Ask the user what they want before you call the tool again."
    )]
    Declined,
    #[error(
        "There is nothing to undo with this changeId: it is unknown, was undone before or more than 90 days ago, or the images were changed again since."
    )]
    NothingToUndo,
    #[error(
        "The account already has {} albums, the maximum. Ask the user to delete one, or add the images to an existing album with update_album.",
        MAX_ALBUMS_PER_ACCOUNT
    )]
    TooManyAlbums,
    #[error(
        "Photo sync is not set up yet, so there are no images. Ask the user to open {install_url} and follow the steps there, then call the tool again."
    )]
    SyncNotSetUp { install_url: String },
    #[error(
        "Search by appearance is temporarily unavailable. Call the tool again with channels [\"text\"] to match only text, or retry in a minute."
    )]
    SearchDown,
    #[error(
        "The photo library is temporarily unavailable. Retry the same call in a few seconds. If it fails again, tell the user."
    )]
    Unavailable,
}

/// Key in the `_meta` of a failed call: the message that the app shows to the user. The text of the result is for the model.
const USER_MESSAGE: &str = "photo-library/userMessage";
/// Key in the `_meta` of a failed call: the ids that cannot be shown, for the app. They are not structured content, because
/// that would have to match the output schema.
const UNKNOWN_IMAGE_IDS: &str = "photo-library/unknownImageIds";
/// Maximum number of ids in a message.
const LISTED_IDS: usize = 10;
/// Maximum length of a value that a message repeats. Values may contain anything.
const MAX_ECHO_LENGTH: usize = 64;

fn listed(ids: &[String]) -> String {
    let shown: Vec<String> =
        ids.iter().take(LISTED_IDS).map(|id| id.chars().take(MAX_ECHO_LENGTH).collect()).collect();
    let more = if ids.len() > LISTED_IDS { ", …" } else { "" };
    shown.join(", ") + more
}

/// The nearest names, as a sentence.
fn offered(near: &[String]) -> String {
    match near {
        [] => "No name in it is similar.".to_owned(),
        _ => format!("Similar names are: {}.", listed(near)),
    }
}

/// The arguments that are short enough for a message to repeat.
pub(super) struct ShortArguments(Vec<(String, Value)>);

impl ShortArguments {
    pub(super) fn of(arguments: &Map<String, Value>) -> Self {
        let is_short = |value: &Value| match value {
            Value::Number(_) | Value::Bool(_) => true,
            Value::String(text) => text.len() <= MAX_ECHO_LENGTH,
            _ => false,
        };
        let short = arguments.iter().filter(|(_, value)| is_short(value));
        Self(short.map(|(name, value)| (name.clone(), value.clone())).collect())
    }
}

impl ToolError {
    /// The reply to a failed call: a text for the model, and `_meta` for the app. The text repeats an invalid value.
    pub(super) fn into_reply(self, sent: &ShortArguments) -> ToolReply {
        let error = match self.with_value(sent) {
            Self::Asks(question) => return ToolReply::InputRequired(*question),
            Self::BadAnswer(error) => return ToolReply::Refused(error.into()),
            error => error,
        };
        let mut meta = Meta::from_iter([(USER_MESSAGE.to_owned(), json!(error.user_message()))]);
        if let Self::CannotShow { unknown } = &error {
            meta.insert(UNKNOWN_IMAGE_IDS.to_owned(), json!(unknown));
        }
        CallToolResult::error(error.to_string()).with_meta(meta).into()
    }

    /// The message for the user, without tool names and ids: what happened, then what to do.
    fn user_message(&self) -> String {
        let message = match self {
            Self::Argument(_) | Self::Value(_) | Self::BadAnswer(_) => {
                "The photo library could not read this request. Ask the assistant to try again."
            }
            Self::NoImage => "This photo is no longer in your library.",
            Self::ForeignImage => "This photo belongs to another account.",
            Self::CannotShow { .. } => {
                "Some of these photos are no longer in your library. Ask the assistant to show the others."
            }
            Self::NoPicture { .. } | Self::NoPictures { .. } => {
                "The assistant cannot look at some of these photos, because their pictures cannot be made."
            }
            Self::NoAlbum => {
                "This album is no longer in your library. Ask the assistant to list your albums."
            }
            Self::UnknownImageId => {
                "Some of these photos are no longer in your library, so nothing was changed. Ask the assistant to show the photos again, then try again."
            }
            Self::ForeignImageId => {
                "Some of these photos belong to another account, so nothing was changed. Ask the assistant to show your own photos."
            }
            Self::NoSuchName { .. } => {
                "Nothing in your library has this name. Ask the assistant to try another one."
            }
            Self::SeveralAlbums { .. } => {
                "Several of your albums have this title. Tell the assistant which one you mean."
            }
            Self::MayNotEdit { apps_url } => {
                return format!("This app may not edit your photos. You can allow it at {apps_url}.");
            }
            Self::Asks(_) => "Please answer the question first.",
            Self::Declined => "Nothing was changed.",
            Self::NothingToUndo => "There is nothing to undo.",
            Self::TooManyAlbums => {
                return format!(
                    "You have {MAX_ALBUMS_PER_ACCOUNT} albums, the maximum. Ask the assistant to add these photos to one of them."
                );
            }
            Self::SyncNotSetUp { install_url } => {
                return format!("There are no photos yet. Open {install_url} to see how to add some.");
            }
            Self::SearchDown => "Photos cannot be searched by appearance right now. Try again in a minute.",
            Self::Unavailable => "The photo library is not available right now. Try again in a moment.",
        };
        message.to_owned()
    }

    /// Adds the invalid value to the message, if it is present and short.
    fn with_value(self, sent: &ShortArguments) -> Self {
        let Self::Value(invalid) = self else { return self };
        let Some((_, value)) = sent.0.iter().find(|(name, _)| name == invalid.field) else {
            return Self::Value(invalid);
        };
        let reason = format!("{}; you sent {value}", invalid.reason);
        Self::Value(Invalid { reason, ..invalid })
    }

    pub(super) fn several_albums(albums: &[Album]) -> Self {
        let albums = albums.iter().map(|album| format!("{} ({})", album.id, album.title)).collect();
        Self::SeveralAlbums { albums }
    }

    fn unavailable(error: &dyn std::fmt::Display) -> Self {
        tracing::error!(%error, "a tool call failed");
        Self::Unavailable
    }
}

impl From<ArgumentError> for ToolError {
    fn from(error: ArgumentError) -> Self {
        Self::Argument(error.to_string())
    }
}

impl From<Invalid> for ToolError {
    fn from(invalid: Invalid) -> Self {
        Self::Value(invalid)
    }
}

impl From<StorageError> for ToolError {
    fn from(error: StorageError) -> Self {
        Self::unavailable(&error)
    }
}

impl From<Unavailable> for ToolError {
    fn from(error: Unavailable) -> Self {
        Self::unavailable(&error)
    }
}

impl From<serde_json::Error> for ToolError {
    fn from(error: serde_json::Error) -> Self {
        Self::unavailable(&error)
    }
}

impl From<EditError> for ToolError {
    fn from(error: EditError) -> Self {
        match error {
            EditError::Invalid(invalid) => invalid.into(),
            EditError::Unavailable(error) => error.into(),
        }
    }
}

impl From<SearchError> for ToolError {
    fn from(error: SearchError) -> Self {
        match error {
            SearchError::NoAlbum => Self::NoAlbum,
            SearchError::ImageSearchUnavailable => Self::SearchDown,
            SearchError::Storage(error) => error.into(),
        }
    }
}

impl From<ViewError> for ToolError {
    fn from(error: ViewError) -> Self {
        let reason = match error.cause {
            RenditionError::NoImage => "the image was deleted".to_owned(),
            RenditionError::Failed(reason) => reason,
            RenditionError::Blob(BlobError::Missing { .. }) => "its file is missing".to_owned(),
            RenditionError::Storage(_) | RenditionError::Blob(_) | RenditionError::DecoderUnavailable(_) => {
                return Self::unavailable(&error);
            }
        };
        tracing::error!(image = ?error.image, %reason, "images cannot be viewed");
        match error.image {
            Some(image) => Self::NoPicture { image, reason },
            None => Self::NoPictures { reason },
        }
    }
}
