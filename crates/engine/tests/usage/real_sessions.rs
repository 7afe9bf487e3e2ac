//! Sessions that the real client wrote, and real ones: tokens are those that were spent, or are marked as a lower bound.
//!
//! The files are not part of the project: `RETHREAD_GOLDEN` and `RETHREAD_CORPUS` name their folders.

#![expect(clippy::print_stderr, reason = "a skipped test says so")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use rethread_engine::Roots;
use rethread_engine::core::entry::Usage;
use rethread_engine::core::usage::{CostTotals, Prices};
use rethread_engine::ops::{self, GroupBy};
use serde_json::Value;

use super::written_store::request;

fn folders(path: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(path).expect("the folder can be read");
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    found.retain(|path| path.is_dir());
    found.sort();
    found
}

fn named(variable: &str) -> Option<PathBuf> {
    let folder = std::env::var_os(variable);
    if folder.is_none() {
        eprintln!("skipped: {variable} is not set");
    }
    folder.map(PathBuf::from)
}

/// The tokens of the truth: input, output, written to the cache, read from it.
fn tokens(value: &Value) -> [u64; 4] {
    ["input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"]
        .map(|key| value[key].as_u64().unwrap_or(0))
}

fn ours(usage: &Usage) -> [u64; 4] {
    [usage.input, usage.output, usage.cache_write, usage.cache_read]
}

/// Says what is wrong with a sum: all of it must be so, but for an output of which only a lower bound is known.
fn wrong(sum: &CostTotals, responses: usize, theirs: [u64; 4]) -> Option<String> {
    let mine = ours(&sum.spent.usage);
    let least = sum.open > 0 && mine[1] <= theirs[1];
    let same = mine == theirs || least && [mine[0], mine[2], mine[3]] == [theirs[0], theirs[2], theirs[3]];
    (!same || sum.spent.responses != responses).then(|| {
        format!("{} responses {mine:?}, {} open; {responses} {theirs:?}", sum.spent.responses, sum.open)
    })
}

/// The responses of a scenario that stand in a file, by message: whether a subagent got it, and its tokens.
fn written(truth: &Value) -> BTreeMap<String, (bool, [u64; 4])> {
    let responses = truth["responses"].as_array().expect("a list of responses");
    let kept =
        responses.iter().filter(|one| one["written_in"].as_array().is_some_and(|files| !files.is_empty()));
    let one = |response: &Value| {
        let files = response["written_in"].as_array().expect("a list of files");
        let in_agents = files.iter().all(|file| file.as_str().is_some_and(|file| file.contains("/agent-")));
        let side = response["kind"] == "subagent" || in_agents;
        (response["id"].as_str().unwrap_or_default().to_owned(), (side, tokens(&response["usage"])))
    };
    kept.map(one).collect()
}

#[test]
fn tokens_of_the_real_client_are_exact_or_marked() {
    let Some(golden) = named("RETHREAD_GOLDEN") else { return };
    let prices = Prices::built_in();
    let (mut faults, mut scenarios, mut open) = (Vec::new(), 0, 0);
    for folder in folders(&golden).iter().flat_map(|version| folders(version)) {
        let truth = std::fs::read(folder.join("truth.json")).expect("each scenario has its truth");
        let truth: Value = serde_json::from_slice(&truth).expect("the truth is JSON");
        let name = folder.strip_prefix(&golden).expect("below the folder").display().to_string();
        let roots = Roots { paths: vec![folder.join("projects")] };
        let spending = ops::usage(&roots, &request(GroupBy::Session, TimeZone::UTC, &prices), None);
        scenarios += 1;
        open += spending.total.total().open;
        let told = &truth["usage_written"];
        let responses = told["responses"].as_u64().unwrap_or(0) as usize;
        let mut fault = |what: &str, found: Option<String>| {
            faults.extend(found.map(|found| format!("{name}, {what}: {found}")));
        };
        fault("all", wrong(&spending.total.total(), responses, tokens(told)));
        let written = written(&truth);
        for (side, sum) in [(false, &spending.total.own), (true, &spending.total.agents)] {
            let some = written.values().filter(|(of, _)| *of == side);
            let mut theirs = [0; 4];
            some.clone().for_each(|(_, tokens)| (0..4).for_each(|no| theirs[no] += tokens[no]));
            fault(if side { "subagents" } else { "own" }, wrong(sum, some.count(), theirs));
        }
        // Each response for itself: what is too little in one must not be made good by another.
        for (message, (_, theirs)) in &written {
            let (traces, _) = ops::trace_usage(&roots, message, &prices);
            let mut sum = CostTotals::default();
            traces.iter().for_each(|trace| sum.add(&trace.sum));
            fault(message, wrong(&sum, 1, *theirs));
        }
    }
    assert!(faults.is_empty(), "{} wrong:\n{}", faults.len(), faults.join("\n"));
    assert!(scenarios > 100, "{scenarios} scenarios");
    eprintln!("{scenarios} scenarios, {open} responses with a lower bound");
}

#[test]
fn real_stores_add_up_to_what_stats_counts() {
    let Some(corpus) = named("RETHREAD_CORPUS") else { return };
    let prices = Prices::built_in();
    let stores = folders(&corpus);
    assert!(stores.len() > 3, "{} stores", stores.len());
    for store in stores {
        let roots = Roots { paths: vec![store.clone()] };
        let request = request(GroupBy::Day, TimeZone::UTC, &prices);
        let (once, total) =
            (ops::stats(&roots, false, None).counts.once(), ops::usage(&roots, &request, None).total);
        assert_eq!(total.total().spent, once, "{}", store.display());
        let check = ops::check_usage(&roots, &request, None);
        assert!(check.holds(), "{}: {:?}", store.display(), check.proofs);
        assert_eq!(check.copies.once, once, "{}", store.display());
    }
}
