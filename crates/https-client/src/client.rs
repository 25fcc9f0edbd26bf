use std::{future::Future, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, HeaderValue, Request,
    header::{self, InvalidHeaderValue},
};
use http_body_util::Full;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::{
    ClientConfig, RootCertStore,
    client::Resumption,
    crypto::ring,
    pki_types::{CertificateDer, ServerName},
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::timeout,
};
use tokio_rustls::{TlsConnector, client::TlsStream};

use crate::{
    Error, Response,
    response::{Connection, new_response},
};

/// The root certificates that are trusted.
#[derive(Debug, Clone, Default)]
pub enum Roots {
    /// Mozilla's list, as in browsers; compiled in.
    #[default]
    WebPki,
    /// Mozilla's list and the certificates of the system, which may include the authority of a private network.
    WebPkiAndSystem,
    /// Only these, in DER.
    Only(Vec<Vec<u8>>),
}

impl Roots {
    /// The trusted certificates, as a root store of rustls.
    ///
    /// # Errors
    /// One of [`Roots::Only`] is not a certificate.
    pub fn store(&self) -> Result<RootCertStore, rustls::Error> {
        match self {
            Self::WebPki => Ok(webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect()),
            Self::WebPkiAndSystem => {
                let mut store = Self::WebPki.store()?;
                // A certificate of the system that cannot be read is not trusted.
                store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
                Ok(store)
            }
            Self::Only(certificates) => {
                let mut store = RootCertStore::empty();
                for certificate in certificates {
                    store.add(CertificateDer::from(certificate.clone()))?;
                }
                Ok(store)
            }
        }
    }
}

/// Limits on a response.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The longest head in bytes; also the size of the read buffer. At least 8192.
    pub max_head_bytes: usize,
    /// The most headers.
    pub max_headers: usize,
    /// How long each step may take: the TLS handshake, the head of the response, the next part of the body.
    pub step_timeout: Duration,
}

/// Why a client cannot be created.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// TLS cannot be set up.
    #[error("TLS cannot be set up: {0}")]
    Tls(#[from] rustls::Error),
    /// The user agent is not a valid header value.
    #[error("the user agent is not a valid header value: {0}")]
    UserAgent(#[from] InvalidHeaderValue),
}

/// Sends requests. Clones share the TLS configuration.
#[derive(Clone)]
pub struct HttpsClient {
    tls: TlsConnector,
    user_agent: HeaderValue,
    limits: Limits,
}

impl std::fmt::Debug for HttpsClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpsClient").field("limits", &self.limits).finish_non_exhaustive()
    }
}

impl HttpsClient {
    /// A client that trusts these roots.
    pub fn new(roots: &Roots, user_agent: &str, limits: Limits) -> Result<Self, BuildError> {
        let mut tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots.store()?)
            .with_no_client_auth();
        tls.alpn_protocols = vec![b"http/1.1".to_vec()];
        // A resumed session would link two connections.
        tls.resumption = Resumption::disabled();
        let tls = TlsConnector::from(Arc::new(tls));
        Ok(Self { tls, user_agent: HeaderValue::from_str(user_agent)?, limits })
    }

    /// Encrypts a connection to the host of this name, or IP address, and checks its certificate.
    pub async fn encrypt<S>(&self, host: &str, stream: S) -> Result<TlsStream<S>, Error>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let name = ServerName::try_from(host.to_owned()).map_err(|_| Error::HostName(host.to_owned()))?;
        self.step(self.tls.connect(name, stream)).await?.map_err(Error::Tls)
    }

    /// Sends a GET request over a connection of its own and reads the head of the response. `target` is the path with
    /// the query; `host` is the value of the `Host` header.
    pub async fn get<S>(
        &self,
        stream: S,
        host: &str,
        target: &str,
        extra: (HeaderName, HeaderValue),
    ) -> Result<Response, Error>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let (name, value) = extra;
        self.send(stream, host, Request::get(target).header(name, value).body(Bytes::new())?).await
    }

    /// Sends a request over a connection of its own and reads the head of the response. The URI of the request is the path with
    /// the query; `host` is the value of the `Host` header.
    pub async fn send<S>(&self, stream: S, host: &str, request: Request<Bytes>) -> Result<Response, Error>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let (mut head, body) = request.into_parts();
        let mut headers = HeaderMap::new();
        // `Host` comes first, as RFC 9110, section 7.2 recommends.
        headers.insert(header::HOST, HeaderValue::from_str(host).map_err(http::Error::from)?);
        headers.extend(head.headers);
        headers.insert(header::USER_AGENT, self.user_agent.clone());
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        head.headers = headers;
        let request = Request::from_parts(head, Full::new(body));
        let Limits { max_head_bytes, max_headers, step_timeout } = self.limits;
        let mut builder = http1::Builder::new();
        builder.max_buf_size(max_head_bytes).max_header_size(max_head_bytes).max_headers(max_headers);
        let (mut sender, connection) =
            builder.handshake(TokioIo::new(stream)).await.map_err(Error::Response)?;
        let connection = Connection::spawn(connection);
        let response = self.step(sender.send_request(request)).await?.map_err(Error::Response)?;
        Ok(new_response(response, connection, step_timeout))
    }

    async fn step<F: Future>(&self, step: F) -> Result<F::Output, Error> {
        timeout(self.limits.step_timeout, step).await.map_err(|_| Error::Timeout)
    }
}
