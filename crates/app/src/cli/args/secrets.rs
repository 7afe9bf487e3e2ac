//! Arguments of `secrets`.

use clap::Args;
use rethread_engine::core::secrets::{DETECTORS, Place, SecretSeverity};

use super::name_parser;

const SEVERITIES: &[SecretSeverity] = &[SecretSeverity::Low, SecretSeverity::Medium, SecretSeverity::High];

/// Find passwords, keys and tokens in sessions
///
/// Searches prompts, answers, inputs and results of tools, titles, subagents, stored results, file history and the prompt
/// history, also inside JSON strings, addresses and base64 headers. Each place is printed with the text around it; the
/// secret is never printed. Unchanged files are not read again. Exit code 1 if there are secrets.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    rethread secrets\n  \
    rethread secrets last --list\n  \
    rethread secrets --severity high --since 30d\n  \
    rethread secrets --kind aws-key --json | jq -r .path")]
pub(crate) struct Secrets {
    /// Session to search (default: all)
    pub(crate) session: Option<String>,
    /// Search all sessions, as without a session
    #[arg(short, long, conflicts_with = "session")]
    pub(crate) all: bool,
    /// Only this kind: aws-key, password, … (repeatable; --kinds lists them)
    #[arg(long, value_name = "KIND", hide_possible_values = true, value_parser = kind_parser())]
    pub(crate) kind: Vec<&'static str>,
    /// Only this severity or worse: low, medium or high
    #[arg(long, value_name = "SEVERITY", hide_possible_values = true, value_parser = name_parser(SEVERITIES, SecretSeverity::name))]
    pub(crate) severity: Option<SecretSeverity>,
    /// Only this place: prompt, answer, tool-input, tool-result, title, … (repeatable)
    #[arg(long, value_name = "PLACE", value_parser = name_parser(&Place::ALL, Place::name))]
    pub(crate) place: Vec<Place>,
    /// Only lines written since: today, 7d, 2026-01-31
    #[arg(long, value_name = "WHEN")]
    pub(crate) since: Option<String>,
    /// List all places, not only the newest
    #[arg(long)]
    pub(crate) list: bool,
    /// List the kinds that are recognised
    #[arg(long)]
    pub(crate) kinds: bool,
}

/// Returns the parser of names of kinds.
fn kind_parser() -> impl clap::builder::TypedValueParser<Value = &'static str> {
    use clap::builder::TypedValueParser;
    let names = DETECTORS.iter().map(|detector| detector.name);
    clap::builder::PossibleValuesParser::new(names).try_map(|text| {
        DETECTORS
            .iter()
            .find(|detector| detector.name == text)
            .map(|detector| detector.name)
            .ok_or("unknown kind")
    })
}
