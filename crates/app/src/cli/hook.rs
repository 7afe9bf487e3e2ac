//! `rethread hook`: handles events of the client. It never fails, because the client would show that to the user.

use std::io::Read;
use std::path::{Path, PathBuf};

use rethread_engine::core::entry::Timestamp;
use rethread_engine::ops;
use rethread_engine::ops::archive::ArchiveStatusRequest;
use rethread_engine::ops::explain::ExplainRequest;
use serde::Deserialize;

use super::archive::{find_archive, list_excluded};
use super::args::Hook;
use super::figures::{count_noun, group_digits};
use super::out::Out;
use super::{AppContext, env};
use crate::text::command::quote_command;

/// The most bytes of an event that are read.
const MAX_EVENT_LEN: u64 = 1 << 20;
/// The lowest price of coming back to an expired prompt cache that is worth a message, in dollars.
const MIN_REBUILD_USD: f64 = 0.5;

/// The fields of an event that are used.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct HookEvent {
    session_id: String,
    transcript_path: PathBuf,
    /// How a session started: `startup`, `resume`, `clear`, `compact` or `fork`.
    source: String,
    prompt_cache_likely_expired: bool,
    estimated_cache_write_usd: f64,
}

/// Runs `rethread hook`. Events that it does not know are ignored.
pub(crate) fn run(args: &Hook, app: &AppContext, out: &mut Out) {
    let mut bytes = Vec::new();
    let is_read = std::io::stdin().lock().take(MAX_EVENT_LEN).read_to_end(&mut bytes).is_ok();
    let event: HookEvent = serde_json::from_slice(&bytes).unwrap_or_default();
    match args.event.as_str() {
        "SessionStart" if is_read => {
            let messages = list_messages(&event, app);
            if !messages.is_empty() {
                let message = format!("rethread: {}", messages.join("\n"));
                // The user sees it; the model does not.
                let _ = out.line(&serde_json::json!({ "systemMessage": message }).to_string());
            }
        }
        "Stop" | "SubagentStop" | "PreCompact" | "SessionEnd" => update_archive(app),
        "PostCompact" => {
            update_archive(app);
            if let Some(cache) = &app.cache {
                let _ = ops::index::refresh_index(&app.roots, cache, false, &|_| {});
            }
        }
        _ => {}
    }
}

/// Brings the archive up to date. The next event tries again if that fails.
fn update_archive(app: &AppContext) {
    let now = Timestamp(app.clock.now().as_millisecond());
    if let Ok(location) = find_archive(None, app) {
        let _ = ops::archive::update_archive(&location, &app.roots, &list_excluded(app), now);
    }
}

/// Lists what the user should know about a session that starts.
fn list_messages(event: &HookEvent, app: &AppContext) -> Vec<String> {
    let mut messages = Vec::new();
    if matches!(event.source.as_str(), "resume" | "fork") {
        messages.extend(describe_loss(event));
        messages.extend(describe_cache_cost(event));
    }
    if matches!(event.source.as_str(), "resume" | "startup") {
        messages.extend(describe_deletions(&event.transcript_path, app));
    }
    messages
}

/// Describes the entries that the resume loses although the user did not leave them.
fn describe_loss(event: &HookEvent) -> Option<String> {
    let request = ExplainRequest { path: event.transcript_path.clone(), ..ExplainRequest::default() };
    let explanation = ops::explain::explain_resume(&request).ok()?;
    let resume = &explanation.verdicts.first()?.resume;
    let lost = resume.skipped.iter().filter(|skipped| skipped.is_unintended()).count();
    (lost > 0).then(|| {
        format!(
            "this resume loads {} of {}; {} lost. {} says why",
            group_digits(resume.loaded as u64),
            count_noun(resume.entries as u64, "entry"),
            if lost == 1 { "1 is".to_owned() } else { format!("{} are", group_digits(lost as u64)) },
            quote_command(&["explain", &event.session_id])
        )
    })
}

/// Describes what the next request costs because the prompt cache has expired.
fn describe_cache_cost(event: &HookEvent) -> Option<String> {
    let is_costly = event.prompt_cache_likely_expired && event.estimated_cache_write_usd >= MIN_REBUILD_USD;
    is_costly.then(|| {
        format!(
            "the prompt cache has expired: the next request costs about ${:.2} more. {} makes a lighter copy",
            event.estimated_cache_write_usd,
            quote_command(&["clone", &event.session_id])
        )
    })
}

/// Describes the sessions of the project that the client deletes soon and that are not in the archive.
fn describe_deletions(transcript: &Path, app: &AppContext) -> Option<String> {
    let location = find_archive(None, app).ok()?;
    let request = ArchiveStatusRequest {
        managed_settings: Some(env::managed_settings()),
        excluded: list_excluded(app),
        now: app.clock.now().into(),
    };
    let status = ops::archive::archive_status(&location, &app.roots, &app.writer, &request).ok()?;
    let is_at_risk = |deletion: &&ops::archive::DueDeletion| {
        !deletion.is_archived && deletion.path.parent() == transcript.parent() && deletion.path != transcript
    };
    let count = status.deletions.iter().filter(is_at_risk).count();
    (count > 0).then(|| {
        format!(
            "Claude Code deletes {} of this project soon. {} keeps them",
            count_noun(count as u64, "session"),
            quote_command(&["archive"])
        )
    })
}
