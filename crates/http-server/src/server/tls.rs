//! Connections with or without TLS.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::{Accept, TlsAcceptor, server::TlsStream};

/// The stream of a connection. Whoever reads it drives the handshake, so that the time for the head of a request also
/// limits the handshake.
pub(super) enum MaybeTls<S> {
    Plain(S),
    Handshake(Box<Accept<S>>),
    Encrypted(Box<TlsStream<S>>),
    /// The handshake failed.
    Failed,
}

impl<S: AsyncRead + AsyncWrite + Unpin> MaybeTls<S> {
    /// A stream with TLS if there is an acceptor.
    pub(super) fn new(stream: S, acceptor: Option<&TlsAcceptor>) -> Self {
        match acceptor {
            Some(acceptor) => Self::Handshake(Box::new(acceptor.accept(stream))),
            None => Self::Plain(stream),
        }
    }

    /// Continues a handshake.
    fn poll_handshake(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Self::Handshake(accept) = self {
            let accepted = ready!(Pin::new(accept).poll(cx));
            *self = match accepted {
                Ok(stream) => Self::Encrypted(Box::new(stream)),
                Err(error) => {
                    tracing::debug!(%error, "a TLS handshake failed");
                    Self::Failed
                }
            };
        }
        Poll::Ready(Ok(()))
    }
}

/// What a write returns before or instead of a handshake.
fn not_connected<T>() -> Poll<io::Result<T>> {
    Poll::Ready(Err(io::ErrorKind::NotConnected.into()))
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for MaybeTls<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(self.poll_handshake(cx))?;
        match &mut *self {
            Self::Plain(stream) => Pin::new(stream).poll_read(cx, buffer),
            Self::Encrypted(stream) => Pin::new(stream).poll_read(cx, buffer),
            Self::Handshake(_) | Self::Failed => not_connected(),
        }
    }
}

/// A server writes only after it has read a request.
impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for MaybeTls<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match &mut *self {
            Self::Plain(stream) => Pin::new(stream).poll_write(cx, bytes),
            Self::Encrypted(stream) => Pin::new(stream).poll_write(cx, bytes),
            Self::Handshake(_) | Self::Failed => not_connected(),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match &mut *self {
            Self::Plain(stream) => Pin::new(stream).poll_write_vectored(cx, slices),
            Self::Encrypted(stream) => Pin::new(stream).poll_write_vectored(cx, slices),
            Self::Handshake(_) | Self::Failed => not_connected(),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Plain(stream) => stream.is_write_vectored(),
            Self::Encrypted(_) | Self::Handshake(_) | Self::Failed => true,
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Self::Encrypted(stream) => Pin::new(stream).poll_flush(cx),
            Self::Handshake(_) | Self::Failed => Poll::Ready(Ok(())),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Encrypted(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Handshake(_) | Self::Failed => Poll::Ready(Ok(())),
        }
    }
}
