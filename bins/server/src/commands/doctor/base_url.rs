//! Whether the base URL leads to a running server, as browsers and apps need it.

use std::{io, time::Duration};

use http::{HeaderValue, StatusCode, header};
use https_client::{BuildError, Error, HttpsClient, Limits, Response, Roots};
use serde::Deserialize;
use tokio::{
    net::{TcpStream, lookup_host},
    time::timeout,
};
use url::{Host, Url};
use web::BaseUrl;

use super::Findings;

const SUBJECT: &str = "base URL";
/// The document in which a server names its base URL (RFC 8414, section 3).
const METADATA: &str = "/.well-known/oauth-authorization-server";
const MAX_METADATA_BYTES: u64 = 64 * 1024;
const STEP_TIMEOUT: Duration = Duration::from_secs(5);
const LIMITS: Limits = Limits { max_head_bytes: 64 * 1024, max_headers: 100, step_timeout: STEP_TIMEOUT };

/// Why no server was found.
#[derive(Debug, thiserror::Error)]
enum NotFound {
    #[error("the name cannot be resolved{}; check its DNS record", reason(.0))]
    Name(Option<io::Error>),
    #[error(
        "no connection{}; if the server is running, check its proxy, the port forwarding and the firewall",
        reason(.0)
    )]
    Connection(Option<io::Error>),
    #[error("{0}; browsers and apps accept only a valid certificate for this name")]
    Certificate(Error),
    #[error("{0}; check the proxy")]
    Response(Error),
    #[error("{METADATA} has status {0}; the proxy must forward all paths to the server")]
    Status(StatusCode),
    #[error("another program answers; the proxy must forward all paths to the server")]
    OtherProgram,
    #[error("cannot send requests: {0}")]
    Build(#[from] BuildError),
}

fn reason(error: &Option<io::Error>) -> String {
    error.as_ref().map_or_else(|| " within 5 s".to_owned(), |error| format!(" ({error})"))
}

/// What the server says of itself.
#[derive(Deserialize)]
struct Metadata {
    issuer: String,
}

/// Asks the server at the base URL for its own base URL. Without TLS, a server that does not run is not a problem.
pub(super) async fn check(base_url: &BaseUrl, findings: &mut Findings) {
    let base = base_url.as_str();
    let Ok(url) = Url::parse(base) else {
        return;
    };
    match issuer(&url).await {
        Ok(issuer) if issuer == web::issuer(base_url) => {
            findings.ok(SUBJECT, &format!("{base} leads to a running server"));
        }
        Ok(issuer) => {
            let message = format!(
                "the server at {base} has another base URL, as its issuer {issuer} says; start it with --base-url {base}, or \
                 correct this setting"
            );
            findings.warn(SUBJECT, &message);
        }
        Err(NotFound::Connection(_)) if !base_url.is_https() => {
            findings.ok(SUBJECT, &format!("no server is running at {base} now"));
        }
        Err(error) => findings.warn(SUBJECT, &format!("{base} does not lead to a server: {error}")),
    }
}

async fn issuer(url: &Url) -> Result<String, NotFound> {
    let client = HttpsClient::new(&Roots::WebPki, "photo-library-doctor", LIMITS)?;
    let (Some(host), Some(port)) = (url.host(), url.port_or_known_default()) else {
        return Err(NotFound::Name(None));
    };
    let stream = connect(&format!("{host}:{port}")).await?;
    let response = if url.scheme() == "https" {
        let name = match host {
            Host::Domain(name) => name.to_owned(),
            Host::Ipv4(ip) => ip.to_string(),
            Host::Ipv6(ip) => ip.to_string(),
        };
        let stream = client.encrypt(&name, stream).await.map_err(NotFound::Certificate)?;
        get(&client, stream, url).await
    } else {
        get(&client, stream, url).await
    };
    let response = response.map_err(NotFound::Response)?;
    if response.status() != StatusCode::OK {
        return Err(NotFound::Status(response.status()));
    }
    let body = response.bytes(MAX_METADATA_BYTES).await.map_err(|_| NotFound::OtherProgram)?;
    let metadata: Metadata = serde_json::from_slice(&body).map_err(|_| NotFound::OtherProgram)?;
    Ok(metadata.issuer)
}

async fn connect(authority: &str) -> Result<TcpStream, NotFound> {
    let addresses = timeout(STEP_TIMEOUT, lookup_host(authority)).await.map_err(|_| NotFound::Name(None))?;
    let addresses: Vec<_> = addresses.map_err(|error| NotFound::Name(Some(error)))?.collect();
    let connected = timeout(STEP_TIMEOUT, TcpStream::connect(addresses.as_slice())).await;
    connected.map_err(|_| NotFound::Connection(None))?.map_err(|error| NotFound::Connection(Some(error)))
}

async fn get<S>(client: &HttpsClient, stream: S, url: &Url) -> Result<Response, Error>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Send + Unpin + 'static,
{
    let accept = (header::ACCEPT, HeaderValue::from_static("application/json"));
    client.get(stream, url.authority(), METADATA, accept).await
}
