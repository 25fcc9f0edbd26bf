//! The stream of one connection: it fails when the client accepts its response too slowly.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use socket2::SockRef;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    time::{Instant, Sleep, sleep},
};

use super::activity::Activity;
use crate::HttpLimits;

/// Upper bound on the bytes that the system has of a response and the client has not acknowledged.
const SEND_BUFFER_BYTES: usize = 256 * 1024;
/// Upper bound on the bytes of a response that the system has not sent yet, so that written bytes soon mean accepted bytes. Only
/// Linux has this limit.
#[cfg(target_os = "linux")]
const UNSENT_BYTES: u32 = 64 * 1024;

/// The number of bytes that the server can write while the client accepts nothing.
#[cfg(target_os = "linux")]
const BUFFER_BYTES: usize = UNSENT_BYTES as usize;
#[cfg(not(target_os = "linux"))]
const BUFFER_BYTES: usize = SEND_BUFFER_BYTES;

/// Limits what the system buffers for a client.
///
/// # Errors
/// The system refused it.
pub(super) fn limit_buffer(stream: &TcpStream) -> io::Result<()> {
    let socket = SockRef::from(stream);
    #[cfg(target_os = "linux")]
    socket.set_tcp_notsent_lowat(UNSENT_BYTES)?;
    socket.set_send_buffer_size(SEND_BUFFER_BYTES)
}

/// The time that a client may let the server wait before it accepts more of a response. Waiting uses up the allowance, and
/// every accepted byte adds to it, so that a client at the minimum rate is not cut off (where the system limits unsent bytes).
///
/// Bytes are written to a buffer. The bytes that may only fill the buffer add nothing, because the client may not have accepted
/// any.
#[derive(Debug)]
pub(super) struct WriteAllowance {
    remaining: Duration,
    waiting_since: Option<Instant>,
    /// The allowance at the start of every response.
    initial: Duration,
    /// Upper bound on the allowance.
    max: Duration,
    bytes_per_s: u32,
    buffer_bytes: usize,
    /// How many further bytes of this response may only fill the buffer.
    unfilled_bytes: usize,
}

impl WriteAllowance {
    pub(super) fn new(limits: &HttpLimits, buffer_bytes: usize) -> Self {
        let bytes_per_s = limits.min_response_bytes_per_s.max(1);
        let initial = limits.write_timeout;
        // The server learns of accepted bytes when half of the buffer is free.
        let max = initial + time_for(buffer_bytes / 2, bytes_per_s);
        let unfilled_bytes = buffer_bytes;
        Self {
            remaining: initial,
            waiting_since: None,
            initial,
            max,
            bytes_per_s,
            buffer_bytes,
            unfilled_bytes,
        }
    }

    /// Since when the client has accepted nothing; `None` if it does not let the server wait.
    pub(super) fn waiting_since(&self) -> Option<Instant> {
        self.waiting_since
    }

    /// Records that the client accepts nothing now. Returns the time at which the client is cut off.
    pub(super) fn wait(&mut self, now: Instant) -> Instant {
        *self.waiting_since.get_or_insert(now) + self.remaining
    }

    /// The buffer has taken this many bytes.
    pub(super) fn accept(&mut self, now: Instant, bytes: usize) {
        if let Some(since) = self.waiting_since.take() {
            self.remaining = self.remaining.saturating_sub(now.saturating_duration_since(since));
        }
        let accepted = bytes.saturating_sub(self.unfilled_bytes);
        self.unfilled_bytes = self.unfilled_bytes.saturating_sub(bytes);
        self.remaining = (self.remaining + time_for(accepted, self.bytes_per_s)).min(self.max);
    }

    fn end_response(&mut self) {
        self.remaining = self.remaining.max(self.initial);
        self.unfilled_bytes = self.buffer_bytes;
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
            allowance: WriteAllowance::new(limits, BUFFER_BYTES),
            deadline: Box::pin(sleep(Duration::ZERO)),
        }
    }

    /// Applies the allowance to the outcome of a write.
    fn limited(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if self.activity.take_response_ended() {
            self.allowance.end_response();
        }
        match written {
            Poll::Ready(Ok(bytes)) => {
                self.activity.slot.set_blocked(false);
                self.allowance.accept(Instant::now(), bytes);
            }
            Poll::Ready(Err(_)) => {}
            Poll::Pending => {
                self.activity.slot.set_blocked(true);
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
        let mut allowance = WriteAllowance::new(&HttpLimits::default(), BUFFER_BYTES);
        let start = Instant::now();
        allowance.accept(start, BUFFER_BYTES);
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
        assert_eq!(served(2_048, SECOND), None);
        assert_eq!(served(4_096, SECOND), None);
        // The system reports accepted bytes in large steps.
        assert_eq!(served(32 * 1024, 16 * SECOND), None);
        for (chunk, pause) in [(1, 60 * SECOND), (1, SECOND), (100, SECOND), (usize::MAX, 3_600 * SECOND)] {
            let cut_off = served(chunk, pause).expect("it is cut off");
            assert!(cut_off <= 60 * SECOND, "{chunk} bytes every {pause:?}: {cut_off:?}");
        }
    }

    #[test]
    fn bytes_that_only_fill_the_buffer_earn_no_time() {
        let limits = HttpLimits::default();
        let mut allowance = WriteAllowance::new(&limits, BUFFER_BYTES);
        let start = Instant::now();
        let expect = |allowance: &mut WriteAllowance, expect: Duration| {
            assert_eq!(allowance.wait(start), start + expect);
            assert_eq!(allowance.waiting_since(), Some(start));
        };
        // Responses that follow one another without being read.
        for _ in 0..17 {
            allowance.accept(start, BUFFER_BYTES / 2);
            allowance.accept(start, BUFFER_BYTES / 2);
            expect(&mut allowance, limits.write_timeout);
            allowance.end_response();
        }
        allowance.accept(start, BUFFER_BYTES + 2_048);
        assert_eq!(allowance.waiting_since(), None);
        expect(&mut allowance, limits.write_timeout + SECOND);
        allowance.accept(start, 1 << 30);
        let most = limits.write_timeout + time_for(BUFFER_BYTES / 2, limits.min_response_bytes_per_s);
        expect(&mut allowance, most);
    }

    #[test]
    fn every_response_starts_with_the_initial_allowance() {
        let limits = HttpLimits::default();
        let mut allowance = WriteAllowance::new(&limits, BUFFER_BYTES);
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
