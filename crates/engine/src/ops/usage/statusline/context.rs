//! Estimates how full the context is.

use rethread_core::entry::Usage;

/// The context size of most models, in tokens.
const DEFAULT_CONTEXT_TOKENS: u64 = 200_000;
/// The context size of models with a long context, in tokens.
const LONG_CONTEXT_TOKENS: u64 = 1_000_000;

/// The context window as the client reports it.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReportedWindow {
    /// The used share in percent.
    pub percent: Option<f64>,
    /// The size in tokens.
    pub size_tokens: Option<u64>,
    /// The input tokens of the last request, cached or not.
    pub used_tokens: Option<u64>,
    /// Whether the model has a long context.
    pub is_long: bool,
}

/// The used share of the context window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContextUsage {
    /// The used share in percent.
    pub percent: f64,
    /// Whether it was computed from the session file, or with an assumed size.
    pub estimated: bool,
}

impl ContextUsage {
    /// Returns the share that the client reports, or else an estimate. `last_usage` is the usage of the last response in the
    /// session file. Returns `None` if the used tokens are unknown.
    pub(super) fn estimate(window: &ReportedWindow, last_usage: Option<Usage>) -> Option<ContextUsage> {
        if let Some(percent) = window.percent.filter(|percent| percent.is_finite() && *percent >= 0.0) {
            return Some(ContextUsage { percent, estimated: false });
        }
        let last_input = last_usage
            .map(|usage| usage.input.saturating_add(usage.cache_write).saturating_add(usage.cache_read));
        let size = window.size_tokens.filter(|size| *size > 0);
        let used = window.used_tokens.or(last_input)?;
        // A request that exceeds the default size must have a long context.
        let assumed_size = if window.is_long || used > DEFAULT_CONTEXT_TOKENS {
            LONG_CONTEXT_TOKENS
        } else {
            DEFAULT_CONTEXT_TOKENS
        };
        Some(ContextUsage {
            percent: used as f64 * 100.0 / size.unwrap_or(assumed_size) as f64,
            estimated: size.is_none() || window.used_tokens.is_none(),
        })
    }
}
