//! Starts the server and runs it until it is told to stop.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rethread_engine::core::usage::Prices;
use rethread_engine::ops::Listing;
use tokio::net::TcpListener;

use super::gate::Gate;
use super::readings::Readings;
use super::routes::router;
use super::seek::LastStacks;
use super::server::Server;
use super::shelf::Shelf;
use crate::place::Place;

/// Tells the user where to look, before the first request is taken.
pub(crate) type Announce<'a> = &'a mut dyn FnMut(&str) -> io::Result<()>;

/// Serves at a port of this machine; where none is named, at `usual` or, if that is taken, any other.
pub(crate) fn serve(
    place: Place,
    prices: Prices,
    demo: bool,
    listing: Option<Listing>,
    port: Option<u16>,
    announce: Announce<'_>,
) -> io::Result<()> {
    // Answers wait for the disk on threads of their own; few are enough, and they bound the memory.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_io()
        .enable_time()
        .worker_threads(2)
        .max_blocking_threads(8)
        .build()?;
    runtime.block_on(async {
        let listener = listen(port).await?;
        let gate = Gate::new(listener.local_addr()?.port());
        announce(&gate.address())?;
        let server = Arc::new(Server {
            place,
            prices,
            gate,
            readings: Readings::default(),
            shelf: Shelf::holding(listing),
            queue: Arc::default(),
            stacks: LastStacks::default(),
            indexing: AtomicBool::new(false),
            demo,
        });
        axum::serve(listener, router(server)).with_graceful_shutdown(stopped()).await
    })
}

/// The port that is tried first.
const USUAL: u16 = 7333;

async fn listen(port: Option<u16>) -> io::Result<TcpListener> {
    let at = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    match port {
        Some(port) => TcpListener::bind(at(port)).await,
        None => match TcpListener::bind(at(USUAL)).await {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => TcpListener::bind(at(0)).await,
            bound => bound,
        },
    }
}

/// Ends when the user presses Ctrl-C.
async fn stopped() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
