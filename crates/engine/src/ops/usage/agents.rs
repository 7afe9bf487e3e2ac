//! What kinds of subagents the files are of.

use std::collections::{HashMap, HashSet};

use memchr::memmem::Finder;
use rayon::prelude::*;
use rethread_core::entry::EntryRole;
use rethread_core::session::{AgentCallIndex, AgentMeta};

use super::store::UsageStore;
use crate::disk::{ScanEvent, SessionFile, read_side, scan_head, scan_part};

/// Finds the kind of the subagent in each file; none for sessions, and where nobody says it.
pub(super) fn kinds(books: &UsageStore<'_>) -> Vec<Option<String>> {
    let metas: Vec<AgentMeta> = books.files.par_iter().map(meta).collect();
    let mut kinds: Vec<Option<String>> = metas.iter().map(|meta| meta.kind.clone()).collect();
    // Of the others, the files of the family know that started them.
    let mut families: HashMap<&str, Vec<usize>> = HashMap::new();
    for (no, cover) in books.covers.iter().enumerate() {
        families.entry(&cover.session).or_default().push(no);
    }
    let unknown = |&no: &usize| {
        books.files[no].is_agent() && kinds[no].is_none() && !books.covers[no].messages.is_empty()
    };
    families.retain(|_, files| files.iter().any(unknown));
    let found = families.into_par_iter().flat_map_iter(|(_, files)| {
        let launches: Vec<AgentCallIndex> = files.iter().map(|&no| launches(&books.files[no])).collect();
        let mut used = HashSet::new();
        let mut found = Vec::new();
        for no in files.into_iter().filter(unknown) {
            let file = &books.files[no];
            let id = file.stem().strip_prefix("agent-").unwrap_or(file.stem());
            let prompt = prompt(file);
            let launch = launches.iter().find_map(|calls| calls.of(id, &metas[no], &prompt, &used));
            if let Some(launch) = launch {
                used.insert(launch.tool_use.clone());
                found.push((no, launch.kind.clone()));
            }
        }
        found
    });
    let found: Vec<(usize, String)> = found.collect();
    for (no, kind) in found.into_iter().filter(|(_, kind)| !kind.is_empty()) {
        kinds[no] = Some(kind);
    }
    kinds
}

/// Reads what stands beside the file of a subagent.
fn meta(file: &SessionFile) -> AgentMeta {
    let bytes = file.is_agent().then(|| read_side(&file.path.with_extension("meta.json"))).flatten();
    bytes.map(|bytes| AgentMeta::read(&bytes)).unwrap_or_default()
}

/// Reads the calls of a file that start subagents; of one that cannot be read nothing is known.
fn launches(file: &SessionFile) -> AgentCallIndex {
    let (call, tie) = (Finder::new("subagent_type"), Finder::new("agentId"));
    let worth = |line: &[u8]| call.find(line).is_some() || tie.find(line).is_some();
    let mut launches = AgentCallIndex::default();
    let read = scan_part(&file.path, 0..file.len, 0, worth, |entry, place| launches.add(entry, place.line));
    read.map(|_| launches).unwrap_or_default()
}

/// Reads what a subagent was told.
fn prompt(file: &SessionFile) -> String {
    let mut prompt = None;
    // A file that cannot be read tells nothing.
    let _ = scan_head(&file.path, |seen| {
        if let (ScanEvent::Entry(entry, ..), None) = (seen, &prompt)
            && entry.voice() == EntryRole::Prompt
        {
            let texts = entry.message.iter().flat_map(|message| message.content.texts());
            prompt = Some(texts.map(|text| text.decode().into_owned()).collect::<String>());
        }
    });
    prompt.unwrap_or_default()
}
