//! Reads the prompts of a deleted session.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use memchr::memmem::Finder;
use rethread_core::session::HistoryPrompt;

use super::{DeletedSession, TraceKind};
use crate::Error;
use crate::disk::open_file;

/// The maximum number of bytes that are read of a pasted text.
const MAX_PASTE_BYTES: u64 = 8 << 20;

/// A prompt of a deleted session.
#[derive(Debug, Clone)]
pub struct DeletedPrompt {
    /// The prompt, with the texts that were pasted into it.
    pub prompt: HistoryPrompt,
    /// Its line, without the line feed.
    pub line: Vec<u8>,
}

/// Reads the prompts of a session from the history, ordered by time. Pasted texts that are in files of their own are filled in.
pub fn read_deleted_prompts(session: &DeletedSession) -> Result<Vec<DeletedPrompt>, Error> {
    let mut prompts = Vec::new();
    let finder = Finder::new(session.id.as_bytes());
    for path in session.trace(TraceKind::Prompts).into_iter().flat_map(|trace| &trace.paths) {
        let file = open_file(path).map_err(Error::reading(path))?;
        let mut lines = BufReader::with_capacity(256 << 10, file);
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line).map_err(Error::reading(path))? > 0 {
            let parsed = finder.find(&line).and_then(|_| HistoryPrompt::parse(&line));
            if let Some(mut prompt) = parsed.filter(|prompt| prompt.session.as_ref() == Some(&session.id)) {
                fill_pasted(&mut prompt, path);
                line.pop_if(|last| *last == b'\n');
                prompts.push(DeletedPrompt { prompt, line: line.clone() });
            }
            line.clear();
        }
    }
    // The order of lines with equal times is kept.
    prompts.sort_by_key(|prompt| prompt.prompt.time);
    Ok(prompts)
}

/// Reads the pasted texts that are in files below `paste-cache`. A missing file leaves the text empty.
fn fill_pasted(prompt: &mut HistoryPrompt, history: &Path) {
    for pasted in prompt.pasted.iter_mut().filter(|pasted| pasted.text.is_none()) {
        let Some(hash) = &pasted.hash else { continue };
        let path = history.with_file_name("paste-cache").join(hash).with_extension("txt");
        let mut bytes = Vec::new();
        let read = open_file(&path).and_then(|file| file.take(MAX_PASTE_BYTES).read_to_end(&mut bytes));
        pasted.text = read.ok().map(|_| String::from_utf8_lossy(&bytes).into_owned());
    }
}
