//! Tokens of items that are reduced together, without visiting each item at each reduction.

use super::attribution::Attribution;

/// Values that differ by less are equal: they are sums of whole tokens with rounding errors.
const EPSILON: f64 = 1e-6;
/// Below this scale the items are scaled. All that were added before the last time are then zero.
const MIN_SCALE: f64 = 1e-100;

/// The tokens of the items of one kind, oldest first.
///
/// A session may have many requests that are smaller than the one before, and each reduces all items before it. So a
/// proportional reduction changes one factor, and the whole tokens of reduced items are computed at the end.
#[derive(Debug)]
pub(super) struct TokenPool {
    items: Vec<PooledItem>,
    /// The sum of the tokens of all items.
    pub(super) total: u64,
    /// The factor of all values.
    scale: f64,
    /// The number of items at the start that have no tokens.
    empty: usize,
    /// The number of items at the start that were reduced.
    reduced: usize,
}

/// An item in a pool.
#[derive(Debug, Clone, Copy)]
struct PooledItem {
    /// The index among all items.
    idx: usize,
    /// The tokens when it was added.
    tokens: u64,
    /// The current tokens divided by the scale of the pool.
    value: f64,
    is_measured: bool,
}

impl Default for TokenPool {
    fn default() -> TokenPool {
        TokenPool { items: Vec::new(), total: 0, scale: 1.0, empty: 0, reduced: 0 }
    }
}

impl TokenPool {
    /// Adds an item with its tokens.
    pub(super) fn add(&mut self, idx: usize, tokens: u64, is_measured: bool) {
        self.total += tokens;
        self.items.push(PooledItem { idx, tokens, value: tokens as f64 / self.scale, is_measured });
    }

    /// Reduces all items proportionally by `amount` in total, which is at most the total of the pool.
    pub(super) fn reduce_all(&mut self, amount: u64) {
        if amount == 0 {
            return;
        }
        self.reduced = self.items.len();
        let rest = self.total - amount;
        self.scale *= rest as f64 / self.total as f64;
        self.total = rest;
        if rest == 0 {
            (self.empty, self.scale) = (self.items.len(), 1.0);
        } else if self.scale < MIN_SCALE {
            for item in &mut self.items[self.empty..] {
                item.value *= self.scale;
            }
            self.scale = 1.0;
            let is_empty = |item: &&PooledItem| item.value < EPSILON;
            self.empty += self.items[self.empty..].iter().take_while(is_empty).count();
        }
    }

    /// Reduces items to zero, the oldest first, until `amount` tokens are removed. It is at most the total of the pool.
    pub(super) fn reduce_oldest(&mut self, amount: u64) {
        self.total -= amount;
        let mut excess = amount as f64;
        while excess >= EPSILON
            && let Some(item) = self.items.get_mut(self.empty)
        {
            let tokens = item.value * self.scale;
            self.reduced = self.reduced.max(self.empty + 1);
            if tokens - excess >= EPSILON {
                item.value = (tokens - excess) / self.scale;
                return;
            }
            excess -= tokens;
            self.empty += 1;
        }
    }

    /// Sets the whole tokens of all items. Those that were reduced share what is left of the total.
    pub(super) fn write_to(&self, attribution: &mut Attribution) {
        let (reduced, unchanged) = self.items.split_at(self.reduced);
        for item in unchanged {
            attribution.tokens[item.idx] = item.tokens;
            attribution.measured[item.idx] = item.is_measured;
        }
        let total = self.total.saturating_sub(unchanged.iter().map(|item| item.tokens).sum());
        let (mut sum, mut assigned) = (0.0, 0);
        let last = reduced.len().saturating_sub(1);
        for (idx, item) in reduced.iter().enumerate().skip(self.empty) {
            sum += item.value * self.scale;
            let end = if idx == last { total } else { (sum.round() as u64).clamp(assigned, total) };
            attribution.tokens[item.idx] = end - assigned;
            assigned = end;
        }
    }
}
