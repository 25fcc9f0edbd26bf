use serde::{Deserialize, Serialize};

use crate::{CameraSettings, CaptureTime, Marks, Position, clean_text};

/// Metadata from a photo's file and its sidecars.
///
/// To add a field, for example the software: add it to [`PhotoDetails`], read it in `media::metadata`, add its column in the
/// storage adapter, and write it to the API record. The sandbox protocol transfers these structs unchanged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metadata {
    /// The capture time, always present, with its source.
    pub capture: CaptureTime,
    pub details: PhotoDetails,
    pub settings: Option<CameraSettings>,
    pub marks: Marks,
}

/// What records and searches have beside the capture time and the marks.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhotoDetails {
    /// Where it was taken.
    pub position: Option<Position>,
    /// The description, written by a person.
    pub description: Option<String>,
    pub camera_make: Option<String>,
    pub camera_model: Option<String>,
}

impl PhotoDetails {
    /// The name of the camera, such as `Canon EOS R5`. Many models begin with the name of the manufacturer.
    ///
    /// The migration `cameras` applies the same rule to the photos that a library already has.
    pub fn camera(&self) -> Option<String> {
        match (&self.camera_make, &self.camera_model) {
            (Some(make), Some(model)) => {
                let first_word = make.split_whitespace().next().unwrap_or(make).to_lowercase();
                if model.to_lowercase().starts_with(&first_word) {
                    return Some(model.clone());
                }
                Some(format!("{make} {model}"))
            }
            (one, other) => one.as_ref().or(other.as_ref()).cloned(),
        }
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manufacturer_is_named_once() {
        let check = |make: Option<&str>, model: Option<&str>, expect: Option<&str>| {
            let details = PhotoDetails {
                camera_make: make.map(str::to_owned),
                camera_model: model.map(str::to_owned),
                ..PhotoDetails::default()
            };
            assert_eq!(details.camera().as_deref(), expect);
        };
        check(Some("Canon"), Some("Canon EOS R5"), Some("Canon EOS R5"));
        check(Some("NIKON CORPORATION"), Some("NIKON D750"), Some("NIKON D750"));
        check(Some("Google"), Some("Pixel 8"), Some("Google Pixel 8"));
        check(Some("Google"), None, Some("Google"));
        check(None, Some("Pixel 8"), Some("Pixel 8"));
        check(None, None, None);
    }
}
