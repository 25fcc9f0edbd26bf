//! JSON-RPC 2.0: messages, their ids and their errors, parsed strictly.
//!
//! A server reads a body with [`Incoming::parse`] and answers with a [`Response`]; a client writes a [`Request`]
//! and reads the answer with [`Response::parse`]. Every type can be serialised and parsed, so that each side can
//! also play the other in a test.
//!
//! Stricter than the JSON-RPC text where leniency would be a trap: a member given twice, a null id on a request and
//! a message that is a call and an answer at once are refused.

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
pub use params::{InvalidParams, Params};
pub use response::{CallError, Response};

/// The only value of a message's `jsonrpc` member.
const JSONRPC_VERSION: &str = "2.0";
