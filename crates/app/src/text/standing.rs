//! Whether Claude remembers a hit of a search, in words.

use rethread_engine::core::query::TextSource;
use rethread_engine::ops::{ContextStatus, SearchHit};

/// Says how a hit stands to what the client loads.
pub(crate) fn context_status_label(hit: &SearchHit) -> &'static str {
    match hit.standing {
        _ if hit.agent.is_some() => "subagent",
        ContextStatus::Active if hit.copied => "remembered, a copy",
        ContextStatus::Active => "remembered",
        ContextStatus::Compacted => "lost: before a compaction",
        ContextStatus::Aside => "lost: another branch",
        ContextStatus::Island => "lost: cut off",
        ContextStatus::Agent => "subagent",
        ContextStatus::Outside if hit.excerpt.source == TextSource::Summary => "its title",
        ContextStatus::Outside => "beside the conversation",
    }
}
