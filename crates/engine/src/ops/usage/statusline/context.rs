//! How full the context is.

use rethread_core::entry::Usage;

/// The context of most models, and of those that have more.
const USUAL: u64 = 200_000;
const LONG: u64 = 1_000_000;

/// What the client says about the context.
#[derive(Debug, Clone, Copy, Default)]
pub struct Window {
    /// How much of it is used, in per cent.
    pub percent: Option<f64>,
    /// How many tokens it holds.
    pub size: Option<u64>,
    /// The tokens of the last request, cached or not.
    pub used: Option<u64>,
    /// Whether it holds more than most do.
    pub long: bool,
}

/// How full the context is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContextUsage {
    /// In per cent.
    pub percent: f64,
    /// Whether it is reckoned from what stands in the file, or with a size that the client did not tell.
    pub estimated: bool,
}

impl ContextUsage {
    /// Takes the client's word where there is one, else the last response of the session.
    pub(super) fn of(window: &Window, last: Option<Usage>) -> Option<ContextUsage> {
        if let Some(percent) = window.percent.filter(|percent| percent.is_finite() && *percent >= 0.0) {
            return Some(ContextUsage { percent, estimated: false });
        }
        let read =
            last.map(|usage| usage.input.saturating_add(usage.cache_write).saturating_add(usage.cache_read));
        let size = window.size.filter(|size| *size > 0);
        let used = window.used.or(read)?;
        // What does not fit the usual context was sent to a longer one.
        let guessed = if window.long || used > USUAL { LONG } else { USUAL };
        Some(ContextUsage {
            percent: used as f64 * 100.0 / size.unwrap_or(guessed) as f64,
            estimated: size.is_none() || window.used.is_none(),
        })
    }
}
