//! One fetch, without cache.

use std::{
    collections::BTreeSet,
    fmt::Display,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use http::{HeaderMap, HeaderValue, StatusCode, header};
use https_client::{HttpsClient, Limits, Response};
use oauth_core::{ClientUrl, DocumentError};
use tokio::{net::TcpStream, time::timeout};

use crate::{Network, freshness::lifetime, is_public};

/// The longest document, in bytes.
const MAX_BYTES: u64 = 32 * 1024;
/// The most addresses of one host that are tried.
const MAX_ADDRESSES: usize = 4;
/// How long a connection to one address may take, so that a silent one leaves time for the next.
const DIAL_TIMEOUT: Duration = Duration::from_millis(1500);

/// The limits on a response when a whole fetch may take `timeout`.
pub(crate) fn limits(timeout: Duration) -> Limits {
    Limits { max_head_bytes: 16 * 1024, max_headers: 100, step_timeout: timeout }
}

/// A document, and how long it may be cached.
#[derive(Debug)]
pub(crate) struct Fetched {
    pub(crate) document: Arc<[u8]>,
    pub(crate) lifetime: Duration,
}

/// The same message for a host that does not exist, cannot be reached, or does not speak TLS with a valid certificate:
/// the client must not learn which hosts and ports exist.
const UNREACHABLE: &str = "its host cannot be reached on the internet";
const TOO_SLOW: &str = "its host took too long to respond";

fn failed(message: &'static str, detail: impl Display) -> DocumentError {
    DocumentError::Failed { message, detail: detail.to_string() }
}

/// The time limit of one step equals that of the whole fetch, so either may be reached first.
fn request_failed(message: &'static str, error: https_client::Error) -> DocumentError {
    let message = match error {
        https_client::Error::Timeout => TOO_SLOW,
        https_client::Error::BodyTooLong { .. } => "it is longer than 32 KB",
        _ => message,
    };
    failed(message, error)
}

/// Fetches documents from checked addresses.
pub(crate) struct Fetcher {
    pub(crate) network: Arc<dyn Network>,
    pub(crate) client: HttpsClient,
    pub(crate) timeout: Duration,
}

impl Fetcher {
    pub(crate) async fn fetch(&self, url: &ClientUrl) -> Result<Fetched, DocumentError> {
        let fetched = timeout(self.timeout, self.exchange(url)).await;
        fetched.unwrap_or_else(|_| Err(failed(TOO_SLOW, "timeout")))
    }

    async fn exchange(&self, url: &ClientUrl) -> Result<Fetched, DocumentError> {
        let name = url.host_name();
        let addresses = self.network.resolve(name).await.map_err(|error| failed(UNREACHABLE, error))?;
        let stream = self.dial(&checked(addresses)?, url.port()).await?;
        let encrypted = self.client.encrypt(name, stream).await;
        let stream = encrypted.map_err(|error| request_failed(UNREACHABLE, error))?;
        let accept = (header::ACCEPT, HeaderValue::from_static("application/json"));
        let response = self.client.get(stream, url.host(), url.path_and_query(), accept).await;
        let message = "its host did not send a valid HTTP response";
        read(response.map_err(|error| request_failed(message, error))?).await
    }

    async fn dial(&self, addresses: &[IpAddr], port: u16) -> Result<TcpStream, DocumentError> {
        let mut last = failed(UNREACHABLE, "it has no address");
        for address in addresses.iter().take(MAX_ADDRESSES) {
            let address = SocketAddr::new(*address, port);
            match timeout(DIAL_TIMEOUT, self.network.dial(address)).await {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(error)) => last = failed(UNREACHABLE, format_args!("{address}: {error}")),
                Err(_) => last = failed(UNREACHABLE, format_args!("{address}: timeout")),
            }
        }
        Err(last)
    }
}

/// The addresses of a host, without duplicates. If one address is outside the public internet, all are refused: such a
/// mixture is probably an attempt to bypass this check.
fn checked(addresses: Vec<IpAddr>) -> Result<Vec<IpAddr>, DocumentError> {
    if let Some(address) = addresses.iter().find(|address| !is_public(**address)) {
        return Err(failed(UNREACHABLE, format_args!("{address} is not a public address")));
    }
    let mut seen = BTreeSet::new();
    Ok(addresses.into_iter().filter(|address| seen.insert(*address)).collect())
}

async fn read(response: Response) -> Result<Fetched, DocumentError> {
    let (status, headers) = (response.status(), response.headers());
    if status.is_redirection() {
        return Err(failed("it redirects to another address, and redirects are not followed", status));
    }
    if status != StatusCode::OK {
        return Err(failed("its host did not respond with 200 OK", status));
    }
    if !is_json(headers) {
        let content_type = headers.get(header::CONTENT_TYPE);
        return Err(failed("its Content-Type is not application/json", format_args!("{content_type:?}")));
    }
    if headers.contains_key(header::CONTENT_ENCODING) {
        return Err(failed("it is compressed", "Content-Encoding"));
    }
    let lifetime = lifetime(headers);
    let document =
        response.bytes(MAX_BYTES).await.map_err(|error| request_failed("it was cut off", error))?;
    Ok(Fetched { document: document.into(), lifetime })
}

/// Whether there is exactly one `Content-Type`, and it is `application/json` or a type with the suffix `+json`.
fn is_json(headers: &HeaderMap) -> bool {
    let mut types = headers.get_all(header::CONTENT_TYPE).iter();
    let (Some(content_type), None) = (types.next(), types.next()) else { return false };
    let essence = content_type.to_str().unwrap_or_default().split(';').next().unwrap_or_default();
    let essence = essence.trim().to_ascii_lowercase();
    let subtype = essence.strip_prefix("application/").unwrap_or_default();
    subtype == "json" || subtype.strip_suffix("+json").is_some_and(|format| !format.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_json_types_are_accepted() {
        let check = |types: &[&'static str], expect: bool| {
            let mut headers = HeaderMap::new();
            for content_type in types {
                headers.append(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
            }
            assert_eq!(is_json(&headers), expect, "{types:?}");
        };
        for good in [
            "application/json",
            "Application/JSON; charset=utf-8",
            " application/json ;x",
            "application/oauth-client+json",
        ] {
            check(&[good], true);
        }
        for bad in [
            "",
            "text/json",
            "text/html",
            "application/jsonp",
            "application/+json",
            "application/x+json+xml",
            "json",
        ] {
            check(&[bad], false);
        }
        check(&[], false);
        check(&["application/json", "text/html"], false);
    }

    #[test]
    fn one_internal_address_refuses_all() {
        let check = |addresses: &[&str], expect: Option<usize>| {
            let found = addresses.iter().map(|address| address.parse().unwrap()).collect();
            assert_eq!(checked(found).ok().map(|checked| checked.len()), expect, "{addresses:?}");
        };
        check(&[], Some(0));
        check(&["93.184.216.34", "2606:2800:220:1::1", "93.184.216.34"], Some(2));
        check(&["93.184.216.34", "10.0.0.1"], None);
        check(&["::1", "93.184.216.34"], None);
        check(&["::ffff:93.184.216.34"], None);
    }
}
