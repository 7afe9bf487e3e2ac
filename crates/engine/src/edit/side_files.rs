//! What stands beside a session and goes with a copy of it: subagents, tool results, backups of files.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use memchr::memmem;
use rethread_core::edit::{Draft, Envelope};
use rethread_core::session::AgentMeta;

use super::edit_session::with_entry;
use super::write_draft::each_line;
use crate::Error;
use crate::disk::{ScanEvent, files_below, open, read_side, scan};
use crate::writer::{Content, FileOp};

/// Copies what the lines of a draft refer to beside the new session.
pub(crate) fn copy_side_files(
    path: &Path,
    session: &str,
    draft: &Draft,
    target: &Path,
) -> Result<Vec<FileOp<'static>>, Error> {
    let side = path.with_extension("");
    let history = home_of(path).map(|home| home.join("file-history"));
    let backups = history.as_ref().map(|history| history.join(session)).filter(|folder| folder.is_dir());
    let files = if side.is_dir() { files_below(&side) } else { Vec::new() };
    if files.is_empty() && backups.is_none() {
        return Ok(Vec::new());
    }
    let mut named = Names::default();
    each_line(draft, path, |line| named.add(line)).map_err(Error::reading(path))?;
    let session = draft.envelope.as_ref().map(|envelope| envelope.session.clone()).unwrap_or_default();
    let envelope = Envelope { session: session.clone(), origin: None, folder: None };
    let mut deeds = Vec::new();
    for file in named.of(&files) {
        let Ok(below) = file.strip_prefix(&side) else { continue };
        let to = target.with_extension("").join(below);
        let is_agent = file.extension().is_some_and(|ext| ext == "jsonl");
        let content =
            if is_agent { agent(file.clone(), envelope.clone()) } else { Content::Copy(file.clone()) };
        deeds.push(FileOp::Create { path: to, content });
    }
    if let (Some(history), Some(backups)) = (history, backups) {
        for name in named.backups {
            let from = backups.join(&name);
            // A name is one: it must not lead out of the folder.
            if Path::new(&name).file_name().is_some_and(|file| file == name.as_str()) && from.is_file() {
                let path = history.join(&session).join(&name);
                deeds.push(FileOp::Create { path, content: Content::Copy(from) });
            }
        }
    }
    Ok(deeds)
}

/// Copies a subagent: its lines belong to the new session.
fn agent(file: PathBuf, envelope: Envelope) -> Content<'static> {
    let draft = Draft { pieces: Vec::new(), envelope: Some(envelope) };
    Content::Generated(Box::new(move |out| {
        let mut lines = io::BufReader::new(open(&file)?);
        let mut line = Vec::new();
        while io::BufRead::read_until(&mut lines, b'\n', &mut line)? > 0 {
            let ended = line.pop_if(|last| *last == b'\n').is_some();
            out.write_all(&draft.render(&line, &[]))?;
            out.write_all(if ended { b"\n" } else { b"" })?;
            line.clear();
        }
        Ok(())
    }))
}

/// Returns the client's folder that holds a session file.
pub(crate) fn home_of(path: &Path) -> Option<&Path> {
    let projects = path.parent()?.parent()?;
    projects.parent().filter(|_| projects.file_name().is_some_and(|name| name == "projects"))
}

/// The names by which lines refer to files beside the session.
#[derive(Default)]
struct Names {
    /// Ids of tool calls and of subagents, names of files.
    words: HashSet<String>,
    /// Backups of files.
    backups: Vec<String>,
}

impl Names {
    fn add(&mut self, line: &[u8]) {
        with_entry(line, |entry| {
            let ids = entry.blocks().iter().filter_map(|block| block.id);
            self.words.extend(ids.map(|id| id.decode().into_owned()));
        });
        self.words.extend(behind(line, b"\"agentId\":\""));
        self.words.extend(behind(line, b"tool-results/"));
        let known: HashSet<String> = self.backups.iter().cloned().collect();
        let new = behind(line, b"\"backupFileName\":\"").filter(|name| !known.contains(name));
        self.backups.extend(new.collect::<Vec<_>>());
    }

    /// Lists the files that are named, and those that a named subagent started.
    fn of(&mut self, files: &[PathBuf]) -> Vec<PathBuf> {
        let mut taken: Vec<PathBuf> = Vec::new();
        loop {
            let before = taken.len();
            for file in files {
                if !taken.contains(file) && self.names(file) {
                    taken.push(file.clone());
                    self.look_into(file);
                }
            }
            if taken.len() == before {
                return taken;
            }
        }
    }

    fn names(&self, file: &Path) -> bool {
        let Some(name) = file.file_name().and_then(|name| name.to_str()) else { return false };
        let stem = name.split('.').next().unwrap_or(name);
        let agent = stem.strip_prefix("agent-").unwrap_or(stem);
        if [name, stem, agent].iter().any(|word| self.words.contains(*word)) {
            return true;
        }
        // A newer client notes beside the subagent which call started it.
        let meta = read_side(&file.with_file_name(format!("{stem}.meta.json")));
        let meta = meta.map(|bytes| AgentMeta::read(&bytes)).filter(|_| stem.starts_with("agent-"));
        meta.is_some_and(|meta| {
            let by = [&meta.tool_use, &meta.parent];
            by.into_iter().flatten().any(|word| self.words.contains(word))
        })
    }

    /// Notes what a subagent's own lines refer to.
    fn look_into(&mut self, file: &Path) {
        if file.extension().is_some_and(|ext| ext == "jsonl") {
            // What cannot be read is copied, but says nothing more.
            let _ = scan(file, |seen| {
                if let ScanEvent::Entry(entry, ..) = seen {
                    self.add(entry.raw);
                }
            });
        }
    }
}

/// Finds the words that stand behind a mark.
fn behind<'l>(line: &'l [u8], mark: &'l [u8]) -> impl Iterator<Item = String> + 'l {
    memmem::find_iter(line, mark).map(move |at| {
        let rest = &line[at + mark.len()..];
        let is_end = |byte: &u8| matches!(byte, b'"' | b'\\' | b'<' | b'>' | b'/' | b')' | b',' | 0..=b' ');
        let end = rest.iter().position(is_end).unwrap_or(rest.len());
        String::from_utf8_lossy(&rest[..end]).into_owned()
    })
}
