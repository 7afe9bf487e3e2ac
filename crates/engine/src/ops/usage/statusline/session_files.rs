//! The files of the session that is asked about.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use rethread_core::entry::{Timestamp, Usage};
use rethread_core::id::{Id, IdSet};
use rethread_core::usage::FileUsage;

use super::file_progress::{FileProgress, RefreshedFile};
use super::statusline_cache::StatuslineCache;
use crate::Error;
use crate::disk::{SessionFile, agents_beside, find_session_files};

/// The session's own files as they are now.
#[derive(Default)]
pub(super) struct Family {
    pub(super) turned: Vec<RefreshedFile>,
    /// Whether one was rewritten, or is gone.
    pub(super) rewritten: bool,
    pub(super) failures: Vec<Error>,
}

impl Family {
    /// Reads on in the files of the session in `main`; from the beginning where what is kept of them is not to be trusted.
    pub(super) fn read(main: &Path, kept: Option<&mut StatuslineCache>, trust: bool) -> Family {
        let Some(kept) = kept else {
            // Of what lies beside it nobody knows whose it is before all files are looked at.
            return Family::turn(&find_session_files(main, std::iter::empty()), Vec::new(), false);
        };
        let pages = std::mem::take(&mut kept.pages);
        let known: IdSet = kept.beside.iter().copied().collect();
        let unknown = agents_beside(main).into_iter().filter(|name| !known.contains(&id(name)));
        let unknown = unknown.map(|name| main.with_file_name(name));
        let more: Vec<PathBuf> = pages.iter().map(|page| page.path.clone()).chain(unknown).collect();
        Family::turn(&find_session_files(main, more.iter().map(PathBuf::as_path)), pages, trust)
    }

    fn turn(files: &[SessionFile], pages: Vec<FileProgress>, trust: bool) -> Family {
        let mut pages: HashMap<PathBuf, FileProgress> =
            pages.into_iter().map(|page| (page.path.clone(), page)).collect();
        let mut family = Family::default();
        for file in files {
            match FileProgress::refresh(file, pages.remove(&file.path), trust) {
                Ok(turned) => {
                    family.rewritten |= turned.rewritten;
                    family.turned.push(turned);
                }
                Err(failure) => family.failures.push(failure),
            }
        }
        family.rewritten |= !pages.is_empty();
        family
    }

    /// Leaves out what lies beside the session in `main` and is not of it.
    pub(super) fn keep_own(&mut self, main: Option<&Path>, session: &str) {
        let folder = main.map(|main| main.with_extension(""));
        self.turned.retain(|turned| {
            let path = &turned.page.path;
            let lies = main == Some(path.as_path())
                || folder.as_ref().is_some_and(|folder| path.starts_with(folder));
            lies || turned.sheet().session == session
        });
    }

    /// Returns the sheets of the family by the numbers that its files have among all.
    pub(super) fn given(&self, files: &[SessionFile]) -> HashMap<usize, FileUsage> {
        let mut given = HashMap::new();
        for (no, file) in files.iter().enumerate() {
            if let Some(turned) = self.turned.iter().find(|turned| turned.page.is_of(file)) {
                given.insert(no, turned.sheet().clone());
            }
        }
        given
    }

    fn main(&self, main: Option<&Path>) -> Option<&RefreshedFile> {
        self.turned.iter().find(|turned| main == Some(turned.page.path.as_path()))
    }

    /// Whether the session has a file.
    pub(super) fn has(&self, main: Option<&Path>) -> bool {
        self.main(main).is_some()
    }

    /// Returns what session the file in `main` says it is of.
    pub(super) fn session(&self, main: &Path) -> Option<&str> {
        self.main(Some(main)).map(|turned| turned.sheet().session.as_str())
    }

    /// Returns the model and the tokens of the last response that is not of a subagent.
    pub(super) fn last(&self, main: Option<&Path>) -> Option<(String, Usage)> {
        let sheet = self.main(main)?.sheet();
        let charge = sheet.charges.iter().rfind(|charge| !charge.side)?;
        Some((sheet.model(charge).to_owned(), charge.usage))
    }

    /// Returns what is to be kept of its files.
    pub(super) fn pages(&self) -> Vec<FileProgress> {
        self.turned.iter().map(|turned| turned.page.clone()).collect()
    }

    /// Returns the sheets of its files, with their paths.
    pub(super) fn into_sheets(self) -> impl Iterator<Item = (PathBuf, FileUsage)> {
        self.turned.into_iter().map(RefreshedFile::into_sheet)
    }

    /// Returns how many bytes were read.
    pub(super) fn read_bytes(&self) -> u64 {
        self.turned.iter().map(|turned| turned.read).sum()
    }

    /// Counts the charges without a time, and those before a moment.
    pub(super) fn old(&self, since: Timestamp) -> (usize, usize) {
        let charges = self.turned.iter().flat_map(|turned| &turned.sheet().charges);
        charges.fold((0, 0), |(timeless, before), charge| match charge.time {
            None => (timeless + 1, before),
            Some(time) => (timeless, before + usize::from(time < since)),
        })
    }
}

/// Names a file in a folder.
pub(super) fn id(name: &OsStr) -> Id {
    Id::of(name.as_encoded_bytes())
}
