//! Rolls back a change at any stage of its application. Bytes that other processes appended since are kept.
//!
//! Every step can be interrupted and repeated.

use std::io;
use std::path::Path;

use super::backup::BackupStore;
use super::files::{is_same_file, publish_draft, remove_if_exists, write_draft};
use super::plan::NewContent;
use super::record::{ChangeRecord, FileOpKind, FileState};
use super::replace::{append_durably, link_old_file, read_from_offset, replace_file};
use super::trash::{move_back, read_file_state, remove_path};
use crate::disk::{hash_tail_at, open_file};

/// Rolls back one change, however far it was applied. A file that another process has changed is kept.
pub(super) fn roll_back(change: &ChangeRecord, backups: &BackupStore) -> io::Result<()> {
    let ChangeRecord { path, before, draft, .. } = change;
    let draft = draft.as_deref().unwrap_or(Path::new(""));
    match change.kind {
        FileOpKind::Append => {
            remove_if_exists(draft)?;
            let before = before.as_ref().map_or(0, |before| before.len);
            match backups.chunks.read_all(change.bytes.as_deref().unwrap_or_default()) {
                // The appended bytes are unknown, so nothing can be removed.
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                bytes => roll_back_append(change, before, &bytes?, draft),
            }
        }
        FileOpKind::Replace => {
            remove_if_exists(draft)?;
            roll_back_replace(change, backups)
        }
        FileOpKind::Create => {
            remove_if_exists(draft)?;
            // Keep the file if another process has changed it.
            if change.after.is_some() && read_file_state(path)? == change.after {
                remove_if_exists(path)?;
            }
            remove_created_dirs(change);
            Ok(())
        }
        FileOpKind::Remove => {
            remove_path(draft)?;
            let (Some(before), Some(part)) = (before, &change.old) else { return Ok(()) };
            remove_path(part)?;
            before.trash.as_deref().map_or(Ok(()), |trash| move_back(path, trash, part, before))
        }
        FileOpKind::Return => {
            remove_path(draft)?;
            let (Some(from), Some(after), Some(part)) = (&change.from, &change.after, &change.old) else {
                remove_created_dirs(change);
                return Ok(());
            };
            remove_path(part)?;
            if read_file_state(path)?.is_some_and(|current| current.is_same_content(after)) {
                move_back(from, path, part, after)?;
            }
            remove_created_dirs(change);
            Ok(())
        }
    }
}

/// Removes the folders that the change created, if they are empty.
pub(super) fn remove_created_dirs(change: &ChangeRecord) {
    for folder in change.folders.iter().rev() {
        if std::fs::remove_dir(folder).is_err() {
            break;
        }
    }
}

/// Removes the appended bytes `ours` after the offset `before`. Replaces the file instead of truncating it, which could
/// remove bytes of other processes.
fn roll_back_append(change: &ChangeRecord, before: u64, ours: &[u8], draft: &Path) -> io::Result<()> {
    let (path, Some(old)) = (&change.path, &change.old) else { return Ok(()) };
    if read_file_state(path)?.is_none() {
        return remove_if_exists(old);
    }
    if let Ok(replaced) = open_file(old) {
        if !is_same_file(&replaced.metadata()?, &std::fs::metadata(path)?) {
            // An earlier rollback replaced the file but was interrupted before it copied the appended bytes.
            let wanted = strip_own_bytes(&read_from_offset(&replaced, before)?, ours);
            let already_copied = read_from_offset(&open_file(path)?, before)?;
            append_durably(path, &wanted[common_prefix_len(&wanted, &already_copied)..])?;
            return remove_if_exists(old);
        }
        remove_if_exists(old)?;
    }
    let file = open_file(path)?;
    if file.metadata()?.len() <= before {
        return Ok(());
    }
    let added = read_from_offset(&file, before)?;
    let rest = strip_own_bytes(&added, ours);
    if rest.len() == added.len() {
        return Ok(());
    }
    let write_content = |out: &mut dyn io::Write| {
        io::copy(&mut io::Read::take(open_file(path)?, before), out)?;
        out.write_all(&rest)
    };
    write_draft(draft, &NewContent::Generated(Box::new(write_content)), Some(path))?;
    link_old_file(path, old)?;
    let mut replaced = replace_file(draft, path, file, before + added.len() as u64)?;
    replaced.wait_for_writers()?;
    replaced.copy_appended(path)?;
    remove_if_exists(old)
}

/// Returns `added` without our own bytes, which may be truncated: the bytes that other processes appended.
pub(super) fn strip_own_bytes(added: &[u8], ours: &[u8]) -> Vec<u8> {
    if let Some(at) = memchr::memmem::find(added, ours) {
        return [&added[..at], &added[at + ours.len()..]].concat();
    }
    let shared = common_prefix_len(added, ours);
    if shared == added.len() {
        return Vec::new();
    }
    // Our bytes are truncated, and a line of another process follows. The complete lines that both share are ours. In the
    // next line, our bytes end where the rest of the line is valid JSON.
    let start = memchr::memrchr(b'\n', &added[..shared]).map_or(0, |at| at + 1);
    let end = memchr::memchr(b'\n', &added[start..]).map_or(added.len(), |at| start + at);
    let is_json = |bytes: &[u8]| serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok();
    let torn_end = (start..=shared).rev().find(|&at| is_json(&added[at..end]));
    let others_start = if is_json(&added[start..end]) { start } else { torn_end.unwrap_or(start) };
    added[others_start..].to_vec()
}

/// Returns the length of the longest common prefix in bytes.
pub(super) fn common_prefix_len(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// Restores the old file, followed by the bytes that other processes appended to the new one.
fn roll_back_replace(change: &ChangeRecord, backups: &BackupStore) -> io::Result<()> {
    let ChangeRecord { path, before: Some(before), old: Some(old), .. } = change else { return Ok(()) };
    let current = read_file_state(path)?;
    let old_file = open_file(old).ok();
    if let (Some(old_file), Some(_)) = (&old_file, &current)
        && is_same_file(&old_file.metadata()?, &std::fs::metadata(path)?)
    {
        return remove_if_exists(old);
    }
    let appended = match (&current, &change.after) {
        (Some(current), Some(after)) if is_new_content(path, current, Some(before), after)? => {
            read_from_offset(&open_file(path)?, after.len)?
        }
        // The path still names the old file, or a file of another process: keep it.
        (Some(_), _) => return Ok(()),
        (None, _) => Vec::new(),
    };
    let accounted = change.after.as_ref().map_or(0, |after| after.len) + appended.len() as u64;
    let Some(old_file) = old_file else {
        return restore_from_backup(change, before, backups, &appended, accounted);
    };
    let appended_to_old = read_from_offset(&old_file, before.len)?;
    // Do not append bytes that were already carried over or appended by an earlier attempt.
    let missing = appended.strip_prefix(&appended_to_old[..]).unwrap_or(&appended);
    let is_in_old = appended_to_old.ends_with(missing) || appended_to_old.starts_with(missing);
    append_durably(old, if is_in_old { &[] } else { missing })?;
    old_file.set_modified(std::time::SystemTime::now())?;
    if current.is_none() {
        return publish_draft(old, path);
    }
    let mut replaced = replace_file(old, path, open_file(path)?, accounted)?;
    replaced.wait_for_writers()?;
    replaced.copy_appended(path)
}

/// Returns `true` if a file has the new content, possibly followed by appended bytes. If a change removes only lines at
/// the end, the old content starts with the new content: then a file that starts with the old content is the old file.
pub(super) fn is_new_content(
    path: &Path,
    current: &FileState,
    before: Option<&FileState>,
    after: &FileState,
) -> io::Result<bool> {
    let longer_before = before.filter(|before| before.len > after.len);
    Ok(has_prefix(path, current, after)?
        && !longer_before.is_some_and(|before| has_prefix(path, current, before).unwrap_or(true)))
}

/// Returns `true` if a file starts with the content of a state, by the hash of its last 64 kB. Folders never do.
fn has_prefix(path: &Path, current: &FileState, state: &FileState) -> io::Result<bool> {
    if current.folder || state.folder || current.len < state.len {
        return Ok(false);
    }
    Ok(hash_tail_at(&open_file(path)?, state.len)?.to_hex().as_str() == state.tail)
}

/// Restores the old file from its backup, for file systems without hard links. `appended` follows the old bytes, and
/// `accounted` is the number of bytes of the new file that need not be copied.
fn restore_from_backup(
    change: &ChangeRecord,
    before: &FileState,
    backups: &BackupStore,
    appended: &[u8],
    accounted: u64,
) -> io::Result<()> {
    let (path, Some(draft)) = (&change.path, &change.draft) else { return Ok(()) };
    let write_content = |out: &mut dyn io::Write| {
        backups.write_content(before, out)?;
        out.write_all(appended)
    };
    let Ok(file) = open_file(path) else { return Ok(()) };
    write_draft(draft, &NewContent::Generated(Box::new(write_content)), Some(path))?;
    let mut replaced = replace_file(draft, path, file, accounted)?;
    replaced.wait_for_writers()?;
    replaced.copy_appended(path)
}

#[cfg(test)]
mod tests {
    use super::strip_own_bytes;

    #[test]
    fn only_own_bytes_are_stripped() {
        let ours = "{\"type\":\"system\",\"n\":1}\n{\"type\":\"last-prompt\"}\n";
        let theirs = "{\"type\":\"user\",\"n\":2}\n";
        let cases = [
            (ours.to_owned(), String::new()),
            (format!("{ours}{theirs}"), theirs.to_owned()),
            (format!("{theirs}{ours}{theirs}"), theirs.repeat(2)),
            (theirs.to_owned(), theirs.to_owned()),
            // Our bytes are truncated, at any byte.
            (format!("{}{theirs}", &ours[..24]), theirs.to_owned()),
            (format!("{}{theirs}", &ours[..30]), theirs.to_owned()),
            (format!("{}{theirs}", &ours[..9]), theirs.to_owned()),
            (ours[..5].to_owned(), String::new()),
            // A complete line of theirs that starts like ours is theirs.
            (
                format!("{{\"type\":\"system\",\"n\":3}}\n{theirs}"),
                format!("{{\"type\":\"system\",\"n\":3}}\n{theirs}"),
            ),
        ];
        for (added, expected) in cases {
            let others = strip_own_bytes(added.as_bytes(), ours.as_bytes());
            assert_eq!(String::from_utf8_lossy(&others), expected, "{added}");
        }
    }
}
