//! Compares the price table with real sessions: every model has a price, and recorded costs equal computed costs.
//!
//! The files are not part of the project: `RETHREAD_GOLDEN` and `RETHREAD_CORPUS` name their folders.

#![expect(clippy::print_stderr, reason = "the test prints its counts")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use rethread_engine::core::entry::read_line;
use rethread_engine::core::lines::LineSplitter;
use rethread_engine::core::usage::{CostState, ModelCost, ModelPricing, Money, PriceTable};
use rethread_testkit::real;

/// Returns the session files below the folder that a variable names.
fn find_sessions(variable: &str) -> Vec<PathBuf> {
    real::find_sessions("prices of real sessions", variable)
}

/// Describes the difference between the recorded and the computed cost. Returns `None` if they are equal.
fn find_difference(pricing: &ModelPricing, state: &CostState, model: &ModelCost) -> Option<String> {
    // The rates of short prompts: the recorded costs are totals, and none of the responses had a long prompt.
    let rates = &pricing.row_at(state.start).rates;
    let (ours, theirs) = (rates.cost(&model.usage).dollars(), model.cost.expect("a cost").dollars());
    let excess = theirs - ours;
    // If the cache lifetimes are not recorded, the excess must be the extra price of a number of one-hour tokens.
    let extra_price = rates.cache_write_1h.dollars() - rates.cache_write_5m.dollars();
    let tokens = excess / extra_price;
    let is_token_count = (tokens - tokens.round()).abs() < 1e-3
        && (0.0..=model.usage.cache_write as f64).contains(&tokens.round());
    let is_equal = if model.has_cache_lifetimes { excess.abs() < 1e-9 } else { is_token_count };
    (!is_equal).then(|| format!("{}: the client recorded {theirs}, the table gives {ours}", model.model))
}

#[test]
fn costs_recorded_by_the_client_equal_computed_costs() {
    let prices = PriceTable::built_in();
    for (variable, min_lines) in [("RETHREAD_GOLDEN", 90), ("RETHREAD_CORPUS", 2)] {
        let mut differences = BTreeSet::new();
        let mut counts_by_model: BTreeMap<String, usize> = BTreeMap::new();
        let (mut line_count, paths) = (0, find_sessions(variable));
        for path in &paths {
            let bytes = std::fs::read(path).expect("a session can be read");
            for state in bytes.split(|&byte| byte == b'\n').filter_map(CostState::parse) {
                line_count += 1;
                for model in &state.models {
                    *counts_by_model.entry(model.model.clone()).or_default() += 1;
                    match prices.find_model(&model.model) {
                        Some(pricing) => differences.extend(find_difference(pricing, &state, model)),
                        None => drop(differences.insert(format!("{} has no price", model.model))),
                    }
                }
                let sum = state.models.iter().filter_map(|model| model.cost).map(Money::dollars).sum::<f64>();
                let total = state.total.expect("a total").dollars();
                if (sum - total).abs() > 1e-9 {
                    differences.insert(format!(
                        "{}: the sum of the models is {sum}, the total is {total}",
                        path.display()
                    ));
                }
            }
        }
        assert!(differences.is_empty(), "{differences:#?}");
        assert!(paths.is_empty() || line_count >= min_lines, "{line_count} lines in {variable}");
        eprintln!("{variable}: {line_count} lines, {counts_by_model:?}");
    }
}

#[test]
fn every_model_of_real_sessions_has_a_price() {
    let prices = PriceTable::built_in();
    let mut unpriced: BTreeMap<String, usize> = BTreeMap::new();
    for path in ["RETHREAD_GOLDEN", "RETHREAD_CORPUS"].into_iter().flat_map(find_sessions) {
        let bytes = std::fs::read(path).expect("a session can be read");
        LineSplitter::default().feed(&bytes, true, &mut Vec::new(), |line, problems| {
            read_line(&line, problems, |entry, _| {
                let model = entry.model().map(|model| model.decode().into_owned());
                if let Some(model) = model.filter(|model| prices.find_model(model).is_none()) {
                    *unpriced.entry(model).or_default() += 1;
                }
            });
        });
    }
    assert!(unpriced.is_empty(), "{unpriced:?}");
}
