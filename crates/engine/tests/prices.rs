//! Real sessions: every model in them has a price, and what the client wrote of its costs follows from the table.
//!
//! The files are not part of the project: `RETHREAD_GOLDEN` and `RETHREAD_CORPUS` name their folders.

#![expect(clippy::disallowed_methods, reason = "the tests are told by the environment where the data is")]
#![expect(clippy::print_stderr, reason = "a skipped test says so")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use rethread_engine::core::entry::read;
use rethread_engine::core::lines::LineSplitter;
use rethread_engine::core::usage::{CostState, ModelCost, ModelPricing, Money, Prices};

/// Returns the session files below a folder that the environment names, or says that they are not there.
fn sessions(variable: &str) -> Vec<PathBuf> {
    let Some(folder) = std::env::var_os(variable) else {
        eprintln!("skipped: {variable} is not set");
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::from(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the folder can be read") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "jsonl") {
                found.push(path);
            }
        }
    }
    assert!(found.len() > 100, "{} sessions in {variable}", found.len());
    found
}

/// Says how the client's cost of a model differs from ours, where it does.
fn difference(tariff: &ModelPricing, state: &CostState, model: &ModelCost) -> Option<String> {
    // Rates of short prompts: totals are of many responses, and none of these was long.
    let rates = &tariff.row(state.start).rates;
    let (ours, theirs) = (rates.cost(&model.usage).dollars(), model.cost.expect("a cost").dollars());
    let more = theirs - ours;
    // Where it is not said how long the cache is kept, what there is more must be a number of tokens kept for an hour.
    let step = rates.cache_write_1h.dollars() - rates.cache_write_5m.dollars();
    let tokens = more / step;
    let hours = (tokens - tokens.round()).abs() < 1e-3
        && (0.0..=model.usage.cache_write as f64).contains(&tokens.round());
    let same = if model.lifetimes { more.abs() < 1e-9 } else { hours };
    (!same).then(|| format!("{}: {theirs} for the client, {ours} for the table", model.model))
}

#[test]
fn the_client_reckons_with_the_same_prices() {
    let prices = Prices::built_in();
    for (variable, least) in [("RETHREAD_GOLDEN", 90), ("RETHREAD_CORPUS", 2)] {
        let mut wrong = BTreeSet::new();
        let mut checked: BTreeMap<String, usize> = BTreeMap::new();
        let (mut lines, paths) = (0, sessions(variable));
        for path in &paths {
            let bytes = std::fs::read(path).expect("a session can be read");
            for state in bytes.split(|&byte| byte == b'\n').filter_map(CostState::read) {
                lines += 1;
                for model in &state.models {
                    *checked.entry(model.model.clone()).or_default() += 1;
                    match prices.tariff(&model.model) {
                        Some(tariff) => wrong.extend(difference(tariff, &state, model)),
                        None => drop(wrong.insert(format!("{} has no price", model.model))),
                    }
                }
                let sum = state.models.iter().filter_map(|model| model.cost).map(Money::dollars).sum::<f64>();
                let total = state.total.expect("a total").dollars();
                if (sum - total).abs() > 1e-9 {
                    wrong.insert(format!("{}: the models make {sum}, the total is {total}", path.display()));
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
        assert!(paths.is_empty() || lines >= least, "{lines} lines in {variable}");
        eprintln!("{variable}: {lines} lines, {checked:?}");
    }
}

#[test]
fn every_model_of_real_sessions_has_a_price() {
    let prices = Prices::built_in();
    let mut unpriced: BTreeMap<String, usize> = BTreeMap::new();
    for path in ["RETHREAD_GOLDEN", "RETHREAD_CORPUS"].into_iter().flat_map(sessions) {
        let bytes = std::fs::read(path).expect("a session can be read");
        LineSplitter::default().feed(&bytes, true, &mut Vec::new(), |line, problems| {
            read(&line, problems, |entry, _| {
                let model = entry.model().map(|model| model.decode().into_owned());
                if let Some(model) = model.filter(|model| prices.tariff(model).is_none()) {
                    *unpriced.entry(model).or_default() += 1;
                }
            });
        });
    }
    assert!(unpriced.is_empty(), "{unpriced:?}");
}
