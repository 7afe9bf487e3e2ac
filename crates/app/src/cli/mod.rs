//! The command line: parses arguments, calls one operation, prints the result, exits.
//!
//! Data is written to stdout, everything else to stderr, both only through [`out::Out`]. Session text is always passed
//! through [`clean`]. Rules of the domain belong in the engine (**frontends-agree**).

mod agents;
mod archive;
mod args;
mod branches;
mod call;
mod clone;
mod completion;
mod config;
mod context;
mod deleted;
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
mod hook;
mod index;
mod install;
mod lake;
mod log;
mod ls;
mod man;
mod number;
mod out;
mod output_path;
mod overview;
mod pager;
mod picker;
mod prices;
mod progress;
mod ps;
#[cfg(test)]
mod reference;
mod rename;
mod reopen;
mod repair;
mod rescue;
mod restore;
mod rich;
mod rm;
mod schema;
mod search;
mod secrets;
mod serve;
mod show;
mod sql;
mod stats;
mod statusline;
mod style;
mod table;
mod tools;
mod totals;
mod tree;
mod trimmed;
mod turn_printer;
mod turn_range;
mod undo;
mod usage;
mod write_report;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use rethread_engine::{ArchiveScope, CacheDir, Roots, SessionWriter, ops};

use self::args::{Args, Command};
use self::error::{CliError, Exit};
use self::export::convert_save_error;
use self::out::{Out, OutputOptions};

use crate::config::{Config, Origin, load_config};
use crate::context::AppContext;
use crate::demo::DemoStore;
use crate::env;
use crate::text::error::NO_SESSIONS_HINT;
use crate::text::time::Clock;
use crate::text::{clean, command, entry, figures, layout, summary, time};

/// Prints that there are no sessions, which folders were searched, and what to do.
fn print_no_sessions(app: &AppContext, out: &mut Out) {
    print_searched_folders(app, out);
    error::print_hint(NO_SESSIONS_HINT, out);
}

/// Prints which folders contain no sessions.
fn print_searched_folders(app: &AppContext, out: &mut Out) {
    let mut searched: Vec<PathBuf> = app.roots.paths.clone();
    if searched.is_empty() {
        match env::claude_dir() {
            Some(claude) => searched.push(claude),
            None => out.note("no home folder is set; use --root to name a folder"),
        }
    }
    for path in searched {
        out.note(&format!("no sessions found in `{}`", clean::line(&path.display().to_string())));
    }
}

/// Parses the command line, runs the command and returns the exit code of the process.
pub(crate) fn run() -> ExitCode {
    if let Some(code) = completion::complete_for_shell() {
        return code;
    }
    let args = args::parse_command_line();
    let clock = Clock::now_here();
    let (settings, report) = load_config(&args.global_options(), &clock);
    style::set_palette(settings.palette.clone());
    let mut out = Out::new(OutputOptions {
        json: args.json,
        color: settings.color.value,
        pager: !args.no_pager,
        quiet: args.quiet,
    });
    set_suggested_options(&args);
    if matches!(args.command, Some(Command::Hook(_))) {
        // The client would show a failure to the user.
        let _ = dispatch(&args, &settings, &clock, &mut out);
        let _ = out.flush();
        return ExitCode::SUCCESS;
    }
    let result = match &args.command {
        Some(Command::Completions(completions)) => completion::print_script(completions.shell, &mut out),
        Some(Command::Man(man)) => man::run(man, &mut out),
        Some(Command::Config(config)) => config::run(config.command, &settings, &report, &mut out),
        _ => config::check_before_command(&args, &settings, &report, &mut out)
            .and_then(|()| dispatch(&args, &settings, &clock, &mut out)),
    };
    error::finish(result, &mut out)
}

/// Creates the context of the command and runs it. With `--demo`, the context refers to the demo store.
fn dispatch(args: &Args, settings: &Config, clock: &Clock, out: &mut Out) -> Result<Exit, CliError> {
    let clock = settings.clock(clock);
    let demo = if args.demo { Some(open_demo(&clock, args.reset)?) } else { None };
    let state = demo.as_ref().map(DemoStore::state_dir).or_else(env::state_dir);
    let archive_dir = find_archive_dir(demo.as_ref());
    let roots = find_roots(settings, demo.as_ref(), archive_dir.as_deref())?;
    // The demo store is small and may be reset, so it is not cached.
    let cache = env::cache_dir().filter(|_| !args.no_index && !args.demo);
    let app = AppContext {
        roots,
        clock,
        home: env::home_dir(),
        writer: open_writer(state),
        cache: cache.map(CacheDir::new),
        is_demo: args.demo,
        archive_dir,
        excluded_dirs: settings.archive_exclude.value.clone(),
        resume: settings.resume_command.value.clone(),
        prices: settings.prices.value.clone(),
    };
    if !args.quiet
        && !matches!(
            args.command,
            Some(Command::Serve(_) | Command::Statusline(_) | Command::Mcp(_) | Command::Hook(_))
        )
    {
        progress::show_long_work();
    }
    match &args.command {
        None => overview::run(app, settings, out),
        Some(Command::Serve(serve)) => serve::run(serve, app, settings, out),
        Some(Command::Ps(_)) => ps::run(&app, out),
        Some(Command::Reopen(reopen)) => reopen::run(reopen, &app, out),
        Some(Command::Mcp(_)) => crate::mcp::serve(app).map(|()| Exit::Done).map_err(CliError::Io),
        Some(Command::Install(install)) => install::run(install, &app, out),
        Some(Command::Hook(hook)) => {
            hook::run(hook, &app, out);
            Ok(Exit::Done)
        }
        Some(Command::Ls(ls)) => ls::run(ls, &app, settings, out),
        Some(Command::Show(show)) => show::run(show, &app, out),
        Some(Command::Explain(explain)) => explain::run(explain, &app, out),
        Some(Command::Export(export)) => export::run(export, &app, settings, out),
        Some(Command::Search(search)) => search::run(search, &app, out),
        Some(Command::Index(index)) => index::run(index, &app, out),
        Some(Command::Find(find)) => find::run(find, &app, out),
        Some(Command::Goto(goto)) => goto::run(goto, &app, out),
        Some(Command::Fork(fork)) => fork::run(fork, &app, out),
        Some(Command::Clone(clone)) => clone::run(clone, &app, out),
        Some(Command::Rescue(rescue)) => rescue::run(rescue, &app, out),
        Some(Command::Diff(diff)) => diff::run(diff, &app, out),
        Some(Command::Doctor(doctor)) => doctor::run(doctor, &app, out),
        Some(Command::Archive(archive)) => archive::run(archive, &app, out),
        Some(Command::Lake(lake)) => lake::run(lake, &app, out),
        Some(Command::Repair(repair)) => repair::run(repair, &app, out),
        Some(Command::Usage(usage)) => usage::run(usage, &app, out),
        Some(Command::Statusline(statusline)) => statusline::run(statusline, &app, settings, out),
        Some(Command::Stats(stats)) => stats::run(stats, &app, out),
        Some(Command::Sql(sql)) => sql::run(sql, &app, out),
        Some(Command::Tools(tools)) => tools::run(tools, &app, out),
        Some(Command::Branches(branches)) => branches::run(branches, &app, out),
        Some(Command::Tree(tree)) => tree::run(tree, &app, out),
        Some(Command::Agents(agents)) => agents::run(agents, &app, out),
        Some(Command::Context(context)) => context::run(context, &app, out),
        Some(Command::Schema(schema)) => schema::run(schema, &app, out),
        Some(Command::Secrets(secrets)) => secrets::run(secrets, &app, out),
        Some(Command::Rename(rename)) => rename::run(rename, &app, out),
        Some(Command::Rm(rm)) => rm::run(rm, &app, out),
        Some(Command::Restore(restore)) => restore::run(restore, &app, out),
        Some(Command::Log(log)) => log::run(log, &app, out),
        Some(Command::Undo(undo)) => undo::run(undo, &app, out),
        Some(Command::Completions(_) | Command::Man(_) | Command::Config(_)) => Ok(Exit::Done),
    }
}

/// Makes suggested commands repeat `--demo` and `--root`. The web server suggests them for terminals in any folder.
fn set_suggested_options(args: &Args) {
    let mut roots = args.root.clone();
    if matches!(args.command, Some(Command::Serve(_))) {
        for root in &mut roots {
            *root = std::path::absolute(&root).unwrap_or_else(|_| root.clone());
        }
    }
    command::set_global_options(&roots, args.config.as_deref(), args.demo);
}

/// Opens the demo store of the user, or creates it anew if `is_reset` is set.
fn open_demo(clock: &Clock, is_reset: bool) -> Result<DemoStore, CliError> {
    DemoStore::open(env::state_dir().as_deref(), clock.now(), is_reset).map_err(|error| match error.kind() {
        std::io::ErrorKind::ResourceBusy => CliError::DemoInUse,
        _ => CliError::Io(error),
    })
}

/// Opens the demo store for a user without sessions. Suggested commands get `--demo` from now on.
fn open_demo_instead(app: AppContext) -> Result<(DemoStore, AppContext), CliError> {
    let store = open_demo(&app.clock, false)?;
    command::set_global_options(&[], None, true);
    let app = AppContext {
        roots: Roots::new(vec![store.root()]),
        writer: SessionWriter::new(store.state_dir()),
        archive_dir: Some(store.state_dir().join("archive")),
        cache: None,
        is_demo: true,
        ..app
    };
    Ok((store, app))
}

/// Opens the writer in the state folder, or a read-only writer if there is none.
///
/// In debug builds, tests inject faults and hide other processes by the environment.
fn open_writer(state: Option<PathBuf>) -> SessionWriter {
    let writer = state.map_or_else(SessionWriter::read_only, SessionWriter::new);
    #[cfg(debug_assertions)]
    let writer = {
        env::injected_fault().inspect(|fault| assert!(rethread_engine::inject_fault(fault), "{fault}"));
        if env::hides_processes() {
            writer.with_process_table(Box::new(rethread_engine::UnknownProcesses))
        } else {
            writer
        }
    };
    writer
}

/// Prints the title of a session, its id and folder, and an empty line.
fn print_header(header: &ops::SessionHeader, app: &AppContext, out: &mut Out) -> Result<(), CliError> {
    let title = table::truncate_to_width(&clean::line(&header.title.text), out.width());
    out.line(&style::paint(style::STRONG, &title))?;
    let folder = app.format_path(&header.folder);
    let id = clean::line(&header.id);
    out.line(&format!("{}  {}", style::paint(style::NAME, &id), style::paint(style::QUIET, &folder)))?;
    out.line("")
}

/// Returns the folder of the archive: that of the demo store, or that of the user. Returns `None` without a home folder.
fn find_archive_dir(demo: Option<&DemoStore>) -> Option<PathBuf> {
    demo.map(|demo| demo.state_dir().join("archive")).or_else(archive::default_dir)
}

/// Returns the folders to search, and the archive: the folder of the demo store, or the configured ones that exist.
///
/// Returns an error if a folder that the command line names does not exist.
fn find_roots(
    settings: &Config,
    demo: Option<&DemoStore>,
    archive_dir: Option<&Path>,
) -> Result<Roots, CliError> {
    let roots = &settings.roots;
    let is_named = matches!(roots.origin, Origin::CommandLine(_));
    let archive = archive_dir.map(|dir| ArchiveScope {
        dir: dir.to_owned(),
        all_places: !is_named && demo.is_none(),
        kept: settings.kept.value.to_filter(),
    });
    if let Some(demo) = demo {
        return Ok(Roots { paths: vec![demo.root()], archive });
    }
    let missing = roots.value.iter().find(|path| !path.exists());
    match missing.filter(|_| is_named) {
        Some(missing) => Err(CliError::MissingRoot(missing.clone())),
        // Without a home folder there are no roots, but a session can still be named by its path.
        None => {
            Ok(Roots { paths: roots.value.iter().filter(|path| path.exists()).cloned().collect(), archive })
        }
    }
}
