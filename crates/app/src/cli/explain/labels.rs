//! What rules, reasons and ends are called: what only a terminal says stands here.

use rethread_engine::core::resume::{LeafRule, LoadFailure, SkipReason};

pub(super) use crate::text::resume::{group, left_out, lines, refusal, rule, share, verdict};

/// Says what came of it in a word or two, for a table.
pub(super) fn halted(halt: LoadFailure) -> &'static str {
    match halt {
        LoadFailure::Hangs => "hangs",
        LoadFailure::GivesUp => "finds no conversation",
        LoadFailure::Nothing => "finds nothing",
    }
}

/// Says the same in a few words, for a table.
pub(super) fn short_rule(rule: LeafRule) -> String {
    match rule {
        LeafRule::Newest => "newest timestamp".to_owned(),
        LeafRule::OnlyLeaf => "only leaf".to_owned(),
        LeafRule::LastLine => "last line".to_owned(),
        LeafRule::NewestBelowLastLine => "newest below last line".to_owned(),
        LeafRule::Pinned(line) => format!("pinned by L{line}"),
        LeafRule::Summary(line) => format!("summary L{line}"),
        LeafRule::Requested => "asked for".to_owned(),
    }
}

/// Says why a walk ended, for a table.
pub(super) fn end(why: SkipReason) -> &'static str {
    match why {
        SkipReason::Compacted => "compaction",
        SkipReason::MissingParent => "parent missing",
        SkipReason::UnreadParent => "parent not read",
        SkipReason::Cycle => "a circle",
        _ => "ends",
    }
}
