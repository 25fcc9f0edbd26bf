//! Clients of servers of every revision. The caller brings the HTTP library.
//!
//! [`Client`] connects, finds out the server's revision, keeps sessions, reads event streams, and lists all pages. It needs
//! a [`Transport`]: one async method that sends a request and passes on the response. With the feature `reqwest`,
//! `ReqwestTransport` is one.
//!
//! [`Session`] and [`ResponseReader`] are the parts that [`Client`] uses, without any input or output: requests to
//! send, and a reader that takes the response as it arrives.

mod connection;
mod event_stream;
mod reader;
#[cfg(all(feature = "reqwest", not(target_family = "wasm")))]
mod reqwest_transport;
mod session;

pub use self::connection::{Client, ClientError, MaybeSend, Transport, TransportError};
pub use self::event_stream::{Event, EventParser, EventTooLong};
pub use self::reader::{ResponseError, ResponseReader};
#[cfg(all(feature = "reqwest", not(target_family = "wasm")))]
pub use self::reqwest_transport::ReqwestTransport;
pub use self::session::{ClientRequest, HttpRequest, Session};
