//! Connections to an S3 server, with time-outs.
//!
//! A time-out limits the time without progress and not the duration of a transfer, because a photo may take minutes on
//! a slow line.

use std::{
    error::Error,
    io,
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use domain::{TRACE_TARGET, are_traces_exported};
use futures_util::stream;
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{self, Client, connect::HttpConnector},
    rt::{TokioExecutor, TokioTimer},
};
use object_store::{
    ClientOptions,
    client::{
        HttpClient, HttpConnector as Connect, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody,
        HttpResponse, HttpResponseBody, HttpService,
    },
};
use rustls::crypto::ring;
use tokio::time::timeout;
use tracing::{Instrument as _, Span, field::Empty};

use super::S3Limits;

/// The most bytes that count as one step of progress.
const PIECE_BYTES: usize = 64 * 1024;
/// Servers close idle connections after about this time or later.
const IDLE_CONNECTION: Duration = Duration::from_secs(15);

/// The connections to one server. Clones share them.
#[derive(Debug, Clone)]
pub(super) struct Connections(HttpClient);

impl Connections {
    pub(super) fn new(limits: S3Limits) -> Result<Self, rustls::Error> {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_connect_timeout(Some(limits.connect));
        tcp.set_nodelay(true);
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_CONNECTION)
            .build(with_tls(tcp)?);
        Ok(Self(HttpClient::new(Service { client, limits })))
    }

    pub(super) fn client(&self) -> HttpClient {
        self.0.clone()
    }
}

impl Connect for Connections {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(self.client())
    }
}

/// Trusts the certificates of the system. If the system has none, as in a minimal container, trusts those of Mozilla.
fn with_tls(tcp: HttpConnector) -> Result<HttpsConnector<HttpConnector>, rustls::Error> {
    let builder = match HttpsConnectorBuilder::new().with_provider_and_native_roots(ring::default_provider())
    {
        Ok(builder) => builder,
        Err(error) => {
            tracing::debug!(%error, "the system has no root certificates; Mozilla's are used for S3");
            HttpsConnectorBuilder::new().with_provider_and_webpki_roots(ring::default_provider())?
        }
    };
    Ok(builder.https_or_http().enable_http1().wrap_connector(tcp))
}

#[derive(Debug)]
struct Service {
    client: Client<HttpsConnector<HttpConnector>, Pieces>,
    limits: S3Limits,
}

#[async_trait]
impl HttpService for Service {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let span = request_span(&request);
        let outcome = self.send(request).instrument(span.clone()).await;
        let status = outcome.as_ref().ok().map(HttpResponse::status);
        if let Some(status) = status {
            span.record("http.response.status_code", i64::from(status.as_u16()));
        }
        if status.is_none_or(|status| status.is_server_error()) {
            span.record("otel.status_code", "ERROR");
        }
        outcome
    }
}

impl Service {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let S3Limits { read_stall, write_stall, .. } = self.limits;
        let stall = if request.body().is_empty() { read_stall } else { write_stall };
        let sent = Arc::new(AtomicU64::new(0));
        let request = request.map(|body| Pieces { body, piece: Bytes::new(), sent: Arc::clone(&sent) });
        let response = unless_stalled(stall, &sent, self.client.request(request)).await?;
        let response = response.map_err(|error| HttpError::new(request_error_kind(&error), error))?;
        Ok(response.map(|body| response_body(body, read_stall)))
    }
}

/// The span of a request in traces. Checks in the background belong to no trace.
fn request_span(request: &HttpRequest) -> Span {
    if !are_traces_exported() || Span::current().is_none() {
        return Span::none();
    }
    tracing::info_span!(
        target: TRACE_TARGET,
        "S3",
        otel.name = format!("S3 {}", request.method()),
        otel.kind = "client",
        otel.status_code = Empty,
        http.request.method = request.method().as_str(),
        server.address = request.uri().host().unwrap_or_default(),
        http.response.status_code = Empty,
    )
}

/// Waits for a result for as long as the counter changes.
async fn unless_stalled<T>(
    stall: Duration,
    counter: &AtomicU64,
    work: impl Future<Output = T>,
) -> Result<T, HttpError> {
    let mut work = pin!(work);
    loop {
        let before = counter.load(Ordering::Relaxed);
        match timeout(stall, work.as_mut()).await {
            Ok(output) => return Ok(output),
            Err(_) if counter.load(Ordering::Relaxed) != before => {}
            Err(_) => return Err(stalled(stall)),
        }
    }
}

fn stalled(stall: Duration) -> HttpError {
    let text = format!("no answer for {} seconds", stall.as_secs_f32());
    HttpError::new(HttpErrorKind::Timeout, io::Error::new(io::ErrorKind::TimedOut, text))
}

/// A request body in pieces, which are counted when the connection takes them.
struct Pieces {
    body: HttpRequestBody,
    piece: Bytes,
    sent: Arc<AtomicU64>,
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        if self.piece.is_empty() {
            match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.piece = data,
                    Err(frame) => return Poll::Ready(Some(Ok(frame))),
                },
                other => return Poll::Ready(other),
            }
        }
        self.sent.fetch_add(1, Ordering::Relaxed);
        let bytes = self.piece.len().min(PIECE_BYTES);
        Poll::Ready(Some(Ok(Frame::data(self.piece.split_to(bytes)))))
    }

    fn is_end_stream(&self) -> bool {
        self.piece.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let left = self.body.size_hint().lower();
        SizeHint::with_exact(left.saturating_add(self.piece.len() as u64))
    }
}

fn response_body(body: Incoming, stall: Duration) -> HttpResponseBody {
    let frames = stream::try_unfold(body, move |mut body| async move {
        match timeout(stall, body.frame()).await {
            Ok(None) => Ok(None),
            Ok(Some(Ok(frame))) => Ok(Some((frame, body))),
            Ok(Some(Err(error))) => Err(HttpError::new(error_kind(&error), error)),
            Err(_) => Err(stalled(stall)),
        }
    });
    HttpResponseBody::new(StreamBody::new(frames))
}

/// Decides whether a failed request is retried.
fn request_error_kind(error: &legacy::Error) -> HttpErrorKind {
    if error.is_connect() { HttpErrorKind::Connect } else { error_kind(error) }
}

fn error_kind(error: &(dyn Error + 'static)) -> HttpErrorKind {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<hyper::Error>() {
            if error.is_timeout() {
                return HttpErrorKind::Timeout;
            }
            // The server closed the connection.
            if error.is_closed() || error.is_canceled() || error.is_incomplete_message() {
                return HttpErrorKind::Interrupted;
            }
        }
        match error.downcast_ref::<io::Error>().map(io::Error::kind) {
            Some(io::ErrorKind::TimedOut) => return HttpErrorKind::Timeout,
            Some(
                io::ErrorKind::ConnectionReset
                | io::ErrorKind::ConnectionAborted
                | io::ErrorKind::BrokenPipe
                | io::ErrorKind::UnexpectedEof,
            ) => return HttpErrorKind::Interrupted,
            _ => {}
        }
        cause = error.source();
    }
    HttpErrorKind::Unknown
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;

    #[tokio::test]
    async fn a_transfer_may_take_long_while_bytes_move() {
        let (stall, sent) = (Duration::from_millis(50), Arc::new(AtomicU64::new(0)));
        let counter = Arc::clone(&sent);
        let slow = async move {
            let mut ticks = tokio::time::interval(stall / 5);
            for _ in 0..20 {
                ticks.tick().await;
                counter.fetch_add(1, Ordering::Relaxed);
            }
        };
        unless_stalled(stall, &sent, slow).await.unwrap();
        let error = unless_stalled(stall, &sent, pending::<()>()).await.unwrap_err();
        assert_eq!(error.kind(), HttpErrorKind::Timeout);
    }

    #[tokio::test]
    async fn a_body_is_sent_in_pieces() {
        let bytes: Vec<u8> = (0..200_000_u32).map(|at| (at % 251) as u8).collect();
        let sent = Arc::new(AtomicU64::new(0));
        let body = HttpRequestBody::from(bytes.clone());
        let pieces = Pieces { body, piece: Bytes::new(), sent: Arc::clone(&sent) };
        assert_eq!(pieces.size_hint().exact(), Some(200_000));
        assert_eq!(pieces.collect().await.unwrap().to_bytes(), bytes);
        assert_eq!(sent.load(Ordering::Relaxed), 4);
    }
}
