use serde::{Deserialize, Serialize};

use crate::{CaptureTime, Position, clean_text};

/// What a photo's file and its sidecars say about it.
///
/// To add a field, say the camera's lens: add it to [`PhotoDetails`], read it in `media::metadata`, store it in the
/// storage adapter, write it to the API's record. The sandbox protocol carries these structs as they are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metadata {
    /// When it was taken. There is always a time; its source tells how it is known.
    pub capture: CaptureTime,
    /// Everything else.
    pub details: PhotoDetails,
}

/// What a photo's file and its sidecars say about it besides the capture time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhotoDetails {
    /// Where it was taken.
    pub position: Option<Position>,
    /// The description its author wrote.
    pub description: Option<String>,
    /// The manufacturer of the camera.
    pub camera_make: Option<String>,
    /// The camera's model.
    pub camera_model: Option<String>,
}

impl PhotoDetails {
    /// The same with every text passed through [`clean_text`].
    #[must_use]
    pub fn cleaned(self) -> Self {
        let clean = |text: Option<String>| text.as_deref().and_then(clean_text);
        // Without `..`, so that a new field cannot be forgotten.
        let Self { position, description, camera_make, camera_model } = self;
        Self {
            position,
            description: clean(description),
            camera_make: clean(camera_make),
            camera_model: clean(camera_model),
        }
    }
}
