//! What every copy holds to, whatever conversation it is of and whatever goes.

use std::collections::HashSet;

use proptest::prelude::*;
use rethread_core::edit::required_entries;
use rethread_core::id::Id;
use rethread_core::resume::{KNOWN_CLIENTS, simulate_resume};
use rethread_core::tree::{Node, NodeId};
use rethread_core::trim::{ContentKind, TrimInput, TrimOptions, escalate};
use rethread_core::version::Version;
use rethread_testkit::{random, script};
use serde_json::Value;

use crate::loaded_file::{Known, NOTE, by, know, last};

/// A part of a turn.
#[derive(Debug, Clone)]
enum Beat {
    /// An answer: whether it thinks, whether it speaks, how many calls it makes.
    Answer(bool, bool, u8),
    Progress,
    Attachment(bool),
    /// A prompt that was taken back.
    Aside,
}

fn beat() -> impl Strategy<Value = Beat> {
    prop_oneof![
        6 => (any::<bool>(), any::<bool>(), 0u8..4).prop_map(|(think, speak, calls)| Beat::Answer(think, speak, calls)),
        1 => Just(Beat::Progress),
        1 => any::<bool>().prop_map(Beat::Attachment),
        1 => Just(Beat::Aside),
    ]
}

/// Writes a conversation as clients do.
fn talk() -> impl Strategy<Value = String> {
    let turn = (any::<bool>(), prop::collection::vec(beat(), 0..5));
    prop::collection::vec(turn, 1..6).prop_map(|turns| {
        let mut talk = Talk { text: String::new(), above: "null".into(), count: 0 };
        for (picture, beats) in turns {
            let words = if picture { "look | [image]" } else { "please" };
            talk.hang("u", "", words);
            beats.iter().for_each(|beat| talk.beat(beat));
            talk.hang("a", "", "Done");
        }
        talk.text
    })
}

struct Talk {
    text: String,
    above: String,
    count: u32,
}

impl Talk {
    fn line(&mut self, sort: &str, parent: &str, marks: &str, body: &str) -> String {
        self.count += 1;
        let name = format!("{sort}{}", self.count);
        self.text += &format!("{name} ^{parent} {marks}: {body}\n");
        name
    }

    fn hang(&mut self, sort: &str, marks: &str, body: &str) {
        let above = self.above.clone();
        self.above = self.line(sort, &above, marks, body);
    }

    fn beat(&mut self, beat: &Beat) {
        let words = "planks ".repeat(self.count as usize % 3 * 60 + 1);
        match beat {
            Beat::Progress => self.hang("p", "", "hook_progress so far"),
            Beat::Attachment(idle) => {
                self.hang("t", "", if *idle { "hook_success ok" } else { "file a bed" });
            }
            Beat::Aside => {
                let above = self.above.clone();
                self.line("u", &above, "", "never mind");
            }
            Beat::Answer(think, speak, calls) => {
                let message = format!("#m{}", self.count);
                if *think && (*speak || *calls > 0) {
                    self.hang("a", &message, "?hm");
                }
                if *speak {
                    self.hang("a", &message, "I see");
                }
                let mut called = Vec::new();
                for call in 0..*calls {
                    let tool = if call % 2 == 0 { "!Read shed.md" } else { "!Bash ls" };
                    self.hang("a", &message, tool);
                    called.push(self.above.clone());
                }
                for call in called {
                    self.above = self.line("u", &call, "", &format!("={call} {words}"));
                }
            }
        }
    }
}

fn trim() -> impl Strategy<Value = TrimOptions> {
    let drop = prop::sample::subsequence(ContentKind::ALL.to_vec(), 0..=ContentKind::ALL.len());
    let some = |most: u32| prop::option::of(0..most);
    (drop, any::<bool>(), some(4), some(2), some(4), any::<bool>()).prop_map(
        |(drop, idle, keep_last, over, older_than, dedupe_reads)| TrimOptions {
            drop,
            client_only: idle,
            keep_last,
            results_over: over.map(|over| u64::from(over) * 300),
            older_than,
            dedupe_reads,
        },
    )
}

/// What every copy holds to, whatever went.
fn is_sound(known: &Known, copy: &Known) -> Result<(), TestCaseError> {
    let line =
        |known: &Known, no: &Node| -> Value { serde_json::from_slice(&known.line(no.place)).expect("JSON") };
    let mut answered: Vec<(HashSet<String>, HashSet<String>)> = Vec::new();
    for known in [known, copy] {
        let (mut calls, mut results) = (HashSet::new(), HashSet::new());
        for node in known.tree.nodes() {
            for block in line(known, node)["message"]["content"].as_array().into_iter().flatten() {
                calls.extend(block["id"].as_str().filter(|_| block["type"] == "tool_use").map(str::to_owned));
                results.extend(block["tool_use_id"].as_str().map(str::to_owned));
            }
        }
        answered.push((calls, results));
    }
    for call in answered[0].0.intersection(&answered[0].1) {
        prop_assert_eq!(answered[1].0.contains(call), answered[1].1.contains(call), "{}", call);
    }
    for node in copy.tree.nodes() {
        let now = line(copy, node);
        // Lines of subagents may repeat a uuid: then the original is one of several.
        let was: Vec<Value> =
            known.tree.nodes().iter().filter(|was| was.id == node.id).map(|was| line(known, was)).collect();
        let said = |value: &Value| value["message"]["content"].clone();
        let empty = said(&now) == Value::Array(Vec::new());
        prop_assert!(!empty || was.iter().any(|was| said(was) == said(&now)));
        let thoughts = |value: &Value| -> Vec<Value> {
            let blocks = value["message"]["content"].as_array().cloned().unwrap_or_default();
            blocks.into_iter().filter(|block| block["type"] == "thinking").collect()
        };
        let verbatim = |thought: &Value| was.iter().any(|was| thoughts(was).contains(thought));
        prop_assert!(thoughts(&now).iter().all(verbatim));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 384, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_copy_of_a_conversation_loads_what_stays_and_nothing_else(text in talk(), trim in trim()) {
        let known = know(&script::bytes(&text));
        for version in KNOWN_CLIENTS {
            let client = Version::read(version);
            let cut = known.cut(&client, last(&known), |scene| by(&trim)(scene, &known));
            let Some((asked, cut)) = cut else { continue };
            if cut.leaf.is_none() { continue }
            let stays: HashSet<Id> = cut.lines.iter().map(|(no, _)| known.tree.node(*no).id).collect();
            let copy = know(&known.write(cut));
            is_sound(&known, &copy)?;
            let found = simulate_resume(&copy.tree, &copy.facts, &client);
            let wanted: Vec<Id> = known.ids(&asked.path).into_iter().filter(|id| stays.contains(id)).collect();
            let mut found_ids = copy.ids(&found.path);
            if text.contains("progress") {
                // A client that does not read progress lines was cut off by them, and no longer is.
                found_ids.drain(..found_ids.len().saturating_sub(wanted.len()));
            }
            prop_assert_eq!(found_ids, wanted, "{}\n{}", version, text);
            let no_parent = |node: &Node| node.link == rethread_core::tree::ParentLink::Missing;
            prop_assert!(!copy.tree.nodes().iter().any(no_parent), "{}", text);
            prop_assert!(found.refusals().len() <= asked.refusals().len(), "{}\n{}", version, text);
        }
    }

    /// That such a copy loads what its origin would is a law of `edit`.
    #[test]
    fn where_nothing_is_to_go_nothing_changes(records in random::records()) {
        let known = know(&script::file(&records));
        for k in 0..known.tree.nodes().len() as NodeId {
            for version in KNOWN_CLIENTS {
                let client = Version::read(version);
                let cut = known.cut(&client, k, |scene| by(&TrimOptions::default())(scene, &known));
                let Some((_, cut)) = cut else { continue };
                let kept: Vec<NodeId> = cut.lines.iter().map(|(no, _)| *no).collect();
                prop_assert_eq!(kept, required_entries(&known.tree, &known.facts, std::slice::from_ref(&client), k));
                prop_assert!(cut.lines.iter().all(|(_, changes)| changes.is_empty()));
                prop_assert_eq!(cut.ledger.total(), rethread_core::trim::Row::default());
            }
        }
    }

    #[test]
    fn any_file_can_be_trimmed(records in random::records(), trim in trim(), fit in 0u64..200) {
        let known = know(&script::file(&records));
        for k in 0..known.tree.nodes().len() as NodeId {
            for version in ["1.0.98", "2.1.42", "2.1.325"] {
                let client = Version::read(version);
                let cut = |trim: &TrimOptions| known.cut(&client, k, |scene| by(trim)(scene, &known)).map(|(_, cut)| cut);
                let (Some(whole), Some(cut)) = (cut(&TrimOptions::default()), cut(&trim)) else { continue };
                let whole = know(&known.write(whole));
                is_sound(&whole, &know(&known.write(cut)))?;
                let read = |place| Ok::<_, std::convert::Infallible>(known.line(place));
                let made = |scene: &TrimInput<'_>| escalate(scene, fit, NOTE, read).unwrap_or_else(|never| match never {}).cut;
                let Some((_, cut)) = known.cut(&client, k, made) else { continue };
                is_sound(&whole, &know(&known.write(cut)))?;
            }
        }
    }
}
