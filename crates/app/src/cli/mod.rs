//! The command line: parse, call one op, draw, exit.
//!
//! Data goes to stdout, all else to stderr, both only through [`out::Out`]; text of a session only through
//! [`clean`]. No rule of the domain lives here (**four-faces-one-voice**).

mod agents;
mod args;
mod branches;
mod call;
mod clone;
mod context;
mod diff;
mod doctor;
mod effects;
mod error;
mod explain;
mod export;
mod facts;
mod find;
mod fork;
mod goto;
mod index;
mod log;
mod ls;
mod number;
mod out;
mod overview;
mod pager;
mod progress;
#[cfg(test)]
mod reference;
mod rename;
mod repair;
mod rescue;
mod restore;
mod rm;
mod schema;
pub(crate) mod search;
mod serve;
mod show;
mod stats;
mod statusline;
mod style;
mod table;
mod tools;
mod totals;
mod tree;
mod trimmed;
mod turn_printer;
mod undo;
mod usage;
mod write_report;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::CommandFactory;
use rethread_engine::{CacheDir, Roots, SessionWriter, ops};

use self::args::{Args, Command};
use self::error::{CliError, Exit};
use self::out::{Out, OutputOptions};

use crate::context::AppContext;
use crate::demo::Demo;
use crate::env;
use crate::text::time::Clock;
use crate::text::{clean, entry, figures, layout, summary, time};

/// Says that there is no session, and where it looked.
fn say_nothing_found(place: &AppContext, out: &mut Out) {
    let mut looked: Vec<PathBuf> = place.roots.paths.clone();
    if looked.is_empty() {
        match env::claude() {
            Some(claude) => looked.push(claude),
            None => out.note("no home folder is set: say where to look with --root"),
        }
    }
    for path in looked {
        out.note(&format!("no session found in `{}`", clean::line(&path.display().to_string())));
    }
}

/// Runs the program.
pub(crate) fn run() -> ExitCode {
    let args = args::read();
    let mut out = Out::new(OutputOptions { json: args.json, color: args.color, pager: !args.no_pager });
    let ended = dispatch(&args, &mut out);
    error::end(ended, &mut out)
}

fn dispatch(args: &Args, out: &mut Out) -> Result<Exit, CliError> {
    if let Some(Command::Completions { shell }) = &args.command {
        let mut script = Vec::new();
        clap_complete::generate(*shell, &mut Args::command(), "rethread", &mut script);
        return out.line(String::from_utf8_lossy(&script).trim_end()).map(|()| Exit::Done);
    }
    let clock = Clock::look();
    let demo = if args.demo { Some(Demo::make(clock.now())?) } else { None };
    let roots = match &demo {
        Some(demo) => Roots { paths: vec![demo.root()] },
        None => roots(&args.root)?,
    };
    let state = demo.as_ref().map_or_else(|| env::state().unwrap_or_default(), Demo::state);
    // Invented sessions are gone before anybody could ask for them again.
    let cache = env::cache().filter(|_| !args.no_index && !args.demo);
    let place =
        AppContext { roots, clock, home: env::home(), pen: pen(state), index: cache.map(CacheDir::at) };
    match &args.command {
        None => overview::run(&place, args.demo, out),
        Some(Command::Serve(serve)) => serve::run(serve, place, args.demo, out),
        Some(Command::Ls(ls)) => ls::run(ls, &place, out),
        Some(Command::Show(show)) => show::run(show, &place, out),
        Some(Command::Explain(explain)) => explain::run(explain, &place, out),
        Some(Command::Export(export)) => export::run(export, &place, out),
        Some(Command::Search(search)) => search::run(search, &place, out),
        Some(Command::Index(index)) => index::run(index, &place, out),
        Some(Command::Find(find)) => find::run(find, &place, out),
        Some(Command::Goto(goto)) => goto::run(goto, &place, out),
        Some(Command::Branch(branch)) => goto::run_branch(branch, &place, out),
        Some(Command::Fork(fork)) => fork::run(fork, &place, out),
        Some(Command::Clone(clone)) => clone::run(clone, &place, out),
        Some(Command::Rescue(rescue)) => rescue::run(rescue, &place, out),
        Some(Command::Diff(diff)) => diff::run(diff, &place, out),
        Some(Command::Doctor(doctor)) => doctor::run(doctor, &place, out),
        Some(Command::Repair(repair)) => repair::run(repair, &place, out),
        Some(Command::Usage(usage)) => usage::run(usage, &place, out),
        Some(Command::Statusline(statusline)) => statusline::run(statusline, &place, out),
        Some(Command::Stats(stats)) => stats::run(stats, &place, out),
        Some(Command::Tools(tools)) => tools::run(tools, &place, out),
        Some(Command::Branches(branches)) => branches::run(branches, &place, out),
        Some(Command::Tree(tree)) => tree::run(tree, &place, out),
        Some(Command::Agents(agents)) => agents::run(agents, &place, out),
        Some(Command::Context(context)) => context::run(context, &place, out),
        Some(Command::Schema(schema)) => schema::run(schema, &place, out),
        Some(Command::Rename(rename)) => rename::run(rename, &place, out),
        Some(Command::Rm(rm)) => rm::run(rm, &place, out),
        Some(Command::Restore(restore)) => restore::run(restore, &place, out),
        Some(Command::Log(log)) => log::run(log, &place, out),
        Some(Command::Undo(undo)) => undo::run(undo, &place, out),
        Some(Command::Completions { .. }) => Ok(Exit::Done),
    }
}

/// Takes the pen; one that is not for users breaks off where the environment says.
fn pen(state: PathBuf) -> SessionWriter {
    let pen = SessionWriter::new(state);
    #[cfg(debug_assertions)]
    let pen = pen.with_fail_point(env::stop_after());
    pen
}

/// Prints title and id of a session.
fn header(head: &ops::SessionHeader, place: &AppContext, out: &mut Out) -> Result<(), CliError> {
    let title = table::truncate_to_width(&clean::line(&head.title.text), out.width());
    out.line(&style::paint(style::STRONG, &title))?;
    let folder = place.tilde(&head.folder);
    let id = clean::line(&head.id);
    out.line(&format!("{}  {}", style::paint(style::NAME, &id), style::paint(style::QUIET, &folder)))?;
    out.line("")
}

/// Returns where to look. A folder that was named must be there; the client's own may be missing.
fn roots(named: &[PathBuf]) -> Result<Roots, CliError> {
    if let Some(missing) = named.iter().find(|path| !path.exists()) {
        return Err(CliError::NoRoot(missing.clone()));
    }
    if !named.is_empty() {
        return Ok(Roots { paths: named.to_vec() });
    }
    // Without a home there is nowhere to look, but a session can still be named by its path.
    Ok(Roots { paths: env::claude().into_iter().filter(|claude| claude.exists()).collect() })
}
