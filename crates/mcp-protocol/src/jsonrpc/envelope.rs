//! The members of a message before its kind is known.

use super::params::is_absent;
use super::{
    ErrorObject, Incoming, JSONRPC_VERSION, Notification, Params, ParseFailure, ParseFailureKind, Request,
    RequestId, Response,
};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use std::fmt;
use strict_json::{DuplicateName, ValueSeed};

/// A whole JSON text, by the kinds that JSON-RPC distinguishes.
pub(super) enum Document {
    Object(Box<Envelope>),
    Array,
    Scalar,
}

/// The members that JSON-RPC defines; `Some(Value::Null)` is a member that is null.
#[derive(Default)]
pub(super) struct Envelope {
    jsonrpc: Option<Value>,
    id: Option<Value>,
    /// The text of a numeric id, if the parsed value does not keep its spelling.
    id_text: Option<String>,
    method: Option<Value>,
    params: Option<Value>,
    result: Option<Value>,
    error: Option<Value>,
    /// The name of a member that an object has more than once.
    repeated: Option<String>,
    id_repeated: bool,
}

impl Document {
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, ParseFailure> {
        let mut document: Self = serde_json::from_slice(bytes)
            .map_err(|error| ParseFailureKind::Malformed { reason: error.to_string() }.with_id(None))?;
        if let Self::Object(envelope) = &mut document {
            envelope.keep_id_text(bytes);
        }
        Ok(document)
    }

    pub(super) fn into_message(self) -> Result<Incoming, ParseFailure> {
        match self {
            Self::Object(envelope) => envelope.into_message(),
            Self::Array => Err(ParseFailureKind::Batch.with_id(None)),
            Self::Scalar => Err(ParseFailureKind::NotAnObject.with_id(None)),
        }
    }
}

impl Envelope {
    fn into_message(mut self) -> Result<Incoming, ParseFailure> {
        self.classify().map_err(|kind| kind.with_id(self.readable_id()))
    }

    /// Takes the members out; the id last, so that an error can still contain it.
    fn classify(&mut self) -> Result<Incoming, ParseFailureKind> {
        if let Some(name) = self.repeated.take() {
            return Err(ParseFailureKind::RepeatedMember { name });
        }
        if self.jsonrpc.as_ref().and_then(Value::as_str) != Some(JSONRPC_VERSION) {
            return Err(ParseFailureKind::WrongVersion);
        }
        let is_response = self.result.is_some() || self.error.is_some();
        match self.method.take() {
            None if is_response => self.take_response().map(Incoming::Response),
            None => Err(ParseFailureKind::MissingMethod),
            Some(_) if is_response => Err(ParseFailureKind::RequestAndResponse),
            Some(Value::String(method)) => self.take_call(method),
            Some(_) => Err(ParseFailureKind::MethodNotAString),
        }
    }

    fn take_call(&mut self, method: String) -> Result<Incoming, ParseFailureKind> {
        let params = self.params.take().filter(|params| !is_absent(params)).map(Params::try_from).transpose();
        let params = params.map_err(|_| ParseFailureKind::ParamsNotStructured)?;
        match self.id.take() {
            None => Ok(Incoming::Notification(Notification { method, params })),
            Some(id) => {
                let id = self.read_id(&id).ok_or(ParseFailureKind::InvalidId)?;
                Ok(Incoming::Request(Request { id, method, params }))
            }
        }
    }

    fn take_response(&mut self) -> Result<Response, ParseFailureKind> {
        match (self.result.take(), self.error.take()) {
            (Some(result), None) => {
                let id =
                    self.id.take().and_then(|id| self.read_id(&id)).ok_or(ParseFailureKind::InvalidId)?;
                Ok(Response::Success { id, result })
            }
            (None, Some(error)) => {
                let error = ErrorObject::from_member(error).ok_or(ParseFailureKind::InvalidResponse)?;
                let id = match self.id.take() {
                    None | Some(Value::Null) => None,
                    Some(id) => Some(self.read_id(&id).ok_or(ParseFailureKind::InvalidId)?),
                };
                Ok(Response::Failure { id, error })
            }
            _ => Err(ParseFailureKind::InvalidResponse),
        }
    }

    fn readable_id(&self) -> Option<RequestId> {
        if self.id_repeated { None } else { self.id.as_ref().and_then(|id| self.read_id(id)) }
    }

    fn read_id(&self, id: &Value) -> Option<RequestId> {
        match id {
            Value::Number(number) => RequestId::of_number(number, self.id_text.as_deref()),
            other => RequestId::read(other),
        }
    }

    /// Keeps the text of a numeric id that exceeds `i64` or has an unusual spelling such as `1.0`, because the parsed
    /// value may lose it.
    fn keep_id_text(&mut self, bytes: &[u8]) {
        if self.id.as_ref().is_some_and(|id| id.is_number() && !id.is_i64()) {
            self.id_text = member_text(bytes, "id").map(str::to_owned);
        }
    }

    fn member(&mut self, name: &str) -> Option<&mut Option<Value>> {
        match name {
            "jsonrpc" => Some(&mut self.jsonrpc),
            "id" => Some(&mut self.id),
            "method" => Some(&mut self.method),
            "params" => Some(&mut self.params),
            "result" => Some(&mut self.result),
            "error" => Some(&mut self.error),
            _ => None,
        }
    }

    /// Stores a known member and ignores others; records a repeated one.
    fn put(&mut self, name: &str, value: Value) {
        let Some(member) = self.member(name) else { return };
        if member.replace(value).is_some() {
            self.repeated.get_or_insert_with(|| name.to_owned());
            self.id_repeated |= name == "id";
        }
    }
}

impl<'de> Deserialize<'de> for Document {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DocumentVisitor)
    }
}

/// The text of a member's value in a valid object.
fn member_text<'a>(object: &'a [u8], name: &str) -> Option<&'a str> {
    let mut rest = object.trim_ascii_start().strip_prefix(b"{")?;
    loop {
        let (key, after_key) = rest.split_at_checked(value_length(rest)?)?;
        let value = after_key.strip_prefix(b":")?;
        let (value, after_value) = value.split_at_checked(value_length(value)?)?;
        if serde_json::from_slice::<String>(key).is_ok_and(|key| key == name) {
            return std::str::from_utf8(value.trim_ascii()).ok();
        }
        rest = after_value.strip_prefix(b",")?;
    }
}

/// The length of a value with surrounding white space, up to the next separator.
fn value_length(text: &[u8]) -> Option<usize> {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    text.iter().position(|byte| {
        if in_string {
            in_string = escaped || *byte != b'"';
            escaped = !escaped && *byte == b'\\';
            return false;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth > 0 => depth -= 1,
            b',' | b':' | b'}' | b']' => return depth == 0,
            _ => {}
        }
        false
    })
}

struct DocumentVisitor;

impl<'de> Visitor<'de> for DocumentVisitor {
    type Value = Document;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON-RPC message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Document, A::Error> {
        let duplicate = DuplicateName::default();
        let mut envelope = Envelope::default();
        while let Some(name) = map.next_key::<String>()? {
            let value = map.next_value_seed(ValueSeed(&duplicate))?;
            envelope.put(&name, value);
        }
        envelope.repeated = envelope.repeated.or_else(|| duplicate.get().map(str::to_owned));
        Ok(Document::Object(Box::new(envelope)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Document, A::Error> {
        let duplicate = DuplicateName::default();
        while seq.next_element_seed(ValueSeed(&duplicate))?.is_some() {}
        Ok(Document::Array)
    }

    fn visit_unit<E: Error>(self) -> Result<Document, E> {
        Ok(Document::Scalar)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Document, E> {
        Ok(Document::Scalar)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Document, E> {
        Ok(Document::Scalar)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Document, E> {
        Ok(Document::Scalar)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Document, E> {
        Ok(Document::Scalar)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Document, E> {
        Ok(Document::Scalar)
    }
}
