//! Token counts as a response states them.

/// The tokens of one response.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Usage {
    /// Tokens read without the cache.
    pub input: u64,
    /// Tokens written by the model.
    pub output: u64,
    /// Tokens put into the cache, of either lifetime.
    pub cache_write: u64,
    /// Of these, the ones kept for an hour.
    pub cache_write_1h: u64,
    /// Tokens read from the cache.
    pub cache_read: u64,
    /// Web searches made at the API.
    pub web_searches: u64,
}

crate::pack_fields!(Usage { input, output, cache_write, cache_write_1h, cache_read, web_searches });

impl Usage {
    /// Adds another response's counts.
    pub fn add(&mut self, other: &Usage) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.cache_write_1h = self.cache_write_1h.saturating_add(other.cache_write_1h);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.web_searches = self.web_searches.saturating_add(other.web_searches);
    }

    /// Takes away counts that were added before.
    pub fn remove(&mut self, other: &Usage) {
        self.input = self.input.saturating_sub(other.input);
        self.output = self.output.saturating_sub(other.output);
        self.cache_write = self.cache_write.saturating_sub(other.cache_write);
        self.cache_write_1h = self.cache_write_1h.saturating_sub(other.cache_write_1h);
        self.cache_read = self.cache_read.saturating_sub(other.cache_read);
        self.web_searches = self.web_searches.saturating_sub(other.web_searches);
    }

    /// Returns every token that was read, from the cache or not.
    pub fn read(&self) -> u64 {
        self.input.saturating_add(self.cache_write).saturating_add(self.cache_read)
    }

    /// Returns every token, of whatever kind.
    pub fn total(&self) -> u64 {
        self.read().saturating_add(self.output)
    }
}
