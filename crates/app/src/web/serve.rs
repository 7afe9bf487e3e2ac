//! Starts the server and runs it until it is told to stop.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use rethread_engine::core::usage::Prices;
use rethread_engine::ops::SessionList;
use tokio::net::TcpListener;

use super::auth::Auth;
use super::pages::figures::FigureCache;
use super::routes::router;
use super::search::SearchCache;
use super::server::Server;
use super::session_list::SessionListCache;
use super::single_flight::SingleFlight;
use super::snapshot_cache::SnapshotCache;
use super::view_cache::SessionViewCache;
use crate::context::AppContext;

/// Tells the user where to look, before the first request is taken.
pub(crate) type Announce<'a> = &'a mut dyn FnMut(&Auth) -> io::Result<()>;

/// How long answers under way may take once the server is to stop; a page that listens for news would never end by itself.
const GRACE: Duration = Duration::from_millis(300);
/// How long work may take that has begun, such as writing: what takes longer is cut short, and taken back the next time.
const WORK: Duration = Duration::from_secs(3);

/// Serves at a port of this machine; where none is named, at the usual one or, if that is taken, any other.
pub(crate) fn serve(
    place: AppContext,
    prices: Prices,
    demo: bool,
    listing: Option<SessionList>,
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
    let served = runtime.block_on(async {
        let stopped = stopped()?;
        let listener = listen(port).await?;
        let gate = Auth::new(listener.local_addr()?.port());
        announce(&gate)?;
        let server = Arc::new(Server {
            place,
            prices,
            gate,
            readings: SessionViewCache::default(),
            shelf: SessionListCache::holding(listing),
            queue: Arc::default(),
            patient: tokio::sync::Mutex::default(),
            stacks: SnapshotCache::default(),
            answers: SearchCache::default(),
            figures: FigureCache::default(),
            indexing: SingleFlight::default(),
            exports: Arc::new(tokio::sync::Semaphore::new(EXPORTS)),
            demo,
        });
        let (tell, told) = tokio::sync::oneshot::channel::<()>();
        let serving = axum::serve(listener, router(server)).with_graceful_shutdown(async {
            // That nobody can tell any more means the same.
            let _ = told.await;
        });
        tokio::select! {
            done = serving => done,
            () = async {
                stopped.await;
                let _ = tell.send(());
                tokio::time::sleep(GRACE).await;
            } => Ok(()),
        }
    });
    runtime.shutdown_timeout(WORK);
    served
}

/// So many sessions are exported at a time.
const EXPORTS: usize = 2;

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

/// Ends when the user presses Ctrl-C, or the system asks to stop.
#[cfg(unix)]
fn stopped() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut pressed, mut asked) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    Ok(async move {
        tokio::select! {
            _ = pressed.recv() => {}
            _ = asked.recv() => {}
        }
    })
}

/// Ends when the user presses Ctrl-C.
#[cfg(not(unix))]
fn stopped() -> io::Result<impl Future<Output = ()>> {
    Ok(async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    })
}
