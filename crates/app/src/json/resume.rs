//! What clients load, in `--json`.

use rethread_engine::core::resume::{LoadFailure, MessageRole};
use rethread_engine::core::tree::NodeId;
use rethread_engine::ops::{Explanation, SyntheticMessage, Verdict};
use serde::Serialize;

use super::{Wire, wire};

#[derive(Serialize)]
pub(crate) struct Resume<'a> {
    session: &'a str,
    client: Option<&'a str>,
    measured: Option<&'static str>,
    leaf: Option<Leaf>,
    path: Vec<Entry>,
    loaded: usize,
    entries: usize,
    turns: usize,
    turns_in_all: usize,
    stopped: Option<Stopped>,
    halted: Option<&'static str>,
    lost: usize,
    unreachable: Vec<Unreachable>,
    made_up: Vec<MadeUpBlock>,
    tokens: u64,
    refused: Vec<Refused>,
}

#[derive(Serialize)]
struct Leaf {
    line: u32,
    uuid: String,
    rule: &'static str,
    rule_line: Option<u32>,
}

#[derive(Serialize)]
struct Entry {
    line: u32,
    uuid: String,
}

#[derive(Serialize)]
struct Stopped {
    line: u32,
    uuid: String,
    why: &'static str,
}

#[derive(Serialize)]
struct Unreachable {
    line: u32,
    uuid: Option<String>,
    why: &'static str,
    lost: bool,
}

#[derive(Serialize)]
struct MadeUpBlock {
    role: &'static str,
    text: &'static str,
    after_line: Option<u32>,
}

#[derive(Serialize)]
struct Refused {
    line: u32,
    uuid: String,
    why: &'static str,
}

/// What one client makes of a session.
pub(crate) fn resume<'a>(explained: &'a Explanation, verdict: &'a Verdict) -> Wire<Resume<'a>> {
    let resume = &verdict.resume;
    let line = |no: NodeId| explained.session.tree.node(no).place.line;
    let leaf = resume.leaf.map(|(no, rule)| Leaf {
        line: line(no),
        uuid: explained.uuid(no),
        rule: rule.name(),
        rule_line: rule.line(),
    });
    let unreachable = resume.unreachable.iter().map(|lost| Unreachable {
        line: lost.line,
        uuid: lost.node.map(|no| explained.uuid(no)),
        why: lost.why.name(),
        lost: lost.why.is_loss(),
    });
    wire(
        "resume",
        Resume {
            session: &explained.head.id,
            client: verdict.client.as_ref().map(|client| client.text.as_str()),
            measured: verdict.measured,
            leaf,
            path: resume.path.iter().map(|&no| Entry { line: line(no), uuid: explained.uuid(no) }).collect(),
            loaded: resume.loaded,
            entries: resume.entries,
            turns: verdict.turns,
            turns_in_all: explained.turns,
            stopped: resume.stop.map(|stop| Stopped {
                line: line(stop.node),
                uuid: explained.uuid(stop.node),
                why: stop.why.name(),
            }),
            halted: resume.halt.map(LoadFailure::name),
            lost: resume.lost(),
            unreachable: unreachable.collect(),
            made_up: made_up(explained, verdict),
            tokens: verdict.tokens,
            refused: verdict
                .refusals
                .iter()
                .map(|refusal| Refused {
                    line: line(refusal.node()),
                    uuid: explained.uuid(refusal.node()),
                    why: refusal.name(),
                })
                .collect(),
        },
    )
}

fn made_up(explained: &Explanation, verdict: &Verdict) -> Vec<MadeUpBlock> {
    let line = |no: NodeId| explained.session.tree.node(no).place.line;
    let block = |invention: SyntheticMessage| MadeUpBlock {
        role: if invention.side == MessageRole::User { "user" } else { "assistant" },
        text: invention.what.text(),
        after_line: invention.after.map(line),
    };
    verdict.inventions().into_iter().map(block).collect()
}
