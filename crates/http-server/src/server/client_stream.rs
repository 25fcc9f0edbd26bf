//! The stream of one connection: it fails when the client accepts its response too slowly.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Instant, Sleep, sleep},
};

use super::activity::Activity;
use crate::HttpLimits;

/// Size of the system's send buffer: small, so that written bytes soon mean accepted bytes.
pub(super) const SEND_BUFFER_BYTES: usize = 256 * 1024;

/// The time that a client may let the server wait before it accepts more of a response. Waiting uses up the allowance, and
/// every accepted byte adds to it, so that a client at the minimum rate is never cut off.
#[derive(Debug)]
pub(super) struct WriteAllowance {
    remaining: Duration,
    waiting_since: Option<Instant>,
    /// The allowance at the start of every response.
    initial: Duration,
    /// Upper bound on the allowance.
    max: Duration,
    bytes_per_s: u32,
}

impl WriteAllowance {
    pub(super) fn new(limits: &HttpLimits) -> Self {
        let bytes_per_s = limits.min_response_bytes_per_s.max(1);
        let initial = limits.write_timeout;
        let max = initial + time_for(SEND_BUFFER_BYTES, bytes_per_s);
        Self { remaining: initial, waiting_since: None, initial, max, bytes_per_s }
    }

    /// The client accepts nothing now. Returns when it is cut off.
    pub(super) fn wait(&mut self, now: Instant) -> Instant {
        *self.waiting_since.get_or_insert(now) + self.remaining
    }

    /// The client has accepted this many bytes.
    pub(super) fn accept(&mut self, now: Instant, bytes: usize) {
        if let Some(since) = self.waiting_since.take() {
            self.remaining = self.remaining.saturating_sub(now.saturating_duration_since(since));
        }
        self.remaining = (self.remaining + time_for(bytes, self.bytes_per_s)).min(self.max);
    }

    fn end_response(&mut self) {
        self.remaining = self.remaining.max(self.initial);
    }
}

/// The time that this many bytes take at a rate.
fn time_for(bytes: usize, bytes_per_s: u32) -> Duration {
    let micros =
        u128::try_from(bytes).unwrap_or(u128::MAX).saturating_mul(1_000_000) / u128::from(bytes_per_s);
    Duration::from_micros(u64::try_from(micros).unwrap_or(u64::MAX))
}

/// The TCP stream of a client, with the allowance applied to writes.
pub(super) struct ClientStream<S> {
    stream: S,
    activity: Arc<Activity>,
    allowance: WriteAllowance,
    deadline: Pin<Box<Sleep>>,
}

impl<S> ClientStream<S> {
    pub(super) fn new(stream: S, activity: Arc<Activity>, limits: &HttpLimits) -> Self {
        Self {
            stream,
            activity,
            allowance: WriteAllowance::new(limits),
            deadline: Box::pin(sleep(Duration::ZERO)),
        }
    }

    /// Applies the allowance to the outcome of a write.
    fn limited(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match written {
            Poll::Ready(Ok(bytes)) => {
                self.activity.set_blocked(false);
                self.allowance.accept(Instant::now(), bytes);
            }
            Poll::Ready(Err(_)) => {}
            Poll::Pending => {
                self.activity.set_blocked(true);
                if self.activity.take_response_ended() {
                    self.allowance.end_response();
                }
                let deadline = self.allowance.wait(Instant::now());
                if self.deadline.deadline() != deadline {
                    self.deadline.as_mut().reset(deadline);
                }
                if self.deadline.as_mut().poll(cx).is_ready() {
                    return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
                }
            }
        }
        written
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for ClientStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for ClientStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.limited(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.limited(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// How long a client is served if it accepts `chunk` bytes of a long response every `pause`. The first bytes fill
    /// the send buffer. `None` if it is served to the end.
    fn served(chunk: usize, pause: Duration) -> Option<Duration> {
        let mut allowance = WriteAllowance::new(&HttpLimits::default());
        let start = Instant::now();
        allowance.accept(start, SEND_BUFFER_BYTES);
        let (mut now, mut left) = (start, 10_000_000_usize);
        while left > 0 {
            let deadline = allowance.wait(now);
            now += pause;
            if deadline < now {
                return Some(deadline - start);
            }
            allowance.accept(now, chunk);
            left = left.saturating_sub(chunk);
        }
        None
    }

    #[test]
    fn a_client_below_the_minimum_rate_is_cut_off() {
        assert_eq!(served(1_024, SECOND), None);
        assert_eq!(served(2_048, SECOND), None);
        // The system reports accepted bytes in large steps.
        assert_eq!(served(128 * 1024, 128 * SECOND), None);
        for (chunk, pause) in [(1, 60 * SECOND), (1, SECOND), (100, SECOND), (usize::MAX, 3_600 * SECOND)] {
            let cut_off = served(chunk, pause).expect("it is cut off");
            assert!(cut_off <= 15 * 60 * SECOND, "{chunk} bytes every {pause:?}: {cut_off:?}");
        }
    }

    #[test]
    fn every_response_starts_with_the_initial_allowance() {
        let limits = HttpLimits::default();
        let mut allowance = WriteAllowance::new(&limits);
        let start = Instant::now();
        assert_eq!(allowance.wait(start), start + limits.write_timeout);
        let later = start + limits.write_timeout;
        assert_eq!(allowance.wait(later), later);
        allowance.accept(later, 0);
        assert_eq!(allowance.wait(later), later);
        allowance.accept(later, 0);
        allowance.end_response();
        assert_eq!(allowance.wait(later), later + limits.write_timeout);
    }
}
