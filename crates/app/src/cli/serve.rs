//! `rethread serve`: starts the web server.

use std::path::Path;
use std::process::{Command, Stdio};

use rethread_engine::ops;
use rethread_engine::ops::list::SessionFilter;

use super::args::Serve;
use super::error::{CliError, Exit, print_hint, print_warning};
use super::figures::count_noun;
use super::out::Out;
use super::prices::load_price_table;
use super::style::{MARK, NAME, QUIET, paint};
use super::{AppContext, open_demo_instead, print_searched_folders};
use crate::config::Config;
use crate::text::error::error_message;
use crate::web::{ServeOptions, ServerEvent};
use crate::{json, web};

/// Runs `rethread serve` until the user stops it. Serves the demo store if there are no sessions, unless the user named the
/// folder to read.
pub(crate) fn run(
    serve: &Serve,
    app: AppContext,
    settings: &Config,
    out: &mut Out,
) -> Result<Exit, CliError> {
    let has_named_root = settings.has_named_root();
    let prices = load_price_table(None, &app, out)?;
    let filter = SessionFilter { all: true, ..SessionFilter::default() };
    let listing = ops::list::list_sessions(&app.roots, &filter, app.cache.as_ref());
    let file_count = listing.files;
    if file_count == 0 {
        print_searched_folders(&app, out);
    }
    // The store stays locked while the server runs.
    let (demo_store, app) = match file_count == 0 && !has_named_root && !app.is_demo {
        true => open_demo_instead(app).map(|(store, app)| (Some(store), app))?,
        false => (None, app),
    };
    let is_demo = app.is_demo;
    let mut report = |event: ServerEvent<'_>| {
        let result = report_event(&event, is_demo, file_count, out);
        result.map_err(|error| match error {
            CliError::Io(error) => error,
            _ => std::io::ErrorKind::Other.into(),
        })
    };
    let options = ServeOptions {
        port: serve.port,
        open: serve.open,
        new_key: serve.new_key,
        demo: is_demo,
        theme: settings.theme.value.attribute(),
        export_theme: settings.export_theme.value.attribute(),
    };
    // The first page reuses this listing.
    let listing = if demo_store.is_some() { None } else { Some(listing) };
    web::serve(app, prices, options, listing, &mut report).map_err(|error| match serve.port {
        Some(port) if error.kind() == std::io::ErrorKind::AddrInUse => CliError::PortTaken(port),
        _ => CliError::Io(error),
    })?;
    Ok(Exit::Done)
}

/// Prints an event of the server. Starts the browser once the server is ready.
fn report_event(
    event: &ServerEvent<'_>,
    is_demo: bool,
    file_count: usize,
    out: &mut Out,
) -> Result<(), CliError> {
    match event {
        ServerEvent::KeyNotKept(error) => {
            print_warning(
                &format!("the address is valid only until the server stops: {}", error_message(error)),
                out,
            );
        }
        ServerEvent::Started { address, page } => {
            print_address(address, is_demo, file_count, out)?;
            if let Some(page) = page {
                open_browser(page);
            }
        }
        ServerEvent::NoPage(error) => {
            print_warning(&format!("cannot open the browser: {}", error_message(error)), out);
            print_hint("open the printed address", out);
        }
        ServerEvent::NotOpened(address) => {
            print_warning(
                "the browser has not opened the page; if it runs in a sandbox (snap, flatpak), it cannot read the \
                 file that leads there",
                out,
            );
            print_hint(&format!("open this address: {address}"), out);
        }
        ServerEvent::OpenedTwice => {
            print_warning(
                "the one-time address for the browser was opened twice; the second was refused",
                out,
            );
            print_hint(
                "if your browser does not show your sessions, another program was first: stop the server, and \
                 start it with --new-key",
                out,
            );
        }
    }
    Ok(())
}

/// Prints the address of the server, and whether it shows invented sessions.
fn print_address(address: &str, is_demo: bool, file_count: usize, out: &mut Out) -> Result<(), CliError> {
    if out.is_json() {
        out.json(&json::build_serve(address, is_demo))?;
        return out.flush();
    }
    if is_demo {
        out.line(&paint(MARK, "DEMO: these sessions are invented, not yours"))?;
    } else {
        out.line(&format!("serving {} to this machine only", count_noun(file_count as u64, "session file")))?;
    }
    out.line(&format!("  {}", paint(NAME, address)))?;
    out.line(&paint(QUIET, "the address contains a secret key; press Ctrl-C to stop the server"))?;
    out.flush()
}

/// Opens a page on disk in the user's browser. Ignores errors: the server reports that the page was not opened.
fn open_browser(page: &Path) {
    let (program, args): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("cmd", &["/C", "start", ""])
    } else {
        ("xdg-open", &[])
    };
    let child = Command::new(program)
        .args(args)
        .arg(page)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    drop(child);
}
