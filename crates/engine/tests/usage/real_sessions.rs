//! Sessions of the real client: token counts are exact or marked as a lower bound.
//!
//! The files are not part of the project: `RETHREAD_GOLDEN` and `RETHREAD_CORPUS` name their folders.

#![expect(clippy::print_stderr, reason = "the test prints its counts")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use rethread_engine::Roots;
use rethread_engine::core::entry::Usage;
use rethread_engine::core::usage::{CostTotals, PriceTable};
use rethread_engine::ops;
use rethread_engine::ops::usage::GroupBy;
use rethread_testkit::real;
use serde_json::Value;

use super::written_store::request;

fn list_folders(path: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(path).expect("the folder can be read");
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    folders.retain(|path| path.is_dir());
    folders.sort();
    folders
}

/// Returns token counts of the truth: input, output, cache write, cache read.
fn truth_tokens(value: &Value) -> [u64; 4] {
    ["input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"]
        .map(|key| value[key].as_u64().unwrap_or(0))
}

fn usage_tokens(usage: &Usage) -> [u64; 4] {
    [usage.input, usage.output, usage.cache_write, usage.cache_read]
}

/// Describes the difference between totals and the truth. Returns `None` if they are equal.
///
/// The output may be smaller if it is a lower bound.
fn find_difference(totals: &CostTotals, responses: usize, theirs: [u64; 4]) -> Option<String> {
    let ours = usage_tokens(&totals.counts.usage);
    let is_lower_bound = totals.lower_bounds > 0 && ours[1] <= theirs[1];
    let is_equal =
        ours == theirs || is_lower_bound && [ours[0], ours[2], ours[3]] == [theirs[0], theirs[2], theirs[3]];
    (!is_equal || totals.counts.responses != responses).then(|| {
        format!(
            "{} responses {ours:?}, {} lower bounds; expected {responses} {theirs:?}",
            totals.counts.responses, totals.lower_bounds
        )
    })
}

/// Returns the written responses of a scenario by message id: whether a subagent received it, and its tokens.
fn written_responses(truth: &Value) -> BTreeMap<String, (bool, [u64; 4])> {
    let responses = truth["responses"].as_array().expect("a list of responses");
    let written = responses
        .iter()
        .filter(|response| response["written_in"].as_array().is_some_and(|files| !files.is_empty()));
    let convert = |response: &Value| {
        let files = response["written_in"].as_array().expect("a list of files");
        let in_agents = files.iter().all(|file| file.as_str().is_some_and(|file| file.contains("/agent-")));
        let is_subagent = response["kind"] == "subagent" || in_agents;
        let message_id = response["id"].as_str().unwrap_or_default().to_owned();
        (message_id, (is_subagent, truth_tokens(&response["usage"])))
    };
    written.map(convert).collect()
}

#[test]
fn tokens_are_exact_or_lower_bounds() {
    let Some(golden) = real::data_path("usage of real sessions", "RETHREAD_GOLDEN") else { return };
    let prices = PriceTable::built_in();
    let (mut differences, mut scenario_count, mut lower_bounds) = (Vec::new(), 0, 0);
    for folder in list_folders(&golden).iter().flat_map(|version| list_folders(version)) {
        let truth = std::fs::read(folder.join("truth.json")).expect("each scenario has its truth");
        let truth: Value = serde_json::from_slice(&truth).expect("the truth is JSON");
        let name = folder.strip_prefix(&golden).expect("below the folder").display().to_string();
        let roots = Roots::new(vec![folder.join("projects")]);
        let report = ops::usage::usage(&roots, &request(GroupBy::Session, TimeZone::UTC, &prices), None);
        scenario_count += 1;
        lower_bounds += report.total.total().lower_bounds;
        let usage_written = &truth["usage_written"];
        let responses = usage_written["responses"].as_u64().unwrap_or(0) as usize;
        let mut add_difference = |part: &str, difference: Option<String>| {
            differences.extend(difference.map(|difference| format!("{name}, {part}: {difference}")));
        };
        let total = report.total.total();
        add_difference("all", find_difference(&total, responses, truth_tokens(usage_written)));
        let written = written_responses(&truth);
        for (of_subagents, totals) in [(false, &report.total.own), (true, &report.total.agents)] {
            let selected = written.values().filter(|(is_subagent, _)| *is_subagent == of_subagents);
            let mut theirs = [0; 4];
            selected.clone().for_each(|(_, tokens)| (0..4).for_each(|idx| theirs[idx] += tokens[idx]));
            let part = if of_subagents { "subagents" } else { "own" };
            add_difference(part, find_difference(totals, selected.count(), theirs));
        }
        // Compare each response too, because errors could cancel out in the sums.
        for (message_id, (_, theirs)) in &written {
            let (traces, _) = ops::usage::trace_usage(&roots, message_id, &prices);
            let mut totals = CostTotals::default();
            traces.iter().for_each(|trace| totals.add(&trace.totals));
            add_difference(message_id, find_difference(&totals, 1, *theirs));
        }
    }
    assert!(differences.is_empty(), "{} differences:\n{}", differences.len(), differences.join("\n"));
    assert!(scenario_count > 100, "{scenario_count} scenarios");
    eprintln!("{scenario_count} scenarios, {lower_bounds} responses with a lower bound");
}

#[test]
fn usage_totals_equal_the_counts_of_stats() {
    let Some(corpus) = real::data_path("usage of real sessions", "RETHREAD_CORPUS") else { return };
    let prices = PriceTable::built_in();
    let stores = list_folders(&corpus);
    assert!(stores.len() > 3, "{} stores", stores.len());
    for store in stores {
        let roots = Roots::new(vec![store.clone()]);
        let request = request(GroupBy::Day, TimeZone::UTC, &prices);
        let (deduplicated, total) = (
            ops::stats::collect_stats(&roots, false, None).counts.deduplicated_totals(),
            ops::usage::usage(&roots, &request, None).total,
        );
        assert_eq!(total.total().counts, deduplicated, "{}", store.display());
        let check = ops::usage::check_usage(&roots, &request, None);
        assert!(check.is_consistent(), "{}: {:?}", store.display(), check.totals);
        assert_eq!(check.copies.once, deduplicated, "{}", store.display());
    }
}
