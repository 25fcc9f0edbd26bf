//! Bodies of requests.

use std::{io, sync::Arc, time::Duration};

use bytes::{Bytes, BytesMut};
use futures_util::{Stream, stream};
use http::{HeaderMap, header, request::Parts};
use http_body::Body;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use tokio::time::{self, Instant};

use crate::{HttpLimits, UploadSlot, server::RequestActivity};

/// Why a request body could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadBodyError {
    /// It is longer than allowed.
    TooLarge,
    /// It did not arrive in time.
    TooSlow,
    /// The connection broke, or the body was malformed.
    Broken,
    /// It has a content encoding. No endpoint decompresses bodies, because a small compressed body could expand to a large one.
    Encoded,
}

/// Upper bound on the body of an API request.
pub const MAX_BODY_BYTES: usize = 512_000;

/// The content type of a request body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyKind {
    /// `application/x-www-form-urlencoded`.
    Form,
    /// `application/json`.
    Json,
}

impl BodyKind {
    /// Reads `Content-Type`, without parameters such as a character set; `None` for any other type.
    pub fn of(headers: &HeaderMap) -> Option<Self> {
        let value = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
        let essence = value.split(';').next().unwrap_or_default().trim();
        if essence.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
            Some(Self::Form)
        } else if essence.eq_ignore_ascii_case("application/json") {
            Some(Self::Json)
        } else {
            None
        }
    }
}

/// How much of an unread body is still received by default, so that the client can read the reply.
const MAX_DISCARDED_BYTES: u64 = 16 * 1024 * 1024;

/// The time for which a client may still let the server wait for the bytes of an upload. Waiting uses the time up, and each
/// received byte adds the time that it takes at the lowest rate. So an upload is ended when it is
/// [`HttpLimits::body_timeout`] behind that rate.
#[derive(Debug)]
struct ReadAllowance {
    remaining: Duration,
    max: Duration,
    bytes_per_s: u32,
}

impl ReadAllowance {
    fn new(limits: &HttpLimits) -> Self {
        let max = limits.body_timeout;
        Self { remaining: max, max, bytes_per_s: limits.min_body_bytes_per_s.max(1) }
    }

    /// Records for how long the server waited for these bytes.
    fn receive(&mut self, waited: Duration, bytes: usize) {
        let earned = Duration::from_secs(bytes as u64) / self.bytes_per_s;
        self.remaining = (self.remaining.saturating_sub(waited) + earned).min(self.max);
    }
}

/// The body of a request.
///
/// The unread rest is received and discarded in the background, within limits: closing the connection on a client that is
/// still sending would lose the reply. If nothing was read, a client that waits for `100 Continue` does not get it. With
/// HTTP/2 it never gets it, because the HTTP library does not send it.
pub struct RequestBody {
    incoming: Option<Incoming>,
    timeout: Duration,
    allowance: ReadAllowance,
    max_discarded_bytes: u64,
    is_sent: bool,
    is_encoded: bool,
    /// The request, whose connection may be closed for a new one until the body has arrived.
    request: Option<Arc<RequestActivity>>,
}

impl RequestBody {
    /// A body that must arrive within these limits.
    pub fn new(parts: &Parts, incoming: Incoming, limits: &HttpLimits) -> Self {
        let (headers, request) = (&parts.headers, parts.extensions.get().cloned());
        let is_sent = !headers.contains_key(header::EXPECT);
        Self {
            incoming: Some(incoming),
            timeout: limits.body_timeout,
            allowance: ReadAllowance::new(limits),
            max_discarded_bytes: MAX_DISCARDED_BYTES,
            is_sent,
            is_encoded: is_encoded(headers),
            request,
        }
    }

    /// Lets the whole rest of a body be discarded if its announced length is at most `max_bytes`, because many clients read a
    /// refusal only after they have sent the file. The time-out grows in proportion to the length. Meanwhile the connection
    /// may be closed for a new one, unless the body was read as a stream.
    pub fn discard_up_to(&mut self, max_bytes: u64) {
        if let Some(bytes) = self.announced_bytes().filter(|bytes| *bytes <= max_bytes) {
            self.max_discarded_bytes = bytes.max(MAX_DISCARDED_BYTES);
        }
    }

    /// How long discarding the rest may take: the time-out for each [`MAX_DISCARDED_BYTES`].
    fn discard_timeout(&self) -> Duration {
        let times = u32::try_from(self.max_discarded_bytes.div_ceil(MAX_DISCARDED_BYTES)).unwrap_or(u32::MAX);
        self.timeout.saturating_mul(times)
    }

    /// Reads the body if it has at most `max_bytes`. A longer declared length is rejected before reading.
    pub async fn read(mut self, max_bytes: usize) -> Result<Bytes, ReadBodyError> {
        let Some(incoming) = &mut self.incoming else { return Ok(Bytes::new()) };
        if incoming.size_hint().lower() > max_bytes as u64 {
            return Err(ReadBodyError::TooLarge);
        }
        self.is_sent = true;
        let collected = time::timeout(self.timeout, collect(incoming, max_bytes)).await;
        let bytes = collected.unwrap_or(Err(ReadBodyError::TooSlow))?;
        if self.request.as_ref().is_some_and(|request| !request.body_received()) {
            return Err(ReadBodyError::Broken);
        }
        if self.is_encoded { Err(ReadBodyError::Encoded) } else { Ok(bytes) }
    }

    /// The body as a stream, for uploads of any length. A client that falls too far behind the lowest rate is an error.
    /// The connection is not closed for a new one while the stream is read, so authenticate the client first. The slot is
    /// free again when the stream has ended or is dropped.
    ///
    /// # Errors
    /// [`ReadBodyError::Encoded`], or [`ReadBodyError::Broken`] if the connection was closed for a new one.
    pub fn into_stream(
        self,
        slot: UploadSlot,
    ) -> Result<impl Stream<Item = io::Result<Bytes>> + Send + use<>, ReadBodyError> {
        if self.is_encoded {
            return Err(ReadBodyError::Encoded);
        }
        if self.request.as_ref().is_some_and(|request| !request.body_received()) {
            return Err(ReadBodyError::Broken);
        }
        Ok(stream::unfold(Some((self, slot)), |upload| async move {
            let (mut body, slot) = upload?;
            match body.next_chunk().await {
                Ok(chunk) => chunk.map(|chunk| (Ok(chunk), Some((body, slot)))),
                Err(error) => Some((Err(error), None)),
            }
        }))
    }

    /// The length that the client announced, if it did.
    pub fn announced_bytes(&self) -> Option<u64> {
        self.incoming.as_ref().map_or(Some(0), |incoming| incoming.size_hint().exact())
    }

    async fn next_chunk(&mut self) -> io::Result<Option<Bytes>> {
        let Some(incoming) = &mut self.incoming else { return Ok(None) };
        // Before the first read, a client may wait for `100 Continue`. With HTTP/1.1, the first read sends it.
        self.is_sent = true;
        loop {
            let asked = Instant::now();
            let frame = time::timeout(self.allowance.remaining, incoming.frame()).await;
            let Some(frame) = frame.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))? else {
                return Ok(None);
            };
            let data = frame.map_err(io::Error::other)?.into_data();
            self.allowance.receive(asked.elapsed(), data.as_ref().map_or(0, Bytes::len));
            if let Ok(data) = data {
                return Ok(Some(data));
            }
        }
    }

    /// Whether the body has a content encoding.
    pub fn is_encoded(&self) -> bool {
        self.is_encoded
    }
}

/// Whether `Content-Encoding` names anything but `identity`.
fn is_encoded(headers: &HeaderMap) -> bool {
    headers.get_all(header::CONTENT_ENCODING).iter().any(|value| {
        let names = value.to_str().unwrap_or("unreadable");
        names.split(',').map(str::trim).any(|name| !name.is_empty() && !name.eq_ignore_ascii_case("identity"))
    })
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        let unread = self.incoming.take().filter(|incoming| self.is_sent && !incoming.is_end_stream());
        if let Some(mut incoming) = unread {
            let (max_bytes, timeout) = (self.max_discarded_bytes, self.discard_timeout());
            tokio::spawn(async move {
                // Whether the rest has arrived or the time is up, the body no longer blocks the connection.
                let _ = time::timeout(timeout, discard(&mut incoming, max_bytes)).await;
            });
        }
    }
}

async fn collect<B>(body: &mut B, max_bytes: usize) -> Result<Bytes, ReadBodyError>
where
    B: Body<Data = Bytes> + Unpin,
{
    let mut bytes = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| ReadBodyError::Broken)?;
        let Ok(data) = frame.into_data() else { continue };
        if bytes.len() + data.len() > max_bytes {
            return Err(ReadBodyError::TooLarge);
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes.freeze())
}

async fn discard<B>(body: &mut B, max_bytes: u64)
where
    B: Body<Data = Bytes> + Unpin,
{
    let mut discarded = 0_u64;
    while discarded <= max_bytes
        && let Some(Ok(frame)) = body.frame().await
    {
        discarded += frame.data_ref().map_or(0, |data| data.len() as u64);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::stream;
    use http_body::Frame;
    use http_body_util::StreamBody;

    use super::*;
    use crate::response_body::BodyError;

    #[tokio::test]
    async fn a_body_is_collected_up_to_its_limit() {
        let check =
            async |chunks: &[&'static str], max_bytes, expect: Result<&'static str, ReadBodyError>| {
                let frames = chunks.iter().map(|chunk| Ok::<_, BodyError>(Frame::data(Bytes::from(*chunk))));
                let mut body = StreamBody::new(stream::iter(frames.collect::<Vec<_>>()));
                assert_eq!(collect(&mut body, max_bytes).await, expect.map(Bytes::from), "{chunks:?}");
            };
        check(&[], 0, Ok("")).await;
        check(&["ab", "", "cd"], 4, Ok("abcd")).await;
        check(&["ab", "cd"], 3, Err(ReadBodyError::TooLarge)).await;
        check(&["abcd"], 3, Err(ReadBodyError::TooLarge)).await;
    }

    /// How many seconds an upload of 10 MB lasts that sends `chunk` bytes every `pause_s`, and whether it arrives.
    fn upload(chunk: usize, pause_s: u64) -> (u64, bool) {
        let mut allowance = ReadAllowance::new(&HttpLimits::default());
        let (mut seconds, mut left) = (0, 10_000_000_usize);
        let pause = Duration::from_secs(pause_s);
        while left > 0 {
            if pause > allowance.remaining {
                return (seconds + allowance.remaining.as_secs(), false);
            }
            seconds += pause_s;
            allowance.receive(pause, chunk);
            left = left.saturating_sub(chunk);
        }
        (seconds, true)
    }

    #[test]
    fn an_upload_below_the_lowest_rate_is_ended() {
        // A phone that sends 8 kB/s, one of four uploads that share this rate, and a phone whose network comes and goes.
        for (chunk, pause_s) in [(8_000, 1), (2_000, 1), (16_384, 30)] {
            assert!(upload(chunk, pause_s).1, "{chunk} bytes every {pause_s} s");
        }
        for (chunk, pause_s) in [(1, 15), (1, 1), (0, 1), (400, 1), (7_000, 20), (1_000_000, 31)] {
            let (seconds, arrives) = upload(chunk, pause_s);
            assert!(!arrives && seconds <= 180, "{chunk} bytes every {pause_s} s: {seconds} s");
        }
    }

    #[tokio::test]
    async fn discarding_stops_at_its_limit() {
        let frames = stream::repeat_with(|| Ok::<_, BodyError>(Frame::data(Bytes::from_static(b"abcd"))));
        discard(&mut StreamBody::new(frames), 1000).await;
    }
}
