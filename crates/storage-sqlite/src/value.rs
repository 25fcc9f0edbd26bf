use std::fmt::{self, Display};

use domain::{ContentHash, PixelSize, Position, Timestamp, UtcOffset};

use crate::error::Failure;

/// Names a stored row while its columns become types.
#[derive(Clone, Copy)]
pub(crate) struct RowName<'a> {
    table: &'static str,
    key: &'a dyn Display,
}

impl<'a> RowName<'a> {
    pub(crate) fn new(table: &'static str, key: &'a dyn Display) -> Self {
        Self { table, key }
    }

    /// The failure that says which value cannot be read.
    pub(crate) fn unreadable(self, column: &'static str) -> Failure {
        Failure::Unreadable { table: self.table, column, row: self.key.to_string() }
    }

    /// A value, or the failure that names its column.
    pub(crate) fn some<T>(self, column: &'static str, value: Option<T>) -> Result<T, Failure> {
        value.ok_or_else(|| self.unreadable(column))
    }

    pub(crate) fn timestamp(self, column: &'static str, millis: i64) -> Result<Timestamp, Failure> {
        self.some(column, Timestamp::from_millis(millis))
    }

    pub(crate) fn optional_timestamp(
        self,
        column: &'static str,
        millis: Option<i64>,
    ) -> Result<Option<Timestamp>, Failure> {
        millis.map(|millis| self.timestamp(column, millis)).transpose()
    }

    pub(crate) fn utc_offset(
        self,
        column: &'static str,
        minutes: Option<i64>,
    ) -> Result<Option<UtcOffset>, Failure> {
        let offset = |minutes| i32::try_from(minutes).ok().and_then(UtcOffset::from_minutes);
        minutes.map(|minutes| self.some(column, offset(minutes))).transpose()
    }

    pub(crate) fn unsigned<T: TryFrom<i64>>(self, column: &'static str, number: i64) -> Result<T, Failure> {
        self.some(column, T::try_from(number).ok())
    }

    pub(crate) fn hash(self, column: &'static str, bytes: &[u8]) -> Result<ContentHash, Failure> {
        self.some(column, ContentHash::from_slice(bytes))
    }

    pub(crate) fn digest(self, column: &'static str, bytes: &[u8]) -> Result<[u8; 32], Failure> {
        self.some(column, bytes.try_into().ok())
    }

    pub(crate) fn size(self, width: i64, height: i64) -> Result<PixelSize, Failure> {
        Ok(PixelSize { width: self.unsigned("width", width)?, height: self.unsigned("height", height)? })
    }

    pub(crate) fn position(
        self,
        latitude: Option<f64>,
        longitude: Option<f64>,
    ) -> Result<Option<Position>, Failure> {
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

/// Shows a hash that is a row's key.
pub(crate) struct Hex<'a>(pub(crate) &'a [u8]);

impl Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// How many rows a statement changed.
pub(crate) fn counted(rows: usize) -> u64 {
    u64::try_from(rows).unwrap_or(u64::MAX)
}

/// A length in bytes as it is stored.
pub(crate) fn stored_bytes(bytes: u64) -> Result<i64, Failure> {
    i64::try_from(bytes)
        .map_err(|_| Failure::Refused(format!("{bytes} bytes are more than the store counts")))
}

/// Row numbers as the JSON array that `json_each` reads.
pub(crate) fn json_array(numbers: &[i64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    format!("[{}]", numbers.join(","))
}

/// Values as the JSON that `json_each` reads.
pub(crate) fn json_text<T: serde::Serialize>(values: &[T]) -> String {
    serde_json::to_string(values).unwrap_or_else(|_| "[]".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use storage::StorageError;

    #[test]
    fn an_unreadable_value_is_named() {
        let row = RowName::new("images", &17);
        let error: StorageError = row.timestamp("captured_at_ms", i64::MAX).unwrap_err().into();
        assert_eq!(
            error.to_string(),
            "the metadata store holds an unreadable value: table images, column captured_at_ms, row 17"
        );
        assert!(row.position(Some(91.0), Some(0.0)).is_err());
        assert!(row.position(Some(1.0), None).is_err());
        assert!(row.hash("original", &[0; 31]).is_err());
        assert!(row.digest("hash", &[0; 33]).is_err());
        assert!(row.utc_offset("capture_offset_min", Some(1440)).is_err());
        assert!(row.unsigned::<u32>("width", -1).is_err());
    }

    #[test]
    fn a_key_in_hexadecimal() {
        assert_eq!(Hex(&[0, 0x7f, 0xff]).to_string(), "007fff");
    }

    #[test]
    fn row_numbers_as_json() {
        assert_eq!(json_array(&[]), "[]");
        assert_eq!(json_array(&[1, 22]), "[1,22]");
    }
}
