//! Downloads over http and https, with this command's policy: five redirects at most, none from https to http, and no
//! credentials.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use https_client::{BuildError, Error, HttpsClient, Limits, Response, Roots};
use url::Url;

use crate::url_request::{self, RequestError};

/// How long the connection, the TLS handshake, the head of a response and each part of its body may take.
const STEP_TIMEOUT: Duration = Duration::from_secs(30);
const LIMITS: Limits = Limits { max_head_bytes: 256 * 1024, max_headers: 200, step_timeout: STEP_TIMEOUT };
const MAX_REDIRECTS: usize = 5;
const USER_AGENT: &str = concat!("photo-library/", env!("CARGO_PKG_VERSION"));

/// Why a download failed. Messages contain no credentials and no query strings.
#[derive(Debug, thiserror::Error)]
pub(super) enum DownloadError {
    #[error("{url} is not a valid download URL: it must begin with https:// or http://")]
    Address { url: String },
    #[error(
        "a URL with a user name or password is not supported; use a mirror that is reachable without them"
    )]
    Credentials,
    #[error("TLS cannot be set up: {0}")]
    Tls(BuildError),
    #[error("{host} cannot be reached: {reason}")]
    Unreachable { host: String, reason: String },
    #[error("{host} timed out")]
    Timeout { host: String },
    #[error("{host} redirects from https to {to}; the redirect is not followed")]
    InsecureRedirect { host: String, to: String },
    #[error("{host} redirects to a URL with a user name or password; the redirect is not followed")]
    RedirectToCredentials { host: String },
    #[error("{host}: too many redirects")]
    TooManyRedirects { host: String },
    #[error("{url} cannot be downloaded: {status}")]
    Status { url: String, status: StatusCode },
    #[error("the download of {url} was interrupted: {reason}")]
    Interrupted { url: String, reason: String },
    #[error("{url} is longer than {max_bytes} bytes")]
    TooLong { url: String, max_bytes: u64 },
}

/// Downloads files.
#[derive(Clone)]
pub(super) struct Downloader {
    client: HttpsClient,
}

/// A response whose body is still to be read.
pub(super) struct DownloadResponse {
    url: Url,
    response: Response,
}

impl Downloader {
    /// Trusts the certificates that browsers trust.
    ///
    /// # Errors
    /// [`DownloadError::Tls`]; none in practice.
    pub(super) fn new() -> Result<Self, DownloadError> {
        Self::with_roots(&Roots::WebPki)
    }

    fn with_roots(roots: &Roots) -> Result<Self, DownloadError> {
        let client = HttpsClient::new(roots, USER_AGENT, LIMITS).map_err(DownloadError::Tls)?;
        Ok(Self { client })
    }

    /// Requests a URL and follows redirects.
    pub(super) async fn get(&self, url: &Url) -> Result<DownloadResponse, DownloadError> {
        let mut url = url.clone();
        if has_credentials(&url) {
            return Err(DownloadError::Credentials);
        }
        for _ in 0..=MAX_REDIRECTS {
            let response = self.request(&url).await?;
            let status = response.response.status();
            if status == StatusCode::OK {
                return Ok(response);
            }
            let to = response.header("location").filter(|_| status.is_redirection());
            let Some(to) = to.and_then(|to| url.join(to).ok()) else {
                return Err(DownloadError::Status { url: shown(&url), status });
            };
            if has_credentials(&to) {
                return Err(DownloadError::RedirectToCredentials { host: host(&url) });
            }
            if url.scheme() == "https" && to.scheme() != "https" {
                return Err(DownloadError::InsecureRedirect { host: host(&url), to: shown(&to) });
            }
            url = to;
        }
        Err(DownloadError::TooManyRedirects { host: host(&url) })
    }

    async fn request(&self, url: &Url) -> Result<DownloadResponse, DownloadError> {
        let unreachable = |reason| DownloadError::Unreachable { host: host(url), reason };
        let uncompressed = (header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        let response = url_request::get(&self.client, url, uncompressed, STEP_TIMEOUT).await;
        let response = response.map_err(|error| match error {
            RequestError::Address | RequestError::Encryption(Error::HostName(_)) => {
                DownloadError::Address { url: shown(url) }
            }
            RequestError::Name(None)
            | RequestError::Connection(None)
            | RequestError::Encryption(Error::Timeout)
            | RequestError::Response(Error::Timeout) => DownloadError::Timeout { host: host(url) },
            RequestError::Name(Some(error)) | RequestError::Connection(Some(error)) => {
                unreachable(error.to_string())
            }
            RequestError::Encryption(error) | RequestError::Response(error) => unreachable(error.to_string()),
        });
        Ok(DownloadResponse { url: url.clone(), response: response? })
    }
}

impl DownloadResponse {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.response.headers().get(name).and_then(|value| value.to_str().ok())
    }

    /// The URL of the response, after redirects.
    pub(super) fn url(&self) -> &Url {
        &self.url
    }

    /// The next chunk of the body; `None` at its end.
    pub(super) async fn chunk(&mut self) -> Result<Option<Bytes>, DownloadError> {
        self.response.chunk().await.map_err(|error| body_error(&self.url, error))
    }

    /// The whole body, up to this many bytes.
    pub(super) async fn bytes(self, max_bytes: u64) -> Result<Vec<u8>, DownloadError> {
        self.response.bytes(max_bytes).await.map_err(|error| body_error(&self.url, error))
    }
}

fn body_error(url: &Url, error: Error) -> DownloadError {
    match error {
        Error::Timeout => DownloadError::Timeout { host: host(url) },
        Error::BodyTooLong { max } => DownloadError::TooLong { url: shown(url), max_bytes: max },
        Error::Body(error) => DownloadError::Interrupted { url: shown(url), reason: error.to_string() },
        error => DownloadError::Interrupted { url: shown(url), reason: error.to_string() },
    }
}

/// Parses a URL from the user. An `@` is refused anywhere, because a password with a slash is parsed as part of the path.
pub(super) fn parse_url(text: &str) -> Result<Url, DownloadError> {
    if text.contains('@') {
        return Err(DownloadError::Credentials);
    }
    Url::parse(text).map_err(|_| {
        let url = text.split(['?', '#']).next().unwrap_or_default().to_owned();
        DownloadError::Address { url }
    })
}

fn has_credentials(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

/// A URL for messages: without user name, password and query, because hubs put signatures into queries.
pub(super) fn shown(url: &Url) -> String {
    if url.cannot_be_a_base() {
        // Such as `user:password@host`, where `user` is parsed as the scheme.
        return format!("{}:", url.scheme());
    }
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    // These fail for URLs without a host, which have no user name.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.to_string()
}

fn host(url: &Url) -> String {
    url.host_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rustls::{ServerConfig, crypto::ring, pki_types::PrivateKeyDer};
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpListener,
    };
    use tokio_rustls::TlsAcceptor;

    use super::*;

    /// Starts a TLS server that responds with `respond(path)`, and returns a client that trusts its certificate.
    async fn host(respond: impl Fn(&str) -> String + Send + Sync + 'static) -> (Downloader, Url) {
        let certificate = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let roots = Roots::Only(vec![certificate.cert.der().to_vec()]);
        let key = PrivateKeyDer::try_from(certificate.signing_key.serialize_der()).unwrap();
        let settings = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let settings = settings.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
        let settings = settings.with_single_cert(vec![certificate.cert.der().clone()], key).unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(settings));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("https://localhost:{}", listener.local_addr().unwrap().port());
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                // A client that does not trust the certificate closes the connection.
                let Ok(mut stream) = acceptor.accept(stream).await else { continue };
                let mut request = vec![0; 4096];
                let read = stream.read(&mut request).await.unwrap();
                let request = String::from_utf8_lossy(&request[..read]).into_owned();
                let response = respond(request.split(' ').nth(1).unwrap_or_default());
                let _ = stream.write_all(response.as_bytes()).await;
                let _ = stream.shutdown().await;
            }
        });
        (Downloader::with_roots(&roots).unwrap(), Url::parse(&url).unwrap())
    }

    fn body(text: &str) -> String {
        format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{text}", text.len())
    }

    fn redirect(to: &str) -> String {
        format!("HTTP/1.1 307 X\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n")
    }

    async fn get(downloader: &Downloader, url: &Url, path: &str) -> Result<String, String> {
        let url = url.join(path).unwrap();
        let body = match downloader.get(&url).await {
            Ok(response) => response.bytes(100).await,
            Err(error) => Err(error),
        };
        body.map(|body| String::from_utf8(body).unwrap()).map_err(|error| error.to_string())
    }

    #[tokio::test]
    async fn redirects_from_https_to_other_schemes_are_refused() {
        let (downloader, url) = host(|path| match path {
            "/file?a=b" => body("content"),
            "/near" => redirect("/file?a=b"),
            "/plain" => redirect("http://localhost/file"),
            "/file-system" => redirect("file:///etc/passwd"),
            _ => "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_owned(),
        })
        .await;
        assert_eq!(get(&downloader, &url, "/file?a=b").await.unwrap(), "content");
        assert_eq!(get(&downloader, &url, "/near").await.unwrap(), "content");
        for path in ["/plain", "/file-system"] {
            let error = get(&downloader, &url, path).await.unwrap_err();
            assert!(error.contains("is not followed"), "{error}");
        }
        // The query may contain a signature.
        let error = get(&downloader, &url, "/absent?signature=hunter2").await.unwrap_err();
        assert!(error.contains("/absent cannot be downloaded: 404") && !error.contains("hunter2"), "{error}");
    }

    #[test]
    fn urls_with_credentials_are_refused() {
        for text in [
            "https://user:hunter2@mirror.example.org",
            "https://hunter2@mirror.example.org/hub",
            "https://:hunter2@mirror.example.org",
            "https://user:hunter2@mirror.example.org:port",
            "https://user:1/hunter2@mirror.example.org",
            "user:hunter2@mirror.example.org",
        ] {
            let error = parse_url(text).unwrap_err().to_string();
            assert!(error.contains("reachable without") && !error.contains("hunter2"), "{text}: {error}");
        }
        let error = parse_url("mirror?token=hunter2").unwrap_err().to_string();
        assert!(
            error.contains("mirror is not a valid download URL") && !error.contains("hunter2"),
            "{error}"
        );
        assert_eq!(parse_url("https://mirror.example.org/%40hub").unwrap().path(), "/%40hub");
    }

    #[test]
    fn shown_urls_contain_no_credentials_and_no_query() {
        for (text, expected) in [
            ("https://user:hunter2@localhost:8443/file?a=hunter2#hunter2", "https://localhost:8443/file"),
            ("ftp://hunter2@localhost/file", "ftp://localhost/file"),
            ("https://:hunter2@localhost", "https://localhost/"),
            ("user:hunter2@localhost", "user:"),
            ("file:///etc/passwd", "file:///etc/passwd"),
        ] {
            assert_eq!(shown(&Url::parse(text).unwrap()), expected);
        }
    }

    #[tokio::test]
    async fn redirects_to_credentials_are_refused() {
        let (downloader, url) = host(|path| match path {
            "/user" => redirect("https://hunter2@localhost/file"),
            "/password" => redirect("//user:hunter2@localhost/file"),
            "/plain" => redirect("http://user:hunter2@localhost/file"),
            "/opaque" => redirect("user:hunter2@localhost"),
            _ => body("content"),
        })
        .await;
        for path in ["/user", "/password", "/plain", "/opaque"] {
            let error = get(&downloader, &url, path).await.unwrap_err();
            assert!(error.contains("is not followed") && !error.contains("hunter2"), "{path}: {error}");
        }
        let mut with_credentials = url.clone();
        with_credentials.set_username("user").unwrap();
        with_credentials.set_password(Some("hunter2")).unwrap();
        let error = get(&downloader, &with_credentials, "/file").await.unwrap_err();
        assert!(error.contains("reachable without") && !error.contains("hunter2"), "{error}");
    }

    #[tokio::test]
    async fn certificates_are_checked() {
        let (_, url) = host(|_| body("content")).await;
        let error = get(&Downloader::new().unwrap(), &url, "/").await.unwrap_err();
        assert!(error.contains("localhost cannot be reached"), "{error}");
    }

    #[tokio::test]
    async fn interrupted_and_too_long_bodies_are_errors() {
        let (downloader, url) = host(|path| match path {
            "/cut" => "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nonly this".to_owned(),
            "/chunks" => "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nonly\r\n".to_owned(),
            _ => body(&"x".repeat(101)),
        })
        .await;
        for (path, expected) in
            [("/cut", "was interrupted"), ("/chunks", "was interrupted"), ("/long", "longer than")]
        {
            let error = get(&downloader, &url, path).await.unwrap_err();
            assert!(error.contains(expected), "{path}: {error}");
        }
    }
}
