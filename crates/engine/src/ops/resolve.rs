//! Which session a name means: an id, the start of one, a path, `last`, or words of a title.

use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use rethread_core::entry::Timestamp;

use super::list::{Filter, SessionRow, list};
use crate::Error;
use crate::cache::CacheDir;
use crate::disk::{FileRole, Roots, SessionFile, find, last_message_time};
use crate::session::per_file_cache::find_files;

/// How many names are offered instead of one that fits nothing.
const OFFERED: usize = 5;

/// Finds the file of the session called `name`.
pub fn find_session(roots: &Roots, name: &str, index: Option<&CacheDir>) -> Result<PathBuf, Error> {
    // What looks like a path is one; a bare word is a name first.
    let path = Path::new(name);
    let looks_like_path = name.contains(std::path::MAIN_SEPARATOR) || name.ends_with(".jsonl");
    if looks_like_path && path.is_file() {
        return Ok(path.to_owned());
    }
    let (files, _) = find_files(roots, index);
    if name == "last" {
        return newest(&files)
            .ok_or_else(|| Error::UnknownSession { name: name.to_owned(), nearest: Vec::new() });
    }
    let lower = name.to_lowercase();
    let fits = |file: &&SessionFile| match file.role {
        FileRole::Main => file.stem().starts_with(&*lower),
        FileRole::Result { .. } => false,
        FileRole::Agent { .. } => file.stem() == lower || file.stem().strip_prefix("agent-") == Some(&*lower),
    };
    let by_file: Vec<&SessionFile> = files.iter().filter(fits).collect();
    if let [file] = by_file[..] {
        return Ok(file.path.clone());
    }
    let rows = list(roots, &Filter { all: true, ..Filter::default() }, index).rows;
    let found = by_row(&rows, name);
    if found.is_err() && path.is_file() { Ok(path.to_owned()) } else { found }
}

/// Finds the file of a session that is to be changed: one in the folders that hold sessions.
pub fn find_session_to_change(roots: &Roots, name: &str, index: Option<&CacheDir>) -> Result<PathBuf, Error> {
    let path = find_session(roots, name, index)?;
    if roots_contain(roots, &path) { Ok(path) } else { Err(Error::OutsideStore { path }) }
}

/// Whether a file is one of those under some roots.
pub fn roots_contain(roots: &Roots, path: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    let (file, folders) = (real(path), roots.paths.iter().filter_map(|root| real(root)));
    let inside = file.is_some_and(|file| folders.into_iter().any(|folder| file.starts_with(folder)));
    // A link to a folder elsewhere is found by walking the roots.
    inside || find(roots).0.iter().any(|found| real(&found.path) == real(path))
}

/// Finds the session with the latest message, one of a person before those of programs. A file cannot hold a message
/// later than its last change, so files are looked at from the newest change down, until no other can win.
fn newest(files: &[SessionFile]) -> Option<PathBuf> {
    let mut mains: Vec<&SessionFile> = files.iter().filter(|file| file.role == FileRole::Main).collect();
    mains.sort_by_key(|file| std::cmp::Reverse(file.mtime));
    let mut best: Option<(bool, Timestamp, &SessionFile)> = None;
    let mut dated = true;
    for file in mains {
        let changed =
            file.mtime.and_then(|mtime| mtime.duration_since(UNIX_EPOCH).ok()).map_or(i64::MAX, millis);
        if dated && best.is_some_and(|(by_person, moment, _)| by_person && moment.0 > changed) {
            break;
        }
        if let Ok(Some((moment, headless))) = last_message_time(&file.path) {
            // A copy may be dated before its own messages: then no date of change says anything.
            dated &= moment.0 <= changed.saturating_add(2000);
            if best.is_none_or(|(by_person, latest, _)| (!headless, moment) > (by_person, latest)) {
                best = Some((!headless, moment, file));
            }
        }
    }
    best.map(|(.., file)| file.path.clone())
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

fn by_row(rows: &[SessionRow], name: &str) -> Result<PathBuf, Error> {
    let lower = name.to_lowercase();
    let title = |row: &SessionRow| row.title.text.to_lowercase();
    // The first way of naming that fits anything decides; a title that is the name beats one that holds it.
    let ways: [&dyn Fn(&SessionRow) -> bool; 4] =
        [&|row| row.id == name, &|row| row.id.starts_with(name), &|row| title(row) == lower, &|row| {
            title(row).contains(&lower)
        }];
    for way in ways {
        let found: Vec<&SessionRow> = rows.iter().filter(|row| way(row)).collect();
        match found[..] {
            [] => {}
            [row] => return Ok(row.path.clone()),
            _ => {
                let twin = |row: &SessionRow| found.iter().filter(|other| other.id == row.id).count() > 1;
                let candidates = found.iter().map(|row| offer(row, twin(row))).collect();
                return Err(Error::AmbiguousSession { name: name.to_owned(), candidates });
            }
        }
    }
    let mut near: Vec<(usize, &SessionRow)> = rows.iter().map(|row| (nearness(row, &lower), row)).collect();
    near.sort_by_key(|&(near, _)| std::cmp::Reverse(near));
    let nearest = near.into_iter().take(OFFERED).map(|(_, row)| offer(row, false)).collect();
    Err(Error::UnknownSession { name: name.to_owned(), nearest })
}

/// Names a row so that it can be typed: by id, or by path where several files have one id.
fn offer(row: &SessionRow, twin: bool) -> (String, String) {
    let by_file = !twin && row.path.file_stem().is_some_and(|stem| stem.to_str() == Some(&row.id));
    let name = if by_file { row.id.clone() } else { row.path.display().to_string() };
    (name, row.title.text.clone())
}

/// Counts the digits that an id shares with the name, or the words that a title does.
fn nearness(row: &SessionRow, name: &str) -> usize {
    let digits = row.id.bytes().zip(name.bytes()).take_while(|(a, b)| a == b).count();
    let title = row.title.text.to_lowercase();
    let words = name.split_whitespace().filter(|word| word.len() > 2 && title.contains(word)).count();
    // Letter pairs catch a slip of the pen.
    let pairs =
        name.as_bytes().windows(2).filter(|pair| title.as_bytes().windows(2).any(|p| p == *pair)).count();
    digits * 4 + words * 8 + pairs.min(7)
}
