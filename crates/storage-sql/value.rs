use std::fmt::{self, Display};

use domain::{ContentHash, PixelSize, Position, Timestamp, UtcOffset};

use crate::error::SqlError;

/// Converts the columns of a stored row; its errors name table, column and row.
#[derive(Clone, Copy)]
pub(crate) struct RowReader<'a> {
    table: &'static str,
    key: &'a dyn Display,
}

impl<'a> RowReader<'a> {
    pub(crate) fn new(table: &'static str, key: &'a dyn Display) -> Self {
        Self { table, key }
    }

    /// The error for an unreadable value.
    pub(crate) fn unreadable(self, column: &'static str) -> SqlError {
        SqlError::Unreadable { table: self.table, column, row: self.key.to_string() }
    }

    /// The value, or the error for an unreadable one if it is `None`.
    pub(crate) fn required<T>(self, column: &'static str, value: Option<T>) -> Result<T, SqlError> {
        value.ok_or_else(|| self.unreadable(column))
    }

    pub(crate) fn timestamp(self, column: &'static str, millis: i64) -> Result<Timestamp, SqlError> {
        self.required(column, Timestamp::from_millis(millis))
    }

    pub(crate) fn optional_timestamp(
        self,
        column: &'static str,
        millis: Option<i64>,
    ) -> Result<Option<Timestamp>, SqlError> {
        millis.map(|millis| self.timestamp(column, millis)).transpose()
    }

    pub(crate) fn utc_offset(
        self,
        column: &'static str,
        minutes: Option<i64>,
    ) -> Result<Option<UtcOffset>, SqlError> {
        let offset = |minutes| i32::try_from(minutes).ok().and_then(UtcOffset::from_minutes);
        minutes.map(|minutes| self.required(column, offset(minutes))).transpose()
    }

    pub(crate) fn unsigned<T: TryFrom<i64>>(self, column: &'static str, number: i64) -> Result<T, SqlError> {
        self.required(column, T::try_from(number).ok())
    }

    pub(crate) fn hash(self, column: &'static str, bytes: &[u8]) -> Result<ContentHash, SqlError> {
        self.required(column, ContentHash::from_slice(bytes))
    }

    pub(crate) fn digest(self, column: &'static str, bytes: &[u8]) -> Result<[u8; 32], SqlError> {
        self.required(column, bytes.try_into().ok())
    }

    pub(crate) fn size(self, width: i64, height: i64) -> Result<PixelSize, SqlError> {
        Ok(PixelSize { width: self.unsigned("width", width)?, height: self.unsigned("height", height)? })
    }

    pub(crate) fn position(
        self,
        latitude: Option<f64>,
        longitude: Option<f64>,
    ) -> Result<Option<Position>, SqlError> {
        match (latitude, longitude) {
            (None, None) => Ok(None),
            (Some(latitude), Some(longitude)) => {
                Position::new(latitude, longitude).map(Some).map_err(|invalid| self.unreadable(invalid.field))
            }
            (None, Some(_)) => Err(self.unreadable("latitude")),
            (Some(_), None) => Err(self.unreadable("longitude")),
        }
    }
}

/// Displays a hash, for use as a row's key.
pub(crate) struct Hex<'a>(pub(crate) &'a [u8]);

impl Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The number of rows that a statement changed.
pub(crate) fn row_count(rows: usize) -> u64 {
    u64::try_from(rows).unwrap_or(u64::MAX)
}

/// Converts a length in bytes for storage.
pub(crate) fn stored_bytes(bytes: u64) -> Result<i64, SqlError> {
    i64::try_from(bytes)
        .map_err(|_| SqlError::Refused(format!("{bytes} bytes exceed the range of the store")))
}

/// Integers as a JSON array, for the macro `integers!`.
pub(crate) fn json_array(numbers: &[i64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    format!("[{}]", numbers.join(","))
}

/// Values as a JSON array, for `strings!` and the other macros of each adapter's `dialect.rs`.
pub(crate) fn json_text<T: serde::Serialize>(values: &[T]) -> String {
    serde_json::to_string(values).unwrap_or_else(|_| "[]".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use storage::StorageError;

    #[test]
    fn errors_name_the_unreadable_value() {
        let reader = RowReader::new("images", &17);
        let error: StorageError = reader.timestamp("captured_at_ms", i64::MAX).unwrap_err().into();
        assert_eq!(
            error.to_string(),
            "the metadata store holds an unreadable value: table images, column captured_at_ms, row 17"
        );
        assert!(reader.position(Some(91.0), Some(0.0)).is_err());
        assert!(reader.position(Some(1.0), None).is_err());
        assert!(reader.hash("original", &[0; 31]).is_err());
        assert!(reader.digest("hash", &[0; 33]).is_err());
        assert!(reader.utc_offset("capture_offset_min", Some(1440)).is_err());
        assert!(reader.unsigned::<u32>("width", -1).is_err());
    }

    #[test]
    fn hashes_are_displayed_in_hexadecimal() {
        assert_eq!(Hex(&[0, 0x7f, 0xff]).to_string(), "007fff");
    }

    #[test]
    fn integers_as_json() {
        assert_eq!(json_array(&[]), "[]");
        assert_eq!(json_array(&[1, 22]), "[1,22]");
    }
}
