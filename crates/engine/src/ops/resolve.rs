//! Finds a session by name: an id, the start of one, a path, `last`, or part of a title.

use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use rethread_core::entry::Timestamp;

use super::list::{SessionFilter, SessionRow, list_sessions};
use crate::Error;
use crate::cache::CacheDir;
use crate::disk::{self, FileRole, Roots, SessionFile, find_sessions, is_file, read_last_message_time};
use crate::session::per_file_cache::find_files;

/// The maximum number of similar sessions that an error lists.
const MAX_SUGGESTIONS: usize = 5;

/// Finds the file of a session. `name` is an id, the start of one, a path, `last`, or part of a title.
///
/// A name that ends with `@` and a number is a state of the session in the archive, if no session has this name.
///
/// Returns an error with suggestions if several sessions match, or none.
pub fn find_session(roots: &Roots, name: &str, cache: Option<&CacheDir>) -> Result<PathBuf, Error> {
    let found = find_current_session(roots, name, cache);
    let state = name.rsplit_once('@').and_then(|(session, number)| Some((session, number.parse().ok()?)));
    match (&found, state) {
        (Err(Error::UnknownSession { .. }), Some((session, number))) => {
            let path = find_current_session(roots, session, cache)?;
            let session = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let unknown = |known| Error::UnknownGeneration { session, number, known };
            disk::find_state_path(&path, number).map_err(unknown)
        }
        _ => found,
    }
}

/// Finds the file of a session by a name without a state.
fn find_current_session(roots: &Roots, name: &str, cache: Option<&CacheDir>) -> Result<PathBuf, Error> {
    // A name in the form of a path is a path. Any other name is tried as an id and a title first.
    let path = Path::new(name);
    let has_path_form = name.contains(std::path::MAIN_SEPARATOR) || name.ends_with(".jsonl");
    if has_path_form && is_file(path) {
        return Ok(path.to_owned());
    }
    let (files, _) = find_files(roots, cache);
    if name == "last" {
        return find_newest(&files)
            .ok_or_else(|| Error::UnknownSession { name: name.to_owned(), nearest: Vec::new() });
    }
    let lower = name.to_lowercase();
    let has_name = |file: &&SessionFile| match file.role {
        FileRole::Main => file.stem().starts_with(&*lower),
        FileRole::Result { .. } => false,
        FileRole::Agent { .. } => file.stem() == lower || file.stem().strip_prefix("agent-") == Some(&*lower),
    };
    let named_files: Vec<&SessionFile> = files.iter().filter(has_name).collect();
    if let [file] = named_files[..] {
        return Ok(file.path.clone());
    }
    let rows = list_sessions(roots, &SessionFilter { all: true, ..SessionFilter::default() }, cache).rows;
    let found = find_in_rows(&rows, name);
    if found.is_err() && is_file(path) { Ok(path.to_owned()) } else { found }
}

/// Finds the file of a session to change, like [`find_session`]. Returns an error if it is not below one of the roots, or if
/// only the archive has the session.
pub fn find_session_to_change(roots: &Roots, name: &str, cache: Option<&CacheDir>) -> Result<PathBuf, Error> {
    let path = find_session(roots, name, cache)?;
    ensure_on_disk(&path)?;
    if roots_contain(roots, &path) { Ok(path) } else { Err(Error::OutsideStore { path }) }
}

/// Finds the file of a session to copy, like [`find_session_to_change`]. A session that only the archive has can be copied if
/// it was below one of the roots: the copy is written there.
pub fn find_session_to_copy(roots: &Roots, name: &str, cache: Option<&CacheDir>) -> Result<PathBuf, Error> {
    let path = find_session(roots, name, cache)?;
    let is_inside = if is_only_archived(&path) {
        let roots = roots.paths.iter().filter_map(|root| std::path::absolute(root).ok());
        std::path::absolute(&path).is_ok_and(|path| roots.into_iter().any(|root| path.starts_with(root)))
    } else {
        roots_contain(roots, &path)
    };
    if is_inside { Ok(path) } else { Err(Error::OutsideStore { path }) }
}

/// Returns `true` if there is no file at the path of a session, but the archive has its content.
pub fn is_only_archived(path: &Path) -> bool {
    disk::is_only_archived(path)
}

/// Returns the number of the archived state that a path names. Returns `None` for the path of a session file.
pub fn find_state_number(path: &Path) -> Option<u32> {
    disk::find_state_number(path)
}

/// Returns [`Error::OnlyArchived`] if only the archive has the session, so that it cannot be changed.
pub(crate) fn ensure_on_disk(path: &Path) -> Result<(), Error> {
    if is_only_archived(path) { Err(Error::OnlyArchived { path: path.to_owned() }) } else { Ok(()) }
}

/// Returns `true` if a name of the session file `path` cannot match another session by chance: its path, or at least four
/// characters of its id. `id` is the id in the file, which may differ from the name of the file.
pub fn is_exact_name(name: &str, path: &Path, id: &str) -> bool {
    const MIN_PREFIX_LEN: usize = 4;
    if Path::new(name) == path || name.contains(std::path::MAIN_SEPARATOR) || name.ends_with(".jsonl") {
        return true;
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let names = [&*stem, stem.strip_prefix("agent-").unwrap_or(&stem), id];
    name.len() >= MIN_PREFIX_LEN
        && names.iter().any(|known| known.to_lowercase().starts_with(&name.to_lowercase()))
}

/// Returns `true` if a file is below one of the roots, also through symbolic links.
pub fn roots_contain(roots: &Roots, path: &Path) -> bool {
    let canonicalize = |path: &Path| path.canonicalize().ok();
    let (file, folders) = (canonicalize(path), roots.paths.iter().filter_map(|root| canonicalize(root)));
    let is_inside = file.is_some_and(|file| folders.into_iter().any(|folder| file.starts_with(folder)));
    // A symbolic link may lead to a folder outside the roots: walk them.
    is_inside || find_sessions(roots).0.iter().any(|found| canonicalize(&found.path) == canonicalize(path))
}

/// Finds the session with the latest message. Interactive sessions are preferred to headless ones. Returns `None` if no
/// main file has a message with a time.
///
/// A file cannot contain a message later than its modification time. So the files are read from the newest modification
/// down, until no remaining file can have a later message.
fn find_newest(files: &[SessionFile]) -> Option<PathBuf> {
    let mut mains: Vec<&SessionFile> = files.iter().filter(|file| file.role == FileRole::Main).collect();
    mains.sort_by_key(|file| std::cmp::Reverse(file.mtime));
    let mut best: Option<(bool, Timestamp, &SessionFile)> = None;
    let mut mtimes_are_valid = true;
    for file in mains {
        let modified =
            file.mtime.and_then(|mtime| mtime.duration_since(UNIX_EPOCH).ok()).map_or(i64::MAX, to_millis);
        if mtimes_are_valid
            && best.is_some_and(|(is_interactive, latest, _)| is_interactive && latest.0 > modified)
        {
            break;
        }
        if let Ok(Some((last_time, is_headless))) = read_last_message_time(&file.path) {
            // The modification time of a copied file may be before its messages. Then no modification time is reliable.
            mtimes_are_valid &= last_time.0 <= modified.saturating_add(2000);
            if best.is_none_or(|(is_interactive, latest, _)| {
                (!is_headless, last_time) > (is_interactive, latest)
            }) {
                best = Some((!is_headless, last_time, file));
            }
        }
    }
    best.map(|(.., file)| file.path.clone())
}

fn to_millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// Finds a session by id, start of the id, title, or part of the title, in this order.
fn find_in_rows(rows: &[SessionRow], name: &str) -> Result<PathBuf, Error> {
    let lower = name.to_lowercase();
    let title = |row: &SessionRow| row.title.text.to_lowercase();
    // The first criterion that matches any row decides. An equal title is preferred to one that contains the name.
    let criteria: [&dyn Fn(&SessionRow) -> bool; 4] =
        [&|row| row.id == name, &|row| row.id.starts_with(name), &|row| title(row) == lower, &|row| {
            title(row).contains(&lower)
        }];
    for criterion in criteria {
        let found: Vec<&SessionRow> = rows.iter().filter(|row| criterion(row)).collect();
        match found[..] {
            [] => {}
            [row] => return Ok(row.path.clone()),
            _ => {
                let has_duplicate_id =
                    |row: &SessionRow| found.iter().filter(|other| other.id == row.id).count() > 1;
                let candidates = found.iter().map(|row| describe_row(row, has_duplicate_id(row))).collect();
                return Err(Error::AmbiguousSession { name: name.to_owned(), candidates });
            }
        }
    }
    let mut scored: Vec<(usize, &SessionRow)> =
        rows.iter().map(|row| (score_similarity(row, &lower), row)).collect();
    scored.sort_by_key(|&(score, _)| std::cmp::Reverse(score));
    let nearest = scored.into_iter().take(MAX_SUGGESTIONS).map(|(_, row)| describe_row(row, false)).collect();
    Err(Error::UnknownSession { name: name.to_owned(), nearest })
}

/// Returns a name that the user can type, and the title. The name is the id, or the path if the id is ambiguous or is
/// not the name of the file.
fn describe_row(row: &SessionRow, has_duplicate_id: bool) -> (String, String) {
    let is_id_usable =
        !has_duplicate_id && row.path.file_stem().is_some_and(|stem| stem.to_str() == Some(&row.id));
    let name = if is_id_usable { row.id.clone() } else { row.path.display().to_string() };
    (name, row.title.text.clone())
}

/// Scores how similar a name in lower case is to an id (common prefix) or a title (common words and letter pairs).
fn score_similarity(row: &SessionRow, name: &str) -> usize {
    let prefix_len = row.id.bytes().zip(name.bytes()).take_while(|(a, b)| a == b).count();
    let title = row.title.text.to_lowercase();
    let word_count = name.split_whitespace().filter(|word| word.len() > 2 && title.contains(word)).count();
    // Letter pairs catch typos.
    let pair_count = name
        .as_bytes()
        .windows(2)
        .filter(|pair| title.as_bytes().windows(2).any(|title_pair| title_pair == *pair))
        .count();
    prefix_len * 4 + word_count * 8 + pair_count.min(7)
}
