use std::time::Duration;

use bytes::Bytes;
use http_body::Body;
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited, combinators::UnsyncBoxBody};

/// What a response body fails with: the connection is closed then, since the head is sent already.
pub(crate) type BodyError = Box<dyn std::error::Error + Send + Sync>;

/// The body of every response.
pub(crate) type ResponseBody = UnsyncBoxBody<Bytes, BodyError>;

/// A body that stands in memory.
pub(crate) fn full(bytes: impl Into<Bytes>) -> ResponseBody {
    Full::new(bytes.into()).map_err(|never| match never {}).boxed_unsync()
}

/// Why a request body was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadBodyError {
    /// It is longer than allowed.
    TooLarge,
    /// It did not come in time.
    TooSlow,
    /// The connection broke, or the body was malformed.
    Broken,
}

/// Reads a request body of at most `max_bytes`. One that announces more is refused unread.
pub(crate) async fn read_body<B>(body: B, max_bytes: usize, timeout: Duration) -> Result<Bytes, ReadBodyError>
where
    B: Body<Data = Bytes>,
    B::Error: Into<BodyError>,
{
    if body.size_hint().lower() > max_bytes as u64 {
        return Err(ReadBodyError::TooLarge);
    }
    let limited = std::pin::pin!(Limited::new(body, max_bytes));
    match tokio::time::timeout(timeout, limited.collect()).await {
        Err(_) => Err(ReadBodyError::TooSlow),
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(ReadBodyError::TooLarge),
        Ok(Err(_)) => Err(ReadBodyError::Broken),
    }
}
