//! Copies the side files of a session to a new one: subagents, tool results, backups of edited files.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use memchr::memmem;
use rethread_core::edit::{Draft, Envelope};
use rethread_core::entry::with_entry;
use rethread_core::session::AgentMeta;

use super::write_draft::for_each_line;
use crate::Error;
use crate::disk::{ScanEvent, ScanOptions, find_client_dir, list_files, open_content, read_small_file, scan};
use crate::writer::{FileOp, NewContent};

/// Plans to copy the side files that the lines of a draft refer to. `path` and `session` are file and id of the origin;
/// `target` is the new session file.
pub(crate) fn copy_side_files(
    path: &Path,
    session: &str,
    draft: &Draft,
    target: &Path,
) -> Result<Vec<FileOp<'static>>, Error> {
    let side_dir = path.with_extension("");
    // Only a session that is directly in a project folder has a file history. Another `projects` folder further up the
    // path is not the client's.
    let is_in_project = |dir: &&Path| path.parent().and_then(Path::parent) == Some(&dir.join("projects"));
    let client_dir = find_client_dir(path).filter(is_in_project);
    let history_dir = client_dir.map(|dir| dir.join("file-history"));
    let backup_dir = history_dir.as_ref().map(|dir| dir.join(session)).filter(|dir| dir.is_dir());
    let files = if side_dir.is_dir() { list_files(&side_dir) } else { Vec::new() };
    if files.is_empty() && backup_dir.is_none() {
        return Ok(Vec::new());
    }
    let mut referenced = ReferencedNames::default();
    for_each_line(draft, path, |line| referenced.add(line)).map_err(Error::reading(path))?;
    let session = draft.envelope.as_ref().map(|envelope| envelope.session.clone()).unwrap_or_default();
    let envelope = Envelope { session: session.clone(), origin: None, folder: None };
    let mut file_ops = Vec::new();
    for file in referenced.find_files(&files) {
        let Ok(relative) = file.strip_prefix(&side_dir) else { continue };
        let copy_path = target.with_extension("").join(relative);
        let is_agent = file.extension().is_some_and(|ext| ext == "jsonl");
        let content = if is_agent {
            build_agent_content(file.clone(), envelope.clone())
        } else {
            NewContent::Copy(file.clone())
        };
        file_ops.push(FileOp::Create { path: copy_path, content });
    }
    if let (Some(history_dir), Some(backup_dir)) = (history_dir, backup_dir) {
        for name in referenced.backups {
            let from = backup_dir.join(&name);
            // The name must be a plain file name, not a path out of the folder.
            if Path::new(&name).file_name().is_some_and(|file| file == name.as_str()) && from.is_file() {
                let path = history_dir.join(&session).join(&name);
                file_ops.push(FileOp::Create { path, content: NewContent::Copy(from) });
            }
        }
    }
    Ok(file_ops)
}

/// Returns the content of a subagent file with the id of the new session in its lines.
fn build_agent_content(file: PathBuf, envelope: Envelope) -> NewContent<'static> {
    NewContent::Generated(Box::new(move |out| {
        write_enveloped_lines(io::BufReader::new(open_content(&file)?), &envelope, out)
    }))
}

/// Copies the lines of a session file with the fields of an envelope.
pub(crate) fn write_enveloped_lines(
    mut lines: impl io::BufRead,
    envelope: &Envelope,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let draft = Draft { segments: Vec::new(), envelope: Some(envelope.clone()) };
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line)? > 0 {
        let is_terminated = line.pop_if(|last| *last == b'\n').is_some();
        out.write_all(&draft.render_line(&line, &[]))?;
        out.write_all(if is_terminated { b"\n" } else { b"" })?;
        line.clear();
    }
    Ok(())
}

/// The names by which the lines of a session refer to side files.
#[derive(Default)]
struct ReferencedNames {
    /// Ids of tool calls and subagents, and file names.
    names: HashSet<String>,
    /// Names of the backups of edited files.
    backups: Vec<String>,
}

impl ReferencedNames {
    /// Adds the names in a line: block ids, subagent ids, tool results and backups.
    fn add(&mut self, line: &[u8]) {
        with_entry(line, |entry| {
            let ids = entry.blocks().iter().filter_map(|block| block.id);
            self.names.extend(ids.map(|id| id.decode().into_owned()));
        });
        self.names.extend(find_names_after(line, b"\"agentId\":\""));
        self.names.extend(find_names_after(line, b"tool-results/"));
        let known: HashSet<String> = self.backups.iter().cloned().collect();
        let new_names = find_names_after(line, b"\"backupFileName\":\"").filter(|name| !known.contains(name));
        self.backups.extend(new_names.collect::<Vec<_>>());
    }

    /// Returns those of `files` that are referenced, including those that referenced subagents refer to.
    fn find_files(&mut self, files: &[PathBuf]) -> Vec<PathBuf> {
        let mut found: Vec<PathBuf> = Vec::new();
        loop {
            let count_before = found.len();
            for file in files {
                if !found.contains(file) && self.is_referenced(file) {
                    found.push(file.clone());
                    self.add_agent_lines(file);
                }
            }
            if found.len() == count_before {
                return found;
            }
        }
    }

    /// Returns `true` if a name, or the call in the metadata file of a subagent, refers to the file.
    fn is_referenced(&self, file: &Path) -> bool {
        let Some(name) = file.file_name().and_then(|name| name.to_str()) else { return false };
        let stem = name.split('.').next().unwrap_or(name);
        let agent_id = stem.strip_prefix("agent-").unwrap_or(stem);
        if [name, stem, agent_id].iter().any(|name| self.names.contains(*name)) {
            return true;
        }
        // Newer clients write the call that started a subagent to a metadata file.
        let meta = read_small_file(&file.with_file_name(format!("{stem}.meta.json")));
        let meta = meta.map(|bytes| AgentMeta::parse(&bytes)).filter(|_| stem.starts_with("agent-"));
        meta.is_some_and(|meta| {
            let callers = [&meta.tool_use_id, &meta.parent];
            callers.into_iter().flatten().any(|name| self.names.contains(name))
        })
    }

    /// Adds the names that the lines of a subagent refer to.
    fn add_agent_lines(&mut self, file: &Path) {
        if file.extension().is_some_and(|ext| ext == "jsonl") {
            // An unreadable file is copied, but adds no names.
            let _ = scan(file, &ScanOptions::default(), |event| {
                if let ScanEvent::Entry(entry, ..) = event {
                    self.add(entry.raw);
                }
            });
        }
    }
}

/// Returns the name that follows each occurrence of `prefix`, up to a quote, separator or space.
fn find_names_after<'l>(line: &'l [u8], prefix: &'l [u8]) -> impl Iterator<Item = String> + 'l {
    memmem::find_iter(line, prefix).map(move |at| {
        let rest = &line[at + prefix.len()..];
        let is_end = |byte: &u8| matches!(byte, b'"' | b'\\' | b'<' | b'>' | b'/' | b')' | b',' | 0..=b' ');
        let end = rest.iter().position(is_end).unwrap_or(rest.len());
        String::from_utf8_lossy(&rest[..end]).into_owned()
    })
}
