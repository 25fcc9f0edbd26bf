//! A transport with reqwest.

use std::fmt;
use std::time::Duration;

use reqwest::Url;
use reqwest::redirect::Policy;

use super::{HttpRequest, ResponseReader, Transport, TransportError};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
/// A tool may run for minutes before its stream has an event.
const PAUSE_TIMEOUT: Duration = Duration::from_secs(300);

/// Sends requests with reqwest (feature `reqwest`, not on WebAssembly).
///
/// The feature does not choose a TLS library. For https, a program also depends on reqwest with its default features, or
/// with another feature for TLS.
///
/// ```no_run
/// use mcp_wire::client::{Client, ReqwestTransport, TransportError};
/// use mcp_wire::lifecycle::Implementation;
///
/// # async fn list() -> Result<(), TransportError> {
/// let transport = ReqwestTransport::new("https://photos.example/mcp")?.with_bearer_token("secret");
/// let mut client = Client::connect(transport, Implementation::new("my-app", "1.0")).await?;
/// println!("{} tools", client.list_tools().await?.len());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ReqwestTransport {
    http: reqwest::Client,
    url: Url,
    token: Option<String>,
}

impl fmt::Debug for ReqwestTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReqwestTransport").field("url", &self.url.as_str()).finish_non_exhaustive()
    }
}

impl ReqwestTransport {
    /// A transport to a server's URL. It follows no redirects, and gives up if a connection takes more than 30 seconds or
    /// a response pauses for more than five minutes.
    ///
    /// # Errors
    /// If the URL is invalid, or the TLS library cannot be used.
    pub fn new(url: &str) -> Result<Self, TransportError> {
        let http = reqwest::Client::builder()
            .redirect(Policy::none())
            .connect_timeout(CONNECT_TIMEOUT)
            .read_timeout(PAUSE_TIMEOUT)
            .build()?;
        Ok(Self { http, url: url.parse()?, token: None })
    }

    /// Uses another client, with its own time-outs. It should not follow redirects.
    #[must_use]
    pub fn with_client(mut self, http: reqwest::Client) -> Self {
        self.http = http;
        self
    }

    /// Sends an access token with each request.
    #[must_use]
    pub fn with_bearer_token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }
}

impl Transport for ReqwestTransport {
    async fn send(&self, request: &HttpRequest, reader: &mut ResponseReader) -> Result<(), TransportError> {
        let builder = self.http.request(request.method.parse()?, self.url.clone());
        let builder = request.headers.iter().fold(builder, |all, (name, value)| all.header(name, value));
        let builder = match &self.token {
            Some(token) => builder.bearer_auth(token),
            None => builder,
        };
        let mut response = builder.body(request.body.clone()).send().await?;
        reader.start(response.status().as_u16(), |name| response.headers().get(name)?.to_str().ok());
        while let Some(chunk) = response.chunk().await? {
            if reader.push(&chunk).is_break() {
                break;
            }
        }
        Ok(())
    }
}
