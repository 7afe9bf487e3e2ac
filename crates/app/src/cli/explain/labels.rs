//! Short labels for tables.

use rethread_engine::core::resume::{LeafRule, LoadFailure, SkipReason};

pub(super) use crate::text::resume::{
    leaf_rule_text, line_list, load_summary, omitted_count_text, rejection_text, unreachable_reason_text,
};

/// Returns a short label of a failure to load.
pub(super) fn failure_label(failure: LoadFailure) -> &'static str {
    match failure {
        LoadFailure::Hangs => "freezes",
        LoadFailure::GivesUp => "finds no conversation",
        LoadFailure::Nothing => "finds nothing",
    }
}

/// Returns a short label of a leaf rule.
pub(super) fn leaf_rule_label(rule: LeafRule) -> String {
    match rule {
        LeafRule::Newest => "newest timestamp".to_owned(),
        LeafRule::OnlyLeaf => "only leaf".to_owned(),
        LeafRule::LastLine => "last line".to_owned(),
        LeafRule::NewestBelowLastLine => "newest below last line".to_owned(),
        LeafRule::Pinned(line) => format!("pinned by L{line}"),
        LeafRule::Summary(line) => format!("summary L{line}"),
        LeafRule::Requested => "requested".to_owned(),
    }
}

/// Returns a short label of the reason why the parent chain ended.
pub(super) fn end_label(reason: SkipReason) -> &'static str {
    match reason {
        SkipReason::Compacted => "compaction",
        SkipReason::MissingParent => "parent missing",
        SkipReason::UnreadParent => "parent not read",
        SkipReason::Cycle => "cycle",
        _ => "ends",
    }
}
