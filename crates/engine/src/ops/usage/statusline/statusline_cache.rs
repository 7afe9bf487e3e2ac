//! The cached state of the status line: the usage of all other sessions, reduced to the parts that are needed.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use rethread_core::entry::Timestamp;
use rethread_core::id::{Id, IdSet};
use rethread_core::pack_fields;
use rethread_core::usage::{BLOCK_MILLIS, FileUsage, find_block, find_block_starts};

use super::file_progress::FileProgress;
use super::session_files::{SessionFiles, file_name_id};
use crate::cache::{CacheDir, CacheWarning};
use crate::disk::{Roots, SessionFile, find_sessions};
use crate::ops::usage::store::UsageStore;

/// The maximum age of the usage of other sessions, in milliseconds.
const MAX_AGE_MILLIS: i64 = 60_000;

/// The state that is cached between two calls.
#[derive(Debug)]
pub(super) struct StatuslineCache {
    /// The time at which all files were read.
    pub(super) created_at: Timestamp,
    /// The start of the day or week, or of the block that was running then. All responses since then are included.
    pub(super) since: Timestamp,
    /// The number of responses of the session without a time, and of those before `since`.
    old_counts: (usize, usize),
    /// Hashes of the names of sibling files with a known session.
    pub(super) known_siblings: Vec<Id>,
    /// The usages of files of other sessions, reduced to recent responses and copies of responses of this session.
    pub(super) others: Vec<(PathBuf, FileUsage)>,
    /// The progress of the files of the session.
    pub(super) progress: Vec<FileProgress>,
}

pack_fields!(StatuslineCache { created_at, since, old_counts, known_siblings, others, progress });

/// The files to read and the current time.
pub(super) struct StatuslineSources<'s> {
    pub(super) roots: &'s Roots,
    pub(super) cache_dir: Option<&'s CacheDir>,
    /// The session file.
    pub(super) main: Option<&'s Path>,
    pub(super) now: Timestamp,
    /// The time from which on all responses are needed: the start of the day, or of the week if it is requested.
    pub(super) from: Timestamp,
}

impl StatuslineCache {
    /// Returns `true` if the usage of other sessions is less than a minute old.
    pub(super) fn is_fresh(&self, now: Timestamp) -> bool {
        (0..MAX_AGE_MILLIS).contains(&now.0.saturating_sub(self.created_at.0))
    }

    /// Returns `true` if the state contains all responses since `from` and is valid for the current files of the session.
    pub(super) fn is_valid_for(&self, session_files: &SessionFiles, from: Timestamp) -> bool {
        self.since <= from
            && !session_files.was_rewritten
            && session_files.count_old(self.since) == self.old_counts
    }

    /// Reads the usage of all files, from the cache if possible. Adds newly found files of `session` and read errors to
    /// `session_files`. Also returns a warning if the cache cannot be written.
    pub(super) fn rebuild(
        sources: &StatuslineSources<'_>,
        session: &str,
        session_files: &mut SessionFiles,
    ) -> (StatuslineCache, Option<CacheWarning>) {
        let StatuslineSources { roots, cache_dir, main, now, from } = *sources;
        session_files.keep_own(main, session);
        let (files, failures) = find_sessions(roots);
        session_files.failures.extend(failures);
        let known = session_files.usages_by_index(&files);
        let mut own_idxs: HashSet<usize> = known.keys().copied().collect();
        let store = UsageStore::open_with_known(&files, roots, cache_dir, known);
        let is_of_session = |idx: usize| !session.is_empty() && store.headers[idx].session == session;
        for (idx, file) in files.iter().enumerate() {
            if is_of_session(idx) && own_idxs.insert(idx) {
                match FileProgress::refresh(file, None, false) {
                    Ok(refreshed) => session_files.files.push(refreshed),
                    Err(error) => session_files.failures.push(error),
                }
            }
        }
        // A file without a known session may turn out to belong to this session.
        let has_known_session = |(idx, file): &(usize, &SessionFile)| {
            main.is_some_and(|main| main.parent() == file.path.parent())
                && !store.headers[*idx].session.is_empty()
        };
        let siblings = files.iter().enumerate().filter(has_known_session);
        let known_siblings =
            siblings.filter_map(|(_, file)| file.path.file_name()).map(file_name_id).collect();
        let (mut wanted, since) = find_recent(&store, from);
        let responses = session_files.files.iter().flat_map(|file| &file.usage().responses);
        wanted.extend(responses.map(|response| response.message));
        let mut others = Vec::new();
        for (idx, header) in store.headers.iter().enumerate().filter(|(idx, _)| !own_idxs.contains(idx)) {
            if header.messages.iter().any(|message| wanted.contains(message)) {
                others.push((
                    files[idx].path.clone(),
                    store.file_usage(idx).filter_messages(|message| wanted.contains(&message)),
                ));
            }
        }
        let (read_errors, warning) = store.close();
        session_files.failures.extend(read_errors);
        let old_counts = session_files.count_old(since);
        (
            StatuslineCache {
                created_at: now,
                since,
                old_counts,
                known_siblings,
                others,
                progress: Vec::new(),
            },
            warning,
        )
    }
}

/// Returns the ids of the messages since `from` and of the five hours before, and the start of the block that was running
/// at `from`. Without such a block, returns `from`.
fn find_recent(store: &UsageStore<'_>, from: Timestamp) -> (IdSet, Timestamp) {
    let earliest = Timestamp(from.0.saturating_sub(BLOCK_MILLIS));
    let (mut recent, mut times) = (IdSet::default(), Vec::new());
    store.for_each_file_and_response(
        |file_usage| {
            let responses = file_usage
                .responses
                .iter()
                .filter(|response| response.time.is_some_and(|time| time >= earliest));
            recent.extend(responses.map(|response| response.message));
        },
        |response| times.extend(response.time()),
    );
    times.sort_unstable();
    let running = find_block(&find_block_starts(times), from);
    let running = running.filter(|start| from.0.saturating_sub(start.0) < BLOCK_MILLIS);
    (recent, running.unwrap_or(from))
}
