use diesel::prelude::*;
use domain::{PhotoDetails, Position};

use crate::{
    error::SqlError,
    sql::{schema::images, value::RowReader},
};

/// The columns of [`PhotoDetails`], for reading and writing.
#[derive(Queryable, Selectable, AsChangeset)]
#[diesel(table_name = images, treat_none_as_null = true, check_for_backend(crate::Backend))]
pub(crate) struct DetailsRow {
    latitude: Option<f64>,
    longitude: Option<f64>,
    description: Option<String>,
    camera_make: Option<String>,
    camera_model: Option<String>,
}

impl From<PhotoDetails> for DetailsRow {
    fn from(details: PhotoDetails) -> Self {
        Self {
            latitude: details.position.map(Position::latitude),
            longitude: details.position.map(Position::longitude),
            description: details.description,
            camera_make: details.camera_make,
            camera_model: details.camera_model,
        }
    }
}

impl DetailsRow {
    pub(super) fn read(self, reader: RowReader) -> Result<PhotoDetails, SqlError> {
        Ok(PhotoDetails {
            position: reader.position(self.latitude, self.longitude)?,
            description: self.description,
            camera_make: self.camera_make,
            camera_model: self.camera_model,
        })
    }
}
