//! Compares all totals of real sessions with the counts of an independent program.
//!
//! The files are not part of the project: `RETHREAD_CORPUS` names their folder, `RETHREAD_CORPUS_TRUTH` the counts.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rethread_engine::Roots;
use rethread_engine::ops;
use rethread_engine::ops::list::SessionFilter;
use rethread_engine::ops::read::BranchSelector;
use rethread_testkit::real;
use serde_json::{Value, json};

/// Returns the folder of the corpus and the counts. Prints a message and returns `None` if they are not set.
fn read_corpus() -> Option<(PathBuf, Value)> {
    let [folder, truth] = ["RETHREAD_CORPUS", "RETHREAD_CORPUS_TRUTH"]
        .map(|variable| real::data_path("counts of the corpus", variable));
    let folder = folder?;
    let truth = std::fs::read(truth?).expect("the truth file can be read");
    Some((folder, serde_json::from_slice(&truth).expect("the truth file is JSON")))
}

fn roots(path: PathBuf) -> Roots {
    Roots::new(vec![path])
}

/// Removes zeros: counts that are missing in the truth are zero.
fn without_zeros(counts: BTreeMap<String, u64>) -> Value {
    json!(counts.into_iter().filter(|(_, count)| *count > 0).collect::<BTreeMap<_, _>>())
}

#[test]
fn totals_equal_the_independent_count() {
    let Some((folder, truth)) = read_corpus() else { return };
    let stores = truth.as_object().expect("one entry per store");
    assert!(stores.len() > 3, "the truth names stores");
    for (name, truth) in stores {
        let stats = ops::stats::collect_stats(&roots(folder.join(name)), true, None);
        assert!(stats.failures.is_empty(), "{name}: {:?}", stats.failures);
        let counts = stats.counts;
        let totals = counts.totals_by_request_id();
        let usage = totals.usage;
        let mut ours = json!({
            "types": without_zeros(counts.total.types),
            "blocks": without_zeros(counts.blocks),
            "system_subtypes": without_zeros(counts.system_subtypes),
            "tools": without_zeros(counts.tools.iter().map(|(name, tool)| (name.clone(), tool.blocks)).collect()),
            "responses": totals.responses,
            "usage": without_zeros(BTreeMap::from([
                ("input_tokens".to_owned(), usage.input),
                ("output_tokens".to_owned(), usage.output),
                ("cache_creation_input_tokens".to_owned(), usage.cache_write),
                ("cache_read_input_tokens".to_owned(), usage.cache_read),
            ])),
        });
        for key in ["types", "blocks", "system_subtypes", "tools", "responses", "usage"] {
            let theirs = match truth.get(key) {
                Some(Value::Object(counts)) => {
                    json!(counts.iter().filter(|(_, count)| **count != json!(0)).collect::<BTreeMap<_, _>>())
                }
                Some(count) => count.clone(),
                None => json!({}),
            };
            let ours = ours[key].take();
            assert_eq!(ours, theirs, "{name}: {key}");
        }
        let theirs = truth["files"].as_object().expect("counts by file");
        assert_eq!(stats.files.len(), theirs.len(), "{name}: files");
        for ops::stats::FileStats { path, counts: file } in &stats.files {
            let theirs = theirs.get(path).unwrap_or_else(|| panic!("{name}: {path} is not in the truth"));
            let ours = [
                ("bytes", file.bytes),
                ("lines", file.lines),
                ("malformed", file.malformed),
                ("uuids", file.uuids),
                ("uuids_repeated", file.uuids_repeated),
                ("roots", file.roots),
                ("parents_missing", file.parents_missing),
                ("messages", file.messages),
                ("tool_uses", file.tool_uses),
                ("tool_uses_unpaired", file.tool_uses_unpaired),
                ("tool_results_unpaired", file.tool_results_unpaired),
                ("tool_results_is_error", file.tool_results_is_error),
            ];
            for (key, ours) in ours {
                let theirs = theirs.get(key).and_then(Value::as_u64).unwrap_or(0);
                assert_eq!(ours, theirs, "{name}: {path}: {key}");
            }
            assert_eq!(without_zeros(file.types.clone()), theirs["types"], "{name}: {path}: types");
        }
        let unknown: Vec<_> = counts.unknown.keys().filter(|what| what.starts_with("type")).collect();
        assert!(unknown.is_empty(), "{name}: unknown types {unknown:?}");
    }
}

#[test]
fn every_line_is_accounted_for() {
    let Some((folder, truth)) = read_corpus() else { return };
    let stores: Vec<&String> = truth.as_object().expect("one entry per store").keys().collect();
    for name in stores {
        let stats = ops::stats::collect_stats(&roots(folder.join(name)), false, None);
        let total = &stats.counts.total;
        let typed: u64 = total.types.values().sum();
        assert_eq!(typed + total.malformed, total.lines, "{name}: typed and malformed lines are all lines");
    }
}

#[test]
fn every_turn_of_every_session_is_shown() {
    let Some((folder, _)) = read_corpus() else { return };
    let list = ops::list::list_sessions(
        &roots(folder),
        &SessionFilter { all: true, ..SessionFilter::default() },
        None,
    );
    assert!(list.failures.is_empty(), "{:?}", list.failures);
    assert!(list.rows.len() > 300, "{} sessions", list.rows.len());
    for row in list.rows {
        let request = ops::show::ShowRequest {
            path: row.path.clone(),
            branch: BranchSelector::AllTurns,
            ..Default::default()
        };
        let session = ops::show::show_session(&request).expect("a session can be shown");
        let mut shown = 0;
        for turn in session {
            shown += usize::from(turn.expect("a turn can be read").number.is_some());
        }
        assert_eq!(shown, row.info.turns, "{}: every turn is shown", row.path.display());
    }
}

#[test]
fn context_blocks_sum_to_the_window() {
    let Some((folder, _)) = read_corpus() else { return };
    let list = ops::list::list_sessions(
        &roots(folder),
        &SessionFilter { all: true, ..SessionFilter::default() },
        None,
    );
    let mut counted_windows = 0;
    for row in list.rows {
        let path = row.path.clone();
        let shown = path.display();
        let context =
            ops::context::analyze_context(&ops::context::ContextRequest { path: row.path, turns: true })
                .expect("a context can be shown");
        let window = &context.window;
        let total = match window.context {
            Some(sent) => sent + window.output.0 + window.since,
            None => window.client + window.since,
        };
        assert_eq!(window.used_tokens(), total, "{shown}: sum of the blocks");
        let rows: u64 = context.by_cause.iter().map(|row| row.tokens).sum();
        assert_eq!(rows, total, "{shown}: sum of the causes");
        assert!(context.by_cause.iter().all(|row| row.measured <= row.tokens), "{shown}");
        let samples: usize = context.turns.iter().map(|turn| turn.sample_range.len()).sum();
        assert_eq!(samples, context.history.samples.len(), "{shown}: every response is in one turn");
        counted_windows += usize::from(window.context.is_some());
    }
    assert!(counted_windows > 200, "{counted_windows} windows were counted");
}
