//! JSON of `archive`.

use std::path::PathBuf;

use rethread_engine::OpId;
use rethread_engine::core::entry::Timestamp;
use rethread_engine::ops::archive::{
    ArchiveDamage, ArchivePrune, ArchiveRestoreOutcome, ArchiveStatus, ArchiveSync, ArchiveUpdate,
    ArchivedSession, DeletionCause, DueDeletion, ForgetCandidate, ForgottenSession, GenerationCause,
    RetentionPeriod,
};
use rethread_engine::ops::install::ToolFile;
use serde::Serialize;

use super::object::{ObjectJson, build_object, format_time};

#[derive(Serialize)]
pub(crate) struct ArchiveUpdateJson {
    files: u64,
    forgotten: u64,
    excluded: u64,
    created: u64,
    grown: u64,
    replaced: Vec<ReplacedFileJson>,
    added_bytes: u64,
    stored_bytes: u64,
    unreadable: usize,
    damaged: usize,
}

#[derive(Serialize)]
struct ReplacedFileJson {
    path: String,
    cause: &'static str,
}

/// Builds the `archive` object of `archive`.
pub(crate) fn build_archive_update(update: &ArchiveUpdate) -> ObjectJson<ArchiveUpdateJson> {
    let replaced = update.replaced.iter().map(|(path, cause)| ReplacedFileJson {
        path: path.display().to_string(),
        cause: cause_name(*cause),
    });
    build_object(
        "archive",
        ArchiveUpdateJson {
            files: update.checked,
            forgotten: update.forgotten,
            excluded: update.excluded,
            created: update.created,
            grown: update.grown,
            replaced: replaced.collect(),
            added_bytes: update.added_bytes,
            stored_bytes: update.stored_bytes,
            unreadable: update.failures.len(),
            damaged: update.damages.len(),
        },
    )
}

fn cause_name(cause: GenerationCause) -> &'static str {
    match cause {
        GenerationCause::Created => "created",
        GenerationCause::Rewritten => "rewritten",
        GenerationCause::Shrank => "file-shrank",
    }
}

#[derive(Serialize)]
pub(crate) struct ArchiveSyncJson<'a> {
    pushed_files: u64,
    pushed_bytes: u64,
    pulled_files: u64,
    pulled_bytes: u64,
    machines: &'a [String],
    damaged: usize,
}

/// Builds the `archive_sync` object of `archive sync`.
pub(crate) fn build_archive_sync(sync: &ArchiveSync) -> ObjectJson<ArchiveSyncJson<'_>> {
    build_object(
        "archive_sync",
        ArchiveSyncJson {
            pushed_files: sync.pushed.files,
            pushed_bytes: sync.pushed.bytes,
            pulled_files: sync.pulled.files,
            pulled_bytes: sync.pulled.bytes,
            machines: &sync.machines,
            damaged: sync.damages.len(),
        },
    )
}

#[derive(Serialize)]
pub(crate) struct ArchiveStatusJson {
    folder: String,
    last_run: Option<String>,
    scheduled: bool,
    scheduled_syncs: Vec<String>,
    scheduled_lakes: Vec<String>,
    sessions: u64,
    files: u64,
    content_bytes: u64,
    stored_bytes: u64,
    earlier_states: u64,
    only_archived: usize,
    not_archived: Vec<String>,
    removed: usize,
    excluded: Vec<String>,
    forgotten: Vec<ForgottenSessionJson>,
    retention: Vec<RetentionJson>,
    deletions: Vec<DueDeletionJson>,
    damaged: usize,
}

/// The folders and lakes to which a schedule copies what is new after each run.
pub(crate) struct ScheduledCopies<'a> {
    pub(crate) syncs: &'a [PathBuf],
    pub(crate) lakes: &'a [String],
}

/// Builds the `archive_status` object of `archive status`.
pub(crate) fn build_archive_status(
    status: &ArchiveStatus,
    schedule: Option<&ScheduledCopies<'_>>,
) -> ObjectJson<ArchiveStatusJson> {
    build_object(
        "archive_status",
        ArchiveStatusJson {
            folder: status.dir.display().to_string(),
            last_run: format_time(status.last_run),
            scheduled: schedule.is_some(),
            scheduled_syncs: schedule
                .iter()
                .flat_map(|schedule| schedule.syncs)
                .map(|dir| dir.display().to_string())
                .collect(),
            scheduled_lakes: schedule.iter().flat_map(|schedule| schedule.lakes).cloned().collect(),
            sessions: status.sessions,
            files: status.files,
            content_bytes: status.content_bytes,
            stored_bytes: status.stored_bytes,
            earlier_states: status.earlier_states,
            only_archived: status.only_archived.len(),
            not_archived: status.not_archived.iter().map(|path| path.display().to_string()).collect(),
            removed: status.removed.len(),
            excluded: status.excluded.iter().map(|path| path.display().to_string()).collect(),
            forgotten: status.forgotten.iter().map(describe_forgotten).collect(),
            retention: status.retention.iter().map(describe_retention).collect(),
            deletions: status.deletions.iter().map(describe_deletion).collect(),
            damaged: status.damages.len(),
        },
    )
}

#[derive(Serialize)]
struct RetentionJson {
    folder: String,
    days: Option<u64>,
    is_default: bool,
}

fn describe_retention(retention: &RetentionPeriod) -> RetentionJson {
    let folder = retention.client_dir.display().to_string();
    RetentionJson { folder, days: retention.days, is_default: retention.is_default }
}

#[derive(Serialize)]
struct DueDeletionJson {
    session: String,
    path: String,
    due: Option<String>,
    archived: bool,
}

fn describe_deletion(deletion: &DueDeletion) -> DueDeletionJson {
    DueDeletionJson {
        session: deletion.id.clone(),
        path: deletion.path.display().to_string(),
        due: format_time(Some(deletion.due)),
        archived: deletion.is_archived,
    }
}

#[derive(Serialize)]
pub(crate) struct ArchivedSessionJson<'a> {
    session: &'a str,
    machine: &'a str,
    path: String,
    bytes: u64,
    modified: Option<String>,
}

/// Builds the `archived_session` object of a session that exists only in the archive.
pub(crate) fn build_archived_session(session: &ArchivedSession) -> ObjectJson<ArchivedSessionJson<'_>> {
    build_object("archived_session", describe_session(session))
}

fn describe_session(session: &ArchivedSession) -> ArchivedSessionJson<'_> {
    ArchivedSessionJson {
        session: &session.id,
        machine: &session.machine,
        path: session.path.display().to_string(),
        bytes: session.bytes,
        modified: format_time(Some::<Timestamp>(session.modified)),
    }
}

#[derive(Serialize)]
pub(crate) struct ArchiveDamageJson {
    path: String,
    damage: String,
}

/// Builds the `archive_damage` object of a damaged file of an archive.
pub(crate) fn build_archive_damage(damage: &ArchiveDamage) -> ObjectJson<ArchiveDamageJson> {
    let (path, damage) = (damage.path.display().to_string(), damage.kind.to_string());
    build_object("archive_damage", ArchiveDamageJson { path, damage })
}

#[derive(Serialize)]
pub(crate) struct ArchiveRestoreJson<'a> {
    #[serde(flatten)]
    session: ArchivedSessionJson<'a>,
    op: Option<u64>,
    dry_run: bool,
    restored_session: &'a str,
    restored_path: String,
    generation: u32,
    generations: usize,
    next_to_live: bool,
    messages: usize,
    prompts: usize,
    restored: Vec<String>,
    kept: Vec<String>,
}

/// Builds the `archive_restore` object of `archive restore`.
pub(crate) fn build_archive_restore(
    outcome: &ArchiveRestoreOutcome,
    dry_run: bool,
) -> ObjectJson<ArchiveRestoreJson<'_>> {
    build_object(
        "archive_restore",
        ArchiveRestoreJson {
            session: describe_session(&outcome.session),
            op: outcome.op.map(|op| op.0),
            dry_run,
            restored_session: &outcome.id,
            restored_path: outcome.path.display().to_string(),
            generation: outcome.generation,
            generations: outcome.generations,
            next_to_live: outcome.is_next_to_live,
            messages: outcome.messages,
            prompts: outcome.prompts,
            restored: outcome.effects.iter().map(|effect| effect.path.display().to_string()).collect(),
            kept: outcome.kept.iter().map(|path| path.display().to_string()).collect(),
        },
    )
}

#[derive(Serialize)]
struct ForgottenSessionJson {
    session: String,
    forgotten: Option<String>,
    files: u64,
    bytes: u64,
}

fn describe_forgotten(session: &ForgottenSession) -> ForgottenSessionJson {
    ForgottenSessionJson {
        session: session.id.clone(),
        forgotten: format_time(Some::<Timestamp>(session.forgotten)),
        files: session.files,
        bytes: session.bytes,
    }
}

#[derive(Serialize)]
pub(crate) struct ArchiveForgetJson<'a> {
    #[serde(flatten)]
    session: ArchivedSessionJson<'a>,
    files: u64,
    content_bytes: u64,
    file_exists: bool,
    dry_run: bool,
}

/// Builds the `archive_forget` object of a session that `archive forget` removes from the archive.
pub(crate) fn build_archive_forget(
    candidate: &ForgetCandidate,
    dry_run: bool,
) -> ObjectJson<ArchiveForgetJson<'_>> {
    build_object(
        "archive_forget",
        ArchiveForgetJson {
            session: describe_session(&candidate.session),
            files: candidate.files,
            content_bytes: candidate.bytes,
            file_exists: candidate.is_live,
            dry_run,
        },
    )
}

#[derive(Serialize)]
pub(crate) struct ArchiveRememberJson {
    #[serde(flatten)]
    session: ForgottenSessionJson,
    dry_run: bool,
}

/// Builds the `archive_remember` object of a session that `archive forget --undo` brings back.
pub(crate) fn build_archive_remember(
    session: &ForgottenSession,
    dry_run: bool,
) -> ObjectJson<ArchiveRememberJson> {
    build_object("archive_remember", ArchiveRememberJson { session: describe_forgotten(session), dry_run })
}

#[derive(Serialize)]
pub(crate) struct ArchivePruneJson {
    sessions: u64,
    files: u64,
    bytes_before: u64,
    bytes_after: u64,
    damaged: usize,
    dry_run: bool,
}

/// Builds the `archive_prune` object of `archive prune`.
pub(crate) fn build_archive_prune(prune: &ArchivePrune, dry_run: bool) -> ObjectJson<ArchivePruneJson> {
    build_object(
        "archive_prune",
        ArchivePruneJson {
            sessions: prune.sessions,
            files: prune.files,
            bytes_before: prune.bytes_before,
            bytes_after: prune.bytes_after,
            damaged: prune.damages.len(),
            dry_run,
        },
    )
}

#[derive(Serialize)]
pub(crate) struct RemovedSessionJson<'a> {
    #[serde(flatten)]
    session: ArchivedSessionJson<'a>,
    removed: &'static str,
}

/// Builds the `archived_session` object of a session that exists only in the archive because it was removed on purpose.
pub(crate) fn build_removed_session(
    session: &ArchivedSession,
    cause: DeletionCause,
) -> ObjectJson<RemovedSessionJson<'_>> {
    let removed = match cause {
        DeletionCause::Removed => "rm",
        DeletionCause::Purged => "purge",
    };
    build_object("archived_session", RemovedSessionJson { session: describe_session(session), removed })
}

#[derive(Serialize)]
pub(crate) struct ArchiveExcludeJson {
    folders: Vec<String>,
    dry_run: bool,
}

/// Builds the `archive_exclude` object of `archive exclude`.
pub(crate) fn build_archive_exclude(
    dirs: &[std::path::PathBuf],
    dry_run: bool,
) -> ObjectJson<ArchiveExcludeJson> {
    let folders = dirs.iter().map(|dir| dir.display().to_string()).collect();
    build_object("archive_exclude", ArchiveExcludeJson { folders, dry_run })
}

#[derive(Serialize)]
pub(crate) struct ArchiveScheduleJson<'a> {
    files: Vec<ScheduleFileJson<'a>>,
    commands: &'a [Vec<String>],
    op: Option<u64>,
    dry_run: bool,
}

#[derive(Serialize)]
struct ScheduleFileJson<'a> {
    path: String,
    content: Option<&'a str>,
}

/// Builds the `archive_schedule` object of `archive schedule`.
pub(crate) fn build_archive_schedule<'a>(
    files: &'a [ToolFile],
    commands: &'a [Vec<String>],
    op: Option<OpId>,
    dry_run: bool,
) -> ObjectJson<ArchiveScheduleJson<'a>> {
    let describe = |file: &'a ToolFile| ScheduleFileJson {
        path: file.path.display().to_string(),
        content: file.content.as_deref(),
    };
    let files = files.iter().map(describe).collect();
    build_object("archive_schedule", ArchiveScheduleJson { files, commands, op: op.map(|op| op.0), dry_run })
}
