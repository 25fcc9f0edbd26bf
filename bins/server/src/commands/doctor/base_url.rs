//! Whether the base URL leads to a running server, as browsers and apps need it.

use std::{io, time::Duration};

use http::{HeaderValue, StatusCode, header};
use https_client::{BuildError, Error, HttpsClient, Limits, Roots};
use serde::Deserialize;
use url::Url;
use web::BaseUrl;

use super::Findings;
use crate::url_request::{self, RequestError};

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
        "no connection{}; if the server is running, check the proxy, the port forwarding and the firewall",
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

impl From<RequestError> for NotFound {
    fn from(error: RequestError) -> Self {
        match error {
            RequestError::Address => Self::Name(None),
            RequestError::Name(error) => Self::Name(error),
            RequestError::Connection(error) => Self::Connection(error),
            RequestError::Encryption(error) => Self::Certificate(error),
            RequestError::Response(error) => Self::Response(error),
        }
    }
}

fn reason(error: &Option<io::Error>) -> String {
    error.as_ref().map_or_else(|| " within 5 s".to_owned(), |error| format!(" ({error})"))
}

/// What the server says of itself.
#[derive(Deserialize)]
struct Metadata {
    issuer: String,
}

/// Requests the base URL that the server at this base URL reports. If no server runs, this is a problem only if a proxy
/// has the certificate.
pub(super) async fn check(base_url: &BaseUrl, has_tls: bool, findings: &mut Findings) {
    let base = base_url.as_str();
    let Ok(url) = Url::parse(&format!("{base}{METADATA}")) else {
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
        Err(NotFound::Connection(_)) if has_tls || !base_url.is_https() => {
            findings.ok(SUBJECT, &format!("no server is running at {base} now"));
        }
        Err(error) => findings.warn(SUBJECT, &format!("{base} does not lead to a server: {error}")),
    }
}

/// The issuer in the document at this URL.
async fn issuer(url: &Url) -> Result<String, NotFound> {
    let client = HttpsClient::new(&Roots::WebPkiAndSystem, "photo-library-doctor", LIMITS)?;
    let accept = (header::ACCEPT, HeaderValue::from_static("application/json"));
    let response = url_request::get(&client, url, accept, STEP_TIMEOUT).await?;
    if response.status() != StatusCode::OK {
        return Err(NotFound::Status(response.status()));
    }
    let body = response.bytes(MAX_METADATA_BYTES).await.map_err(|_| NotFound::OtherProgram)?;
    let metadata: Metadata = serde_json::from_slice(&body).map_err(|_| NotFound::OtherProgram)?;
    Ok(metadata.issuer)
}
