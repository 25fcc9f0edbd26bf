//! One fetch.

use std::{
    collections::BTreeSet,
    fmt::Display,
    net::{IpAddr, SocketAddr},
    pin::pin,
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Empty, LengthLimitError, Limited};
use hyper::{body::Incoming, client::conn::http1};
use hyper_util::rt::TokioIo;
use oauth_core::{ClientUrl, DocumentError};
use rustls::pki_types::ServerName;
use tokio::{net::TcpStream, time::timeout};
use tokio_rustls::{TlsConnector, client::TlsStream};

use crate::{Network, freshness::lifetime, is_public};

/// The longest document, in bytes.
const MAX_BYTES: usize = 32 * 1024;
/// The longest head of an answer, in bytes and in lines.
const MAX_HEAD_BYTES: usize = 16 * 1024;
const MAX_HEADERS: usize = 100;
/// How many of a host's addresses are tried, and how long each, so that one that is silent does not cost all the time.
const MAX_ADDRESSES: usize = 4;
const DIAL_TIME: Duration = Duration::from_millis(1500);

/// A document, and how long it may be kept.
#[derive(Debug)]
pub(crate) struct Fetched {
    pub(crate) document: Arc<[u8]>,
    pub(crate) lifetime: Duration,
}

/// Everything that is told of a host that cannot be reached, or is reached and does not speak TLS as the right one:
/// whoever asks must not learn which hosts and ports there are.
const OUT_OF_REACH: &str = "its host cannot be reached on the internet";

fn failed(told: &'static str, detail: impl Display) -> DocumentError {
    DocumentError::Failed { told, detail: detail.to_string() }
}

/// Fetches documents over guarded connections.
pub(crate) struct Fetcher {
    pub(crate) network: Arc<dyn Network>,
    pub(crate) tls: TlsConnector,
    pub(crate) user_agent: HeaderValue,
    pub(crate) timeout: Duration,
}

impl Fetcher {
    /// Fetches what stands at that URL.
    pub(crate) async fn fetch(&self, url: &ClientUrl) -> Result<Fetched, DocumentError> {
        let fetched = timeout(self.timeout, async { self.exchange(self.connect(url).await?, url).await });
        fetched.await.unwrap_or_else(|_| Err(failed("its host took too long", "timeout")))
    }

    /// An encrypted connection to the host, at an address that the guard let through.
    async fn connect(&self, url: &ClientUrl) -> Result<TlsStream<TcpStream>, DocumentError> {
        let name = url.host_name();
        let server = ServerName::try_from(name.to_owned()).map_err(|error| failed(OUT_OF_REACH, error))?;
        let found = self.network.resolve(name).await.map_err(|error| failed(OUT_OF_REACH, error))?;
        let stream = self.dial(&checked(found)?, url.port()).await?;
        let connecting = self.tls.connect(server, stream);
        connecting.await.map_err(|error| failed(OUT_OF_REACH, format_args!("TLS: {error}")))
    }

    async fn dial(&self, addresses: &[IpAddr], port: u16) -> Result<TcpStream, DocumentError> {
        let mut last = failed(OUT_OF_REACH, "it has no address");
        for address in addresses.iter().take(MAX_ADDRESSES) {
            let address = SocketAddr::new(*address, port);
            match timeout(DIAL_TIME, self.network.dial(address)).await {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(error)) => last = failed(OUT_OF_REACH, format_args!("{address}: {error}")),
                Err(_) => last = failed(OUT_OF_REACH, format_args!("{address} is silent")),
            }
        }
        Err(last)
    }

    /// Asks for the document, and reads it.
    async fn exchange(
        &self,
        stream: TlsStream<TcpStream>,
        url: &ClientUrl,
    ) -> Result<Fetched, DocumentError> {
        let improper = |error: hyper::Error| failed("its host did not answer as the web does", error);
        let request = self.request(url).map_err(|error| failed("it cannot be asked for", error))?;
        let mut client = http1::Builder::new();
        client.max_buf_size(MAX_HEAD_BYTES).max_header_size(MAX_HEAD_BYTES).max_headers(MAX_HEADERS);
        let (mut sender, connection) = client.handshake(TokioIo::new(stream)).await.map_err(improper)?;
        let asked = async move { read(sender.send_request(request).await.map_err(improper)?).await };
        let (mut asked, mut connection) = (pin!(asked), pin!(connection));
        tokio::select! {
            biased;
            fetched = &mut asked => return fetched,
            // The host has said all; what it said may still have to be read.
            _ = &mut connection => {}
        }
        asked.await
    }

    fn request(&self, url: &ClientUrl) -> Result<Request<Empty<Bytes>>, http::Error> {
        Request::get(url.path_and_query())
            .header(header::HOST, url.host())
            .header(header::ACCEPT, "application/json")
            .header(header::USER_AGENT, &self.user_agent)
            .header(header::CONNECTION, "close")
            .body(Empty::new())
    }
}

/// The addresses of a host, each once, if all of them are of the public internet. One that is not makes all suspicious:
/// a name that leads inside and outside is made to pass such checks.
fn checked(found: Vec<IpAddr>) -> Result<Vec<IpAddr>, DocumentError> {
    if let Some(address) = found.iter().find(|address| !is_public(**address)) {
        return Err(failed(OUT_OF_REACH, format_args!("{address} is not of the public internet")));
    }
    let mut seen = BTreeSet::new();
    Ok(found.into_iter().filter(|address| seen.insert(*address)).collect())
}

async fn read(response: Response<Incoming>) -> Result<Fetched, DocumentError> {
    let (parts, body) = response.into_parts();
    if parts.status.is_redirection() {
        return Err(failed("it leads on to another address, which is not followed", parts.status));
    }
    if parts.status != StatusCode::OK {
        return Err(failed("its host does not give it out", parts.status));
    }
    if !is_json(&parts.headers) {
        let said = parts.headers.get(header::CONTENT_TYPE);
        return Err(failed("its Content-Type is not application/json", format_args!("{said:?}")));
    }
    if parts.headers.contains_key(header::CONTENT_ENCODING) {
        return Err(failed("it is compressed, which was not asked for", "Content-Encoding"));
    }
    let too_long = || failed("it is longer than 32 KB", "too long");
    let announced = hyper::body::Body::size_hint(&body).lower();
    if announced > u64::try_from(MAX_BYTES).unwrap_or(u64::MAX) {
        return Err(too_long());
    }
    let document = Limited::new(body, MAX_BYTES).collect().await.map_err(|error| {
        if error.is::<LengthLimitError>() { too_long() } else { failed("it did not arrive whole", error) }
    })?;
    Ok(Fetched { document: Vec::from(document.to_bytes()).into(), lifetime: lifetime(&parts.headers) })
}

/// Whether an answer says once that it is JSON: `application/json`, or a format of which JSON is the base.
fn is_json(headers: &HeaderMap) -> bool {
    let mut said = headers.get_all(header::CONTENT_TYPE).iter();
    let (Some(said), None) = (said.next(), said.next()) else { return false };
    let essence = said.to_str().unwrap_or_default().split(';').next().unwrap_or_default();
    let essence = essence.trim().to_ascii_lowercase();
    let subtype = essence.strip_prefix("application/").unwrap_or_default();
    subtype == "json" || subtype.strip_suffix("+json").is_some_and(|format| !format.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_told_from_other_formats() {
        let check = |types: &[&'static str], expect: bool| {
            let mut headers = HeaderMap::new();
            for said in types {
                headers.append(header::CONTENT_TYPE, HeaderValue::from_static(said));
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
    fn one_address_inside_refuses_all() {
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
