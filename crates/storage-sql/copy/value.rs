//! Columns as values that are the same in all adapters.

use storage::Value;

/// The type of a column.
pub(super) trait Column: Sized {
    fn into_value(self) -> Value;

    /// `None` for a value of another type.
    fn from_value(value: Value) -> Option<Self>;
}

macro_rules! column {
    ($type:ty, $variant:ident) => {
        impl Column for $type {
            fn into_value(self) -> Value {
                Value::$variant(self)
            }

            fn from_value(value: Value) -> Option<Self> {
                match value {
                    Value::$variant(value) => Some(value),
                    _ => None,
                }
            }
        }
    };
}

column!(i64, Integer);
column!(f64, Real);
column!(bool, Boolean);
column!(String, Text);
column!(Vec<u8>, Bytes);

impl<T: Column> Column for Option<T> {
    fn into_value(self) -> Value {
        self.map_or(Value::Null, T::into_value)
    }

    fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::Null => Some(None),
            value => T::from_value(value).map(Some),
        }
    }
}
