//! What a turn came to, and what a compaction did, in a few facts.

use rethread_engine::core::turn::Turn;

use super::clean;
use super::figures::{duration, things, tokens};

/// Says what a turn came to; nothing where nobody answered.
pub(crate) fn turn_footer(turn: &Turn) -> Vec<String> {
    if turn.responses == 0 {
        return Vec::new();
    }
    let usage = &turn.usage;
    let span = turn.from.zip(turn.to).and_then(|(from, to)| u64::try_from(to.0 - from.0).ok());
    let mut facts: Vec<String> = turn.models.iter().map(|model| clean::line(model)).collect();
    facts.push(things(turn.responses as u64, "response"));
    facts.push(format!("{} in, {} out", tokens(usage.read()), tokens(usage.output)));
    facts.extend(turn.millis.or(span.filter(|span| *span > 0)).map(duration));
    facts
}

/// Says what a compaction did, or the clearing of old results.
pub(crate) fn compaction(micro: bool) -> &'static str {
    if micro { "old tool results were cleared here" } else { "the conversation was compacted here" }
}

/// Says what made it happen, and how much there was before and after.
pub(crate) fn sizes(trigger: &str, before: Option<u64>, after: Option<u64>) -> Vec<String> {
    let sizes = before.map(|before| match after {
        Some(after) => format!("{} → {} tokens", tokens(before), tokens(after)),
        None => format!("{} tokens before", tokens(before)),
    });
    Some(clean::line(trigger)).filter(|trigger| !trigger.is_empty()).into_iter().chain(sizes).collect()
}
