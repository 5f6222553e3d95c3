//! Connections to the listener: never more than it has room for, and none for ever.
//!
//! A connection holds its place until it ends. Whoever finds no place free waits in the system's queue. So that no crowd of
//! silent connections can keep probes out, a connection that is old ends as soon as it waits for its peer; probes and
//! scrapers that keep theirs open make another one.

use axum::serve::Listener;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpListener;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Sleep;

/// Connections at a time.
pub(super) const MOST: usize = 64;
/// The age at which a connection ends when nothing comes or nothing can be sent.
pub(super) const LIFE: Duration = Duration::from_secs(30);

/// A listener with so many places.
pub(super) struct Visits {
    listener: TcpListener,
    places: Arc<Semaphore>,
}

impl Visits {
    pub(super) fn new(listener: TcpListener) -> Self {
        Self { listener, places: Arc::new(Semaphore::new(MOST)) }
    }
}

impl Listener for Visits {
    type Io = Visit<tokio::net::TcpStream>;
    type Addr = std::net::SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        // Nobody closes the semaphore; without a place the connection would only be one too many.
        let place = Arc::clone(&self.places).acquire_owned().await.ok();
        let (stream, peer) = Listener::accept(&mut self.listener).await;
        (Visit::new(stream, place), peer)
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.listener.local_addr()
    }
}

/// A connection and its place.
pub(super) struct Visit<S> {
    stream: S,
    end: Pin<Box<Sleep>>,
    _place: Option<OwnedSemaphorePermit>,
}

impl<S> Visit<S> {
    fn new(stream: S, place: Option<OwnedSemaphorePermit>) -> Self {
        Self { stream, end: Box::pin(tokio::time::sleep(LIFE)), _place: place }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Visit<S> {
    /// Waiting for an old connection's next request is over: that reads as if the peer had closed it.
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if read.is_ready() {
            return read;
        }
        ready!(self.end.as_mut().poll(context));
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Visit<S> {
    /// A peer that does not take its answer is not waited for longer.
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        if written.is_ready() {
            return written;
        }
        ready!(self.end.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::time::Instant;

    #[tokio::test(start_paused = true)]
    async fn an_old_connection_ends_when_it_waits_for_its_peer() {
        let (stream, mut peer) = tokio::io::duplex(8);
        let mut visit = Visit::new(stream, None);
        let begin = Instant::now();
        peer.write_all(b"ask").await.unwrap();
        let mut asked = [0; 3];
        visit.read_exact(&mut asked).await.unwrap();
        assert_eq!(begin.elapsed(), Duration::ZERO, "it is young");
        assert_eq!(visit.read(&mut asked).await.unwrap(), 0);
        assert_eq!(begin.elapsed(), LIFE);

        peer.write_all(b"ask").await.unwrap();
        visit.read_exact(&mut asked).await.unwrap();
        visit.write_all(b"answer").await.unwrap();
        let stuck = visit.write_all(b"the rest of the answer").await;
        assert_eq!(stuck.unwrap_err().kind(), io::ErrorKind::TimedOut, "nobody reads");
    }
}
