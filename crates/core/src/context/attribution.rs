//! Attributes measured token counts to the blocks that may have caused them. Pure arithmetic.

use super::token_pool::TokenPool;

/// The kind of a block, as far as it determines which blocks the client removes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemKind {
    /// Thinking. The client removes it first, when a new turn begins.
    Thinking,
    /// A tool result. The client may clear old ones.
    Result,
    /// A prompt. It begins a turn.
    Prompt,
    /// Any other block.
    Other,
}

/// A block with an estimated size.
#[derive(Debug, Clone, Copy)]
pub struct AttributionItem {
    /// The estimated tokens of the block.
    pub estimate: u64,
    /// The kind of the block.
    pub kind: ItemKind,
}

/// A request and its response. Items are indices in the list of all [`AttributionItem`]s.
#[derive(Debug, Clone, Default)]
pub struct RequestItems {
    /// The items added since the previous response.
    pub new_items: Vec<usize>,
    /// The tokens of the whole request, if the API counted them.
    pub context: Option<u64>,
    /// The items of the response.
    pub response_items: Vec<usize>,
    /// The tokens of the response, if the API counted them.
    pub output: Option<u64>,
}

/// The tokens attributed to each item.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attribution {
    /// By item: the tokens attributed to it.
    pub tokens: Vec<u64>,
    /// By item: whether its tokens were counted by the API and not split among several items.
    pub measured: Vec<bool>,
    /// The tokens of the first request that belong to no item.
    pub client: u64,
    /// The tokens of later requests that belong to no item.
    pub unrecorded: u64,
}

impl Attribution {
    /// Returns the total number of tokens.
    pub fn total(&self) -> u64 {
        self.client + self.unrecorded + self.tokens.iter().sum::<u64>()
    }
}

/// Splits an amount in proportion to weights. The parts, one per weight, add up to the amount.
///
/// The sum of the weights must be less than 2^64. If all weights are zero, the parts are equal.
pub fn apportion(amount: u64, weights: &[u64]) -> Vec<u64> {
    let sum: u128 = weights.iter().map(|&weight| u128::from(weight)).sum();
    let (mut weight_so_far, mut assigned) = (0u128, 0u128);
    let part = |&weight: &u64| {
        weight_so_far += if sum == 0 { 1 } else { u128::from(weight) };
        let total = if sum == 0 { weights.len() as u128 } else { sum };
        let end = u128::from(amount) * weight_so_far / total;
        let part = end - assigned;
        assigned = end;
        part as u64
    };
    weights.iter().map(part).collect()
}

/// The assumed maximum factor between an estimate and the actual size. Larger growth was caused by content
/// missing in the file.
const MAX_ESTIMATE_FACTOR: u64 = 2;

/// Attributes the sizes of consecutive requests to items.
///
/// Output tokens are attributed to the blocks of the response. The remaining growth of a request is
/// attributed to the items added since the previous one, by estimate and up to `MAX_ESTIMATE_FACTOR` times
/// the estimate; the rest is `unrecorded`. If a request grew by less than possible, the client removed
/// content: first thinking, then, within a turn, the oldest results, then a share of everything. Items that
/// no request counted keep their estimate. `since` are the items after the last request. `client` is the size of the
/// client's own part if no request was counted.
pub fn attribute_tokens(
    items: &[AttributionItem],
    requests: &[RequestItems],
    since: &[usize],
    client: u64,
) -> Attribution {
    let mut attributor = Attributor {
        items,
        client: 0,
        unrecorded: 0,
        thinking: TokenPool::default(),
        results: TokenPool::default(),
        others: TokenPool::default(),
        pending: Vec::new(),
        has_count: false,
    };
    for request in requests {
        attributor.pending.extend_from_slice(&request.new_items);
        if let Some(context) = request.context {
            attributor.attribute_request(context);
        }
        attributor.attribute_response(&request.response_items, request.output);
    }
    attributor.pending.extend_from_slice(since);
    attributor.apply_estimates();
    if !attributor.has_count {
        attributor.client = client;
    }
    attributor.finish()
}

/// The state of an attribution, request by request.
struct Attributor<'a> {
    items: &'a [AttributionItem],
    client: u64,
    unrecorded: u64,
    thinking: TokenPool,
    results: TokenPool,
    others: TokenPool,
    /// The items added since the last counted request.
    pending: Vec<usize>,
    /// Whether a request was counted.
    has_count: bool,
}

impl Attributor<'_> {
    /// Returns the sum of all attributed tokens.
    fn total(&self) -> u64 {
        self.client + self.unrecorded + self.thinking.total + self.results.total + self.others.total
    }

    fn add_item(&mut self, idx: usize, tokens: u64, is_measured: bool) {
        let pool = match self.items[idx].kind {
            ItemKind::Thinking => &mut self.thinking,
            ItemKind::Result => &mut self.results,
            ItemKind::Prompt | ItemKind::Other => &mut self.others,
        };
        pool.add(idx, tokens, is_measured);
    }

    /// Attributes to each pending item its estimate. No items are pending afterwards.
    fn apply_estimates(&mut self) {
        for idx in std::mem::take(&mut self.pending) {
            self.add_item(idx, self.items[idx].estimate, false);
        }
    }

    /// Attributes an amount of tokens to items in proportion to their estimates.
    ///
    /// `is_measured` states whether the API counted the amount. Only a single item is then marked as measured.
    fn distribute(&mut self, amount: u64, items: &[usize], is_measured: bool) {
        let weights: Vec<u64> = items.iter().map(|&idx| self.items[idx].estimate).collect();
        for (&idx, part) in items.iter().zip(apportion(amount, &weights)) {
            self.add_item(idx, part, is_measured && items.len() == 1);
        }
    }

    /// Attributes the output tokens of a response to its blocks. Without a count, the blocks become pending.
    fn attribute_response(&mut self, blocks: &[usize], output: Option<u64>) {
        match output {
            None => self.pending.extend_from_slice(blocks),
            Some(output) if blocks.is_empty() => self.unrecorded += output,
            Some(output) => self.distribute(output, blocks, true),
        }
    }

    /// Makes the attributed tokens add up to the size of a request, `context`. See [`attribute_tokens`].
    fn attribute_request(&mut self, context: u64) {
        if !self.has_count {
            self.has_count = true;
            self.apply_estimates();
            self.reduce_all(self.total().saturating_sub(context));
            self.client = context - self.total();
            return;
        }
        let pending = std::mem::take(&mut self.pending);
        let estimate: u64 = pending.iter().map(|&idx| self.items[idx].estimate).sum();
        let total_before = self.total();
        let begins_turn = pending.iter().any(|&idx| self.items[idx].kind == ItemKind::Prompt);
        if total_before > context || begins_turn && total_before + estimate / MAX_ESTIMATE_FACTOR > context {
            let excess = (total_before + estimate).saturating_sub(context);
            self.thinking.reduce_all(excess.min(self.thinking.total));
        }
        if self.total() > context && !begins_turn {
            let excess = (self.total() + estimate).saturating_sub(context);
            self.results.reduce_oldest(excess.min(self.results.total));
        }
        if self.total() > context {
            self.reduce_all((self.total() + estimate).saturating_sub(context));
        }
        let growth = context - self.total();
        let max_growth = estimate.saturating_mul(MAX_ESTIMATE_FACTOR);
        if pending.is_empty() || growth > max_growth {
            let explained = if pending.is_empty() { 0 } else { max_growth };
            self.distribute(explained, &pending, false);
            self.unrecorded += growth - explained;
        } else {
            let is_measured = self.total() == total_before && growth >= estimate / MAX_ESTIMATE_FACTOR;
            self.distribute(growth, &pending, is_measured);
        }
    }

    /// Reduces all tokens proportionally by `amount` in total, including the client's own and the unrecorded ones.
    fn reduce_all(&mut self, amount: u64) {
        let weights =
            [self.client, self.unrecorded, self.thinking.total, self.results.total, self.others.total];
        let parts = apportion(amount.min(self.total()), &weights);
        self.client -= parts[0];
        self.unrecorded -= parts[1];
        self.thinking.reduce_all(parts[2]);
        self.results.reduce_all(parts[3]);
        self.others.reduce_all(parts[4]);
    }

    fn finish(self) -> Attribution {
        let mut attribution = Attribution {
            tokens: vec![0; self.items.len()],
            measured: vec![false; self.items.len()],
            client: self.client,
            unrecorded: self.unrecorded,
        };
        for pool in [self.thinking, self.results, self.others] {
            pool.write_to(&mut attribution);
        }
        attribution
    }
}
