//! JSON-RPC 2.0: messages, their ids and their errors, parsed strictly.
//!
//! A server parses a body with [`Incoming::parse`] and returns a [`Response`]; a client sends a [`Request`] and parses
//! the response with [`Response::parse`]. Every type can be serialised and parsed, so that a test can play either side.
//!
//! Stricter than the JSON-RPC specification: duplicate members, a null id in a request, and a message that is both a
//! request and a response are refused.

mod envelope;
mod error;
mod id;
mod incoming;
mod message;
mod params;
mod response;

pub use error::{
    ErrorObject, HEADER_MISMATCH, INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND,
    MISSING_REQUIRED_CLIENT_CAPABILITY, PARSE_ERROR, RESOURCE_NOT_FOUND, SERVER_ERROR,
    UNSUPPORTED_PROTOCOL_VERSION,
};
pub use id::{InvalidRequestId, RequestId};
pub use incoming::{Incoming, ParseFailure, ParseFailureKind};
pub use message::{Notification, Request};
pub(crate) use params::is_absent;
pub use params::{InvalidParams, Params};
pub use response::{CallError, Response};

/// The only value of a message's `jsonrpc` member.
const JSONRPC_VERSION: &str = "2.0";
