use serde::{Deserialize, Serialize};

use crate::{CaptureTime, Position, clean_text};

/// Metadata from a photo's file and its sidecars.
///
/// To add a field, for example the lens: add it to [`PhotoDetails`], read it in `media::metadata`, add its column in the
/// storage adapter, and write it to the API record. The sandbox protocol transfers these structs unchanged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metadata {
    /// The capture time, always present, with its source.
    pub capture: CaptureTime,
    /// Everything else.
    pub details: PhotoDetails,
}

/// All metadata except the capture time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhotoDetails {
    /// Where it was taken.
    pub position: Option<Position>,
    /// The description, written by a person.
    pub description: Option<String>,
    /// The manufacturer of the camera.
    pub camera_make: Option<String>,
    /// The camera's model.
    pub camera_model: Option<String>,
}

impl PhotoDetails {
    /// Passes every text through [`clean_text`].
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
