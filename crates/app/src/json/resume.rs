//! JSON of `explain`: the entries that a client loads.

use rethread_engine::core::resume::{LoadFailure, MessageRole};
use rethread_engine::core::tree::NodeId;
use rethread_engine::core::usage::ReturnCost;
use rethread_engine::ops::explain::{AddedBlock, ClientVerdict, Explanation};
use serde::Serialize;

use super::object::{ObjectJson, build_object};

#[derive(Serialize)]
pub(crate) struct ResumeJson<'a> {
    session: &'a str,
    client: Option<&'a str>,
    rules_of: Option<&'static str>,
    leaf: Option<LeafJson>,
    path: Vec<EntryJson>,
    loaded: usize,
    entries: usize,
    turns: usize,
    total_turns: usize,
    early_end: Option<StopJson>,
    failure: Option<&'static str>,
    lost: usize,
    unreachable: Vec<UnreachableJson>,
    synthetic_messages: Vec<SyntheticMessageJson>,
    tokens: u64,
    return_cost_usd: Option<ReturnCostJson>,
    rejections: Vec<RejectionJson>,
}

#[derive(Serialize)]
struct ReturnCostJson {
    warm: f64,
    expired: f64,
    expired_1h: f64,
}

#[derive(Serialize)]
struct LeafJson {
    line: u32,
    uuid: String,
    rule: &'static str,
    rule_line: Option<u32>,
}

#[derive(Serialize)]
struct EntryJson {
    line: u32,
    uuid: String,
}

#[derive(Serialize)]
struct StopJson {
    line: u32,
    uuid: String,
    reason: &'static str,
}

#[derive(Serialize)]
struct UnreachableJson {
    line: u32,
    uuid: Option<String>,
    reason: &'static str,
    lost: bool,
    left: bool,
}

#[derive(Serialize)]
struct SyntheticMessageJson {
    role: &'static str,
    text: &'static str,
    after_line: Option<u32>,
}

#[derive(Serialize)]
struct RejectionJson {
    line: u32,
    uuid: String,
    reason: &'static str,
}

/// Builds the `resume` object of `explain`: the entries that the client of `verdict` loads when it resumes the session.
pub(crate) fn build_resume<'a>(
    explanation: &'a Explanation,
    verdict: &'a ClientVerdict,
    return_cost: Option<ReturnCost>,
) -> ObjectJson<ResumeJson<'a>> {
    let resume = &verdict.resume;
    let line = |id: NodeId| explanation.session.tree.node(id).span.line;
    let leaf = resume.leaf.map(|(id, rule)| LeafJson {
        line: line(id),
        uuid: explanation.uuid(id),
        rule: rule.name(),
        rule_line: rule.line(),
    });
    let unreachable = resume.skipped.iter().map(|entry| UnreachableJson {
        line: entry.line,
        uuid: entry.node.map(|id| explanation.uuid(id)),
        reason: entry.reason.name(),
        lost: entry.reason.is_loss(),
        left: entry.reason.is_loss() && !entry.is_unintended(),
    });
    build_object(
        "resume",
        ResumeJson {
            session: &explanation.header.id,
            client: verdict.client.as_ref().map(|client| client.text.as_str()),
            rules_of: verdict.rules_of,
            leaf,
            path: resume
                .path
                .iter()
                .map(|&id| EntryJson { line: line(id), uuid: explanation.uuid(id) })
                .collect(),
            loaded: resume.loaded,
            entries: resume.entries,
            turns: verdict.turns,
            total_turns: explanation.turns,
            early_end: resume.early_end.map(|end| StopJson {
                line: line(end.node),
                uuid: explanation.uuid(end.node),
                reason: end.reason.name(),
            }),
            failure: resume.failure.map(LoadFailure::name),
            lost: resume.lost_count(),
            unreachable: unreachable.collect(),
            synthetic_messages: build_synthetic_messages(explanation, verdict),
            tokens: verdict.tokens,
            return_cost_usd: return_cost.map(|cost| ReturnCostJson {
                warm: cost.warm.dollars(),
                expired: cost.expired.dollars(),
                expired_1h: cost.expired_1h.dollars(),
            }),
            rejections: verdict
                .rejections
                .iter()
                .map(|rejection| RejectionJson {
                    line: line(rejection.node()),
                    uuid: explanation.uuid(rejection.node()),
                    reason: rejection.name(),
                })
                .collect(),
        },
    )
}

/// Lists the text that the client sends although no line contains it, in the order of sending. `after_line` is the line
/// of the last block from the file before it.
fn build_synthetic_messages(explanation: &Explanation, verdict: &ClientVerdict) -> Vec<SyntheticMessageJson> {
    let line = |id: NodeId| explanation.session.tree.node(id).span.line;
    let to_json = |added: AddedBlock| SyntheticMessageJson {
        role: if added.role == MessageRole::User { "user" } else { "assistant" },
        text: added.block.text(),
        after_line: added.after.map(line),
    };
    verdict.added_blocks().into_iter().map(to_json).collect()
}
