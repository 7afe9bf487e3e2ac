//! Renders every tool call of real sessions.
//!
//! The files are not part of the project: `RETHREAD_GOLDEN` and `RETHREAD_CORPUS` name their folders.

use std::collections::{BTreeMap, HashMap};

use rethread_engine::core::entry::read_line;
use rethread_engine::core::lines::Line;
use rethread_engine::core::turn::{ToolCall, TurnPart, build_turn};
use rethread_testkit::real::find_sessions;
use serde_json::Value;

use super::render;
use crate::html::tools::render::renderer_for;

/// Returns the tool calls of a file, each with its `toolUseResult`.
fn calls(bytes: &[u8]) -> Vec<(ToolCall, Option<Value>)> {
    let mut entries = Vec::new();
    for (idx, bytes) in (1_u32..).zip(bytes.split(|&byte| byte == b'\n')) {
        let line = Line { number: idx, offset: 0, bytes, unterminated: false };
        read_line(&line, &mut Vec::new(), |entry, _| entries.push((idx, entry)));
    }
    let results: HashMap<u32, &[u8]> =
        entries.iter().filter_map(|(idx, entry)| Some((*idx, entry.tool_use_result?))).collect();
    let calls = build_turn(&entries).parts.into_iter().filter_map(|piece| match piece.part {
        TurnPart::Tool(call) => Some(*call),
        _ => None,
    });
    calls
        .map(|call| {
            let result_meta = call.result.as_ref().and_then(|result| results.get(&result.line));
            let result_meta = result_meta.and_then(|result_meta| serde_json::from_slice(result_meta).ok());
            (call, result_meta)
        })
        .collect()
}

#[test]
fn all_calls_of_real_sessions_are_rendered() {
    for (variable, least) in [("RETHREAD_GOLDEN", 300), ("RETHREAD_CORPUS", 15_000)] {
        let paths = find_sessions("calls of real sessions", variable);
        let (mut rendered, mut plain) = (0, BTreeMap::<String, usize>::new());
        for path in &paths {
            let bytes = std::fs::read(path).expect("a session can be read");
            for (call, result_meta) in calls(&bytes) {
                let size = call.input.len()
                    + call.result.as_ref().map_or(0, |result| result.text.len())
                    + result_meta.as_ref().map_or(0, |result_meta| result_meta.to_string().len());
                if renderer_for(&call.name).kind == "other" {
                    *plain.entry(call.name.clone()).or_default() += 1;
                }
                let (headline, body) = render(&call, result_meta);
                assert!(headline.len() < 4000, "{}: {}", path.display(), headline.len());
                // Escapes and line numbers make the markup of short lines several times as long as their text.
                assert!(
                    body.len() < size * 20 + 4000,
                    "{} {}: {size} → {}",
                    path.display(),
                    call.name,
                    body.len()
                );
                rendered += 1;
            }
        }
        assert!(paths.is_empty() || rendered >= least, "{rendered} calls in {variable}");
        let unknown: usize = plain.values().sum();
        assert!(
            unknown * 50 <= rendered,
            "{unknown} of {rendered} calls have no renderer of their own: {plain:?}"
        );
    }
}
