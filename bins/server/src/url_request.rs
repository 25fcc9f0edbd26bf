//! One request to an http or https URL: name, connection, TLS and the head of the response. Redirects are the caller's.

use std::{io, time::Duration};

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Request};
use https_client::{Error, HttpsClient, Response};
use tokio::{
    net::{TcpStream, lookup_host},
    time::{Instant, timeout_at},
};
use url::{Host, Position, Url};

/// Why there is no response.
#[derive(Debug)]
pub(crate) enum RequestError {
    /// The URL is not an http or https URL with a host.
    Address,
    /// The name cannot be resolved; `None` if this took too long.
    Name(Option<io::Error>),
    /// The host cannot be connected to; `None` if this took too long.
    Connection(Option<io::Error>),
    /// TLS could not be set up with the host.
    Encryption(Error),
    /// No response arrived.
    Response(Error),
}

/// Sends a GET request with one more header.
pub(crate) async fn get(
    client: &HttpsClient,
    url: &Url,
    (name, value): (HeaderName, HeaderValue),
    connect_timeout: Duration,
) -> Result<Response, RequestError> {
    let mut request = Request::new(Bytes::new());
    request.headers_mut().insert(name, value);
    send(client, url, request, connect_timeout).await
}

/// Sends a request to a URL, which replaces the URI of the request. The connection, with the resolution of the name, may take
/// `connect_timeout`.
pub(crate) async fn send(
    client: &HttpsClient,
    url: &Url,
    mut request: Request<Bytes>,
    connect_timeout: Duration,
) -> Result<Response, RequestError> {
    let is_https = match url.scheme() {
        "https" => true,
        "http" => false,
        _ => return Err(RequestError::Address),
    };
    let name = match url.host().ok_or(RequestError::Address)? {
        Host::Domain(name) => name.to_owned(),
        Host::Ipv4(ip) => ip.to_string(),
        Host::Ipv6(ip) => ip.to_string(),
    };
    let port = url.port_or_known_default().ok_or(RequestError::Address)?;
    let stream = connect(&name, port, Instant::now() + connect_timeout).await?;
    let authority = &url[Position::BeforeHost..Position::AfterPort];
    let target = &url[Position::BeforePath..Position::AfterQuery];
    *request.uri_mut() = target.parse().map_err(|_| RequestError::Address)?;
    let response = if is_https {
        let stream = client.encrypt(&name, stream).await.map_err(RequestError::Encryption)?;
        client.send(stream, authority, request).await
    } else {
        client.send(stream, authority, request).await
    };
    response.map_err(RequestError::Response)
}

async fn connect(name: &str, port: u16, deadline: Instant) -> Result<TcpStream, RequestError> {
    let addresses = timeout_at(deadline, lookup_host((name, port))).await;
    let addresses = addresses.map_err(|_| RequestError::Name(None))?;
    let addresses: Vec<_> = addresses.map_err(|error| RequestError::Name(Some(error)))?.collect();
    let stream = timeout_at(deadline, TcpStream::connect(addresses.as_slice())).await;
    let stream = stream.map_err(|_| RequestError::Connection(None))?;
    stream.map_err(|error| RequestError::Connection(Some(error)))
}
