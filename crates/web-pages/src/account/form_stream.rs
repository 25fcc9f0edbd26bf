//! Bounds the memory of a multipart form that is read as a stream.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use bytes::Bytes;
use futures_util::Stream;

/// Upper bound on the bytes that `multer` buffers, such as those of a header without an end. A chunk can exceed it by its
/// own length.
const MAX_BUFFERED_BYTES: usize = 1024 * 1024;

/// Bytes that are passed on in one poll. `multer` polls until a stream is pending, so without this bound it would buffer
/// whatever a fast client sends.
const BYTES_PER_POLL: usize = 128 * 1024;

/// The body of a form, for `multer`. It fails if too many bytes are buffered since a part of the form was delivered.
pub(super) struct FormStream<S> {
    body: Pin<Box<S>>,
    buffered: Arc<AtomicUsize>,
    passed_on: usize,
}

/// The reader of the form uses this to report that it got a field or a chunk of a file.
pub(super) struct Delivered(Arc<AtomicUsize>);

impl Delivered {
    /// A field or chunk was delivered.
    pub(super) fn reset(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

impl<S> FormStream<S> {
    pub(super) fn new(body: S) -> (Self, Delivered) {
        let buffered = Arc::new(AtomicUsize::new(0));
        (Self { body: Box::pin(body), buffered: buffered.clone(), passed_on: 0 }, Delivered(buffered))
    }
}

impl<S: Stream<Item = io::Result<Bytes>>> Stream for FormStream<S> {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.passed_on >= BYTES_PER_POLL {
            self.passed_on = 0;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let next = self.body.as_mut().poll_next(context);
        match &next {
            Poll::Pending => self.passed_on = 0,
            Poll::Ready(Some(Ok(chunk))) => {
                self.passed_on = self.passed_on.saturating_add(chunk.len());
                let before = self.buffered.fetch_add(chunk.len(), Ordering::Relaxed);
                if before > MAX_BUFFERED_BYTES {
                    return Poll::Ready(Some(Err(io::Error::other("a part of the form has no end"))));
                }
            }
            Poll::Ready(_) => {}
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use futures_util::{StreamExt as _, stream};
    use multer::Multipart;

    use super::*;

    const CHUNK: usize = 64 * 1024;

    /// A form that starts with `head` and continues with `chunks` chunks without a line break. Returns it with the number
    /// of bytes that were read so far.
    fn form(head: &'static str, chunks: usize) -> (Multipart<'static>, Delivered, Arc<AtomicUsize>) {
        let read = Arc::new(AtomicUsize::new(0));
        let counter = read.clone();
        let rest = stream::repeat_with(|| Bytes::from(vec![b'x'; CHUNK])).take(chunks);
        let end = stream::iter([Bytes::from_static(b"\r\n--b--\r\n")]);
        let body = stream::iter([Bytes::from_static(head.as_bytes())]).chain(rest).chain(end);
        let body = body.inspect(move |chunk| {
            counter.fetch_add(chunk.len(), Ordering::Relaxed);
        });
        let (stream, delivered) = FormStream::new(body.map(Ok::<_, io::Error>));
        (Multipart::new(stream, "b"), delivered, read)
    }

    #[tokio::test]
    async fn a_header_or_preamble_without_an_end_is_refused_at_the_limit() {
        for head in ["--b\r\nContent-Disposition: form-data; name=\"", "no boundary"] {
            let (mut form, _, read) = form(head, 1000);
            assert!(form.next_field().await.is_err(), "{head}");
            let read = read.load(Ordering::Relaxed);
            assert!(read <= MAX_BUFFERED_BYTES + 3 * CHUNK, "{head}: {read} bytes");
        }
    }

    #[tokio::test]
    async fn a_file_of_any_length_arrives_and_is_buffered_in_small_parts() {
        let head = "--b\r\nContent-Disposition: form-data; name=\"photos\"; filename=\"a.jpg\"\r\n\r\n";
        let (mut form, delivered, read) = form(head, 200);
        let mut field = form.next_field().await.unwrap().unwrap();
        delivered.reset();
        let mut bytes = 0;
        while let Some(chunk) = field.chunk().await.unwrap() {
            delivered.reset();
            bytes += chunk.len();
            let ahead = read.load(Ordering::Relaxed) - bytes;
            assert!(ahead <= BYTES_PER_POLL + 2 * CHUNK, "{ahead} bytes");
        }
        assert_eq!(bytes, 200 * CHUNK);
    }
}
