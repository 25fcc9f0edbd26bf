//! Bodies of responses.

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, TryStreamExt as _};
use http_body::Frame;
use http_body_util::{BodyExt as _, Full, StreamBody, combinators::UnsyncBoxBody};

/// The error of a response body. It closes the connection, or with HTTP/2 the stream, because the head has been sent already.
pub type BodyError = Box<dyn std::error::Error + Send + Sync>;

/// The body of every response.
pub type ResponseBody = UnsyncBoxBody<Bytes, BodyError>;

/// A body that is in memory.
pub fn full(bytes: impl Into<Bytes>) -> ResponseBody {
    Full::new(bytes.into()).map_err(|never| match never {}).boxed_unsync()
}

/// A body that is made while it is sent.
pub fn streamed(chunks: impl Stream<Item = Bytes> + Send + 'static) -> ResponseBody {
    StreamBody::new(chunks.map(|chunk| Ok(Frame::data(chunk)))).boxed_unsync()
}

/// A body that is sent while it is read from a stream. An error of the stream is an error of the body.
pub fn try_streamed<E: Into<BodyError> + 'static>(
    stream: impl Stream<Item = Result<Bytes, E>> + Send + 'static,
) -> ResponseBody {
    StreamBody::new(stream.map_ok(Frame::data).map_err(Into::into)).boxed_unsync()
}
