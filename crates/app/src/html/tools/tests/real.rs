//! Every call of real sessions is drawn.
//!
//! The files are not part of the project: `RETHREAD_GOLDEN` and `RETHREAD_CORPUS` name their folders.

use std::collections::{BTreeMap, HashMap};

use rethread_engine::core::entry::read;
use rethread_engine::core::lines::Line;
use rethread_engine::core::turn::{ToolCall, TurnPart, build_turn};
use rethread_testkit::real::sessions;
use serde_json::Value;

use super::draw;
use crate::html::tools::render::renderer;

/// Returns the calls of a file, each with the note at its result.
fn calls(bytes: &[u8]) -> Vec<(ToolCall, Option<Value>)> {
    let mut entries = Vec::new();
    for (no, bytes) in (1_u32..).zip(bytes.split(|&byte| byte == b'\n')) {
        let line = Line { no, offset: 0, bytes, unterminated: false };
        read(&line, &mut Vec::new(), |entry, _| entries.push((no, entry)));
    }
    let notes: HashMap<u32, &[u8]> =
        entries.iter().filter_map(|(no, entry)| Some((*no, entry.tool_use_result?))).collect();
    let told = build_turn(&entries).parts.into_iter().filter_map(|piece| match piece.part {
        TurnPart::Tool(call) => Some(*call),
        _ => None,
    });
    told.map(|call| {
        let note = call.result.as_ref().and_then(|result| notes.get(&result.line));
        let note = note.and_then(|note| serde_json::from_slice(note).ok());
        (call, note)
    })
    .collect()
}

#[test]
fn every_call_of_real_sessions_is_drawn() {
    for (variable, least) in [("RETHREAD_GOLDEN", 300), ("RETHREAD_CORPUS", 15_000)] {
        let (paths, mut drawn, mut plain) = (sessions(variable), 0, BTreeMap::<String, usize>::new());
        for path in &paths {
            let bytes = std::fs::read(path).expect("a session can be read");
            for (call, note) in calls(&bytes) {
                let size = call.input.len()
                    + call.result.as_ref().map_or(0, |result| result.text.len())
                    + note.as_ref().map_or(0, |note| note.to_string().len());
                if renderer(&call.name).kind == "other" {
                    *plain.entry(call.name.clone()).or_default() += 1;
                }
                let (gist, body) = draw(&call, note);
                assert!(gist.len() < 4000, "{}: {}", path.display(), gist.len());
                // Escapes and numbers of short lines make markup several times as long as its words.
                assert!(
                    body.len() < size * 20 + 4000,
                    "{} {}: {size} → {}",
                    path.display(),
                    call.name,
                    body.len()
                );
                drawn += 1;
            }
        }
        assert!(paths.is_empty() || drawn >= least, "{drawn} calls in {variable}");
        let unknown: usize = plain.values().sum();
        assert!(
            unknown * 50 <= drawn,
            "{unknown} of {drawn} calls are drawn as of an unknown tool: {plain:?}"
        );
    }
}
