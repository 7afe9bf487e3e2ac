//! Laws of all copies, for any conversation and any options.

use std::collections::HashSet;

use proptest::prelude::*;
use rethread_core::edit::required_entries;
use rethread_core::id::Id;
use rethread_core::resume::{KNOWN_CLIENTS, TrailingEntries, simulate_resume};
use rethread_core::tree::{Node, NodeId};
use rethread_core::trim::{ContentKind, TrimInput, TrimOptions, escalate};
use rethread_core::version::Version;
use rethread_testkit::{random, script};
use serde_json::Value;

use crate::loaded_file::{LoadedFile, NOTE, last_node, load, trim_with};

/// A part of a generated turn.
#[derive(Debug, Clone)]
enum TurnEvent {
    /// An answer: whether it has thinking, whether it has text, and the number of its calls.
    Answer(bool, bool, u8),
    Progress,
    Attachment(bool),
    /// A prompt that was rewound.
    RewoundPrompt,
}

fn turn_event() -> impl Strategy<Value = TurnEvent> {
    prop_oneof![
        6 => (any::<bool>(), any::<bool>(), 0u8..4).prop_map(|(has_thinking, has_text, calls)| TurnEvent::Answer(has_thinking, has_text, calls)),
        1 => Just(TurnEvent::Progress),
        1 => any::<bool>().prop_map(TurnEvent::Attachment),
        1 => Just(TurnEvent::RewoundPrompt),
    ]
}

/// Generates a conversation in the form that clients write.
fn conversation() -> impl Strategy<Value = String> {
    let turn = (any::<bool>(), prop::collection::vec(turn_event(), 0..5));
    prop::collection::vec(turn, 1..6).prop_map(|turns| {
        let mut writer = ConversationWriter { text: String::new(), tip: "null".into(), count: 0 };
        for (has_image, events) in turns {
            let words = if has_image { "look | [image]" } else { "please" };
            writer.add_child("u", "", words);
            events.iter().for_each(|event| writer.add_event(event));
            writer.add_child("a", "", "Done");
        }
        writer.text
    })
}

struct ConversationWriter {
    text: String,
    /// The last line on the path.
    tip: String,
    count: u32,
}

impl ConversationWriter {
    fn add_line(&mut self, kind: &str, parent: &str, flags: &str, body: &str) -> String {
        self.count += 1;
        let name = format!("{kind}{}", self.count);
        self.text += &format!("{name} ^{parent} {flags}: {body}\n");
        name
    }

    fn add_child(&mut self, kind: &str, flags: &str, body: &str) {
        let parent = self.tip.clone();
        self.tip = self.add_line(kind, &parent, flags, body);
    }

    fn add_event(&mut self, event: &TurnEvent) {
        let words = "planks ".repeat(self.count as usize % 3 * 60 + 1);
        match event {
            TurnEvent::Progress => self.add_child("p", "", "hook_progress so far"),
            TurnEvent::Attachment(client_only) => {
                self.add_child("t", "", if *client_only { "hook_success ok" } else { "file a bed" });
            }
            TurnEvent::RewoundPrompt => {
                let parent = self.tip.clone();
                self.add_line("u", &parent, "", "never mind");
            }
            TurnEvent::Answer(has_thinking, has_text, calls) => {
                let message = format!("#m{}", self.count);
                if *has_thinking && (*has_text || *calls > 0) {
                    self.add_child("a", &message, "?hm");
                }
                if *has_text {
                    self.add_child("a", &message, "I see");
                }
                let mut call_names = Vec::new();
                for call in 0..*calls {
                    let tool = if call % 2 == 0 { "!Read shed.md" } else { "!Bash ls" };
                    self.add_child("a", &message, tool);
                    call_names.push(self.tip.clone());
                }
                for call in call_names {
                    self.tip = self.add_line("u", &call, "", &format!("={call} {words}"));
                }
            }
        }
    }
}

fn trim_options() -> impl Strategy<Value = TrimOptions> {
    let drop = prop::sample::subsequence(ContentKind::ALL.to_vec(), 0..=ContentKind::ALL.len());
    let below = |limit: u32| prop::option::of(0..limit);
    (drop, any::<bool>(), below(4), below(2), below(4), any::<bool>()).prop_map(
        |(drop, client_only, keep_last, over, older_than, dedupe_reads)| TrimOptions {
            drop,
            client_only,
            keep_last,
            results_over: over.map(|over| u64::from(over) * 300),
            older_than,
            dedupe_reads,
        },
    )
}

/// Checks the laws of a copy.
fn check_copy(original: &LoadedFile, copy: &LoadedFile) -> Result<(), TestCaseError> {
    let line = |file: &LoadedFile, node: &Node| -> Value {
        serde_json::from_slice(&file.line_bytes(node.span)).expect("JSON")
    };
    let mut ids_by_file: Vec<(HashSet<String>, HashSet<String>)> = Vec::new();
    for file in [original, copy] {
        let (mut calls, mut results) = (HashSet::new(), HashSet::new());
        for node in file.tree.nodes() {
            for block in line(file, node)["message"]["content"].as_array().into_iter().flatten() {
                calls.extend(block["id"].as_str().filter(|_| block["type"] == "tool_use").map(str::to_owned));
                results.extend(block["tool_use_id"].as_str().map(str::to_owned));
            }
        }
        ids_by_file.push((calls, results));
    }
    let [(calls, results), (copied_calls, copied_results)] = &ids_by_file[..] else {
        unreachable!("two files")
    };
    for call in calls.intersection(results) {
        prop_assert_eq!(copied_calls.contains(call), copied_results.contains(call), "{}", call);
    }
    for node in copy.tree.nodes() {
        let copied = line(copy, node);
        // Lines of subagents may repeat a uuid. Then the original is one of several.
        let originals: Vec<Value> = original
            .tree
            .nodes()
            .iter()
            .filter(|candidate| candidate.uuid == node.uuid)
            .map(|candidate| line(original, candidate))
            .collect();
        let content = |value: &Value| value["message"]["content"].clone();
        let is_empty = content(&copied) == Value::Array(Vec::new());
        prop_assert!(!is_empty || originals.iter().any(|original| content(original) == content(&copied)));
        let thinking_blocks = |value: &Value| -> Vec<Value> {
            let blocks = value["message"]["content"].as_array().cloned().unwrap_or_default();
            blocks.into_iter().filter(|block| block["type"] == "thinking").collect()
        };
        let is_verbatim =
            |block: &Value| originals.iter().any(|original| thinking_blocks(original).contains(block));
        prop_assert!(thinking_blocks(&copied).iter().all(is_verbatim));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 384, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn copies_load_exactly_the_remaining_entries(text in conversation(), options in trim_options()) {
        let original = load(&script::bytes(&text));
        for version in KNOWN_CLIENTS {
            let client = Version::parse_lenient(version);
            let trimmed = original.trim(&client, last_node(&original), |input| trim_with(&options)(input, &original));
            let Some((outcome, trimmed)) = trimmed else { continue };
            if trimmed.leaf.is_none() { continue }
            let remaining: HashSet<Id> = trimmed.lines.iter().map(|(node_id, _)| original.tree.node(*node_id).uuid).collect();
            let copy = load(&original.write(trimmed));
            check_copy(&original, &copy)?;
            let copy_outcome = simulate_resume(&copy.tree, &copy.resume_index, &client);
            let expected: Vec<Id> = original.uuids(&outcome.path).into_iter().filter(|id| remaining.contains(id)).collect();
            let mut loaded = copy.uuids(&copy_outcome.path);
            if text.contains("progress") {
                // Clients that do not read progress lines load only the entries after the last one. From a copy
                // without progress lines they also load earlier entries.
                loaded.drain(..loaded.len().saturating_sub(expected.len()));
            }
            prop_assert_eq!(loaded, expected, "{}\n{}", version, text);
            let has_missing_parent = |node: &Node| node.link == rethread_core::tree::ParentLink::MissingParent;
            prop_assert!(!copy.tree.nodes().iter().any(has_missing_parent), "{}", text);
            prop_assert!(copy_outcome.find_rejections().len() <= outcome.find_rejections().len(), "{}\n{}", version, text);
        }
    }

    /// A law of `edit` states that such a copy loads the same entries as its original.
    #[test]
    fn empty_options_change_nothing(records in random::records()) {
        let original = load(&script::write_records(&records));
        for leaf in 0..original.tree.nodes().len() as NodeId {
            for version in KNOWN_CLIENTS {
                let client = Version::parse_lenient(version);
                let trimmed = original.trim(&client, leaf, |input| trim_with(&TrimOptions::default())(input, &original));
                let Some((_, trimmed)) = trimmed else { continue };
                let kept: Vec<NodeId> = trimmed.lines.iter().map(|(node_id, _)| *node_id).collect();
                prop_assert_eq!(kept, required_entries(&original.tree, &original.resume_index, std::slice::from_ref(&client), leaf, TrailingEntries::All));
                prop_assert!(trimmed.lines.iter().all(|(_, edits)| edits.is_empty()));
                prop_assert_eq!(trimmed.savings.total(), rethread_core::trim::Savings::default());
            }
        }
    }

    #[test]
    fn any_file_can_be_trimmed(records in random::records(), options in trim_options(), fit in 0u64..200) {
        let original = load(&script::write_records(&records));
        for leaf in 0..original.tree.nodes().len() as NodeId {
            for version in ["1.0.98", "2.1.42", "2.1.325"] {
                let client = Version::parse_lenient(version);
                let trim = |options: &TrimOptions| original.trim(&client, leaf, |input| trim_with(options)(input, &original)).map(|(_, trimmed)| trimmed);
                let (Some(whole), Some(trimmed)) = (trim(&TrimOptions::default()), trim(&options)) else { continue };
                let whole = load(&original.write(whole));
                check_copy(&whole, &load(&original.write(trimmed)))?;
                let read = |span| Ok::<_, std::convert::Infallible>(original.line_bytes(span));
                let escalate_trim = |input: &TrimInput<'_>| escalate(input, fit, NOTE, read).unwrap_or_else(|never| match never {}).trimmed;
                let Some((_, trimmed)) = original.trim(&client, leaf, escalate_trim) else { continue };
                check_copy(&whole, &load(&original.write(trimmed)))?;
            }
        }
    }
}
