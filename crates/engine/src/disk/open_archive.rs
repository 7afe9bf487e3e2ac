//! The archives that this process reads: a file that only an archive has is found under the path that it had.
//!
//! Most functions of this library get the path of a session and nothing else, and caches and the search index know a file
//! by its path. So a session keeps its path when its file vanishes, and an open archive serves the path.
//!
//! An earlier state of a file has a path below the archive: `machines/<id>/files/<place>@<number>/<path>`. Nothing exists there.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rethread_core::id::{Id, IdMap};

use super::find::{ArchiveScope, FileRole, SessionFile};
use super::fingerprint::FileFingerprint;
use super::is_session_id;
use super::walk::is_session_data;
use crate::Error;
use crate::archive_reader::catalog::Generation;
use crate::archive_reader::{
    Archive, ArchivedContent, ArchivedFile, ArchivedFileId, MACHINES_DIR, list_manifests,
};

/// The archives that were opened, each with the latest state that was read.
static OPEN_ARCHIVES: Mutex<Vec<Arc<OpenArchive>>> = Mutex::new(Vec::new());

/// The folder in the folder of a machine below which the states of its files have paths.
const STATES_DIR: &str = "files";

/// An archive that is open for reading.
#[derive(Debug)]
struct OpenArchive {
    dir: PathBuf,
    /// The manifests. A changed manifest has another fingerprint, because it is replaced by a rename.
    manifests: Vec<(PathBuf, FileFingerprint)>,
    archive: Arc<Archive>,
    /// The files by the paths that they had, sorted. Of several files with one path, the longest.
    by_path: OnceLock<Vec<(PathBuf, ArchivedFileId)>>,
}

fn lock_archives() -> MutexGuard<'static, Vec<Arc<OpenArchive>>> {
    OPEN_ARCHIVES.lock().unwrap_or_else(PoisonError::into_inner)
}

impl OpenArchive {
    /// Opens the archive in a folder. Reads its catalogs only if a manifest changed since the last call in this process.
    fn open(dir: &Path) -> Arc<OpenArchive> {
        let mut open = lock_archives();
        let with_fingerprint = |path: PathBuf| {
            let meta = std::fs::metadata(&path).ok()?;
            Some((path, FileFingerprint::from_metadata(&meta)))
        };
        // Read before the content, so that a later change is noticed by the next call.
        let manifests: Vec<_> = list_manifests(dir).into_iter().filter_map(with_fingerprint).collect();
        if let Some(known) = open.iter().find(|known| known.dir == dir && known.manifests == manifests) {
            return Arc::clone(known);
        }
        let archive = Arc::new(Archive::open_dir(dir));
        let opened =
            Arc::new(OpenArchive { dir: dir.to_owned(), manifests, archive, by_path: OnceLock::new() });
        open.retain(|known| known.dir != dir);
        open.push(Arc::clone(&opened));
        opened
    }

    fn by_path(&self) -> &[(PathBuf, ArchivedFileId)] {
        self.by_path.get_or_init(|| {
            let mut files: Vec<_> =
                self.archive.files().map(|file| (file.original_path(), rank(&file), file.id())).collect();
            files.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| b.1.cmp(&a.1)));
            files.dedup_by(|a, b| a.0 == b.0);
            files.into_iter().map(|(path, _, id)| (path, id)).collect()
        })
    }

    fn find(&self, path: &Path) -> Option<ArchivedFile<'_>> {
        let files = self.by_path();
        let find = |path: &Path| {
            let idx = files.binary_search_by(|(known, _)| known.as_path().cmp(path)).ok()?;
            self.archive.file(&files[idx].1)
        };
        find(path).or_else(|| find(&std::path::absolute(path).ok()?))
    }
}

impl OpenArchive {
    /// Finds the state that a path names: a state by its number, or the newest one of the file that had the path.
    fn find_state(&self, path: &Path) -> Option<(ArchivedFile<'_>, &Generation)> {
        if let Some(states) = self.parse_state_path(path) {
            let file = self.files_of(&states).find(|file| file.relative == states.relative)?;
            let generation = states.find_generation(&file);
            return Some((file, generation));
        }
        let file = self.find(path)?;
        let newest = file.newest();
        Some((file, newest))
    }

    /// Parses the path of a state in this archive. Returns `None` for any other path.
    fn parse_state_path<'p>(&self, path: &'p Path) -> Option<StatePath<'p>> {
        let mut parts = path.strip_prefix(self.dir.join(MACHINES_DIR)).ok()?.components();
        let machine = parts.next()?.as_os_str();
        parts.next().filter(|part| part.as_os_str() == STATES_DIR)?;
        let (place, number) = parts.next()?.as_os_str().to_str()?.split_once('@')?;
        let (place, number) = (place.parse().ok()?, number.parse().ok()?);
        Some(StatePath { machine, place, number, relative: parts.as_path() })
    }

    /// Returns the files of the machine and the place that a path names.
    fn files_of<'a>(&'a self, path: &StatePath<'_>) -> impl Iterator<Item = ArchivedFile<'a>> {
        let (machine, place) = (path.machine.to_owned(), path.place);
        self.archive.files().filter(move |file| file.machine_id() == machine && file.place() == place)
    }

    /// Returns the path of a state.
    fn state_path(&self, file: &ArchivedFile<'_>, number: u32) -> PathBuf {
        let machine_dir = self.dir.join(MACHINES_DIR).join(file.machine_id());
        machine_dir.join(STATES_DIR).join(format!("{}@{number}", file.place())).join(&file.relative)
    }
}

/// The parts of the path of a state.
struct StatePath<'p> {
    machine: &'p OsStr,
    place: u32,
    number: u32,
    relative: &'p Path,
}

impl StatePath<'_> {
    /// Returns the state with the number. Files next to the transcript may have fewer states: then it is their newest one.
    fn find_generation<'a>(&self, file: &ArchivedFile<'a>) -> &'a Generation {
        let generation = file.generations.iter().find(|generation| generation.number == self.number);
        generation.unwrap_or_else(|| file.newest())
    }
}

/// Returns the path under which a state of a file can be read. `path` is the path that the file has or had. Returns the
/// numbers of the known states if there is no such state.
pub(crate) fn find_state_path(path: &Path, number: u32) -> Result<PathBuf, Vec<u32>> {
    let open = lock_archives().clone();
    let Some((open, file)) = open.iter().find_map(|open| Some((open, open.find(path)?))) else {
        return Err(Vec::new());
    };
    let known: Vec<u32> = file.generations.iter().map(|generation| generation.number).collect();
    if known.contains(&number) { Ok(open.state_path(&file, number)) } else { Err(known) }
}

/// Returns the number of the state that a path names. Returns `None` for any other path.
pub(crate) fn find_state_number(path: &Path) -> Option<u32> {
    let open = lock_archives().clone();
    open.iter().find_map(|open| Some(open.parse_state_path(path)?.number))
}

/// Returns the order of copies of one file: the longest is the best, then the newest.
fn rank(file: &ArchivedFile<'_>) -> (u64, i64) {
    (file.newest().bytes, file.newest().modified)
}

/// Opens the newest archived content of the file that had this path. Returns `None` if no open archive has it.
pub(super) fn find_content(path: &Path) -> Option<ArchivedContent> {
    let find = |open: &Arc<OpenArchive>| {
        let (file, generation) = open.find_state(path)?;
        Some(ArchivedContent::new(&open.archive, &file, generation))
    };
    // Reading an archive opens no other one, but it may take long.
    let open = lock_archives().clone();
    open.iter().find_map(find)
}

/// Returns the fingerprint of the newest archived content of the file that had this path. Returns `None` if no open archive
/// has it.
pub(super) fn find_fingerprint(path: &Path) -> Option<FileFingerprint> {
    let open = lock_archives().clone();
    open.iter().find_map(|open| Some(FileFingerprint::from_archived(open.find_state(path)?.1)))
}

/// Lists the paths below a folder at which no file exists, but of which an open archive has the content. Sorted.
pub(crate) fn list_archived_below(folder: &Path) -> Vec<PathBuf> {
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let mut paths = Vec::new();
    for open in lock_archives().clone() {
        if let Some(states) = open.parse_state_path(&absolute) {
            let below = open.files_of(&states).filter(|file| file.relative.starts_with(states.relative));
            paths.extend(below.map(|file| open.state_path(&file, states.number)));
            continue;
        }
        let files = open.by_path();
        let first = files.partition_point(|(path, _)| path < &absolute);
        let below = files[first..].iter().take_while(|(path, _)| path.starts_with(&absolute));
        let missing = below.filter(|(path, _)| std::fs::symlink_metadata(path).is_err());
        paths.extend(missing.filter_map(|(path, _)| Some(folder.join(path.strip_prefix(&absolute).ok()?))));
    }
    paths.sort();
    paths.dedup();
    paths
}

/// Creates the description of an archived file under a path. Returns `None` if no open archive has it.
pub(crate) fn find_archived_file(path: &Path, root: &Arc<Path>) -> Option<SessionFile> {
    let open = lock_archives().clone();
    open.iter().find_map(|open| {
        let (_, generation) = open.find_state(path)?;
        Some(build_file(path.to_owned(), Arc::clone(root), generation))
    })
}

/// Finds the session files that only an archive has. `live` are the files on disk, `walked` the folders that were searched
/// for them; it is empty if a part of them could not be read. Adds damage of the archive to `failures`.
///
/// An archived file is omitted if it exists on disk, or if another file of the same session with the same name is at least
/// as long: a copy on disk, or one of another machine.
pub(super) fn find_archived(
    scope: &ArchiveScope,
    roots: &[PathBuf],
    live: &[SessionFile],
    walked: &[PathBuf],
    failures: &mut Vec<Error>,
) -> Vec<SessionFile> {
    let open = OpenArchive::open(&scope.dir);
    failures.extend(open.archive.damages.iter().map(|damage| {
        let source = std::io::Error::new(std::io::ErrorKind::InvalidData, damage.kind.to_string());
        Error::Unreadable { path: damage.path.clone(), source }
    }));
    let roots: Vec<PathBuf> = roots.iter().filter_map(|root| std::path::absolute(root).ok()).collect();
    let mut candidates: Vec<(PathBuf, ArchivedFile<'_>)> = Vec::new();
    for file in open.archive.files().filter(is_session_file) {
        let path = file.original_path();
        if scope.all_places || roots.iter().any(|root| path.starts_with(root)) {
            candidates.push((path, file));
        }
    }
    if candidates.is_empty() {
        return Vec::new();
    }
    // The longest copy of each file comes first.
    candidates.sort_by(|a, b| rank(&b.1).cmp(&rank(&a.1)).then_with(|| a.0.cmp(&b.0)));
    let mut longest: IdMap<u64> = IdMap::default();
    let mut live_paths: IdMap<()> = IdMap::default();
    for file in live {
        let len = longest.entry(identify_file(&file.path)).or_default();
        *len = file.len.max(*len);
        live_paths.insert(file.path_id(), ());
    }
    let mut place_roots: HashMap<PathBuf, Arc<Path>> = HashMap::new();
    let mut missing_dirs: HashMap<PathBuf, bool> = HashMap::new();
    let mut found = Vec::new();
    for (path, file) in candidates {
        let id = identify_file(&path);
        if live_paths.contains_key(&Id::from_text(path.as_os_str().as_encoded_bytes()))
            || longest.get(&id).is_some_and(|&len| len >= file.newest().bytes)
            || !walked.iter().any(|folder| path.starts_with(folder)) && exists(&path, &mut missing_dirs)
        {
            continue;
        }
        longest.insert(id, file.newest().bytes);
        let is_in_projects = file.relative.starts_with("projects") && file.is_in_client_dir();
        let root = if is_in_projects { file.root.join("projects") } else { file.root.clone() };
        let root = place_roots.entry(root).or_insert_with_key(|root| root.as_path().into());
        found.push(build_file(path, Arc::clone(root), file.newest()));
    }
    found
}

/// Returns `true` if a file exists. `missing_dirs` remembers which folders do not exist.
fn exists(path: &Path, missing_dirs: &mut HashMap<PathBuf, bool>) -> bool {
    let Some(dir) = path.parent() else { return false };
    let is_missing = *missing_dirs.entry(dir.to_owned()).or_insert_with(|| !dir.is_dir());
    !is_missing && std::fs::symlink_metadata(path).is_ok()
}

/// Returns `true` if an archived file is a transcript or a stored tool result.
fn is_session_file(file: &ArchivedFile<'_>) -> bool {
    let (folder, name) = (file.relative.parent(), file.relative.file_name().unwrap_or_default());
    is_session_data(folder.unwrap_or(Path::new("")), name)
        && (file.relative.starts_with("projects") || !file.is_in_client_dir())
}

/// Returns an id that copies of one file share: the id of its session and the rest of its path. If the path has no session
/// id, the names of its folder and file.
fn identify_file(path: &Path) -> Id {
    let is_separator = |byte: &u8| std::path::is_separator(char::from(*byte));
    let bytes = path.as_os_str().as_encoded_bytes();
    let (mut end, mut start, mut names) = (bytes.len(), 0, 0);
    while end > 0 {
        let from = bytes[..end].iter().rposition(is_separator).map_or(0, |idx| idx + 1);
        let name = bytes[from..end].strip_suffix(b".jsonl").unwrap_or(&bytes[from..end]);
        names += 1;
        if names <= 2 {
            start = from;
        }
        if std::str::from_utf8(name).is_ok_and(is_session_id) {
            start = from;
            break;
        }
        end = from.saturating_sub(1);
    }
    Id::from_text(&bytes[start..])
}

fn build_file(path: PathBuf, root: Arc<Path>, generation: &Generation) -> SessionFile {
    let modified =
        u64::try_from(generation.modified).ok().map(|millis| UNIX_EPOCH + Duration::from_millis(millis));
    SessionFile {
        role: FileRole::from_path(&path),
        path,
        root,
        len: generation.bytes,
        mtime: modified.filter(|_: &SystemTime| generation.modified > 0),
        fingerprint: FileFingerprint::from_archived(generation),
        is_stable: true,
        is_archived: true,
    }
}
