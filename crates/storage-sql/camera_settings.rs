//! How cameras were set for photos, as JSON, because nothing is searched in it.

use diesel::{OptionalExtension, prelude::*};
use domain::CameraSettings;

use crate::{
    SqlConnection,
    error::SqlError,
    sql::{schema::camera_settings, value::RowReader},
};

/// The settings for an image.
pub(crate) fn of(c: &mut SqlConnection, seq: i64) -> Result<Option<CameraSettings>, SqlError> {
    let json: Option<String> =
        camera_settings::table.find(seq).select(camera_settings::settings).get_result(c).optional()?;
    let reader = RowReader::new("camera_settings", &seq);
    json.map(|json| reader.required("settings", serde_json::from_str(&json).ok())).transpose()
}

/// Replaces the settings for an image.
pub(crate) fn replace(
    c: &mut SqlConnection,
    seq: i64,
    settings: Option<&CameraSettings>,
) -> Result<(), SqlError> {
    let Some(settings) = settings else {
        diesel::delete(camera_settings::table.find(seq)).execute(c)?;
        return Ok(());
    };
    let json = serde_json::to_string(settings).map_err(|error| SqlError::Refused(error.to_string()))?;
    let settings = camera_settings::settings.eq(json);
    diesel::insert_into(camera_settings::table)
        .values((camera_settings::image_seq.eq(seq), settings.clone()))
        .on_conflict(camera_settings::image_seq)
        .do_update()
        .set(settings)
        .execute(c)?;
    Ok(())
}
