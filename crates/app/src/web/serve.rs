//! Starts the server and runs it until it is stopped.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rethread_engine::core::usage::PriceTable;
use rethread_engine::ops::list::SessionList;
use rethread_engine::{Error, SessionWriter};
use tokio::net::TcpListener;
use tokio::time::timeout;

use super::auth::Auth;
use super::connections::{Connection, LimitedListener};
use super::index_update::{self, IndexUpdate};
use super::keys::AccessKeys;
use super::one_time_code::{LIFETIME, OneTimeCode};
use super::pages::figures::FigureCache;
use super::routes::build_router;
use super::search::SearchCache;
use super::server::Server;
use super::session_list::SessionListCache;
use super::sign_in_page::SignInPage;
use super::snapshot_cache::SnapshotCache;
use super::view_cache::SessionViewCache;
use crate::context::AppContext;

/// Something that the user should know.
pub(crate) enum ServerEvent<'a> {
    /// The key could not be kept for the next start.
    KeyNotKept(&'a Error),
    /// The server is about to accept requests.
    Started {
        /// The address with the key.
        address: &'a str,
        /// The page with which to start a browser. `None` if no browser was requested or the page cannot be written.
        page: Option<&'a Path>,
    },
    /// The page with which to start a browser could not be written.
    NoPage(&'a Error),
    /// The browser did not open its page in time. The value is the address with the key.
    NotOpened(&'a str),
    /// The address in the page was used a second time.
    OpenedTwice,
}

/// Reports an event to the user. The server stops if that fails.
pub(crate) type Report<'a> = &'a mut dyn FnMut(ServerEvent<'_>) -> io::Result<()>;

/// How to serve.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ServeOptions {
    /// The port. `None` for the default port, or any free one.
    pub(crate) port: Option<u16>,
    /// Whether to prepare a page with which to start a browser.
    pub(crate) open: bool,
    /// Whether to replace the key and the prefix of the addresses.
    pub(crate) new_key: bool,
    /// Whether the sessions are demo data.
    pub(crate) demo: bool,
    /// The theme of the pages, `light` or `dark`. `None` is that of the system.
    pub(crate) theme: Option<&'static str>,
    /// The theme of exported pages.
    pub(crate) export_theme: Option<&'static str>,
}

/// How long running responses may take after the server is stopped. A page that follows a session would never end.
const SHUTDOWN_GRACE: Duration = Duration::from_millis(300);
/// How long running work such as a write may take after that. Longer work is interrupted, and rolled back by the next
/// command.
const WORK_TIMEOUT: Duration = Duration::from_secs(3);

/// Serves the web UI on loopback until Ctrl-C or SIGTERM. `listing` is a list of all sessions that was read just now.
pub(crate) fn serve(
    context: AppContext,
    prices: PriceTable,
    options: ServeOptions,
    listing: Option<SessionList>,
    report: Report<'_>,
) -> io::Result<()> {
    // Responses block on the disk on separate threads. Few threads are enough and bound the memory.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_io()
        .enable_time()
        .worker_threads(2)
        .max_blocking_threads(8)
        .build()?;
    let result = runtime.block_on(async {
        let stop_signal = stop_signal()?;
        let listener = listen(options.port).await?;
        let (auth, page) = prepare_access(&context.writer, listener.local_addr()?.port(), options, report)?;
        report(ServerEvent::Started { address: &auth.address(), page: page.as_ref().map(SignInPage::path) })?;
        let server = Arc::new(Server {
            context,
            prices,
            auth,
            views: SessionViewCache::default(),
            sessions: SessionListCache::new(listing),
            queue: Arc::default(),
            unlimited_search: tokio::sync::Mutex::default(),
            snapshots: SnapshotCache::default(),
            searches: SearchCache::default(),
            figures: FigureCache::default(),
            indexing: IndexUpdate::default(),
            queries: tokio::sync::Mutex::default(),
            exports: Arc::new(tokio::sync::Semaphore::new(MAX_EXPORTS)),
            demo: options.demo,
            theme: options.theme,
            export_theme: options.export_theme,
        });
        index_update::update_in_background(&server);
        let (stop_sender, stop_receiver) = tokio::sync::oneshot::channel::<()>();
        let service = build_router(server.clone()).into_make_service_with_connect_info::<Connection>();
        let serving = axum::serve(LimitedListener::new(listener), service).with_graceful_shutdown(async {
            // A dropped sender stops the server too.
            let _ = stop_receiver.await;
        });
        tokio::select! {
            done = serving => done,
            error = watch_browser(&server.auth, page, report) => Err(error),
            () = async {
                stop_signal.await;
                let _ = stop_sender.send(());
                tokio::time::sleep(SHUTDOWN_GRACE).await;
            } => Ok(()),
        }
    });
    runtime.shutdown_timeout(WORK_TIMEOUT);
    result
}

/// Loads the keys, and writes the page for a browser if one is requested. Reports errors of both.
fn prepare_access(
    writer: &SessionWriter,
    port: u16,
    options: ServeOptions,
    report: Report<'_>,
) -> io::Result<(Auth, Option<SignInPage>)> {
    let (keys, error) = AccessKeys::load(writer, options.new_key);
    if let Some(error) = error {
        report(ServerEvent::KeyNotKept(&error))?;
    }
    let auth = Auth::new(port, keys, options.open.then(OneTimeCode::new));
    let page = match auth.one_time_address().map(|address| SignInPage::write(writer, port, &address)) {
        None => None,
        Some(Ok(page)) => Some(page),
        Some(Err(error)) => {
            report(ServerEvent::NoPage(&error))?;
            None
        }
    };
    Ok((auth, page))
}

/// Reports if a browser does not open its page in time, or if the address in it is used twice. Deletes the page when
/// its address was used or has expired. Returns the error if reporting fails, otherwise never.
async fn watch_browser(auth: &Auth, page: Option<SignInPage>, report: Report<'_>) -> io::Error {
    let (Some(code), Some(page)) = (auth.code(), page) else { return std::future::pending().await };
    if timeout(OPEN_TIMEOUT, code.wait_until_used()).await.is_err() {
        if let Err(error) = report(ServerEvent::NotOpened(&auth.address())) {
            return error;
        }
        let _ = timeout(LIFETIME.saturating_sub(OPEN_TIMEOUT), code.wait_until_used()).await;
    }
    drop(page);
    code.wait_until_reused().await;
    match report(ServerEvent::OpenedTwice) {
        Ok(()) => std::future::pending().await,
        Err(error) => error,
    }
}

/// How long a browser may take to open its page before the user is informed.
const OPEN_TIMEOUT: Duration = Duration::from_secs(3);

/// The number of exports that run at a time.
const MAX_EXPORTS: usize = 2;

/// The default port.
const DEFAULT_PORT: u16 = 7333;

/// Binds a loopback port: `port`, or the default one, or any free one if the default one is in use.
async fn listen(port: Option<u16>) -> io::Result<TcpListener> {
    let loopback = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    match port {
        Some(port) => TcpListener::bind(loopback(port)).await,
        None => match TcpListener::bind(loopback(DEFAULT_PORT)).await {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => TcpListener::bind(loopback(0)).await,
            result => result,
        },
    }
}

/// Returns a future that completes on Ctrl-C or SIGTERM. Returns an error if a signal handler cannot be installed.
#[cfg(unix)]
fn stop_signal() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

/// Returns a future that completes on Ctrl-C, or never if the handler cannot be installed. Never returns an error.
#[cfg(not(unix))]
fn stop_signal() -> io::Result<impl Future<Output = ()>> {
    Ok(async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    })
}
