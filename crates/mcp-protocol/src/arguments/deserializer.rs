//! A serde deserializer over a JSON value. Its errors name the path to the value.

use super::error::{ArgumentError, unexpected};
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{
    DeserializeSeed, Deserializer, Error, IntoDeserializer, MapAccess, SeqAccess, Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::{Map, Number, Value, map};
use std::iter::Enumerate;
use std::slice;

/// The value to deserialize.
#[derive(Clone, Copy)]
pub(super) enum ArgumentDeserializer<'a> {
    Object(&'a Map<String, Value>),
    Other(&'a Value),
}

impl<'a> From<&'a Value> for ArgumentDeserializer<'a> {
    fn from(value: &'a Value) -> Self {
        match value {
            Value::Object(members) => Self::Object(members),
            other => Self::Other(other),
        }
    }
}

impl<'a> ArgumentDeserializer<'a> {
    fn unexpected(self) -> Unexpected<'a> {
        match self {
            Self::Object(_) => Unexpected::Map,
            Self::Other(value) => unexpected(value),
        }
    }

    /// Reads an integer; a number such as `1.0` counts as one (JSON Schema 2020-12 core §4.2.3).
    fn deserialize_integer<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, ArgumentError> {
        match self {
            Self::Other(Value::Number(number)) => match whole(number) {
                Some(integer) => visitor.visit_i64(integer),
                None => self.deserialize_any(visitor),
            },
            _ => self.deserialize_any(visitor),
        }
    }
}

/// The integer value of a floating-point number without a fraction. Numbers above 2^53 have none, because neighbouring
/// integers are equal there.
fn whole(number: &Number) -> Option<i64> {
    const LIMIT: f64 = 9_007_199_254_740_992.0;
    let float = number.as_f64().filter(|_| number.is_f64())?;
    if float.fract() != 0.0 || float.abs() > LIMIT {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "a whole number of at most 2^53 fits")]
    let integer = float as i64;
    Some(integer)
}

macro_rules! deserialize_integers {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ArgumentError> {
            self.deserialize_integer(visitor)
        })*
    };
}

impl<'de> Deserializer<'de> for ArgumentDeserializer<'de> {
    type Error = ArgumentError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ArgumentError> {
        match self {
            Self::Object(members) => visitor.visit_map(Members { members: members.iter(), value: None }),
            Self::Other(Value::Null) => visitor.visit_unit(),
            Self::Other(Value::Bool(value)) => visitor.visit_bool(*value),
            Self::Other(Value::Number(number)) => visit_number(number, visitor),
            Self::Other(Value::String(text)) => visitor.visit_borrowed_str(text),
            Self::Other(Value::Array(items)) => visit_items(items, visitor),
            Self::Other(Value::Object(members)) => Self::Object(members).deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ArgumentError> {
        match self {
            Self::Other(Value::Null) => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ArgumentError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ArgumentError> {
        match self {
            Self::Other(Value::String(name)) => visitor.visit_enum(name.as_str().into_deserializer()),
            Self::Object(members) if members.len() == 1 => visitor
                .visit_enum(MapAccessDeserializer::new(Members { members: members.iter(), value: None })),
            _ => Err(ArgumentError::invalid_type(self.unexpected(), &visitor)),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ArgumentError> {
        visitor.visit_unit()
    }

    deserialize_integers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
    }

    forward_to_deserialize_any! {
        bool f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier
    }
}

fn visit_number<'de, V: Visitor<'de>>(number: &Number, visitor: V) -> Result<V::Value, ArgumentError> {
    if let Some(number) = number.as_u64() {
        visitor.visit_u64(number)
    } else if let Some(number) = number.as_i64() {
        visitor.visit_i64(number)
    } else if let Some(number) = number.as_f64() {
        visitor.visit_f64(number)
    } else {
        Err(ArgumentError::custom("the number is out of range"))
    }
}

fn visit_items<'de, V: Visitor<'de>>(items: &'de [Value], visitor: V) -> Result<V::Value, ArgumentError> {
    let mut unread = Items { items: items.iter().enumerate() };
    let value = visitor.visit_seq(&mut unread)?;
    match unread.items.next() {
        None => Ok(value),
        Some((read, _)) => {
            Err(ArgumentError::custom(format_args!("expected {read} items, got {}", items.len())))
        }
    }
}

struct Items<'de> {
    items: Enumerate<slice::Iter<'de, Value>>,
}

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = ArgumentError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, ArgumentError> {
        let Some((position, value)) = self.items.next() else { return Ok(None) };
        let item = seed.deserialize(ArgumentDeserializer::from(value));
        item.map(Some).map_err(|error| error.within_item(position))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

struct Members<'de> {
    members: map::Iter<'de>,
    /// The member whose name was read and whose value comes next.
    value: Option<(&'de str, &'de Value)>,
}

impl<'de> MapAccess<'de> for Members<'de> {
    type Error = ArgumentError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, ArgumentError> {
        let Some((name, value)) = self.members.next() else { return Ok(None) };
        self.value = Some((name, value));
        seed.deserialize(StrDeserializer::new(name)).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, ArgumentError> {
        let (name, value) =
            self.value.take().ok_or_else(|| ArgumentError::custom("a value was read before its name"))?;
        seed.deserialize(ArgumentDeserializer::from(value)).map_err(|error| error.within_member(name))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.members.len())
    }
}
