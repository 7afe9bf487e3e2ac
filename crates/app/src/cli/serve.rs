//! `rethread serve`: the browser face.

use std::process::{Command, Stdio};

use rethread_engine::ops::{self, Filter};
use rethread_engine::{Roots, SessionWriter};

use super::args::Serve;
use super::error::{CliError, Exit};
use super::figures::things;
use super::out::Out;
use super::style::{MARK, NAME, QUIET, paint};
use super::{AppContext, say_nothing_found};
use crate::demo::Demo;
use crate::json;
use crate::{prices, web};

/// Runs the command.
pub(crate) fn run(serve: &Serve, place: AppContext, demo: bool, out: &mut Out) -> Result<Exit, CliError> {
    let prices = prices::prices(None)?;
    let all = Filter { all: true, ..Filter::default() };
    let listing = ops::list(&place.roots, &all, place.index.as_ref());
    let files = listing.files;
    // The invented sessions must stay as long as the server does.
    let invented = if files == 0 { Some(Demo::make(place.clock.now())?) } else { None };
    let place = match &invented {
        None => place,
        Some(store) => {
            say_nothing_found(&place, out);
            AppContext {
                roots: Roots { paths: vec![store.root()] },
                pen: SessionWriter::new(store.state()),
                index: None,
                ..place
            }
        }
    };
    let demo = demo || invented.is_some();
    let mut announce = |gate: &web::Auth| {
        let said = say(&gate.address(), demo, files, out);
        if serve.open {
            open(&gate.address_for_once());
        }
        said.map_err(|stop| match stop {
            CliError::Io(error) => error,
            _ => std::io::ErrorKind::Other.into(),
        })
    };
    // The first page need not look again.
    let listing = if invented.is_some() { None } else { Some(listing) };
    web::serve(place, prices, demo, listing, serve.port, &mut announce).map_err(|error| {
        match serve.port {
            Some(port) if error.kind() == std::io::ErrorKind::AddrInUse => CliError::PortTaken(port),
            _ => CliError::Io(error),
        }
    })?;
    Ok(Exit::Done)
}

fn say(address: &str, demo: bool, files: usize, out: &mut Out) -> Result<(), CliError> {
    if out.is_json() {
        out.json(&json::serving(address, demo))?;
        return out.flush();
    }
    if demo {
        out.line(&paint(MARK, "DEMO: these sessions are invented, none of them is yours"))?;
    } else {
        out.line(&format!("serving {} to this machine only", things(files as u64, "session file")))?;
    }
    out.line(&format!("  {}", paint(NAME, address)))?;
    out.line(&paint(QUIET, "the address holds the key of this run; Ctrl-C stops it"))?;
    out.flush()
}

/// Asks the system to open the address; where it cannot, the user has read it.
fn open(address: &str) {
    let (program, before): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("cmd", &["/C", "start", ""])
    } else {
        ("xdg-open", &[])
    };
    let command = Command::new(program)
        .args(before)
        .arg(address)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    drop(command);
}
