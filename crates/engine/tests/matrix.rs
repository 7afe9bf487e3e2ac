//! Compares the answers of the resume cases in `core` with the measured matrix, cell by cell.
//!
//! The matrix is not part of the project: `RETHREAD_MATRIX` names its file.

use std::collections::HashMap;

use rethread_engine::core::resume::KNOWN_CLIENTS;
use rethread_engine::core::version::Version;
use rethread_testkit::real;
use serde_json::Value;

const CASES: &str = include_str!("../../core/tests/resume/cases.txt");

/// Replaces the ids of tool calls by numbers, because the cases and the matrix use different ids.
fn number_calls(texts: &[&str]) -> Vec<String> {
    let mut calls: Vec<String> = Vec::new();
    let mut number = |id: &str| {
        let idx = calls.iter().position(|call| call == id);
        idx.unwrap_or_else(|| {
            calls.push(id.to_owned());
            calls.len() - 1
        })
    };
    let rename = |text: &&str| match text.split_once("USE ").or_else(|| text.split_once("RES ")) {
        Some((prefix, id)) => format!("{prefix}{} {}", &text[prefix.len()..prefix.len() + 3], number(id)),
        None => (*text).to_owned(),
    };
    texts.iter().map(rename).collect()
}

/// Returns the answer of each version to each case.
fn read_answers() -> HashMap<(&'static str, &'static str), &'static str> {
    let mut answers = HashMap::new();
    for case in CASES.split("\n=== ").skip(1) {
        let name = case.lines().next().expect("a case has a name");
        let ranges = case.rsplit("\n---\n").next().expect("a case has answers");
        for line in ranges.trim().lines() {
            let (range, answer) = line.split_once(": ").expect("an answer has versions");
            let (from, to) = range.split_once(' ').expect("versions are a range");
            let [from, to] = [from, to].map(Version::parse_lenient);
            let is_in_range = |version: &&&str| (&from..=&to).contains(&&Version::parse_lenient(version));
            let versions = KNOWN_CLIENTS.iter().filter(is_in_range);
            answers.extend(versions.map(|version| ((name, *version), answer)));
        }
    }
    answers
}

#[test]
fn every_matrix_cell_equals_the_answer_of_its_case() {
    let Some(path) = real::data_path("matrix of resume cases", "RETHREAD_MATRIX") else { return };
    let matrix: Value =
        serde_json::from_slice(&std::fs::read(path).expect("the matrix can be read")).expect("it is JSON");
    let answers = read_answers();
    let mut cell_count = 0;
    for (name, versions) in matrix.as_object().expect("cases by name") {
        for (version, cell) in versions.as_object().expect("answers by version") {
            let ours = answers
                .iter()
                .find(|((case, client), _)| case == name && client == version)
                .unwrap_or_else(|| panic!("no answer for {name} in {version}"))
                .1;
            let ours: Vec<&str> = ours.split(" | ").collect();
            let theirs: Vec<&str> = match cell {
                Value::String(exit) if exit.contains("137") => vec!["hangs"],
                Value::String(_) => vec!["gives up"],
                list => {
                    let blocks = list.as_array().expect("a list of blocks").iter().filter_map(Value::as_str);
                    blocks.filter(|block| *block != "u:NEXT").collect()
                }
            };
            assert_eq!(number_calls(&ours), number_calls(&theirs), "{name} in {version}");
            cell_count += 1;
        }
    }
    assert_eq!(cell_count, 47 * 13, "cells of the matrix");
}
