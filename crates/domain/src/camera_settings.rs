use serde::{Deserialize, Serialize};

use crate::clean_text;

/// How a camera was set when it took a photo. Each value is present if the file has it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CameraSettings {
    /// The name of the lens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lens: Option<String>,
    /// The number of the aperture: 2.8 for f/2.8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub f_number: Option<f64>,
    /// The exposure time in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exposure_s: Option<f64>,
    /// The sensitivity by ISO 12232.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iso: Option<u32>,
    /// The focal length of the lens in millimetres.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub focal_length_mm: Option<f64>,
    /// The focal length in millimetres that shows the same part of the scene on 35 mm film.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub focal_length_35mm: Option<u32>,
}

impl CameraSettings {
    /// Above every number of a real camera.
    const MAX: f64 = 1e6;

    /// Without values that no camera has, and with texts passed through [`clean_text`]; `None` if nothing is left.
    #[must_use]
    pub fn cleaned(self) -> Option<Self> {
        let real = |number: Option<f64>| number.filter(|number| *number > 0.0 && *number <= Self::MAX);
        let whole = |number: Option<u32>| number.filter(|number| *number > 0);
        // Without `..`, so that a new field cannot be forgotten.
        let Self { lens, f_number, exposure_s, iso, focal_length_mm, focal_length_35mm } = self;
        let cleaned = Self {
            lens: lens.as_deref().and_then(clean_text),
            f_number: real(f_number),
            exposure_s: real(exposure_s),
            iso: whole(iso),
            focal_length_mm: real(focal_length_mm),
            focal_length_35mm: whole(focal_length_35mm),
        };
        (cleaned != Self::default()).then_some(cleaned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_no_camera_has_are_left_out() {
        let settings = |f_number, iso| CameraSettings {
            lens: Some(" \0".to_owned()),
            f_number: Some(f_number),
            iso: Some(iso),
            ..CameraSettings::default()
        };
        for f_number in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(settings(f_number, 0).cleaned(), None, "{f_number}");
        }
        let cleaned = settings(2.8, 100).cleaned().unwrap();
        assert_eq!((cleaned.lens, cleaned.f_number, cleaned.iso), (None, Some(2.8), Some(100)));
    }
}
