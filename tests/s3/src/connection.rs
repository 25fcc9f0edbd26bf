use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Either, Full};
use hyper::{
    body::{Body, Frame, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use s3s::service::S3Service;
use tokio::{net::TcpListener, task::JoinSet};

use crate::fault::{Fault, Faults};

type Reply = Response<Either<Full<Bytes>, CutBody<s3s::Body>>>;
type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Accepts connections until this future is dropped, which closes them.
pub(crate) async fn serve(listener: TcpListener, service: S3Service, faults: Arc<Faults>) {
    let mut connections = JoinSet::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let (service, faults) = (service.clone(), Arc::clone(&faults));
        let handle = service_fn(move |request| respond(request, service.clone(), Arc::clone(&faults)));
        let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), handle);
        // The result is an error if a fault closed the connection.
        connections.spawn(async move { drop(connection.await) });
        while connections.try_join_next().is_some() {}
    }
}

async fn respond(
    request: Request<Incoming>,
    service: S3Service,
    faults: Arc<Faults>,
) -> Result<Reply, BoxError> {
    let (head, body) = request.into_parts();
    let fault = faults.of(&head);
    match &fault {
        Fault::Status(status, code) => return status_reply(*status, *code),
        Fault::CutRequest(bytes) => return Err(read_some(body, *bytes).await),
        Fault::Hold(released) => released.notified().await,
        _ => {}
    }
    let mut body = body.collect().await?.to_bytes();
    if matches!(fault, Fault::CorruptRequest) {
        body = corrupted(&body);
    }
    let response = service.call(Request::from_parts(head, s3s::Body::from(body))).await?;
    match fault {
        Fault::LoseResponse => Err(closed()),
        Fault::CutResponse(bytes) => {
            Ok(response.map(|body| Either::Right(CutBody { body, left: Some(bytes) })))
        }
        _ => Ok(response.map(|body| Either::Right(CutBody { body, left: None }))),
    }
}

fn status_reply(status: u16, code: Option<&str>) -> Result<Reply, BoxError> {
    let text = code.map(|code| format!("<Error><Code>{code}</Code></Error>")).unwrap_or_default();
    let mut response = Response::new(Either::Left(Full::from(text)));
    *response.status_mut() = StatusCode::from_u16(status)?;
    Ok(response)
}

async fn read_some(mut body: Incoming, bytes: usize) -> BoxError {
    let mut left = bytes;
    while left > 0 {
        let Some(Ok(frame)) = body.frame().await else { break };
        left = left.saturating_sub(frame.data_ref().map_or(0, Bytes::len));
    }
    closed()
}

fn corrupted(body: &Bytes) -> Bytes {
    let mut body = body.to_vec();
    if let Some(first) = body.first_mut() {
        *first ^= 1;
    }
    body.into()
}

fn closed() -> BoxError {
    io::Error::from(io::ErrorKind::ConnectionAborted).into()
}

/// A body that fails after some bytes.
pub(crate) struct CutBody<B> {
    body: B,
    left: Option<usize>,
}

impl<B: Body<Data = Bytes, Error: Into<BoxError>> + Unpin> Body for CutBody<B> {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if self.left == Some(0) {
            return Poll::Ready(Some(Err(closed())));
        }
        let frame = match ready!(Pin::new(&mut self.body).poll_frame(context)) {
            Some(Ok(frame)) => frame,
            Some(Err(error)) => return Poll::Ready(Some(Err(error.into()))),
            None => return Poll::Ready(None),
        };
        let Some(left) = self.left else { return Poll::Ready(Some(Ok(frame))) };
        let Ok(mut data) = frame.into_data() else { return Poll::Ready(Some(Err(closed()))) };
        data.truncate(left);
        self.left = Some(left - data.len());
        Poll::Ready(Some(Ok(Frame::data(data))))
    }

    fn size_hint(&self) -> hyper::body::SizeHint {
        self.body.size_hint()
    }

    fn is_end_stream(&self) -> bool {
        self.left.is_none() && self.body.is_end_stream()
    }
}
