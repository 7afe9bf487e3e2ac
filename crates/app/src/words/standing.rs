//! Whether Claude remembers a hit of a search, in words.

use rethread_engine::core::query::Source;
use rethread_engine::ops::{SearchHit, Whereabouts};

/// Says how a hit stands to what the client loads.
pub(crate) fn standing(hit: &SearchHit) -> &'static str {
    match hit.standing {
        _ if hit.agent.is_some() => "subagent",
        Whereabouts::Active if hit.copied => "remembered, a copy",
        Whereabouts::Active => "remembered",
        Whereabouts::Compacted => "lost: before a compaction",
        Whereabouts::Aside => "lost: another branch",
        Whereabouts::Island => "lost: cut off",
        Whereabouts::Agent => "subagent",
        Whereabouts::Outside if hit.excerpt.source == Source::Summary => "its title",
        Whereabouts::Outside => "beside the conversation",
    }
}
