//! What kinds of subagents the files are of.

use std::collections::HashMap;
use std::path::PathBuf;

use rethread_core::session::AgentMeta;

use super::super::agents::agents;
use super::books::Books;
use crate::disk::{Role, read_side};

/// Finds the kind of the subagent in each file; none for sessions, and where nobody says it.
pub(super) fn kinds(books: &Books<'_>) -> Vec<Option<String>> {
    let mut kinds: Vec<Option<String>> = Vec::with_capacity(books.files.len());
    let mut mains: HashMap<&str, &PathBuf> = HashMap::new();
    for (file, cover) in books.files.iter().zip(&books.covers) {
        if file.role == Role::Main {
            mains.entry(&cover.session).or_insert(&file.path);
        }
        let meta = file.is_agent().then(|| read_side(&file.path.with_extension("meta.json"))).flatten();
        kinds.push(meta.and_then(|bytes| AgentMeta::read(&bytes).kind));
    }
    // Of the others, the session that started them knows.
    let mut asked: HashMap<&str, HashMap<PathBuf, String>> = HashMap::new();
    for (no, (file, cover)) in books.files.iter().zip(&books.covers).enumerate() {
        if !file.is_agent() || kinds[no].is_some() || cover.messages.is_empty() {
            continue;
        }
        let Some(main) = mains.get(cover.session.as_str()) else { continue };
        let known = asked.entry(&cover.session).or_insert_with(|| {
            let rows = agents(main).map(|agents| agents.rows).unwrap_or_default();
            rows.into_iter().filter_map(|row| Some((row.path?, row.kind))).collect()
        });
        kinds[no] = known.get(&file.path).filter(|kind| !kind.is_empty()).cloned();
    }
    kinds
}
