//! Takes a change back, from whatever point it came to: as it was before, with what others added since.
//!
//! Every step may be cut short and done again.

use std::io;
use std::path::Path;

use super::backup::BackupStore;
use super::files::{publish, remove_if_there, same_file, write_draft};
use super::plan::Content;
use super::record::{Change, FileOpKind, FileState};
use super::replace::{append, hard_link, read_from, replace_file};
use super::trash::{clear, file_state, move_back};
use crate::disk::{open, tail_at};

/// Takes one change back.
pub(super) fn roll_back(change: &Change, keep: &BackupStore) -> io::Result<()> {
    let Change { path, before, draft, .. } = change;
    let draft = draft.as_deref().unwrap_or(Path::new(""));
    match change.deed {
        FileOpKind::Append => {
            remove_if_there(draft)?;
            let before = before.as_ref().map_or(0, |before| before.len);
            match keep.chunks.read(change.bytes.as_deref().unwrap_or_default()) {
                // Nobody knows any more what was ours: then all of it stays.
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                bytes => unappend(change, before, &bytes?, draft),
            }
        }
        FileOpKind::Replace => {
            remove_if_there(draft)?;
            unreplace(change, keep)
        }
        FileOpKind::Create => {
            remove_if_there(draft)?;
            // A file that is not as it was made has become somebody's.
            if change.after.is_some() && file_state(path)? == change.after {
                remove_if_there(path)?;
            }
            remove_created_dirs(change);
            Ok(())
        }
        FileOpKind::Remove => {
            clear(draft)?;
            let (Some(before), Some(part)) = (before, &change.old) else { return Ok(()) };
            clear(part)?;
            before.trash.as_deref().map_or(Ok(()), |trash| move_back(path, trash, part, before))
        }
        FileOpKind::Return => {
            clear(draft)?;
            let (Some(from), Some(after), Some(part)) = (&change.from, &change.after, &change.old) else {
                remove_created_dirs(change);
                return Ok(());
            };
            clear(part)?;
            if file_state(path)?.is_some_and(|now| now.same(after)) {
                move_back(from, path, part, after)?;
            }
            remove_created_dirs(change);
            Ok(())
        }
    }
}

/// Removes the folders that were made, as far as they are empty.
pub(super) fn remove_created_dirs(change: &Change) {
    for folder in change.folders.iter().rev() {
        if std::fs::remove_dir(folder).is_err() {
            break;
        }
    }
}

/// Takes appended bytes out again. The file is written anew: cutting it could cut what another process adds.
fn unappend(change: &Change, before: u64, ours: &[u8], draft: &Path) -> io::Result<()> {
    let (path, Some(old)) = (&change.path, &change.old) else { return Ok(()) };
    if file_state(path)?.is_none() {
        return remove_if_there(old);
    }
    if let Ok(displaced) = open(old) {
        if !same_file(&displaced.metadata()?, &std::fs::metadata(path)?) {
            // It was cut short between the new file and what the old one grew by.
            let wanted = strip_own_bytes(&read_from(&displaced, before)?, ours);
            let there = read_from(&open(path)?, before)?;
            append(path, &wanted[common(&wanted, &there)..])?;
            return remove_if_there(old);
        }
        remove_if_there(old)?;
    }
    let file = open(path)?;
    if file.metadata()?.len() <= before {
        return Ok(());
    }
    let added = read_from(&file, before)?;
    let rest = strip_own_bytes(&added, ours);
    if rest.len() == added.len() {
        return Ok(());
    }
    let make = |out: &mut dyn io::Write| {
        io::copy(&mut io::Read::take(open(path)?, before), out)?;
        out.write_all(&rest)
    };
    write_draft(draft, &Content::Generated(Box::new(make)), Some(path))?;
    hard_link(path, old)?;
    let mut displaced = replace_file(draft, path, file, before + added.len() as u64)?;
    displaced.wait()?;
    displaced.copy_appended(path)?;
    remove_if_there(old)
}

/// Returns what was added by others: all but `ours`, which may have come only in part.
pub(super) fn strip_own_bytes(added: &[u8], ours: &[u8]) -> Vec<u8> {
    if let Some(at) = memchr::memmem::find(added, ours) {
        return [&added[..at], &added[at + ours.len()..]].concat();
    }
    let shared = common(added, ours);
    if shared == added.len() {
        return Vec::new();
    }
    // A part of ours and then a line of another: whole lines are ours, and so is what makes the next one no JSON.
    let start = memchr::memrchr(b'\n', &added[..shared]).map_or(0, |at| at + 1);
    let end = memchr::memchr(b'\n', &added[start..]).map_or(added.len(), |at| start + at);
    let sound = |bytes: &[u8]| serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok();
    let torn = (start..=shared).rev().find(|&at| sound(&added[at..end]));
    let from = if sound(&added[start..end]) { start } else { torn.unwrap_or(start) };
    added[from..].to_vec()
}

/// Counts the bytes that both begin with.
pub(super) fn common(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// Puts the old file back in its place; what others added to the new one follows it.
fn unreplace(change: &Change, keep: &BackupStore) -> io::Result<()> {
    let Change { path, before: Some(before), old: Some(old), .. } = change else { return Ok(()) };
    let here = file_state(path)?;
    let second = open(old).ok();
    if let (Some(second), Some(_)) = (&second, &here)
        && same_file(&second.metadata()?, &std::fs::metadata(path)?)
    {
        return remove_if_there(old);
    }
    let extra = match (&here, &change.after) {
        (Some(here), Some(after)) if is_new(path, here, Some(before), after)? => {
            read_from(&open(path)?, after.len)?
        }
        // The old one still, or somebody else's: it stays.
        (Some(_), _) => return Ok(()),
        (None, _) => Vec::new(),
    };
    let seen = change.after.as_ref().map_or(0, |after| after.len) + extra.len() as u64;
    let Some(second) = second else {
        return from_backup(change, before, keep, &extra, seen);
    };
    let grown = read_from(&second, before.len)?;
    // What was carried over already, or added by an earlier try of this, is not added again.
    let extra = extra.strip_prefix(&grown[..]).unwrap_or(&extra);
    let extra = if grown.ends_with(extra) || grown.starts_with(extra) { &[][..] } else { extra };
    append(old, extra)?;
    second.set_modified(std::time::SystemTime::now())?;
    if here.is_none() {
        return publish(old, path);
    }
    let mut displaced = replace_file(old, path, open(path)?, seen)?;
    displaced.wait()?;
    displaced.copy_appended(path)
}

/// Whether a file is the new one, perhaps with more behind it. Where a change takes lines away the old file begins as
/// the new one does: then the longer of both that fits decides.
pub(super) fn is_new(
    path: &Path,
    here: &FileState,
    before: Option<&FileState>,
    after: &FileState,
) -> io::Result<bool> {
    let longer = before.filter(|before| before.len > after.len);
    Ok(starts_with(path, here, after)?
        && !longer.is_some_and(|old| starts_with(path, here, old).unwrap_or(true)))
}

/// Whether a file is in a state, or that with more behind it.
fn starts_with(path: &Path, here: &FileState, state: &FileState) -> io::Result<bool> {
    if here.folder || state.folder || here.len < state.len {
        return Ok(false);
    }
    Ok(tail_at(&open(path)?, state.len)?.to_hex().as_str() == state.tail)
}

/// Writes the old file anew from its backup, for file systems without second names.
fn from_backup(
    change: &Change,
    before: &FileState,
    keep: &BackupStore,
    extra: &[u8],
    seen: u64,
) -> io::Result<()> {
    let (path, Some(draft)) = (&change.path, &change.draft) else { return Ok(()) };
    let make = |out: &mut dyn io::Write| {
        keep.write(before, out)?;
        out.write_all(extra)
    };
    let Ok(file) = open(path) else { return Ok(()) };
    write_draft(draft, &Content::Generated(Box::new(make)), Some(path))?;
    let mut displaced = replace_file(draft, path, file, seen)?;
    displaced.wait()?;
    displaced.copy_appended(path)
}

#[cfg(test)]
mod tests {
    use super::strip_own_bytes;

    #[test]
    fn only_what_is_ours_is_taken_out() {
        let ours = "{\"type\":\"system\",\"n\":1}\n{\"type\":\"last-prompt\"}\n";
        let theirs = "{\"type\":\"user\",\"n\":2}\n";
        let cases = [
            (ours.to_owned(), String::new()),
            (format!("{ours}{theirs}"), theirs.to_owned()),
            (format!("{theirs}{ours}{theirs}"), theirs.repeat(2)),
            (theirs.to_owned(), theirs.to_owned()),
            // Only the beginning of ours came, at whatever byte it was cut.
            (format!("{}{theirs}", &ours[..24]), theirs.to_owned()),
            (format!("{}{theirs}", &ours[..30]), theirs.to_owned()),
            (format!("{}{theirs}", &ours[..9]), theirs.to_owned()),
            (ours[..5].to_owned(), String::new()),
            // A line of theirs that begins as ours does is theirs.
            (
                format!("{{\"type\":\"system\",\"n\":3}}\n{theirs}"),
                format!("{{\"type\":\"system\",\"n\":3}}\n{theirs}"),
            ),
        ];
        for (added, expected) in cases {
            let left = strip_own_bytes(added.as_bytes(), ours.as_bytes());
            assert_eq!(String::from_utf8_lossy(&left), expected, "{added}");
        }
    }
}
