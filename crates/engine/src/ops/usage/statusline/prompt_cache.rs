//! The prompt cache of the API: how much of the last request was read from it, and how long it lasts.

use rethread_core::entry::{Timestamp, Usage};

use super::session_files::LastResponse;

/// The lifetime of the cache in milliseconds, without a write of the longer lifetime.
const SHORT_LIFETIME_MILLIS: i64 = 5 * 60_000;
/// The longer lifetime of the cache in milliseconds.
const LONG_LIFETIME_MILLIS: i64 = 60 * 60_000;

/// The prompt cache as the client reports it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ReportedPromptCache {
    /// The tokens of the last request. Only the counts of the input are used.
    pub last_usage: Option<Usage>,
    /// When the cache expires.
    pub expires_at: Option<Timestamp>,
    /// Its lifetime in milliseconds.
    pub lifetime_ms: Option<i64>,
    /// The number of requests that could not use the cache.
    pub misses: Option<u64>,
}

/// The prompt cache of a running session.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PromptCacheUsage {
    /// The share of the input of the last request that was read from the cache, in percent.
    pub read_percent: Option<f64>,
    /// When the cache expires. It may be in the past.
    pub expires_at: Option<Timestamp>,
    /// Whether `expires_at` is computed from the session file.
    pub estimated: bool,
    /// The number of requests that could not use the cache, if the client reports it.
    pub misses: Option<u64>,
}

impl PromptCacheUsage {
    /// Returns the values that the client reports, or else estimates from the last response. Returns `None` if neither
    /// is known.
    pub(super) fn estimate(
        reported: &ReportedPromptCache,
        last: Option<&LastResponse>,
    ) -> Option<PromptCacheUsage> {
        let usage = reported.last_usage.or(last.map(|last| last.usage));
        let read_percent = usage.and_then(|usage| {
            let total = usage.input.saturating_add(usage.cache_write).saturating_add(usage.cache_read);
            (total > 0).then(|| usage.cache_read as f64 * 100.0 / total as f64)
        });
        let computed = || {
            let last = last.filter(|last| last.usage.cache_write > 0 || last.usage.cache_read > 0)?;
            let lifetime = if last.has_long_cache { LONG_LIFETIME_MILLIS } else { SHORT_LIFETIME_MILLIS };
            let lifetime = reported.lifetime_ms.unwrap_or(lifetime);
            Some(Timestamp(last.time?.0.saturating_add(lifetime)))
        };
        let expires_at = reported.expires_at.or_else(computed);
        let cache = PromptCacheUsage {
            read_percent,
            expires_at,
            estimated: reported.expires_at.is_none() && expires_at.is_some(),
            misses: reported.misses,
        };
        (read_percent.is_some() || expires_at.is_some()).then_some(cache)
    }
}

#[cfg(test)]
mod tests {
    use super::{LastResponse, PromptCacheUsage, ReportedPromptCache, Timestamp, Usage};

    fn response(cache_write: u64, cache_read: u64, has_long_cache: bool) -> LastResponse {
        let usage = Usage { input: 10, cache_write, cache_read, ..Usage::default() };
        LastResponse { model: String::new(), usage, time: Some(Timestamp(1000)), has_long_cache }
    }

    #[test]
    fn unknown_values_are_estimated_from_the_last_response() {
        let estimate = |reported: ReportedPromptCache, last: Option<&LastResponse>| {
            PromptCacheUsage::estimate(&reported, last)
                .map(|cache| (cache.read_percent, cache.expires_at.map(|time| time.0), cache.estimated))
        };
        let none = ReportedPromptCache::default();
        assert_eq!(estimate(none, None), None);
        assert_eq!(estimate(none, Some(&response(0, 90, false))), Some((Some(90.0), Some(301_000), true)));
        assert_eq!(estimate(none, Some(&response(90, 0, true))), Some((Some(0.0), Some(3_601_000), true)));
        // Without a cache, nothing expires.
        assert_eq!(estimate(none, Some(&response(0, 0, false))), Some((Some(0.0), None, false)));
        let reported = ReportedPromptCache { expires_at: Some(Timestamp(7)), ..none };
        assert_eq!(estimate(reported, Some(&response(0, 90, false))), Some((Some(90.0), Some(7), false)));
        assert_eq!(estimate(reported, None), Some((None, Some(7), false)));
        let reported = ReportedPromptCache { lifetime_ms: Some(5), ..none };
        assert_eq!(estimate(reported, Some(&response(0, 90, true))), Some((Some(90.0), Some(1005), true)));
    }
}
