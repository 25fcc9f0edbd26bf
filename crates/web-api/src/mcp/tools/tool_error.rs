use domain::Invalid;
use library::{SearchError, StorageError, Unavailable};
use mcp_protocol::{ArgumentError, CallToolResult, Meta};
use serde_json::{Map, Value, json};

/// Why a tool gave no result, in words for a model: what is wrong and what to do next.
#[derive(Debug, thiserror::Error)]
pub(super) enum ToolError {
    #[error("{0}. Correct this argument and call the tool again.")]
    Argument(String),
    #[error("{0}. Correct this argument and call the tool again.")]
    Value(Invalid),
    #[error(
        "There is no image with this id: it is wrong, deleted, or outside what the account's plan shows. Use an id that list_images or search_images returned."
    )]
    NoImage,
    #[error(
        "This image belongs to someone else. Use an id that list_images or search_images returned with this token."
    )]
    ForeignImage,
    #[error(
        "{} imageIds belong to no image that can be shown: {}. They are wrong, deleted, someone else's, or outside what the account's plan shows. Leave them out and call the tool again, or use ids that list_images or search_images returned.",
        unknown.len(),
        named(unknown)
    )]
    CannotShow { unknown: Vec<String> },
    #[error(
        "There is no album with this id. Use an album id that this account's list of albums shows, or leave albumId out where it is optional."
    )]
    NoAlbum,
    #[error(
        "One of the image ids belongs to no image in this library, so nothing was changed. Leave out ids that get_image does not find, and call the tool again."
    )]
    UnknownImageId,
    #[error(
        "One of the image ids belongs to someone else's image, so nothing was changed. Use only ids that list_images or search_images returned with this token."
    )]
    ForeignImageId,
    #[error(
        "The account already has 500 albums, the most it can have. Ask the user to delete one, or add the images to an existing album with update_album."
    )]
    TooManyAlbums,
    #[error(
        "Photo sync is not set up yet, so there are no images. Ask the user to open {install_url} and follow the steps there, then call the tool again."
    )]
    SyncNotSetUp { install_url: String },
    #[error(
        "Search by visual appearance is temporarily down. Call the tool again with channels [\"text\"], which finds words alone, or retry after a minute."
    )]
    SearchDown,
    #[error(
        "The photo library is temporarily down. Nothing is wrong with the call: retry it after a few seconds, and tell the user if it keeps failing."
    )]
    Unavailable,
}

/// In the `_meta` of a failed call, for the app: what it tells its user. The result's text is for the model.
const USER_MESSAGE: &str = "photo-library/userMessage";
/// In the `_meta` of a failed call, for the app: the ids to leave out. Structured content would have to fit the output schema.
const UNKNOWN_IMAGE_IDS: &str = "photo-library/unknownImageIds";
/// How many ids a text names.
const NAMED_IDS: usize = 10;
/// How much of what was sent is repeated: it may be anything.
const ECHO_LENGTH: usize = 64;

fn named(ids: &[String]) -> String {
    let shown: Vec<String> =
        ids.iter().take(NAMED_IDS).map(|id| id.chars().take(ECHO_LENGTH).collect()).collect();
    let more = if ids.len() > NAMED_IDS { ", …" } else { "" };
    shown.join(", ") + more
}

/// The arguments that are short enough to be repeated.
pub(super) struct Sent(Vec<(String, Value)>);

impl Sent {
    pub(super) fn of(arguments: &Map<String, Value>) -> Self {
        let is_short = |value: &Value| match value {
            Value::Number(_) | Value::Bool(_) => true,
            Value::String(text) => text.len() <= ECHO_LENGTH,
            _ => false,
        };
        let short = arguments.iter().filter(|(_, value)| is_short(value));
        Self(short.map(|(name, value)| (name.clone(), value.clone())).collect())
    }
}

impl ToolError {
    /// A failed call: a text for the model, and for programs what they can act on. A value that will not do is repeated.
    pub(super) fn into_result(self, sent: &Sent) -> CallToolResult {
        let error = self.with_value(sent);
        let mut meta = Meta::from_iter([(USER_MESSAGE.to_owned(), json!(error.user_message()))]);
        if let Self::CannotShow { unknown } = &error {
            meta.insert(UNKNOWN_IMAGE_IDS.to_owned(), json!(unknown));
        }
        CallToolResult::error(error.to_string()).with_meta(meta)
    }

    /// The message for the user, without names of tools and without ids: what happened and what to do.
    fn user_message(&self) -> String {
        let message = match self {
            Self::Argument(_) | Self::Value(_) => {
                "The library did not understand this request. Ask the assistant to try again."
            }
            Self::NoImage => "This photo is no longer in your library.",
            Self::ForeignImage => "This photo belongs to someone else.",
            Self::CannotShow { .. } => {
                "Some of these photos are no longer in your library. Ask the assistant to show the others."
            }
            Self::NoAlbum => {
                "This album is no longer in your library. Ask the assistant which albums there are."
            }
            Self::UnknownImageId => {
                "Some of these photos are no longer in your library, so nothing was changed. Ask the assistant to show the photos again, then try again."
            }
            Self::ForeignImageId => {
                "Some of these photos belong to someone else, so nothing was changed. Ask the assistant to show your own photos."
            }
            Self::TooManyAlbums => {
                "You have 500 albums, the most a library can have. Ask the assistant to add these photos to one of them."
            }
            Self::SyncNotSetUp { install_url } => {
                return format!("There are no photos yet. Open {install_url} to see how to add some.");
            }
            Self::SearchDown => {
                "Photos cannot be searched by what they show right now. Try again in a minute."
            }
            Self::Unavailable => "The photo library is not available right now. Try again in a moment.",
        };
        message.to_owned()
    }

    /// Says what stood where a value will not do, unless it is absent, long or not a single one.
    fn with_value(self, sent: &Sent) -> Self {
        let Self::Value(invalid) = self else { return self };
        let Some((_, value)) = sent.0.iter().find(|(name, _)| name == invalid.field) else {
            return Self::Value(invalid);
        };
        let reason = format!("{}; you sent {value}", invalid.reason);
        Self::Value(Invalid { reason, ..invalid })
    }

    fn down(error: &dyn std::fmt::Display) -> Self {
        tracing::error!(%error, "a tool cannot answer");
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
        Self::down(&error)
    }
}

impl From<Unavailable> for ToolError {
    fn from(error: Unavailable) -> Self {
        Self::down(&error)
    }
}

impl From<serde_json::Error> for ToolError {
    fn from(error: serde_json::Error) -> Self {
        Self::down(&error)
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
