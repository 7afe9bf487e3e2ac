//! JSON of `archive`.

use rethread_engine::core::entry::Timestamp;
use rethread_engine::ops::archive::{
    ArchiveDamage, ArchiveRestoreOutcome, ArchiveStatus, ArchiveSync, ArchiveUpdate, ArchivedSession,
    GenerationCause,
};
use serde::Serialize;

use super::object::{ObjectJson, build_object, format_time};

#[derive(Serialize)]
pub(crate) struct ArchiveUpdateJson {
    files: u64,
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
    sessions: u64,
    files: u64,
    content_bytes: u64,
    stored_bytes: u64,
    earlier_states: u64,
    only_archived: usize,
    not_archived: Vec<String>,
    damaged: usize,
}

/// Builds the `archive_status` object of `archive status`.
pub(crate) fn build_archive_status(status: &ArchiveStatus) -> ObjectJson<ArchiveStatusJson> {
    build_object(
        "archive_status",
        ArchiveStatusJson {
            folder: status.dir.display().to_string(),
            last_run: format_time(status.last_run),
            sessions: status.sessions,
            files: status.files,
            content_bytes: status.content_bytes,
            stored_bytes: status.stored_bytes,
            earlier_states: status.earlier_states,
            only_archived: status.only_archived.len(),
            not_archived: status.not_archived.iter().map(|path| path.display().to_string()).collect(),
            damaged: status.damages.len(),
        },
    )
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
