//! `rethread clone`: a lighter copy of a session.

use std::path::PathBuf;

use clap::ValueEnum;
use rethread_engine::core::trim::{ContentKind, Preset, TrimOptions};
use rethread_engine::ops::{self, CloneRequest, TrimmedCopy};

use super::error::{CliError, Exit};
use super::number::amount;
use super::out::Out;
use super::{AppContext, trimmed, write_report};
use crate::json;

/// Make a lighter copy of a session
///
/// A new session with less in it; the original is not changed. Without options it leaves out what the client keeps for
/// itself and large tool results older than ten turns. Calls and results stay paired or leave together, thinking stays as
/// it is or leaves whole, and a short text stands where a result or a picture was and names its line in the original.
/// What each client will load of the copy is checked before and after it is written. The first answer in a copy costs
/// more than usual, because nothing of it is cached.
///
/// Presets: `light` leaves out progress, snapshots of files, attachments that say nothing to the model, reads that are
/// repeated later, and tool results over 4 kB older than ten turns; `lighter` also thinking, pictures and every tool
/// result older than two turns; `bare` everything but prompts and answers; `whole` nothing. Options add to a preset;
/// options alone leave out only what they say.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread clone last                                  a light copy\n  \
    rethread clone last --preset bare --dry-run          what would go, and what that saves\n  \
    rethread clone 3f2a --drop images --drop thinking\n  \
    rethread clone 3f2a --tool-results-over 4kB --older-than-turns 20\n  \
    rethread clone 3f2a --branch L118 --keep-last 5\n  \
    rethread clone 3f2a --preset whole --into ~/other-project")]
pub(crate) struct Args {
    /// Which session
    pub(crate) session: String,
    /// How much to leave out: light, lighter, bare or whole
    #[arg(short, long, value_name = "PRESET", hide_possible_values = true)]
    pub(crate) preset: Option<PresetName>,
    /// Leave out thinking, tools, tool-results, images, snapshots, progress, attachments or api-log (repeatable)
    #[arg(long, value_name = "WHAT", hide_possible_values = true, value_delimiter = ',')]
    pub(crate) drop: Vec<WhatName>,
    /// Keep only so many of the last turns
    #[arg(long, value_name = "TURNS", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) keep_last: Option<u32>,
    /// Leave out tool results larger than this: 4kB, 100000
    #[arg(long, value_name = "SIZE")]
    pub(crate) tool_results_over: Option<String>,
    /// Leave what was said in so many of the last turns alone
    #[arg(long, value_name = "TURNS")]
    pub(crate) older_than_turns: Option<u32>,
    /// Leave out results of reads that are repeated later
    #[arg(long)]
    pub(crate) dedupe_reads: bool,
    /// Copy the branch with this entry: uuid, L118 (line) or t9 (turn)
    #[arg(long, value_name = "ENTRY")]
    pub(crate) branch: Option<String>,
    /// Put the copy into the project of this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) into: Option<PathBuf>,
    /// What to call it
    #[arg(long, value_name = "TITLE")]
    pub(crate) title: Option<String>,
    /// Show what would be left out, and make nothing
    #[arg(short = 'n', long)]
    pub(crate) dry_run: bool,
}

/// A preset by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PresetName(Preset);

impl ValueEnum for PresetName {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [PresetName; Preset::ALL.len()] = [
            PresetName(Preset::ALL[0]),
            PresetName(Preset::ALL[1]),
            PresetName(Preset::ALL[2]),
            PresetName(Preset::ALL[3]),
        ];
        &ALL
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(clap::builder::PossibleValue::new(self.0.name()))
    }
}

/// A thing to leave out, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WhatName(ContentKind);

impl ValueEnum for WhatName {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [WhatName; ContentKind::ALL.len()] = {
            let mut all = [WhatName(ContentKind::ALL[0]); ContentKind::ALL.len()];
            let mut k = 0;
            while k < all.len() {
                all[k] = WhatName(ContentKind::ALL[k]);
                k += 1;
            }
            all
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(clap::builder::PossibleValue::new(self.0.name()))
    }
}

/// Runs the command.
pub(crate) fn run(args: &Args, place: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let (trim, what) = wanted(args)?;
    let request = CloneRequest {
        path: place.session_to_change(&args.session)?,
        branch: args.branch.clone(),
        trim,
        what: what.to_owned(),
        title: args.title.clone(),
        into: args.into.clone(),
        now: write_report::now(&place.clock),
        dry_run: args.dry_run,
    };
    let copy = ops::clone(&request, &place.pen)?;
    if out.is_json() {
        out.json(&json::lighter("clone", &copy))?;
    } else {
        print(&copy, place, out)?;
    }
    Ok(Exit::Done)
}

fn print(copy: &TrimmedCopy, place: &AppContext, out: &mut Out) -> Result<(), CliError> {
    super::header(&copy.born.origin, place, out)?;
    trimmed::table(copy).print(out)?;
    trimmed::changes(copy, out)?;
    out.line("")?;
    super::fork::print(&copy.born, place, out)
}

/// Reads what is to be left out, and how such a copy is called.
fn wanted(args: &Args) -> Result<(TrimOptions, &'static str), CliError> {
    let asked = !args.drop.is_empty()
        || args.keep_last.is_some()
        || args.tool_results_over.is_some()
        || args.older_than_turns.is_some()
        || args.dedupe_reads;
    let preset = args.preset.map(|preset| preset.0);
    // How far back to go says nothing of what: alone it means the light copy.
    let only_age = asked
        && args.drop.is_empty()
        && args.keep_last.is_none()
        && args.tool_results_over.is_none()
        && !args.dedupe_reads;
    let base = preset.unwrap_or(if asked && !only_age { Preset::Whole } else { Preset::Light });
    let mut trim = base.trim();
    for what in &args.drop {
        trim.leave_out(what.0);
    }
    trim.keep_last = args.keep_last.or(trim.keep_last);
    trim.results_over = args.tool_results_over.as_deref().map(amount).transpose()?.or(trim.results_over);
    trim.older_than = args.older_than_turns.or(trim.older_than);
    trim.dedupe_reads |= args.dedupe_reads;
    let what = base.copy_name(&trim);
    Ok((trim, what))
}
