//! Completion for shells: the script that registers it, and the candidates that the script asks for.
//!
//! The words of the command line are parsed leniently, so that candidates come from the named folders, and turns from the
//! named session. A candidate is inserted into a command line: it consists of letters, digits and harmless punctuation.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{ArgMatches, CommandFactory};
use clap_complete::CompleteEnv;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::Shells;
use rethread_engine::ops::list::{SessionFilter, SessionList, list_sessions};
use rethread_engine::ops::read::BranchSelector;
use rethread_engine::ops::show::{ShowRequest, show_session};
use rethread_engine::{CacheDir, Roots, ops};

use super::args::Args;
use super::error::{CliError, Exit};
use super::figures::count_noun;
use super::out::Out;
use super::{clean, find_archive_dir, find_roots, ls};
use crate::config::{Color, Config, GlobalOptions, load_config};
use crate::demo::DemoStore;
use crate::env;
use crate::text::layout::truncate_to_width;
use crate::text::time::Clock;

/// The variable that selects the shell. The script sets it.
const SHELL_VARIABLE: &str = "COMPLETE";
/// The maximum number of sessions that are offered.
const MAX_SESSIONS: usize = 50;
/// The maximum width of the title or prompt next to a candidate.
const MAX_HELP_WIDTH: usize = 60;
/// Parts of model names, which `--model` takes.
const MODELS: [&str; 4] = ["opus", "sonnet", "haiku", "fable"];
/// Examples of times.
const TIMES: [&str; 7] = ["today", "yesterday", "monday", "12h", "7d", "2w", "90d"];

/// Prints candidates if a completion script runs the program. Returns `None` if the program must run a command instead.
pub(crate) fn complete_for_shell() -> Option<ExitCode> {
    if !env::asks_for_completion() {
        return None;
    }
    let words: Vec<OsString> = std::env::args_os().collect();
    let request = Arc::new(CompletionRequest::new(&words));
    let factory = || add_completers(Args::command(), &request);
    let completion =
        CompleteEnv::with_factory(factory).var(SHELL_VARIABLE).bin("rethread").completer("rethread");
    match completion.try_complete(words, std::env::current_dir().ok().as_deref()) {
        Ok(true) => Some(ExitCode::SUCCESS),
        Ok(false) => None,
        Err(error) => {
            let _ = writeln!(io::stderr(), "{}", clean::line(&error.to_string()));
            Some(ExitCode::from(2))
        }
    }
}

/// Prints the script that registers the completion in a shell.
pub(crate) fn print_script(shell: clap_complete::Shell, out: &mut Out) -> Result<Exit, CliError> {
    let mut script = Vec::new();
    let completer = Shells::builtins();
    if let Some(completer) = completer.completer(&shell.to_string()) {
        completer.write_registration(SHELL_VARIABLE, "rethread", "rethread", "rethread", &mut script)?;
    }
    out.bytes(&script)?;
    Ok(Exit::Done)
}

/// The command line that is being completed, up to the word at the cursor.
struct CompletionRequest {
    matches: Option<ArgMatches>,
}

impl CompletionRequest {
    /// Parses the words after `--`. Words that are not valid arguments are ignored.
    fn new(words: &[OsString]) -> CompletionRequest {
        let start = words.iter().position(|word| word == "--").map_or(words.len(), |idx| idx + 1);
        let words = &words[start..];
        let current = env::completed_word().unwrap_or(words.len().saturating_sub(1));
        let before = &words[..current.min(words.len())];
        CompletionRequest { matches: Args::command().ignore_errors(true).try_get_matches_from(before).ok() }
    }

    /// Returns the values of an argument, of the command or of the program.
    fn values<T: Clone + Send + Sync + 'static>(&self, name: &str) -> Vec<T> {
        let program = self.matches.as_ref();
        let command = program.and_then(ArgMatches::subcommand).map(|(_, matches)| matches);
        let read = |matches: &ArgMatches| -> Vec<T> {
            let values = matches.try_get_many::<T>(name).ok().flatten();
            values.map(|values| values.cloned().collect()).unwrap_or_default()
        };
        let values = command.map(read).filter(|values| !values.is_empty());
        values.or_else(|| program.map(read)).unwrap_or_default()
    }

    /// Opens the store that the command line names.
    fn open_store(&self) -> Option<CompletionStore> {
        let options = GlobalOptions {
            config: self.values::<PathBuf>("config").pop(),
            roots: self.values("root"),
            color: Some(Color::Never),
            kept: self.values("kept").pop(),
        };
        let clock = Clock::now_here();
        let (settings, _) = load_config(&options, &clock);
        let is_demo = self.values::<bool>("demo").contains(&true);
        let demo = if is_demo {
            Some(DemoStore::open(env::state_dir().as_deref(), clock.now(), false).ok()?)
        } else {
            None
        };
        let archive_dir = find_archive_dir(demo.as_ref());
        let roots = find_roots(&settings, demo.as_ref(), archive_dir.as_deref()).ok()?;
        let cache = env::cache_dir().filter(|_| !is_demo).map(CacheDir::new);
        Some(CompletionStore { roots, cache, clock, settings, _demo: demo })
    }

    /// Returns the session that the command line names before the current word.
    fn session_name(&self) -> Option<String> {
        let named = self.values::<String>("session").into_iter().next();
        named.or_else(|| self.values::<String>("branch").into_iter().next())
    }

    /// Offers sessions whose id begins with the typed text, or if there are none, whose title contains its words.
    fn complete_sessions(&self, typed: &str) -> Vec<CompletionCandidate> {
        let Some(store) = self.open_store() else { return Vec::new() };
        let listing = store.list();
        let ids: Vec<&str> = listing.rows.iter().map(|row| row.id.as_str()).collect();
        let lower = typed.to_lowercase();
        let mut candidates = Vec::new();
        if "last".starts_with(&lower) && !ids.is_empty() {
            candidates.push(new_candidate("last", "the newest session"));
        }
        // Titles are a fallback: a shell inserts what all candidates have in common.
        let is_id = listing.rows.iter().any(|row| row.id.starts_with(&lower) && is_harmless(&row.id));
        for row in &listing.rows {
            let title = clean::line(&row.title.text);
            let has_id = row.id.starts_with(&lower);
            let has_words = || {
                let title = title.to_lowercase();
                !is_id && lower.split_whitespace().all(|word| title.contains(word))
            };
            if !is_harmless(&row.id) || !(has_id || has_words()) {
                continue;
            }
            let short = ls::shorten_id(&row.id, &ids);
            // A candidate that is shorter than the typed text would delete a part of it.
            let value = if has_id && short.len() < lower.len() { &row.id } else { short };
            let age = store.settings.clock(&store.clock).format_age(row.info.last_time);
            candidates.push(new_candidate(value, &format!("{age}  {title}")));
            if candidates.len() > MAX_SESSIONS {
                break;
            }
        }
        candidates
    }

    /// Offers the turns of the named session with their prompts. `prefix` precedes the number.
    fn complete_turns(&self, typed: &str, prefix: &str) -> Vec<CompletionCandidate> {
        let session = self.session_name().zip(self.open_store());
        let path = session.and_then(|(name, store)| {
            // A session of the demo store is deleted with the store, so it is read at once.
            let path = ops::resolve::find_session(&store.roots, &name, store.cache.as_ref()).ok()?;
            let request = ShowRequest { path, branch: BranchSelector::AllTurns, ..ShowRequest::default() };
            Some((show_session(&request).ok()?, store))
        });
        let Some((turns, _store)) = path else { return Vec::new() };
        let mut candidates = Vec::new();
        for turn in turns.filter_map(Result::ok) {
            let Some(number) = turn.number else { continue };
            let value = format!("{prefix}{number}");
            if value.starts_with(typed) {
                candidates
                    .push(new_candidate(&value, turn.turn.prompt.as_ref().map_or("", |prompt| &prompt.text)));
            }
        }
        candidates
    }

    /// Offers the names of project folders.
    fn complete_projects(&self, typed: &str) -> Vec<CompletionCandidate> {
        let Some(store) = self.open_store() else { return Vec::new() };
        let lower = typed.to_lowercase();
        let mut candidates: Vec<CompletionCandidate> = Vec::new();
        for project in store.list().projects() {
            let name = ls::folder_name(&project.path);
            let is_offered = candidates.iter().any(|candidate| candidate.get_value() == OsStr::new(&name));
            if is_harmless(&name) && name.to_lowercase().starts_with(&lower) && !is_offered {
                let sessions = count_noun(project.sessions as u64, "session");
                candidates.push(new_candidate(&name, &sessions));
            }
        }
        candidates
    }
}

/// The store that the candidates come from.
struct CompletionStore {
    roots: Roots,
    cache: Option<CacheDir>,
    clock: Clock,
    settings: Config,
    /// Keeps the demo sessions on disk.
    _demo: Option<DemoStore>,
}

impl CompletionStore {
    /// Lists the sessions, newest first.
    fn list(&self) -> SessionList {
        list_sessions(&self.roots, &SessionFilter::default(), self.cache.as_ref())
    }
}

/// Creates a candidate with a cleaned description.
fn new_candidate(value: &str, help: &str) -> CompletionCandidate {
    let help = truncate_to_width(&clean::line(help), MAX_HELP_WIDTH);
    let help = Some(help).filter(|help| !help.is_empty());
    CompletionCandidate::new(value).help(help.map(Into::into))
}

/// Returns `true` if a shell reads a name as one word and not as an option, without quotes.
fn is_harmless(name: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    !name.is_empty() && !name.starts_with('-') && name.chars().all(is_plain)
}

/// Offers the names that begin with the typed text.
fn complete_names(names: &[&'static str], typed: &str) -> Vec<CompletionCandidate> {
    names.iter().filter(|name| name.starts_with(typed)).map(CompletionCandidate::new).collect()
}

/// Adds the completers to the arguments of all commands.
fn add_completers(command: clap::Command, request: &Arc<CompletionRequest>) -> clap::Command {
    let add = |arg: clap::Arg| add_completer(arg, request);
    let names: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    let with_commands =
        |command: clap::Command, name: &String| command.mut_subcommand(name, |sub| sub.mut_args(add));
    names.iter().fold(command, with_commands)
}

/// Returns the candidates for a typed text.
type Completer = Box<dyn Fn(&str) -> Vec<CompletionCandidate> + Send + Sync>;

/// Adds a completer to an argument, by its name.
fn add_completer(arg: clap::Arg, request: &Arc<CompletionRequest>) -> clap::Arg {
    let request = Arc::clone(request);
    let is_positional = arg.get_long().is_none();
    let complete: Completer = match arg.get_id().as_str() {
        "session" if is_positional => Box::new(move |typed| request.complete_sessions(typed)),
        // Each word of `diff` is a session, or an entry of the first one.
        "branch" if is_positional => Box::new(move |typed| {
            let turns = request.complete_turns(typed, "t");
            let sessions = if typed.is_empty() || turns.is_empty() {
                request.complete_sessions(typed)
            } else {
                Vec::new()
            };
            turns.into_iter().chain(sessions).collect()
        }),
        "target" | "around" | "leaf" | "branch" => Box::new(move |typed| request.complete_turns(typed, "t")),
        "turns" if !is_positional => Box::new(move |typed| request.complete_turns(typed, "")),
        "project" => Box::new(move |typed| request.complete_projects(typed)),
        "model" => Box::new(|typed| complete_names(&MODELS, typed)),
        "since" | "until" | "older_than" => Box::new(|typed| complete_names(&TIMES, typed)),
        _ => return arg,
    };
    arg.add(ArgValueCompleter::new(move |typed: &OsStr| complete(&typed.to_string_lossy())))
}
