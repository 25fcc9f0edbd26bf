//! A small HTTPS client: one request over a connection that the caller opened.
//!
//! The caller resolves the name, opens the connection and decides about redirects and proxies, so that each caller has
//! its own policy on the hosts that may be reached. This crate implements TLS with a checked certificate, HTTP/1.1, and
//! the limits: the size of a response's head, the size of its body, and the time for each step.
//!
//! hyper and rustls are dependencies of the program anyway; a complete client such as reqwest would add much more code.

mod client;
mod response;

pub use client::{BuildError, HttpsClient, Limits, Roots};
pub use response::Response;

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The name is not valid for a certificate.
    #[error("{0:?} is not a host name")]
    HostName(String),
    /// The TLS handshake failed: the host does not speak TLS, or its certificate is not valid for the name.
    #[error("TLS: {0}")]
    Tls(std::io::Error),
    /// The request line or a header has characters that HTTP does not allow.
    #[error("the request is malformed: {0}")]
    Request(#[from] http::Error),
    /// The connection broke, or the host did not send an HTTP response within the limits.
    #[error("{0}")]
    Response(hyper::Error),
    #[error("the body is incomplete: {0}")]
    Body(hyper::Error),
    /// The body is longer than the caller allowed.
    #[error("the body is longer than {max} bytes")]
    BodyTooLong {
        /// The most bytes allowed.
        max: u64,
    },
    /// A step took longer than [`Limits::step_timeout`].
    #[error("timeout")]
    Timeout,
}
