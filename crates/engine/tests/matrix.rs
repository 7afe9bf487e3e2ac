//! The cases of `core/resume` say what was measured: their answers are those of the matrix, cell by cell.
//!
//! The matrix is not part of the project: `RETHREAD_MATRIX` names its file.

#![expect(clippy::disallowed_methods, reason = "the tests are told by the environment where the data is")]
#![expect(clippy::print_stderr, reason = "a skipped test says so")]

use std::collections::HashMap;

use rethread_engine::core::resume::KNOWN_CLIENTS;
use serde_json::Value;

const CASES: &str = include_str!("../../core/tests/resume/cases.txt");

/// Numbers the calls in the order in which they occur: the cases and the matrix call them by other names.
fn numbered(words: &[&str]) -> Vec<String> {
    let mut calls: Vec<String> = Vec::new();
    let mut number = |id: &str| {
        let known = calls.iter().position(|call| call == id);
        known.unwrap_or_else(|| {
            calls.push(id.to_owned());
            calls.len() - 1
        })
    };
    let name = |word: &&str| match word.split_once("USE ").or_else(|| word.split_once("RES ")) {
        Some((side, id)) => format!("{side}{} {}", &word[side.len()..side.len() + 3], number(id)),
        None => (*word).to_owned(),
    };
    words.iter().map(name).collect()
}

/// Returns the answer of each version to each case.
fn answers() -> HashMap<(&'static str, &'static str), &'static str> {
    let mut answers = HashMap::new();
    for case in CASES.split("\n=== ").skip(1) {
        let name = case.lines().next().expect("a case has a name");
        let ranges = case.rsplit("\n---\n").next().expect("a case has answers");
        for line in ranges.trim().lines() {
            let (range, answer) = line.split_once(": ").expect("an answer has versions");
            let (from, to) = range.split_once(' ').expect("versions are a range");
            let place =
                |version| KNOWN_CLIENTS.iter().position(|known| *known == version).expect("it was measured");
            answers.extend(
                KNOWN_CLIENTS[place(from)..=place(to)].iter().map(|version| ((name, *version), answer)),
            );
        }
    }
    answers
}

#[test]
fn every_cell_of_the_matrix_is_a_case() {
    let Some(path) = std::env::var_os("RETHREAD_MATRIX") else {
        eprintln!("skipped: RETHREAD_MATRIX is not set");
        return;
    };
    let matrix: Value =
        serde_json::from_slice(&std::fs::read(path).expect("the matrix can be read")).expect("it is JSON");
    let answers = answers();
    let mut cells = 0;
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
                    let words = list.as_array().expect("a list of blocks").iter().filter_map(Value::as_str);
                    words.filter(|word| *word != "u:NEXT").collect()
                }
            };
            assert_eq!(numbered(&ours), numbered(&theirs), "{name} in {version}");
            cells += 1;
        }
    }
    assert_eq!(cells, 47 * 13, "cells of the matrix");
}
