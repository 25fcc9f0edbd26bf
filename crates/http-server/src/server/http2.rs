//! HTTP/2: requests in the form of HTTP/1.1, and streams whose clients stop reading.

use std::{
    future::poll_fn,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Poll,
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderValue, Request, Uri, header};
use http_body::Body as _;
use hyper::rt::Executor;
use tokio::time::{Instant, sleep};

use super::client_stream::WriteAllowance;
use crate::{HttpLimits, reply::Reply, response_body::full};

/// Upper bound on the requests in progress on one connection.
pub(super) const MAX_STREAMS: u32 = 100;
/// Upper bound on what the library buffers of a stream.
pub(super) const MAX_BUFFERED_BYTES: usize = 16 * 1024;
/// Length of the parts of a response that a stream takes at once: the length of a frame.
pub(super) const PART_BYTES: usize = 16 * 1024;
/// How many times more slowly than a whole connection one of its streams may accept a response, because on a slow network a stream
/// waits for the other streams.
const PATIENCE: u32 = 4;

tokio::task_local! {
    static DELIVERY: Arc<Delivery>;
}

/// How far a stream has delivered its response. The client makes the server wait by opening the window of the stream late (RFC 9113,
/// section 5.2), while the connection itself may be ready for other streams.
pub(super) struct Delivery(Mutex<Progress>);

struct Progress {
    allowance: WriteAllowance,
    /// The length of the part that waits to be taken.
    waiting: Option<usize>,
}

impl Delivery {
    pub(super) fn new(limits: &HttpLimits) -> Arc<Self> {
        let limits = HttpLimits {
            write_timeout: limits.write_timeout.saturating_mul(PATIENCE),
            min_response_bytes_per_s: limits.min_response_bytes_per_s / PATIENCE,
            ..*limits
        };
        let allowance = WriteAllowance::new(&limits, MAX_BUFFERED_BYTES);
        Arc::new(Self(Mutex::new(Progress { allowance, waiting: None })))
    }

    /// The delivery of the stream whose task this is.
    pub(super) fn of_this_stream() -> Option<Arc<Self>> {
        DELIVERY.try_with(Arc::clone).ok()
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        // No change under the lock can stop half-way.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that the stream took the last part.
    pub(super) fn delivered(&self) {
        let progress = &mut *self.progress();
        if let Some(bytes) = progress.waiting.take() {
            progress.allowance.accept(Instant::now(), bytes);
        }
    }

    /// Records that this part of the response waits to be taken.
    pub(super) fn give(&self, part: Bytes) -> Bytes {
        self.progress().waiting = Some(part.len());
        part
    }

    /// Since when the stream has waited for its client; `None` if it does not.
    pub(super) fn waiting_since(&self) -> Option<Instant> {
        self.progress().allowance.waiting_since()
    }

    /// When a stream that now waits for its client is ended; `None` if it does not wait for it.
    pub(super) fn cut_off_at(&self) -> Option<Instant> {
        let progress = &mut *self.progress();
        progress.waiting.map(|_| progress.allowance.wait(Instant::now()))
    }
}

/// Runs the streams of a connection, and ends those whose clients accept their responses too slowly.
#[derive(Clone)]
pub(super) struct Streams {
    pub(super) limits: HttpLimits,
}

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for Streams {
    fn execute(&self, stream: F) {
        let delivery = Delivery::new(&self.limits);
        let stream = run(stream, delivery.clone());
        tokio::spawn(DELIVERY.scope(delivery, stream));
    }
}

/// Runs a stream. Dropping it unfinished resets the stream.
async fn run(stream: impl Future<Output = ()>, delivery: Arc<Delivery>) {
    let mut stream = pin!(stream);
    let mut deadline = pin!(sleep(Duration::ZERO));
    poll_fn(|cx| {
        if stream.as_mut().poll(cx).is_ready() {
            return Poll::Ready(());
        }
        let Some(cut_off_at) = delivery.cut_off_at() else { return Poll::Pending };
        if deadline.deadline() != cut_off_at {
            deadline.as_mut().reset(cut_off_at);
        }
        deadline.as_mut().poll(cx)
    })
    .await;
}

/// Gives a request the form that it has in HTTP/1.1 (RFC 9113, sections 8.2.3 and 8.3.1): the target without scheme and authority, the
/// authority as `Host`, and one line of cookies.
pub(super) fn as_http1<B>(request: &mut Request<B>) {
    let authority = request.uri().authority().and_then(|host| HeaderValue::from_str(host.as_str()).ok());
    if let Some(path) = request.uri().path_and_query().cloned() {
        *request.uri_mut() = Uri::from(path);
    }
    let headers = request.headers_mut();
    if let Some(authority) = authority {
        headers.insert(header::HOST, authority);
    }
    let cookies: Vec<&[u8]> = headers.get_all(header::COOKIE).iter().map(HeaderValue::as_bytes).collect();
    if cookies.len() > 1
        && let Ok(cookies) = HeaderValue::from_bytes(&cookies.join(b"; ".as_slice()))
    {
        headers.insert(header::COOKIE, cookies);
    }
}

/// Gives a reply the form that it has in HTTP/2 (RFC 9113, section 8.2.2): without `Connection`, and in reply to HEAD without the
/// body, which the HTTP library removes with HTTP/1.1 only.
pub(super) fn as_http2(mut reply: Reply, is_head: bool) -> Reply {
    reply.headers_mut().remove(header::CONNECTION);
    if !is_head {
        return reply;
    }
    let (mut head, body) = reply.into_parts();
    if let Some(length) = body.size_hint().exact().filter(|length| *length > 0) {
        head.headers.entry(header::CONTENT_LENGTH).or_insert_with(|| length.into());
    }
    Reply::from_parts(head, full(""))
}

#[cfg(test)]
mod tests {
    use http::StatusCode;

    use super::*;
    use crate::reply::{WithHeader as _, empty, error};

    #[test]
    fn requests_have_the_form_of_http1() {
        let mut request = Request::get("https://photos.example.org:8443/a?b=c")
            .header("host", "other.example")
            .header("cookie", "a=1")
            .header("cookie", "b=2; c=3")
            .body(())
            .unwrap();
        as_http1(&mut request);
        assert_eq!(request.uri(), "/a?b=c");
        let lines = |name| request.headers().get_all(name).iter().collect::<Vec<_>>();
        assert_eq!(lines("host"), ["photos.example.org:8443"]);
        assert_eq!(lines("cookie"), ["a=1; b=2; c=3"]);

        let mut request = Request::options("*").header("host", "localhost").body(()).unwrap();
        as_http1(&mut request);
        assert_eq!((request.uri().path(), request.headers().len()), ("*", 1));
    }

    #[test]
    fn replies_to_head_keep_their_length() {
        let not_found = error(StatusCode::NOT_FOUND, "nothing")
            .with(header::CONNECTION, HeaderValue::from_static("close"));
        let reply = as_http2(not_found, true);
        assert!(!reply.headers().contains_key(header::CONNECTION));
        assert_eq!(reply.headers()[header::CONTENT_LENGTH], "19");
        assert!(reply.body().is_end_stream());
        let reply = as_http2(empty(StatusCode::NO_CONTENT), true);
        assert!(!reply.headers().contains_key(header::CONTENT_LENGTH));
    }
}
