//! Token counts as reported by a response.

/// The tokens of one response.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Usage {
    /// Input tokens that were neither read from nor written to the cache.
    pub input: u64,
    /// Output tokens.
    pub output: u64,
    /// Input tokens written to the cache, of either lifetime.
    pub cache_write: u64,
    /// The part of `cache_write` with a lifetime of one hour.
    pub cache_write_1h: u64,
    /// Input tokens read from the cache.
    pub cache_read: u64,
    /// Web searches run by the API.
    pub web_searches: u64,
}

crate::pack_fields!(Usage { input, output, cache_write, cache_write_1h, cache_read, web_searches });

impl Usage {
    /// Adds the counts of `other`. Saturates at `u64::MAX`.
    pub fn add(&mut self, other: &Usage) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.cache_write_1h = self.cache_write_1h.saturating_add(other.cache_write_1h);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.web_searches = self.web_searches.saturating_add(other.web_searches);
    }

    /// Subtracts the counts of `other`, which were added before. Saturates at 0.
    pub fn subtract(&mut self, other: &Usage) {
        self.input = self.input.saturating_sub(other.input);
        self.output = self.output.saturating_sub(other.output);
        self.cache_write = self.cache_write.saturating_sub(other.cache_write);
        self.cache_write_1h = self.cache_write_1h.saturating_sub(other.cache_write_1h);
        self.cache_read = self.cache_read.saturating_sub(other.cache_read);
        self.web_searches = self.web_searches.saturating_sub(other.web_searches);
    }

    /// Returns the number of input tokens: uncached, written to the cache, and read from it.
    pub fn total_input(&self) -> u64 {
        self.input.saturating_add(self.cache_write).saturating_add(self.cache_read)
    }

    /// Returns the number of input and output tokens, cached input included.
    pub fn total(&self) -> u64 {
        self.total_input().saturating_add(self.output)
    }
}
