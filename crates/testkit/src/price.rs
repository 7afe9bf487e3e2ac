//! Short constructors for usage and money.

use rethread_core::entry::Usage;
use rethread_core::usage::Money;

/// Builds a usage from its token counts: input, output, cache writes, those of them for one hour, cache
/// reads, web searches.
pub fn usage(
    input: u64,
    output: u64,
    cache_write: u64,
    cache_write_1h: u64,
    cache_read: u64,
    web_searches: u64,
) -> Usage {
    Usage { input, output, cache_write, cache_write_1h, cache_read, web_searches }
}

/// Converts dollars to money. Panics if the amount is negative or not finite.
pub fn dollars(amount: f64) -> Money {
    Money::from_dollars(amount).expect("a valid amount")
}
