//! Downloads, over hyper and rustls, which are in the program anyway for the documents of OAuth clients: a client that
//! does more (reqwest) would bring a second copy of what it needs.

use std::{io, sync::Arc, time::Duration};

use http_body_util::{BodyExt as _, Empty};
use hyper::{
    Request, Response, StatusCode,
    body::{Bytes, Incoming},
    client::conn::http1,
    header,
};
use hyper_util::rt::TokioIo;
use rustls::{ClientConfig, RootCertStore, crypto::ring, pki_types::ServerName};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    task::JoinHandle,
    time::timeout,
};
use tokio_rustls::TlsConnector;
use url::{Host, Url};

/// How long a host may take to be reached, to begin to answer, and to send the next part.
const PATIENCE: Duration = Duration::from_secs(30);
const MOST_REDIRECTS: usize = 5;
const USER_AGENT: &str = concat!("photo-library/", env!("CARGO_PKG_VERSION"));

/// Why something was not downloaded; the words name the host.
#[derive(Debug, thiserror::Error)]
pub(super) enum DownloadError {
    #[error("{url} is no address that can be downloaded from: it must begin with https:// or http://")]
    Address { url: String },
    #[error(
        "an address with a user or a password in it, before an @, is not downloaded from: neither would be sent, so a \
         mirror must be reachable without them"
    )]
    Credentials,
    #[error("nothing can be encrypted here: {0}")]
    Tls(rustls::Error),
    #[error("{host} can't be reached: {why}")]
    Unreachable { host: String, why: String },
    #[error("{host} took too long")]
    Silent { host: String },
    #[error("{host} leads from an encrypted address to one that is not, {to}; that is not followed")]
    Unencrypted { host: String, to: String },
    #[error("{host} leads to an address with a user or a password in it; that is not followed")]
    LeadsToCredentials { host: String },
    #[error("{host} leads on and on, without an end")]
    Endless { host: String },
    #[error("{url} is not there: {status}")]
    Status { url: String, status: StatusCode },
    #[error("{url} did not arrive whole: {why}")]
    CutOff { url: String, why: String },
    #[error("{url} is longer than the {most} bytes that it can have")]
    TooLong { url: String, most: u64 },
}

/// Downloads what stands at addresses.
#[derive(Clone)]
pub(super) struct Downloader {
    tls: TlsConnector,
}

/// What a host answers, part by part.
pub(super) struct Answer {
    url: Url,
    head: http::response::Parts,
    body: Incoming,
    connection: JoinHandle<()>,
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.connection.abort();
    }
}

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

impl Downloader {
    /// Believes the certificates that browsers believe.
    ///
    /// # Errors
    /// None in practice: rustls and ring know versions of TLS in common.
    pub(super) fn new() -> Result<Self, DownloadError> {
        let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        Self::believing(roots).map_err(DownloadError::Tls)
    }

    fn believing(roots: RootCertStore) -> Result<Self, rustls::Error> {
        let settings = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let settings = settings.with_safe_default_protocol_versions()?;
        let settings = settings.with_root_certificates(roots).with_no_client_auth();
        Ok(Self { tls: TlsConnector::from(Arc::new(settings)) })
    }

    /// What stands at an address, or where that leads to.
    pub(super) async fn get(&self, url: &Url) -> Result<Answer, DownloadError> {
        let mut url = url.clone();
        if has_credentials(&url) {
            return Err(DownloadError::Credentials);
        }
        for _ in 0..=MOST_REDIRECTS {
            let answer = self.ask(&url).await?;
            if !answer.head.status.is_redirection() {
                return if answer.head.status == StatusCode::OK {
                    Ok(answer)
                } else {
                    Err(DownloadError::Status { url: shown(&url), status: answer.head.status })
                };
            }
            let to = answer.head.headers.get(header::LOCATION).and_then(|to| to.to_str().ok());
            let to = to.and_then(|to| url.join(to).ok());
            let Some(to) = to else {
                return Err(DownloadError::Status { url: shown(&url), status: answer.head.status });
            };
            if has_credentials(&to) {
                return Err(DownloadError::LeadsToCredentials { host: host(&url) });
            }
            if url.scheme() == "https" && to.scheme() != "https" {
                return Err(DownloadError::Unencrypted { host: host(&url), to: shown(&to) });
            }
            url = to;
        }
        Err(DownloadError::Endless { host: host(&url) })
    }

    async fn ask(&self, url: &Url) -> Result<Answer, DownloadError> {
        let silent = |_| DownloadError::Silent { host: host(url) };
        let unreachable = |why: &dyn std::fmt::Display| DownloadError::Unreachable {
            host: host(url),
            why: why.to_string(),
        };
        let stream = timeout(PATIENCE, self.connect(url)).await.map_err(silent)??;
        let mut client = http1::Builder::new();
        let handshake = client.max_headers(200).handshake(TokioIo::new(stream));
        let (mut sender, connection) = handshake.await.map_err(|why| unreachable(&why))?;
        let connection = tokio::spawn(async move {
            // What goes wrong is seen where the answer is read.
            let _ = connection.await;
        });
        let target = match url.query() {
            Some(query) => format!("{}?{query}", url.path()),
            None => url.path().to_owned(),
        };
        let request = Request::get(target)
            .header(header::HOST, authority(url))
            .header(header::USER_AGENT, USER_AGENT)
            .header(header::ACCEPT_ENCODING, "identity")
            .header(header::CONNECTION, "close")
            .body(Empty::<Bytes>::new())
            .map_err(|why| unreachable(&why))?;
        let answer: Response<Incoming> = timeout(PATIENCE, sender.send_request(request))
            .await
            .map_err(silent)?
            .map_err(|why| unreachable(&why))?;
        let (head, body) = answer.into_parts();
        Ok(Answer { url: url.clone(), head, body, connection })
    }

    async fn connect(&self, url: &Url) -> Result<Box<dyn Stream>, DownloadError> {
        let unreachable =
            |why: io::Error| DownloadError::Unreachable { host: host(url), why: why.to_string() };
        let address = || DownloadError::Address { url: shown(url) };
        if !matches!(url.scheme(), "http" | "https") {
            return Err(address());
        }
        let name = match url.host().ok_or_else(address)? {
            Host::Domain(name) => name.to_owned(),
            Host::Ipv4(ip) => ip.to_string(),
            Host::Ipv6(ip) => ip.to_string(),
        };
        let port = url.port_or_known_default().ok_or_else(address)?;
        let stream = TcpStream::connect((name.as_str(), port)).await.map_err(unreachable)?;
        if url.scheme() == "http" {
            return Ok(Box::new(stream));
        }
        let server = ServerName::try_from(name).map_err(|_| address())?;
        Ok(Box::new(self.tls.connect(server, stream).await.map_err(unreachable)?))
    }
}

impl Answer {
    /// What it says in a header.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.head.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// Where it came from.
    pub(super) fn url(&self) -> &Url {
        &self.url
    }

    /// The next part; `None` at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, DownloadError> {
        let cut_off = |why: String| DownloadError::CutOff { url: shown(&self.url), why };
        loop {
            let frame = timeout(PATIENCE, self.body.frame()).await;
            match frame.map_err(|_| DownloadError::Silent { host: host(&self.url) })? {
                None => return Ok(None),
                Some(Err(why)) => return Err(cut_off(why.to_string())),
                Some(Ok(frame)) => {
                    if let Ok(part) = frame.into_data() {
                        return Ok(Some(part));
                    }
                }
            }
        }
    }

    /// All of it, when it is at most so long.
    pub(super) async fn whole(mut self, most: u64) -> Result<Vec<u8>, DownloadError> {
        let mut whole = Vec::new();
        while let Some(part) = self.next().await? {
            whole.extend_from_slice(&part);
            if whole.len() as u64 > most {
                return Err(DownloadError::TooLong { url: shown(&self.url), most });
            }
        }
        Ok(whole)
    }
}

/// The address in what somebody gave. An @ is refused wherever it is: a password with a slash in it is read as a path.
pub(super) fn address(text: &str) -> Result<Url, DownloadError> {
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

/// An address without a user and a password, and without its query, in which hubs put signatures.
pub(super) fn shown(url: &Url) -> String {
    if url.cannot_be_a_base() {
        // Such as `user:password@host`, whose scheme is taken for `user`.
        return format!("{}:", url.scheme());
    }
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    // These fail for what has no host, and so no user.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.to_string()
}

fn host(url: &Url) -> String {
    url.host_str().unwrap_or_default().to_owned()
}

fn authority(url: &Url) -> String {
    url.port().map_or_else(|| host(url), |port| format!("{}:{port}", host(url)))
}

#[cfg(test)]
mod tests {
    use rustls::{ServerConfig, pki_types::PrivateKeyDer};
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpListener,
    };
    use tokio_rustls::TlsAcceptor;

    use super::*;

    /// A host that speaks TLS and answers each path by `answer`, and who believes it.
    async fn host(answer: impl Fn(&str) -> String + Send + Sync + 'static) -> (Downloader, Url) {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(made.cert.der().clone()).unwrap();
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        let settings = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let settings = settings.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
        let settings = settings.with_single_cert(vec![made.cert.der().clone()], key).unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(settings));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("https://localhost:{}", listener.local_addr().unwrap().port());
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                // A client that does not believe the certificate goes away.
                let Ok(mut stream) = acceptor.accept(stream).await else { continue };
                let mut request = vec![0; 4096];
                let read = stream.read(&mut request).await.unwrap();
                let request = String::from_utf8_lossy(&request[..read]).into_owned();
                let answer = answer(request.split(' ').nth(1).unwrap_or_default());
                let _ = stream.write_all(answer.as_bytes()).await;
                let _ = stream.shutdown().await;
            }
        });
        (Downloader::believing(roots).unwrap(), Url::parse(&url).unwrap())
    }

    fn body(text: &str) -> String {
        format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{text}", text.len())
    }

    fn redirect(to: &str) -> String {
        format!("HTTP/1.1 307 X\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n")
    }

    async fn get(downloader: &Downloader, url: &Url, path: &str) -> Result<String, String> {
        let url = url.join(path).unwrap();
        let answer = match downloader.get(&url).await {
            Ok(answer) => answer.whole(100).await,
            Err(error) => Err(error),
        };
        answer.map(|whole| String::from_utf8(whole).unwrap()).map_err(|error| error.to_string())
    }

    #[tokio::test]
    async fn encrypted_addresses_lead_to_encrypted_ones_only() {
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
            let why = get(&downloader, &url, path).await.unwrap_err();
            assert!(why.contains("is not followed"), "{why}");
        }
        // What a signature is in is not told.
        let why = get(&downloader, &url, "/absent?signature=hunter2").await.unwrap_err();
        assert!(why.contains("/absent is not there: 404") && !why.contains("hunter2"), "{why}");
    }

    #[test]
    fn addresses_with_a_user_or_a_password_are_refused() {
        for text in [
            "https://user:hunter2@mirror.example.org",
            "https://hunter2@mirror.example.org/hub",
            "https://:hunter2@mirror.example.org",
            "https://user:hunter2@mirror.example.org:port",
            "https://user:1/hunter2@mirror.example.org",
            "user:hunter2@mirror.example.org",
        ] {
            let why = address(text).unwrap_err().to_string();
            assert!(why.contains("reachable without") && !why.contains("hunter2"), "{text}: {why}");
        }
        let why = address("mirror?token=hunter2").unwrap_err().to_string();
        assert!(why.contains("mirror is no address") && !why.contains("hunter2"), "{why}");
        assert_eq!(address("https://mirror.example.org/%40hub").unwrap().path(), "/%40hub");
    }

    #[test]
    fn only_what_is_public_of_an_address_is_shown() {
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
    async fn credentials_are_neither_followed_nor_told() {
        let (downloader, url) = host(|path| match path {
            "/user" => redirect("https://hunter2@localhost/file"),
            "/password" => redirect("//user:hunter2@localhost/file"),
            "/plain" => redirect("http://user:hunter2@localhost/file"),
            "/opaque" => redirect("user:hunter2@localhost"),
            _ => body("content"),
        })
        .await;
        for path in ["/user", "/password", "/plain", "/opaque"] {
            let why = get(&downloader, &url, path).await.unwrap_err();
            assert!(why.contains("is not followed") && !why.contains("hunter2"), "{path}: {why}");
        }
        let mut given = url.clone();
        given.set_username("user").unwrap();
        given.set_password(Some("hunter2")).unwrap();
        let why = get(&downloader, &given, "/file").await.unwrap_err();
        assert!(why.contains("reachable without") && !why.contains("hunter2"), "{why}");
    }

    #[tokio::test]
    async fn certificates_are_checked() {
        let (_, url) = host(|_| body("content")).await;
        let why = get(&Downloader::new().unwrap(), &url, "/").await.unwrap_err();
        assert!(why.contains("localhost can't be reached"), "{why}");
    }

    #[tokio::test]
    async fn bodies_that_are_cut_off_or_too_long_are_told() {
        let (downloader, url) = host(|path| match path {
            "/cut" => "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nonly this".to_owned(),
            "/chunks" => "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nonly\r\n".to_owned(),
            _ => body(&"x".repeat(101)),
        })
        .await;
        for (path, expected) in
            [("/cut", "did not arrive whole"), ("/chunks", "whole"), ("/long", "longer than")]
        {
            let why = get(&downloader, &url, path).await.unwrap_err();
            assert!(why.contains(expected), "{path}: {why}");
        }
    }
}
