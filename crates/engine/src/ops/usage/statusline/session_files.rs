//! The files of the requested session.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use rethread_core::entry::{Timestamp, Usage};
use rethread_core::id::{Id, IdSet};
use rethread_core::usage::FileUsage;

use super::file_progress::{FileProgress, RefreshedFile};
use super::statusline_cache::StatuslineCache;
use crate::Error;
use crate::disk::{SessionFile, find_session_files, list_sibling_agents};

/// The files of the session and its subagents with their current usage.
#[derive(Default)]
pub(super) struct SessionFiles {
    pub(super) files: Vec<RefreshedFile>,
    /// Whether a file with known progress was rewritten or removed.
    pub(super) was_rewritten: bool,
    pub(super) failures: Vec<Error>,
}

impl SessionFiles {
    /// Reads the session file `main` and its subagent files, incrementally if `trust_known` is set. Takes the progress from
    /// `cached`.
    pub(super) fn read(main: &Path, cached: Option<&mut StatuslineCache>, trust_known: bool) -> SessionFiles {
        let Some(cached) = cached else {
            // The owners of sibling files are unknown until all files are read.
            return SessionFiles::refresh_all(
                &find_session_files(main, std::iter::empty()),
                Vec::new(),
                false,
            );
        };
        let progress = std::mem::take(&mut cached.progress);
        let known: IdSet = cached.known_siblings.iter().copied().collect();
        let unknown =
            list_sibling_agents(main).into_iter().filter(|name| !known.contains(&file_name_id(name)));
        let unknown = unknown.map(|name| main.with_file_name(name));
        let candidates: Vec<PathBuf> = progress.iter().map(|file| file.path.clone()).chain(unknown).collect();
        SessionFiles::refresh_all(
            &find_session_files(main, candidates.iter().map(PathBuf::as_path)),
            progress,
            trust_known,
        )
    }

    /// Reads the new bytes of `files`. `progress` contains what earlier calls read.
    fn refresh_all(files: &[SessionFile], progress: Vec<FileProgress>, trust_known: bool) -> SessionFiles {
        let mut progress: HashMap<PathBuf, FileProgress> =
            progress.into_iter().map(|file| (file.path.clone(), file)).collect();
        let mut session_files = SessionFiles::default();
        for file in files {
            match FileProgress::refresh(file, progress.remove(&file.path), trust_known) {
                Ok(refreshed) => {
                    session_files.was_rewritten |= refreshed.was_rewritten;
                    session_files.files.push(refreshed);
                }
                Err(error) => session_files.failures.push(error),
            }
        }
        session_files.was_rewritten |= !progress.is_empty();
        session_files
    }

    /// Removes the files next to `main` that belong to another session than `session`.
    pub(super) fn keep_own(&mut self, main: Option<&Path>, session: &str) {
        let folder = main.map(|main| main.with_extension(""));
        self.files.retain(|file| {
            let path = &file.progress.path;
            let is_own_path = main == Some(path.as_path())
                || folder.as_ref().is_some_and(|folder| path.starts_with(folder));
            is_own_path || file.usage().session == session
        });
    }

    /// Returns the usages of the session files by their index in `files`.
    pub(super) fn usages_by_index(&self, files: &[SessionFile]) -> HashMap<usize, FileUsage> {
        let mut usages = HashMap::new();
        for (idx, file) in files.iter().enumerate() {
            if let Some(own) = self.files.iter().find(|own| own.progress.is_for_file(file)) {
                usages.insert(idx, own.usage().clone());
            }
        }
        usages
    }

    /// Returns the file with the path `main`. Returns `None` if it is not among the files that were read.
    fn main_file(&self, main: Option<&Path>) -> Option<&RefreshedFile> {
        self.files.iter().find(|file| main == Some(file.progress.path.as_path()))
    }

    /// Returns `true` if the main file exists and could be read.
    pub(super) fn has_main(&self, main: Option<&Path>) -> bool {
        self.main_file(main).is_some()
    }

    /// Returns the session id in the lines of the main file. Returns `None` if the file was not read.
    pub(super) fn session_id(&self, main: &Path) -> Option<&str> {
        self.main_file(Some(main)).map(|file| file.usage().session.as_str())
    }

    /// Returns the last response of the main conversation. Returns `None` if there is none.
    pub(super) fn last_response(&self, main: Option<&Path>) -> Option<LastResponse> {
        let usage = self.main_file(main)?.usage();
        let mut responses = usage.responses.iter().rev().filter(|response| !response.is_sidechain).peekable();
        let last = *responses.peek()?;
        let last_write = responses.find(|response| response.usage.cache_write > 0);
        Some(LastResponse {
            model: usage.model(last).to_owned(),
            usage: last.usage,
            time: last.time,
            has_long_cache: last_write.is_some_and(|response| response.usage.cache_write_1h > 0),
        })
    }

    /// Returns the progress of the files, to be cached.
    pub(super) fn progress(&self) -> Vec<FileProgress> {
        self.files.iter().map(|file| file.progress.clone()).collect()
    }

    /// Returns the paths and usages of the files.
    pub(super) fn into_usages(self) -> impl Iterator<Item = (PathBuf, FileUsage)> {
        self.files.into_iter().map(RefreshedFile::into_usage)
    }

    /// Returns the number of bytes that were read from all files.
    pub(super) fn bytes_read(&self) -> u64 {
        self.files.iter().map(|file| file.bytes_read).sum()
    }

    /// Returns the number of responses without a time, and the number of those before `since`.
    pub(super) fn count_old(&self, since: Timestamp) -> (usize, usize) {
        let responses = self.files.iter().flat_map(|file| &file.usage().responses);
        responses.fold((0, 0), |(without_time, before), response| match response.time {
            None => (without_time + 1, before),
            Some(time) => (without_time, before + usize::from(time < since)),
        })
    }
}

/// The last response of the main conversation.
pub(super) struct LastResponse {
    pub(super) model: String,
    pub(super) usage: Usage,
    pub(super) time: Option<Timestamp>,
    /// Whether the last write to the prompt cache has a lifetime of one hour, not of five minutes.
    pub(super) has_long_cache: bool,
}

/// Returns a hash of a file name.
pub(super) fn file_name_id(name: &OsStr) -> Id {
    Id::from_text(name.as_encoded_bytes())
}
