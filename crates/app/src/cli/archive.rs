//! `rethread archive`: keeps copies of all session files.

mod exclude;
mod follow_up;
mod forget;
mod schedule;

use std::path::{Path, PathBuf};

use rethread_engine::core::entry::Timestamp;
use rethread_engine::ops::archive::{
    self, ArchiveDamage, ArchiveLocation, ArchiveStatus, ArchiveStatusRequest, ArchiveUpdate,
    ArchivedSession, CopiedFiles, DeletionCause, DueDeletion, GenerationCause, PlaceKeys, RetentionPeriod,
};

pub(super) use self::forget::forget_removed;
use super::args::{Archive, ArchiveAction, ArchiveSyncArgs};
use super::error::{CliError, Exit, print_hint, print_warning, print_warnings};
use super::facts::print_fact;
use super::figures::{count_noun, format_percent, format_size, group_digits};
use super::out::Out;
use super::style::{NAME, PLAIN, QUIET, paint};
use super::table::{Align, Table};
use super::{AppContext, clean, env, restore};
use crate::json;
use crate::text::command::{build_command, quote_command};

/// The maximum number of sessions or paths that `status` lists.
const MAX_LISTED: usize = 20;
/// The maximum number of sessions that `status` lists because a client deletes them soon.
const MAX_DELETIONS: usize = 5;
const HOUR_MILLIS: i64 = 60 * 60 * 1000;
const DAY_MILLIS: i64 = 24 * HOUR_MILLIS;

/// Runs `rethread archive` and its actions.
pub(crate) fn run(args: &Archive, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let location = find_archive(args.to.as_deref(), app)?;
    if args.action.is_some() && !args.follow_up.is_empty() {
        return Err(CliError::FollowUpOfAction);
    }
    match &args.action {
        None => {
            let update = update(&location, app, out)?;
            let follow_up = follow_up::run(&args.follow_up, &location, app, out)?;
            Ok(if update == Exit::Done { follow_up } else { update })
        }
        Some(ArchiveAction::Schedule(args)) => schedule::run(args, &location, app, out),
        Some(ArchiveAction::Exclude(args)) => exclude::run(args, app, out),
        Some(ArchiveAction::Status) => print_status(&location, app, out),
        Some(ArchiveAction::Verify { deep }) => verify(&location, *deep, app, out),
        Some(ArchiveAction::Sync(args)) => sync(&location, args, app, out),
        Some(ArchiveAction::Forget(args)) => forget::run(args, &location, app, out),
        Some(ArchiveAction::Prune(args)) => forget::prune(args, &location, app, out),
        Some(ArchiveAction::Restore(args)) => restore::restore_archived(&location, args, app, out),
    }
}

/// Returns the archive that the arguments name, or that of the user, with the id and name of this machine.
pub(crate) fn find_archive(to: Option<&Path>, app: &AppContext) -> Result<ArchiveLocation, CliError> {
    let machine_file = app.writer.private_file("machine")?;
    let machine_id = match machine_file.read().map(|id| id.trim().to_owned()).filter(|id| is_machine_id(id)) {
        Some(id) => id,
        None => {
            let id = uuid::Uuid::new_v4().to_string();
            machine_file.write(&id)?;
            id
        }
    };
    let machine_name = env::host_name().unwrap_or_else(|| machine_id.clone());
    let dir = to.map(Path::to_owned).or_else(|| app.archive_dir.clone()).ok_or(CliError::NoArchiveDir)?;
    let dir = std::path::absolute(&dir).unwrap_or(dir);
    Ok(ArchiveLocation { dir, machine_id, machine_name })
}

/// Returns `true` if a text can be the name of the folder of a machine.
fn is_machine_id(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn update(location: &ArchiveLocation, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let now = Timestamp(app.clock.now().as_millisecond());
    let update = archive::update_archive(location, &app.roots, &list_excluded(app), now)?;
    let exit = if update.failures.is_empty() { Exit::Done } else { Exit::Failed };
    if out.is_json() {
        out.json(&json::build_archive_update(&update))?;
        return Ok(exit);
    }
    out.line(&summarize_update(&update))?;
    for (path, cause) in update.replaced.iter().take(MAX_LISTED) {
        let path = app.format_path(&path.display().to_string());
        let change = match cause {
            GenerationCause::Shrank => "became shorter",
            GenerationCause::Created | GenerationCause::Rewritten => "was rewritten",
        };
        print_warning(&format!("`{path}` {change}; its earlier content stays in the archive"), out);
    }
    print_warnings(&update.failures, out);
    print_damages(&update.damages, app, out);
    Ok(exit)
}

/// Formats the result of a run on one line.
fn summarize_update(update: &ArchiveUpdate) -> String {
    let mut changes = Vec::new();
    let counted =
        [(update.created, "new"), (update.grown, "grown"), (update.replaced.len() as u64, "rewritten")];
    for (count, what) in counted {
        changes.extend((count > 0).then(|| format!("{} {what}", group_digits(count))));
    }
    let files = count_noun(update.checked, "file");
    if changes.is_empty() {
        return format!("nothing new in {files}");
    }
    let (added, stored) = (format_size(update.added_bytes), format_size(update.stored_bytes));
    format!("archived {} of {files}: {added} in {stored}", changes.join(", "))
}

fn print_status(location: &ArchiveLocation, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let request = ArchiveStatusRequest {
        managed_settings: Some(env::managed_settings()),
        excluded: list_excluded(app),
        now: app.clock.now().into(),
    };
    let status = archive::archive_status(location, &app.roots, &app.writer, &request)?;
    let installed = schedule::find_installed();
    if out.is_json() {
        let copies = installed
            .as_ref()
            .map(|copies| json::ScheduledCopies { syncs: &copies.sync, lakes: &copies.lake });
        out.json(&json::build_archive_status(&status, copies.as_ref()))?;
        for session in &status.only_archived {
            out.json(&json::build_archived_session(session))?;
        }
        for (session, cause) in &status.removed {
            out.json(&json::build_removed_session(session, *cause))?;
        }
        return Ok(Exit::Done);
    }
    print_text("archive", app.format_path(&status.dir.display().to_string()), out)?;
    let last_run = match status.last_run {
        Some(_) => app.clock.format_age(status.last_run),
        None => format!("never; {} creates the archive", quote_command(&["archive"])),
    };
    print_text("last run", last_run, out)?;
    let schedule = match &installed {
        Some(_) => "installed".to_owned(),
        None => format!("none; {} adds one", quote_command(&["archive", "schedule"])),
    };
    print_text("schedule", schedule, out)?;
    for text in installed.iter().flat_map(|follow_up| follow_up::describe(follow_up, app)) {
        print_text("", text, out)?;
    }
    let share = format_percent(status.stored_bytes as f64, status.content_bytes as f64);
    let size =
        format!("{} in {} ({share})", format_size(status.content_bytes), format_size(status.stored_bytes));
    let (sessions, files) = (count_noun(status.sessions, "session"), count_noun(status.files, "file"));
    print_text("content", format!("{sessions}, {files}, {size}"), out)?;
    if status.earlier_states > 0 {
        let states = count_noun(status.earlier_states, "earlier state");
        print_text("kept", format!("{states} of files that were rewritten or became shorter"), out)?;
    }
    let missing = count_noun(status.not_archived.len() as u64, "session file");
    print_text("not archived", format!("{missing} with content that is not in the archive"), out)?;
    print_deletions(&status, app, out)?;
    let only = count_noun(status.only_archived.len() as u64, "session");
    print_text("only here", format!("{only} whose files are gone"), out)?;
    print_only_archived(&status.only_archived, app, out)?;
    print_removed(&status, out)?;
    print_forgotten(&status, out)?;
    for dir in &request.excluded {
        print_text("excluded", app.format_path(&dir.display().to_string()), out)?;
    }
    if !status.excluded.is_empty() {
        let count = count_noun(status.excluded.len() as u64, "session file");
        print_text("", format!("{count} in excluded folders"), out)?;
    }
    print_warnings(&status.failures, out);
    print_damages(&status.damages, app, out);
    Ok(Exit::Done)
}

/// Prints how long the clients keep sessions, and which ones they delete next.
fn print_deletions(status: &ArchiveStatus, app: &AppContext, out: &mut Out) -> Result<(), CliError> {
    for RetentionPeriod { client_dir, days, is_default } in &status.retention {
        let folder = app.format_path(&client_dir.display().to_string());
        let text = match days {
            Some(days) if *is_default => format!("{} in {folder}, the default", count_noun(*days, "day")),
            Some(days) => format!("{} in {folder}", count_noun(*days, "day")),
            None => format!("unknown in {folder}: cleanupPeriodDays cannot be read"),
        };
        print_text("retention", text, out)?;
    }
    let Some(first) = status.deletions.first() else { return Ok(()) };
    let now = Timestamp(app.clock.now().as_millisecond());
    if first.due.0 - now.0 >= 7 * DAY_MILLIS {
        return print_text(
            "deleted next",
            format!("none within 7 days; the first {}", format_due(first, now)),
            out,
        );
    }
    let unarchived = status.deletions.iter().filter(|deletion| !deletion.is_archived).count();
    let count = count_noun(status.deletions.len() as u64, "session");
    let unarchived = match unarchived {
        0 => "all archived".to_owned(),
        count => format!("{} not archived", group_digits(count as u64)),
    };
    print_text("deleted next", format!("{count} within 7 days; {unarchived}"), out)?;
    for deletion in status.deletions.iter().take(MAX_DELETIONS) {
        let archived = if deletion.is_archived { "archived" } else { "not archived" };
        let text = format!("{}: {}, {archived}", clean::line(&deletion.id), format_due(deletion, now));
        print_text("", text, out)?;
    }
    let rest = status.deletions.len().saturating_sub(MAX_DELETIONS) as u64;
    if rest > 0 { print_text("", format!("… and {} more", group_digits(rest)), out) } else { Ok(()) }
}

/// Formats when a client deletes a session: `in 2 d`, `in 5 h`, or `at its next start`.
fn format_due(deletion: &DueDeletion, now: Timestamp) -> String {
    let remaining = deletion.due.0 - now.0;
    match (remaining / DAY_MILLIS, remaining / HOUR_MILLIS) {
        _ if deletion.is_due => "at its next start".to_owned(),
        (0, hours) => format!("in {hours} h"),
        (days, _) => format!("in {days} d"),
    }
}

/// Prints the sessions that were removed on purpose, with the way in which they were.
fn print_removed(status: &ArchiveStatus, out: &mut Out) -> Result<(), CliError> {
    if status.removed.is_empty() {
        return Ok(());
    }
    let count = count_noun(status.removed.len() as u64, "session");
    print_text("removed", format!("{count} on purpose: still in the archive"), out)?;
    for (session, cause) in status.removed.iter().take(MAX_LISTED) {
        let cause = match cause {
            DeletionCause::Removed => "moved to the trash by rethread",
            DeletionCause::Purged => "the client forgot its project",
        };
        print_text("", format!("{}: {cause}", clean::line(&session.id)), out)?;
    }
    let rest = status.removed.len().saturating_sub(MAX_LISTED) as u64;
    if rest > 0 { print_text("", format!("… and {} more", group_digits(rest)), out) } else { Ok(()) }
}

/// Prints the number of forgotten sessions, and what remains of them.
fn print_forgotten(status: &ArchiveStatus, out: &mut Out) -> Result<(), CliError> {
    if status.forgotten.is_empty() {
        return Ok(());
    }
    let count = count_noun(status.forgotten.len() as u64, "session");
    let bytes: u64 = status.forgotten.iter().map(|session| session.bytes).sum();
    let mut text = count;
    if bytes > 0 {
        let prune = quote_command(&["archive", "prune"]);
        text.push_str(&format!(", {} until {prune} deletes it", format_size(bytes)));
    }
    print_text("forgotten", text, out)?;
    if !status.forgotten_live.is_empty() {
        let live = count_noun(status.forgotten_live.len() as u64, "session file");
        print_text("", format!("{live} of these: not archived again"), out)?;
    }
    Ok(())
}

/// Prints a plain text with a label.
fn print_text(label: &str, text: impl Into<String>, out: &mut Out) -> Result<(), CliError> {
    print_fact(label, &vec![(PLAIN, text.into())], out)
}

/// Prints a row per session that exists only in the archive.
fn print_only_archived(
    sessions: &[ArchivedSession],
    app: &AppContext,
    out: &mut Out,
) -> Result<(), CliError> {
    let Some(first) = sessions.first() else { return Ok(()) };
    out.line("")?;
    let mut table = Table::new(0)
        .column("session", Align::Left, 36)
        .column("modified", Align::Right, 12)
        .column("size", Align::Right, 9)
        .column("path", Align::Left, usize::MAX);
    for session in sessions.iter().take(MAX_LISTED) {
        let path = app.format_path(&session.path.display().to_string());
        table.row(vec![
            clean::line(&session.id).into(),
            app.clock.format_age(Some(session.modified)).into(),
            format_size(session.bytes).into(),
            path.into(),
        ]);
    }
    table.print(out)?;
    if sessions.len() > MAX_LISTED {
        let rest = group_digits((sessions.len() - MAX_LISTED) as u64);
        out.line(&paint(QUIET, &format!("… and {rest} more; --json lists all")))?;
    }
    out.line("")?;
    let command = build_command(&["restore", &clean::line(&first.id)]);
    out.line(&format!("restore one: {}", paint(NAME, &command)))
}

fn verify(
    location: &ArchiveLocation,
    is_deep: bool,
    app: &AppContext,
    out: &mut Out,
) -> Result<Exit, CliError> {
    let damages = archive::verify(location, is_deep);
    if out.is_json() {
        for damage in &damages {
            out.json(&json::build_archive_damage(damage))?;
        }
    } else if damages.is_empty() {
        out.line("the archive is intact")?;
    } else {
        for damage in &damages {
            out.line(&format_damage(damage, app))?;
        }
        let folder = app.format_path(&location.dir.display().to_string());
        print_hint(
            &format!("copy the named files back from another copy of `{folder}`, if there is one"),
            out,
        );
    }
    Ok(Exit::from_found(damages.is_empty()))
}

fn format_damage(damage: &ArchiveDamage, app: &AppContext) -> String {
    let path = app.format_path(&damage.path.display().to_string());
    format!("`{path}` {}", clean::line(&damage.kind.to_string()))
}

fn sync(
    location: &ArchiveLocation,
    args: &ArchiveSyncArgs,
    app: &AppContext,
    out: &mut Out,
) -> Result<Exit, CliError> {
    let sync = if args.encrypt_to.is_empty() && args.identity.is_none() {
        archive::sync(location, &args.dir)?
    } else {
        let (recipients, identity) = (args.encrypt_to.clone(), args.identity.clone());
        archive::sync_with_encrypted(
            location,
            &args.dir,
            &PlaceKeys { recipients, identity, prune: args.prune },
        )?
    };
    let exit = if sync.damages.is_empty() { Exit::Done } else { Exit::Failed };
    if out.is_json() {
        out.json(&json::build_archive_sync(&sync))?;
        return Ok(exit);
    }
    let describe =
        |copied: CopiedFiles| format!("{} ({})", count_noun(copied.files, "file"), format_size(copied.bytes));
    let machines = count_noun(sync.machines.len() as u64, "machine");
    out.line(&format!(
        "copied {} there and {} here, of {machines}",
        describe(sync.pushed),
        describe(sync.pulled)
    ))?;
    print_damages(&sync.damages, app, out);
    Ok(exit)
}

/// Prints a warning per damaged file of the archive.
fn print_damages(damages: &[ArchiveDamage], app: &AppContext, out: &mut Out) {
    for damage in damages.iter().take(MAX_LISTED) {
        print_warning(&format_damage(damage, app), out);
    }
    if !damages.is_empty() {
        print_hint(
            &format!("{} checks every file of the archive", quote_command(&["archive", "verify"])),
            out,
        );
    }
}

/// Returns the folders whose sessions are not archived: those in the configuration, and those of `archive exclude`.
pub(crate) fn list_excluded(app: &AppContext) -> Vec<PathBuf> {
    let mut dirs = app.excluded_dirs.clone();
    dirs.extend(exclude::read_list(app));
    dirs.sort();
    dirs.dedup();
    dirs
}

/// Returns the default folder of the archive.
pub(crate) fn default_dir() -> Option<PathBuf> {
    env::data_dir().map(|dir| dir.join("archive"))
}
