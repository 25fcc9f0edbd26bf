use std::{
    future::Future as _,
    io,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Sleep, sleep},
};

/// What an HTTP/2 connection begins with (RFC 9113, section 3.4).
const HTTP2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A connection that fails to read when its client does not say in time which version of HTTP it speaks. From then
/// on each version has a deadline of its own; before, there would be none.
pub(crate) struct VersionDeadline<S> {
    stream: S,
    /// `None` once the version is known.
    deadline: Option<Pin<Box<Sleep>>>,
    /// What is still to come of the preface if this is HTTP/2.
    to_come: &'static [u8],
}

impl<S> VersionDeadline<S> {
    pub(crate) fn new(stream: S, timeout: Duration) -> Self {
        Self { stream, deadline: Some(Box::pin(sleep(timeout))), to_come: HTTP2_PREFACE }
    }

    /// Whether these bytes tell the version: they end the preface, are something else, or the end.
    fn is_told_by(&mut self, received: &[u8]) -> bool {
        match self.to_come.strip_prefix(received) {
            Some(to_come) if !to_come.is_empty() && !received.is_empty() => {
                self.to_come = to_come;
                false
            }
            _ => true,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for VersionDeadline<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        let Some(deadline) = &mut self.deadline else { return read };
        if read.is_pending() {
            ready!(deadline.as_mut().poll(context));
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        if self.is_told_by(buffer.filled().get(before..).unwrap_or_default()) {
            self.deadline = None;
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for VersionDeadline<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_known_once_the_preface_came_or_something_else() {
        let check = |parts: &[&[u8]], known: bool| {
            // A deadline needs a timer, which this test does without.
            let mut stream = VersionDeadline { stream: (), deadline: None, to_come: HTTP2_PREFACE };
            assert_eq!(parts.iter().any(|part| stream.is_told_by(part)), known, "{parts:?}");
        };
        check(&[b"P"], false);
        check(&[b"PRI", b" * HTTP/2.0\r\n"], false);
        check(&[b"PRI * HTTP/2.0\r\n\r\n", b"SM\r\n\r\n"], true);
        check(&[b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nand frames"], true);
        check(&[b"PO"], true);
        check(&[b"P", b"OST"], true);
        check(&[b"GET / HTTP/1.1"], true);
        check(&[b""], true);
    }
}
