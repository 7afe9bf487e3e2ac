//! Limits connections that have not presented the key, so that they cannot lock out clients that have it.
//!
//! Any user of the machine can connect. Without limits, a thousand open connections use up all file descriptors.

use std::collections::BTreeMap;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::time::Sleep;

use super::cached::lock;

/// The maximum number of connections without the key. The oldest one is closed if another one arrives.
const MAX_ANONYMOUS: usize = 256;
/// How long a connection may be open without the key. A browser sends its first request at once.
const ANONYMOUS_TIMEOUT: Duration = Duration::from_secs(5);
/// The pause after an error of the operating system, in which connections are closed.
const ERROR_PAUSE: Duration = Duration::from_millis(20);

/// The connections without the key, in the order of their arrival.
#[derive(Debug, Default)]
struct AnonymousConnections {
    next_id: u64,
    /// By id: reports that the connection has presented the key. Dropping the sender closes the connection.
    by_id: BTreeMap<u64, oneshot::Sender<()>>,
}

impl AnonymousConnections {
    /// Closes the older half of the connections.
    fn close_older_half(&mut self) {
        for _ in 0..self.by_id.len().div_ceil(2) {
            self.by_id.pop_first();
        }
    }
}

/// A connection as request handlers see it.
#[derive(Debug, Clone)]
pub(crate) struct Connection {
    id: u64,
    anonymous: Arc<Mutex<AnonymousConnections>>,
}

impl Connection {
    /// Removes the limits of the connection, because it has presented the key.
    pub(crate) fn mark_signed_in(&self) {
        if let Some(sender) = lock(&self.anonymous).by_id.remove(&self.id) {
            // The send fails only if the connection is closed.
            let _ = sender.send(());
        }
    }
}

impl Connected<IncomingStream<'_, LimitedListener>> for Connection {
    fn connect_info(stream: IncomingStream<'_, LimitedListener>) -> Connection {
        stream.remote_addr().clone()
    }
}

/// Accepts connections and limits those without the key.
pub(crate) struct LimitedListener {
    listener: TcpListener,
    anonymous: Arc<Mutex<AnonymousConnections>>,
}

impl LimitedListener {
    /// Creates a listener without connections.
    pub(crate) fn new(listener: TcpListener) -> LimitedListener {
        LimitedListener { listener, anonymous: Arc::default() }
    }

    /// Adds a connection without the key. Closes the oldest one if there are too many.
    fn add(&self, stream: TcpStream) -> (LimitedStream, Connection) {
        let (sender, signed_in) = oneshot::channel();
        let mut anonymous = lock(&self.anonymous);
        let id = anonymous.next_id;
        anonymous.next_id += 1;
        anonymous.by_id.insert(id, sender);
        if anonymous.by_id.len() > MAX_ANONYMOUS {
            anonymous.by_id.pop_first();
        }
        let connection = Connection { id, anonymous: self.anonymous.clone() };
        let timeout = Box::pin(tokio::time::sleep(ANONYMOUS_TIMEOUT));
        let limit = Some(ConnectionLimit { signed_in, timeout });
        (LimitedStream { stream, limit, connection: connection.clone() }, connection)
    }
}

impl Listener for LimitedListener {
    type Io = LimitedStream;
    type Addr = Connection;

    async fn accept(&mut self) -> (LimitedStream, Connection) {
        loop {
            match self.listener.accept().await {
                Ok((stream, _)) => return self.add(stream),
                Err(error) if is_client_error(&error) => {}
                // Usually too many open files: connections without the key make room.
                Err(_) => {
                    lock(&self.anonymous).close_older_half();
                    tokio::time::sleep(ERROR_PAUSE).await;
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<Connection> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Returns `true` if the client closed the connection before it was accepted.
fn is_client_error(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// The limit of a connection that has not presented the key.
struct ConnectionLimit {
    /// Receives a value once the connection has presented the key, or an error if it must be closed.
    signed_in: oneshot::Receiver<()>,
    timeout: Pin<Box<Sleep>>,
}

/// A connection that fails if it does not present the key in time, or if too many others are open.
pub(crate) struct LimitedStream {
    stream: TcpStream,
    /// `None` once the connection has presented the key.
    limit: Option<ConnectionLimit>,
    connection: Connection,
}

impl LimitedStream {
    /// Returns an error if the connection must be closed, now or when the task is woken.
    fn check_limit(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        let Some(limit) = &mut self.limit else { return Ok(()) };
        match Pin::new(&mut limit.signed_in).poll(context) {
            Poll::Ready(Ok(())) => self.limit = None,
            Poll::Ready(Err(_)) => return Err(io::ErrorKind::ConnectionAborted.into()),
            Poll::Pending if limit.timeout.as_mut().poll(context).is_ready() => {
                return Err(io::ErrorKind::TimedOut.into());
            }
            Poll::Pending => {}
        }
        Ok(())
    }
}

impl Drop for LimitedStream {
    fn drop(&mut self) {
        lock(&self.connection.anonymous).by_id.remove(&self.connection.id);
    }
}

impl AsyncRead for LimitedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.check_limit(context)?;
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for LimitedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.check_limit(context)?;
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.check_limit(context)?;
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
