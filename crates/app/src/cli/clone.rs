//! `rethread clone`: makes a smaller copy of a session.

use std::path::PathBuf;

use rethread_engine::core::trim::{ContentKind, TrimOptions, TrimPreset};
use rethread_engine::ops;
use rethread_engine::ops::TrimmedCopy;
use rethread_engine::ops::clone::CloneRequest;

use super::args::name_parser;
use super::error::{CliError, Exit};
use super::number::parse_amount;
use super::out::Out;
use super::{AppContext, trimmed, write_report};
use crate::json;

/// Make a smaller copy of a session
///
/// Creates a new session with less content. The original is not changed. By default, data of the client itself and large
/// tool results older than ten turns are omitted. Tool calls and results are kept or omitted in pairs. Thinking is kept
/// unchanged or omitted. A short text replaces each omitted result or image and names its line in the original. rethread
/// verifies before and after writing what each client will load. The first answer in a copy costs more than usual, because
/// none of it is cached.
///
/// Presets: `light` omits progress, file snapshots, attachments without text for the model, reads that are repeated later,
/// and tool results over 4 kB that are older than ten turns. Without the snapshots, a rewind in the copy cannot restore
/// files. `lighter` also omits thinking, images and all tool results older than two turns. `bare` omits everything but
/// prompts and answers. `whole` omits nothing and also copies the other branches, unless --branch selects one. Options add
/// to a preset; options without a preset omit what they name, the other branches and the client's own records.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread clone last                                  preset `light`\n  \
    rethread clone last --preset bare --dry-run          show what would be omitted\n  \
    rethread clone 3f2a --drop images --drop thinking\n  \
    rethread clone 3f2a --tool-results-over 4kB --older-than-turns 20\n  \
    rethread clone 3f2a --branch L118 --keep-last 5\n  \
    rethread clone 3f2a --preset whole --into ~/other-project")]
pub(crate) struct Args {
    /// Session to copy
    pub(crate) session: String,
    /// How much to omit: light, lighter, bare or whole
    #[arg(short, long, value_name = "PRESET", hide_possible_values = true)]
    #[arg(value_parser = name_parser(&TrimPreset::ALL, TrimPreset::name))]
    pub(crate) preset: Option<TrimPreset>,
    /// Omit thinking, tools, tool-results, images, snapshots, progress, attachments or api-log (repeatable)
    #[arg(long, value_name = "CONTENT", hide_possible_values = true, value_delimiter = ',')]
    #[arg(value_parser = name_parser(&ContentKind::ALL, ContentKind::name))]
    pub(crate) drop: Vec<ContentKind>,
    /// Keep only the last N turns
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) keep_last: Option<u32>,
    /// Omit tool results larger than this: 4kB, 100000
    #[arg(long, value_name = "SIZE")]
    pub(crate) tool_results_over: Option<String>,
    /// Leave the last N turns unchanged
    #[arg(long, value_name = "N")]
    pub(crate) older_than_turns: Option<u32>,
    /// Omit results of reads that are repeated later
    #[arg(long)]
    pub(crate) dedupe_reads: bool,
    /// Copy the branch with this entry: uuid, L118 (line) or t9 (turn)
    #[arg(long, value_name = "ENTRY")]
    pub(crate) branch: Option<String>,
    /// Create the copy in the project of this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) into: Option<PathBuf>,
    /// Title of the copy
    #[arg(long, value_name = "TITLE")]
    pub(crate) title: Option<String>,
    /// Show what would be omitted, and create nothing
    #[arg(short = 'd', long)]
    pub(crate) dry_run: bool,
}

/// Runs `rethread clone`: creates a trimmed copy, and prints what it omits and how to resume it.
pub(crate) fn run(args: &Args, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let (trim, copy_name) = build_trim_options(args)?;
    let request = CloneRequest {
        path: app.find_session_to_copy(&args.session)?,
        branch: args.branch.clone(),
        trim,
        title_suffix: copy_name.to_owned(),
        title: args.title.clone(),
        project_folder: args.into.clone(),
        roots: app.roots.clone(),
        now: write_report::now(&app.clock),
        dry_run: args.dry_run,
    };
    let copy = ops::clone::clone(&request, &app.writer)?;
    if out.is_json() {
        out.json(&json::build_trimmed_copy("clone", &copy))?;
    } else {
        print(&copy, app, out)?;
    }
    Ok(Exit::Done)
}

fn print(copy: &TrimmedCopy, app: &AppContext, out: &mut Out) -> Result<(), CliError> {
    super::print_header(&copy.session.origin, app, out)?;
    trimmed::build_table(copy).print(out)?;
    trimmed::print_changes(copy, out)?;
    out.line("")?;
    super::fork::print_new_session(&copy.session, app, out)
}

/// Builds the trim options from the preset and the arguments. Also returns a title suffix for the copy.
///
/// The default preset is `light`, or `whole` if any option other than an age limit is given. Returns an error if a size
/// cannot be parsed.
fn build_trim_options(args: &Args) -> Result<(TrimOptions, &'static str), CliError> {
    let has_options = !args.drop.is_empty()
        || args.keep_last.is_some()
        || args.tool_results_over.is_some()
        || args.older_than_turns.is_some()
        || args.dedupe_reads;
    // An age limit alone applies to the `light` preset.
    let has_only_age = has_options
        && args.drop.is_empty()
        && args.keep_last.is_none()
        && args.tool_results_over.is_none()
        && !args.dedupe_reads;
    let preset = args.preset.unwrap_or(if has_options && !has_only_age {
        TrimPreset::Whole
    } else {
        TrimPreset::Light
    });
    let mut trim = preset.options();
    for &content in &args.drop {
        trim.add_kind(content);
    }
    trim.keep_last = args.keep_last.or(trim.keep_last);
    trim.results_over =
        args.tool_results_over.as_deref().map(parse_amount).transpose()?.or(trim.results_over);
    trim.older_than = args.older_than_turns.or(trim.older_than);
    trim.dedupe_reads |= args.dedupe_reads;
    let copy_name = preset.copy_name(&trim);
    Ok((trim, copy_name))
}
