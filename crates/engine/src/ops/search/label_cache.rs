//! The labels of many files: from what was kept where nothing has changed, by reading where it has.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use rethread_core::id::Id;
use rethread_core::pack::Pack;
use rethread_core::tree::LineSpan;

use super::hit::session_of;
use super::labels::Labels;
use crate::Error;
use crate::cache::{CacheDir, CacheWarning, FileCache, NewCacheEntry};
use crate::disk::{FileRole, Roots, SessionFile};
use crate::session::match_context::ContextStatus;

/// What labels are kept by.
const LABELS: &str = "labels";

/// How the entries of files stand, as far as it was asked.
#[derive(Debug, Default)]
pub(super) struct LabelCache {
    known: HashMap<PathBuf, Rc<Labels>>,
    /// What the files in a folder look like.
    looks: HashMap<PathBuf, u64>,
    /// Labels that were kept, and those that are to be.
    kept: Kept,
    fresh: Vec<NewCacheEntry>,
    /// Files that could not be read.
    pub(super) failures: Vec<Error>,
}

/// What was kept, which is not opened before it is asked.
#[derive(Debug, Default)]
enum Kept {
    #[default]
    Nowhere,
    Closed(CacheDir, Roots),
    Open(Box<FileCache>),
}

impl Kept {
    fn open(&mut self) -> Option<&mut FileCache> {
        if let Kept::Closed(index, roots) = self {
            let facts = index.single_facts(roots, LABELS);
            *self = facts.map_or(Kept::Nowhere, |facts| Kept::Open(Box::new(facts)));
        }
        match self {
            Kept::Open(facts) => Some(facts),
            _ => None,
        }
    }
}

impl LabelCache {
    /// Takes what was kept of the files under some roots.
    pub(super) fn of(index: Option<&CacheDir>, roots: &Roots) -> LabelCache {
        let index = index.filter(|index| index.folder_for(roots).is_some());
        let kept = index.map_or(Kept::Nowhere, |index| Kept::Closed(index.clone(), roots.clone()));
        LabelCache { kept, ..LabelCache::default() }
    }

    /// Whether labels are kept.
    pub(super) fn is_kept(&self) -> bool {
        !matches!(self.kept, Kept::Nowhere)
    }

    /// Goes on with files that were found anew: what was read of the old ones is forgotten.
    pub(super) fn on_other_files(self) -> LabelCache {
        LabelCache { kept: self.kept, failures: self.failures, ..LabelCache::default() }
    }

    /// Returns the turn of an entry and how it stands to what the client would load.
    pub(super) fn at(
        &mut self,
        found: &[SessionFile],
        file: usize,
        place: LineSpan,
    ) -> (Option<u32>, ContextStatus) {
        let file = &found[file];
        let FileRole::Result { session } = &file.role else {
            return self.labels(found, &file.path).at(place.offset);
        };
        let Some(main) = session_of(&file.path, session) else { return (None, ContextStatus::Outside) };
        let labels = self.labels(found, &main);
        let name = file.path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        labels.result(&name).map_or((None, ContextStatus::Outside), |offset| labels.at(offset))
    }

    /// Returns the labels of a file.
    pub(super) fn labels(&mut self, found: &[SessionFile], path: &Path) -> Rc<Labels> {
        if let Some(known) = self.known.get(path) {
            return Rc::clone(known);
        }
        let labels = Rc::new(self.read(found, path));
        self.known.insert(path.to_owned(), Rc::clone(&labels));
        labels
    }

    fn read(&mut self, found: &[SessionFile], path: &Path) -> Labels {
        let no = found.binary_search_by(|file| file.path.as_path().cmp(path)).ok();
        let known = no.zip(self.kept.open()).and_then(|(no, kept)| kept.get_one::<Labels>(&found[no]));
        let folder = path.parent().unwrap_or(Path::new(""));
        let looks = &mut self.looks;
        let mut beside = || match looks.get(folder) {
            Some(known) => *known,
            None => *looks.entry(folder.to_owned()).or_insert(self::looks(found, folder)),
        };
        if let Some(known) = known.filter(|known| known.beside.is_none_or(|looked| looked == beside())) {
            return known;
        }
        match Labels::of(path, beside) {
            Ok(labels) => {
                if let Some(no) = no.filter(|&no| self.is_kept() && found[no].settled) {
                    self.fresh.push(NewCacheEntry { no, cost: found[no].len, blob: labels.blob() });
                }
                labels
            }
            Err(failure) => {
                self.failures.push(failure);
                Labels::default()
            }
        }
    }

    /// Keeps what was read for the next time; says what went wrong.
    pub(super) fn keep(self, found: &[SessionFile]) -> Option<CacheWarning> {
        match self.kept {
            Kept::Open(kept) => kept.add(found, self.fresh),
            _ => None,
        }
    }
}

/// Says what the files in a folder look like: any change there gives another number.
fn looks(found: &[SessionFile], folder: &Path) -> u64 {
    let folder = folder.as_os_str().as_encoded_bytes();
    let mut looks = Vec::new();
    for file in found {
        let path = file.path.as_os_str().as_encoded_bytes();
        let name = path.strip_prefix(folder).and_then(|rest| rest.get(1..));
        if let Some(name) = name.filter(|name| !name.contains(&b'/')) {
            name.len().pack(&mut looks);
            looks.extend_from_slice(name);
            file.mark.pack(&mut looks);
        }
    }
    Id::of(&looks).bits() as u64
}
