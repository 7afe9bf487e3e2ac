//! Finds the agent types of subagent files.

use std::collections::{HashMap, HashSet};

use memchr::memmem::Finder;
use rayon::prelude::*;
use rethread_core::entry::EntryRole;
use rethread_core::session::{AgentCallIndex, AgentMeta};

use super::store::UsageStore;
use crate::disk::{ScanEvent, ScanOptions, SessionFile, read_small_file, scan};

/// Returns the agent type of each file of the store, in the same order. It is `None` for main sessions and unknown types.
pub(in crate::ops) fn find_agent_kinds(store: &UsageStore<'_>) -> Vec<Option<String>> {
    let metas: Vec<AgentMeta> = store.files.par_iter().map(read_meta).collect();
    let mut kinds: Vec<Option<String>> = metas.iter().map(|meta| meta.agent_type.clone()).collect();
    // The remaining types are named by the calls in the other files of the session.
    let mut sessions: HashMap<&str, Vec<usize>> = HashMap::new();
    for (idx, header) in store.headers.iter().enumerate() {
        sessions.entry(&header.session).or_default().push(idx);
    }
    let is_unknown = |&idx: &usize| {
        store.files[idx].is_agent() && kinds[idx].is_none() && !store.headers[idx].messages.is_empty()
    };
    sessions.retain(|_, files| files.iter().any(is_unknown));
    let found = sessions.into_par_iter().flat_map_iter(|(_, files)| {
        let call_indices: Vec<AgentCallIndex> =
            files.iter().map(|&idx| read_agent_calls(&store.files[idx])).collect();
        let mut claimed_calls = HashSet::new();
        let mut found = Vec::new();
        for idx in files.into_iter().filter(is_unknown) {
            let file = &store.files[idx];
            let id = file.stem().strip_prefix("agent-").unwrap_or(file.stem());
            let prompt = read_prompt(file);
            let call = call_indices
                .iter()
                .find_map(|calls| calls.find_call(id, &metas[idx], &prompt, &claimed_calls));
            if let Some(call) = call {
                claimed_calls.insert(call.tool_use_id.clone());
                found.push((idx, call.kind.clone()));
            }
        }
        found
    });
    let found: Vec<(usize, String)> = found.collect();
    for (idx, kind) in found.into_iter().filter(|(_, kind)| !kind.is_empty()) {
        kinds[idx] = Some(kind);
    }
    kinds
}

/// Reads the metadata file of a subagent. It is empty if there is none or the file is not of a subagent.
fn read_meta(file: &SessionFile) -> AgentMeta {
    let bytes = file.is_agent().then(|| read_small_file(&file.path.with_extension("meta.json"))).flatten();
    bytes.map(|bytes| AgentMeta::parse(&bytes)).unwrap_or_default()
}

/// Reads the calls of a file that start subagents. The index is empty if the file cannot be read.
fn read_agent_calls(file: &SessionFile) -> AgentCallIndex {
    let (agent_type, agent_id) = (Finder::new("subagent_type"), Finder::new("agentId"));
    let is_relevant = |line: &[u8]| agent_type.find(line).is_some() || agent_id.find(line).is_some();
    let mut calls = AgentCallIndex::default();
    let options = ScanOptions::exact_range(0..file.len, 0).with_filter(&is_relevant);
    let scanned = scan(&file.path, &options, |event| {
        if let ScanEvent::Entry(entry, span, _) = event {
            calls.add(entry, span.line);
        }
    });
    scanned.map(|_| calls).unwrap_or_default()
}

/// Reads the first prompt in the first lines of a subagent file. Returns an empty string if there is none.
fn read_prompt(file: &SessionFile) -> String {
    let mut prompt = None;
    // An unreadable file has no prompt.
    let _ = scan(&file.path, &ScanOptions::head(), |event| {
        if let (ScanEvent::Entry(entry, ..), None) = (event, &prompt)
            && entry.role() == EntryRole::Prompt
        {
            let texts = entry.message.iter().flat_map(|message| message.content.texts());
            prompt = Some(texts.map(|text| text.decode().into_owned()).collect::<String>());
        }
    });
    prompt.unwrap_or_default()
}
